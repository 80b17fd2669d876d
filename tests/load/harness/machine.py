"""What the operating system says: CPU time and memory of a process, how busy the machine is, which machine it is."""

import argparse
import os
import platform
import re
import threading
import time
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


def all_cpus():
    """The CPUs that this process may use (Linux)."""
    return os.sched_getaffinity(0)


def parse_cpus(text):
    """A set of CPUs from a list such as 0,1 or 0-3; some must be left for the others."""
    cpus = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    if not cpus < all_cpus():
        raise argparse.ArgumentTypeError(f"'{text}': servers need some, not all, of the CPUs {sorted(all_cpus())}")
    return cpus


def on_cpus(command, cpus):
    """The command kept on these CPUs; None: wherever it likes."""
    return command if cpus is None else ["taskset", "--cpu-list", ",".join(map(str, sorted(cpus))), *command]


def _stat_fields(pid):
    """The fields of /proc/PID/stat after the command name, or None when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return None


def process_name(pid):
    """Empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def process_tree(root):
    """The process and its living descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (fields := _stat_fields(entry)):
            children.setdefault(int(fields[1]), []).append(int(entry))
    found, todo = [], [root]
    while todo:
        pid = todo.pop()
        found.append(pid)
        todo += children.get(pid, [])
    return found


def cpu_seconds(pid):
    """User and system time of a process tree; that of children which ended and were waited for is included."""
    ticks = 0
    for member in process_tree(pid):
        if fields := _stat_fields(member):
            ticks += sum(int(fields[i]) for i in (11, 12, 13, 14))
    return ticks / TICKS_PER_SECOND


def thread_cpu_seconds(pid):
    """(name, CPU seconds) of each living thread."""
    threads = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (task / "comm").read_text().strip()
            fields = (task / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        threads.append((name, (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND))
    return threads


def memory_mib(pid):
    """Resident size, its proportional share and its private part, in MiB."""
    sizes = {}
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        sizes[name] = int(value.split()[0]) / 1024
    return {"rss": sizes["Rss"], "pss": sizes["Pss"], "private": sizes["Private_Clean"] + sizes["Private_Dirty"]}


def anonymous_mb(pid):
    """What is resident and of no file, in 10^6 bytes."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("RssAnon:"))
    return int(line.split()[1]) * 1024 / 1e6


def resident_mib(pid):
    """Cheap enough to ask many times a second."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


class ResidentSampler:
    """Samples a process's resident size in a thread of its own while the `with` block runs."""

    def __init__(self, pid, period_s):
        self.samples = []  # (seconds since the start, MiB)
        self._pid, self._period_s = pid, period_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._start = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while True:
            try:
                self.samples.append((time.monotonic() - self._start, resident_mib(self._pid)))
            except OSError:
                return  # the process is gone; who runs it will say why
            if self._stop.wait(self._period_s):
                return


class OthersMeter:
    """Share of the machine's CPU that went to anything but this test between enter and exit: what makes figures noisy."""

    def __init__(self, servers):
        self._servers = servers
        self.share = 0.0

    def _busy(self):
        fields = [int(x) for x in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        user, nice, system, _idle, _iowait, irq, softirq, steal = fields
        return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND

    def _ours(self):
        own = os.times()
        return own.user + own.system + own.children_user + own.children_system + sum(
            cpu_seconds(server.pid) for server in self._servers)

    def __enter__(self):
        self._start = time.monotonic(), self._busy(), self._ours()
        return self

    def __exit__(self, *_):
        start, busy, ours = self._start
        wall = max(time.monotonic() - start, 1e-3)
        others = (self._busy() - busy) - (self._ours() - ours)
        self.share = max(0.0, others / (wall * os.cpu_count()))


def cpu_flags():
    """What the processor has, in the words of /proc/cpuinfo; empty where there is no such file."""
    try:
        match = re.search(r"^flags\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    except OSError:
        return set()
    return set(match.group(1).split()) if match else set()


def describe():
    """One line on hardware and system, without names of hosts."""
    def first(pattern, path):
        try:
            match = re.search(pattern, Path(path).read_text(), re.M)
        except OSError:
            return None
        return match.group(1) if match else None

    cpu = first(r"^model name\s*:\s*(.*)$", "/proc/cpuinfo") or platform.processor() or platform.machine()
    cache = first(r"^cache size\s*:\s*(.*)$", "/proc/cpuinfo")
    memory = first(r"^MemTotal:\s*(\d+)", "/proc/meminfo")
    system = first(r'^PRETTY_NAME="(.*)"$', "/etc/os-release") or platform.system()
    flags = cpu_flags()
    virtual = " (virtual machine)" if "hypervisor" in flags else ""
    vector = [f for f in ("avx2", "avx_vnni", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16") if f in flags]
    parts = [f"{os.cpu_count()} cores of {cpu}{virtual}"]
    if vector:
        parts.append(", ".join(vector))
    if cache:
        parts.append(f"{cache} cache")
    if memory:
        parts.append(f"{int(memory) / MIB:.0f} GiB memory")
    parts.append(f"{system}, Linux {platform.release().split('-')[0]}" if platform.system() == "Linux" else system)
    return "; ".join(parts)
