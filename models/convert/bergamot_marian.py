"""Reads Marian's binary files: the weights ("binary v1") and, of a Bergamot tiny model, the lexical shortlist. All little endian.

Weights: u64 version, u64 count; per tensor u64 name bytes, type, dimensions, data bytes; the names; the shapes, u32 each; u64
padding and that many bytes; the data. An intgemm8 tensor is int8 followed by one float32, its multiplier: weight = int8 /
multiplier. Such matrices lie transposed, [outputs][inputs], except the embeddings, which are rows of words already.

Shortlist: u64 magic, checksum, `first`, `best`, offset count, id count; u64 offsets; u32 ids. A translation may use the `first`
words of the target's vocabulary and the ids that stand between offsets[w] and offsets[w + 1] for each of its source words w.
"""

import dataclasses
import pathlib
import struct
from typing import Any

import numpy as np

from .byte_file import ByteFile
from .package import MOST_TENSORS, MOST_WEIGHT, ConvertError, check_tensors

FLOAT32, INTGEMM8 = 0x404, 0x4101
SHORTLIST_MAGIC = 0xF11A48D5013417F5
MAX_DIMENSIONS = 8
_MOST_NAMES = 1 << 20   # bytes, of all tensors
# The embeddings are those of both sides, or of each where the languages have a vocabulary each. The output layer's matrix is the target's.
SHARED, SOURCE, TARGET = EMBEDDINGS = ("Wemb", "encoder_Wemb", "decoder_Wemb")


@dataclasses.dataclass(frozen=True)
class Int8Matrix:
    values: np.ndarray    # int8, [outputs][inputs]
    multiplier: float     # weight = value / multiplier


@dataclasses.dataclass(frozen=True)
class Shortlist:
    first: int
    offsets: np.ndarray   # [source words + 1], int64
    ids: np.ndarray       # words of the target, int32


def read_binary(path: pathlib.Path) -> tuple[dict[str, np.ndarray | Int8Matrix], dict[str, bytes]]:
    """The weights, and what is no weight by its name, such as "special:model.yml", the training configuration."""
    reader = ByteFile(path)
    version, count = reader.unpack("2Q")
    if version != 1 or count == 0:
        raise reader.fail(f"not a Marian binary of version 1 (version {version}, {count} tensors)")
    check_tensors(path, count)
    headers = [reader.unpack("4Q") for _ in range(count)]
    names = [bytes(reader.take(header[0])).rstrip(b"\0").decode("utf-8", "replace") for header in headers]
    if any(header[2] > MAX_DIMENSIONS for header in headers):
        raise reader.fail("a tensor with too many dimensions")
    shapes = [reader.unpack(f"{header[2]}I") for header in headers]
    reader.take(reader.unpack("Q")[0])
    weights: dict[str, np.ndarray | Int8Matrix] = {}
    special: dict[str, bytes] = {}
    for (_, kind, _, size), name, shape in zip(headers, names, shapes):
        if name.startswith("special:"):
            special[name] = bytes(reader.take(size))
            continue
        elements = int(np.prod(shape, dtype=object))
        needed = {FLOAT32: 4 * elements, INTGEMM8: elements + 4}.get(kind)
        if needed is None or needed > size:
            raise reader.fail(f"tensor {name}: type {kind:#x} with shape {shape} and {size} bytes")
        data = reader.take(size)
        if kind == FLOAT32:
            weights[name] = np.frombuffer(data, "<f4", elements).reshape(shape)
        else:
            multiplier = struct.unpack_from("<f", data, elements)[0]
            if not 1 / MOST_WEIGHT <= multiplier <= MOST_WEIGHT:
                raise reader.fail(f"tensor {name}: multiplier {multiplier}, allowed are {1 / MOST_WEIGHT:g}..{MOST_WEIGHT:g}")
            transposed = shape if name in EMBEDDINGS or len(shape) != 2 else (shape[1], shape[0])
            weights[name] = Int8Matrix(np.frombuffer(data, "i1", elements).reshape(transposed), multiplier)
    return weights, special


def embeddings(weights: dict[str, Any]) -> tuple[Any, Any]:
    """Of the source and of the target: the same where they share a matrix, None where there is none."""
    return (weights[SHARED], weights[SHARED]) if SHARED in weights else (weights.get(SOURCE), weights.get(TARGET))


def names_in(path: pathlib.Path) -> set[str]:
    """The names of the tensors, by the head of the file; none of other files. Raises OSError and struct.error."""
    with open(path, "rb") as file:
        version, count = struct.unpack("<2Q", file.read(16))
        if version != 1 or not 0 < count <= MOST_TENSORS:
            return set()
        sizes = [header[0] for header in struct.iter_unpack("<4Q", file.read(32 * count))]
        return set() if sum(sizes) > _MOST_NAMES else {file.read(size).rstrip(b"\0").decode("utf-8", "replace") for size in sizes}


def has_int8(path: pathlib.Path) -> bool:
    """Whether a file is a Marian binary with int8 weights, as only Bergamot's are. Reads its head alone."""
    try:
        with open(path, "rb") as file:
            version, count = struct.unpack("<2Q", file.read(16))
            if version != 1 or not 0 < count <= MOST_TENSORS:
                return False
            return any(header[1] == INTGEMM8 for header in struct.iter_unpack("<4Q", file.read(32 * count)))
    except OSError as error:
        raise ConvertError(f"cannot read {path}: {error.strerror}") from error
    except struct.error:
        return False


def read_shortlist(path: pathlib.Path, source_words: int, words: int) -> Shortlist:
    """words: of the target."""
    reader = ByteFile(path)
    magic, _, first, _, offset_count, id_count = reader.unpack("6Q")
    if magic != SHORTLIST_MAGIC:
        raise reader.fail("not a binary lexical shortlist")
    offsets = np.frombuffer(reader.take(8 * offset_count), "<u8")
    ids = np.frombuffer(reader.take(4 * id_count), "<u4")
    in_order = offsets.size > source_words and offsets[0] == 0 and (offsets[1:] >= offsets[:-1]).all() and offsets[-1] <= ids.size
    if not in_order or first > words or (ids >= words).any():
        raise reader.fail("its words do not fit " + (f"a vocabulary of {words}" if source_words == words else
                                                     f"vocabularies of {source_words} and {words}"))
    return Shortlist(first, offsets[:source_words + 1].astype(np.int64), ids.astype(np.int32))
