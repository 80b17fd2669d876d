"""Reads a binary file of little-endian numbers from its beginning to its end."""

import pathlib
import struct

from .package import ConvertError, mapped


class ByteFile:
    def __init__(self, path: pathlib.Path):
        self.path, self.at = path, 0
        try:
            self.raw = mapped(path)
        except OSError as error:
            raise ConvertError(f"cannot read {path}: {error.strerror}") from error

    def fail(self, what: str) -> ConvertError:
        return ConvertError(f"{self.path}: corrupt at byte {self.at}: {what}")

    def take(self, size: int) -> memoryview:
        if size > len(self.raw) - self.at:
            raise self.fail(f"{size} bytes announced, {len(self.raw) - self.at} left")
        self.at += size
        return self.raw[self.at - size:self.at]

    def unpack(self, layout: str) -> tuple:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))
