"""A flood of one API key at ten times its share of a model, beside another key at its share."""

import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

from harness import clients
from harness.context import interleaved, median, spread
from harness.models import SPEECH, SPEECH_TEXTS, TRANSLATION, TRANSLATION_TEXTS
from harness.processes import find_tool, start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": 5}
FULL = {"repeats": 5, "seconds": 20}
FACTOR = 10
SHARE = 0.45     # of the peak that each of the two keys has: nearly half, so that both together are no overload yet
CONNECTIONS = 4
DEADLINE_MS = 60000
PEAK_SECONDS = 3
# What the other key offers while one is looked at, in shares.
BESIDE = {"nothing": 0, "its share": 1, f"{FACTOR} times its share": FACTOR}
LOADS = {
    "translation": {"method": "translate", "model": TRANSLATION, "texts": TRANSLATION_TEXTS, "concurrency": 32},
    "speech": {"method": "synthesize", "model": SPEECH, "texts": SPEECH_TEXTS, "concurrency": 8},
}
POLICY = """default = "equal"

[tiers.equal]
"""


def start(context):
    """A daemon that knows two keys of equal weight. The file of keys is made anew, since a name may have several."""
    keys, policy = context.out / "fairness.keys", context.out / "fairness.toml"
    keys.unlink(missing_ok=True)
    policy.write_text(POLICY)
    for name in ("looked-at", "flood"):
        subprocess.run([str(find_tool(context.build, "millrace")), "hash-key", name, "--stdin", "--append", str(keys)],
                       input=name, text=True, check=True, capture_output=True)
    return start_millrace(context, "millrace-fairness", "--api-keys", str(keys), "--policy", str(policy))


def load(context, server, how, key, **options):
    return clients.loadgen(context, server, how["method"], how["model"], texts=how["texts"], connections=CONNECTIONS,
                           deadline_ms=DEADLINE_MS, api_key=key, **options)


def run_load(context, server, name, how):
    """{what stands beside the key: [what the key got, per repeat]}."""
    load(context, server, how, "looked-at", concurrency=how["concurrency"], seconds=1)   # warm

    def trial(case):
        shares = BESIDE[case.removeprefix(f"{name} beside ")]
        # A machine that others use as well has another peak at each trial.
        peak = load(context, server, how, "looked-at", concurrency=how["concurrency"], seconds=min(PEAK_SECONDS, context.seconds))
        rate = SHARE * peak["ok"] / peak["wall_seconds"]
        with ThreadPoolExecutor(2) as pool:
            flood = shares and pool.submit(load, context, server, how, "flood", rate=shares * rate, seconds=context.seconds)
            try:
                result = load(context, server, how, "looked-at", rate=rate, seconds=context.seconds)
                beside = flood.result() if flood else None
            except BaseException:
                clients.kill_running()   # or leaving the pool would wait for the other to the end
                raise
        if "OK" not in result["statuses"]:
            raise clients.LoadFailed(f"{case}: no call of the key was answered: {result['statuses']}")
        per_s = result["ok_in_window"] / context.seconds
        return {"offered_per_s": rate, "per_s": per_s, "answered": per_s / rate, "p50_ms": result["statuses"]["OK"]["service_ms"]["p50"],
                "p95_ms": result["statuses"]["OK"]["service_ms"]["p95"], "not_ok": result["offered"] - result["ok"], "unsent": result["unsent"],
                "flood_per_s": beside["ok_in_window"] / context.seconds if beside else 0,
                "flood_sent_per_s": (beside["offered"] - beside["unsent"]) / context.seconds if beside else 0}

    return interleaved(context, [f"{name} beside {case}" for case in BESIDE], trial)


def run(context):
    server = start(context)
    rows, bars, trials = [], [], {}
    for name, how in LOADS.items():
        results = run_load(context, server, name, how)
        trials |= results
        _, fair, flooded = results.values()
        for case, found in results.items():
            rows.append([case, f"{median(found, 'offered_per_s'):,.1f}", f"{median(found, 'per_s'):,.1f}", spread(found, "per_s"), f"{median(found, 'p50_ms'):,.0f}",
                         f"{median(found, 'p95_ms'):,.0f}", f"{median(found, 'flood_sent_per_s'):,.0f}", f"{median(found, 'flood_per_s'):,.1f}"])
        # The trials of one repeat follow one another, so their ratio is free of the machine's slow changes.
        lost = 1 - statistics.median(a["answered"] / b["answered"] for a, b in zip(flooded, fair))
        slower = statistics.median(a["p95_ms"] / b["p95_ms"] for a, b in zip(flooded, fair))
        bars += [Bar(f"{name}: throughput that the flood costs the other key", f"{lost:.1%}", "<= 10 %", lost <= 0.1),
                 Bar(f"{name}: the other key's p95 beside the flood, of that beside a share", f"{slower:.2f}x", "<= 1.5x", slower <= 1.5)]
    return Result(
        title=f"Fairness: a flood of one API key at {FACTOR} times its share",
        about=f"Two API keys of equal weight on one daemon with a policy and no limits. Each one's share is {SHARE:.0%} of the peak that a closed "
              f"loop finds just before. One key offers its share on a fixed schedule; the other offers nothing, its share, or {FACTOR} times that, from "
              f"generators on {'cores of their own' if context.args.server_cpus else 'the same cores'}. The three cases take turns, and the "
              "goals are medians of the ratios of each turn.",
        columns=["load and what is beside it", "offered/s", "answered/s", "lowest-highest", "p50 ms", "p95 ms", "flood sent/s", "flood answered/s"],
        rows=rows, bars=bars,
        notes=["What the flood costs includes refusing it" + ("." if context.args.server_cpus else ", and sending it, since the generators share the cores.")],
        trials=trials)
