"""The executors of a daemon, found by /proc."""

import os
import pathlib
import signal

from .daemon import Daemon
from .polling import eventually


def executors(daemon: Daemon) -> list[int]:
    """The process numbers of a daemon's executors."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() == "millrace-exec":
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == daemon.process.pid and fields[0] != "Z":
                    found.append(int(entry.name))
        except OSError:   # it has ended meanwhile
            pass
    return found


def serving_executors(daemon: Daemon) -> list[int]:
    """The process numbers of those that serve: no spares, and none that are being started."""
    return sorted(int(labels["executor"].removeprefix("executor-"))
                  for labels, _ in daemon.metrics().matching("millrace_executor_serving_seconds"))


def cpu_ticks(pid: int) -> int:
    """How long a process has computed, in the ticks of the system."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def wait_for_step(daemon: Daemon) -> None:
    """Waits until the only executor computes at a gate. The server counts a forward before the executor has been sent it."""
    [executor] = executors(daemon)
    before = cpu_ticks(executor)
    eventually("the executor computes", lambda: cpu_ticks(executor) >= before + 20)


def have_ended(pids: list[int]) -> bool:
    """True if none of these processes runs any more, although nobody may have taken notice of their ends yet."""
    return not any(_runs(pid) for pid in pids)


def _runs(pid: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:   # it ended before or while it was looked at
        return False


def end_executor(daemon: Daemon, how: int = signal.SIGKILL) -> None:
    """Sends the only executor a signal, and waits for its successor."""
    before = executors(daemon)
    assert len(before) == 1
    os.kill(before[0], how)
    eventually("a successor serves", lambda: (now := executors(daemon)) and now != before
               and daemon.metrics().total("millrace_executors", state="serving") == 1, 30)
