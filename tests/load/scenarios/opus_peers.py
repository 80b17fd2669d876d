"""The shape of OPUS-MT-base over gRPC against CTranslate2 and transformers on the same weights, requests and lengths."""

import json
from pathlib import Path

from harness import clients, instruction_sets, machine, opus, peers, plots
from harness.context import interleaved, median, spread
from harness.processes import start_millrace
from harness.report import Bar, Result

SHORT = {"repeats": 1, "seconds": None}
FULL = {"repeats": 3, "seconds": None}
SCRIPTS = Path(__file__).resolve().parents[1] / "peers"
CORES = len(machine.all_cpus())
CALLERS = 32
CHECKED = 32   # requests whose text is compared with transformers'
# Name: precision, calls at a time, requests of a trial: some seconds' worth.
OURS = {f"millrace over gRPC, {precision}, {callers} at once": (precision, callers, count)
        for precision, count in (("float32", 256), ("bfloat16", 512), ("int8", 512)) for callers in (CALLERS, 2 * CALLERS)}
# Name: precision, requests at work at a time, requests of a trial, options of opus_ctranslate2.py.
CTRANSLATE2 = {
    f"CTranslate2, {precision}, {what}": (precision, callers, count, how)
    for precision, few, many in (("float32", 64, 256), ("int8", 128, 512))
    for what, callers, count, how in (
        (f"{CALLERS} callers", CALLERS, few, ["--callers", str(CALLERS)]),
        *((f"one call, {at_work} at work", at_work, many, ["--together", str(at_work // CORES)]) for at_work in (CALLERS, 2 * CALLERS)))}
TRANSFORMERS = f"transformers, float32, batches of {CALLERS}"
TRANSFORMERS_REQUESTS = 64
# Precision: goals, of CTranslate2 in the same and of transformers in float32.
GOALS = {"float32": 1.3, "int8": 1.0}
TRANSFORMERS_GOAL = 3


def convert(python, model):
    """What CTranslate2 reads, made of what transformers reads by CTranslate2's own converter."""
    folder = model.folder.parent / "ctranslate2"
    if not (folder / "model.bin").exists():
        clients.run([str(python.parent / "ct2-transformers-converter"), "--model", str(model.folder), "--output_dir", str(folder), "--force"], 300)
    return folder


def texts_that_differ(context, python, model, server):
    """Of ours in float32 from transformers' of each request alone."""
    theirs, ours = context.out / "opus.transformers.txt", context.out / "opus.outputs"
    clients.run([str(python), str(SCRIPTS / "opus_transformers.py"), str(model.folder), str(model.requests), "--count", str(CHECKED), "--texts",
                 str(theirs)], 600)
    load(context, server, model, CHECKED, outputs=ours)
    found = clients.read_outputs(ours)
    return sum(found[i][1] != text for i, text in enumerate(theirs.read_text().splitlines()))


def load(context, server, model, count, callers=CALLERS, outputs=None):
    return clients.require_all_ok(clients.loadgen(context, server, "translate", opus.NAME, texts=model.texts, target_tokens=model.lengths,
                                                  concurrency=callers, count=count, deadline_ms=120000, outputs=outputs))


def run(context):
    python = peers.python("opus")
    model = opus.prepare(context)
    converted = convert(python, model)
    precisions = [precision for precision in model.packages
                  if precision != "bfloat16" or instruction_sets.multiplies_bfloat16(context.cpu_isa, machine.cpu_flags())]
    servers = {precision: start_millrace(context, f"millrace-opus-{precision}", "--models", str(model.packages[precision]))
               for precision in precisions}
    memory = {precision: machine.anonymous_mb(server.pid) for precision, server in servers.items()}

    def millrace(precision, callers, count):
        result = load(context, servers[precision], model, count, callers)
        return figures(model.tokens(count), result["wall_seconds"], result["server_cpu_seconds"], result["statuses"]["OK"]["latency_ms"]["p50"])

    def peer(script, *arguments):
        result = json.loads(clients.run(context.server_command([str(python), str(SCRIPTS / script), *map(str, arguments)]), 600))
        return figures(result["tokens"], result["wall_seconds"], result["cpu_seconds"], result["p50_ms"])

    def trial(case):
        if case in OURS:
            return millrace(*OURS[case])
        if case == TRANSFORMERS:
            return peer("opus_transformers.py", model.folder, model.requests, "--count", TRANSFORMERS_REQUESTS, "--together", CALLERS,
                        "--threads", CORES)
        precision, _, count, how = CTRANSLATE2[case]
        return peer("opus_ctranslate2.py", converted, model.requests, "--precision", precision, "--workers", CORES, "--count", count, *how)

    differ = context.trial("texts", lambda: texts_that_differ(context, python, model, servers["float32"]))
    for precision in servers:
        millrace(precision, CALLERS, 2 * CALLERS)   # warm
    ours = [case for case, (precision, _, _) in OURS.items() if precision in servers]
    trials = interleaved(context, [*ours, *CTRANSLATE2, TRANSFORMERS], trial)
    rates = {case: median(results, "rate") for case, results in trials.items()}
    plot = context.plot("opus-peers.png")
    plots.lying_bars(plot, "Shape of OPUS-MT-base", "target tokens per second", rates)
    return Result(
        title="The shape of OPUS-MT-base against its peers",
        about=f"6 + 6 layers, dim 512, ffn 2048, a vocabulary of 32001; the same random weights on all sides, greedy. Sources of 5 to 40 words in "
              "any order; each translation has a forced length of 0.8 to 1.4 times its source, 38.5 tokens on average. To the daemon with its "
              f"defaults one a Translate call by millrace_loadgen on the same cores. CTranslate2 in process with {CORES} workers of a thread, from "
              "tokens that were made before: a sentence a call with its own length, or all in one call, which it sorts, with their mean length "
              "(tests/load/peers/opus_ctranslate2.py). transformers in process likewise, of requests sorted by length, each batch as long as its "
              "longest (opus_transformers.py). Memory is what is anonymous in a daemon with this model alone once it serves.",
        columns=["runtime", "target tokens/s", "lowest-highest", "p50 ms of a call", "CPU ms/token", "memory MB"],
        rows=[[case, f"{rates[case]:,.0f}", spread(results, "rate"), "" if results[0]["p50_ms"] is None else f"{median(results, 'p50_ms'):,.0f}",
               f"{median(results, 'cpu_ms'):.3f}", f"{memory[OURS[case][0]]:.0f}" if case in OURS else ""] for case, results in trials.items()],
        bars=bars_of(rates, differ),
        plots=[(plot.name, "Target tokens per second")],
        trials=trials)


def figures(tokens, wall, cpu, p50_ms):
    return {"rate": tokens / wall, "cpu_ms": cpu / tokens * 1e3, "p50_ms": p50_ms}


def bars_of(rates, differ):
    """rates: target tokens a second by case; differ: texts other than transformers'."""
    def ours(precision, callers=CALLERS):
        return rates[f"millrace over gRPC, {precision}, {callers} at once"]

    def best_of_ctranslate2(precision, at_work):
        return max(rates[case] for case, (kind, requests, _, _) in CTRANSLATE2.items() if kind == precision and requests == at_work)

    bars = []
    for precision, goal in GOALS.items():
        gain, more = (ours(precision, n) / best_of_ctranslate2(precision, n) for n in (CALLERS, 2 * CALLERS))
        bars += [Bar(f"{precision}: target tokens/s with {CALLERS} at once, of CTranslate2's better case with as many at work", f"{gain:.2f}x",
                     f">= {goal}x", gain >= goal),
                 Bar(f"{precision}: the same with {2 * CALLERS}", f"{more:.2f}x", "", None)]
    gain = ours("float32") / rates[TRANSFORMERS]
    bars += [Bar(f"float32: target tokens/s with {CALLERS} at once, of transformers", f"{gain:.2f}x", f">= {TRANSFORMERS_GOAL}x",
                 gain >= TRANSFORMERS_GOAL),
             Bar(f"float32: texts other than transformers', of {CHECKED}", str(differ), "0", differ == 0)]
    return bars
