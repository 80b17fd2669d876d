"""Reads files that torch.save wrote, without PyTorch: a zip with a pickle of the structure and one file for each storage; or, before
PyTorch 1.6, pickles of a number that marks the form, its version, the writer's types, the structure and the storages' keys, and then
each storage: its elements as 64 bits, and its data.

The pickle may name only what tensors are made of, so a file from the network cannot run code.
"""

import collections
import math
import mmap
import pathlib
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from .archive import check_weights
from .package import MOST_TENSORS, ConvertError

_TYPES = {"FloatStorage": np.float32, "DoubleStorage": np.float64, "HalfStorage": np.float16, "LongStorage": np.int64,
          "IntStorage": np.int32}


class _Storage:
    """Stands for a type of storage."""

    def __init__(self, name: str):
        self.dtype = np.dtype(_TYPES[name]).newbyteorder("<")


def _rebuild_tensor(storage, offset, size, stride, *_) -> np.ndarray:
    """A view: several names may stand for one tensor."""
    last = offset + sum((n - 1) * step for n, step in zip(size, stride)) if all(size) else -1
    # More elements than the storage has would be the same ones again and again.
    if len(size) != len(stride) or min(offset, *stride, *size, 0) < 0 or last >= len(storage) or math.prod(size) > len(storage):
        raise pickle.UnpicklingError("a tensor reaches beyond its storage")
    return np.lib.stride_tricks.as_strided(storage[offset:], size, [step * storage.itemsize for step in stride])


def _rebuild_parameter(data, *_) -> np.ndarray:
    return data


_REBUILDERS = {("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_parameter")}
_OLD_MAGIC, _OLD_VERSION = 0x1950A86A20F9469CFC6C, 1001
_OLD_HEAD = b"\x80\x02\x8a\x0a" + _OLD_MAGIC.to_bytes(10, "little")
_ALLOWED = {("torch._utils", "_rebuild_tensor_v2"): _rebuild_tensor,
            ("torch._utils", "_rebuild_parameter"): _rebuild_parameter,
            ("collections", "OrderedDict"): collections.OrderedDict}


_OPERATIONS = (pickle.PROTO, pickle.STOP, pickle.MARK, pickle.GLOBAL, pickle.REDUCE, pickle.BUILD, pickle.BINPERSID, pickle.NONE, pickle.NEWTRUE,
               pickle.NEWFALSE, pickle.BININT, pickle.BININT1, pickle.BININT2, pickle.LONG1, pickle.BINFLOAT, pickle.BINUNICODE,
               pickle.SHORT_BINSTRING, pickle.EMPTY_TUPLE, pickle.TUPLE, pickle.TUPLE1, pickle.TUPLE2, pickle.TUPLE3, pickle.EMPTY_LIST,
               pickle.APPEND, pickle.APPENDS, pickle.EMPTY_DICT, pickle.SETITEM, pickle.SETITEMS, pickle.BINPUT, pickle.LONG_BINPUT,
               pickle.BINGET, pickle.LONG_BINGET)


class _Unpickler(pickle._Unpickler):
    """read: the data of the storage with a key.

    Python's own unpickler and not that of C, which makes room for as much as a few bytes of the file announce."""

    dispatch = {operation[0]: pickle._Unpickler.dispatch[operation[0]] for operation in _OPERATIONS}

    def __init__(self, file: BinaryIO, read: Callable[[str, np.dtype], np.ndarray]):
        super().__init__(file)
        self._read, self._tensors = read, 0

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
        if len(pid) > 5 and pid[5] is not None:
            raise pickle.UnpicklingError("it refers to a part of a storage")
        self._tensors += 1
        if self._tensors > MOST_TENSORS:
            raise pickle.UnpicklingError(f"it has more than {MOST_TENSORS} tensors")
        return self._read(key, storage.dtype)


class _Skimmer(_Unpickler):
    """Learns the types of the storages, whose data stands behind the structure."""

    def __init__(self, file: BinaryIO):
        self.types: dict[str, np.dtype] = {}
        super().__init__(file, lambda key, dtype: self.types.setdefault(key, dtype))

    def find_class(self, module: str, name: str):
        found = super().find_class(module, name)
        return (lambda *_: None) if (module, name) in _REBUILDERS else found


def _read_zip(path: pathlib.Path):
    check_weights(path)
    with zipfile.ZipFile(path) as archive:
        pickles = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(pickles) != 1:
            raise ConvertError(f"{path} is not a file of torch.save: it has no data.pkl")
        folder = pickles[0].removesuffix("data.pkl")
        if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
            raise ConvertError(f"{path} was written in another byte order than little")
        storages: dict[str, bytes] = {}

        def read(key: str, dtype: np.dtype) -> np.ndarray:
            if key not in storages:
                storages[key] = archive.read(f"{folder}data/{key}")
            return np.frombuffer(storages[key], dtype)

        with archive.open(pickles[0]) as file:
            return _Unpickler(file, read).load()


def _nothing(key: str, dtype: np.dtype) -> np.ndarray:
    raise pickle.UnpicklingError("it refers to a storage before the structure")


def _read_old(path: pathlib.Path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        def load(kind=_Unpickler, *arguments):
            return kind(data, *(arguments or [_nothing])).load()

        if load() != _OLD_MAGIC or load() != _OLD_VERSION:
            raise pickle.UnpicklingError("it has another version")
        if not load().get("little_endian"):
            raise ConvertError(f"{path} was written in another byte order than little")
        structure = data.tell()
        skimmer = _Skimmer(data)
        skimmer.load()
        storages: dict[str, np.ndarray] = {}
        for key in load():
            if key not in skimmer.types:
                raise pickle.UnpicklingError(f"no tensor has the storage {key}")
            elements = int.from_bytes(data.read(8), "little", signed=True)
            size = elements * skimmer.types[key].itemsize
            if not 0 <= size <= len(data) - data.tell():
                raise pickle.UnpicklingError(f"the storage {key} reaches beyond the file")
            storages[key] = np.frombuffer(data.read(size), skimmer.types[key])
        data.seek(structure)
        return _Unpickler(data, lambda key, dtype: storages[key]).load()


def read_checkpoint(path: pathlib.Path):
    """What was saved, with numpy arrays in the place of tensors."""
    try:
        with open(path, "rb") as file:
            old = file.read(len(_OLD_HEAD)) == _OLD_HEAD
        return _read_old(path) if old else _read_zip(path)
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except (zipfile.BadZipFile, pickle.UnpicklingError, KeyError, EOFError, TypeError, ValueError, AttributeError,
            IndexError, RecursionError, MemoryError, OverflowError, NotImplementedError, RuntimeError, struct.error, zlib.error) as error:
        raise ConvertError(f"{path} is not a file of torch.save, or it is damaged: {error}") from error
