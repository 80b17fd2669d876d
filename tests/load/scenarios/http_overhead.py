"""What speech and translation over HTTP cost the server, against the same texts over gRPC."""

from harness import clients
from harness.context import interleaved, median, spread
from harness.models import SPEECH, SPEECH_TEXTS, TRANSLATION, count_lines, write_distinct_sentences
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 2, "seconds": None}
FULL = {"repeats": 7, "seconds": None}
CONCURRENCY = 32
SENTENCES = 1000
LIMIT = 1.3
# Calls of each kind, the first over HTTP. A voice that is heard while it is made does more work than one that is not.
KINDS = {"speech": ("http-synthesize", "stream-synthesize", "synthesize"), "translation": ("http-translate", "translate")}
NAMES = {"http-synthesize": "`POST /v1/audio/speech`", "stream-synthesize": "`StreamSynthesize`", "synthesize": "`Synthesize`",
         "http-translate": "`POST /translate`", "translate": "`Translate`"}


def run(context):
    server = start_millrace(context, "millrace-http-overhead")
    sentences = context.out / "sentences.txt"
    write_distinct_sentences(sentences, SENTENCES)
    loads = {"speech": {"model": SPEECH, "texts": SPEECH_TEXTS, "count": max(2 * count_lines(SPEECH_TEXTS), 2 * CONCURRENCY), "deadline_ms": 120000},
             "translation": {"model": TRANSLATION, "texts": sentences, "count": SENTENCES, "deadline_ms": 60000}}
    over_http = {"http-synthesize": {"voice": "joe"}, "http-translate": {"source": "en", "target": "pt"}}

    def trial(method, count=None):
        load = next(loads[kind] for kind, methods in KINDS.items() if method in methods)
        load = load | {"count": count or load["count"]}
        result = clients.require_all_ok(clients.loadgen(context, server, method, concurrency=CONCURRENCY, **load, **over_http.get(method, {})))
        latency = result["statuses"]["OK"]["latency_ms"]
        return {"cpu_ms": result["server_cpu_seconds"] / result["ok"] * 1e3, "rate": result["ok"] / result["wall_seconds"],
                "p50_ms": latency["p50"], "generator_cpu_ms": result["generator_cpu_seconds"] / result["ok"] * 1e3}

    methods = [method for kind in KINDS.values() for method in kind]
    for method in methods:
        trial(method, count=CONCURRENCY)  # warm
    trials = interleaved(context, methods, trial)

    def ratio(http, grpc):
        """Of the CPU of a request; the median of paired repeats."""
        return median([{"ratio": a["cpu_ms"] / b["cpu_ms"]} for a, b in zip(trials[http], trials[grpc], strict=True)], "ratio")

    rows, bars = [], []
    for kind, (http, *others) in KINDS.items():
        for method in (http, *others):
            r = trials[method]
            rows.append([kind, NAMES[method], f"{median(r, 'cpu_ms'):.3f}", spread(r, "cpu_ms"),
                         "" if method == http else f"{ratio(http, method):.2f}", f"{median(r, 'rate'):,.1f}", f"{median(r, 'p50_ms'):,.0f}",
                         f"{median(r, 'generator_cpu_ms'):.3f}"])
        for method in others:
            measured = ratio(http, method)
            bars.append(Bar(f"server CPU of a request of {kind} over HTTP, of {NAMES[method]}'s", f"{measured:.2f}x", f"<= {LIMIT}x", measured <= LIMIT))
    return Result(
        title="HTTP against gRPC: speech and translation",
        about=f"The same texts at {CONCURRENCY} concurrent by millrace_loadgen, each method in turn: {loads['speech']['count']} texts of 1 to 60 words by a "
              f"Piper voice, as 16-bit samples of one seed, and {SENTENCES} sentences by Bergamot. HTTP/1.1 on connections that stay open. CPU is user "
              "and system time of the server's process per request. Speech over HTTP is sent while it is made, as by StreamSynthesize.",
        columns=["task", "method", "server CPU ms/request", "lowest-highest", "HTTP, of it", "requests/s", "p50 ms", "generator CPU ms/request"],
        rows=rows, bars=bars, trials=trials)
