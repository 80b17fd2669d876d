"""Calls through the handlers of deploy/ray/millrace_ray, with Serve's part played by a few lines, arrive and end as if they were sent to the daemon."""

import asyncio
import contextlib
import importlib.util
import json
import pathlib
import pickle
import sys

import fake_daemon
import grpc
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy" / "ray"))
from millrace_ray import frames, methods  # noqa: E402
from millrace_ray.forwarding import Forwarder  # noqa: E402
from millrace_ray.servicers import add_to_server  # noqa: E402

UNARY = "/millrace.v1.TranslationService/Translate"
STREAM = "/millrace.v1.SynthesisService/StreamSynthesize"
REPEATED = "/millrace.v1.TranslationService/DetectLanguage"
# As deploy/grpc has it, for one method, so that the others show what happens without.
RETRIES = {"methodConfig": [{"name": [{"service": "millrace.v1.TranslationService", "method": "DetectLanguage"}],
                             "retryPolicy": {"maxAttempts": 2, "initialBackoff": "0.01s", "maxBackoff": "0.01s", "backoffMultiplier": 1,
                                             "retryableStatusCodes": ["UNAVAILABLE"]}}]}
TEXT_STREAM = "/millrace.v1.SynthesisService/SynthesizeTextStream"


class InputStream:
    """As ray.serve.grpc_util.gRPCInputStream: it ends when the client cancels, and says so."""

    def __init__(self, requests):
        self._requests, self._cancelled = requests, False

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return pickle.loads(pickle.dumps(await anext(self._requests)))
        except asyncio.CancelledError:
            self._cancelled = True
            raise StopAsyncIteration from None

    def is_cancelled(self):
        return self._cancelled


def serve_of_this_file(make_handler):
    """A server and what `add_to_server` is given. As Serve's it takes the methods from `_method_handlers` and sets handlers of its own there."""
    server = grpc.aio.server()

    class Registry:
        def add_generic_rpc_handlers(self, handlers):
            handlers[0]._method_handlers = {
                method: handler._replace(**{kind: make_handler(method, kind) for kind in ("unary_unary", "unary_stream", "stream_stream")})
                for method, handler in handlers[0]._method_handlers.items()}
            server.add_generic_rpc_handlers(handlers)
    return server, Registry()


def serve_of_ray(make_handler):
    """The server of Ray's proxies, in which only the calls of replicas are those of this file."""
    from ray.serve._private.grpc_util import gRPCGenericServer
    server = gRPCGenericServer(lambda service_method, streaming_type: make_handler(service_method, streaming_type.value))
    return server, server


SERVERS = [serve_of_this_file, *([serve_of_ray] if importlib.util.find_spec("ray") else [])]


class Proxy:
    """What Serve's proxies do with a call: they hand the request to a replica, and set a status of their own where a call raises."""

    def __init__(self, forwarder):
        self._forwarder, self._died = forwarder, False

    def handler(self, method, kind):
        return {"unary_unary": self._unary, "unary_stream": self._server_stream, "stream_stream": self._bidirectional}.get(kind)

    async def _unary(self, call, context):
        context.set_trailing_metadata((("request_id", "r-1"),))
        if call.body == b"die" or (call.body == b"die once" and not self._died):
            self._died = True
            context.set_code(grpc.StatusCode.INTERNAL)
            context.set_details("The actor died.")
            return b""
        return (await self._forwarder.unary(pickle.loads(pickle.dumps(call)))).SerializeToString()

    async def _server_stream(self, call, context):
        async for frame in self._forwarder.server_stream(pickle.loads(pickle.dumps(call))):
            yield frame.SerializeToString()

    async def _bidirectional(self, requests, context):
        async for frame in self._forwarder.bidirectional(InputStream(requests)):
            yield frame.SerializeToString()


@contextlib.asynccontextmanager
async def proxied(make_server):
    """A channel to a proxy in front of a stand-in for the daemon, and that stand-in's handlers."""
    handlers = fake_daemon.Handlers()
    daemon, port = await fake_daemon.serve(handlers)
    forwarder = Forwarder(f"127.0.0.1:{port}")
    proxy, registry = make_server(Proxy(forwarder).handler)
    add_to_server(None, registry)
    front = proxy.add_insecure_port("127.0.0.1:0")
    await proxy.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{front}", [("grpc.service_config", json.dumps(RETRIES))]) as channel:
        yield channel, handlers
    await proxy.stop(None)
    await forwarder.close()
    await daemon.stop(None)


@pytest.fixture(params=SERVERS, ids=lambda server: server.__name__)
def run(request):
    """Runs a test with a channel and the handlers of the stand-in."""
    def run(test):
        async def body():
            async with proxied(request.param) as (channel, handlers), asyncio.timeout(20):
                return await test(channel, handlers)
        return asyncio.run(body())
    return run


def trailers(metadata):
    return {key: value for key, value in metadata}


def sent(*bodies):
    async def requests():
        for body in bodies:
            yield body
    return requests()


@pytest.mark.parametrize("method", [method for method, kind in methods.METHODS.items() if kind is methods.Kind.UNARY and "Health" not in method])
def test_unary_call_reaches_its_method_of_all_services(run, method):
    """Also where two services have methods of one name, which Serve does not tell apart."""
    async def test(channel, _):
        call = channel.unary_unary(method)(b"x")
        assert await call == b"echo x"
        assert trailers(await call.trailing_metadata())["seen-method"] == method
    run(test)


def test_metadata_and_deadline_reach_the_daemon(run):
    async def test(channel, _):
        call = channel.unary_unary(UNARY)(b"x", timeout=500, metadata=(("x-key", "v"), ("authorization", "Bearer k"), ("x-raw-bin", b"\x00\x80"),
                                                                      ("application", "speech")))
        await call
        seen = trailers(await call.trailing_metadata())
        assert (seen["seen-x-key"], seen["seen-authorization"], seen["seen-x-raw-bin"]) == ("v", "Bearer k", b"\x00\x80")
        assert abs(int(seen["seen-seconds"]) - 500) < 20   # gRPC rounds what it sends
        assert seen["request_id"] == "r-1"   # Serve's own stay
        call = channel.unary_unary(UNARY)(b"x")
        await call
        assert trailers(await call.trailing_metadata())["seen-seconds"] == "none"
    run(test)


def test_what_serve_reads_is_not_forwarded():
    from millrace_ray.servicers import forwarded
    assert forwarded((("application", "a"), ("request_id", "r"), ("user-agent", "grpc"), ("grpc-accept-encoding", "gzip"),
                      ("grpc-trace-bin", b"t"), ("x-key", "v"))) == (("grpc-trace-bin", b"t"), ("x-key", "v"))


@pytest.mark.parametrize(("method", "open_call"), [
    (UNARY, lambda channel: channel.unary_unary(UNARY)(b"fail")),
    (STREAM, lambda channel: channel.unary_stream(STREAM)(b"one fail")),
    (TEXT_STREAM, lambda channel: channel.stream_stream(TEXT_STREAM)(sent(b"one", b"fail")))], ids=["unary", "server stream", "text stream"])
def test_error_ends_a_call_as_the_daemon_ended_it(run, method, open_call):
    async def test(channel, _):
        call = open_call(channel)
        received = []
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            if method == UNARY:
                await call
            else:
                async for body in call:
                    received.append(body)
        assert (failed.value.code(), failed.value.details()) == (fake_daemon.CODE, fake_daemon.DETAILS)
        assert set(fake_daemon.TRAILERS) <= set(failed.value.trailing_metadata())
        assert received == ([] if method == UNARY else [b"echo one"])
    run(test)


def test_server_stream_arrives_whole_and_in_order(run):
    async def test(channel, _):
        call = channel.unary_stream(STREAM)(b"a b c", timeout=500)
        assert [body async for body in call] == [b"echo a", b"echo b", b"echo c"]
        assert await call.code() == grpc.StatusCode.OK
        seen = trailers(await call.trailing_metadata())
        assert seen["seen-method"] == STREAM and abs(int(seen["seen-seconds"]) - 500) < 20
    run(test)


def test_text_stream_goes_both_ways_at_once(run):
    async def test(channel, _):
        call = channel.stream_stream(TEXT_STREAM)(timeout=500)
        for word in (b"a", b"b"):
            await call.write(word)
            assert await call.read() == b"echo " + word   # before the next one is written
        await call.done_writing()
        assert await call.read() == b"end of requests"
        assert await call.read() == grpc.aio.EOF
        assert trailers(await call.trailing_metadata())["seen-method"] == TEXT_STREAM
    run(test)


def test_text_stream_without_requests_ends(run):
    async def test(channel, _):
        assert [body async for body in channel.stream_stream(TEXT_STREAM)(sent())] == [b"end of requests"]
    run(test)


def test_empty_message_is_a_message(run):
    async def test(channel, _):
        assert await channel.unary_unary(UNARY)(b"") == b"echo "
    run(test)


@pytest.mark.parametrize("kind", ["unary", "server stream", "text stream"])
def test_cancelled_call_is_cancelled_at_the_daemon(run, kind):
    async def test(channel, handlers):
        if kind == "unary":
            call = channel.unary_unary(UNARY)(b"hang")
        elif kind == "server stream":
            call = channel.unary_stream(STREAM)(b"one hang")
            assert await call.read() == b"echo one"
        else:
            call = channel.stream_stream(TEXT_STREAM)()
            await call.write(b"one")
            assert await call.read() == b"echo one"
            await call.write(b"hang")
        await handlers.hanging.wait()
        assert not handlers.cancelled.is_set()
        call.cancel()
        await handlers.cancelled.wait()   # within the time limit of all tests
    run(test)


class CancelledStream(InputStream):
    """Of a client that has sent one word and gone, which Serve tells after it."""

    def is_cancelled(self):
        return True


async def forwarded(test):
    handlers = fake_daemon.Handlers()
    daemon, port = await fake_daemon.serve(handlers)
    forwarder = Forwarder(f"127.0.0.1:{port}")
    async with asyncio.timeout(20):
        await test(forwarder, handlers)
    await forwarder.close()
    await daemon.stop(None)


def test_requests_that_end_because_the_client_went_are_no_end_of_a_text():
    async def test(forwarder, _):
        call = frames.Call(TEXT_STREAM, (), None, b"")
        received = [frames.read(frame.SerializeToString()) async for frame in forwarder.bidirectional(CancelledStream(sent(call, b"one")))]
        assert received[-1].code == grpc.StatusCode.CANCELLED and b"end of requests" not in received
    asyncio.run(forwarded(test))


@pytest.mark.parametrize("kind", ["server stream", "text stream"])
def test_stream_that_is_read_no_further_is_cancelled_at_the_daemon(kind):
    async def test(forwarder, handlers):
        if kind == "server stream":
            replies = forwarder.server_stream(frames.Call(STREAM, (), None, b"one hang"))
        else:
            replies = forwarder.bidirectional(InputStream(sent(frames.Call(TEXT_STREAM, (), None, b""), b"one", b"hang")))
        assert frames.read((await anext(replies)).SerializeToString()) == b"echo one"
        await handlers.hanging.wait()
        await replies.aclose()
        await handlers.cancelled.wait()
    asyncio.run(forwarded(test))


def test_failure_of_serve_itself_may_be_tried_again(run):
    async def test(channel, _):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary(UNARY)(b"die")
        assert (failed.value.code(), failed.value.details()) == (grpc.StatusCode.UNAVAILABLE, "The actor died.")
    run(test)


def test_clients_repeat_what_serve_itself_failed(run):
    async def test(channel, _):
        assert await channel.unary_unary(REPEATED)(b"die once") == b"echo die once"
    run(test)


def test_missing_daemon_is_unavailable():
    async def test():
        forwarder = Forwarder("127.0.0.1:1")
        frame = await forwarder.unary(frames.Call(UNARY, (), 5, b"x"))
        await forwarder.close()
        return frames.read(frame.SerializeToString())
    assert asyncio.run(test()).code == grpc.StatusCode.UNAVAILABLE


def test_unknown_method_is_unimplemented(run):
    async def test(channel, _):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await channel.unary_unary("/millrace.v1.TranslationService/Nothing")(b"x")
        assert failed.value.code() == grpc.StatusCode.UNIMPLEMENTED
    run(test)
