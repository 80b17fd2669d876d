"""How soon a single listener hears something, against the time that all of the audio takes."""

from pathlib import Path

from harness import clients, plots
from harness.context import interleaved, median, spread
from harness.models import KOKORO, SPEECH
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
DATA = Path(__file__).resolve().parents[1] / "data"
TEXTS = {"25 words": DATA / "sentences-25-words.txt", "5 words": DATA / "phrases-5-words.txt"}
VOICES = {"Piper": SPEECH, "Kokoro": KOKORO}
CALLS = {"Piper": 60, "Kokoro": 20}


def run(context):
    server = start_millrace(context, "millrace-first-audio")

    def trial(case):
        voice, words = case.split(", ")
        calls = {"model": VOICES[voice], "texts": TEXTS[words], "concurrency": 1, "count": CALLS[voice], "deadline_ms": 120000}
        streamed = clients.require_all_ok(clients.loadgen(context, server, "stream-synthesize", **calls))
        whole = clients.require_all_ok(clients.loadgen(context, server, "synthesize", **calls))
        first = streamed["stream"]["first_audio_ms"]
        return {"first_p50": first["p50"], "first_p95": first["p95"], "whole_p50": whole["statuses"]["OK"]["latency_ms"]["p50"]}

    cases = [f"{voice}, {words}" for voice in VOICES for words in TEXTS]
    for case in cases:
        trial(case)  # warm
    trials = interleaved(context, cases, trial)

    def share(case):
        return median(trials[case], "first_p50") / median(trials[case], "whole_p50")

    phrase = median(trials["Piper, 5 words"], "first_p95")
    plot = context.plot("first-audio.png")
    plots.bars(plot, "A single listener", "ms (median)", [case.replace(", ", "\n") for case in cases],
               {"first audio of StreamSynthesize": [median(trials[c], "first_p50") for c in cases],
                "all audio by Synthesize": [median(trials[c], "whole_p50") for c in cases]})
    return Result(
        title="Time to first audio of a single listener",
        about="One call at a time on an idle server, from sending the text to the first message with audio; and the same texts through Synthesize, "
              f"which answers with all of it. {CALLS['Piper']} calls a trial of Piper, {CALLS['Kokoro']} of Kokoro.",
        columns=["voice, text", "first audio p50 ms", "lowest-highest", "p95 ms", "all audio p50 ms", "first of all"],
        rows=[[case, f"{median(r, 'first_p50'):.1f}", spread(r, "first_p50"), f"{median(r, 'first_p95'):.1f}", f"{median(r, 'whole_p50'):.1f}",
               f"{share(case):.2f}"] for case, r in trials.items()],
        bars=[*(Bar(f"{voice}: first audio of a sentence of 25 words, of the time of the whole", f"{share(f'{voice}, 25 words'):.2f}", "<= 0.35",
                    share(f"{voice}, 25 words") <= 0.35) for voice in VOICES),
              Bar("Piper: first audio of a phrase of 5 words, p95", f"{phrase:.1f} ms", "<= 60 ms", phrase <= 60)],
        notes=["A stream begins with the first clause of a text. Those of the sentences of 25 words have 32, 35, 38 and 60 % of the words. "
               "Piper's vocoder sees few neighbours of a sample and makes it in pieces; each convolution of Kokoro's generator follows a norm over "
               "the whole unit, so that nothing is heard before all of its first clause is done."],
        plots=[(plot.name, "Time to first audio and to all of it")],
        trials=trials)
