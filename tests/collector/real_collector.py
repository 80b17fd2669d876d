"""The OpenTelemetry Collector on loopback. What it took is read from the file that its exporter writes."""

import contextlib
import json
import pathlib
import socket
import subprocess
from collections.abc import Iterator

from opentelemetry.proto.trace.v1 import trace_pb2
from wire.certificates import Authority
from wire.collector import Collector
from wire.metrics import Metrics, scrape
from wire.paths import ROOT
from wire.polling import eventually
from wire.process import end

PROGRAM = ROOT / ".tools" / "collector" / "bin" / "collector"
# The names of its receivers, by the values of --trace-protocol.
TRANSPORTS = {"grpc": "grpc", "http/protobuf": "http"}


class RealCollector(Collector):
    """It keeps its ports, and what it took, when it is stopped and started again. With an authority it demands TLS and a client's
    certificate."""

    def __init__(self, folder: pathlib.Path, protocol: str, authority: Authority | None = None) -> None:
        self.protocol = protocol
        self._folder = folder
        self._tls = None if authority is None else authority.issue("collector") + (authority.certificate,)
        # They are free all at once, so they differ.
        with contextlib.ExitStack() as probes:
            free = [probes.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(3)]
            self._ports = dict(zip(("grpc", "http", "metrics"), (probe.getsockname()[1] for probe in free), strict=True))
        self._files: list[pathlib.Path] = []

    @property
    def url(self) -> str:
        """Where it takes spans by its protocol."""
        return f"{'http' if self._tls is None else 'https'}://127.0.0.1:{self._ports[TRANSPORTS[self.protocol]]}"

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """A process of it for the time of a with block. It ends as one that is asked to: it takes what is under way, then closes
        its connections."""
        assert PROGRAM.is_file(), f"{PROGRAM} is not there: run scripts/check-collector.sh"
        start = len(self._files) + 1
        self._files.append(self._folder / f"spans-{start}")
        config, log = self._folder / f"collector-{start}.json", self._folder / f"collector-{start}.log"
        config.write_text(json.dumps(self._config()))
        with log.open("w") as out:
            process = subprocess.Popen([PROGRAM, "--config", f"file:{config}"], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            def ready() -> bool:
                assert process.poll() is None, f"the collector ended with {process.returncode}:\n{log.read_text()[-4000:]}"
                return all(_listens(port) for port in self._ports.values())
            eventually("the collector listens", ready)
            yield
        finally:
            end(process, 30)

    def processes(self) -> list[trace_pb2.ResourceSpans]:
        return [process for file in self._files if file.exists() for process in _read(file.read_bytes())]

    def counted(self, what: str) -> int:
        """How many spans were `accepted` or `refused` by its receiver since it was started, by its own metrics."""
        return int(self.metrics().total(f"otelcol_receiver_{what}_spans", receiver="otlp", transport=TRANSPORTS[self.protocol]))

    def metrics(self) -> Metrics:
        return scrape(self._ports["metrics"])

    def _config(self) -> dict:
        """JSON is YAML too."""
        tls = {}
        if self._tls is not None:
            certificate, key, authority = map(str, self._tls)
            tls = {"tls": {"cert_file": certificate, "key_file": key, "client_ca_file": authority}}
        protocols = {name: {"endpoint": f"127.0.0.1:{self._ports[name]}"} | tls for name in TRANSPORTS.values()}
        page = {"host": "127.0.0.1", "port": self._ports["metrics"],
                "without_scope_info": True, "without_type_suffix": True, "without_units": True}
        return {
            "receivers": {"otlp": {"protocols": protocols}},
            "exporters": {"file": {"path": str(self._files[-1]), "format": "proto", "flush_interval": "50ms"}},
            "service": {"telemetry": {"metrics": {"readers": [{"pull": {"exporter": {"prometheus": page}}}]}},
                        "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["file"]}}},
        }


def _read(data: bytes) -> Iterator[trace_pb2.ResourceSpans]:
    """Messages behind their lengths, the last of which may not be written to its end yet."""
    start = 4
    while start <= len(data):
        end = start + int.from_bytes(data[start - 4:start], "big")
        if end > len(data):
            return
        yield from trace_pb2.TracesData.FromString(data[start:end]).resource_spans
        start = end + 4


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True
