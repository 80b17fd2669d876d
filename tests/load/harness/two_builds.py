"""Two builds of the daemon that do the same work in turns, so that both meet the same neighbours and the same clock rate."""

import contextlib
import tempfile
from pathlib import Path

from harness import machine
from harness.processes import Server

START_SECONDS = 120


@contextlib.contextmanager
def start_both(binaries, flags):
    """Starts two binaries with the same flags, on free ports, and gives their servers."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        servers = []
        for i, binary in enumerate(binaries):
            port_file = Path(folder) / f"ports-{i}"
            command = [str(binary), "serve", *flags, "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0", "--metrics-address", "off",
                       "--port-file", str(port_file)]
            servers.append(running.enter_context(Server(str(binary), command, port_file, Path(folder) / f"log-{i}", START_SECONDS)))
        yield servers


def cpu_in_turns(servers, work, repeats):
    """[CPU seconds of each repeat of work(server)] of each of two servers."""
    seconds = [[], []]
    for repeat in range(repeats):
        for i in (0, 1) if repeat % 2 == 0 else (1, 0):
            before = machine.cpu_seconds(servers[i].pid)
            work(servers[i])
            seconds[i].append(machine.cpu_seconds(servers[i].pid) - before)
    return seconds
