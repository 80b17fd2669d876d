"""Standard output, which may be closed or full: that ends a command in a way of its own, never as a file that cannot be written."""

import io
import os
import sys

from .package import ConvertError


class OutputLost(ConvertError):
    pass


class ReaderGone(OutputLost):
    """Nobody reads on, as with `| head`."""


class _Output(io.FileIO):
    lost = False

    def write(self, data):
        if self.lost:   # what is left in the buffer is not said again
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.lost = True
            kind = ReaderGone if isinstance(error, BrokenPipeError) else OutputLost
            raise kind(f"standard output cannot be written: {error.strerror}") from error


def take_standard_output() -> None:
    """A file's name may have bytes that are no letters."""
    try:
        raw = _Output(1, "w", closefd=False)
    except OSError:   # there is none
        raw = io.FileIO(os.devnull, "w")
    encoding = sys.stdout.encoding if sys.stdout else "utf-8"
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding, "backslashreplace", line_buffering=raw.isatty())
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")
    sys.stderr.reconfigure(errors="backslashreplace")
