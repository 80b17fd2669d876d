"""What Ray Serve costs in front of a daemon, against HAProxy and against no proxy."""

import os
import sys
import types
from pathlib import Path

from harness import clients, machine
from harness.context import interleaved, median, spread
from harness.models import SPEECH, SPEECH_TEXTS
from harness.processes import Server, find_tool, start_millrace
from harness.report import Result

SHORT = {"repeats": 2, "seconds": 3}
FULL = {"repeats": 5, "seconds": 6}
ROOT = Path(__file__).resolve().parents[3]
TESTS = ROOT / "tests"
PYTHON = ROOT / ".tools/ray-venv/bin/python"
# One worker leaves processor time to what is in front of it.
FLAGS = ("--workers", "1", "--intra-op-threads", "1")
CASES = {"null, 1 at once": ("infer", clients.NULL_MODEL, {"concurrency": 1}),
         "null, 16 at once": ("infer", clients.NULL_MODEL, {"concurrency": 16}),
         "speech, 1 stream": ("stream-synthesize", SPEECH, {"concurrency": 1, "texts": SPEECH_TEXTS, "deadline_ms": 60000})}


class Front:
    """Where the generator sends calls, as one of harness.processes.Server; `pids` are the processes that serve them."""

    def __init__(self, address, pids):
        self.address, self.pids, self.pid, self.name, self.ports = address, pids, pids[0], address, {}

    def check_alive(self):
        """The servers behind it are checked by those who hold them."""

    def cpu_seconds(self):
        return sum(machine.cpu_seconds(pid) for pid in self.pids)


def start_fronts(context):
    """{name: Front}. HAProxy has the daemon that is also called without a proxy, and Ray starts one of its own."""
    for folder in (TESTS, TESTS / "integration"):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    from fleet import balancers
    daemon = start_millrace(context, "millrace-ray", *FLAGS)
    replica = types.SimpleNamespace(grpc_port=daemon.ports["grpc"], http_port=daemon.ports["http"])
    haproxy = context.hold(balancers.haproxy([replica], context.out))
    port_file = context.out / "ray-serve.ports.json"
    command = [str(PYTHON), "-m", "fleet.ray_serve", "--binary", str(find_tool(context.build, "millrace")), "--models", str(context.models),
               "--port-file", str(port_file), "--", *FLAGS, *context.server_flags]
    ray = context.hold(Server("ray-serve", ["env", f"PYTHONPATH={TESTS}", *command], port_file, context.out / "ray-serve.log", 300))
    return {"no proxy": Front(daemon.address, [daemon.pid]), "HAProxy": Front(haproxy.address, [haproxy.pid, daemon.pid]),
            "Ray Serve": Front(ray.address, [ray.pid])}


def run(context):
    if not os.access(PYTHON, os.X_OK):
        raise SystemExit("Ray is not installed; scripts/check-ray.sh installs it")
    fronts = start_fronts(context)

    def trial(key, seconds=None):
        case, name = key.split(" | ")
        method, model, load = CASES[case]
        before = fronts[name].cpu_seconds()
        result = clients.require_all_ok(clients.loadgen(context, fronts[name], method, model, seconds=seconds or context.seconds, **load))
        cpu = fronts[name].cpu_seconds() - before
        latency = result["statuses"]["OK"]["latency_ms"]
        first = result["stream"]["first_audio_ms"] if method == "stream-synthesize" else latency
        return {"rate": result["ok"] / result["wall_seconds"], "first_p50": first["p50"], "first_p99": first["p99"],
                "cpu_ms": cpu / result["ok"] * 1e3}

    keys = [f"{case} | {name}" for case in CASES for name in fronts]
    for key in keys:
        trial(key, seconds=1)   # warm
    trials = interleaved(context, keys, trial)
    rows = []
    for case in CASES:
        bare = trials[f"{case} | no proxy"]
        for name in fronts:
            r = trials[f"{case} | {name}"]
            rows.append([case, name, f"{median(r, 'first_p50'):.2f}", spread(r, "first_p50"), f"{median(r, 'first_p99'):.2f}",
                         f"{median(r, 'first_p50') - median(bare, 'first_p50'):+.2f}", f"{median(r, 'rate'):,.0f}",
                         f"{median(r, 'rate') / median(bare, 'rate'):.2f}", f"{median(r, 'cpu_ms'):.3f}"])
    return Result(
        title="Ray Serve against a proxy",
        about="One daemon with one worker behind deploy/ray, behind HAProxy as deploy/haproxy has it, and called directly, by millrace_loadgen in closed "
              "loops over one connection: the null model by ModelInfer, and the texts of tests/load/data/speech-en.txt by StreamSynthesize, of which the "
              "time is that to the first audio. CPU is user and system time of the daemon and all that is in front of it, of which Ray has its own store, "
              "controller and schedulers.",
        columns=["load", "front", "p50 ms", "lowest-highest", "p99 ms", "more than direct, ms", "calls/s", "of direct", "CPU ms/call"],
        rows=rows, bars=[], trials=trials)
