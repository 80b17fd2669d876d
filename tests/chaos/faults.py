"""Faults of executors, injected into the shipped program from outside. What an executor never says by itself, such as half a message, is
said over its own connections, of which Linux gives its parent's user a copy (pidfd_getfd)."""

import contextlib
import ctypes
import os
import pathlib
import random
import signal
import socket
import struct
import time
from collections.abc import Callable

from wire.daemon import Daemon
from wire.executors import serving_executors

PIDFD_GETFD = 438
MAGIC = 0x4d4c5231


def connections(pid: int) -> list[socket.socket]:
    """Copies of all of an executor's connections to its server."""
    libc = ctypes.CDLL(None, use_errno=True)
    handle = os.pidfd_open(pid)
    copies = []
    try:
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if not os.readlink(entry).startswith("socket:"):
                    continue
                copy = libc.syscall(PIDFD_GETFD, handle, int(entry.name), 0)
                if copy < 0:
                    raise OSError(ctypes.get_errno(), "pidfd_getfd")
                opened = socket.socket(fileno=copy)
                if opened.family == socket.AF_UNIX:
                    copies.append(opened)
                else:
                    opened.close()
    finally:
        os.close(handle)
    return copies


def say(pid: int, message: bytes) -> None:
    for connection in connections(pid):
        with connection, contextlib.suppress(OSError):
            connection.send(message, socket.MSG_DONTWAIT)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def crash(pid: int) -> None:
    os.kill(pid, signal.SIGSEGV)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def pause(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    time.sleep(0.3)   # shorter than the silence for which an executor is killed
    os.kill(pid, signal.SIGCONT)


def say_garbage(pid: int) -> None:
    say(pid, random.randbytes(64))


def say_half_a_message(pid: int) -> None:
    """The beginning of a message, and then the end of the process."""
    say(pid, struct.pack("<IIQ", MAGIC, 100, 1000) + b"\x0a\x02")
    kill(pid)


def say_an_empty_message(pid: int) -> None:
    say(pid, struct.pack("<IIQ", MAGIC, 0, 0))


def say_a_message_over_its_limit(pid: int) -> None:
    say(pid, struct.pack("<IIQ", MAGIC, 1 << 31, 0))


ALL = [kill, crash, stop, pause, say_garbage, say_half_a_message, say_an_empty_message, say_a_message_over_its_limit]
# These look like the doing of the requests that are in a step.
BLAMING = [crash, stop, pause, say_garbage, say_an_empty_message, say_a_message_over_its_limit]


def inject(daemon: Daemon, seconds: float, faults: list[Callable[[int], None]], seed: int, interval: float = 1.0) -> dict[str, int]:
    """Injects a fault into an executor that serves each interval, both chosen at random. One that is stopped is left to the server.
    Returns how often each was injected."""
    choice = random.Random(seed)
    stopped: set[int] = set()
    counts = {fault.__name__: 0 for fault in faults}
    end = time.monotonic() + seconds
    due = time.monotonic()
    while (due := due + interval) < end:
        time.sleep(max(0.0, due - time.monotonic()))
        alive = [pid for pid in serving_executors(daemon) if pid not in stopped]
        fault = choice.choice(faults)
        if not alive:
            continue
        victim = choice.choice(alive)
        with contextlib.suppress(OSError):   # it has ended meanwhile
            fault(victim)
            counts[fault.__name__] += 1
        if fault is stop:
            stopped.add(victim)
    return counts
