"""Weights as safetensors files: the length of a JSON header, the header, the bytes of all tensors. The types of our packages are those of
NumPy; read files may also hold bfloat16."""

import itertools
import json
import math
import pathlib
import struct
from collections.abc import Mapping

import numpy as np

from .package import ConvertError, check_tensors, mapped
from .scaled_tensors import to_floats

_TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8, "I32": np.int32, "I64": np.int64}
_NAMES = {np.dtype(kind): name for name, kind in _TYPES.items()}
_ALIGNMENT = 8           # of the first tensor, which the widest types need
_MOST_HEADER = 64 << 20


def write_safetensors(path: pathlib.Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """The widest types come first, so that every tensor is aligned for its type. Raises OSError."""
    ordered = sorted(tensors.items(), key=lambda entry: (-entry[1].itemsize, entry[0]))
    header: dict[str, dict] = {"__metadata__": dict(metadata)}
    position = 0
    for name, array in ordered:
        header[name] = {"dtype": _NAMES[array.dtype], "shape": list(array.shape), "data_offsets": [position, position + array.nbytes]}
        position += array.nbytes
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, array in ordered:
            file.write(np.ascontiguousarray(array).data)


def read_safetensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns every tensor; those of 16 bits and those with a scale become float32, and the others lie in the mapped file."""
    try:
        data = mapped(path)
        (length,) = struct.unpack_from("<Q", data)
        if length > min(len(data) - 8, _MOST_HEADER):
            raise ValueError(f"its header has {length} bytes")
        header = json.loads(bytes(data[8:8 + length]))
        check_tensors(path, len(header))
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        places = sorted((entry["data_offsets"], name) for name, entry in entries.items())
        for ((_, end), name), ((begin, _), after) in itertools.pairwise(places):
            if begin < end:
                raise ValueError(f"{name} and {after} share bytes")
        tensors = {name: _array(f"{path}: {name}", entry, data[8 + length:]) for name, entry in entries.items()}
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, struct.error) as error:
        raise ConvertError(f"{path}: not a safetensors file: {error}") from error
    return to_floats(tensors)


def _array(where: str, entry: dict, data: memoryview) -> np.ndarray:
    kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
    if kind != "BF16" and kind not in _TYPES:
        raise ConvertError(f"{where} has the type {kind}, allowed are {', '.join([*_TYPES, 'BF16'])}")
    dtype = np.dtype("<u2" if kind == "BF16" else _TYPES[kind])
    if not all(isinstance(size, int) and size >= 0 for size in (*shape, begin, end)) or end > len(data) or \
            end - begin != dtype.itemsize * math.prod(shape):
        raise ValueError(f"{where.rpartition(' ')[2]} has the shape {shape} and lies at {begin} to {end} of {len(data)} bytes")
    array = np.frombuffer(data[begin:end], dtype)
    if kind == "BF16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    return (array.astype(np.float32) if array.dtype == np.float16 else array).reshape(shape)
