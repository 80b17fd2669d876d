"""Ten times the sustainable load: goodput, refusals, deadlines and memory."""

import re
import statistics

from harness import clients, machine, plots
from harness.context import median
from harness.models import SPEECH, SPEECH_TEXTS, TRANSLATION, TRANSLATION_TEXTS, write_paragraphs
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": 10}
FULL = {"repeats": 1, "seconds": 60}
FACTOR = 10
PEAK_SECONDS = 12
RESIDENT_SAMPLE_S = 0.25
CONNECTIONS = 4
PATIENT_MS = 300000  # while the peak is sought: the longest that the daemon accepts
PARAGRAPHS = "translation of paragraphs"
SENTENCES_EACH = 10
# Deadlines are bucket bounds of the server's histograms, so that what is late can be counted there.
CASES = {
    "translation": {"method": "translate", "model": TRANSLATION, "texts": TRANSLATION_TEXTS, "deadline_ms": 2500,
                    "rpc": "Translate", "peak_concurrency": (16, 32, 64, 128), "unit": "texts"},
    # Beside a translation of this length a refusal costs little. The texts are written when it runs.
    PARAGRAPHS: {"method": "translate", "model": TRANSLATION, "texts": None, "deadline_ms": 2500,
                 "rpc": "Translate", "peak_concurrency": (8, 16, 32), "unit": "texts"},
    "speech": {"method": "synthesize", "model": SPEECH, "texts": SPEECH_TEXTS, "deadline_ms": 60000,
               "rpc": "Synthesize", "peak_concurrency": (4, 8, 16), "unit": "audio-s"},
    "null model": {"method": "infer", "model": clients.NULL_MODEL, "texts": None, "deadline_ms": 1000,
                   "rpc": "ModelInfer", "peak_concurrency": (32, 64, 128), "unit": "calls"},
}


def load(context, server, case, deadline_ms, **how):
    return clients.loadgen(context, server, case["method"], case["model"], texts=case["texts"], connections=CONNECTIONS,
                           deadline_ms=deadline_ms, **how)


def served_per_s(result, case, seconds):
    """Useful work a second. Speech counts in seconds of audio, since its texts differ most, until the last answer."""
    if case["unit"] == "audio-s":
        return result["audio_seconds"] / result["wall_seconds"]
    return result["ok_in_window"] / seconds


def find_peak(context, server, case, seconds, concurrencies):
    """Of the best closed loop: calls in flight, useful work a second, calls a second."""
    peaks = []
    for concurrency in concurrencies:
        result = clients.require_all_ok(load(context, server, case, PATIENT_MS, concurrency=concurrency, seconds=seconds))
        peaks.append((served_per_s(result, case, seconds), result["ok"] / result["wall_seconds"], concurrency))
    return max(peaks)


def buckets(page, name, labels):
    """Cumulative counts by upper bound."""
    return {float(dict(key)["le"]): value for key, value in page.get(name + "_bucket", {}).items()
            if labels.items() <= dict(key).items()}


def longer_than(page, case, seconds):
    """Calls that were in the server for longer, and a bound on its longest batch, from its own histograms."""
    requests = buckets(page, "millrace_request_duration_seconds", {"model": case["model"], "method": case["rpc"]})
    compute = buckets(page, "millrace_compute_duration_seconds", {"model": case["model"]})
    at_most = max((value for bound, value in requests.items() if bound <= seconds), default=0)
    longest_batch = min(bound for bound, value in compute.items() if value == compute[float("inf")])
    return requests[float("inf")] - at_most, longest_batch


def logged_seconds(log, offset, case):
    """How long the calls took that the server's log tells of after an offset: those that ended with neither OK nor a refusal."""
    with open(log, "rb") as file:
        file.seek(offset)
        text = file.read().decode(errors="replace")
    return [float(match.group(1)) for match in re.finditer(r" request .*? seconds=([0-9.e+-]+)", text)
            if f" method={case['rpc']} " in match.group(0)]


def overload(context, server, case, peak_calls):
    page, offset = clients.scrape(server), server.log.stat().st_size
    with machine.ResidentSampler(server.pid, RESIDENT_SAMPLE_S) as sampler:
        result = load(context, server, case, case["deadline_ms"], rate=FACTOR * peak_calls, seconds=context.seconds)
    context.settle()
    deadline = case["deadline_ms"] / 1e3
    before, _ = longer_than(page, case, deadline)
    over, longest_batch = longer_than(clients.scrape(server), case, deadline)
    expired = [seconds for seconds in logged_seconds(server.log, offset, case) if seconds > deadline]
    statuses = result["statuses"]
    none = {"count": 0, "service_ms": {"p50": 0, "p99": 0}}
    refused, ok = statuses.get("RESOURCE_EXHAUSTED", none), statuses.get("OK", none)
    known = {"OK", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"}
    return {
        "sent_per_s": (result["offered"] - result["unsent"]) / context.seconds,
        "goodput": served_per_s(result, case, context.seconds), "ok_p50_ms": ok["service_ms"]["p50"],
        "refused": refused["count"], "refused_p50_ms": refused["service_ms"]["p50"], "refused_p99_ms": refused["service_ms"]["p99"],
        "deadline_exceeded": statuses.get("DEADLINE_EXCEEDED", none)["count"],
        "other_statuses": {code: s["count"] for code, s in statuses.items() if code not in known},
        "ok_late": max(0, over - before - len(expired)),
        "latest_s": max(expired, default=deadline) - deadline, "longest_batch_s": longest_batch,
        "generator_cores": result["generator_cpu_seconds"] / result["wall_seconds"],
        "server_cores": result["server_cpu_seconds"] / result["wall_seconds"],
        "rss": sampler.samples, "wrong": result["wrong"],
    }


def run_case(context, name, case):
    def trial():
        server = start_millrace(context, f"millrace-overload-{case['method']}")
        try:
            load(context, server, case, PATIENT_MS, concurrency=16, seconds=2)  # warm
            seconds = min(PEAK_SECONDS, context.seconds)
            peak, calls, concurrency = find_peak(context, server, case, seconds, case["peak_concurrency"])
            data = overload(context, server, case, calls)
            after, _, _ = find_peak(context, server, case, seconds, [concurrency])
            return data | {"peak": peak, "peak_calls": calls, "peak_concurrency": concurrency, "peak_after": after}
        finally:
            context.stop(server)

    return [context.trial(f"{name} #{i + 1}", trial) for i in range(context.repeats)]


def offered_factor(results):
    return min(r["sent_per_s"] / r["peak_calls"] for r in results)


def judge(name, results, case):
    """Goals count only where the generator could offer the load; elsewhere the figures stand without a verdict."""
    applies = offered_factor(results) >= 0.98 * FACTOR
    # Of the peaks before and after: the machine's own drift during the minute is in neither alone.
    share = statistics.median(2 * r["goodput"] / (r["peak"] + r["peak_after"]) for r in results)
    refusal = median(results, "refused_p99_ms")
    late = sum(r["ok_late"] for r in results)
    excess = max(r["latest_s"] - r["longest_batch_s"] for r in results)
    latest = max(r["latest_s"] for r in results)
    growth = max(resident_growth(r["rss"]) for r in results)

    def bar(what, measured, goal, met):
        return Bar(f"{name}: {what}", measured, goal, met if applies else None)

    return [bar("goodput, of the peak", f"{share:.1%}", ">= 95 %", share >= 0.95),
            bar("refused within, p99", f"{refusal:.2f} ms", "<= 5 ms", refusal <= 5),
            bar("OK answers later than the deadline", f"{late:.0f}", "0", late == 0),
            bar("latest end after a deadline", f"{latest * 1e3:.1f} ms",
                f"one batch, <= {max(r['longest_batch_s'] for r in results) * 1e3:.0f} ms", excess <= 0),
            bar("largest resident size of the second half, of the first", f"{growth:+.1%}", "<= +2 %", growth <= 0.02)]


def resident_growth(samples):
    sizes = [mib for _, mib in samples]
    half = max(1, len(sizes) // 2)
    return max(sizes) / max(sizes[:half]) - 1


def row(name, r, case):
    return [name, f"{r['peak']:,.1f} {case['unit']} (c={r['peak_concurrency']:.0f})", f"{r['sent_per_s'] / r['peak_calls']:.1f}x",
            f"{r['goodput']:,.1f}", f"{r['peak_after']:,.1f}", f"{r['refused']:,.0f}",
            f"{r['refused_p50_ms']:.2f} / {r['refused_p99_ms']:.2f}", f"{r['deadline_exceeded']:,.0f}", f"{r['ok_p50_ms']:,.0f}",
            f"{max(mib for _, mib in r['rss']):,.0f}", f"{r['generator_cores']:.2f} / {r['server_cores']:.2f}"]


def run(context):
    paragraphs = context.out / "paragraphs.txt"
    write_paragraphs(paragraphs, SENTENCES_EACH)
    cases = {name: case | ({"texts": paragraphs} if name == PARAGRAPHS else {}) for name, case in CASES.items()}
    trials = {name: run_case(context, name, case) for name, case in cases.items()}
    strange = sorted({code for results in trials.values() for r in results for code in r["other_statuses"]})
    weak = [name for name, results in trials.items() if offered_factor(results) < 0.98 * FACTOR]
    plot = context.plot("overload.png")
    plots.lines(plot, f"Resident size at {FACTOR} times the sustainable load", "seconds", "MiB",
                {name: results[0]["rss"] for name, results in trials.items()})
    bars = [bar for name, results in trials.items() for bar in judge(name, results, CASES[name])]
    bars.append(Bar("statuses other than OK, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED", ", ".join(strange) or "none", "none", not strange))
    notes = ["Deadlines: " + ", ".join(f"{name} {case['deadline_ms'] / 1e3:g} s" for name, case in CASES.items()) + ".",
             "Refusal times are the client's, from sending a call to its answer. When a call ended after its deadline is the server's own "
             "record (histogram and log): a client that shares the cores with an overloaded server would blame it for its own delays."]
    if weak:
        notes.append(f"No verdict for {', '.join(weak)}: on these cores a refusal costs as much as an answer and the generator as much "
                     f"as the server, so that {FACTOR} times the peak could not be offered.")
    return Result(
        title=f"Overload: {FACTOR} times the sustainable load for {context.seconds} s",
        about="The peak is the best closed loop over several numbers of calls in flight; then millrace_loadgen offers "
              f"{FACTOR} times as many calls on a fixed schedule, whatever comes back, from the same cores. Paragraphs are of {SENTENCES_EACH} "
              "sentences.",
        columns=["load", "peak/s", "offered, of the peak", "served/s", "peak/s after", "refused", "refusal p50 / p99 ms", "DEADLINE_EXCEEDED",
                 "OK p50 ms", "largest resident MiB", "cores of generator / server"],
        rows=[row(name, r, CASES[name]) for name, results in trials.items() for r in results],
        bars=bars, notes=notes,
        plots=[(plot.name, "Resident size during overload")],
        trials=trials)
