"""One request alone: what it gains from the cores that have nothing else to do."""

from pathlib import Path

from harness import clients, machine
from harness.context import interleaved, median, spread
from harness.models import KOKORO, SPEECH
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 3, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
TEXTS = Path(__file__).resolve().parents[1] / "data/sentences-25-words.txt"
VOICES = {"Piper": SPEECH, "Kokoro": KOKORO}
CALLS = {"Piper": 20, "Kokoro": 4}
MOST_CORES = 4   # the goal does not ask for a gain from more
SHARE_OF_CORES = 0.8


def run(context):
    cpus = sorted(machine.all_cpus())[:MOST_CORES]
    servers = {"one core": start_millrace(context, "millrace-one-core", cpus={cpus[0]}),
               "all cores": start_millrace(context, "millrace-all-cores", cpus=set(cpus))}

    def trial(case):
        voice, cores = case.split(", ")
        answer = clients.require_all_ok(clients.loadgen(context, servers[cores], "synthesize", model=VOICES[voice], texts=TEXTS, concurrency=1,
                                                        count=CALLS[voice], deadline_ms=120000))
        return {"p50": answer["statuses"]["OK"]["latency_ms"]["p50"]}

    cases = [f"{voice}, {cores}" for voice in VOICES for cores in servers]
    for case in cases:
        trial(case)  # warm
    trials = interleaved(context, cases, trial)

    def gain(voice):
        return median(trials[f"{voice}, one core"], "p50") / median(trials[f"{voice}, all cores"], "p50")

    goal = SHARE_OF_CORES * len(cpus)
    return Result(
        title="One request alone on all cores",
        about="One Synthesize of 25 words at a time, of a daemon that may use one core and of one that may use "
              f"{len(cpus)}, where idle workers help the one that is busy. {CALLS['Piper']} calls a trial of Piper, {CALLS['Kokoro']} of Kokoro.",
        columns=["voice, cores", "p50 ms", "lowest-highest"],
        rows=[[case, f"{median(r, 'p50'):.1f}", spread(r, "p50")] for case, r in trials.items()],
        bars=[Bar(f"{voice}: speed on {len(cpus)} cores, of that on one", f"{gain(voice):.2f}x", f">= {goal:.1f}x", gain(voice) >= goal) for voice in VOICES],
        trials=trials)
