"""What each attack of tests/integration/wire/attacks.py costs a gRPC server on this machine: prints a table in Markdown.

A server is started anew for each attack, with a limit of its memory, and is called by one well-behaved client: while nothing else happens, under
attack, and beside as many programs as attack, which take as much CPU time as the attackers took and send nothing. So the last two of its 99th
percentiles tell apart what the server does for the attackers and what they take from it and its client by running on the same CPUs.

Usage: python tests/load/attacks.py [--seconds 5] [--only NAME,...] [--tls] [--apart] -- COMMAND...
In the command, {port} is a free port, which the server must listen on; with --tls {certificate} and {key} are files that it must show.
"""

import argparse
import contextlib
import dataclasses
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from harness import machine

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))
from wire import attacks, certificates

MEMORY_LIMIT = 4 << 30
PATIENCE = 5   # of the well-behaved client, for one call
QUIET_SECONDS = 2
CPU_SHARE = Path(__file__).parent / "harness" / "cpu_share.py"
HEAD = ("| attack | memory | p99 quiet | beside programs that compute | under attack | of quiet | of the programs | CPUs: attackers, server, others |\n"
        "|---|---|---|---|---|---|---|---|")


@dataclasses.dataclass(frozen=True)
class Calls:
    """What the well-behaved client has seen, and what the processes took meanwhile, in CPUs."""
    p99: float
    count: int
    failed: int
    server: float
    beside: float   # the attackers, or what stands for them
    others: float   # what is no part of this


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def serving(command: list[str], **places: object) -> Iterator[subprocess.Popen]:
    for name, value in places.items():
        command = [part.replace(f"{{{name}}}", str(value)) for part in command]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_LIMIT, MEMORY_LIMIT)))
    try:
        yield server
    finally:
        server.kill()
        server.wait()


@contextlib.contextmanager
def computing(share: float, cpus: set[int]) -> Iterator[list[subprocess.Popen]]:
    """As many programs as attack, each of which takes this share of a CPU."""
    programs = [subprocess.Popen([sys.executable, CPU_SHARE, str(share)], preexec_fn=lambda: os.sched_setaffinity(0, cpus))
                for _ in range(attacks.CONNECTIONS)]
    try:
        yield programs
    finally:
        for program in programs:
            program.kill()
            program.wait()


def memory(process: subprocess.Popen, field: str) -> int:
    """A field of /proc/PID/status in bytes, 0 where the process has ended."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    return 0


def forget_peak(process: subprocess.Popen) -> None:
    """VmHWM begins anew."""
    Path(f"/proc/{process.pid}/clear_refs").write_text("5")


def check(stub: health_pb2_grpc.HealthStub) -> float:
    """Seconds of one call; PATIENCE where it failed."""
    before = time.monotonic()
    try:
        stub.Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
    except grpc.RpcError:
        return PATIENCE
    return time.monotonic() - before


def p99(times: list[float]) -> float:
    return statistics.quantiles(times, n=100, method="inclusive")[98]


@contextlib.contextmanager
def preempting(wanted: bool) -> Iterator[None]:
    """If wanted, the threads of this process take a CPU from the server's at once, for the time of a with block. Needs root."""
    def schedule(policy: int, priority: int) -> None:
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):
                os.sched_setscheduler(int(thread), policy, os.sched_param(priority))

    if not wanted:
        yield
        return
    try:
        schedule(os.SCHED_FIFO, 1)
    except PermissionError:
        print("attacks.py: not root, so the client waits for time slices of the server", file=sys.stderr)
    try:
        yield
    finally:
        schedule(os.SCHED_OTHER, 0)


def call(stub: health_pb2_grpc.HealthStub, seconds: float, server: subprocess.Popen, beside: list[subprocess.Popen], apart: bool) -> Calls:
    """Calls one after the other for so long, or until the server has ended. apart: see --apart."""
    processes = [server, *beside]
    with preempting(apart), machine.OthersMeter(processes) as others:
        before = [machine.cpu_seconds(process.pid) for process in processes]
        begin = time.monotonic()
        times: list[float] = []
        while time.monotonic() < begin + seconds or len(times) < 2:
            times.append(check(stub))
            if server.poll() is not None:
                return Calls(PATIENCE, len(times), len(times), 0, 0, 0)
        wall = time.monotonic() - begin
        used = [(machine.cpu_seconds(process.pid) - since) / wall for process, since in zip(processes, before, strict=True)]
    return Calls(p99(times), len(times), times.count(PATIENCE), used[0], sum(used[1:]), others.share * os.cpu_count())


def measure(command: list[str], name: str, seconds: float, authority: certificates.Authority | None, cpus: set[int], apart: bool) -> str:
    """A row of the table. cpus: of the attackers."""
    port = free_port()
    certificate, key = authority.issue("server") if authority else ("", "")
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serving(command, port=port, certificate=certificate, key=key))
        address = f"127.0.0.1:{port}"
        channel = stack.enter_context(grpc.secure_channel(address, authority.client()) if authority else grpc.insecure_channel(address))
        grpc.channel_ready_future(channel).result(60)
        stub = health_pb2_grpc.HealthStub(channel)
        quiet = call(stub, QUIET_SECONDS, server, [], apart)
        before = memory(server, "VmRSS")
        forget_peak(server)
        with attacks.under_attack(name, port, seconds + 60, tls=authority is not None, cpus=cpus) as attackers:
            attacked = call(stub, seconds, server, attackers, apart)
        if server.poll() is not None:
            return f"| {name} | | {quiet.p99 * 1e3:.1f} ms | | the server ended | | | |"
        growth = max(memory(server, "VmHWM") - before, 0) / 1e6
        with computing(attacked.beside / attacks.CONNECTIONS, cpus) as programs:
            control = call(stub, seconds, server, programs, apart)
    said = f"{attacked.p99 * 1e3:.1f} ms" if attacked.failed == 0 else f"{attacked.failed} of {attacked.count} calls failed"
    return (f"| {name} | {growth:.0f} MB | {quiet.p99 * 1e3:.1f} ms | {control.p99 * 1e3:.1f} ms | {said} | {attacked.p99 / quiet.p99:.1f}x "
            f"| {attacked.p99 / control.p99:.1f}x | {attacked.beside:.2f}, {attacked.server:.2f}, {attacked.others:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--only", help="names of attacks, separated by commas")
    parser.add_argument("--tls", action="store_true", help="attack over TLS, and call so")
    parser.add_argument("--apart", action="store_true", help="attack from a CPU of its own, and let the client take the other one from the server at once, as if both "
                        "were elsewhere: what is left is what the server does for the attackers")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    attackers_cpus = os.sched_getaffinity(0)
    if arguments.apart:
        attackers_cpus = {max(attackers_cpus)}
        os.sched_setaffinity(0, os.sched_getaffinity(0) - attackers_cpus)   # the server's and its client's
    with tempfile.TemporaryDirectory() as folder:
        authority = certificates.Authority(Path(folder), "authority") if arguments.tls else None
        print(HEAD)
        for name in arguments.only.split(",") if arguments.only else attacks.ATTACKS:
            print(measure(arguments.command, name, arguments.seconds, authority, attackers_cpus, arguments.apart), flush=True)


if __name__ == "__main__":
    main()
