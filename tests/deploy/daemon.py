"""Starts the real daemon and Prometheus on free ports, for the tests of what deploy/ holds."""

import contextlib
import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("MILLRACE_BINARY", ROOT / "build" / "millrace"))
MODELS = pathlib.Path(os.environ.get("MILLRACE_MODELS", ROOT / "var" / "models"))
# One of each kind, that starts fast.
SERVED = ["null", "bergamot-en-pt", "bergamot-pt-en", "piper-en-us-joe"]

# The daemon refuses variables of this prefix that it does not know, so those of the tests stay here.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith("MILLRACE_") or name == "MILLRACE_CPU_ISA"}


def wait_for(what: str, condition: Callable[[], object], seconds: float = 180) -> object:
    """Polls until the condition gives something true and returns that."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        assert time.monotonic() < end, f"timed out after {seconds} s: {what}"
        time.sleep(0.1)


def get(url: str) -> str | None:
    """The body of a GET answered with 200, otherwise None."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.read().decode()
    except (urllib.error.URLError, OSError):
        return None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(command: list[object], log: pathlib.Path, **environment: str) -> Iterator[subprocess.Popen]:
    """A program for the time of a with block; asked to stop at its end, and killed if it does not."""
    with log.open("w") as out:
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   env=ENVIRONMENT | environment)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Daemon:
    """A running `millrace serve` and how to talk to it with its own command-line clients."""

    def __init__(self, process: subprocess.Popen, ports: dict[str, int], log: pathlib.Path) -> None:
        self.process = process
        self.ports = ports
        self.log = log

    def client(self, *arguments: object, timeout: float = 60) -> subprocess.CompletedProcess:
        return subprocess.run([BINARY, *map(str, arguments), "--address", f"127.0.0.1:{self.ports['grpc']}"],
                              capture_output=True, text=True, timeout=timeout, check=False, env=ENVIRONMENT)


@contextlib.contextmanager
def daemon(folder: pathlib.Path, *arguments: object, **environment: str) -> Iterator[Daemon]:
    log, port_file = folder / "millrace.log", folder / "ports.json"
    models = folder / "models"
    models.mkdir()
    for name in SERVED:
        (models / name).symlink_to(MODELS / name)
    policy = folder / "policy.toml"
    policy.write_text('default = "all"\n\n[tiers.all]\n')   # so that there are metrics by key
    command = [BINARY, "serve", "--models", models, "--port-file", port_file, "--grpc-address", "127.0.0.1:0",
               "--http-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0", "--policy", policy, *arguments]
    with running(command, log, **environment) as process:
        def serving() -> bool:
            assert process.poll() is None, f"millrace serve ended with {process.returncode}:\n{log.read_text()}"
            return port_file.exists() and port_file.read_text().endswith("\n")
        wait_for("millrace serve writes its ports", serving)
        yield Daemon(process, json.loads(port_file.read_text()), log)


class Prometheus:
    """A running Prometheus server and its query API."""

    def __init__(self, url: str) -> None:
        self.url = url

    def query(self, expression: str) -> list[dict]:
        answer = self._get("/api/v1/query?" + urllib.parse.urlencode({"query": expression}))
        return answer["data"]["result"]

    def rules(self) -> list[dict]:
        return [rule for group in self._get("/api/v1/rules")["data"]["groups"] for rule in group["rules"]]

    def _get(self, path: str) -> dict:
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{urllib.parse.unquote_plus(path)}: {error.read().decode()}") from error


@contextlib.contextmanager
def prometheus(program: str, folder: pathlib.Path, target_port: int) -> Iterator[Prometheus]:
    """Scrapes 127.0.0.1:target_port each second as job millrace and evaluates the alert rules of deploy/."""
    config, log, port = folder / "prometheus.yml", folder / "prometheus.log", free_port()
    config.write_text(f"""\
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{ROOT}/deploy/prometheus/alerts.yml"]
scrape_configs:
  - job_name: millrace
    static_configs: [{{targets: ["127.0.0.1:{target_port}"]}}]
""")
    command = [program, f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
               f"--web.listen-address=127.0.0.1:{port}"]
    with running(command, log) as process:
        def ready() -> bool:
            assert process.poll() is None, f"prometheus ended with {process.returncode}:\n{log.read_text()}"
            return get(f"http://127.0.0.1:{port}/-/ready") is not None
        wait_for("prometheus is ready", ready)
        yield Prometheus(f"http://127.0.0.1:{port}")
