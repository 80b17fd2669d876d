"""Reads and writes safetensors files: an 8-byte length, a JSON header, then the tensors."""

import json
import pathlib
import struct
from collections.abc import Mapping

import numpy as np

from .package import ConvertError

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


def read_safetensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Every tensor, those of 16 bits as float32."""
    types = {name: np.dtype(kind).newbyteorder("<") for kind, name in _TYPES.items()}
    try:
        data = np.memmap(path, np.uint8, "r")
        length = int.from_bytes(data[:8].tobytes(), "little")
        header = json.loads(data[8:8 + length].tobytes())
        tensors = {}
        for name, entry in header.items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            raw = data[8 + length + begin:8 + length + end]
            if entry["dtype"] == "BF16":
                array = (raw.view("<u2").astype(np.uint32) << 16).view(np.float32)
            else:
                array = raw.view(types[entry["dtype"]])
            tensors[name] = (array.astype(np.float32) if array.dtype == np.float16 else array).reshape(entry["shape"])
        return tensors
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConvertError(f"{path}: not a safetensors file: {error}") from error
