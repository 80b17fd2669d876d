"""A daemon of a fleet: it keeps its ports over restarts, so that whatever balances the load finds it again."""

import functools
import pathlib
import re
import signal
import subprocess
import urllib.error
import urllib.request

from .process import ENVIRONMENT, FleetError, Program, wait_for

# What deploy/envoy and deploy/grpc ask of a replica.
SETTINGS = {"keepalive-min-interval": "1s", "drain-delay": "2500ms", "drain-timeout": "30s"}
# For envoy-orca.yaml, where the daemon knows it.
LOAD_REPORT = ("--load-report", "text")
_CPU_SECONDS = re.compile(r'^process_cpu_seconds_total (\S+)$', re.MULTILINE)
_REQUESTS = re.compile(r'^millrace_requests_total\{[^}]*\} (\S+)$', re.MULTILINE)


@functools.cache
def reports_load(binary: pathlib.Path) -> bool:
    printed = subprocess.run([binary, "serve", "--print-config"], capture_output=True, text=True, timeout=60, check=False, env=ENVIRONMENT)
    return "\nload_report = " in printed.stdout


class Replica:
    """`millrace serve` with few threads, as several share this machine. Not thread-safe."""

    def __init__(self, number: int, ports: list[int], binary: pathlib.Path, models: pathlib.Path, folder: pathlib.Path) -> None:
        self.number = number
        self.grpc_port, self.http_port, self.metrics_port = ports
        self._log = folder / f"replica{number}.log"
        settings = [part for name, value in SETTINGS.items() for part in (f"--{name}", value)]
        settings += LOAD_REPORT if reports_load(binary) else ()
        self._command = [binary, "serve", "--models", models, "--workers", "1", "--intra-op-threads", "1", "--console", "off",
                         "--grpc-address", f"127.0.0.1:{self.grpc_port}", "--http-address", f"127.0.0.1:{self.http_port}",
                         "--metrics-address", f"127.0.0.1:{self.metrics_port}", *settings]
        self._program: Program | None = None

    def start(self) -> None:
        self._program = Program(f"replica {self.number}", self._command, self._log)

    def wait_until_ready(self, seconds: float = 60) -> None:
        def ready() -> bool:
            self._program.check_runs()
            return self._get(self.http_port, "/v2/health/ready") is not None
        wait_for(f"replica {self.number} is ready", ready, seconds)

    def restart(self) -> None:
        """As an upgrade does: asks it to stop, waits until it has, and starts it again."""
        self._program.process.terminate()
        status = self._program.process.wait(60)
        if status != 0:
            raise FleetError(f"replica {self.number} ended with {status} after SIGTERM; see {self._log}")
        self.start()
        self.wait_until_ready()

    def kill(self) -> None:
        self._program.process.kill()
        self._program.process.wait()

    def freeze(self) -> None:
        self._program.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._program.process.send_signal(signal.SIGCONT)

    def served(self) -> int:
        """Requests that it has answered since it was started; 0 when it does not answer."""
        return sum(int(float(count)) for count in _REQUESTS.findall(self._get(self.metrics_port, "/metrics") or ""))

    def cpu_seconds(self) -> float:
        """Processor time that it has taken since it was started."""
        return float(_CPU_SECONDS.search(self._get(self.metrics_port, "/metrics"))[1])

    def wait_until_served(self, seconds: float = 30) -> None:
        """Until the load reaches it, beyond what came before."""
        before = self.served()
        wait_for(f"replica {self.number} gets load", lambda: self.served() > before, seconds)

    def stop(self) -> None:
        if self._program is not None:
            self.thaw()
            self._program.process.kill()   # its drain was tested before
            self._program.stop()

    @staticmethod
    def _get(port: int, path: str) -> str | None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=2) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            return None
