"""What a single listener gains by the cache of spoken sentences, where every sentence comes again."""

from pathlib import Path

from harness import clients
from harness.context import interleaved, median, spread
from harness.models import KOKORO, SPEECH
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 5, "seconds": None}
DATA = Path(__file__).resolve().parents[1] / "data"
TEXTS = {"25 words": DATA / "sentences-25-words.txt", "5 words": DATA / "phrases-5-words.txt"}
VOICES = {"Piper": SPEECH, "Kokoro": KOKORO}
CALLS = {"Piper": 60, "Kokoro": 12}


def run(context):
    servers = {"spoken": start_millrace(context, "millrace-speech-cache-off"),
               "cached": start_millrace(context, "millrace-speech-cache", "--speech-cache-bytes", "256MiB")}

    def trial(case):
        voice, words, how = case.split(", ")
        calls = {"model": VOICES[voice], "texts": TEXTS[words], "concurrency": 1, "count": CALLS[voice], "deadline_ms": 120000}
        streamed = clients.require_all_ok(clients.loadgen(context, servers[how], "stream-synthesize", **calls))
        whole = clients.require_all_ok(clients.loadgen(context, servers[how], "synthesize", **calls))
        return {"first_p50": streamed["stream"]["first_audio_ms"]["p50"], "first_p95": streamed["stream"]["first_audio_ms"]["p95"],
                "whole_p50": whole["statuses"]["OK"]["latency_ms"]["p50"]}

    cases = [f"{voice}, {words}, {how}" for voice in VOICES for words in TEXTS for how in servers]
    for case in cases:
        trial(case)  # warm; fills the cache
    filled = clients.scrape(servers["cached"])
    trials = interleaved(context, cases, trial)
    scraped = clients.scrape(servers["cached"])
    if scraped["millrace_speech_cache_misses_total"] != filled["millrace_speech_cache_misses_total"]:
        raise clients.LoadFailed("the cache lost sentences")

    def gain(voice, words):
        return median(trials[f"{voice}, {words}, spoken"], "whole_p50") / median(trials[f"{voice}, {words}, cached"], "whole_p50")

    entries, held = (sum(scraped[f"millrace_speech_cache_{what}"].values()) for what in ("entries", "bytes"))
    return Result(
        title="Speech from the cache",
        about="One call at a time on an idle server, from sending the text to the first message with audio, and to all of it by Synthesize: "
              "without a cache, and with --speech-cache-bytes 256MiB when every sentence was spoken before. "
              f"{CALLS['Piper']} calls a trial of Piper, {CALLS['Kokoro']} of Kokoro.",
        columns=["voice, text", "first audio p50 ms", "lowest-highest", "p95 ms", "all audio p50 ms", "lowest-highest"],
        rows=[[case, f"{median(r, 'first_p50'):.1f}", spread(r, "first_p50"), f"{median(r, 'first_p95'):.1f}", f"{median(r, 'whole_p50'):.1f}",
               spread(r, "whole_p50")] for case, r in trials.items()],
        bars=[Bar(f"{voice}, {words}: all audio sooner", f"{gain(voice, words):.1f}x", "", None) for voice in VOICES for words in TEXTS],
        notes=[f"The cache held {entries:,.0f} sentences in {held / 2**20:.1f} MiB."],
        trials=trials)
