"""Writes safetensors files: an 8-byte length, a JSON header, then the tensors."""

import json
import pathlib
import struct
from collections.abc import Mapping

import numpy as np

_TYPES = {"float32": "F32", "float16": "F16", "int8": "I8", "uint8": "U8", "int32": "I32", "int64": "I64"}
_ALIGNMENT = 64


def write_safetensors(path: pathlib.Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """The widest types first: then every tensor is aligned, since the format allows no gaps."""
    header: dict[str, object] = {"__metadata__": dict(metadata)}
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    offset = 0
    for name in names:
        array = tensors[name]
        end = offset + array.nbytes
        header[name] = {"dtype": _TYPES[array.dtype.name], "shape": list(array.shape), "data_offsets": [offset, end]}
        offset = end
    encoded = json.dumps(header, separators=(",", ":")).encode()
    encoded += b" " * (-(len(encoded) + 8) % _ALIGNMENT)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(encoded)))
        file.write(encoded)
        for name in names:
            file.write(np.ascontiguousarray(tensors[name]).tobytes())
