"""Reads the graph of an ONNX file: its nodes, and its constants as arrays that lie in the mapped file.

An ONNX file is a message of Protocol Buffers. Only the fields that a converter asks for are read, so that neither the package onnx nor a
copy of the weights is needed.
"""

import dataclasses
import pathlib
from collections.abc import Iterator

import numpy as np

from .package import ConvertError, mapped

# TensorProto.DataType
_TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64, 9: np.bool_, 10: np.float16, 11: np.float64,
          12: np.uint32, 13: np.uint64}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MOST_DIMENSIONS = 32
# Published voices have a twentieth of it. Fields may be of two bytes, and what is made of one takes hundreds.
_MOST_FIELDS, _MOST_NODES = 500_000, 50_000


@dataclasses.dataclass
class Node:
    op_type: str = ""
    name: str = ""
    input: list[str] = dataclasses.field(default_factory=list)
    output: list[str] = dataclasses.field(default_factory=list)
    ints: dict[str, list[int]] = dataclasses.field(default_factory=dict)              # attributes that are integers or lists of them
    tensors: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)          # attributes that are tensors


@dataclasses.dataclass
class Graph:
    nodes: list[Node] = dataclasses.field(default_factory=list)
    inputs: list[str] = dataclasses.field(default_factory=list)
    constants: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)        # initializers, and what nodes of the type Constant give


class _Damaged(Exception):
    """Says what is wrong with the bytes."""


def read_graph(path: pathlib.Path) -> Graph:
    try:
        return _Parser().graph(mapped(path))
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except (_Damaged, ValueError, UnicodeDecodeError) as error:
        raise ConvertError(f"{path} is not an ONNX file, or it is damaged: {error}") from error


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
    raise _Damaged("it ends within a number")


def _bytes(value: int | memoryview) -> memoryview:
    if isinstance(value, int):
        raise _Damaged("a number stands where bytes belong")
    return value


def _text(value: int | memoryview) -> str:
    return str(_bytes(value), "utf-8")


def _signed(value: int) -> int:
    value &= (1 << 64) - 1   # as readers of Protocol Buffers cut it
    return value - (1 << 64) if value >> 63 else value


class _Parser:
    """Reads one file, and at most so many fields."""

    def __init__(self):
        self._left = _MOST_FIELDS

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _Damaged(f"it has more than {_MOST_FIELDS} fields and numbers")

    def _fields(self, data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
        """The fields of a message: number and value, which is a number or bytes."""
        at = 0
        while at < len(data):
            self._count()
            key, at = _varint(data, at)
            number, kind = key >> 3, key & 7
            if kind == _VARINT:
                value, at = _varint(data, at)
                yield number, value
                continue
            if kind == _BYTES:
                size, at = _varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                size = 8 if kind == _FIXED64 else 4
            else:
                raise _Damaged(f"a field has the type {kind}")
            if size > len(data) - at:
                raise _Damaged(f"a field of {size} bytes begins {len(data) - at} bytes before its end")
            yield number, data[at:at + size]
            at += size

    def _numbers(self, value: int | memoryview) -> list[int]:
        """A field of integers holds one, or is packed."""
        if isinstance(value, int):
            return [_signed(value)]
        found, at = [], 0
        while at < len(value):
            self._count()
            number, at = _varint(value, at)
            found.append(_signed(number))
        return found

    def _tensor(self, data: memoryview) -> tuple[str, np.ndarray]:
        name, kind, shape = "", 0, []
        raw: memoryview | None = None
        floats: list[memoryview] = []
        integers: list[int] = []
        for number, value in self._fields(data):
            if number == 1:
                shape += self._numbers(value)
            elif number == 2 and isinstance(value, int):
                kind = value
            elif number in (4, 10):
                floats.append(_bytes(value))
            elif number in (5, 7, 11):
                integers += self._numbers(value)
            elif number == 8:
                name = _text(value)
            elif number == 9:
                raw = _bytes(value)
            elif number == 14 and value == 1:
                raise _Damaged(f"the tensor '{name}' lies in another file")
        if kind not in _TYPES:
            raise _Damaged(f"the tensor '{name}' has the type {kind}")
        if len(shape) > _MOST_DIMENSIONS or any(not 0 <= size < 1 << 40 for size in shape):
            raise _Damaged(f"the tensor '{name}' has the shape {shape[:4]}")
        dtype = np.dtype(_TYPES[kind])
        if raw is not None or floats:
            packed = raw if raw is not None else b"".join(floats)
            if len(packed) % dtype.itemsize:
                raise _Damaged(f"the tensor '{name}' has {len(packed)} bytes")
            flat = np.frombuffer(packed, dtype.newbyteorder("<"))
        else:
            # The narrow types are widened there, and float16 is stored by its bits.
            flat = np.array(integers, np.int64)
            flat = flat.astype(np.uint16).view(np.float16) if kind == 10 else flat.astype(dtype)
        if flat.size != int(np.prod(shape, dtype=object)):
            raise _Damaged(f"the tensor '{name}' has {flat.size} elements, its shape is {shape}")
        return name, flat.reshape(shape)

    def _node(self, data: memoryview) -> Node:
        node = Node()
        for number, value in self._fields(data):
            if number in (1, 2):
                (node.input if number == 1 else node.output).append(_text(value))
            elif number == 3:
                node.name = _text(value)
            elif number == 4:
                node.op_type = _text(value)
            elif number == 5:
                self._attribute(_bytes(value), node)
        return node

    def _attribute(self, data: memoryview, node: Node) -> None:
        name, ints = "", []
        tensor: np.ndarray | None = None
        for number, value in self._fields(data):
            if number == 1:
                name = _text(value)
            elif number in (3, 8):
                ints += self._numbers(value)
            elif number == 5:
                tensor = self._tensor(_bytes(value))[1]
        if ints:
            node.ints[name] = ints
        if tensor is not None:
            node.tensors[name] = tensor

    def graph(self, data: memoryview) -> Graph:
        graph, found = Graph(), False
        for number, part in self._fields(data):
            if number != 7:
                continue
            found = True
            for kind, value in self._fields(_bytes(part)):
                if kind == 1:
                    if len(graph.nodes) == _MOST_NODES:
                        raise _Damaged(f"it has more than {_MOST_NODES} nodes")
                    graph.nodes.append(node := self._node(_bytes(value)))
                    if node.op_type == "Constant" and node.output and "value" in node.tensors:
                        graph.constants[node.output[0]] = node.tensors["value"]
                elif kind == 5:
                    name, array = self._tensor(_bytes(value))
                    graph.constants[name] = array
                elif kind == 11:
                    graph.inputs += [_text(name) for field, name in self._fields(_bytes(value)) if field == 1]
        if not found:
            raise _Damaged("it has no graph")
        graph.inputs = [name for name in graph.inputs if name not in graph.constants]
        return graph
