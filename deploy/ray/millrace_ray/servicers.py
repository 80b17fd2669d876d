"""The functions that Serve's proxies call to learn of the methods: `grpc_servicer_functions` in serve.yaml.

Serve replaces the handlers that it is given by its own. The handlers here wrap those in turn: around Serve's they add what Serve leaves out
of a request (its method, metadata and deadline) and of its end (status and trailers as the daemon sent them).
"""

import asyncio
import functools
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import grpc

from . import frames
from .methods import METHODS, Kind

# Serve reads these itself, and each hop of gRPC writes its own user-agent.
_NOT_FORWARDED = {"application", "multiplexed_model_id", "request_id", "session_id", "user-agent"}
_FORWARDED_OF_GRPC = {"grpc-tags-bin", "grpc-trace-bin"}


def add_to_server(_servicer: object, server: Any) -> None:
    """Adds all methods of the daemon. The servicer that Serve passes is not used."""
    server.add_generic_rpc_handlers((_Handlers(),))


def forwarded(metadata: Sequence[tuple[str, str | bytes]] | None) -> frames.Metadata:
    return tuple((key, value) for key, value in metadata or ()
                 if key not in _NOT_FORWARDED and (not key.startswith("grpc-") or key in _FORWARDED_OF_GRPC))


class _Handlers(grpc.GenericRpcHandler):
    """Serve reads `_method_handlers` and sets it to handlers of its own before the server starts, as it does with generated ones."""

    def __init__(self) -> None:
        self._method_handlers = {method: _handler_of_kind(kind) for method, kind in METHODS.items()}

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler | None:
        return self._wrapped(handler_call_details.method)

    @functools.cache   # lives as long as the proxy
    def _wrapped(self, method: str) -> grpc.RpcMethodHandler | None:
        served = self._method_handlers.get(method)
        return None if served is None else _WRAP[METHODS[method]](method, served)


def _handler_of_kind(kind: Kind) -> grpc.RpcMethodHandler:
    """A handler of which Serve reads the kind alone; it has no function of its own to call."""
    makers = {Kind.UNARY: grpc.unary_unary_rpc_method_handler, Kind.SERVER_STREAM: grpc.unary_stream_rpc_method_handler,
              Kind.BIDIRECTIONAL: grpc.stream_stream_rpc_method_handler}
    return makers[kind](None)


def _call(method: str, body: bytes, context: grpc.aio.ServicerContext) -> frames.Call:
    return frames.Call(method, forwarded(context.invocation_metadata()), context.time_remaining(), body)


def _wrap_unary(method: str, served: grpc.RpcMethodHandler) -> grpc.RpcMethodHandler:
    async def unary(request: bytes, context: grpc.aio.ServicerContext) -> bytes:
        data = await served.unary_unary(_call(method, request, context), context)
        how = frames.read(data) if data else None
        await _finish(how, context)
        return how.body if how else b""
    return grpc.unary_unary_rpc_method_handler(unary)


def _wrap_server_stream(method: str, served: grpc.RpcMethodHandler) -> grpc.RpcMethodHandler:
    async def server_stream(request: bytes, context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        async for body in _messages(served.unary_stream(_call(method, request, context), context), context):
            yield body
    return grpc.unary_stream_rpc_method_handler(server_stream)


def _wrap_bidirectional(method: str, served: grpc.RpcMethodHandler) -> grpc.RpcMethodHandler:
    async def bidirectional(requests: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
        async def with_call() -> AsyncIterator[frames.Call | bytes]:
            yield _call(method, b"", context)
            async for body in requests:
                yield body
        async for body in _messages(served.stream_stream(with_call(), context), context):
            yield body
    return grpc.stream_stream_rpc_method_handler(bidirectional)


_WRAP = {Kind.UNARY: _wrap_unary, Kind.SERVER_STREAM: _wrap_server_stream, Kind.BIDIRECTIONAL: _wrap_bidirectional}


async def _messages(replies: AsyncIterator[bytes], context: grpc.aio.ServicerContext) -> AsyncIterator[bytes]:
    """The messages in the frames of a stream. Serve's side of it is read to its end, where Serve does its own accounting."""
    how = None
    async for data in _read_by_a_task(replies):
        read = frames.read(data)
        if isinstance(read, frames.End):
            how = read
        else:
            yield read
    await _finish(how, context)


async def _read_by_a_task(replies: AsyncIterator[bytes]) -> AsyncGenerator[bytes]:
    """The same, of which a task reads one ahead. Serve takes a call for cancelled where it is cancelled itself while it waits for the replica;
    gRPC only drops the replies where the client leaves while one is being sent."""
    ahead: asyncio.Queue[bytes] = asyncio.Queue(1)

    async def read() -> None:
        async for data in replies:
            await ahead.put(data)
    reading = asyncio.create_task(read())
    arriving = None
    try:
        while not reading.done() or not ahead.empty():
            arriving = asyncio.ensure_future(ahead.get())
            await asyncio.wait({arriving, reading}, return_when=asyncio.FIRST_COMPLETED)
            if not arriving.done() and not ahead.empty():
                await arriving
            if arriving.done():
                yield arriving.result()
        await reading   # raises what ended it
    finally:
        reading.cancel()
        if arriving is not None:
            arriving.cancel()


async def _finish(how: frames.End | None, context: grpc.aio.ServicerContext) -> None:
    """Ends the call as the daemon did. Without an end of the daemon the status is Serve's own, and another try may do. By `abort`, as gRPC's
    clients repeat no call that has had an answer, of which an empty message is one."""
    trailers = tuple(context.trailing_metadata() or ())   # the request's ID in Serve's log
    if how is not None and how.code is grpc.StatusCode.OK:
        context.set_trailing_metadata((*trailers, *how.trailers))
    elif how is not None:
        await context.abort(how.code, how.details, (*trailers, *how.trailers))
    elif context.code() not in (None, grpc.StatusCode.OK):
        replica_died = context.code() is grpc.StatusCode.INTERNAL
        await context.abort(grpc.StatusCode.UNAVAILABLE if replica_died else context.code(), context.details(), trailers)
