"""Students of Marian's in float32, as they are trained, in the int8 of Bergamot's: each matrix is rounded as marian-conv does it, by its largest value."""

import pathlib
import re
import struct
import zipfile

import numpy as np

from .bergamot_marian import EMBEDDINGS, Int8Matrix, names_in, read_binary
from .package import MOST_WEIGHT, check_weights_of
from .seq2seq_marian import read_npz

_CELL = "decoder_l1_rnn_Wf"   # of the SSRU decoder, which only students have


def is_student(path: pathlib.Path) -> bool:
    """Whether a file has the weights of a decoder with SSRU cells. Reads its head alone."""
    try:
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                return f"{_CELL}.npy" in archive.namelist()
        return path.suffix == ".bin" and _CELL in names_in(path)
    except (OSError, ValueError, NotImplementedError, zipfile.BadZipFile, struct.error):
        return False


def read_weights(path: pathlib.Path) -> tuple[dict[str, np.ndarray | Int8Matrix], dict[str, bytes]]:
    """As read_binary, of a student in int8 or float32."""
    weights, special = read_npz(path) if path.suffix == ".npz" else read_binary(path)
    if any(isinstance(value, Int8Matrix) for value in weights.values()):
        return weights, special
    return {name: _rounded(name, value, path) if _is_matrix(name) and value.ndim == 2 else value for name, value in weights.items()}, special


def _is_matrix(name: str) -> bool:
    return name in EMBEDDINGS or re.fullmatch(r"(?:en|de)coder_l\d+_(?:self|context|rnn|ffn)_W[a-z0-9]?", name) is not None


def _rounded(name: str, array: np.ndarray, path: pathlib.Path) -> Int8Matrix:
    check_weights_of(array, f"{path}: {name}")
    multiplier = np.float32(min(127 / max(float(np.abs(array).max(initial=0)), 127 / MOST_WEIGHT), MOST_WEIGHT))
    values = np.rint(array * multiplier).astype(np.int8)
    return Int8Matrix(values if name in EMBEDDINGS else np.ascontiguousarray(values.T), float(multiplier))
