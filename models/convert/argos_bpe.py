"""Packages of Argos whose text is divided by Moses' scripts and subword-nmt's merges: what the server takes in the place of a SentencePiece model."""

import json
import pathlib

from .moses import prefixes_of, text_of_words, words_of_text
from .package import ConvertError, read_bounded

_MOST_BYTES = 64 << 20   # as models/core/regular_file.h has it; published ones have a hundredth
_GOES_ON, _ENDS = "@@", "\u2581"   # of a piece: subword-nmt marks those that do not end a word, the server those that do
_VERSIONS = ("0.1", "0.2")


def read_merges(path: pathlib.Path) -> tuple[list[str], bool]:
    """The pairs of parts in the order in which they are merged; and whether the end of a word is a part of its own."""
    try:
        lines = read_bounded(path, _MOST_BYTES).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise ConvertError(f"{path}: is not of subword-nmt: {error}") from error
    version = "0.1"
    if lines and lines[0].startswith("#version:"):
        version = lines.pop(0).removeprefix("#version:").strip()
    if version not in _VERSIONS:
        raise ConvertError(f"{path}: is of version {version[:20]!r} of subword-nmt's format, allowed are {', '.join(_VERSIONS)}")
    if not lines:
        raise ConvertError(f"{path}: has no merges")
    for number, line in enumerate(lines):
        parts = line.strip().split(" ")
        if len(parts) != 2 or not all(parts):
            raise ConvertError(f"{path}: merge {number + 1} is '{line[:80]}', expected two parts with a space between them")
        lines[number] = " ".join(parts)
    return list(dict.fromkeys(lines)), version == "0.1"


def pieces_of_side(merges: list[str], own_end: bool, language: str) -> bytes:
    """For a text in this language: how it becomes pieces, and how words become it."""
    return json.dumps({"dividing": words_of_text(language, prefixes_of(language)), "joining": text_of_words(language), "own_end": own_end,
                       "merges": merges}, ensure_ascii=False, separators=(",", ":")).encode()


def goes_on(word: str) -> bool:
    return word.endswith(_GOES_ON)


def line_of(word: str) -> str:
    """The piece of a word of the vocabulary, as the server has it."""
    return word.removesuffix(_GOES_ON) if goes_on(word) else word + _ENDS
