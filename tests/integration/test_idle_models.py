"""Models that leave the memory while nobody uses them, and come back with the next request."""

import contextlib
import signal

import grpc
import pytest
from wire import daemon as daemons
from wire import repository
from wire.polling import eventually, stays
from wire.requests import PATIENCE, assert_refused, floats
from wire.stubs import admin, kserve

READY, FAILED, AVAILABLE, IDLE = (admin.MODEL_STATE_READY, admin.MODEL_STATE_FAILED, admin.MODEL_STATE_AVAILABLE,
                                  admin.MODEL_STATE_IDLE)


def echo_request(model="echo"):
    """Two numbers for each of the inputs of repository.add_echo."""
    inputs = [kserve.ModelInferRequest.InferInputTensor(name="A", datatype="FP32", shape=[2]),
              kserve.ModelInferRequest.InferInputTensor(name="B", datatype="INT8", shape=[2, 1]),
              kserve.ModelInferRequest.InferInputTensor(name="C", datatype="FP16", shape=[1, 2])]
    return kserve.ModelInferRequest(model_name=model, inputs=inputs, raw_input_contents=[floats([1, 2]), b"\1\2", b"\0\0\0\0"])


def states(daemon):
    answer = daemon.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE)
    return {model.name: model.state for model in answer.models}


def wait_for(daemon, model, state):
    eventually(f"{model} is {admin.ModelState.Name(state)}", lambda: states(daemon)[model] == state)


def wait_for_metric(daemon, name, value, **labels):
    eventually(f"{name} is {value}", lambda: daemon.metrics().total(name, **labels) == value)


def wait_for_request(daemon, count=1):
    wait_for_metric(daemon, "millrace_requests_waiting_for_load", count)


@contextlib.contextmanager
def idle_gate(folder, *options):
    """A daemon whose model "gate" is idle, and whose next load waits until the gate is opened."""
    models = folder / "models"
    repository.add_echo(models)
    gate = repository.Gate(models, in_warm_up=True)
    gate.open()
    # More than a model and less than two, so that a request for one unloads the other.
    budget = max(file.stat().st_size for file in models.glob("*/1/model.pt")) + 1
    with daemons.start(folder, "--workers", "2", "--model-memory-budget", budget, *options, models=models) as daemon:
        daemon.kserve.ModelInfer(echo_request(), timeout=PATIENCE)
        wait_for(daemon, gate.name, IDLE)
        gate.close()
        try:
            yield daemon, gate
        finally:
            gate.open()


# --- unloading and loading ---

def test_model_leaves_after_its_time_and_the_next_request_brings_it_back(tmp_path):
    repository.add_echo(tmp_path / "models")
    with daemons.start(tmp_path, "--unload-idle-after", "1s", models=tmp_path / "models") as daemon:
        for loads in (1, 2):
            wait_for_metric(daemon, "millrace_model_unloads_total", loads, reason="idle")
            assert states(daemon) == {"echo": IDLE}
            metrics = daemon.metrics()
            assert metrics.total("millrace_model_idle", model="echo") == 1
            assert metrics.total("millrace_model_memory_bytes", model="echo") == 0
            assert daemon.health("echo") == "SERVING"
            assert daemon.http("/v2/models/echo/ready")[0] == 200
            assert daemon.http("/v2/models/echo")[1]["inputs"][0]["name"] == "A"
            assert ("echo", "IDLE") in {(model["name"], model["state"]) for model in daemon.http("/v2/models")[1]["models"]}
            answer = daemon.kserve.ModelInfer(echo_request(), timeout=PATIENCE)
            assert answer.raw_output_contents[0] == floats([1, 2])
            wait_for_metric(daemon, "millrace_model_loads_on_demand_total", loads, outcome="ok")
            assert daemon.metrics().total("millrace_model_load_on_demand_seconds_total") > 0


def test_nothing_is_unloaded_unless_it_is_asked_for(tmp_path):
    repository.add_echo(tmp_path / "models")
    with daemons.start(tmp_path, models=tmp_path / "models") as daemon:
        stays("the model is ready", lambda: states(daemon) == {"echo": READY}, 3)
        assert daemon.metrics().total("millrace_model_unloads_total") == 0


def test_a_model_that_is_not_used_makes_room_for_one_that_is(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        assert states(daemon) == {"echo": READY, "gate": IDLE}
        assert daemon.metrics().total("millrace_model_memory_bytes", model="echo") > 0
        gate.open()
        daemon.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE)
        assert states(daemon) == {"echo": IDLE, "gate": READY}
        daemon.kserve.ModelInfer(echo_request(), timeout=PATIENCE)
        assert states(daemon) == {"echo": READY, "gate": IDLE}
        wait_for_metric(daemon, "millrace_model_unloads_total", 4, reason="memory")   # two of them before the gate was closed


def test_requests_that_wait_share_one_load_and_are_bounded_by_the_queue(tmp_path):
    with idle_gate(tmp_path, "--queue-size", "3") as (daemon, gate):
        calls = [daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=PATIENCE) for _ in range(3)]
        wait_for_request(daemon, 3)
        assert_refused(daemon.kserve.ModelInfer, gate.request(wait=False), "RESOURCE_EXHAUSTED", "queue", gate.name)
        assert daemon.health(gate.name) == "SERVING"
        gate.open()
        for call in calls:
            assert call.result(PATIENCE).model_name == gate.name
        wait_for_metric(daemon, "millrace_model_loads_on_demand_total", 2, outcome="ok")   # with echo's


def test_invalid_request_is_rejected_by_the_model_that_was_loaded_for_it(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        gate.open()
        wrong = gate.request(wait=False)
        wrong.inputs[0].name = "DOOR"
        assert_refused(daemon.kserve.ModelInfer, wrong, "INVALID_ARGUMENT", "DOOR")
        assert daemon.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE).model_name == gate.name


# --- callers that do not wait ---

def test_cancelled_and_late_callers_leave_while_their_model_is_loaded(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        cancelled = daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=PATIENCE)
        wait_for_request(daemon)
        late = daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=1)
        assert late.code() == grpc.StatusCode.DEADLINE_EXCEEDED
        cancelled.cancel()
        wait_for_request(daemon, 0)
        eventually("nothing is in flight", lambda: daemon.metrics().total("millrace_requests_in_flight") == 0)
        gate.open()
        assert daemon.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE).model_name == gate.name


# --- loads that fail ---

def test_load_that_fails_fails_who_waits_and_later_ones_load_again(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        gate.open()
        file = tmp_path / "models" / gate.name / "1" / "model.pt"
        whole = file.read_bytes()
        file.write_bytes(b"no archive")
        assert_refused(daemon.kserve.ModelInfer, gate.request(wait=False), "UNAVAILABLE", "'gate' was idle and could not be loaded")
        assert states(daemon)[gate.name] == FAILED
        assert daemon.health(gate.name) == "NOT_SERVING"
        metrics = daemon.metrics()
        assert metrics.total("millrace_model_loads_on_demand_total", outcome="failed") == 1
        assert metrics.total("millrace_model_load_failed", model=gate.name) == 1
        file.write_bytes(whole)

        def served():
            with contextlib.suppress(grpc.RpcError):
                return daemon.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE)
        assert eventually("the model is loaded again", served).model_name == gate.name
        assert daemon.health(gate.name) == "SERVING"


# --- what an administrator asks for ---

def test_model_that_was_unloaded_by_name_is_not_loaded_for_a_request(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        waits = daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=PATIENCE)
        wait_for_request(daemon)
        daemon.admin.UnloadModel(admin.UnloadModelRequest(model=gate.name), timeout=PATIENCE)
        assert waits.code() == grpc.StatusCode.NOT_FOUND
        assert "was unloaded while the request waited" in waits.details()
        assert_refused(daemon.kserve.ModelInfer, gate.request(wait=False), "NOT_FOUND", gate.name)
        gate.open()
        wait_for(daemon, gate.name, AVAILABLE)
        assert_refused(daemon.kserve.ModelInfer, gate.request(wait=False), "NOT_FOUND", gate.name)
        loaded = daemon.admin.LoadModel(admin.LoadModelRequest(model=gate.name), timeout=PATIENCE).model
        assert loaded.state == READY
        assert daemon.kserve.ModelInfer(gate.request(wait=False), timeout=PATIENCE).model_name == gate.name


def test_an_idle_model_may_be_loaded_by_name(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        gate.open()
        loaded = daemon.admin.LoadModel(admin.LoadModelRequest(model=gate.name), timeout=PATIENCE).model
        assert loaded.state == READY
        assert daemon.metrics().total("millrace_model_loads_on_demand_total") == 1   # echo's


# --- stopping ---

def test_stop_serves_who_waits_for_the_load_that_runs(tmp_path):
    with idle_gate(tmp_path) as (daemon, gate):
        waits = daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=PATIENCE)
        wait_for_request(daemon)
        daemon.terminate()
        eventually("the server is not ready", lambda: daemon.http("/v2/health/ready")[0] == 503)
        gate.open()
        assert waits.result(PATIENCE).model_name == gate.name
        assert daemon.exit_status(10) == 0


def test_stop_ends_although_a_load_hangs(tmp_path):
    with idle_gate(tmp_path, "--drain-timeout", "1s") as (daemon, gate):
        waits = daemon.kserve.ModelInfer.future(gate.request(wait=False), timeout=PATIENCE)
        wait_for_request(daemon)
        daemon.process.send_signal(signal.SIGTERM)
        assert waits.code() == grpc.StatusCode.UNAVAILABLE
        assert daemon.exit_status(20) == 0


# --- settings ---

@pytest.mark.parametrize(("setting", "value"), [
    ("--unload-idle-after", "-1s"), ("--unload-idle-after", "1000000000000000000s"), ("--unload-idle-after", "500ms"),
    ("--model-memory-budget", "-1"), ("--model-memory-budget", "1000000000000000000")])
def test_settings_out_of_range_are_named_with_what_is_allowed(tmp_path, setting, value):
    status, message = daemons.refused_start(f"{setting}={value}", models=tmp_path)
    assert status in (1, 2)
    assert setting in message and value in message and "allowed" in message
