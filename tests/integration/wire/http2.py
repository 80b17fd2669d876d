"""A minimal HTTP/2 client that can break off anywhere, as no real gRPC client would."""

import socket
import ssl
import struct

import hpack

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
PRIORITY, PUSH_PROMISE = 2, 5
END_STREAM, END_HEADERS = 1, 4
ACK, PADDED = 1, 8
MAX_FRAME = 16384


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def grpc_message(data: bytes) -> bytes:
    """The 5-byte prefix and the message."""
    return b"\0" + struct.pack(">I", len(data)) + data


def _header(name: str, value: str) -> bytes:
    # A literal that is not indexed; both lengths fit seven bits.
    assert len(name) < 127 and len(value) < 127
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def call_headers(method: str, timeout: str = "1H") -> bytes:
    """The header block of a gRPC call, such as of "millrace.v1.TranslationService/Translate"; at most 126 characters a field."""
    return b"".join(_header(name, value) for name, value in [
        (":method", "POST"), (":scheme", "http"), (":path", "/" + method), (":authority", "localhost"),
        ("te", "trailers"), ("content-type", "application/grpc"), ("grpc-timeout", timeout)])


def connect(port: int, tls: bool, source: str = "127.0.0.1") -> socket.socket:
    """From an address of this machine; over TLS, whatever certificate the server shows."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(source, 0))
    if not tls:
        return connection
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context.wrap_socket(connection)


class RawConnection:
    """One TCP connection that has said the HTTP/2 preface and acknowledges the server's settings. It never sends a window update."""

    def __init__(self, port: int, preface: bytes = PREFACE + frame(SETTINGS, 0, 0, b"") + frame(SETTINGS, ACK, 0, b""),
                 tls: bool = False, source: str = "127.0.0.1") -> None:
        self.socket = connect(port, tls, source)
        self.socket.sendall(preface)
        self._buffer = b""
        self._decoder = hpack.Decoder()

    def __enter__(self) -> "RawConnection":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def call(self, method: str, body: bytes, *, end: bool, stream: int = 1, timeout: str = "1H") -> None:
        """Sends the headers of a gRPC call and these bytes as its body; `end` closes our side of the stream. The timeout, such as
        "300m" for milliseconds, is the server's to keep."""
        sent = frame(HEADERS, END_HEADERS, stream, call_headers(method, timeout))
        for start in range(0, max(len(body), 1), MAX_FRAME):
            last = start + MAX_FRAME >= len(body)
            sent += frame(DATA, END_STREAM if end and last else 0, stream, body[start:start + MAX_FRAME])
        self.socket.sendall(sent)

    def next_frame(self) -> tuple[int, int, int, bytes] | None:
        """Kind, flags, stream and payload of the next frame; None at the end of the connection."""
        while len(self._buffer) < 9 or len(self._buffer) < 9 + self._length():
            try:
                received = self.socket.recv(65536)
            except ConnectionResetError:
                received = b""
            if not received:
                return None
            self._buffer += received
        length = self._length()
        kind, flags, stream = self._buffer[3], self._buffer[4], struct.unpack(">I", self._buffer[5:9])[0]
        payload, self._buffer = self._buffer[9:9 + length], self._buffer[9 + length:]
        return kind, flags, stream, payload

    def _length(self) -> int:
        return struct.unpack(">I", b"\0" + self._buffer[:3])[0]

    def stream_ended(self, stream: int = 1) -> bool:
        """Reads until the server ends that stream; False when it closes the connection without."""
        while (received := self.next_frame()) is not None:
            kind, flags, its_stream, _ = received
            if its_stream == stream and (kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM)):
                return True
        return False

    def trailers_only(self, stream: int = 1) -> dict[str, str]:
        """The headers of a call whose whole answer is one frame, which gRPC calls Trailers-Only: proxies and clients may try such a
        call again. Header blocks depend on those before them, so calls of a connection must be read in the order of their answers."""
        while (received := self.next_frame()) is not None:
            kind, flags, its_stream, payload = received
            if kind not in (HEADERS, DATA, RST_STREAM):
                continue
            assert its_stream == stream and kind == HEADERS, f"a frame of kind {kind} for stream {its_stream} came first"
            assert flags & (END_STREAM | END_HEADERS) == END_STREAM | END_HEADERS, "the answer has more than one frame"
            return dict(self._decoder.decode(payload))
        raise AssertionError("the connection ended without an answer")

    def headers(self, stream: int = 1) -> dict[str, str]:
        """The headers and trailers of a call, read until its end."""
        headers: dict[str, str] = {}
        while (received := self.next_frame()) is not None:
            kind, flags, its_stream, payload = received
            if kind == HEADERS:
                assert its_stream == stream and flags & END_HEADERS
                headers |= dict(self._decoder.decode(payload))
            if its_stream == stream and flags & END_STREAM and kind in (HEADERS, DATA):
                return headers
        raise AssertionError("the connection ended before the call did")

    def closed_by_server(self) -> bool:
        """Reads until the server closes the connection."""
        while self.next_frame() is not None:
            pass
        return True
