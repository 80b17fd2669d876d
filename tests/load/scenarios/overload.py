"""Ten times the sustainable load: goodput, refusals, deadlines and memory."""

from harness import clients, machine, plots
from harness.context import median
from harness.models import TRANSLATION, TRANSLATION_TEXTS
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": 10}
FULL = {"repeats": 1, "seconds": 60}
FACTOR = 10
PEAK_SECONDS = 8
RESIDENT_SAMPLE_S = 0.25
CONNECTIONS = 4
# Deadlines are bucket bounds of the server's histograms, so that what is late can be counted there.
CASES = {
    "translation": {"method": "translate", "model": TRANSLATION, "texts": TRANSLATION_TEXTS, "deadline_ms": 2500,
                    "rpc": "Translate", "peak_concurrency": (16, 32, 64, 128)},
    "null model": {"method": "infer", "model": clients.NULL_MODEL, "texts": None, "deadline_ms": 1000,
                   "rpc": "ModelInfer", "peak_concurrency": (32, 64, 128)},
}


def load(context, server, case, **how):
    return clients.loadgen(context, server, case["method"], case["model"], texts=case["texts"], connections=CONNECTIONS,
                           deadline_ms=case["deadline_ms"], **how)


def longer_than(page, case, seconds):
    """Answers that took longer, and the longest a batch may have taken (an upper bound), from the server's histograms."""
    def buckets(name, labels):
        return {float(dict(key)["le"]): value for key, value in page.get(name, {}).items()
                if labels.items() <= dict(key).items()}

    requests = buckets("millrace_request_duration_seconds_bucket", {"model": case["model"], "method": case["rpc"]})
    compute = buckets("millrace_compute_duration_seconds_bucket", {"model": case["model"]})
    total = requests[float("inf")]
    longest_batch = min(bound for bound, value in compute.items() if value == compute[float("inf")])
    at_most = max((value for bound, value in requests.items() if bound <= seconds), default=0)
    return total - at_most, longest_batch


def find_peak(context, server, case, seconds):
    """The best closed-loop rate over several numbers of calls in flight."""
    rates = {}
    for concurrency in case["peak_concurrency"]:
        result = clients.require_all_ok(load(context, server, case, concurrency=concurrency, seconds=seconds))
        rates[concurrency] = result["ok_in_window"] / seconds
    return max(rates.values()), rates


def overload(context, server, case, peak):
    with machine.ResidentSampler(server.pid, RESIDENT_SAMPLE_S) as sampler:
        result = load(context, server, case, rate=FACTOR * peak, seconds=context.seconds)
    statuses = result["statuses"]
    refused = statuses.get("RESOURCE_EXHAUSTED", {"count": 0, "service_ms": {"p50": 0, "p99": 0, "max": 0}})
    known = {"OK", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"}
    return {
        "sent_per_s": (result["offered"] - result["unsent"]) / context.seconds,
        "goodput": result["ok_in_window"] / context.seconds,
        "refused": refused["count"], "refused_p50_ms": refused["service_ms"]["p50"], "refused_p99_ms": refused["service_ms"]["p99"],
        "deadline_exceeded": statuses.get("DEADLINE_EXCEEDED", {"count": 0})["count"],
        "others": {code: s["count"] for code, s in statuses.items() if code not in known},
        "ok_max_ms": statuses["OK"]["service_ms"]["max"], "ok_p50_ms": statuses["OK"]["service_ms"]["p50"],
        "generator_cores": result["generator_cpu_seconds"] / result["wall_seconds"],
        "server_cores": result["server_cpu_seconds"] / result["wall_seconds"],
        "rss": sampler.samples, "wrong": result["wrong"],
    }


def run_case(context, name, case):
    def trial():
        server = start_millrace(context, f"millrace-overload-{case['method']}")
        try:
            load(context, server, case, concurrency=32, seconds=2)  # warm
            peak, rates = find_peak(context, server, case, min(PEAK_SECONDS, context.seconds))
            before = clients.scrape(server)
            data = overload(context, server, case, peak)
            late_before, _ = longer_than(before, case, case["deadline_ms"] / 1e3)
            late, longest_batch = longer_than(clients.scrape(server), case, case["deadline_ms"] / 1e3)
            after, _ = find_peak(context, server, case, min(PEAK_SECONDS, context.seconds))
            return data | {"peak": peak, "peak_rates": rates, "peak_after": after, "late": late - late_before,
                           "longest_batch_s": longest_batch}
        finally:
            context.stop(server)

    return [context.trial(f"{name} #{i + 1}", trial) for i in range(context.repeats)]


def judge(name, results, case):
    # The peak before and after: the machine's own drift during the minute is in neither alone.
    goodput = [r["goodput"] / ((r["peak"] + r["peak_after"]) / 2) for r in results]
    share = sorted(goodput)[len(goodput) // 2]
    p99 = median(results, "refused_p99_ms")
    half = [[mib for t, mib in r["rss"]] for r in results]
    growth = max(max(x) / max(x[:len(x) // 2]) - 1 for x in half)
    late = max(r["ok_max_ms"] for r in results) - case["deadline_ms"]
    attained = min(r["sent_per_s"] / (FACTOR * r["peak"]) for r in results)
    bars = [Bar(f"{name}: goodput, of the peak", f"{share:.1%}", ">= 95 %", share >= 0.95),
            Bar(f"{name}: refused within, p99", f"{p99:.2f} ms", "<= 5 ms", p99 <= 5),
            Bar(f"{name}: last OK answer after its deadline", "none" if late <= 0 else f"{late:.0f} ms", "none", late <= 0),
            Bar(f"{name}: growth of the largest resident size in the second half", f"{growth:+.1%}", "<= 2 %", growth <= 0.02)]
    if attained < 0.98:
        bars.append(Bar(f"{name}: load really offered", f"{attained * FACTOR:.1f}x the peak", f"{FACTOR}x", False))
    return bars


def row(name, r):
    return [name, f"{r['peak']:,.0f}", f"{r['sent_per_s']:,.0f}", f"{r['goodput']:,.0f}", f"{r['peak_after']:,.0f}",
            f"{r['refused']:,.0f}", f"{r['refused_p50_ms']:.2f} / {r['refused_p99_ms']:.2f}", f"{r['deadline_exceeded']:,.0f}",
            f"{r['late']:,.0f}", f"{r['ok_p50_ms']:.0f}", f"{max(mib for _, mib in r['rss']):.0f}",
            f"{r['generator_cores']:.2f} / {r['server_cores']:.2f}"]


def run(context):
    trials = {name: run_case(context, name, case) for name, case in CASES.items()}
    strange = {code: n for results in trials.values() for r in results for code, n in r["others"].items()}
    plot = context.plot("overload.png")
    plots.lines(plot, f"Resident size at {FACTOR} times the sustainable load", "seconds", "MiB",
                {name: results[0]["rss"] for name, results in trials.items()})
    bars = [bar for name, results in trials.items() for bar in judge(name, results, CASES[name])]
    bars.append(Bar("answers other than OK, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED", str(sum(strange.values()) or "none"), "none", not strange))
    return Result(
        title=f"Overload: {FACTOR} times the sustainable load for {context.seconds} s",
        about="The peak is the best closed-loop rate over several numbers of calls in flight; then millrace_loadgen offers "
              f"{FACTOR} times as much on a fixed schedule, whatever comes back, from the same cores. Refusal times are the client's, "
              "from sending the call. Late answers are counted by the server's own histogram.",
        columns=["load", "peak/s", "offered/s", "OK/s", "peak/s after", "refused", "refusal p50 / p99 ms", "DEADLINE_EXCEEDED",
                 "calls in the server longer than the deadline", "OK p50 ms", "largest resident MiB", "cores of generator / server"],
        rows=[row(name, r) for name, results in trials.items() for r in results],
        bars=bars,
        notes=["Deadlines: " + ", ".join(f"{name} {case['deadline_ms']} ms" for name, case in CASES.items()) + "."],
        plots=[(plot.name, "Resident size during overload")],
        trials=trials)
