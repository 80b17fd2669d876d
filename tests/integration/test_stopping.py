"""What happens to requests, clients and the exit status when the daemon is told to stop."""

import concurrent.futures
import http.client
import signal
import subprocess
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import repository, stubs
from wire.paths import NULL, VOICE
from wire.polling import eventually, stays
from wire.requests import PATIENCE, null_request, speak_request
from wire.rest import send

SENTENCES = 12
SPEECH = "This is one of several sentences. " * SENTENCES
# Minutes of audio: it does not end by itself while a test looks.
ENDLESS = "This is one of very many sentences. " * 500


@pytest.fixture(scope="module")
def voice_models(tmp_path_factory):
    return repository.link(tmp_path_factory.mktemp("repository") / "models", NULL, VOICE)


def code_of(call):
    with pytest.raises(grpc.RpcError) as raised:
        call()
    return raised.value.code()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_idle_daemon_stops_at_once(tmp_path, null_models, number):
    with daemons.start(tmp_path, models=null_models) as daemon:
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        daemon.process.send_signal(number)
        assert daemon.exit_status(10) == 0
    assert "stopped" in daemon.log_text()


def test_stop_with_clients_connected_does_not_wait_for_them(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        channels = [daemon.connect() for _ in range(10)]
        assert [daemon.health(channel=channel) for channel in channels] == ["SERVING"] * 10
        daemon.terminate()
        assert daemon.exit_status(10) == 0


def test_stream_in_flight_is_finished_and_new_calls_are_turned_away(tmp_path, voice_models):
    with daemons.start(tmp_path, models=voice_models) as daemon:
        stream = daemon.synthesis.StreamSynthesize(speak_request(SPEECH), timeout=PATIENCE)
        messages = [next(stream)]
        daemon.terminate()
        eventually("new calls are turned away", lambda: not accepts(daemon))
        assert code_of(lambda: daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)) == grpc.StatusCode.UNAVAILABLE
        messages += stream
        assert {message.sentence_index for message in messages} == set(range(SENTENCES))
        assert stream.code() == grpc.StatusCode.OK
        assert daemon.exit_status(10) == 0


def test_speech_that_is_computed_but_not_yet_heard_is_delivered(tmp_path, voice_models):
    with daemons.start(tmp_path, models=voice_models) as daemon:
        # Of these, a connection lets through only what its window allows.
        channel = daemon.connect(**{"http2.bdp_probe": 0, "http2.lookahead_bytes": 65536})
        stream = stubs.synthesis_grpc.SynthesisServiceStub(channel).StreamSynthesize(speak_request(SPEECH), timeout=PATIENCE)
        messages = [next(stream)]
        eventually("all is computed", lambda: daemon.metrics().total(
            "millrace_characters_total", model=VOICE) >= len(SPEECH) - SENTENCES)
        daemon.terminate()
        start = time.monotonic()
        for message in stream:   # at the pace of a player
            messages.append(message)
            time.sleep(0.15)
        assert daemons.elapsed(start) > 1.5   # longer than the server would flush what nobody waits for
        assert {message.sentence_index for message in messages} == set(range(SENTENCES))
        assert stream.code() == grpc.StatusCode.OK
        assert daemon.exit_status(10) == 0


def accepts(daemon):
    try:
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        return True
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.UNAVAILABLE, error
        return False


def test_forward_and_queue_in_flight_are_finished(tmp_path):
    models = tmp_path / "models"
    gate = repository.Gate(models)
    with daemons.start(tmp_path, "--workers", "1", "--intra-op-threads", "1", models=models) as daemon:
        calls = [daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE) for _ in range(4)]
        eventually("one runs and three wait", lambda: daemon.running_forwards() == 1 and daemon.queue_depth(gate.name) == 3)
        daemon.terminate()
        eventually("health says so", lambda: daemon.health() == "NOT_SERVING")
        stays("it waits for them", lambda: daemon.process.poll() is None and not any(call.done() for call in calls), 0.5)
        gate.open()
        assert [call.result().model_name for call in calls] == [gate.name] * 4
        assert daemon.exit_status(10) == 0


def infer_over_http(daemon, model):
    """Status and headers of an inference that the gate holds."""
    body = {"inputs": [{"name": "WAIT", "datatype": "FP32", "shape": [1], "data": [1]}]}
    return send(daemon, "POST", f"/v2/models/{model}/infer", body)


@pytest.mark.parametrize("opens", [True, False], ids=["done in time", "cut off"])
def test_unary_calls_in_flight_are_answered(tmp_path, opens):
    """By their result, or, where they would take longer than --drain-timeout, by an error after which another server may be asked."""
    models = tmp_path / "models"
    gate = repository.Gate(models)
    with daemons.start(tmp_path, "--workers", "1", "--drain-timeout", "5m" if opens else "1s", models=models) as daemon, \
            concurrent.futures.ThreadPoolExecutor() as pool:
        call = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
        eventually("it runs", lambda: daemon.running_forwards() == 1)
        answer = pool.submit(infer_over_http, daemon, gate.name)
        eventually("the other one waits", lambda: daemon.queue_depth(gate.name) == 1)
        daemon.terminate()
        eventually("health says so", lambda: daemon.health() == "NOT_SERVING")
        if opens:
            gate.open()
            assert call.code() == grpc.StatusCode.OK
        else:
            assert call.code() == grpc.StatusCode.UNAVAILABLE
        status, headers, body = answer.result(PATIENCE)
        assert (status, headers["Connection"]) == (200 if opens else 503, "close"), body
        gate.open()
        assert daemon.exit_status(20) == 0


def test_drain_delay_keeps_serving_while_not_ready_until_a_second_signal(tmp_path, null_models):
    with daemons.start(tmp_path, "--drain-delay", "5m", models=null_models) as daemon:
        daemon.terminate()
        eventually("health says so", lambda: daemon.health() == "NOT_SERVING")
        assert daemon.http("/v2/health/ready")[0] == 503
        assert daemon.http("/v2/health/live")[0] == 200
        assert daemon.metrics().total("millrace_server_ready") == 0
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        daemon.terminate()
        assert daemon.exit_status(10) == 128 + signal.SIGTERM


def test_drain_delay_ends(tmp_path, null_models):
    with daemons.start(tmp_path, "--drain-delay", "2s", models=null_models) as daemon:
        start = time.monotonic()
        daemon.terminate()
        assert daemon.exit_status(20) == 0
        assert daemons.elapsed(start) >= 2


def test_answers_after_the_stop_began_say_that_the_connection_closes(tmp_path, null_models):
    """Balancers would send the next request into a connection that ends, and could not repeat it."""
    with daemons.start(tmp_path, "--drain-delay", "5m", models=null_models) as daemon:
        kept = [http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE) for _ in range(3)]

        def ask(connection, path):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("Connection", "")

        for connection in kept:
            assert ask(connection, "/v2/health/live") == (200, "")
            held = connection.sock
            assert held is not None
        daemon.terminate()
        eventually("it is not ready", lambda: daemon.http("/v2/health/ready")[0] == 503)
        for connection, path, status in zip(kept, ("/v2/health/live", "/v2/health/ready", "/nowhere"), (200, 503, 404), strict=True):
            assert ask(connection, path) == (status, "close")
            assert connection.sock is None
            connection.close()


def test_second_signal_ends_what_runs(tmp_path, voice_models):
    with daemons.start(tmp_path, "--drain-timeout", "5m", models=voice_models) as daemon:
        stream = daemon.synthesis.StreamSynthesize(speak_request(ENDLESS))
        next(stream)
        daemon.terminate()
        eventually("new calls are turned away", lambda: not accepts(daemon))
        stays("it waits for the stream", lambda: daemon.process.poll() is None, 0.5)
        daemon.terminate()
        assert daemon.exit_status(10) == 128 + signal.SIGTERM
        assert code_of(lambda: list(stream)) == grpc.StatusCode.UNAVAILABLE


def test_drain_timeout_ends_what_runs(tmp_path, voice_models):
    with daemons.start(tmp_path, "--drain-timeout", "1s", models=voice_models) as daemon:
        stream = daemon.synthesis.StreamSynthesize(speak_request(ENDLESS))
        next(stream)
        start = time.monotonic()
        daemon.terminate()
        assert daemon.exit_status(10) == 0
        assert daemons.elapsed(start) >= 1
        assert code_of(lambda: list(stream)) == grpc.StatusCode.UNAVAILABLE
    assert "stopped unfinished=1" in daemon.log_text()   # which the exit status does not tell


def test_client_that_never_reads_does_not_hold_up_the_stop(tmp_path, voice_models):
    with daemons.start(tmp_path, "--drain-timeout", "1s", "--max-buffered-bytes", "64KiB", models=voice_models) as daemon:
        stream = daemon.synthesis.StreamSynthesize(speak_request(ENDLESS))
        eventually("audio is made", lambda: daemon.metrics().total("millrace_audio_seconds_total") > 5, PATIENCE)
        daemon.terminate()
        assert daemon.exit_status(10) == 0
        stream.cancel()


def test_kill_in_the_middle_of_work_leaves_the_port_free_for_the_next(tmp_path, voice_models):
    with daemons.start(tmp_path, models=voice_models) as daemon:
        stream = daemon.synthesis.StreamSynthesize(speak_request(ENDLESS))
        next(stream)
        daemon.process.kill()
        daemon.process.wait()
        assert code_of(lambda: list(stream)) == grpc.StatusCode.UNAVAILABLE
        address = daemon.address
    with daemons.start(tmp_path, "--grpc-address", address, models=voice_models) as daemon:
        assert daemon.address == address
        assert daemon.health() == "SERVING"


def test_stop_while_models_load_is_obeyed(tmp_path):
    """A start can be interrupted: it neither hangs nor serves first."""
    log = (tmp_path / "log").open("w")
    process = subprocess.Popen([daemons.BINARY, *daemons.SERVE, "--models", daemons.MODELS, "--log-level", "debug"],
                               stdout=log, stderr=log, env=daemons.ENVIRONMENT)
    try:
        eventually("it has begun", lambda: "model loaded" in (tmp_path / "log").read_text())
        process.terminate()
        process.wait(60)
    finally:
        process.kill()
        process.wait()
        log.close()
