"""Lower limits of the system for a running process."""

import contextlib
import itertools
import pathlib
import resource
from collections.abc import Iterator


def next_descriptor(pid: int) -> int:
    """The number that the next file would get which the process opens."""
    taken = {int(entry.name) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
    return next(number for number in itertools.count() if number not in taken)


@contextlib.contextmanager
def _limited(pid: int, kind: int, limit: int) -> Iterator[None]:
    soft, hard = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (limit, hard))
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, kind, (soft, hard))


def without_descriptors(pid: int) -> contextlib.AbstractContextManager[None]:
    """The process can open nothing more."""
    return _limited(pid, resource.RLIMIT_NOFILE, next_descriptor(pid))


def with_a_full_disk(pid: int) -> contextlib.AbstractContextManager[None]:
    """The process and those that it starts meanwhile can write into no file: neither their log nor reports."""
    return _limited(pid, resource.RLIMIT_FSIZE, 0)
