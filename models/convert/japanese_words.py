"""The Japanese words of the package misaki that are spoken without a break, as models/text/japanese/japanese_words.h reads them.

A word a line, sorted by the bytes of its UTF-8.
"""

import importlib.resources
import pathlib

from .english_lexicon import data_folder
from .package import ConvertError


def sort_words(text: str) -> bytes:
    """Each word once; lines of nothing but white space are left out."""
    words = sorted({word.encode() for line in text.splitlines() if (word := line.strip())})
    return b"".join(word + b"\n" for word in words)


def write_words(path: pathlib.Path) -> None:
    # Packages of millrace_models have them sorted already.
    ready = importlib.resources.files(__package__) / "lexicons" / "japanese.words"
    if ready.is_file():
        path.write_bytes(ready.read_bytes())
        return
    source = data_folder() / "ja_words.txt"
    try:
        text = source.read_text(encoding="utf-8")
    except OSError as error:
        raise ConvertError(f"cannot read {source}: {error.strerror}") from error
    except ValueError as error:
        raise ConvertError(f"{source} is not UTF-8: {error}") from error
    path.write_bytes(sort_words(text))
