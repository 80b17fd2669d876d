"""Reads model.bin of CTranslate2: the variables of a network by their names. All little endian.

u32 version; the specification's name and u32 its revision; u32 count; per variable its name, u8 rank, u32 for each dimension, u8 type,
u32 bytes and the data (before version 4: u8 bytes of an item and u32 items); u32 count of aliases, each with the name of its variable.
A name is u16 bytes, with the zero at its end. A quantised matrix [outputs][inputs] is value / scale, with a scale for each row.
"""

import dataclasses
import pathlib

import numpy as np

from .byte_file import ByteFile
from .package import ConvertError, check_tensors

OLDEST, NEWEST = 3, 6
MOST_DIMENSIONS = 4
_TYPES = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}
_BFLOAT16 = 5
_OLD_TYPES = {4: "<f4", 2: "<i2", 1: "i1"}   # by bytes of an item, before version 4
_OLD_INT16_SCALE = np.float32(1000)          # of matrices that have none of their own


@dataclasses.dataclass(frozen=True)
class Variables:
    path: pathlib.Path
    version: int
    specification: str
    revision: int
    arrays: dict[str, np.ndarray]   # aliases are there too


def read_model(path: pathlib.Path) -> Variables:
    reader = _Reader(path)
    version = reader.number("I")
    if not OLDEST <= version <= NEWEST:
        raise ConvertError(f"{path}: has version {version} of CTranslate2's format, or is no such file; allowed are {OLDEST}..{NEWEST}")
    specification, revision = reader.name(), reader.number("I")
    arrays: dict[str, np.ndarray] = {}
    for _ in range(reader.count()):
        name = reader.name()
        arrays[name] = reader.array(name, version)
    for _ in range(reader.count()):
        alias, name = reader.name(), reader.name()
        for suffix in ("", "_scale"):
            if name + suffix in arrays:
                arrays[alias + suffix] = arrays[name + suffix]
    return Variables(path, version, specification, revision, arrays)


def plain(variables: Variables, name: str) -> np.ndarray:
    """The array as float32, whatever it was quantised to."""
    array = variables.arrays[name]
    if array.dtype.kind != "i":
        return np.asarray(array, np.float32)
    scale = variables.arrays.get(f"{name}_scale", _OLD_INT16_SCALE if array.dtype == np.int16 else None)
    if scale is None or scale.dtype.kind != "f" or not np.isfinite(scale).all() or (scale == 0).any() or scale.size not in (1, len(array)):
        raise ConvertError(f"{variables.path}: {name} has no scale for each of its rows")
    return array.astype(np.float32) / scale.astype(np.float32).reshape(-1, *[1] * (array.ndim - 1))


class _Reader(ByteFile):
    def number(self, kind: str) -> int:
        return self.unpack(kind)[0]

    def count(self) -> int:
        check_tensors(self.path, count := self.number("I"))
        return count

    def name(self) -> str:
        return bytes(self.take(self.number("H"))).rstrip(b"\0").decode("utf-8", "replace")

    def array(self, name: str, version: int) -> np.ndarray:
        rank = self.number("B")
        if rank > MOST_DIMENSIONS:
            raise self.fail(f"{name} has {rank} dimensions")
        shape = self.unpack(f"{rank}I")
        kind, size = self.number("B"), self.number("I")
        if version < 4:
            size *= kind
        layout = (_TYPES if version >= 4 else _OLD_TYPES).get(kind)
        is_bfloat16 = version >= 4 and kind == _BFLOAT16
        if layout is None and not is_bfloat16:
            raise self.fail(f"{name} has the unknown type {kind}")
        elements = int(np.prod(shape, dtype=object))
        if size != elements * np.dtype(layout or "<u2").itemsize:
            raise self.fail(f"{name} with shape {list(shape)} has {size} bytes")
        data = self.take(size)
        if is_bfloat16:   # the upper half of a float32
            return (np.frombuffer(data, "<u2").astype(np.uint32) << 16).view(np.float32).reshape(shape)
        return np.frombuffer(data, layout).reshape(shape)
