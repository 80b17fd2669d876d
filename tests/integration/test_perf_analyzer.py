"""Triton's perf_analyzer, as its users run it: it asks for the server, a model's configuration and its statistics, over gRPC and over HTTP."""

import csv
import os
import platform
import subprocess

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import ENVIRONMENT, NULL, PERF_ANALYZER
from wire.requests import PATIENCE
from wire.stubs import kserve

REQUESTS = 300

pytestmark = pytest.mark.skipif((platform.system(), platform.machine()) != ("Linux", "x86_64"), reason="there is no program for this machine")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL)
    repository.add_echo(models)
    with daemons.start(folder, "--workers", "2", models=models) as running:
        yield running


def analyze(daemon, protocol, report, model, *options):
    program = PERF_ANALYZER / "bin" / "perf_analyzer"
    assert program.is_file(), f"{program} is not there: run `scripts/deps.sh serve test` first"
    libraries = next((PERF_ANALYZER / "lib").glob("python3*/site-packages/nvidia/cuda_runtime/lib"))
    command = [program, "-m", model, "-i", protocol, "-u", f"127.0.0.1:{daemon.ports[protocol]}", "--request-count", str(REQUESTS),
               "-f", report, *options]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, stdin=subprocess.DEVNULL,
                           env=ENVIRONMENT | {"LD_LIBRARY_PATH": os.fspath(libraries)})
    assert ended.returncode == 0, ended.stdout + ended.stderr
    with open(report, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def succeeded(daemon, model):
    stats = daemon.kserve.ModelStatistics(kserve.ModelStatisticsRequest(name=model), timeout=PATIENCE).model_stats[0].inference_stats
    assert stats.fail.count == 0
    return stats.success.count


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_it_measures_a_model(daemon, tmp_path, protocol):
    before = succeeded(daemon, NULL)
    [row] = analyze(daemon, protocol, tmp_path / "report.csv", NULL, "--concurrency-range", "4")
    assert succeeded(daemon, NULL) - before >= REQUESTS
    assert row["Concurrency"] == "4" and float(row["Inferences/Second"]) > 0
    # In microseconds. The network's part is what the client saw less what the server says, which must not be more.
    assert float(row["Server Queue"]) + float(row["Server Compute Infer"]) > 0
    assert 0 <= float(row["Network+Server Send/Recv"]) < PATIENCE * 1e6


def test_it_finds_the_tensors_of_a_model_by_its_configuration(daemon, tmp_path):
    [row] = analyze(daemon, "http", tmp_path / "report.csv", "echo", "--shape", "A:8", "--shape", "B:2,8", "--shape", "C:8,1")
    assert float(row["Inferences/Second"]) > 0
