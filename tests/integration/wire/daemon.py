"""Starts the real daemon on free ports and always ends it."""

import contextlib
import functools
import http.client
import json
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import Iterator

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from . import stubs
from .metrics import Metrics, scrape
from .paths import BINARY, ENVIRONMENT, MODELS
from .polling import eventually
from .process import end

# Of all daemons of this run, for the report of a failed test.
logs: list[pathlib.Path] = []

SERVE = ["serve", "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0", "--metrics-address", "127.0.0.1:0"]


class Daemon:
    """A running `millrace serve` and how to talk to it."""

    def __init__(self, process: subprocess.Popen, log: pathlib.Path, ports: dict[str, int]) -> None:
        self.process = process
        self.log = log
        self.ports = ports
        self._channels: list[grpc.Channel] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.ports['grpc']}"

    def connect(self, credentials: grpc.ChannelCredentials | None = None, **options: object) -> grpc.Channel:
        """A connection of its own, closed with the daemon. Options are gRPC's, with '_' for '.' and without 'grpc.'."""
        options = {"use_local_subchannel_pool": 1, "max_receive_message_length": -1, "enable_retries": 0,
                   "enable_http_proxy": 0} | options
        arguments = [(f"grpc.{name}", value) for name, value in options.items()]
        channel = (grpc.insecure_channel(self.address, arguments) if credentials is None
                   else grpc.secure_channel(self.address, credentials, arguments))
        self._channels.append(channel)
        return channel

    @functools.cached_property
    def channel(self) -> grpc.Channel:
        return self.connect()

    @functools.cached_property
    def kserve(self) -> stubs.kserve_grpc.GRPCInferenceServiceStub:
        return stubs.kserve_grpc.GRPCInferenceServiceStub(self.channel)

    @functools.cached_property
    def translation(self) -> stubs.translation_grpc.TranslationServiceStub:
        return stubs.translation_grpc.TranslationServiceStub(self.channel)

    @functools.cached_property
    def synthesis(self) -> stubs.synthesis_grpc.SynthesisServiceStub:
        return stubs.synthesis_grpc.SynthesisServiceStub(self.channel)

    @functools.cached_property
    def riva_speech(self) -> stubs.riva_tts_grpc.RivaSpeechSynthesisStub:
        return stubs.riva_tts_grpc.RivaSpeechSynthesisStub(self.channel)

    @functools.cached_property
    def riva_translation(self) -> stubs.riva_nmt_grpc.RivaTranslationStub:
        return stubs.riva_nmt_grpc.RivaTranslationStub(self.channel)

    @functools.cached_property
    def admin(self) -> stubs.admin_grpc.AdminServiceStub:
        return stubs.admin_grpc.AdminServiceStub(self.channel)

    def raw(self, method: str, channel: grpc.Channel | None = None) -> grpc.UnaryUnaryMultiCallable:
        """A unary method, such as "millrace.v1.TranslationService/Translate", that takes and gives bytes as they are."""
        return (channel or self.channel).unary_unary("/" + method)

    def health(self, service: str = "", channel: grpc.Channel | None = None) -> str:
        stub = health_pb2_grpc.HealthStub(channel or self.channel)
        answer = stub.Check(health_pb2.HealthCheckRequest(service=service), timeout=10)
        return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)

    def http(self, path: str, method: str = "GET", **headers: str) -> tuple[int, object]:
        """Status and body; the body read as JSON where it is JSON. The path goes out as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["http"], timeout=10)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            body = answer.read().decode()
            is_json = answer.headers.get_content_type() == "application/json"
            return answer.status, json.loads(body) if is_json else body
        finally:
            connection.close()

    def metrics(self) -> Metrics:
        return scrape(self.ports["metrics"])

    def wait_until_idle(self, seconds: float = 20) -> None:
        """Until no request is in flight and no forward runs."""
        def idle() -> bool:
            metrics = self.metrics()
            return metrics.total("millrace_requests_in_flight") == 0 and metrics.total("millrace_permits_in_use") == 0
        eventually("no request in flight", idle, seconds)

    def running_forwards(self) -> int:
        return int(self.metrics().total("millrace_permits_in_use"))

    def queue_depth(self, model: str) -> int:
        return int(self.metrics().total("millrace_queue_depth", model=model))

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def exit_status(self, seconds: float) -> int:
        return self.process.wait(seconds)

    def log_text(self) -> str:
        return self.log.read_text(errors="replace")

    def close(self) -> None:
        for channel in self._channels:
            channel.close()


@contextlib.contextmanager
def start(folder: pathlib.Path, *options: object, models: pathlib.Path = MODELS, seconds: float = 60,
          under: tuple[str, ...] = (), binary: pathlib.Path = BINARY, descriptors: tuple[int, ...] = (),
          **environment: str) -> Iterator[Daemon]:
    """A serving daemon for the time of a with block. `under` is a command that runs the daemon's command, and gets these
    descriptors."""
    assert binary.is_file(), f"{binary} is not there: run `make build` first, or set MILLRACE_BINARY"
    log, port_file = folder / "millrace.log", folder / "ports.json"
    port_file.unlink(missing_ok=True)
    logs.append(log)
    command = [*under, binary, *SERVE, "--models", models, "--port-file", port_file, *options]
    with log.open("w") as out:
        process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                   env=ENVIRONMENT | environment, pass_fds=descriptors)
    daemon = None
    try:
        def serving() -> bool:
            assert process.poll() is None, f"millrace serve ended with {process.returncode}:\n{log.read_text()}"
            return port_file.exists()
        eventually("millrace serve writes its ports", serving, seconds)
        daemon = Daemon(process, log, json.loads(port_file.read_text()))
        yield daemon
    finally:
        if daemon is not None:
            daemon.close()
        end(process, 2)   # tests of what the daemon does on signals look at it before they come here


def run(*arguments: object, under: tuple[str, ...] = (), seconds: float = 60, stdin: bytes = b"", cwd: pathlib.Path | None = None,
        binary: pathlib.Path = BINARY, descriptors: tuple[int, ...] = (), **environment: str) -> subprocess.CompletedProcess:
    """A command of the program that ends by itself; output as bytes."""
    assert binary.is_file(), f"{binary} is not there: run `make build` first, or set MILLRACE_BINARY"
    return subprocess.run([*under, str(binary), *map(str, arguments)], input=stdin, capture_output=True, timeout=seconds,
                          check=False, cwd=cwd, env=ENVIRONMENT | environment, pass_fds=descriptors)


def out(ended: subprocess.CompletedProcess) -> str:
    return ended.stdout.decode()


def err(ended: subprocess.CompletedProcess) -> str:
    return ended.stderr.decode()


def refused_start(*options: object, models: pathlib.Path = MODELS, **given: object) -> tuple[int, str]:
    """Exit status and standard error of a `serve` that must not come up; `given` is for run()."""
    ended = run(*SERVE, "--models", models, *options, **given)
    return ended.returncode, ended.stderr.decode()


def elapsed(start_time: float) -> float:
    return time.monotonic() - start_time


def is_root() -> bool:
    return os.geteuid() == 0
