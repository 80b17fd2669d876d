"""Deadlines, cancellation and full queues, with one worker whose forward waits at a gate for as long as a test needs."""

import contextlib
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import repository
from wire.http2 import DATA, END_STREAM, RawConnection, frame, grpc_message
from wire.paths import EN_PT, NULL, ROOT, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, speak_request, translate_request

SERVED = NULL, EN_PT, VOICE
QUEUE_SIZE = 3
# Thousands of sentences: many seconds of work, unless it is stopped.
LONG_TEXT = " ".join((ROOT / "tests" / "data" / "translation" / "en.txt").read_text().split("\n") * 7)[:100_000]
LONG_SPEECH = "This sentence is said again and again. " * 120
# Not half of the tokens or characters of each.
LESS_THAN_HALF = {EN_PT: len(LONG_TEXT) / 5, VOICE: len(LONG_SPEECH) / 2}


@pytest.fixture(scope="module")
def gates(models):
    """Each test takes one of its own."""
    return iter([repository.Gate(models, f"gate-{i}") for i in range(8)])


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, models, gates):
    # One thread a forward: two that wait for each other take very long when the machine is busy.
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--workers", "1", "--intra-op-threads", "1", "--queue-size", QUEUE_SIZE,
                       models=models) as running:
        yield running


@pytest.fixture
def gate(daemon, gates):
    """Closed, with one forward waiting at it: the only worker is busy until the test, or its end, opens it."""
    daemon.wait_until_idle()
    gate = next(gates)
    gate.in_flight = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("a forward at the gate", lambda: daemon.running_forwards() == 1)
    yield gate
    gate.open()
    gate.in_flight.result()
    daemon.wait_until_idle()


def count(daemon, model, method, code):
    return daemon.metrics().total("millrace_requests_total", model=model, method=method, code=code)


def work_done(daemon, model):
    """The tokens or characters of all requests so far."""
    return daemon.metrics().total("millrace_tokens_total" if model == EN_PT else "millrace_characters_total", model=model)


@contextlib.contextmanager
def stopped_early(daemon, model):
    """What the with block begins ends although the daemon has not done half of it."""
    before = work_done(daemon, model)
    yield
    daemon.wait_until_idle()
    assert work_done(daemon, model) - before < LESS_THAN_HALF[model]


def outcome(call):
    """Code and message of a call that must have failed, and how long ago its result came at most."""
    with pytest.raises(grpc.RpcError) as raised:
        call.result(PATIENCE)
    return raised.value


# --- deadlines ---

def test_waiting_request_ends_at_its_deadline_and_leaves_the_queue(daemon, gate):
    late = count(daemon, NULL, "ModelInfer", "DEADLINE_EXCEEDED")
    start = time.monotonic()
    call = daemon.kserve.ModelInfer.future(null_request(), timeout=2)
    assert outcome(call).code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert daemons.elapsed(start) >= 2
    # It had come to the server, which let it go, too, although the worker is still busy.
    eventually("it is counted", lambda: count(daemon, NULL, "ModelInfer", "DEADLINE_EXCEEDED") == late + 1)
    assert daemon.queue_depth(NULL) == 0
    assert daemon.running_forwards() == 1 and not gate.in_flight.done()


def test_server_keeps_the_deadline_of_a_client_that_does_not(daemon, gate):
    late = count(daemon, NULL, "ModelInfer", "DEADLINE_EXCEEDED")
    with RawConnection(daemon.ports["grpc"]) as connection:
        message = grpc_message(null_request().SerializeToString())
        connection.call("inference.GRPCInferenceService/ModelInfer", message, end=True, timeout="300m")
        assert connection.stream_ended()
    # A call is counted once its answer has been written, so the client may be first.
    eventually("it is counted", lambda: count(daemon, NULL, "ModelInfer", "DEADLINE_EXCEEDED") == late + 1)
    assert daemon.queue_depth(NULL) == 0
    assert daemon.running_forwards() == 1 and not gate.in_flight.done()


def test_no_timer_ends_a_call_that_waits_for_no_work(daemon):
    """The scheduler keeps the deadlines of work. A timer of gRPC for each call would run where no turn of a connection bounds what it costs."""
    with RawConnection(daemon.ports["grpc"]) as connection:
        connection.call("inference.GRPCInferenceService/ServerLive", b"", end=False, timeout="1n")
        connection.call("inference.GRPCInferenceService/ServerLive", grpc_message(b""), end=True, stream=3)
        assert connection.headers(stream=3)["grpc-status"] == "0"
        connection.socket.sendall(frame(DATA, END_STREAM, 1, grpc_message(b"")))
        assert connection.headers(stream=1)["grpc-status"] == "0"


def test_request_without_a_deadline_ends_at_the_servers_own(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    gate = repository.Gate(models)
    with daemons.start(tmp_path, "--workers", "1", "--max-request-time", "500ms", models=models) as daemon:
        running = daemon.kserve.ModelInfer.future(gate.request())
        eventually("a forward at the gate", lambda: daemon.running_forwards() == 1)
        waiting = daemon.kserve.ModelInfer.future(null_request())
        assert outcome(waiting).code() == grpc.StatusCode.DEADLINE_EXCEEDED
        assert daemon.queue_depth(NULL) == 0
        gate.open()
        running.cancel()


def test_running_translation_stops_at_its_deadline(daemon):
    with stopped_early(daemon, EN_PT), pytest.raises(grpc.RpcError) as raised:
        daemon.translation.Translate(translate_request(LONG_TEXT), timeout=0.5)
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


def test_running_speech_stops_at_its_deadline(daemon):
    with stopped_early(daemon, VOICE), pytest.raises(grpc.RpcError) as raised:
        daemon.synthesis.Synthesize(speak_request(LONG_SPEECH), timeout=1)
    assert raised.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED


# --- cancellation ---

def test_cancelled_request_leaves_the_queue_at_once(daemon, gate):
    gone = count(daemon, NULL, "ModelInfer", "CANCELLED")
    call = daemon.kserve.ModelInfer.future(null_request(), timeout=PATIENCE)
    eventually("it waits in the queue", lambda: daemon.queue_depth(NULL) == 1)
    call.cancel()
    eventually("the queue is empty", lambda: daemon.queue_depth(NULL) == 0)
    eventually("it is counted", lambda: count(daemon, NULL, "ModelInfer", "CANCELLED") == gone + 1)
    assert not gate.in_flight.done()


def test_cancelled_stream_leaves_the_queue_at_once(daemon, gate):
    call = daemon.synthesis.StreamSynthesize(speak_request("Hello."), timeout=PATIENCE)
    eventually("it waits in the queue", lambda: daemon.queue_depth(VOICE) == 1)
    call.cancel()
    eventually("the queue is empty", lambda: daemon.queue_depth(VOICE) == 0)


@pytest.mark.parametrize("method", ["Translate", "StreamTranslate"])
def test_cancelled_translation_frees_the_worker_within_a_step(daemon, method):
    gone = count(daemon, EN_PT, method, "CANCELLED")
    with stopped_early(daemon, EN_PT):
        if method == "Translate":
            call = daemon.translation.Translate.future(translate_request(LONG_TEXT), timeout=PATIENCE)
        else:
            call = daemon.translation.StreamTranslate(translate_request(LONG_TEXT), timeout=PATIENCE)
        eventually("it runs", lambda: daemon.running_forwards() == 1)
        call.cancel()
    assert count(daemon, EN_PT, method, "CANCELLED") == gone + 1


def test_cancelled_speech_frees_the_worker_within_a_sentence(daemon):
    with stopped_early(daemon, VOICE):
        call = daemon.synthesis.Synthesize.future(speak_request(LONG_SPEECH), timeout=PATIENCE)
        eventually("it runs", lambda: daemon.running_forwards() == 1)
        call.cancel()


# --- full queues ---

def test_full_queue_refuses_at_once_with_a_hint_when_to_come_back(daemon, gate):
    waiting = [daemon.kserve.ModelInfer.future(null_request(), timeout=PATIENCE) for _ in range(QUEUE_SIZE)]
    eventually("the queue is full", lambda: daemon.queue_depth(NULL) == QUEUE_SIZE)
    refusals = [outcome(daemon.kserve.ModelInfer.future(null_request(), timeout=PATIENCE)) for _ in range(5)]
    assert not gate.in_flight.done()
    for error in refusals:
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert NULL in error.details() and str(QUEUE_SIZE) in error.details()
        hint = dict(error.trailing_metadata())["grpc-retry-pushback-ms"]
        assert 1 <= int(hint) <= 60_000
    # Another model has a queue of its own.
    other = daemon.translation.Translate.future(translate_request("Hello."), timeout=PATIENCE)
    eventually("it waits", lambda: daemon.queue_depth(EN_PT) == 1)
    gate.open()
    assert all(call.result().outputs for call in waiting)
    assert other.result().translations


def test_refusals_are_counted_by_reason(daemon, gate):
    before = daemon.metrics()
    waiting = [daemon.kserve.ModelInfer.future(null_request(), timeout=PATIENCE) for _ in range(QUEUE_SIZE)]
    eventually("the queue is full", lambda: daemon.queue_depth(NULL) == QUEUE_SIZE)
    outcome(daemon.kserve.ModelInfer.future(null_request(), timeout=PATIENCE))
    after = daemon.metrics()
    for name, labels in [("millrace_requests_refused_total", {"reason": "queue_full"}),
                         ("millrace_requests_total", {"method": "ModelInfer", "code": "RESOURCE_EXHAUSTED"})]:
        assert after.total(name, model=NULL, **labels) == before.total(name, model=NULL, **labels) + 1
    gate.open()
    assert all(call.result().outputs for call in waiting)


def test_waiting_requests_are_batched(daemon, gate):
    """Requests that came while the worker was busy go through in one forward, each with its own values."""
    before = daemon.metrics()
    calls = [daemon.kserve.ModelInfer.future(null_request([float(i)] * 64), timeout=PATIENCE) for i in range(QUEUE_SIZE)]
    eventually("they wait", lambda: daemon.queue_depth(NULL) == QUEUE_SIZE)
    gate.open()
    for i, call in enumerate(calls):
        assert call.result().raw_output_contents[0] == null_request([float(i)] * 64).raw_input_contents[0]
    after = daemon.metrics()
    assert after.total("millrace_batch_size_count", model=NULL) == before.total("millrace_batch_size_count", model=NULL) + 1
    assert after.total("millrace_batch_size_sum", model=NULL) == before.total("millrace_batch_size_sum", model=NULL) + QUEUE_SIZE
