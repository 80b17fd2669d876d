"""One to a thousand replicas in a simulation: what power of two choices is worth against round robin, a rolling restart, and the loss of a zone."""

from harness import plots
from harness.fleet_model import ATTEMPTS, POLICIES, Fleet, Outage, rolling_restart
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 1, "seconds": None}
SIZES = (1, 2, 3, 10, 30, 100, 300, 1000)
LOAD = 0.7
# A third of the replicas is lost at this load, after which the others have 0.75.
LOAD_WITH_SPARE_ZONE = 0.5
REQUESTS = 100_000
BALANCERS = 3
# In mean service times. Balancers need as long to see that a replica is gone.
AWAY, UNNOTICED, ZONE_AWAY = 20, 10, 200
FAULT_START = 100


def requests_for(replicas, load, duration):
    return int(replicas * load * duration)


def quiet(policy, replicas):
    outcome = Fleet(policy, replicas, load=LOAD, balancers=BALANCERS).run(REQUESTS)
    return {"p50": outcome.quantile(0.5), "p99": outcome.quantile(0.99)}


def restart(replicas):
    """A tenth at once, or one; compared with the time before."""
    at_once = max(1, replicas // 10)
    outages = rolling_restart(replicas, FAULT_START, AWAY, at_once)
    end = outages[-1].end
    outcome = Fleet("two choices", replicas, load=LOAD_WITH_SPARE_ZONE, balancers=BALANCERS, outages=outages).run(
        requests_for(replicas, LOAD_WITH_SPARE_ZONE, end + FAULT_START))
    return {"failed": outcome.failed, "before": outcome.quantile(0.99, 10, FAULT_START), "during": outcome.quantile(0.99, FAULT_START, end)}


def zone_lost(replicas):
    zone = Outage(range(replicas // 3), FAULT_START, FAULT_START + ZONE_AWAY, planned=False, unnoticed=UNNOTICED)
    outcome = Fleet("two choices", replicas, load=LOAD_WITH_SPARE_ZONE, balancers=BALANCERS, outages=[zone]).run(
        requests_for(replicas, LOAD_WITH_SPARE_ZONE, zone.end + FAULT_START))
    return {"failed": outcome.failed / (len(outcome.answered) + outcome.failed), "before": outcome.quantile(0.99, 10, FAULT_START),
            "during": outcome.quantile(0.99, FAULT_START, zone.end)}


def run(context):
    results = {}
    for size in SIZES:
        results[str(size)] = context.trial(f"{size} replicas", lambda n=size: {
            **{policy: quiet(policy, n) for policy in POLICIES},
            **({"restart": restart(n), "zone": zone_lost(n)} if n >= 3 else {})})
    rows = []
    for size, result in results.items():
        rows.append([size, *(f"{result[policy][q]:.1f}" for policy in POLICIES for q in ("p50", "p99")),
                     *((f"{result['restart']['before']:.1f} -> {result['restart']['during']:.1f}", result["restart"]["failed"],
                        f"{result['zone']['before']:.1f} -> {result['zone']['during']:.1f}", f"{result['zone']['failed']:.3%}")
                       if "zone" in result else ("", "", "", ""))])
    ten = results["10"]
    plot = context.plot("fleet-simulation.png")
    plots.lines(plot, f"Simulated p99 at {LOAD:.0%} load", "replicas", "p99, mean service times",
                {policy: [(size, results[str(size)][policy]["p99"]) for size in SIZES] for policy in POLICIES}, x_ticks=SIZES)
    return Result(
        title="One to a thousand replicas, simulated",
        about=f"tests/load/harness/fleet_model.py: random arrivals, exponential service times, one forward at a time in each replica, {BALANCERS} balancers of which each "
              f"knows only its own calls, up to {ATTEMPTS} attempts. Times are multiples of the mean service time. Quiet: {LOAD:.0%} load. Restart and zone: {LOAD_WITH_SPARE_ZONE:.0%} load, "
              f"two choices; the restart takes a tenth of the replicas, or one, away at once for {AWAY}; a third of them is lost for {ZONE_AWAY}, which the balancers notice after "
              f"{UNNOTICED}.",
        columns=["replicas", *(f"{policy} {q}" for policy in POLICIES for q in ("p50", "p99")), "p99 in a rolling restart", "failed", "p99 when a zone is lost", "failed"],
        rows=rows,
        bars=[Bar("p99 of two choices at 10 replicas, of that of round robin", f"{ten['two choices']['p99'] / ten['round robin']['p99']:.2f}x", "< 1x",
                  ten["two choices"]["p99"] < ten["round robin"]["p99"]),
              Bar("requests that a rolling restart fails", f"{sum(r['restart']['failed'] for r in results.values() if 'restart' in r)}", "0",
                  not any(r["restart"]["failed"] for r in results.values() if "restart" in r))],
        notes=["The figures follow from the program and its seeds: the machine has no part in them."],
        plots=[(plot.name, "p99 by number of replicas")], trials=results)
