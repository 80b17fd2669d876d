"""Folders of the repository for the time of a command, which no server looks into."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def hidden_folder(models: pathlib.Path, prefix: str) -> Iterator[pathlib.Path]:
    """An empty folder that vanishes at the end, and with it those of this prefix that were left by commands that were killed."""
    with _locked(models):   # so that nobody takes a folder for one that was left before its lock is taken
        for left in models.glob(f"{prefix}*"):
            with contextlib.suppress(OSError), _locked(left, fcntl.LOCK_NB):
                shutil.rmtree(left)
        folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix, dir=models))
        lock = contextlib.ExitStack()
        lock.enter_context(_locked(folder))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


@contextlib.contextmanager
def _locked(folder: pathlib.Path, wait: int = 0) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | wait)
        yield
    finally:
        os.close(descriptor)
