"""A program that runs for a time, and waiting for what it does."""

import itertools
import os
import pathlib
import socket
import subprocess
import time
from collections.abc import Callable

# The daemon refuses variables of this prefix that it does not know, so those of the tests stay here.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith("MILLRACE_") or name == "MILLRACE_CPU_ISA"}
# Runs that share a machine begin at different ones.
_candidates = itertools.count(20000 + os.getpid() % 1000 * 10)


class FleetError(AssertionError):
    """What a fleet should have done and did not."""


def wait_for(what: str, condition: Callable[[], object], seconds: float = 60) -> object:
    """Polls until the condition gives something true and returns that."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise FleetError(f"timed out after {seconds:.0f} s: {what}")
        time.sleep(0.05)


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on and that no other call was given, outside the range of which the system gives connections theirs: a
    replica that is started again must find its own port free."""
    ports: list[int] = []
    while len(ports) < count:
        candidate = next(_candidates)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
        ports.append(candidate)
    return ports


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


class Program:
    """A process with its log. Signals go to it alone."""

    def __init__(self, name: str, command: list[object], log: pathlib.Path, environment: dict[str, str] | None = None) -> None:
        self.name, self.log = name, log
        with log.open("a") as out:
            self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                            env=ENVIRONMENT | (environment or {}), start_new_session=True)

    def check_runs(self) -> None:
        if self.process.poll() is not None:
            raise FleetError(f"{self.name} ended with {self.process.returncode}:\n{self.log.read_text(errors='replace')[-2000:]}")

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
