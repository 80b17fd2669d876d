"""Reads zstd files, by the system's libzstd: Python's library has it from 3.14 on only."""

import ctypes
import functools
import pathlib

from .package import ConvertError

_PIECE = 1 << 17


class ZstdError(ValueError):
    pass


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t), ("position", ctypes.c_size_t)]


@functools.cache
def _library() -> ctypes.CDLL:
    for name in ("libzstd.so.1", "libzstd.1.dylib"):
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.ZSTD_createDStream.restype = ctypes.c_void_p
        library.ZSTD_getErrorName.restype = ctypes.c_char_p
        library.ZSTD_decompressStream.restype = ctypes.c_size_t
        library.ZSTD_isError.argtypes = library.ZSTD_getErrorName.argtypes = [ctypes.c_size_t]
        library.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
        library.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(_Buffer), ctypes.POINTER(_Buffer)]
        return library
    raise ConvertError("libzstd is not installed, in whose form some of Mozilla's files are; install it with: apt-get install libzstd1")


class ZstdFile:
    """A file that is read from its beginning to its end."""

    def __init__(self, path: pathlib.Path):
        self._library = _library()
        self._file = open(path, "rb")
        self._stream = self._library.ZSTD_createDStream()
        self._piece, self._source, self._ended = None, _Buffer(None, 0, 0), False

    def __enter__(self) -> "ZstdFile":
        return self

    def __exit__(self, *_) -> None:
        self._file.close()
        self._library.ZSTD_freeDStream(self._stream)

    def read(self, size: int) -> bytes:
        made = ctypes.create_string_buffer(size)
        target = _Buffer(ctypes.addressof(made), size, 0)
        while target.position < size:
            if self._source.position == self._source.size:
                if not (piece := self._file.read(_PIECE)):
                    if not self._ended:
                        raise ZstdError("it is cut off")
                    break
                self._piece = ctypes.create_string_buffer(piece, len(piece))
                self._source = _Buffer(ctypes.addressof(self._piece), len(piece), 0)
            left = self._library.ZSTD_decompressStream(self._stream, ctypes.byref(target), ctypes.byref(self._source))
            if self._library.ZSTD_isError(left):
                raise ZstdError(self._library.ZSTD_getErrorName(left).decode())
            self._ended = left == 0
        return made.raw[:target.position]
