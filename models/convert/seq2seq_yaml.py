"""The little of YAML that Marian writes: a map of words to words, with lists of words in model.yml. Every value stays text."""

import pathlib
import re

from .package import ConvertError

_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", "N": "\x85",
            "_": "\xa0", "L": "\u2028", "P": "\u2029"}
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")


def read_settings(text: str, where: str) -> dict[str, str | list[str]]:
    """where: of the text, for messages."""
    settings: dict[str, str | list[str]] = {}
    key = None   # whose list may go on
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#") or stripped in ("---", "..."):
            continue
        if stripped == "-" or stripped.startswith("- "):
            items = settings.get(key) if key is not None else None
            if items == "":
                items = settings[key] = []
            if not isinstance(items, list):
                raise ConvertError(f"{where}: line {number}: a list that belongs to nothing")
            items.append(_plain(stripped[1:].strip()))
            continue
        if line[0].isspace() or ":" not in line:
            raise ConvertError(f"{where}: line {number}: '{stripped}' is no setting: expected 'name: value' or '- item'")
        key, value = (_plain(part.strip()) for part in line.split(":", 1))
        if value.startswith("[") and value.endswith("]"):
            settings[key] = [_plain(item.strip()) for item in value[1:-1].split(",") if item.strip()]
        else:
            settings[key] = value
    return settings


def read_numbers(path: pathlib.Path) -> dict[str, int]:
    """A vocabulary: a number for each word. Words may have colons, and characters that others take for the end of a line."""
    try:
        text = path.read_bytes().decode()
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConvertError(f"{path}: not UTF-8: {error}") from error
    numbers: dict[str, int] = {}
    for place, line in enumerate(text.split("\n"), 1):
        line = line.rstrip("\r")
        if not line or line in ("---", "..."):
            continue
        word, _, number = line.rpartition(":")
        if not word or not re.fullmatch(r"\s*[0-9]{1,9}\s*", number, re.ASCII):
            raise ConvertError(f"{path}: line {place}: '{line}' is not 'word: number'")
        numbers[_plain(word)] = int(number)
    return numbers


def _plain(word: str) -> str:
    if len(word) > 1 and word[0] == word[-1] == "'":
        return word[1:-1].replace("''", "'")
    if len(word) > 1 and word[0] == word[-1] == '"':
        return _ESCAPE.sub(lambda found: _character(found[1]), word[1:-1])
    return word


def _character(escape: str) -> str:
    if len(escape) > 1:
        return chr(min(int(escape[1:], 16), 0x10FFFF))
    return _ESCAPES.get(escape, escape)
