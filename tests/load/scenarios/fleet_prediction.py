"""Whether three replicas carry what one of them was measured to carry, three times."""

from contextlib import ExitStack
from types import SimpleNamespace

from harness import clients
from harness.context import interleaved, median, spread
from harness.cpu_quota import CpuQuota
from harness.models import SPEECH, SPEECH_TEXTS, TRANSLATION, TRANSLATION_TEXTS
from harness.processes import start_millrace
from harness.report import Bar, Result
from scenarios.fleet import import_fleet

SHORT = {"repeats": 2, "seconds": 8}
FULL = {"repeats": 5, "seconds": 20}
REPLICAS = 3
CORES = 0.35   # of each: what is left of two cores is for the balancer and the clients
CLIENTS = 16   # of each replica at full load
SHARE = 0.6    # of full load, for the latency
KINDS = {
    "translated sentences": {"method": "translate", "model": TRANSLATION, "texts": TRANSLATION_TEXTS},
    "spoken texts": {"method": "synthesize", "model": SPEECH, "texts": SPEECH_TEXTS}}
# Envoy pings its replicas more often than the daemon allows by default.
FLAGS = ("--workers", "1", "--intra-op-threads", "1", "--keepalive-min-interval", "1s")


def start(context, stack):
    """{number of replicas: what its clients call}."""
    servers = [start_millrace(context, f"millrace-replica{i + 1}", *FLAGS) for i in range(REPLICAS)]
    for server in servers:
        stack.enter_context(CpuQuota(server.name, CORES, server.pid))
    balancers, faults, process, _, _ = import_fleet()
    folder = context.out / "fleet-prediction"
    folder.mkdir(exist_ok=True)
    envoy = balancers.envoy([SimpleNamespace(grpc_port=server.ports["grpc"], http_port=server.ports["http"]) for server in servers], folder)
    stack.callback(envoy.stop)
    with envoy.connect() as channel:
        process.wait_for("Envoy serves", lambda: faults.is_served(channel))
    return {1: servers[0], REPLICAS: SimpleNamespace(address=envoy.address, pid=envoy.pid, check_alive=envoy.check_runs)}


def run(context):
    with ExitStack() as stack:
        return measure(context, start(context, stack))


def measure(context, fleets):
    def load(kind, replicas, **how):
        options = KINDS[kind]
        result = clients.loadgen(context, fleets[replicas], options["method"], options["model"], texts=options["texts"], deadline_ms=60000, **how)
        clients.require_all_ok(result)
        return {"rate": result["ok"] / result["wall_seconds"], "p95": result["statuses"]["OK"]["latency_ms"]["p95"]}

    def trial(kind, replicas):
        full = load(kind, replicas, concurrency=CLIENTS * replicas, seconds=context.seconds)["rate"]
        return {"full": full, "p95": load(kind, replicas, rate=SHARE * full, seconds=context.seconds)["p95"]}

    rows, bars, trials = [], [], {}
    for kind in KINDS:
        for replicas in fleets:
            load(kind, replicas, concurrency=CLIENTS * replicas, seconds=2)   # warm
        cases = {f"{kind}, {replicas} replica{'s' if replicas > 1 else ''}": replicas for replicas in fleets}
        results = interleaved(context, list(cases), lambda case, k=kind, c=cases: trial(k, c[case]))
        trials |= results
        one, three = results.values()
        predicted = REPLICAS * median(one, "full")
        error = median(three, "full") / predicted - 1
        rows.append([kind, f"{median(one, 'full'):,.1f} ({spread(one, 'full')})", f"{predicted:,.1f}", f"{median(three, 'full'):,.1f} ({spread(three, 'full')})",
                     f"{error:+.1%}", f"{median(one, 'p95'):,.0f}", f"{median(three, 'p95'):,.0f}"])
        bars.append(Bar(f"{kind}: measured, from the prediction", f"{error:+.1%}", "within 15 %", abs(error) <= 0.15))
    return Result(
        title="What three replicas carry, predicted and measured",
        about=f"Daemons with one worker, each limited by a control group to {CORES:g} cores, so that one machine stands in for {REPLICAS}: one alone, and {REPLICAS} behind Envoy "
              f"with deploy/envoy/envoy.yaml. Full load is a closed loop of {CLIENTS} clients a replica; the prediction for {REPLICAS} replicas is {REPLICAS} times that of one, as "
              f"the capacity scenario computes it. Then the p95 of an open loop at {SHARE:.0%} of each one's full load.",
        columns=["a second", "1 replica", f"{REPLICAS} replicas, predicted", "measured", "difference", "p95 ms, 1 replica", f"p95 ms, {REPLICAS} replicas"],
        rows=rows, bars=bars,
        notes=["The p95 of several replicas is lower where a call finds an idle one among them."],
        trials=trials)
