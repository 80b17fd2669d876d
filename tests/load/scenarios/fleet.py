"""Three replicas behind each of the configurations of deploy/: what callers notice while replicas come, go, crash and freeze."""

import shutil
import sys
import time
from pathlib import Path

from harness import plots
from harness.context import interleaved, median, spread
from harness.processes import find_tool
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": 10}
FULL = {"repeats": 3, "seconds": 60}
TESTS = Path(__file__).resolve().parents[2]
PHASES = ("calm", "rolling restart", "kill", "freeze")
UNARY_CALLS = 10_000


def import_fleet():
    """tests/fleet, which generates the stubs of gRPC as it is imported."""
    for folder in (TESTS, TESTS / "integration"):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    from fleet import balancers, faults, process, replica, traffic
    return balancers, faults, process, replica, traffic


def measure(context, name):
    """One balancer with a fleet of its own: first two replicas, then a third one, then the faults."""
    balancers, faults, process, replica, traffic = import_fleet()
    folder = context.out / "fleet" / name
    shutil.rmtree(folder, ignore_errors=True)
    models = folder / "models"
    models.mkdir(parents=True)
    for model in traffic.MODELS:
        (models / model).symlink_to(context.models / model)
    ports = process.free_ports(9)
    replicas = [replica.Replica(i, ports[3 * i:3 * i + 3], find_tool(context.build, "millrace"), models, folder) for i in range(3)]
    front = None
    journal = faults.Journal()
    try:
        faults.start_apart(replicas[:2])
        front = balancers.ALL[name](replicas, folder)
        with front.connect() as channel:
            process.wait_for(f"{name} serves", lambda: faults.is_served(channel))
            expected = traffic.Expected(channel)
        with traffic.Traffic([front], expected, traffic.Pace(null_clients=16, streams=2)) as load:
            faults.reached(front, 2)
            journal.run("scale up", lambda: faults.scale_up(replicas[2]))
            faults.reached(front, 3)
            time.sleep(8)   # nginx tries again after 5 s what did not answer
            before = [(one.served(), one.cpu_seconds()) for one in replicas]
            journal.run("calm", lambda: time.sleep(context.seconds))
            loads = [(one.served() - served, one.cpu_seconds() - seconds) for one, (served, seconds) in zip(replicas, before)]
            journal.run("rolling restart", lambda: faults.rolling_restart(replicas, [front]))
            journal.run("kill", lambda: faults.kill_and_replace(replicas[0]))
            journal.run("freeze", lambda: faults.freeze_and_thaw(replicas[1], load))
            faults.reached(front, 3)
    finally:
        if front is not None:
            front.stop()
        for one in replicas:
            one.stop()
    return summary(load, journal, loads, traffic.percentile)


def from_even(loads):
    """How far the replica that is the furthest from the mean is from it, as a share of the mean."""
    return max(abs(load * len(loads) / sum(loads) - 1) for load in loads)


def summary(load, journal, loads, percentile):
    """Numbers of one trial; milliseconds of the null model's calls that were in flight during each phase. `loads` has the requests and the
    processor seconds of each replica in the calm."""
    phases = {phase.name: phase for phase in journal.phases}
    streams, null, unary = load.of(None, "stream"), load.of(None, "null"), [*load.unary(), *load.of(None, "http")]
    result = {
        "calls": len(unary), "failed": sum(bool(call.error) for call in unary),
        "streams": len(streams),
        "cut": sum(bool(call.error) for call in streams if call.end < phases["kill"].start),
        "uneven": from_even([served for served, _ in loads]), "uneven time": from_even([seconds for _, seconds in loads]),
        "errors": sorted({call.error for call in (*unary, *streams) if call.error})[:5]}
    for name in PHASES:
        during = [call for call in null if call.start < phases[name].end and call.end > phases[name].start]
        result[f"{name} p99"] = percentile(during, 0.99) * 1000
        result[f"{name} worst"] = max(call.seconds for call in during) * 1000
    return result


def run(context):
    balancers, faults, _, _, _ = import_fleet()
    names = list(balancers.ALL)
    results = interleaved(context, names, lambda name: measure(context, name))
    rows, bars = [], []
    for name in names:
        trials = results[name]
        calls, failed, cut = (sum(trial[field] for trial in trials) for field in ("calls", "failed", "cut"))
        calm, restart = median(trials, "calm p99"), median(trials, "rolling restart p99")
        uneven = median(trials, "uneven")
        rows.append([name, f"{calls:,}", failed, sum(trial["streams"] for trial in trials), cut, f"{uneven:.1%}", f"{median(trials, 'uneven time'):.1%}",
                     *(f"{median(trials, f'{phase} p99'):.1f} ({spread(trials, f'{phase} p99')})" for phase in PHASES),
                     f"{max(trial['kill worst'] for trial in trials):,.0f}", f"{max(trial['freeze worst'] for trial in trials):,.0f}"])
        bars += [Bar(f"{name}: calls that failed", f"{failed}", "0", failed == 0),
                 Bar(f"{name}: streams that a planned restart cut", f"{cut}", "0", cut == 0),
                 Bar(f"{name}: calls after the scale-up, from even", f"{uneven:.1%}", "<= 10%", uneven <= 0.1),
                 Bar(f"{name}: p99 during the rolling restart, of that before", f"{restart / calm:.2f}x", "<= 2x", restart <= 2 * calm)]
    total = sum(trial["calls"] for name in names for trial in results[name])
    bars.append(Bar("unary calls in all", f"{total:,}", f">= {UNARY_CALLS:,}", total >= UNARY_CALLS))
    plot = context.plot("fleet.png")
    plots.bars(plot, "p99 of the null model's calls, three replicas on one machine", "ms", list(PHASES),
               {name: [median(results[name], f"{phase} p99") for phase in PHASES] for name in names}, logarithmic=True)
    return Result(
        title="A fleet of three",
        about="Three replicas with one worker each (null model, Bergamot en-pt, Piper) behind Envoy, HAProxy, nginx and gRPC's own balancing as deploy/ has "
              "them, all on this one machine together with the clients: 16 clients of the null model with 12 calls/s each, 4 translations/s, 1 spoken text/s, "
              "5 calls/s over HTTP where there is a proxy, "
              "and 2 streams of a text that is written while it is spoken. From two replicas to three; calm; a rolling restart of all three; "
              f"kill -9 of one, which is started again after {faults.DEAD_SECONDS} s; SIGSTOP of one, until no call waits for it. Every answer is compared with that of an "
              "undisturbed replica. Clients of Envoy do not retry; the others have deploy/grpc's retry policy.",
        columns=["balancer", "unary calls", "failed", "streams", "cut by a restart", "calls from even", "processor time from even",
                 *(f"p99 ms, {phase}" for phase in PHASES),
                 "slowest ms, kill", "slowest ms, freeze"],
        rows=rows, bars=bars,
        notes=["On a machine of its own a replica that starts takes no processor time from the others; here it does, which the p99 of the restart includes.",
               "HAProxy and nginx even out the calls in flight, so that a replica which holds a stream, of which one takes as much time as hundreds "
               "of the null model's calls, gets fewer short ones. Envoy's and gRPC's own balancing count calls, wherever the streams are."],
        plots=[(plot.name, "p99 by fault and balancer")],
        trials=results)
