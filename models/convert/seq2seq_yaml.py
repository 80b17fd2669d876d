"""Marian's settings, and its vocabularies, which look like YAML but have characters in their tokens that YAML does not allow there."""

import pathlib
import re
from typing import Any

from .package import ConvertError, read_bounded

_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", "N": "\x85",
            "_": "\xa0", "L": "\u2028", "P": "\u2029"}
_MOST_CHARACTERS = 1 << 18   # of settings, which take PyYAML a second
_MOST_WORDS_BYTES = 64 << 20
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)")


def read_settings(text: str, where: str) -> dict[str, Any]:
    """The settings of model.yml and decoder.yml: every value stays text, alone or in lists and maps. `where` names the text in messages."""
    import yaml   # voices and Kokoro do without it
    if len(text) > _MOST_CHARACTERS:
        raise ConvertError(f"{where}: has {len(text)} characters, {_MOST_CHARACTERS} are allowed")

    class Loader(yaml.BaseLoader):
        def compose_node(self, parent, index):
            # An alias of a list of aliases is small in the file, but a message that quotes it could fill all memory.
            if self.check_event(yaml.AliasEvent):
                raise yaml.composer.ComposerError(None, None, "it has an alias, which is not supported", self.peek_event().start_mark)
            return super().compose_node(parent, index)

    try:
        settings = yaml.load(text, Loader=Loader)
    except (yaml.YAMLError, RecursionError) as error:
        raise ConvertError(f"{where}: not YAML: {' '.join(str(error).split())}") from error
    if settings in (None, ""):
        return {}
    if not isinstance(settings, dict):
        raise ConvertError(f"{where}: expected settings as 'name: value'")
    return settings


def read_decoder_settings(path: pathlib.Path) -> dict[str, Any]:
    return read_settings(read_bounded(path, _MOST_CHARACTERS).decode("utf-8", "replace"), str(path))


def read_numbers(path: pathlib.Path) -> dict[str, int]:
    """A vocabulary: a number for each word. Words may have colons, and characters that others take for the end of a line."""
    try:
        text = read_bounded(path, _MOST_WORDS_BYTES).decode()
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
