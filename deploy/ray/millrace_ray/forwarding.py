"""Forwards calls to the daemon over gRPC without looking into their messages."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Protocol

import grpc

from . import frames

# The daemon has limits of its own for messages, and refuses in its own words.
_OPTIONS = [("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1), ("grpc.enable_retries", 0),
            ("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]


class Requests(Protocol):
    """The requests of a bidirectional call behind their `Call`; `ray.serve.grpc_util.gRPCInputStream` is one."""

    def __aiter__(self) -> AsyncIterator[frames.Call | bytes]: ...

    def is_cancelled(self) -> bool: ...


class Forwarder:
    """A connection to the daemon at an address such as 127.0.0.1:8001. To be used in one event loop, that in which it was made.

    The calls end as the daemon ends them; a daemon that is not there is UNAVAILABLE. Where a caller is cancelled or stops to read, so is the
    daemon's call.
    """

    def __init__(self, address: str) -> None:
        self._channel = grpc.aio.insecure_channel(address, _OPTIONS)

    async def unary(self, call: frames.Call) -> frames.Frame:
        rpc = self._channel.unary_unary(call.method)(call.body, timeout=call.seconds, metadata=call.metadata)
        try:
            body = await rpc
        except grpc.aio.AioRpcError as error:
            return frames.end(_failed(error))
        return frames.end(frames.End(grpc.StatusCode.OK, "", _plain(await rpc.trailing_metadata()), body))

    def server_stream(self, call: frames.Call) -> AsyncGenerator[frames.Frame]:
        return _replies(self._channel.unary_stream(call.method)(call.body, timeout=call.seconds, metadata=call.metadata))

    async def bidirectional(self, requests: Requests) -> AsyncGenerator[frames.Frame]:
        arriving = aiter(requests)
        try:
            call = await anext(arriving)
        except StopAsyncIteration:   # cancelled before it began
            return

        async def bodies() -> AsyncIterator[bytes]:
            async for body in arriving:
                yield body
            if requests.is_cancelled():   # an end of the requests would have the daemon answer to what it has got
                rpc.cancel()
        rpc = self._channel.stream_stream(call.method)(bodies(), timeout=call.seconds, metadata=call.metadata)
        async with contextlib.aclosing(_replies(rpc)) as replies:
            async for frame in replies:
                yield frame

    async def close(self) -> None:
        """Cancels the calls that are left."""
        await self._channel.close()


async def _replies(rpc: grpc.aio.StreamStreamCall | grpc.aio.UnaryStreamCall) -> AsyncGenerator[frames.Frame]:
    try:
        async for body in rpc:
            yield frames.message(body)
    except grpc.aio.AioRpcError as error:
        yield frames.end(_failed(error))
    except asyncio.CancelledError:
        if asyncio.current_task().cancelling():   # by Serve, and not by the end of the requests
            raise
        yield frames.end(frames.End(grpc.StatusCode.CANCELLED, "the client went away", ()))
    else:
        yield frames.end(frames.End(await rpc.code(), await rpc.details(), _plain(await rpc.trailing_metadata())))
    finally:
        rpc.cancel()


def _failed(error: grpc.aio.AioRpcError) -> frames.End:
    return frames.End(error.code(), error.details() or "", _plain(error.trailing_metadata()))


def _plain(metadata: grpc.aio.Metadata | None) -> frames.Metadata:
    return tuple((key, value) for key, value in metadata or ())
