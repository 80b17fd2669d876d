"""Reads the JSON files of strangers: their size and depth are bounded, and what is wrong with one gives one message that names it."""

import json
import pathlib
from typing import Any

from .package import ConvertError

MOST_BYTES = 32 << 20   # the largest is NLLB's tokenizer.json, of half of it


def read_json(path: pathlib.Path) -> Any:
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ConvertError(f"{path}: is larger than {MOST_BYTES} bytes")
        return json.loads(data)   # UTF-8, 16 or 32, with or without the mark of their order of bytes
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConvertError(f"{path}: is not JSON: {error}") from error


def read_object(path: pathlib.Path) -> dict[str, Any]:
    read = read_json(path)
    if not isinstance(read, dict):
        raise ConvertError(f"{path}: is not a JSON object")
    return read
