"""Reads the JSON files of strangers: their size and depth are bounded, and what is wrong with one gives one message that names it."""

import json
import pathlib
from typing import Any

from .package import ConvertError, read_bounded

MOST_BYTES = 32 << 20   # the largest is NLLB's tokenizer.json, of half of it


def read_json(path: pathlib.Path) -> Any:
    data = read_bounded(path, MOST_BYTES)
    try:
        return json.loads(data)   # UTF-8, 16 or 32, with or without the mark of their order of bytes
    except (ValueError, RecursionError) as error:
        raise ConvertError(f"{path}: is not JSON: {error}") from error


def read_object(path: pathlib.Path) -> dict[str, Any]:
    read = read_json(path)
    if not isinstance(read, dict):
        raise ConvertError(f"{path}: is not a JSON object")
    return read
