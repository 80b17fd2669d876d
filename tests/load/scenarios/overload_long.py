"""Closed loops of far more callers than the server can serve, with long requests: what is admitted is to be done in time."""

import statistics

from harness import clients
from harness.context import median
from harness.models import SPEECH, TRANSLATION, write_paragraphs
from harness.processes import start_millrace
from harness.report import Bar, Result
from scenarios.overload import CONNECTIONS, PATIENT_MS

SHORT = {"repeats": 1, "seconds": 20}
FULL = {"repeats": 3, "seconds": 60}
SENTENCES = 20
DEADLINE_MS = 10000
CALLERS = (100, 400)
CASES = {
    "speech": {"method": "synthesize", "model": SPEECH, "peak_concurrency": (4, 8), "unit": "audio-s"},
    "translation": {"method": "translate", "model": TRANSLATION, "peak_concurrency": (16, 32), "unit": "texts"},
}
NONE = {"count": 0, "service_ms": {"p50": 0, "p99": 0}}


def useful_per_s(result, case, seconds):
    """Useful work a second. Speech counts in seconds of audio until the last answer, since its texts differ."""
    if case["unit"] == "audio-s":
        return result["audio_seconds"] / result["wall_seconds"]
    return result["ok_in_window"] / seconds


def one_load(context, server, case, texts, concurrency, deadline_ms, seconds):
    return clients.loadgen(context, server, case["method"], case["model"], texts=texts, connections=CONNECTIONS,
                           concurrency=concurrency, deadline_ms=deadline_ms, seconds=seconds)


def run_case(context, case, texts):
    server = start_millrace(context, f"millrace-overload-long-{case['method']}")
    try:
        one_load(context, server, case, texts, 8, PATIENT_MS, 3)  # warm
        peak = max(useful_per_s(clients.require_all_ok(one_load(context, server, case, texts, concurrency, PATIENT_MS, context.seconds)),
                                case, context.seconds) for concurrency in case["peak_concurrency"])
        return {str(callers): measure(one_load(context, server, case, texts, callers, DEADLINE_MS, context.seconds), case, context.seconds, peak)
                for callers in CALLERS}
    finally:
        context.stop(server)


def measure(result, case, seconds, peak):
    """What became of the calls of one closed loop."""
    statuses = result["statuses"]
    ok, late = statuses.get("OK", NONE), statuses.get("DEADLINE_EXCEEDED", NONE)["count"]
    refused = statuses.get("RESOURCE_EXHAUSTED", NONE)
    known = {"OK", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"}
    return {"peak": peak, "goodput": useful_per_s(result, case, seconds), "ok": ok["count"], "late": late, "refused": refused["count"],
            "late_share": late / max(1, late + ok["count"]), "ok_p50_ms": ok["service_ms"]["p50"], "ok_p99_ms": ok["service_ms"]["p99"],
            "refused_p50_ms": refused["service_ms"]["p50"], "wrong": result["wrong"],
            "other_statuses": {code: s["count"] for code, s in statuses.items() if code not in known},
            "generator_cores": result["generator_cpu_seconds"] / result["wall_seconds"],
            "server_cores": result["server_cpu_seconds"] / result["wall_seconds"]}


def judge(name, results):
    goodput = statistics.median(r["goodput"] / r["peak"] for r in results)
    late = median(results, "late_share")
    return [Bar(f"{name}: goodput, of the peak", f"{goodput:.1%}", ">= 85 %", goodput >= 0.85),
            Bar(f"{name}: admitted requests that ended late", f"{late:.1%}", "<= 2 %", late <= 0.02)]


def run(context):
    texts = context.out / "long-requests.txt"
    write_paragraphs(texts, SENTENCES)
    trials = {name: [] for name in CASES}
    for repeat in range(context.repeats):
        for name, case in CASES.items():
            trials[name].append(context.trial(f"{name} #{repeat + 1}", lambda case=case: run_case(context, case, texts)))
    cases = {f"{name}, {callers} callers": [trial[str(callers)] for trial in results] for name, results in trials.items() for callers in CALLERS}
    strange = sorted({code for results in cases.values() for r in results for code in r["other_statuses"]})
    units = {name: CASES[name.split(",")[0]]["unit"] for name in cases}
    return Result(
        title=f"Overload of long requests: closed loops of {' and '.join(map(str, CALLERS))} callers",
        about=f"Each caller sends {SENTENCES} sentences with a deadline of {DEADLINE_MS / 1e3:g} s, and the next request as soon as the last is "
              "answered or refused, from the same cores. The peak is the best of smaller closed loops of the same requests without a deadline.",
        columns=["load", "peak/s", "useful/s", "answered OK", "late", "refused", "OK p50 / p99 ms", "refusal p50 ms", "cores of generator / server"],
        rows=[[name, f"{median(r, 'peak'):,.1f} {units[name]}", f"{median(r, 'goodput'):,.1f}", f"{median(r, 'ok'):,.0f}", f"{median(r, 'late'):,.0f}",
               f"{median(r, 'refused'):,.0f}", f"{median(r, 'ok_p50_ms'):,.0f} / {median(r, 'ok_p99_ms'):,.0f}", f"{median(r, 'refused_p50_ms'):.2f}",
               f"{median(r, 'generator_cores'):.2f} / {median(r, 'server_cores'):.2f}"] for name, r in cases.items()],
        bars=[bar for name, results in cases.items() for bar in judge(name, results)] +
             [Bar("statuses other than OK, RESOURCE_EXHAUSTED, DEADLINE_EXCEEDED", ", ".join(strange) or "none", "none", not strange)],
        notes=["Callers that are refused come back at once, which no client should do: what refusals cost the server and the generator is lost to "
               "the work. The server says in grpc-retry-pushback-ms when to come back."],
        trials=trials)
