"""Reads files that torch.save wrote, without PyTorch: a zip with a pickle of the structure and one file for each storage.

The pickle may name only what tensors are made of, so a file from the network cannot run code.
"""

import collections
import pathlib
import pickle
import zipfile

import numpy as np

from .package import ConvertError

_TYPES = {"FloatStorage": np.float32, "DoubleStorage": np.float64, "HalfStorage": np.float16, "LongStorage": np.int64,
          "IntStorage": np.int32}


class _Storage:
    """Stands for a type of storage."""

    def __init__(self, name: str):
        self.dtype = np.dtype(_TYPES[name]).newbyteorder("<")


def _rebuild_tensor(storage, offset, size, stride, *_) -> np.ndarray:
    last = offset + sum((n - 1) * step for n, step in zip(size, stride)) if all(size) else -1
    if min(offset, *stride, *size, 0) < 0 or last >= len(storage):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    view = np.lib.stride_tricks.as_strided(storage[offset:], size, [step * storage.itemsize for step in stride])
    return np.array(view)


def _rebuild_parameter(data, *_) -> np.ndarray:
    return data


_ALLOWED = {("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
            ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
            ("collections", "OrderedDict"): collections.OrderedDict}


class _Unpickler(pickle.Unpickler):
    def __init__(self, archive: zipfile.ZipFile, folder: str):
        super().__init__(archive.open(folder + "data.pkl"))
        self._archive, self._folder = archive, folder

    def find_class(self, module: str, name: str):
        if module == "torch" and name in _TYPES:
            return _Storage(name)
        if (module, name) not in _ALLOWED:
            raise pickle.UnpicklingError(f"it names {module}.{name}, which no tensor needs")
        return _ALLOWED[module, name]

    def persistent_load(self, pid):
        kind, storage, key = pid[:3]
        if kind != "storage" or not isinstance(storage, _Storage):
            raise pickle.UnpicklingError(f"it refers to a {kind}")
        return np.frombuffer(self._archive.read(f"{self._folder}data/{key}"), storage.dtype)


def read_checkpoint(path: pathlib.Path):
    """What was saved, with numpy arrays in the place of tensors."""
    try:
        with zipfile.ZipFile(path) as archive:
            pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
            if len(pickles) != 1:
                raise ConvertError(f"{path} is not a file of torch.save: it has no data.pkl")
            folder = pickles[0].removesuffix("data.pkl")
            if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
                raise ConvertError(f"{path} was written in another byte order than little")
            return _Unpickler(archive, folder).load()
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except (zipfile.BadZipFile, pickle.UnpicklingError, KeyError, EOFError, TypeError, ValueError) as error:
        raise ConvertError(f"{path} is not a file of torch.save, or it is damaged: {error}") from error
