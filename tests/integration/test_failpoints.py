"""The programs that serve with executors, as they fail on purpose at places of their own (tests/fakes/failpoints)."""

import concurrent.futures
import os
import pathlib

import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import Daemon
from wire.executors import executors, have_ended
from wire.paths import BINARY, EN_PT, FRONT_PROGRAM, NULL, SERVER_PROGRAM, WITH_FAILPOINTS
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, refused, translate_request

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the programs with failpoints are built on Linux only")

ONE_EXECUTOR = ("--workers", "2", "--executors", "1")


def start(folder: pathlib.Path, failpoints: str, *options: str, models: pathlib.Path):
    return daemons.start(folder, *ONE_EXECUTOR, *options, models=models, binary=WITH_FAILPOINTS, FAILPOINTS=failpoints)


def deaths(daemon: Daemon) -> dict[str, int]:
    return {labels["cause"]: int(count) for labels, count in daemon.metrics().matching("millrace_executor_deaths_total") if count}


def test_the_shipped_programs_have_none():
    for program in (BINARY, SERVER_PROGRAM, FRONT_PROGRAM):
        assert b"FAILPOINTS" not in program.read_bytes()
    for program in (WITH_FAILPOINTS, WITH_FAILPOINTS.with_name(SERVER_PROGRAM.name)):
        assert b"FAILPOINTS" in program.read_bytes()


@pytest.mark.parametrize(("failpoint", "cause", "how"), [
    ("executor.forward=segv", "crash", "signal SIGSEGV"),
    ("executor.forward=abort", "crash", "signal SIGABRT"),
    ("executor.forward=hang", "hang", "a step took too long"),
    ("executor.forward=sticky", "exit", "exit status 1"),
    ("executor.answer=garbage", "protocol", "a message does not begin as a frame does"),
    ("executor.answer=throw", "exit", "exit status 1"),
    ("front.step=garbage", "exit", "exit status 1"),
])
def test_a_request_whose_step_ends_two_executors_is_convicted(tmp_path, null_models, failpoint, cause, how):
    with start(tmp_path, failpoint, "--executor-step-timeout", "500ms", models=null_models) as daemon:
        error = refused(daemon.kserve.ModelInfer, null_request())
        assert error.code().name == "INTERNAL"
        assert f"the request ended two executors of model 'null' ({how}); crash executor-" in error.details()
        assert deaths(daemon) == {cause: 2}
        assert refused(daemon.kserve.ModelInfer, null_request()).code().name == "INVALID_ARGUMENT"
        assert daemon.process.poll() is None


@pytest.mark.parametrize(("failpoint", "words"), [
    ("executor.forward=throw", "failpoint executor.forward"),
    ("executor.forward=oom", "std::bad_alloc"),
    ("front.step=throw", "failpoint front.step"),
    ("front.results=oom", "std::bad_alloc"),
])
def test_what_is_thrown_fails_its_request_alone(tmp_path, null_models, failpoint, words):
    with start(tmp_path, failpoint, models=null_models) as daemon:
        for _ in range(2):
            error = refused(daemon.kserve.ModelInfer, null_request())
            assert error.code().name == "INTERNAL" and words in error.details()
        # A front that failed may have sent half a message, so it ends the executor.
        expected = {} if failpoint.startswith("executor") else {"killed": 2}
        eventually("the executors have ended", lambda: deaths(daemon) == expected)


def test_an_executor_that_no_longer_answers_is_replaced(tmp_path, null_models):
    with start(tmp_path, "executor.ping=hang", models=null_models) as daemon:
        eventually("it was killed", lambda: deaths(daemon).get("silent", 0) >= 1, 30)
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_a_model_that_ends_its_executors_while_it_is_loaded_fails_to_load(tmp_path, null_models):
    status, error = daemons.refused_start(*ONE_EXECUTOR, models=null_models, binary=WITH_FAILPOINTS, FAILPOINTS="executor.load=segv")
    assert status == 1
    assert "an executor died while it loaded model 'null': signal SIGSEGV" in error


@pytest.mark.parametrize("fault", ["segv", "abort"])
def test_executors_end_with_a_front_that_crashes(tmp_path, null_models, fault):
    with start(tmp_path, f"front.step={fault}", models=null_models) as daemon:
        children = executors(daemon)
        assert len(children) == 1
        assert refused(daemon.kserve.ModelInfer, null_request()).code().name == "UNAVAILABLE"
        daemon.exit_status(20)
        eventually("the executors have ended", lambda: have_ended(children))


def test_requests_of_a_step_whose_results_were_lost_have_no_gap(tmp_path):
    models = repository.link(tmp_path / "models", NULL, EN_PT)
    request = translate_request(*[f"This is the long sentence number {n} of a text." for n in range(12)])
    outcomes = {"OK": 0, "INTERNAL": 0}

    def translate(daemon: Daemon) -> str:
        call = daemon.translation.Translate.future(request, timeout=PATIENCE)
        code = call.code().name
        assert code == "INTERNAL" or [text.text for text in call.result().translations] == expected
        return code
    with daemons.start(tmp_path, models=models) as daemon:
        expected = [text.text for text in daemon.translation.Translate(request, timeout=PATIENCE).translations]
    with start(tmp_path, "front.results=throw:0.05", models=models) as daemon, concurrent.futures.ThreadPoolExecutor(8) as pool:
        for code in pool.map(translate, [daemon] * 60):
            outcomes[code] += 1
    assert outcomes["OK"] > 0
