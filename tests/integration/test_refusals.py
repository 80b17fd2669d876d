"""A call that is refused before it began may be tried again, here or on another server: its answer is one frame of headers
("Trailers-Only"), which gRPC's clients and Envoy ask for, and it says when to come back."""

import contextlib
import json
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import repository, stubs
from wire.http2 import RawConnection, grpc_message
from wire.paths import NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, speak_request, translate_request

SERVED = NULL, VOICE
INFER = "inference.GRPCInferenceService/ModelInfer"
SPEAK = "millrace.v1.SynthesisService/StreamSynthesize"
SPEAK_TEXT = "millrace.v1.SynthesisService/SynthesizeTextStream"
TRANSLATE = "millrace.v1.TranslationService/Translate"
SHUT_OUT = {"INVALID_ARGUMENT": 3, "DEADLINE_EXCEEDED": 4, "NOT_FOUND": 5, "RESOURCE_EXHAUSTED": 8, "UNIMPLEMENTED": 12,
            "UNAVAILABLE": 14, "UNAUTHENTICATED": 16}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, models, gate):
    """One worker, and a place for one request to wait."""
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--workers", "1", "--intra-op-threads", "1", "--queue-size", "1",
                       models=models) as running:
        yield running


@pytest.fixture
def full(daemon, gate):
    """The worker waits at the gate, and a request waits for the worker in each queue."""
    gate.close()
    with contextlib.ExitStack() as stack:
        stack.callback(daemon.wait_until_idle)
        stack.callback(gate.open)
        calls = [daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)]
        eventually("it is at the gate", lambda: daemon.running_forwards() == 1)
        calls += [daemon.kserve.ModelInfer.future(request, timeout=PATIENCE) for request in (gate.request(), null_request())]
        calls.append(daemon.synthesis.Synthesize.future(speak_request("Hello."), timeout=PATIENCE))
        eventually("the queues are full", lambda: all(daemon.queue_depth(model) == 1 for model in (gate.name, NULL, VOICE)))
        yield gate
        gate.open()
        assert all(call.code() == grpc.StatusCode.OK for call in calls if call.result())


def answer_to(daemon, method, message, timeout="1H"):
    with RawConnection(daemon.ports["grpc"]) as connection:
        connection.call(method, grpc_message(message), end=True, timeout=timeout)
        return connection.trailers_only()


def assert_one_frame(answer, code):
    assert answer[":status"] == "200"
    assert answer["grpc-status"] == str(SHUT_OUT[code]), answer


@pytest.mark.parametrize(("method", "message", "code"), [
    (INFER, null_request(model_name="none").SerializeToString(), "NOT_FOUND"),
    (INFER, null_request(inputs=[]).SerializeToString(), "INVALID_ARGUMENT"),
    (INFER, b"\xff", "INVALID_ARGUMENT"),
    (SPEAK, speak_request("Hello.", model="none").SerializeToString(), "NOT_FOUND"),
    (SPEAK, speak_request("").SerializeToString(), "INVALID_ARGUMENT"),
    (SPEAK_TEXT, b"\xff", "INVALID_ARGUMENT"),
    (TRANSLATE, translate_request("Hello.").SerializeToString(), "NOT_FOUND"),
    ("millrace.v1.TranslationService/Guess", b"", "UNIMPLEMENTED"),
    ("grpc.health.v1.Health/Check", b"\x0a\x04none", "NOT_FOUND"),
])
def test_an_error_of_the_request_is_one_frame(daemon, method, message, code):
    assert_one_frame(answer_to(daemon, method, message), code)


@pytest.mark.parametrize(("method", "message"), [
    (INFER, null_request().SerializeToString()),
    (SPEAK, speak_request("Hello.").SerializeToString()),
])
def test_a_full_queue_is_one_frame_that_says_when_to_come_back(daemon, full, method, message):
    answer = answer_to(daemon, method, message)
    assert_one_frame(answer, "RESOURCE_EXHAUSTED")
    assert 1 <= int(answer["grpc-retry-pushback-ms"]) <= 60_000


@pytest.mark.parametrize(("method", "message"), [
    (INFER, null_request().SerializeToString()),
    (SPEAK, speak_request("Hello.").SerializeToString()),
])
def test_a_deadline_that_passes_in_the_queue_is_one_frame(daemon, gate, method, message):
    gate.close()
    with contextlib.ExitStack() as stack:
        stack.callback(daemon.wait_until_idle)
        stack.callback(gate.open)
        held = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
        eventually("it is at the gate", lambda: daemon.running_forwards() == 1)
        answer = answer_to(daemon, method, message, timeout="300m")
        # A forecast may also have told that it would pass.
        assert answer[":status"] == "200"
        assert answer["grpc-status"] in {str(SHUT_OUT["DEADLINE_EXCEEDED"]), str(SHUT_OUT["RESOURCE_EXHAUSTED"])}
        gate.open()
        assert held.result().model_name == gate.name


def test_a_call_without_a_key_is_one_frame(tmp_path, models):
    keys = tmp_path / "keys"
    daemons.run("hash-key", "alice", "--append", keys)
    with daemons.start(tmp_path, "--workers", "1", "--api-keys", keys, models=models) as asking:
        for method in (INFER, SPEAK, SPEAK_TEXT, "millrace.v1.AdminService/GetServerInfo"):
            assert_one_frame(answer_to(asking, method, b""), "UNAUTHENTICATED")


def test_a_call_to_a_server_that_stops_is_one_frame(tmp_path):
    gate = repository.Gate(repository.link(tmp_path / "models", NULL, VOICE))
    with daemons.start(tmp_path, "--workers", "1", "--intra-op-threads", "1", models=tmp_path / "models") as stopping:
        held = stopping.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
        eventually("it is at the gate", lambda: stopping.running_forwards() == 1)
        with RawConnection(stopping.ports["grpc"]) as connection:
            stopping.terminate()
            eventually("it drains", lambda: stopping.health() == "NOT_SERVING")
            for stream, (method, request) in enumerate([(INFER, null_request()), (SPEAK, speak_request("Hello."))]):
                stream = 2 * stream + 1
                connection.call(method, grpc_message(request.SerializeToString()), end=True, stream=stream)
                assert_one_frame(connection.trailers_only(stream), "UNAVAILABLE")
        gate.open()
        assert held.result().model_name == gate.name
        assert stopping.exit_status(10) == 0


# What docs/operations.md recommends to clients.
RETRIES = {"methodConfig": [{"name": [{}], "retryPolicy": {
    "maxAttempts": 4, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2,
    "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED"]}}]}


def test_a_client_with_a_retry_policy_comes_back_when_it_is_told_to(daemon, gate):
    gate.close()
    slow = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("it is at the gate", lambda: daemon.running_forwards() == 1)
    time.sleep(0.5)   # from which the server learns how long such a request takes
    gate.open()
    slow.result()
    daemon.wait_until_idle()
    gate.close()
    before = daemon.metrics().total("millrace_requests_refused_total", model=gate.name)
    running = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("it is at the gate", lambda: daemon.running_forwards() == 1)
    waiting = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("the queue is full", lambda: daemon.queue_depth(gate.name) == 1)

    channel = daemon.connect(enable_retries=1, service_config=json.dumps(RETRIES))
    start = time.monotonic()
    refused = stubs.kserve_grpc.GRPCInferenceServiceStub(channel).ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("it is refused", lambda: daemon.metrics().total("millrace_requests_refused_total", model=gate.name) > before)
    gate.open()
    assert refused.result().model_name == gate.name
    # Its own backoff would have been at most 0.1 s.
    assert daemons.elapsed(start) > 0.2
    assert running.result() and waiting.result()
