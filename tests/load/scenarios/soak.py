"""Mixed load for half an hour: does the resident size stay where it is?"""

import statistics

from harness import machine, plots
from harness.processes import start_millrace
from harness.report import Bar, Result
from scenarios.mixed import run_mixed

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 1, "seconds": None}
SAMPLE_S = 5
SETTLE_S = 300
# About half of what two cores carry, so that nothing queues for long and each sample finds the same work going on.
RATES = {"infer": 200, "translate": 20, "translate back": 10, "speech": 0.5, "speech stream": 0.5}


def run(context):
    seconds = context.args.minutes * 60
    settle = min(SETTLE_S, seconds / 6)

    def trial():
        server = start_millrace(context, "millrace-soak")
        with machine.ResidentSampler(server.pid, SAMPLE_S) as sampler:
            results = run_mixed(context, server, seconds=seconds, rates=RATES)
        server.check_alive()
        return {"samples": sampler.samples, "ok": {kind: r["ok"] for kind, r in results.items()},
                "unsent": {kind: r["unsent"] for kind, r in results.items()},
                "failed": {kind: r["offered"] - r["unsent"] - r["ok"] for kind, r in results.items()},
                "wrong": sum(r["wrong"] + r["inconsistent"] for r in results.values()),
                "final": machine.memory_mib(server.pid)}

    data = context.trial("soak", trial)
    after = [(t, mib) for t, mib in data["samples"] if t >= settle]
    # Minutes as medians: a single sample tells what was being computed just then.
    minutes = {}
    for t, mib in after:
        minutes.setdefault(int((t - settle) // 60), []).append(mib)
    medians = [statistics.median(samples) for samples in minutes.values() if len(samples) * SAMPLE_S >= 30]
    level = medians[0]
    worst = max((mib / level - 1 for mib in medians), key=abs)
    sample = max((mib / level - 1 for _, mib in after), key=abs)
    failed = sum(data["failed"].values())
    slope = statistics.linear_regression(*zip(*after)).slope * 3600
    plot = context.plot("soak.png")
    plots.lines(plot, "Resident size under mixed load", "minutes", "MiB", {"": [(t / 60, mib) for t, mib in data["samples"]]},
                marks=[(settle / 60, "settled")])
    return Result(
        title=f"Soak: {context.args.minutes:g} minutes of mixed load",
        about="Null model, both translations, speech and streamed speech at fixed rates (calls/s: "
              + ", ".join(f"{kind} {rate:g}" for kind, rate in RATES.items())
              + f"); the resident size is sampled every {SAMPLE_S} s.",
        columns=["calls answered OK", "failed", "the generator could not send in time", "wrong or changed outputs", f"level after {settle / 60:g} min, MiB", "largest departure of a minute", "of a single sample", "trend MiB/hour"],
        rows=[[f"{sum(data['ok'].values()):,.0f}", f"{failed:,.0f}", f"{sum(data['unsent'].values()):,.0f}", f"{data['wrong']:.0f}", f"{level:.0f}", f"{worst:+.2%}", f"{sample:+.2%}", f"{slope:+.1f}"]],
        bars=[Bar(f"departure of a minute's median from the level after {settle / 60:g} minutes", f"{worst:+.2%}", "within 2 %", abs(worst) <= 0.02),
              Bar("calls that failed or gave a wrong or changed output", f"{failed + data['wrong']:.0f}", "0", failed + data["wrong"] == 0)],
        plots=[(plot.name, "Resident size over time")],
        trials=data)
