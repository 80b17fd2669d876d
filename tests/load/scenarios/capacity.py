"""What this machine carries within a target of latency, by model, and so how many like it a load needs."""

import math

from harness import clients
from harness.context import median, spread
from harness.models import SPEECH, SPEECH_TEXTS, TRANSLATION, TRANSLATION_TEXTS
from harness.processes import start_millrace
from harness.report import Result

SHORT = {"repeats": 1, "seconds": 5}
FULL = {"repeats": 3, "seconds": 20}
# Of what a closed loop of so many clients achieves.
FULL_LOAD_CLIENTS = 16
SHARES = (0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9)
KINDS = {
    "translated sentences": {"method": "translate", "model": TRANSLATION, "texts": TRANSLATION_TEXTS},
    "streams of speech": {"method": "stream-synthesize", "model": SPEECH, "texts": SPEECH_TEXTS},
    "null model": {"method": "infer", "model": clients.NULL_MODEL, "texts": None}}
FLEETS = (1, 2, 3, 10, 100)


def carried(replicas, of_one):
    """With one of them away, if there is more than one."""
    return of_one * max(1, replicas - 1)


def run(context):
    target = context.args.target_p95_ms
    server = start_millrace(context, "millrace-capacity")

    def load(kind, **how):
        options = KINDS[kind]
        result = clients.loadgen(context, server, options["method"], options["model"], texts=options["texts"], deadline_ms=60000, **how)
        refused = sum(status["count"] for code, status in result["statuses"].items() if code != "OK") + result["unsent"]
        p95 = (result["stream"]["first_audio_ms"] if "stream" in result else result["statuses"]["OK"]["latency_ms"])["p95"]
        return {"rate": result["ok"] / result["wall_seconds"], "p95": p95, "refused": refused}

    def within_target(kind):
        """The greatest rate of an open loop whose p95 is within the target and of which nothing is refused."""
        full = load(kind, concurrency=FULL_LOAD_CLIENTS, seconds=context.seconds)["rate"]
        best = {"rate": 0.0, "p95": math.nan}
        for share in SHARES:
            result = load(kind, rate=full * share, seconds=context.seconds)
            if result["refused"] or result["p95"] > target:
                break
            best = {"rate": result["rate"], "p95": result["p95"]}
        return best | {"full": full}

    rows, trials = [], {}
    for kind in KINDS:
        load(kind, concurrency=FULL_LOAD_CLIENTS, seconds=2)   # warm
        trials[kind] = [context.trial(f"{kind} #{i + 1}", lambda k=kind: within_target(k)) for i in range(context.repeats)]
        rate = median(trials[kind], "rate")
        rows.append([kind, f"{median(trials[kind], 'full'):,.1f}", f"{rate:,.1f}", spread(trials[kind], "rate"), f"{median(trials[kind], 'p95'):.0f}",
                     *(f"{carried(fleet, rate):,.0f}" for fleet in FLEETS)])
    return Result(
        title="What a fleet of such machines carries",
        about=f"One daemon with default settings on this machine, by millrace_loadgen: per second at full load ({FULL_LOAD_CLIENTS} clients in a closed loop), and the greatest "
              f"rate of an open loop at which 95 % are answered within {target:g} ms (streams: with their first audio) and none is refused, in steps of a tenth of full load or so. "
              "A fleet carries that rate for each replica but one, which may be away; the balancer is assumed to cost nothing here.",
        columns=["", "a second, full load", "within the target", "lowest-highest", "p95 ms", *(f"{fleet} replica{'s' if fleet > 1 else ''}" for fleet in FLEETS)],
        rows=rows,
        notes=["A rate of 0: the target is missed even at a fifth of full load.",
               "That replicas add up is computed, not measured: this takes as many machines."],
        trials=trials)
