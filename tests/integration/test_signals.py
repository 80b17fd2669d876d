"""Signals: what they do, whatever the daemon is at, and what the exit status says."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import threading
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import repository
from wire.certificates import Authority
from wire.metrics import scrape
from wire.paths import NULL
from wire.polling import eventually, stays
from wire.requests import PATIENCE, null_request
from wire.stubs import admin

# Longer than what a stop waits for a load that hangs, less than a test's patience.
BUSY_STOP_SECONDS = 10


@contextlib.contextmanager
def raw_daemon(folder, *options, models, **popen):
    """A `serve` that need not come up. Its log is a file unless `stderr` says otherwise."""
    ports = folder / "ports.json"
    with (folder / "raw.log").open("w") as log:
        process = subprocess.Popen([str(part) for part in (daemons.BINARY, *daemons.SERVE, "--models", models, "--port-file", ports,
                                                           *options)],
                                   **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "env": daemons.ENVIRONMENT} | popen)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def log_of(folder):
    return (folder / "raw.log").read_text()


# --- what the main thread is at does not matter ---

def test_stop_while_a_load_hangs(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    with daemons.start(tmp_path, models=models) as daemon:
        repository.Gate(models, "hangs", in_warm_up=True)
        load = daemon.admin.LoadModel.future(admin.LoadModelRequest(model="hangs"), timeout=PATIENCE)
        eventually("it warms up", lambda: "warming up model model=hangs" in daemon.log_text())
        start = time.monotonic()
        daemon.terminate()
        eventually("health says so", lambda: daemon.health() == "NOT_SERVING")
        assert daemon.exit_status(BUSY_STOP_SECONDS) == 0
        assert daemons.elapsed(start) < BUSY_STOP_SECONDS
        assert load.code() == grpc.StatusCode.UNAVAILABLE
        assert "stopped while a model was loaded" in daemon.log_text()


def test_stop_while_the_first_load_hangs(tmp_path):
    models = tmp_path / "models"
    repository.Gate(models, "hangs", in_warm_up=True)
    with raw_daemon(tmp_path, models=models) as process:
        eventually("it warms up", lambda: "warming up model model=hangs" in log_of(tmp_path), PATIENCE)
        process.terminate()
        assert process.wait(BUSY_STOP_SECONDS) == 0


def test_second_signal_while_a_load_hangs_ends_at_once(tmp_path):
    models = tmp_path / "models"
    repository.Gate(models, "hangs", in_warm_up=True)
    with raw_daemon(tmp_path, models=models) as process:
        eventually("it warms up", lambda: "warming up model model=hangs" in log_of(tmp_path), PATIENCE)
        process.terminate()
        # Of two signals that are pending, the one with the lower number arrives first.
        eventually("it takes the first", lambda: "stopping signal=15" in log_of(tmp_path), PATIENCE)
        process.send_signal(signal.SIGINT)
        assert process.wait(BUSY_STOP_SECONDS) == 128 + signal.SIGINT


def test_pipe_in_place_of_a_model_file_hangs_nothing(tmp_path):
    models = repository.link(tmp_path / "models", NULL)
    for name, file in [("config", "model.pbtxt"), ("weights", "model.pt")]:
        folder = repository.copy(models, NULL, name)
        (folder / file).unlink()
        os.mkfifo(folder / file)
    with daemons.start(tmp_path, models=models) as daemon:
        failed = {model.name: model.error for model in daemon.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE).models
                  if model.state == admin.MODEL_STATE_FAILED}
        assert set(failed) == {"config", "weights"}
        assert all("is not a regular file" in error for error in failed.values()), failed
        with pytest.raises(grpc.RpcError) as raised:
            daemon.admin.LoadModel(admin.LoadModelRequest(model="config"), timeout=PATIENCE)
        assert raised.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        daemon.terminate()
        assert daemon.exit_status(10) == 0


def test_log_that_nobody_reads_does_not_hold_up_the_stop(tmp_path, null_models):
    reader, writer = os.pipe()
    try:
        with raw_daemon(tmp_path, "--log-level", "debug", models=null_models, stdout=writer, stderr=writer) as process:
            ports = tmp_path / "ports.json"
            eventually("it serves", ports.exists, PATIENCE)
            channel = grpc.insecure_channel(f"127.0.0.1:{json.loads(ports.read_text())['grpc']}")
            stub = daemons.stubs.kserve_grpc.GRPCInferenceServiceStub(channel)
            for _ in range(1000):   # more lines than a pipe holds
                stub.ModelInfer(null_request(), timeout=PATIENCE)
            channel.close()
            process.terminate()
            assert process.wait(10) == 0
    finally:
        os.close(reader)
        os.close(writer)


# --- what callers see ---

@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_calls_that_a_stop_meets_end_as_unavailable(tmp_path, null_models, number):
    """Never as CANCELLED, which a client takes for its own doing."""
    with daemons.start(tmp_path, models=null_models) as daemon:
        codes, stop = [], threading.Event()

        def call_all_the_time():
            stub = daemons.stubs.kserve_grpc.GRPCInferenceServiceStub(daemon.connect())
            while not stop.is_set():
                calls = [stub.ModelInfer.future(null_request(), timeout=PATIENCE) for _ in range(16)]
                codes.extend(call.code() for call in calls)

        threads = [threading.Thread(target=call_all_the_time) for _ in range(4)]
        for thread in threads:
            thread.start()
        eventually("calls succeed", lambda: codes.count(grpc.StatusCode.OK) > 200)
        daemon.process.send_signal(number)
        assert daemon.exit_status(20) == 0
        stop.set()
        for thread in threads:
            thread.join()
        assert set(codes) == {grpc.StatusCode.OK, grpc.StatusCode.UNAVAILABLE}


# --- the exit status ---

@pytest.mark.parametrize("second, status", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_exit_status_tells_of_a_forced_stop(tmp_path, null_models, second, status):
    with daemons.start(tmp_path, "--drain-delay", "5m", models=null_models) as daemon:
        daemon.terminate()
        eventually("health says so", lambda: daemon.health() == "NOT_SERVING")
        daemon.process.send_signal(second)
        assert daemon.exit_status(BUSY_STOP_SECONDS) == status


# --- signals that do not stop ---

def test_user_signals_change_the_level_of_the_log(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        daemon.process.send_signal(signal.SIGUSR1)
        eventually("more is logged", lambda: "log level changed level=debug" in daemon.log_text())
        daemon.process.send_signal(signal.SIGUSR2)
        eventually("as much as before is logged", lambda: "as configured" in daemon.log_text())


def test_a_crash_says_so_with_the_version(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        daemon.process.send_signal(signal.SIGSEGV)
        assert daemon.exit_status(20) == -signal.SIGSEGV
        assert "crashed by signal SIGSEGV" in daemon.log_text()


def test_stray_signals_are_ignored(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE):
            daemon.process.send_signal(number)
        daemon.process.send_signal(signal.SIGHUP)
        eventually("it tells of the reload", lambda: "reloading keys and certificates" in daemon.log_text())
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        assert daemon.process.poll() is None


def test_hang_up_tells_of_bad_keys_and_certificates(tmp_path, null_models):
    authority = Authority(tmp_path, "authority")
    certificate, key = authority.issue("server")
    keys = tmp_path / "keys"
    keys.write_text("alice:user:" + "0" * 64 + "\n")
    with daemons.start(tmp_path, "--tls-cert", certificate, "--tls-key", key, "--api-keys", keys, models=null_models) as daemon:
        daemon.process.send_signal(signal.SIGHUP)
        eventually("all is well", lambda: "certificates are in order" in daemon.log_text())
        certificate.write_text("nonsense")
        daemon.process.send_signal(signal.SIGHUP)
        eventually("the mistake is named", lambda: f"{certificate}: holds no PEM certificate" in daemon.log_text())


def test_renewed_certificate_is_shown_soon_after_a_hang_up(tmp_path, null_models):
    old, new = Authority(tmp_path, "old"), Authority(tmp_path, "new")
    certificate, key = old.issue("server")
    with daemons.start(tmp_path, "--tls-cert", certificate, "--tls-key", key, models=null_models) as daemon:
        assert daemon.health(channel=daemon.connect(old.client())) == "SERVING"
        renewed = new.issue("renewed")
        renewed[1].rename(key)
        renewed[0].rename(certificate)
        daemon.process.send_signal(signal.SIGHUP)

        def accepted():
            try:
                return daemon.health(channel=daemon.connect(new.client())) == "SERVING"
            except grpc.RpcError:
                return False
        eventually("the new one is shown", accepted)


def test_program_in_the_foreground_ends_with_its_terminal(tmp_path, null_models):
    ports = tmp_path / "ports.json"
    terminal, its_side = pty.openpty()
    # Both programs become the next one. The tests themselves may run where SIGHUP is ignored.
    in_terminal = ["env", "--default-signal=HUP", "setsid", "--ctty"]
    command = [*in_terminal, daemons.BINARY, *daemons.SERVE, "--models", null_models, "--port-file", ports]
    process = subprocess.Popen([str(part) for part in command], stdin=its_side, stdout=its_side, stderr=its_side, env=daemons.ENVIRONMENT)
    os.close(its_side)
    try:
        eventually("it serves", ports.exists, PATIENCE)
        assert process.poll() is None
        os.close(terminal)   # as when the window is closed
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()


def test_program_without_a_terminal_outlives_a_hang_up(tmp_path, null_models):
    with raw_daemon(tmp_path, models=null_models, start_new_session=True) as process:
        ports = tmp_path / "ports.json"
        eventually("it serves", ports.exists, PATIENCE)
        process.send_signal(signal.SIGHUP)
        stays("it goes on", lambda: process.poll() is None, 0.5)
        assert scrape(json.loads(ports.read_text())["metrics"]).total("millrace_server_ready") == 1
