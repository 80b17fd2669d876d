"""Reads SentencePiece models of strangers."""

import pathlib

import sentencepiece

from .package import ConvertError

_MOST_BYTES = 64 << 20   # as models/core/regular_file.h has it; published ones have a tenth


def pieces_of(path: pathlib.Path) -> sentencepiece.SentencePieceProcessor:
    try:
        if path.stat().st_size > _MOST_BYTES:   # the library would read all of it
            raise ConvertError(f"{path}: is larger than {_MOST_BYTES} bytes")
        return sentencepiece.SentencePieceProcessor(str(path))
    except (OSError, RuntimeError) as error:
        raise ConvertError(f"{path}: not a SentencePiece model: {error}") from error
