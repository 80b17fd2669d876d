"""Reads SentencePiece models of strangers."""

import pathlib

import sentencepiece

from .package import ConvertError, read_bounded

_MOST_BYTES = 64 << 20   # as models/core/regular_file.h has it; published ones have a tenth


def pieces_of(path: pathlib.Path) -> sentencepiece.SentencePieceProcessor:
    data = read_bounded(path, _MOST_BYTES)
    try:
        # By its bytes: the library takes no path that is not UTF-8, and reads an empty model as one that was not given.
        return sentencepiece.SentencePieceProcessor(model_proto=data or b"\0")
    except (OSError, RuntimeError) as error:
        raise ConvertError(f"{path}: not a SentencePiece model: {error}") from error
