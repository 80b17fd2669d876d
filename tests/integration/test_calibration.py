"""`millrace calibrate`, and what `serve` makes of the safety profile that it writes."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess

import grpc
import pytest
from test_starting import without_privileges
from wire import daemon as daemons
from wire import repository
from wire.paths import BINARY, ENVIRONMENT, NULL
from wire.polling import eventually
from wire.requests import PATIENCE, null_request
from wire.stubs import admin

# One run is a process with libtorch in it: a second, or several on a busy machine.
MINUTES = 300
TINY = ["--device", "cpu", "--repeats", "1", "--max-threads", "2"]
OPERATORS = ["matmul", "linear", "conv1d", "layer_norm", "softmax", "gelu"]

linux_only = pytest.mark.skipif(os.uname().sysname != "Linux", reason="finds the child processes in /proc")
two_cores = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2 if hasattr(os, "sched_getaffinity") else os.cpu_count() < 2,
                               reason="on one core one forward at once is all there is")


def calibrate(models, output, *options, under=(), **environment):
    return daemons.run("calibrate", "--models", models, "-o", output, *options, under=under, seconds=MINUTES, **environment)


@contextlib.contextmanager
def calibrating(models, output, *options):
    """A calibration that runs while the with block does."""
    command = [BINARY, "calibrate", "--models", models, "-o", output, *options]
    process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def partial(output):
    return output.with_name(output.name + ".partial")


def cells(output):
    """The finished cells in the journal."""
    lines = partial(output).read_text().splitlines() if partial(output).exists() else []
    return lines[1:]


def child_of(process):
    children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return next(iter(map(int, children.read_text().split())), None)


def gone(pid):
    return not pathlib.Path(f"/proc/{pid}").exists()


def write_model(root, name, forward):
    """A TorchScript model with one input of 4 floats."""
    folder = root / name / "1"
    folder.mkdir(parents=True)
    (folder / "model.pbtxt").write_text("""\
license: "CC0-1.0"
torchscript {
  file: "model.pt"
  inputs { name: "X" datatype: "FP32" shape: 4 }
  outputs { name: "Y" datatype: "FP32" shape: 4 }
}
""")
    repository.write_torchscript(folder / "model.pt", "def forward(self: __torch__.Module,\n  x: Tensor) -> Tensor:\n" + forward)


HANGS = """\
  going = True
  y = x
  while going:
    y = torch.add(x, y)
    going = bool(torch.lt(torch.min(y), 1000000.))
    y = torch.sin(y)
  return y
"""


@pytest.fixture(scope="session")
def measured(tmp_path_factory, null_models):
    """A profile of this machine with the null model, of one run each."""
    output = tmp_path_factory.mktemp("profile") / "p.json"
    ended = calibrate(null_models, output, *TINY)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout.decode(), json.loads(output.read_text())


@pytest.fixture
def profile(measured, tmp_path):
    """Writes the measured profile with changes; returns its path."""
    def write(change=lambda json: None):
        changed = json.loads(json.dumps(measured[1]))
        change(changed)
        path = tmp_path / "profile.json"
        path.write_text(json.dumps(changed))
        return path
    return write


def limiter(daemon):
    return daemon.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=PATIENCE).limiter


# --- calibrate ---

def test_measures_operators_and_models(measured):
    table, profile = measured
    assert [item["name"] for item in profile["operators"]] == OPERATORS
    [model] = profile["models"]
    assert (model["name"], model["version"], model["safe_concurrency"]) == (NULL, 1, 2)
    for item in profile["operators"] + profile["models"]:
        assert item["runs"] == [dict(threads=n, ok=1, wrong=0, error=0, crash=0, hang=0) for n in (1, 2)]
    assert profile["key"]["backend"] == "cpu" and profile["key"]["os"] == os.uname().sysname
    for name in [*OPERATORS, NULL]:
        [row] = [line for line in table.splitlines() if line.startswith((f"operator {name} ", f"model {name} "))]
        assert row.split()[2:] == ["ok", "ok", "2"]


def test_tells_wrong_answers_errors_and_hangs_apart(tmp_path):
    root = tmp_path / "models"
    write_model(root, "random", "  return torch.rand_like(x, dtype=None, layout=None, device=None, pin_memory=None, memory_format=None)\n")
    write_model(root, "throws", "  return torch.reshape(x, [7])\n")
    write_model(root, "endless", HANGS)
    output = tmp_path / "p.json"
    ended = calibrate(root, output, "--device", "cpu", "--repeats", "1", "--max-threads", "1", "--watchdog", "30s")
    assert ended.returncode == 0, ended.stderr.decode()
    models = {item["name"]: item for item in json.loads(output.read_text())["models"]}
    outcomes = {name: {key for key, count in item["runs"][0].items() if key != "threads" and count} for name, item in models.items()}
    assert outcomes == {"random": {"wrong"}, "throws": {"error"}, "endless": {"hang"}}
    assert all(item["safe_concurrency"] is None for item in models.values())
    assert "model throws, 1 thread: error" in ended.stderr.decode()


@linux_only
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_and_resumed(tmp_path, null_models, number):
    output = tmp_path / "p.json"
    with calibrating(null_models, output, *TINY) as process:
        eventually("three results", lambda: len(cells(output)) >= 3, MINUTES)
        child = eventually("a child process", lambda: child_of(process))
        process.send_signal(number)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 128 + number
        assert str(partial(output)) in error.decode() and "run the same command again" in error.decode()
        eventually("the child is gone", lambda: gone(child))
    assert not output.exists()
    done = len(cells(output))
    # As after a power cut in the middle of a line.
    with partial(output).open("a") as journal:
        journal.write('{"name":"gelu","thr')
    ended = calibrate(null_models, output, *TINY)
    lines = ended.stderr.decode().splitlines()
    assert ended.returncode == 0, lines
    assert f"{done} results are taken from {partial(output)}" in lines
    measured_now = [line for line in lines if " ok (" in line]
    assert len(measured_now) == 2 * (len(OPERATORS) + 1) - done
    assert len(json.loads(output.read_text())["operators"]) == len(OPERATORS)
    assert not partial(output).exists()


@linux_only
def test_child_killed_from_outside_counts_when_it_happens_twice(tmp_path):
    root = tmp_path / "models"
    write_model(root, "endless", HANGS)
    output = tmp_path / "p.json"
    options = ["--device", "cpu", "--repeats", "1", "--max-threads", "1"]
    with calibrating(root, output, *options) as process:
        eventually("the operators are done", lambda: len(cells(output)) == len(OPERATORS), MINUTES)
        first = eventually("a child process", lambda: child_of(process))
        os.kill(first, signal.SIGKILL)
        second = eventually("another one", lambda: (lambda pid: pid if pid != first else None)(child_of(process)))
        assert len(cells(output)) == len(OPERATORS)
        os.kill(second, signal.SIGKILL)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 0
    assert error.decode().count("ended from outside") == 2
    [model] = json.loads(output.read_text())["models"]
    assert model["runs"] == [dict(threads=1, ok=0, wrong=0, error=0, crash=1, hang=0)]


def test_full_disk_keeps_the_old_profile_and_what_is_done(tmp_path, null_models):
    output = tmp_path / "p.json"
    output.write_text("the old one")
    # Of 1 KiB: some results fit.
    ended = calibrate(null_models, output, *TINY, under=("sh", "-c", 'ulimit -f 2; exec "$@"', "sh"))
    assert ended.returncode == 1
    assert f"{partial(output)}: cannot be written: " in ended.stderr.decode()
    assert output.read_text() == "the old one"
    done = len(cells(output))
    assert done > 0
    again = calibrate(null_models, output, *TINY)
    assert again.returncode == 0
    assert " results are taken from " in again.stderr.decode()
    assert json.loads(output.read_text())["repeats"] == 1


def test_one_at_a_time(tmp_path, null_models):
    output = tmp_path / "p.json"
    with calibrating(null_models, output, *TINY):
        eventually("it has begun", partial(output).exists)
        ended = eventually("the other has the lock", lambda: (lambda e: e if e.returncode == 1 else None)(
            calibrate(null_models, output, *TINY)), MINUTES)
        assert "another calibration is writing it" in ended.stderr.decode()


def test_one_model_more_keeps_the_others(tmp_path, measured, profile):
    root = repository.link(tmp_path / "models", NULL)
    repository.copy(root, NULL, "second")
    path = profile()
    ended = calibrate(root, path, *TINY, "--model", "second")
    assert ended.returncode == 0, ended.stderr.decode()
    after = json.loads(path.read_text())
    assert {item["name"] for item in after["models"]} == {NULL, "second"}
    assert measured[1]["models"][0] in after["models"]


@pytest.mark.parametrize("options, words", [
    (["--model", "nowhere"], ["--model nowhere", "not in the repository"]),
    (["--device", "mps"], ["mps", "not available"]),
    (["--output", "/nonexistent/p.json"], ["/nonexistent/p.json.partial", "cannot be written"]),
])
def test_refuses_what_cannot_be(tmp_path, null_models, options, words):
    ended = daemons.run("calibrate", "--models", null_models, *options, cwd=tmp_path, MILLRACE_SAFETY_PROFILE="p.json")
    assert ended.returncode == 1
    assert all(word in ended.stderr.decode() for word in words), ended.stderr.decode()
    assert ended.stderr.decode().count("\n") == 1


# --- serve ---

def serve(tmp_path, models, path, *options, **more):
    return daemons.start(tmp_path, "--device", "cpu", "--safety-profile", path, *options, models=models, **more)


@two_cores
def test_serve_takes_its_permits_from_the_profile(tmp_path, null_models, profile):
    with serve(tmp_path, null_models, profile()) as daemon:
        assert (limiter(daemon).permits, limiter(daemon).source) == (2, "profile")
        assert "safety profile ignored" not in daemon.log_text()


def lower(profile):
    profile["models"][0]["safe_concurrency"] = 1


def test_lower_cap_lowers_the_permits(tmp_path, null_models, profile):
    path = profile(lower)
    with serve(tmp_path, null_models, path) as daemon:
        assert (limiter(daemon).permits, limiter(daemon).source) == (1, "profile")
        assert "permits_source=profile" in daemon.log_text() and 'limited_by="model null"' in daemon.log_text()
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_found_in_the_folder_of_the_models(tmp_path, profile):
    root = repository.link(tmp_path / "models", NULL)
    shutil.copy(profile(lower), root / "safety-profile.json")
    with daemons.start(tmp_path, "--device", "cpu", models=root) as daemon:
        assert (limiter(daemon).permits, limiter(daemon).source) == (1, "profile")


def test_more_than_the_profile_is_refused_without_the_flag(tmp_path, null_models, profile):
    path = profile(lower)
    more = ["--device", "cpu", "--safety-profile", path, "--max-in-flight", "2"]
    status, error = daemons.refused_start(*more, models=null_models)
    assert status == 1
    assert "max_in_flight = 2: allowed are 1..1 by the profile" in error
    with daemons.start(tmp_path, *more, "--i-accept-unsafe-concurrency", models=null_models) as daemon:
        assert (limiter(daemon).permits, limiter(daemon).source) == (2, "flag")


def another_device(profile):
    profile["key"]["device_name"] = "Apple M4 Max"


def huge_cap(profile):
    profile["operators"][0]["safe_concurrency"] = 10**9


@pytest.mark.parametrize("change, words", [
    (another_device, ["device_name is 'Apple M4 Max'"]),
    (huge_cap, ["operators[0].safe_concurrency: 1000000000: allowed is 1..31"]),
])
def test_profile_that_does_not_hold_is_ignored_with_a_warning(tmp_path, null_models, profile, change, words):
    assert_ignored(tmp_path, null_models, profile(change), words)


def test_corrupt_profile_is_ignored_with_a_warning(tmp_path, null_models, profile):
    path = profile()
    path.write_text(path.read_text()[:200])
    assert_ignored(tmp_path, null_models, path, ["is not JSON"])


def test_folder_in_place_of_the_profile(tmp_path, null_models):
    (tmp_path / "p").mkdir()
    assert_ignored(tmp_path, null_models, tmp_path / "p", ["is not a file"])


def test_profile_that_is_not_there(tmp_path, null_models):
    assert_ignored(tmp_path, null_models, tmp_path / "p", ["No such file"])


def test_profile_that_may_not_be_read(tmp_path, null_models, profile):
    path = profile()
    path.chmod(0)
    assert_ignored(tmp_path, null_models, path, ["Permission denied"], under=without_privileges())


def assert_ignored(tmp_path, models, path, words, **more):
    with serve(tmp_path, models, path, **more) as daemon:
        assert limiter(daemon).source == "policy"
        [warning] = [line for line in daemon.log_text().splitlines() if "safety profile" in line]
        assert " warning safety profile ignored: " in warning
        assert all(word in warning for word in [str(path), *words]), warning
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_no_profile_is_no_word(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        assert limiter(daemon).source == "policy"
        assert "safety profile" not in daemon.log_text()


@two_cores
def test_model_that_the_permits_could_break_is_not_loaded(tmp_path, profile):
    root = repository.link(tmp_path / "models", NULL)
    folder = repository.copy(tmp_path / "aside", NULL, "weak")
    path = tmp_path / "profile.json"
    assert calibrate(tmp_path / "aside", path, *TINY).returncode == 0
    weak = json.loads(path.read_text())["models"][0]
    weak["safe_concurrency"] = 1
    with serve(tmp_path, root, profile(lambda json: json["models"].append(weak))) as daemon:
        assert limiter(daemon).permits == 2
        shutil.copytree(folder.parent, root / "weak")
        with pytest.raises(grpc.RpcError) as error:
            daemon.admin.LoadModel(admin.LoadModelRequest(model="weak"), timeout=PATIENCE)
        assert error.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        assert "2 forwards at once" in error.value.details() and "survives 1 at once" in error.value.details()
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_check_tells_of_the_profile(tmp_path, null_models, profile):
    def check(path):
        ended = daemons.run("check", "--device", "cpu", "--models", null_models, "--safety-profile", path)
        return ended.returncode, ended.stdout.decode()
    path = profile(lower)
    status, said = check(path)
    assert status == 0 and f"ok      safety profile {path}: 1 forwards at once" in said
    path.write_text("{")
    status, said = check(path)
    # serve would start all the same.
    assert status == 0 and "warning safety profile ignored" in said
