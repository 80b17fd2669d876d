"""Heads, chunks and WebSocket frames that two readers could take differently, and what the daemon does: it refuses each and closes the connection."""

import base64
import contextlib
import os
import socket
import struct

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import VOICE
from wire.requests import PATIENCE

BODY = b'{"q":"Hello","source":"en","target":"pt"}'
LIVE = b"GET /v2/health/live HTTP/1.1\r\n"
LISTED = b"GET /v2/models HTTP/1.1\r\n"
HOST = b"Host: 127.0.0.1\r\n"
POSTED = b"POST /detect HTTP/1.1\r\nHost: 127.0.0.1\r\n"
CHUNKED = POSTED + b"Transfer-Encoding: chunked\r\n\r\n"
TEXT, BINARY, CLOSE, PING = 1, 2, 8, 9


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    models = repository.link(tmp_path_factory.mktemp("repository") / "models", VOICE)
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--workers", "1", models=models) as running:
        yield running


def exchange(daemon, sent, until=None):
    """What the daemon says, up to these bytes or until it closes the connection, as it must."""
    said = b""
    with socket.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=PATIENCE) as connection, contextlib.suppress(ConnectionResetError):
        connection.sendall(sent)
        while (until is None or until not in said) and (received := connection.recv(65536)):
            said += received
    return said


def chunks(size, end=b"\r\n0\r\n\r\n"):
    return CHUNKED + size + BODY + end


@pytest.mark.parametrize("status, request_bytes", [
    (400, b"GET  /v2/models HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, b"GET\t/v2/models\tHTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, b"GET /v2/models HTTP/1.1 \r\n" + HOST + b"\r\n"),
    (400, b"GET /v2/models HTTP/01.1\r\n" + HOST + b"\r\n"),
    (505, b"GET /v2/models HTTP/2.0\r\n" + HOST + b"\r\n"),
    (501, b"get /v2/models HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, b"GET v2/models HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, b"GET * HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, b"GET http://127.0.0.1@evil.example/v2/models HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, LISTED + HOST + b"X: a\rb\r\n\r\n"),
    (400, LISTED + HOST + b"X: a\x01b\r\n\r\n"),
    (400, LISTED + HOST + b"X\t: a\r\n\r\n"),
    (400, LISTED + HOST + b"X(y): a\r\n\r\n"),
    (400, LISTED + b" X: a\r\n" + HOST + b"\r\n"),
    (400, LISTED + b"Host: a@127.0.0.1\r\n\r\n"),
    (400, LISTED + b"Host: 127.0.0.1, evil.example\r\n\r\n"),
    (400, LISTED + b"Host: 127.0.0.1:99999\r\n\r\n"),
    (400, POSTED + b"Content-Length: +41\r\n\r\n" + BODY),
    (400, POSTED + b"Content-Length: 41, 41\r\n\r\n" + BODY),
    (400, POSTED + b"Content-Length: 0x29\r\n\r\n" + BODY),
    (400, POSTED + b"Content-Length: 41\r\nTransfer-Encoding: identity\r\n\r\n" + BODY),
    (501, POSTED + b"Transfer-Encoding: chunked, chunked\r\n\r\n"),
    (501, POSTED + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
    (400, POSTED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Transfer-Encoding: chunked\r\n\r\n"),
    (400, chunks(b"0x29\r\n")),
    (400, chunks(b" 29\r\n")),
    (400, chunks(b"29 \r\n")),
    (400, chunks(b"-29\r\n")),
    (400, chunks(b"29\n")),
    (400, chunks(b"29;a\rb\r\n")),
    (400, chunks(b"29\r\n", b"XX0\r\n\r\n")),
    (400, chunks(b"29\r\n", b"\r\n0\r\nno field\r\n\r\n")),
    (413, chunks(b"FFFFFFFFFFFFFFFFF\r\n")),
    (417, POSTED + b"Expect: 200-ok\r\nContent-Length: 41\r\n\r\n" + BODY),
    (415, POSTED + b"Content-Encoding: br\r\nContent-Length: 41\r\n\r\n" + BODY)])
def test_a_request_that_can_be_read_in_two_ways_is_refused(daemon, status, request_bytes):
    # What follows would be answered if the request ended elsewhere.
    answer = exchange(daemon, request_bytes + LIVE + HOST + b"\r\n")
    assert answer.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"Connection: close" in answer and b'"live"' not in answer


def frame(kind, payload=b"", first=0x80, masked=True, size=None):
    size = bytes([len(payload)]) if size is None else size
    size = bytes([size[0] | (0x80 if masked else 0)]) + size[1:]
    return bytes([first | kind]) + size + ((bytes(4)) if masked else b"") + payload


@pytest.mark.parametrize("code, frames", [
    (1002, frame(TEXT, b"{}", masked=False)),
    (1002, frame(TEXT, b"{}", first=0xc0)),
    (1002, frame(3, b"{}")),
    (1002, frame(11)),
    (1002, frame(0, b"{}")),
    (1002, frame(TEXT, b"{", first=0) + frame(TEXT, b"}")),
    (1002, frame(PING, b"x", first=0)),
    (1002, frame(PING, bytes(126), size=b"\x7e\0\x7e")),
    (1002, frame(TEXT, b"{}", size=b"\x7e\0\x02")),
    (1002, frame(TEXT, b"{}", size=b"\x7f" + struct.pack(">Q", 2))),
    (1002, frame(TEXT, b"{}", size=b"\x7f" + struct.pack(">Q", 1 << 63))),
    (1009, frame(TEXT, b"{}", size=b"\x7f" + struct.pack(">Q", 1 << 40))),
    (1002, frame(CLOSE, b"\x03")),
    (1002, frame(CLOSE, struct.pack(">H", 1005))),
    (1002, frame(CLOSE, struct.pack(">H", 999))),
    (1007, frame(CLOSE, struct.pack(">H", 1000) + b"\xff")),
    (1007, frame(TEXT, b'{"text":"\xed\xa0\x80"}')),
    (1007, frame(TEXT, b'{"text":"\xc0\xaf"}')),
    (1008, frame(BINARY, b"{}")),
    (1008, frame(TEXT, b'{"text":"a","text":"b"}')),
    (1008, frame(TEXT, b"[]")),
    (1008, frame(TEXT))])
def test_a_frame_that_is_wrong_ends_a_websocket_with_its_code(daemon, code, frames):
    key = base64.b64encode(os.urandom(16))
    closes = struct.pack(">H", code)
    said = exchange(daemon, b"GET /v1/text-to-speech/joe/stream-input HTTP/1.1\r\n" + HOST + b"Upgrade: websocket\r\nConnection: Upgrade\r\n"
                    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " + key + b"\r\n\r\n" + frames, closes)
    assert b" 101 " in said and closes in said, said
