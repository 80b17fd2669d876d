"""Connections end by their age, so that clients find replicas that were added, and no client notices."""

import contextlib
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import http2, repository, stubs
from wire.http2 import RawConnection
from wire.paths import NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, speak_request

SERVED = NULL, VOICE
AGE_SECONDS = 1
# gRPC makes the age up to a tenth longer, and looks at its timers late on a busy machine.
SURELY_OLD_SECONDS = 2 * AGE_SECONDS
SENTENCES = 12
SPEECH = "This is one of several sentences. " * SENTENCES


@pytest.fixture(scope="module")
def aging(tmp_path_factory, models):
    """A daemon whose connections live for a second."""
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--max-connection-age", f"{AGE_SECONDS}s", "--workers", "2",
                       models=models) as running:
        yield running


def connect(daemon, **options):
    """A connection with gRPC's defaults, under which a call that the server has not seen is sent again."""
    return daemon.connect(enable_retries=1, **options)


def test_an_old_connection_is_told_to_go(aging):
    with RawConnection(aging.ports["grpc"]) as connection:
        start = time.monotonic()
        while (received := connection.next_frame()) is not None and received[0] != http2.GOAWAY:
            pass
        assert received is not None, "it was closed without a goodbye"
        assert daemons.elapsed(start) > AGE_SECONDS / 2
        assert connection.closed_by_server()


def test_a_client_that_calls_all_the_time_sees_no_error(aging):
    stub = stubs.kserve_grpc.GRPCInferenceServiceStub(connect(aging))
    end = time.monotonic() + 3 * AGE_SECONDS
    seen = set()
    while time.monotonic() < end:
        _, call = stub.ModelInfer.with_call(null_request(), timeout=PATIENCE)
        assert call.code() == grpc.StatusCode.OK
        seen |= connections_of(aging)
    assert len(seen) >= 3, "no connection has ended"


def connections_of(daemon):
    """The client's ports of the connections to the gRPC port that are established."""
    port = f":{daemon.ports['grpc']:04X}"
    with open("/proc/net/tcp") as table:
        rows = [line.split() for line in table][1:]
    return frozenset(remote for _, local, remote, state, *_ in rows if local.endswith(port) and state == "01")


def test_a_stream_that_outlives_its_connections_age_ends_whole(aging):
    # The window lets through some of the audio, so the stream lasts for as long as this client does not read.
    channel = connect(aging, **{"http2.bdp_probe": 0, "http2.lookahead_bytes": 65536})
    stream = stubs.synthesis_grpc.SynthesisServiceStub(channel).StreamSynthesize(speak_request(SPEECH), timeout=PATIENCE)
    messages = [next(stream)]
    before = connections_of(aging)
    time.sleep(SURELY_OLD_SECONDS)
    # Another call goes by a new connection, while the old one still carries the stream.
    stub = stubs.kserve_grpc.GRPCInferenceServiceStub(channel)
    stub.ModelInfer(null_request(), timeout=PATIENCE)
    assert len(connections_of(aging) - before) == 1
    messages += stream
    assert {message.sentence_index for message in messages} == set(range(SENTENCES))
    assert stream.code() == grpc.StatusCode.OK


def test_calls_beyond_the_grace_are_cut_off(tmp_path, models):
    gate = repository.Gate(repository.link(tmp_path / "models", NULL))
    with daemons.start(tmp_path, "--max-connection-age", "1s", "--max-connection-age-grace", "500ms", "--workers", "1",
                       models=tmp_path / "models") as daemon:
        with contextlib.ExitStack() as stack:
            stack.callback(gate.open)
            call = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
            start = time.monotonic()
            eventually("the call is cut off", call.done, 10)
            assert daemons.elapsed(start) >= 1
            assert call.code() == grpc.StatusCode.UNAVAILABLE
