"""Models that are loaded, unloaded, replaced and idle while executors die."""

import os
import pathlib
import signal

import grpc
import pytest
from wire import collector as collectors
from wire import daemon as daemons
from wire import repository
from wire.collector import attributes
from wire.executors import end_executor, executors
from wire.paths import EN_PT, NULL
from wire.polling import eventually
from wire.requests import PATIENCE, assert_refused, null_request, translate_request
from wire.stubs import admin
from wire.traces import SOON, check_children, of_trace, parent

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="executors are found by /proc")


def load(daemon, model):
    return daemon.admin.LoadModel(admin.LoadModelRequest(model=model), timeout=PATIENCE)


def load_later(daemon, model):
    return daemon.admin.LoadModel.future(admin.LoadModelRequest(model=model), timeout=PATIENCE)


def state(daemon, model):
    answer = daemon.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE)
    return next((admin.ModelState.Name(one.state) for one in answer.models if one.name == model), None)


def in_warm_up(daemon, gate):
    """Whether an executor waits for the gate."""
    return any(f"{gate.name}-1.gate" in pathlib.Path(f"/proc/{pid}/maps").read_text() for pid in executors(daemon))


def kill(daemon, how=signal.SIGKILL):
    """Ends the only executor, and waits for the process of its successor."""
    [before] = executors(daemon)
    os.kill(before, how)
    eventually("there is a successor", lambda: (now := executors(daemon)) and now != [before])


@pytest.fixture(scope="module")
def contained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("executor_models")
    models = repository.link(folder / "models", NULL, EN_PT)
    with daemons.start(folder, "--workers", "2", "--executors", "1", models=models) as running:
        running.models_folder = models
        yield running


@pytest.fixture
def gate(contained, request):
    """A model that is being loaded for as long as a test wants; it is not loaded yet."""
    gate = repository.Gate(contained.models_folder, f"gate-{request.node.name}", in_warm_up=True)
    yield gate
    gate.open()


def test_a_load_goes_on_in_the_successor_and_others_do_not_wait_for_it(contained, gate):
    loaded = load_later(contained, gate.name)
    for _ in range(2):
        eventually("it is being loaded", lambda: in_warm_up(contained, gate))
        kill(contained)
        contained.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        contained.translation.Translate(translate_request("Good morning."), timeout=PATIENCE)
        assert state(contained, gate.name) == "MODEL_STATE_LOADING"
    gate.open()
    assert loaded.result().model.state == admin.MODEL_STATE_READY
    contained.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE)


def test_a_load_that_ends_its_executor_fails_alone(contained, gate):
    """What ends two executors, since the first death may have had another cause."""
    loaded = load_later(contained, gate.name)
    for _ in range(2):
        eventually("it is being loaded", lambda: in_warm_up(contained, gate))
        kill(contained, signal.SIGSEGV)
    with pytest.raises(grpc.RpcError) as raised:
        loaded.result()
    assert raised.value.code().name == "INTERNAL"
    assert raised.value.details() == f"an executor died while it loaded model '{gate.name}': signal SIGSEGV"
    assert state(contained, gate.name) == "MODEL_STATE_FAILED"
    assert_refused(contained.kserve.ModelInfer, gate.request(), "NOT_FOUND", gate.name)
    contained.kserve.ModelInfer(null_request(), timeout=PATIENCE)
    gate.open()
    load(contained, gate.name)
    contained.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE)


def test_a_model_is_unloaded_while_its_executor_dies(contained):
    for how in (signal.SIGKILL, signal.SIGSEGV):
        os.kill(executors(contained)[0], how)
        contained.admin.UnloadModel(admin.UnloadModelRequest(model=NULL), timeout=PATIENCE)
        assert_refused(contained.kserve.ModelInfer, null_request(), "NOT_FOUND", NULL)
        contained.translation.Translate(translate_request("Good morning."), timeout=PATIENCE)   # the successor has the others
        load(contained, NULL)
        contained.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_requests_end_on_the_version_that_they_began_on(contained):
    """A new version is loaded, and the executor dies, while a request is under way on the old one."""
    gate = repository.Gate(contained.models_folder, "versions")
    load(contained, gate.name)
    begun = contained.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("it is under way", lambda: contained.running_forwards() > 0)
    repository.Gate(contained.models_folder, gate.name, version=2)
    load(contained, gate.name)
    end_executor(contained)
    eventually("it is under way again", lambda: contained.running_forwards() > 0)
    gate.open()
    assert begun.result().model_version == "1"
    assert contained.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE).model_version == "2"


def test_idle_models_come_back_in_the_successor(tmp_path):
    models = tmp_path / "models"
    repository.link(models, NULL)
    gate = repository.Gate(models, in_warm_up=True)
    gate.open()
    with daemons.start(tmp_path, "--workers", "2", "--executors", "1", "--unload-idle-after", "1s", models=models) as daemon:
        eventually("both are idle", lambda: {state(daemon, NULL), state(daemon, gate.name)} == {"MODEL_STATE_IDLE"})
        end_executor(daemon)
        assert {state(daemon, NULL), state(daemon, gate.name)} == {"MODEL_STATE_IDLE"}
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        gate.close()
        waits = daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=PATIENCE)
        eventually("it waits for its model", lambda: daemon.metrics().total("millrace_requests_waiting_for_load") == 1)
        kill(daemon)
        gate.open()
        waits.result()
        assert daemon.metrics().total("millrace_model_loads_on_demand_total", outcome="failed") == 0


def test_a_request_that_runs_again_has_one_trace(tmp_path):
    with collectors.by_grpc() as collector, daemons.start(
            tmp_path, "--workers", "1", "--executors", "1", "--trace-endpoint", collector.url, "--trace-protocol", "grpc",
            models=repository.link(tmp_path / "models", NULL, EN_PT), **SOON) as daemon:
        header, trace, span = parent()
        request = translate_request(*[f"This is the long sentence number {n} of a text that is translated." for n in range(60)])
        call = daemon.translation.Translate.future(request, metadata=[("traceparent", header)], timeout=PATIENCE)
        eventually("it is under way", lambda: daemon.running_forwards() > 0)
        end_executor(daemon)
        assert len(call.result().translations) == 60
        assert daemon.metrics().total("millrace_requests_replayed_total") == 1
        spans = collector.trace(of_trace(trace))
        check_children(spans)
        assert spans[0].parent_span_id == span
        assert attributes(spans[0])["rpc.response.status_code"] == "OK"
        assert sum(one.name == "forward" for one in spans) > 1
