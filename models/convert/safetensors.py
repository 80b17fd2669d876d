"""Weights as safetensors files. The types of our packages are those of NumPy; read files may also hold bfloat16."""

import pathlib
from collections.abc import Mapping

import numpy as np
import safetensors
import safetensors.numpy

from .package import ConvertError

_TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8, "I32": np.int32, "I64": np.int64}


def write_safetensors(path: pathlib.Path, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
    """The library puts the widest types first, so that every tensor is aligned for its type. Raises OSError, unlike its save_file."""
    contiguous = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    path.write_bytes(safetensors.numpy.save(contiguous, dict(metadata)))


def read_safetensors(path: pathlib.Path) -> dict[str, np.ndarray]:
    """Returns every tensor; those of 16 bits become float32."""
    try:
        tensors = safetensors.deserialize(path.read_bytes())
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except safetensors.SafetensorError as error:
        raise ConvertError(f"{path}: not a safetensors file: {error}") from error
    return {name: _array(f"{path}: {name}", entry) for name, entry in tensors}


def _array(where: str, entry: dict) -> np.ndarray:
    if entry["dtype"] == "BF16":
        array = (np.frombuffer(entry["data"], "<u2").astype(np.uint32) << 16).view(np.float32)
    elif entry["dtype"] in _TYPES:
        array = np.frombuffer(entry["data"], _TYPES[entry["dtype"]])
    else:
        raise ConvertError(f"{where} has the type {entry['dtype']}, allowed are {', '.join([*_TYPES, 'BF16'])}")
    return (array.astype(np.float32) if array.dtype == np.float16 else array).reshape(entry["shape"])
