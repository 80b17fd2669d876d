"""Work that takes long: what is refused because it can never be done in time, and what may take as long as it does."""

import contextlib
import http.client
import json
import re
import signal
import subprocess
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import err, out, run
from wire.paths import BINARY, EN_PT, ENVIRONMENT, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, refused, speak_request
from wire.rest import send
from wire.sound import decode
from wire.stubs import admin, kserve

SECONDS = 1   # A request that would take twice as long is refused, so the fastest machine must need longer for BOOK[:4990].
SENTENCE = "Good morning, the children were playing in the garden. "
# Takes some times as long as a request may; nobody hears all of the other one.
LONG = SENTENCE * 60
BOOK = SENTENCE * 3600


@pytest.fixture(scope="module")
def hurried(tmp_path_factory):
    """A daemon whose requests may take SECONDS, and that knows by then how fast it is."""
    folder = tmp_path_factory.mktemp("daemon")
    with daemons.start(folder, "--workers", "1", "--intra-op-threads", "1", "--max-request-time", f"{SECONDS}s",
                       models=repository.link(folder / "models", NULL, EN_PT, VOICE)) as daemon:
        for _ in range(3):
            for _ in daemon.synthesis.StreamSynthesize(speak_request(SENTENCE * 4), timeout=PATIENCE):
                pass
            daemon.wait_until_idle()  # A step that its client has already heard would be waited for.
        yield daemon


def post(daemon, path, body):
    return send(daemon, "POST", path, body, "application/json")


def never_fits(daemon):
    return daemon.metrics().total("millrace_requests_refused_total", model=VOICE, reason="never_fits")


def test_speech_that_is_heard_while_it_is_made_takes_as_long_as_it_does(hurried):
    start = time.monotonic()
    pieces = list(hurried.synthesis.StreamSynthesize(speak_request(LONG), timeout=PATIENCE))
    assert daemons.elapsed(start) > SECONDS
    assert sum(piece.sentence_finished for piece in pieces) == 60
    hurried.wait_until_idle()
    status, _, audio = post(hurried, "/v1/audio/speech", {"model": VOICE, "input": LONG, "response_format": "wav"})
    assert status == 200 and decode(audio, "wav").seconds > 120


def test_the_longest_text_that_is_allowed_begins_to_be_heard(hurried):
    text = BOOK[:200_000]
    stream = hurried.synthesis.StreamSynthesize(speak_request(text), timeout=3600)
    assert next(stream).audio
    # It is in nobody's way.
    assert hurried.synthesis.Synthesize(speak_request("Hello."), timeout=PATIENCE).audio
    assert post(hurried, "/v1/audio/speech", {"model": VOICE, "input": "Hello."})[0] == 200
    stream.cancel()
    hurried.wait_until_idle()


def test_text_that_never_fits_is_the_clients_error_with_the_length_that_fits(hurried):
    before = never_fits(hurried)
    error = refused(hurried.synthesis.Synthesize, speak_request(BOOK[:4990]))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error.details()
    assert re.fullmatch(rf"text: would take about [\d.]+ (s|min) here, and at most {SECONDS} s are allowed \(--max-request-time\); "
                        r"about \d+ of its 4990 characters fit", error.details())
    assert "grpc-retry-pushback-ms" not in dict(error.trailing_metadata())
    whole = {"model": VOICE, "input": BOOK[:4990], "stream": False, "return_timestamps": True}
    status, headers, body = post(hurried, "/dev/captioned_speech", whole)
    assert (status, headers["Retry-After"], headers["Retry-After-Ms"]) == (400, None, None)
    assert "characters fit" in json.loads(body)["error"]["message"]
    assert never_fits(hurried) == before + 2
    # A shorter one is done.
    assert hurried.synthesis.Synthesize(speak_request("Hello."), timeout=PATIENCE).audio


def test_stream_that_never_fits_into_its_clients_deadline_names_that(hurried):
    with pytest.raises(grpc.RpcError) as raised:
        list(hurried.synthesis.StreamSynthesize(speak_request(BOOK[:100_000]), timeout=5))
    assert raised.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "the client's own deadline (--timeout of `millrace`) leaves" in raised.value.details()


# --- the command line ---

def client(daemon, *arguments, **settings):
    return run(*arguments, "--address", daemon.address, **settings)


def started(daemon, *arguments):
    command = [str(BINARY), *arguments, "--address", daemon.address]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)


@pytest.mark.parametrize("form", ["wav", "pcm", "mp3"])
def test_command_streams_to_standard_output(hurried, form):
    process = started(hurried, "synthesize", BOOK[:100_000], "--model", VOICE, "-o", "-", "--format", form)
    with process:
        assert len(process.stdout.read(20_000)) == 20_000
        assert process.poll() is None   # it goes on
        process.kill()
    hurried.wait_until_idle()


def test_command_has_no_deadline_of_its_own_and_takes_a_file(daemon, tmp_path):
    """The daemon lets a step take as long as a busy machine needs; that of the tests above gives up after a second."""
    (tmp_path / "long.txt").write_text(LONG)
    ended = client(daemon, "synthesize", "--file", tmp_path / "long.txt", "--model", VOICE, "-o", tmp_path / "long.flac", seconds=300)
    assert ended.returncode == 0, err(ended)
    assert decode((tmp_path / "long.flac").read_bytes(), "flac").seconds > 120
    (tmp_path / "book.txt").write_text(BOOK[:100_000])   # the fastest machine takes longer than a second
    ended = client(daemon, "synthesize", "--file", tmp_path / "book.txt", "--model", VOICE, "-o", tmp_path / "none.wav", "--timeout", "1s")
    assert ended.returncode == 1 and "--timeout" in err(ended) and err(ended).count("\n") == 1


def test_command_that_is_interrupted_keeps_what_has_come(hurried, tmp_path):
    file = tmp_path / "part.wav"
    process = started(hurried, "synthesize", BOOK[:100_000], "--model", VOICE, "-o", str(file))
    eventually("some of it is there", lambda: file.exists() and file.stat().st_size > 100_000)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 128 + signal.SIGINT
    seconds = decode(file.read_bytes(), "wav").seconds
    assert seconds > 2
    assert re.fullmatch(rf"millrace: interrupted; {re.escape(str(file))} has the first ([\d.]+) s\n", said.decode())
    assert float(re.search(r"first ([\d.]+) s", said.decode())[1]) == pytest.approx(seconds, abs=0.01)
    hurried.wait_until_idle()


def test_command_translates_what_is_longer_than_a_request(daemon):
    paragraph = "Thank you very much. " * 20
    text = "\n\n".join([paragraph.strip()] * 240)
    assert len(text) > 100_000
    ended = client(daemon, "translate", "-", "--source", "en", "--target", "pt", stdin=text.encode())
    assert ended.returncode == 0, err(ended)
    paragraphs = out(ended).strip().split("\n\n")
    assert len(paragraphs) == 240 and len(set(paragraphs)) == 1 and paragraphs[0].lower().count("obrigad") == 20


def test_lists_for_scripts(daemon):
    listed = json.loads(out(client(daemon, "models", "--json")))
    assert {model["name"] for model in listed["models"]} >= {NULL, EN_PT, VOICE}
    voices = [line.split() for line in out(client(daemon, "models", "--voices")).splitlines()]
    assert voices[0] == ["VOICE", "LANGUAGE", "MODEL"] and ["joe", "en-US", VOICE] in voices
    translated = json.loads(out(client(daemon, "translate", "Thank you.", "--model", EN_PT, "--json")))
    assert "brigad" in translated["translations"][0]["text"]


@pytest.mark.parametrize("arguments, words", [
    (["synthesize", "Hello", "World"], "unexpected argument World; put the text in quotes"),
    (["synthesize", "Hello", "--speed", "9"], "'9' is not allowed, allowed: 0.25..4"),
    (["synthesize", "Hello", "--file", "a.txt"], "--file"),
    (["completion", "tcsh"], "tcsh"),
])
def test_usage_errors_say_what_to_do(arguments, words):
    ended = run(*arguments)
    assert ended.returncode == 2 and words in err(ended)


@pytest.mark.parametrize("shell, word", [("bash", "complete "), ("zsh", "#compdef millrace"), ("fish", "complete -c millrace")])
def test_completions_are_printed(shell, word):
    ended = run("completion", shell)
    assert ended.returncode == 0 and word in out(ended) and "synthesize" in out(ended)


# --- the state of the server ---

def test_server_without_a_model_is_not_ready(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        assert (daemon.http("/v2/health/ready")[0], daemon.health()) == (200, "SERVING")
        daemon.admin.UnloadModel(admin.UnloadModelRequest(model=NULL), timeout=PATIENCE)
        eventually("it is not ready", lambda: daemon.http("/v2/health/ready")[0] == 503)
        eventually("health tells", lambda: daemon.health() == "NOT_SERVING")
        assert daemon.http("/v2/health/live")[0] == 200
        assert not daemon.kserve.ServerReady(kserve.ServerReadyRequest(), timeout=PATIENCE).ready
        daemon.admin.LoadModel(admin.LoadModelRequest(model=NULL), timeout=PATIENCE)
        eventually("it is ready again", lambda: (daemon.http("/v2/health/ready")[0], daemon.health()) == (200, "SERVING"))


def test_answers_of_a_server_that_drains_say_that_they_are_the_last(tmp_path, null_models):
    with daemons.start(tmp_path, "--drain-delay", "5m", models=null_models) as daemon:
        connections = [http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE) for _ in range(4)]
        def ask(connection, path="/v2"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers.get("Connection")
        assert [ask(connection) for connection in connections] == [(200, None)] * 4
        daemon.terminate()
        eventually("it drains", lambda: daemon.http("/v2/health/ready")[0] == 503)
        # Also on a connection that is new.
        for connection in [*connections, *connections]:
            assert ask(connection) == (200, "close")
        assert ask(connections[0], "/unknown") == (404, "close")


def test_clients_that_leave_at_their_deadlines_are_counted_so(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    gate = repository.Gate(models)
    with daemons.start(tmp_path, "--workers", "1", models=models) as daemon:
        held = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
        eventually("the worker is busy", lambda: daemon.running_forwards() == 1)

        def count(code):
            return daemon.metrics().total("millrace_requests_total", model=NULL, method="ModelInfer", code=code)

        def all_are_counted_so():
            before = count("DEADLINE_EXCEEDED")
            calls = [daemon.kserve.ModelInfer.future(null_request(), timeout=0.3 + i / 100) for i in range(10)]
            assert {call.exception().code() for call in calls} == {grpc.StatusCode.DEADLINE_EXCEEDED}
            eventually("only the first is left", lambda: daemon.metrics().total("millrace_requests_in_flight") == 1)
            return count("DEADLINE_EXCEEDED") == before + 10
        # On a busy machine some come late, and have more time there than their clients give them, or do not come at all.
        eventually("calls that come at once are counted so", all_are_counted_so, PATIENCE)
        gate.open()
        assert held.result().outputs


def test_what_the_http_server_refuses_is_counted_and_logged(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        def count(status):
            return daemon.metrics().total("millrace_http_refused_total", status=status)
        assert count("404") == 0
        for _ in range(50):
            assert daemon.http("/no/such/path")[0] == 404
        assert count("404") == 50
        daemon.terminate()
        assert daemon.exit_status(20) == 0
        assert 1 <= daemon.log_text().count("HTTP request refused") <= 10
        assert "path=/no/such/path" in daemon.log_text()


def test_wrong_requests_without_end_do_not_fill_the_log(tmp_path, null_models):
    """The first thousand are logged, and then a few a second, however many come."""
    with daemons.start(tmp_path, models=null_models) as daemon:
        connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=PATIENCE)
        with contextlib.closing(connection):
            for _ in range(3000):
                connection.request("POST", f"/v2/models/{NULL}/infer", "{}")
                answer = connection.getresponse()
                answer.read()
                assert answer.status == 400
        daemon.terminate()
        assert daemon.exit_status(20) == 0
        assert 1000 <= daemon.log_text().count(" request request_id=") < 3000
