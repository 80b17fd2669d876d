"""Models in processes of their own, which the server survives: --executors."""

import hashlib
import itertools
import json
import os
import pathlib
import shutil
import signal
import sys
import threading

import grpc
import pytest
from wire import daemon as daemons
from wire import limits, repository
from wire.daemon import refused_start
from wire.executors import cpu_ticks, end_executor, executors, have_ended, wait_for_step
from wire.paths import BINARY, EN_PT, FRONT_PROGRAM, NULL, PT_EN, SERVER_PROGRAM, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, assert_refused, floats, null_request, refused, speak_request, translate_request
from wire.stubs import admin, kserve, synthesis, translation

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="executors are found by /proc")

TEXT = " ".join(f"This is sentence number {number}, and it says what it says." for number in range(1, 13))
S16 = synthesis.AUDIO_ENCODING_PCM_S16LE


@pytest.fixture(scope="module")
def contained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("executors")
    models = repository.link(folder / "models", NULL, EN_PT, PT_EN, VOICE)
    with daemons.start(folder, "--workers", "2", "--executors", "1", models=models) as running:
        yield running


def stream(daemon, text=TEXT, on_chunk=lambda number: None, **fields):
    chunks = []
    for chunk in daemon.synthesis.StreamSynthesize(speak_request(text, encoding=S16, **fields), timeout=PATIENCE):
        chunks.append(chunk)
        on_chunk(len(chunks))
    return b"".join(chunk.audio for chunk in chunks)


# --- what an executor does is what the server itself does ---

def test_all_tasks_answer_as_without_executors(daemon, contained):
    html = translate_request("<p>The <b>red</b> house &amp; {name} of Anna.</p>", format=translation.TEXT_FORMAT_HTML,
                             do_not_translate=["Anna"], glossary=[translation.GlossaryEntry(source="house", target="casa")])
    for service, method, request in [
        ("translation", "Translate", translate_request("Good morning. How are you?", "Two cats.", "")),
        ("translation", "Translate", html),
        ("synthesis", "Synthesize", speak_request("Good morning. Where is the station?", seed=7)),
        ("synthesis", "Synthesize", speak_request("Good morning.", seed=7, word_times=True, phoneme_times=True)),
    ]:
        answers = [getattr(getattr(one, service), method)(request, timeout=PATIENCE) for one in (daemon, contained)]
        assert answers[0] == answers[1], request
    answers = [one.kserve.ModelInfer(null_request(), timeout=PATIENCE) for one in (daemon, contained)]
    assert answers[0].raw_output_contents == answers[1].raw_output_contents
    metadata = [one.kserve.ModelMetadata(kserve.ModelMetadataRequest(name=NULL), timeout=PATIENCE) for one in (daemon, contained)]
    assert metadata[0] == metadata[1]
    assert stream(daemon) == stream(contained)


def test_a_wrong_input_is_refused_in_the_same_words(daemon, contained):
    for request in (speak_request("Hello.", voice="nobody"), speak_request("Hello.", language="xx")):
        errors = [refused(one.synthesis.Synthesize, request) for one in (daemon, contained)]
        assert (errors[0].code(), errors[0].details()) == (errors[1].code(), errors[1].details())
    wrong = null_request(inputs=[kserve.ModelInferRequest.InferInputTensor(name="INPUT0", datatype="FP32", shape=[63])],
                         raw_input_contents=[floats([0.0] * 63)])
    errors = [refused(one.kserve.ModelInfer, wrong) for one in (daemon, contained)]
    assert (errors[0].code(), errors[0].details()) == (errors[1].code(), errors[1].details())


def test_a_model_is_unloaded_and_loaded_again(contained):
    contained.admin.UnloadModel(admin.UnloadModelRequest(model=NULL), timeout=PATIENCE)
    assert_refused(contained.kserve.ModelInfer, null_request(), "NOT_FOUND", NULL)
    contained.admin.LoadModel(admin.LoadModelRequest(model=NULL), timeout=PATIENCE)
    contained.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def convicted(daemon, *arguments, status=0):
    ended = daemons.run("convicted", *arguments, "--address", daemon.address)
    assert ended.returncode == status, ended.stderr.decode()
    return (ended.stdout if status == 0 else ended.stderr).decode()


def test_convicted_requests_are_for_admins_of_servers_with_executors(tmp_path, daemon, null_models):
    calls = ((admin.ListConvictedRequestsRequest(), "ListConvictedRequests"), (admin.ClearConvictedRequestsRequest(), "ClearConvictedRequests"))
    for request, method in calls:
        assert_refused(getattr(daemon.admin, method), request, "FAILED_PRECONDITION", "--executors")
    keys = tmp_path / "keys"
    keys.write_text("".join(f"{role}:{role}:{hashlib.sha256(role.encode()).hexdigest()}\n" for role in ("user", "admin")))
    with daemons.start(tmp_path, "--workers", "1", "--executors", "1", "--api-keys", keys, models=null_models) as guarded:
        for request, method in calls:
            call = getattr(guarded.admin, method)
            assert_refused(call, request, "UNAUTHENTICATED")
            assert_refused(call, request, "PERMISSION_DENIED", metadata=(("authorization", "Bearer user"),))
            call(request, metadata=(("authorization", "Bearer admin"),), timeout=PATIENCE)


# --- the front ---

def test_the_front_maps_no_libtorch(contained, tmp_path, null_models):
    config = tmp_path / "millrace.toml"
    config.write_text("executors = 1\n")
    with daemons.start(tmp_path, "--workers", "1", "--config", config, models=null_models) as by_file:
        for front in (contained, by_file):
            process = pathlib.Path(f"/proc/{front.process.pid}")
            assert (process / "exe").resolve() == FRONT_PROGRAM.resolve()
            assert "libtorch" not in (process / "maps").read_text()
            assert all("libtorch" in pathlib.Path(f"/proc/{executor}/maps").read_text() for executor in executors(front))


def test_executors_may_be_named_in_a_file_that_can_be_read_only_once(tmp_path, null_models):
    pipe = tmp_path / "config"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text("executors = 1\n"))
    writer.start()
    with daemons.start(tmp_path, "--workers", "1", "--config", pipe, models=null_models) as piped:
        writer.join()
        assert len(executors(piped)) == 1
        piped.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_the_front_program_does_nothing_else():
    for arguments in (["serve"], ["version"], ["translate", "Hello."]):
        ended = daemons.run(*arguments, binary=FRONT_PROGRAM)
        assert (ended.returncode, ended.stdout) == (2, b"") and b"--executors" in ended.stderr and b"run `millrace`" in ended.stderr


def test_successors_are_of_the_program_that_was_there_at_the_start(tmp_path, null_models):
    for program in (BINARY, FRONT_PROGRAM, SERVER_PROGRAM):
        shutil.copy(program, tmp_path)
    with daemons.start(tmp_path, "--workers", "1", "--executors", "1", models=null_models, binary=tmp_path / BINARY.name) as daemon:
        other = tmp_path / "other"
        other.write_text("#!/bin/sh\nexit 1\n")
        other.chmod(0o755)
        other.replace(tmp_path / SERVER_PROGRAM.name)   # as an upgrade does
        end_executor(daemon)
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_a_libtorch_that_is_required_must_be_there():
    status, error = refused_start("--executors", "1", "--require-libtorch", "1.0")
    assert status == 1 and "1.0" in error


# --- an executor that dies ---

def test_speech_goes_on_where_it_was(contained):
    undisturbed = stream(contained)

    def kill(number):
        if number == 3:
            end_executor(contained)
    assert stream(contained, on_chunk=kill) == undisturbed
    metrics = contained.metrics()
    assert metrics.total("millrace_executor_deaths_total", cause="killed") >= 1
    assert metrics.total("millrace_requests_replayed_total") >= 1
    assert contained.http("/v2/health/ready")[0] == 200


def test_a_translation_ends_as_it_would_have(contained):
    request = translate_request(*[f"This is the long sentence number {n} of a text that is translated." for n in range(60)])
    undisturbed = contained.translation.Translate(request, timeout=PATIENCE)
    call = contained.translation.Translate.future(request, timeout=PATIENCE)
    eventually("it is under way", lambda: contained.running_forwards() > 0)
    end_executor(contained)
    assert call.result().translations == undisturbed.translations


def test_a_streamed_translation_goes_on_where_it_was(contained):
    request = translate_request(*[f"This is sentence number {n} of a text that is translated." for n in range(40)], partial=True)

    def pieces(on_piece):
        texts = {}
        for count, piece in enumerate(contained.translation.StreamTranslate(request, timeout=PATIENCE)):
            texts[piece.text_index] = texts.get(piece.text_index, "") + piece.text
            on_piece(count)
        return texts
    undisturbed = pieces(lambda count: None)
    assert len(undisturbed) == 40
    assert pieces(lambda count: end_executor(contained) if count == 5 else None) == undisturbed


def test_no_request_fails_while_executors_are_killed(contained):
    stop = threading.Event()
    failures, done = [], []

    def ask():
        while not stop.is_set():
            try:
                contained.kserve.ModelInfer(null_request(), timeout=PATIENCE)
                done.append(None)
            except grpc.RpcError as error:
                failures.append(f"{error.code().name}: {error.details()}")
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            end_executor(contained)
            before = len(done)
            eventually("the successor answers", lambda: len(done) >= before + 20, 30)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failures


def test_a_request_that_ends_two_executors_is_refused_and_no_other(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    gate = repository.Gate(models)

    def wait_request(value):
        tensor = kserve.ModelInferRequest.InferInputTensor(name="WAIT", datatype="FP32", shape=[1])
        return kserve.ModelInferRequest(model_name=gate.name, inputs=[tensor], raw_input_contents=[floats([value])])
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1", models=models) as daemon:
        poison = daemon.kserve.ModelInfer.future(wait_request(1.0), timeout=PATIENCE)
        for _ in range(2):
            wait_for_step(daemon)
            end_executor(daemon, signal.SIGSEGV)
        with pytest.raises(grpc.RpcError) as raised:
            poison.result()
        assert raised.value.code().name == "INTERNAL"
        assert "the request ended two executors of model 'gate' (signal SIGSEGV); crash executor-" in raised.value.details()
        assert_refused(daemon.kserve.ModelInfer, wait_request(1.0), "INVALID_ARGUMENT", "inputs: an equal request ended two executors")
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        daemon.kserve.ModelInfer(wait_request(0.0), timeout=PATIENCE)
        assert daemon.metrics().total("millrace_requests_convicted_total") == 1
        assert daemon.metrics().total("millrace_executor_deaths_total", cause="crash") == 2

        crash = raised.value.details().rpartition(" ")[2]
        [listed] = daemon.admin.ListConvictedRequests(admin.ListConvictedRequestsRequest(), timeout=PATIENCE).requests
        assert (listed.crash, listed.model, listed.refused_requests) == (crash, gate.name, 1)
        assert 3500 < listed.seconds_left <= 3600
        table = convicted(daemon)
        assert table.splitlines()[0].split() == ["CRASH", "MODEL", "MINUTES", "LEFT", "REFUSED"]
        row = table.splitlines()[1].split()
        assert (row[0], row[1], row[3]) == (crash, gate.name, "1")
        assert 58 < float(row[2]) <= 60
        assert json.loads(convicted(daemon, "--json"))["requests"][0]["crash"] == crash
        assert "crash: no convicted request has 'executor-1'" in convicted(daemon, "--clear", "executor-1", status=1)
        assert convicted(daemon, "--clear", crash) == "1 convicted request(s) cleared\n"
        again = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)   # it is let in, and runs
        eventually("it is under way", lambda: daemon.running_forwards() > 0)
        again.cancel()
        assert convicted(daemon).splitlines()[1:] == []
        assert "--clear" in convicted(daemon, "executor-1", status=2)


def test_an_executor_that_stands_still_is_replaced(tmp_path):
    with daemons.start(tmp_path, "--workers", "1", "--executors", "1", "--executor-step-timeout", "500ms",
                       models=repository.link(tmp_path / "models", NULL)) as daemon:
        os.kill(executors(daemon)[0], signal.SIGSTOP)
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        assert daemon.metrics().total("millrace_executor_deaths_total", cause="hang") >= 1   # a busy machine may hold up the next one too


def test_a_spare_takes_over_at_once(tmp_path):
    models = repository.link(tmp_path / "models", NULL, EN_PT, VOICE)
    gate = repository.Gate(models, in_warm_up=True)
    gate.open()
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1", "--spare-executors", "1", models=models) as daemon:
        gate.close()   # so that no successor gets ready
        undisturbed = stream(daemon)
        both = executors(daemon)
        assert len(both) == 2
        assert daemon.metrics().total("millrace_executors", state="spare") == 1
        assert daemon.http("/v2/health/ready") == (200, {"ready": True})
        busy = max(both, key=cpu_ticks)   # the spare one has only warmed up

        def kill(number):
            if number == 3:
                os.kill(busy, signal.SIGKILL)
        assert stream(daemon, on_chunk=kill) == undisturbed
        assert [pid for pid in both if pid in executors(daemon)] == [pid for pid in both if pid != busy]
        degraded = {"ready": True, "degraded": "0 of 1 spare executors are ready"}
        eventually("the server says that the spare one is missing", lambda: daemon.http("/v2/health/ready") == (200, degraded))
        assert daemon.http("/health")[1] == {"status": "degraded", "reason": degraded["degraded"]}
        assert daemon.metrics().total("millrace_server_degraded") == 1
        gate.open()
        eventually("the next spare one is ready", lambda: daemon.http("/v2/health/ready") == (200, {"ready": True}), 30)
        assert daemon.metrics().total("millrace_executors", state="spare") == 1


def test_an_executor_that_is_started_on_a_full_disk_speaks(tmp_path):
    with daemons.start(tmp_path, "--workers", "1", "--executors", "1", models=repository.link(tmp_path / "models", VOICE)) as daemon:
        undisturbed = stream(daemon)
        with limits.with_a_full_disk(daemon.process.pid):
            end_executor(daemon)
        assert stream(daemon) == undisturbed


def test_executors_are_recycled_without_a_failed_request(tmp_path):
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1", "--spare-executors", "1", "--executor-max-age", "1s",
                       models=repository.link(tmp_path / "models", NULL, VOICE)) as daemon:
        first = executors(daemon)
        undisturbed = stream(daemon)
        eventually("two were recycled", lambda: stream(daemon) != undisturbed or
                   daemon.metrics().total("millrace_executors_recycled_total") >= 2, 60)
        assert stream(daemon) == undisturbed
        metrics = daemon.metrics()
        assert metrics.total("millrace_executor_deaths_total") == 0
        assert metrics.total("millrace_requests_replayed_total") == 0
        assert not set(first) & set(executors(daemon))


def test_an_executor_whose_memory_grows_is_replaced_without_a_failed_request(tmp_path):
    """Its cache of speech grows with each text, which is larger than it may grow."""
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1", "--spare-executors", "1", "--executor-max-growth", "8MiB",
                       "--speech-cache-bytes", "1GiB", models=repository.link(tmp_path / "models", NULL, VOICE)) as daemon:
        first = executors(daemon)
        undisturbed = stream(daemon)
        numbers = itertools.count()

        def is_recycled():
            daemon.synthesis.Synthesize(speak_request(f"{next(numbers)}. {TEXT}", encoding=S16), timeout=PATIENCE)
            return daemon.metrics().total("millrace_executors_recycled_total") >= 1
        eventually("one was recycled", is_recycled, 120)
        assert stream(daemon) == undisturbed
        metrics = daemon.metrics()
        assert metrics.total("millrace_executor_deaths_total") == 0
        assert metrics.total("millrace_requests_replayed_total") == 0
        assert len(set(first) & set(executors(daemon))) == 1
        assert "the memory of an executor grows, so that a spare one will take its place executor=executor-" in daemon.log_text()


# --- the end ---

def test_executors_end_with_the_server_however_it_ends(tmp_path, null_models):
    for end in (signal.SIGKILL, signal.SIGTERM):
        with daemons.start(tmp_path, "--workers", "1", "--executors", "2", models=null_models) as daemon:
            children = executors(daemon)
            assert len(children) == 2
            os.kill(children[0], signal.SIGSTOP)   # it does not see the end of its connection
            daemon.process.send_signal(end)
            daemon.exit_status(20)
            eventually("the executors have ended", lambda: have_ended(children))


def test_requests_in_flight_end_before_the_server_does(tmp_path):
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1",
                       models=repository.link(tmp_path / "models", VOICE)) as daemon:
        undisturbed = stream(daemon)

        def stop(number):
            if number == 2:   # as a service manager does: to all processes
                daemon.terminate()
                os.kill(executors(daemon)[0], signal.SIGTERM)
        assert stream(daemon, on_chunk=stop) == undisturbed
        assert daemon.exit_status(20) == 0


def test_a_server_whose_executors_complete_nothing_any_more_ends(tmp_path, null_models):
    with daemons.start(tmp_path, "--workers", "1", "--executors", "1", "--executor-restart-limit", "2", models=null_models) as daemon:
        end_executor(daemon, signal.SIGSEGV)
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        end_executor(daemon, signal.SIGSEGV)   # it had completed a step
        end_executor(daemon, signal.SIGSEGV)
        os.kill(executors(daemon)[0], signal.SIGSEGV)
        assert daemon.exit_status(20) == 1
        assert ("the last 2 executors died, or could not be started, before they had completed a step (--executor-restart-limit)"
                in daemon.log_text())


def test_more_executors_than_memory_are_warned_of(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    for number in range(4):
        repository.Gate(models, f"huge-{number}")
        os.truncate(models / f"huge-{number}" / "1" / "model.pt", 1 << 36)   # takes no room on the disk
    with daemons.start(tmp_path, "--executors", "2", models=models) as daemon:
        assert "the models of so many processes may need more memory than there is processes=2 bytes_of_each=274877" in daemon.log_text()
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


@pytest.mark.parametrize(("options", "words"), [
    (("--executors", "9"), "allowed: 0..8"),
    (("--executors", "1", "--device", "cuda:0,cuda:1"), "--executors: 1 is not allowed, since --device names 2 card(s)"),
    (("--executor-step-timeout", "1ms"), "--executor-step-timeout"),
    (("--executor-restart-limit", "-1"), "--executor-restart-limit"),
    (("--executor-cpu-fallback", "true"), "--executor-cpu-fallback: there are no executors"),
    (("--spare-executors", "1"), "--spare-executors: there are no executors to replace"),
    (("--executors", "1", "--executor-max-growth", "64MiB"), "--executor-max-growth: needs --spare-executors of 1 or more"),
    (("--executors", "1", "--executor-max-age", "1h"), "--executor-max-age: needs --spare-executors of 1 or more"),
])
def test_settings_that_cannot_be(options, words):
    status, error = refused_start(*options)
    assert status != 0
    assert words in error


@pytest.mark.skipif(sys.platform == "darwin", reason="there is MPS")
def test_a_device_that_is_not_there_is_named_as_it_was_asked_for(tmp_path):
    status, error = refused_start("--executors", "2", "--device", "mps", models=repository.link(tmp_path / "models", NULL))
    assert status != 0
    assert "device = mps: is not available here" in error and "cuda:" not in error and "allowed are auto, cpu" in error


def test_an_executor_is_not_started_by_hand():
    ended = daemons.run("--as-executor", binary=SERVER_PROGRAM)
    assert ended.returncode == 1
    assert ended.stderr.decode() == "millrace: an executor is started by the server itself\n"
