"""What each attack of tests/integration/wire/attacks.py costs a gRPC server on this machine: prints a table in Markdown.

A server is started anew for each attack, with a limit of its memory, and is called by one well-behaved client before and meanwhile.

Usage: python tests/load/attacks.py [--seconds 5] [--only NAME,...] -- COMMAND...
In the command, {port} is a free port, which the server must listen on.
"""

import argparse
import contextlib
import resource
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from wire import attacks

MEMORY_LIMIT = 4 << 30
PATIENCE = 5   # of the well-behaved client, for one call


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def serving(command: list[str], port: int) -> Iterator[subprocess.Popen]:
    server = subprocess.Popen([part.replace("{port}", str(port)) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT)))
    try:
        yield server
    finally:
        server.kill()
        server.wait()


def memory(process: subprocess.Popen, field: str) -> int:
    """A field of /proc/PID/status in bytes, 0 where the process has ended."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    return 0


def check(stub: health_pb2_grpc.HealthStub) -> float:
    """Seconds of one call; PATIENCE where it failed."""
    before = time.monotonic()
    try:
        stub.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
    except grpc.RpcError:
        return PATIENCE
    return time.monotonic() - before


def latencies(stub: health_pb2_grpc.HealthStub, seconds: float) -> list[float]:
    end = time.monotonic() + seconds
    times = []
    while time.monotonic() < end or len(times) < 2:
        times.append(check(stub))
    return times


def p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[98]


def measure(command: list[str], name: str, seconds: float) -> str:
    """A row of the table."""
    port = free_port()
    with serving(command, port) as server, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        grpc.channel_ready_future(channel).result(60)
        stub = health_pb2_grpc.HealthStub(channel)
        quiet = p99(latencies(stub, 1))
        before, largest = memory(server, "VmRSS"), 0
        with attacks.under_attack(name, port, seconds):
            times = []
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                times += latencies(stub, 0.2)
                largest = max(largest, memory(server, "VmHWM"))
                if server.poll() is not None:
                    break
        ended = server.poll() is not None
        failed = sum(1 for taken in times if taken == PATIENCE)
        said = "the server ended" if ended else f"{failed} of {len(times)} calls failed" if failed else f"{p99(times) / quiet:.1f}x"
        return f"| {name} | {max(largest - before, 0) / 1e6:.0f} MB | {said} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", help="names of attacks, separated by commas")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    print("| attack | memory | p99 of others |\n|---|---|---|")
    for name in arguments.only.split(",") if arguments.only else attacks.ATTACKS:
        print(measure(arguments.command, name, arguments.seconds), flush=True)


if __name__ == "__main__":
    main()
