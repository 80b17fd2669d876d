"""A stand-in for the daemon, for the tests of deploy/ray that are about forwarding: it answers any gRPC method with what it was sent.

As a program it takes the flags of `millrace serve` that a replica gives it.
"""

import argparse
import asyncio
import http.server
import json
import os
import pathlib
import signal
import sys
import threading

import grpc

STREAMED = ("StreamSynthesize", "StreamTranslate", "Watch")
BIDIRECTIONAL = ("SynthesizeTextStream", "SynthesizeOnline", "ServerReflectionInfo")
# The fake ends a call whose request is `fail` with this status.
CODE, DETAILS, TRAILERS = grpc.StatusCode.RESOURCE_EXHAUSTED, "the queue is full: 64 of 64", (("grpc-retry-pushback-ms", "250"), ("tail-bin", b"\x00\xff"))


class Handlers(grpc.GenericRpcHandler):
    """Trailers of a call name its method, deadline and metadata. Requests: `fail` ends with an error, `hang` only when it is cancelled."""

    def __init__(self) -> None:
        self.hanging = asyncio.Event()   # once a call has begun to
        self.cancelled = asyncio.Event()   # once it was

    def service(self, details):
        method, metadata = details.method, details.invocation_metadata
        if method == "/grpc.health.v1.Health/Check":
            return grpc.unary_unary_rpc_method_handler(self._check)
        name = method.rpartition("/")[2]

        def seen(context):
            left = context.time_remaining()
            context.set_trailing_metadata((("seen-method", method), ("seen-seconds", "none" if left is None else str(round(left))),
                                           *((f"seen-{key}", value) for key, value in metadata if key.startswith(("x-", "authorization")))))

        async def answer(request, context):
            if request == b"fail":
                await context.abort(CODE, DETAILS, TRAILERS)
            if request == b"hang":
                self.hanging.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    self.cancelled.set()
            seen(context)
            return b"echo " + request

        async def unary(request, context):
            return await answer(request, context)

        async def server_stream(request, context):
            for part in request.split():
                yield await answer(part, context)
            seen(context)

        async def bidirectional(requests, context):
            async for request in requests:
                yield await answer(request, context)
            seen(context)
            yield b"end of requests"
        if name in BIDIRECTIONAL:
            return grpc.stream_stream_rpc_method_handler(bidirectional)
        return grpc.unary_stream_rpc_method_handler(server_stream) if name in STREAMED else grpc.unary_unary_rpc_method_handler(unary)

    async def _check(self, _request, _context):
        return b"\x08\x01"


async def serve(handlers: grpc.GenericRpcHandler) -> tuple[grpc.aio.Server, int]:
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((handlers,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


class Http(http.server.BaseHTTPRequestHandler):
    """Answers with its request as JSON."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        length = int(self.headers.get("Content-Length", 0))
        seen = {"method": self.command, "path": self.path, "headers": [[name.lower(), value] for name, value in self.headers.items()],
                "body": self.rfile.read(length).decode()}
        body = json.dumps(seen).encode()
        status = {"/full": 429, "/moved": 302}.get(self.path, 200)
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Retry-After", "3")
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def serve_http() -> int:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Http)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--port-file", type=pathlib.Path, required=True)
    for name in ("grpc", "http", "metrics"):
        parser.add_argument(f"--{name}-address", required=True)
    parser.add_argument("--drain-delay")
    parser.add_argument("--models")   # a folder in which it leaves its process ID, or which says how it fails
    arguments = parser.parse_args()
    if arguments.models == "broken":
        sys.exit(3)
    if arguments.models == "stuck":
        await asyncio.Event().wait()
    if arguments.models:
        (pathlib.Path(arguments.models) / str(os.getpid())).touch()
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    server, port = await serve(Handlers())
    http_port = serve_http()
    arguments.port_file.write_text(json.dumps({"grpc": port, "http": http_port, "metrics": http_port}) + "\n")
    await stopping.wait()
    await server.stop(5)


if __name__ == "__main__":
    asyncio.run(main())
