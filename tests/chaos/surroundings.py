"""Faults of what a server stands on, injected into the shipped program from outside: the network and the clock."""

import contextlib
import mmap
import pathlib
import select
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Callable

# Moves the real-time clock of the process that loads it by the seconds in a file.
_CLOCK_SOURCE = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile long* offset;

__attribute__((constructor)) static void map(void) {
  const char* path = getenv("CHAOS_CLOCK");
  const int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void* memory = file < 0 ? MAP_FAILED : mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
  if (file >= 0) close(file);
  if (memory != MAP_FAILED) offset = memory;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec time;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &time) != 0) return -1;
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
"""


class MovedClock:
    """The real-time clock of a server and its executors."""

    def __init__(self, folder: pathlib.Path) -> None:
        source, self._library, offset = folder / "clock.c", folder / "clock.so", folder / "clock.offset"
        source.write_text(_CLOCK_SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(self._library), str(source)], check=True, capture_output=True)
        offset.write_bytes(struct.pack("@l", 0))
        self._path = offset
        with offset.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), struct.calcsize("@l"))

    def environment(self) -> dict[str, str]:
        """What a server must be started with."""
        return {"LD_PRELOAD": str(self._library), "CHAOS_CLOCK": str(self._path)}

    def jump(self, seconds: int) -> None:
        offset = struct.unpack("@l", self._memory[:])[0]
        self._memory[:] = struct.pack("@l", offset + seconds)


class Proxy:
    """Passes connections on to a server, until it is told to treat them badly. A thread moves the bytes."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._wake, self._wakes = socket.socketpair()
        self._orders: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._ends = False
        self._peers: dict[socket.socket, socket.socket] = {}
        self._silent: list[socket.socket] = []
        self._delay = 0.0
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        def end() -> None:
            self._ends = True
        self._order(end)
        self._thread.join()
        for opened in (self._listener, self._wake, self._wakes, *self._peers, *self._silent):
            opened.close()

    def set_delay(self, seconds: float) -> None:
        """Holds up what comes for so long, as a slow network does."""
        def delay() -> None:
            self._delay = seconds
        self._order(delay)

    def reset(self) -> None:
        """Ends all connections with a reset on both sides."""
        def reset() -> None:
            for opened in self._peers:
                with contextlib.suppress(OSError):
                    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                opened.close()
            self._peers.clear()
        self._order(reset)

    def cut_half(self) -> None:
        """The server sees the end of all connections; their clients hear nothing more."""
        def cut() -> None:
            for opened in list(self._peers):
                if opened.getpeername()[1] == self._target:
                    opened.close()
                else:
                    self._silent.append(opened)
            self._peers.clear()
        self._order(cut)

    def _order(self, what: Callable[[], None]) -> None:
        with self._lock:
            self._orders.append(what)
        self._wakes.send(b"x")

    def _run(self) -> None:
        while not self._ends:
            readable, _, _ = select.select([self._listener, self._wake, *self._peers], [], [])
            for one in readable:
                if one is self._listener:
                    self._accept()
                elif one is self._wake:
                    self._obey()
                elif one in self._peers:
                    self._move(one)

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        try:
            server = socket.create_connection(("127.0.0.1", self._target))
        except OSError:
            client.close()
            return
        for opened in (client, server):
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._peers |= {client: server, server: client}

    def _obey(self) -> None:
        self._wake.recv(1)
        with self._lock:
            order = self._orders.pop(0)
        order()

    def _move(self, one: socket.socket) -> None:
        other = self._peers[one]
        try:
            data = one.recv(1 << 16)
            time.sleep(self._delay)   # the latency of the network that this proxy stands for
            if data:
                other.sendall(data)
        except OSError:
            data = b""
        if not data:
            for opened in (one, other):
                del self._peers[opened]
                opened.close()


def children(pid: int) -> list[int]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == pid and fields[0] != "Z":
                    found.append(int(entry.name))
    return found
