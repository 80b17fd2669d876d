"""Starts that must fail, each with one message that says what is wrong, and starts that go on without the broken part."""

import json
import math
import os
import pathlib
import shutil
import socket
import sys

import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import refused_start, run
from wire.paths import EN_PT, MODELS, NULL
from wire.requests import PATIENCE, assert_refused, null_request, translate_request
from wire.stubs import admin


def assert_fails(*options, status=1, words=(), **settings):
    """`serve` ends with this status and these words on standard error, in a line of its own."""
    code, said = refused_start(*options, **settings)
    assert code == status, f"ended with {code}: {said}"
    for word in words:
        assert word in said, f"{word!r} is not in: {said}"
    assert any(line.startswith("millrace: ") for line in said.splitlines()), said


# --- addresses ---

@pytest.mark.parametrize("option", ["--grpc-address", "--http-address", "--metrics-address", "--wyoming-address"])
def test_port_in_use(null_models, option):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert_fails(option, address, models=null_models, words=[address])


def test_port_of_another_daemon(tmp_path, null_models):
    """Also where both would allow to share it."""
    with daemons.start(tmp_path, models=null_models) as first:
        for name, option in [("grpc", "--grpc-address"), ("http", "--http-address"), ("metrics", "--metrics-address")]:
            address = f"127.0.0.1:{first.ports[name]}"
            assert_fails(option, address, models=null_models, words=[address])
        first.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def test_address_that_is_not_ours(null_models):
    assert_fails("--grpc-address", "203.0.113.1:0", "--insecure", models=null_models, words=["203.0.113.1:0", "--grpc-address"])


@pytest.mark.parametrize("option", ["--grpc-address", "--http-address", "--metrics-address", "--wyoming-address"])
@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "*", "192.168.1.1"])
def test_address_beyond_this_machine_without_tls(null_models, option, host):
    assert_fails(option, f"{host}:0", models=null_models, status=2, words=[option, f"{host}:0", "--insecure"])


def test_insecure_allows_it(tmp_path, null_models):
    with daemons.start(tmp_path, "--grpc-address", "0.0.0.0:0", "--insecure", models=null_models) as daemon:
        assert daemon.health() == "SERVING"
        assert " warning AdminService is open: everyone who reaches 0.0.0.0:0" in daemon.log_text()


def test_http_and_metrics_can_be_switched_off(tmp_path, null_models):
    with daemons.start(tmp_path, "--http-address", "off", "--metrics-address", "off", models=null_models) as daemon:
        assert (daemon.ports["http"], daemon.ports["metrics"]) == (0, 0)
        assert daemon.health() == "SERVING"


def test_it_serves_with_standard_streams_that_are_closed(tmp_path, null_models):
    """Nothing else gets their numbers, and with them what is written there."""
    with daemons.start(tmp_path, models=null_models, under=("sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-')) as daemon:
        assert daemon.health() == "SERVING"


def test_port_file_that_cannot_be_written(null_models):
    assert_fails("--port-file", "/nonexistent/ports", models=null_models, words=["--port-file", "/nonexistent/ports"])


def test_port_file_replaces_no_pipe_and_no_device(tmp_path, null_models):
    os.mkfifo(tmp_path / "pipe")
    assert_fails("--port-file", tmp_path / "pipe", models=null_models, words=["--port-file", "pipe: is not a file"])
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.parametrize("options", [("--port-file", "/nonexistent/ports"), ("--workers", "99"), ("--queue-sise", "3")],
                         ids=["later", "wrong value", "wrong name"])
def test_failed_start_ends_with_json_where_the_log_is_json(null_models, options):
    code, said = refused_start("--log-format", "json", *options, models=null_models)
    assert code != 0
    last = [json.loads(line) for line in said.splitlines()][-1]
    assert last["level"] == "error" and options[0] in last["message"]


def test_slow_start_says_what_it_is_doing(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        lines = daemon.log_text()
        for step in ["loading model model=null version=1", "warming up model model=null", "starting workers workers="]:
            assert step in lines


# --- what it was told ---

@pytest.mark.parametrize("options, words", [
    (["--queue-sise", "3"], ["--queue-sise", "--queue-size"]),
    (["--workers", "-1"], ["--workers", "0..31"]),
    (["--workers", "32"], ["--workers", "0..31"]),
    (["--workers", "many"], ["--workers", "'many'", "0..31"]),
    (["--device", "tpu"], ["--device", "'tpu'", "cpu", "cuda", "mps"]),
    (["--mode", "fast"], ["--mode", "parallel", "encode-lock", "serial"]),
    (["--graph-cache", "freeze"], ["--graph-cache", "'freeze'", "grow", "frozen"]),
    (["--graph-cache-new-shape", "compile"], ["--graph-cache-new-shape", "'compile'", "eager", "refuse"]),
    (["--graph-cache-new-shape", "refuse"], ["--graph-cache-new-shape", "refuse", "--graph-cache frozen"]),
    (["--graph-cache-entries", "0"], ["--graph-cache-entries", "'0'", "1..1000000"]),
    (["--drain-timeout", "5"], ["--drain-timeout", "'5'", "5s"]),
    (["--max-message-bytes", "1TB"], ["--max-message-bytes", "1TB", "MiB"]),
    (["--grpc-address", "nonsense"], ["--grpc-address", "'nonsense'", "host:port"]),
    (["--grpc-address", "127.0.0.1:70000"], ["--grpc-address", "65535"]),
    (["--cpu-isa", "avx3"], ["--cpu-isa", "'avx3'", "auto, portable, avx2, avxvnni, avx512, amx, neon"]),
    (["--log-level", "loud"], ["--log-level", "info", "debug"]),
    (["--tls-cert", "x.pem"], ["--tls-cert", "--tls-key"]),
    (["--tls-client-ca", "x.pem"], ["--tls-client-ca", "--tls-cert"]),
    (["--config", "/nonexistent.toml"], ["--config", "/nonexistent.toml"]),
    (["extra"], ["extra"]),
], ids=lambda value: " ".join(value) if isinstance(value, list) and value[0].startswith("-") else "")
def test_wrong_flag_is_refused_by_name(options, words):
    assert_fails(*options, status=2, words=words)


@pytest.mark.parametrize("name, value, words", [
    ("MILLRACE_QUEUE_SISE", "3", ["MILLRACE_QUEUE_SISE", "MILLRACE_QUEUE_SIZE"]),
    ("MILLRACE_WORKERS", "99", ["MILLRACE_WORKERS", "'99'", "0..31"]),
    ("MILLRACE_CPU_ISA", "avx3", ["MILLRACE_CPU_ISA", "'avx3'", "auto, portable, avx2, avxvnni, avx512, amx, neon"]),
])
def test_wrong_environment_variable_is_refused_by_name(name, value, words):
    assert_fails(status=2, words=words, **{name: value})


@pytest.mark.parametrize("text, words", [
    ('queue_sise = 3\n', [":1", "queue_sise", "queue_size"]),
    ('\nworkers = 99\n', [":2", "workers", "99", "0..31"]),
    ('workers = [1]\n', [":1", "workers"]),
    ('[server]\nworkers = 1\n', [":1", "server"]),
    ('workers = \n', [":1"]),
], ids=["unknown key", "value", "kind", "section", "syntax"])
def test_wrong_toml_is_refused_by_file_line_and_key(tmp_path, text, words):
    file = tmp_path / "millrace.toml"
    file.write_text(text)
    assert_fails("--config", file, status=2, words=[str(file), *words])


def test_flag_wins_over_variable_and_variable_over_file(tmp_path):
    file = tmp_path / "millrace.toml"
    file.write_text("workers = 3\nqueue_size = 30\nmax_connections = 300\n")
    shown = run("serve", "--print-config", "--workers", "5", "--config", file, MILLRACE_WORKERS="4", MILLRACE_QUEUE_SIZE="40")
    text = shown.stdout.decode()
    assert shown.returncode == 0
    for line in ["workers = 5  # flag --workers", "queue_size = 40  # env MILLRACE_QUEUE_SIZE",
                 f"max_connections = 300  # file {file}:3"]:
        assert line in text


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="which devices there are is known for the CPU build only")
def test_device_that_is_not_there(null_models):
    assert_fails("--device", "mps", models=null_models, words=["mps"])


def test_libtorch_of_another_version(null_models):
    assert_fails("--require-libtorch", "1.13", models=null_models, words=["1.13", "libtorch"])


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="has other instruction sets")
@pytest.mark.parametrize("isa, aten", [("portable", "DEFAULT"), ("avx2", "AVX2")])
def test_instruction_set_of_kernels_and_libraries_is_limited(tmp_path, null_models, isa, aten):
    with daemons.start(tmp_path, "--cpu-isa", isa, models=null_models) as daemon:
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        assert daemon.metrics().total("millrace_build_info", cpu_isa=isa) == 1
        assert f"cpu_isa={isa}" in daemon.log_text() and f"cpu_capability={aten} " in daemon.log_text()


def test_instruction_set_of_another_architecture(null_models):
    foreign = "neon" if os.uname().machine == "x86_64" else "avx2"
    assert_fails("--cpu-isa", foreign, models=null_models, words=["cpu-isa", f"no {foreign}", "the greatest below it that it has"])
    assert_fails(models=null_models, words=["cpu-isa", f"no {foreign}", "the greatest below it that it has"], MILLRACE_CPU_ISA=foreign)


def test_instruction_set_that_the_processor_lacks(null_models):
    have = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    lacks = next((isa for isa, flag in (("avx2", "avx2"), ("avxvnni", "avx_vnni"), ("avx512", "avx512bw"), ("amx", "amx_tile")) if flag not in have), None)
    if lacks is None:
        pytest.skip("this processor has all of them")
    assert_fails("--cpu-isa", lacks, models=null_models, words=["cpu-isa", f"no {lacks}", "the greatest below it that it has"])
    ended = run("check", "--cpu-isa", lacks, "--models", null_models)
    assert ended.returncode == 1 and f"no {lacks}" in ended.stdout.decode()


def test_frozen_graph_cache_has_no_effect_on_the_cpu(tmp_path, null_models):
    with daemons.start(tmp_path, "--device", "cpu", "--graph-cache", "frozen", "--graph-cache-new-shape", "refuse",
                       models=null_models) as daemon:
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        assert daemon.metrics().total("millrace_graph_cache_new_shapes_total") == 0
        assert "--graph-cache frozen has no effect" in daemon.log_text()


# --- the model repository ---

def test_no_such_folder(tmp_path):
    assert_fails(models=tmp_path / "nowhere", words=[str(tmp_path / "nowhere"), "no such folder"])


def test_models_is_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    assert_fails(models=tmp_path / "file", words=[str(tmp_path / "file"), "not a folder"])


def test_empty_folder(tmp_path):
    assert_fails(models=tmp_path, words=[str(tmp_path), "<model>/<version>/model.pbtxt"])


def test_loop_of_links(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert_fails(models=tmp_path / "a", words=[str(tmp_path / "a"), "cannot be read"])


def without_privileges():
    """root may read everything, so it has to give that up for a test of what may not be read."""
    if not daemons.is_root():
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("runs as root and there is no setpriv")
    return ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


def test_unreadable_folder(tmp_path):
    root = repository.link(tmp_path / "models", NULL)
    root.chmod(0)
    try:
        assert_fails(models=root, under=without_privileges(), words=[str(root), "cannot be read", "Permission denied"])
    finally:
        root.chmod(0o755)


def test_unreadable_weights_fail_that_model_alone(tmp_path):
    root = repository.link(tmp_path / "models", NULL)
    weights = repository.copy(root, EN_PT, EN_PT) / "weights.safetensors"
    weights.chmod(0)
    with daemons.start(tmp_path, models=root, under=without_privileges()) as daemon:
        [broken] = [model for model in models_of(daemon) if model.name == EN_PT]
        assert broken.state == admin.MODEL_STATE_FAILED
        assert str(weights) in broken.error and "Permission denied" in broken.error
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)


def models_of(daemon):
    return daemon.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE).models


def test_broken_models_leave_the_others_in_service(tmp_path):
    """A corrupt weight file, a typo in a config and a missing file: the rest serves, and each is listed with its mistake."""
    root = repository.link(tmp_path / "models", NULL, EN_PT)
    weights = (MODELS / EN_PT / "1" / "weights.safetensors").read_bytes()
    repository.copy(root, EN_PT, "corrupt", weights_safetensors=weights[:100_000])
    repository.copy(root, NULL, "typo", model_pbtxt=b'licence: "CC0-1.0"\n')
    (repository.copy(root, NULL, "missing") / "model.pt").unlink()
    with daemons.start(tmp_path, models=root) as daemon:
        failed = {model.name: model.error for model in models_of(daemon) if model.state == admin.MODEL_STATE_FAILED}
        assert set(failed) == {"corrupt", "typo", "missing"}
        assert "weights.safetensors" in failed["corrupt"]
        assert "model.pbtxt:1:" in failed["typo"] and "licence" in failed["typo"]
        assert "model.pt" in failed["missing"]
        assert {model["name"]: model["state"] for model in daemon.http("/v2/models")[1]["models"]} == {
            NULL: "READY", EN_PT: "READY", "corrupt": "FAILED", "typo": "FAILED", "missing": "FAILED"}
        assert daemon.http("/v2/models/corrupt/ready")[0] == 503
        assert daemon.translation.Translate(translate_request("Hello."), timeout=PATIENCE).translations[0].text
        assert_refused(daemon.translation.Translate, translate_request("Hello.", model="corrupt"), "NOT_FOUND", "corrupt")
        logged = [line for line in daemon.log_text().splitlines() if "model not loaded" in line]
        assert all(any(f"model={name} " in line for line in logged) for name in failed)


def test_files_that_are_too_large_fail_their_model_alone(tmp_path):
    """Without being read, and without the memory that they ask for."""
    root = repository.link(tmp_path / "models", NULL)
    with (repository.copy(root, EN_PT, "vocabulary") / "vocab.spm").open("r+b") as file:
        file.truncate(10 << 30)   # it takes no place
    text = (MODELS / NULL / "1" / "model.pbtxt").read_bytes()
    assert b"shape: 64" in text
    repository.copy(root, NULL, "shape", model_pbtxt=text.replace(b"shape: 64", b"shape: 100000000000", 1))
    with daemons.start(tmp_path, models=root) as daemon:
        failed = {model.name: model.error for model in models_of(daemon) if model.state == admin.MODEL_STATE_FAILED}
        assert set(failed) == {"vocabulary", "shape"}
        assert "vocab.spm: has 10737418240 bytes, a vocabulary_file may have at most 67108864" in failed["vocabulary"]
        for word in ["model.pbtxt:", "torchscript.inputs[0].shape", "100000000000", "268435456"]:
            assert word in failed["shape"]
        metrics = daemon.metrics()
        assert metrics.total("process_resident_memory_bytes") < 2e9
        assert {model: metrics.total("millrace_model_load_failed", model=model) for model in (NULL, "vocabulary", "shape")} == {
            NULL: 0, "vocabulary": 1, "shape": 1}
        assert metrics.total("millrace_model_load_failures_total") == 2
        assert daemon.http("/v2/health/ready")[0] == 200


def test_no_model_that_loads(tmp_path):
    root = tmp_path / "models"
    repository.copy(root, NULL, "typo", model_pbtxt=b'licence: "CC0-1.0"\n')
    assert_fails(models=root, words=[str(root), "none of the 1 models"])


def test_weights_that_are_a_link_out_of_the_repository_are_not_followed(tmp_path):
    root = repository.link(tmp_path / "models", NULL)
    folder = repository.copy(root, NULL, "linked")
    (folder / "model.pt").unlink()
    (folder / "model.pt").symlink_to("/etc/passwd")
    with daemons.start(tmp_path, models=root) as daemon:
        [linked] = [model for model in models_of(daemon) if model.name == "linked"]
        assert linked.state == admin.MODEL_STATE_FAILED and "outside of the model's folder" in linked.error


def test_folders_that_are_no_models_are_left_alone(tmp_path):
    root = repository.link(tmp_path / "models", NULL)
    for name in [".hidden/1", "no-version", "wrong/v1", "lost+found", "spaces in name/1"]:
        (root / name).mkdir(parents=True)
    (root / "file").write_text("")
    with daemons.start(tmp_path, models=root) as daemon:
        assert [model.name for model in models_of(daemon)] == [NULL]


def test_highest_version_is_served(tmp_path):
    root = tmp_path / "models"
    for version in (1, 2, 10):
        repository.Gate(root, "gate", version)
    with daemons.start(tmp_path, models=root) as daemon:
        assert [(model.name, model.version) for model in models_of(daemon)] == [("gate", "10")]


def test_ports_are_written_as_json(tmp_path, null_models):
    with daemons.start(tmp_path, "--wyoming-address", "127.0.0.1:0", models=null_models) as daemon:
        assert json.loads((tmp_path / "ports.json").read_text()).keys() == {"grpc", "http", "metrics", "wyoming"}
        assert len(set(daemon.ports.values())) == 4 and all(daemon.ports.values())


def cpu_seconds_until_ready(folder, number):
    """Processor time of a start with so many copies of the null model; what else the machine does matters little to it."""
    folder.mkdir()
    models = folder / "models"
    for i in range(number):
        version = models / f"null{i}" / "1"
        version.mkdir(parents=True)
        for file in (MODELS / NULL / "1").iterdir():
            shutil.copy(file, version)
    with daemons.start(folder, "--workers", "1", models=models) as daemon:
        user_and_system = pathlib.Path(f"/proc/{daemon.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, user_and_system)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_time_of_a_start_grows_with_the_number_of_models_and_not_with_its_square(tmp_path):
    least = [math.inf] * 3   # other work on the machine's cores costs caches, so that the least of some starts counts
    for attempt in range(4):
        for i, number in enumerate((100, 300, 900)):
            least[i] = min(least[i], cpu_seconds_until_ready(tmp_path / f"{attempt}-{number}", number))
        few, more, many = least
        # Three times as much would be linear, nine times the square.
        if many - more < 6 * max(more - few, 0.1):
            return
    raise AssertionError(f"seconds of CPU with 100, 300 and 900 models: {least}")
