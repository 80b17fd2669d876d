"""How fast CTranslate2 translates beside Millrace's engine: both with random weights of the shape of OPUS-MT-base, greedy.

6 + 6 layers, dim 512, ffn 2048, a vocabulary of 32001; sources of 20 words, translations of exactly 30. The two take turns, and the
table has medians: of a second, or with --core-time of a second of a core's time, which other programs on a busy machine take the least
from. Ours is
build/tests/benchmarks/seq2seq_bench. Run with the Python that scripts/peers.sh ctranslate2 makes.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import ctranslate2
import numpy as np
from ctranslate2.specs import transformer_spec

_WORDS, _DIM, _HIDDEN, _LAYERS, _HEADS = 32001, 512, 2048, 6, 8
_SOURCE, _TARGET = 20, 30
# Threads, and the sentences that each decodes together.
_SETTINGS = ((1, 1), (1, 8), (1, 32), (2, 16), (2, 32))
_PRECISIONS = {"float32": 0, "bfloat16": 1, "int8": 2}   # seq2seq_bench's numbers


def write_random_model(folder: Path) -> None:
    chance = np.random.default_rng(1)
    spec = transformer_spec.TransformerSpec.from_config((_LAYERS, _LAYERS), _HEADS)

    def matrix(*shape):
        return (chance.standard_normal(shape) * 0.02).astype(np.float32)

    def linear(layer, outputs, inputs):
        layer.weight, layer.bias = matrix(outputs, inputs), np.zeros(outputs, np.float32)

    def norm(layer):
        layer.gamma, layer.beta = np.ones(_DIM, np.float32), np.zeros(_DIM, np.float32)

    def attention(layer, outputs):
        norm(layer.layer_norm)
        for part, width in zip(layer.linear, outputs, strict=True):
            linear(part, width, _DIM)

    def feed_forward(layer):
        norm(layer.layer_norm)
        linear(layer.linear_0, _HIDDEN, _DIM)
        linear(layer.linear_1, _DIM, _HIDDEN)

    spec.encoder.embeddings[0].weight = matrix(_WORDS, _DIM)
    spec.decoder.embeddings.weight = matrix(_WORDS, _DIM)
    linear(spec.decoder.projection, _WORDS, _DIM)
    for layer in spec.encoder.layer:
        attention(layer.self_attention, (3 * _DIM, _DIM))
        feed_forward(layer.ffn)
    for layer in spec.decoder.layer:
        attention(layer.self_attention, (3 * _DIM, _DIM))
        attention(layer.attention, (_DIM, 2 * _DIM, _DIM))
        feed_forward(layer.ffn)
    norm(spec.encoder.layer_norm)
    norm(spec.decoder.layer_norm)
    words = ["<unk>", "<s>", "</s>", *(f"w{i}" for i in range(_WORDS - 3))]
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.validate()
    spec.optimize()
    spec.save(str(folder))


class Peer:
    """CTranslate2: so many workers of one thread, which share the weights."""

    def __init__(self, folder: Path, precision: str):
        self._translators = {threads: ctranslate2.Translator(str(folder), device="cpu", compute_type=precision, inter_threads=threads,
                                                             intra_threads=1) for threads in (1, 2)}

    def tokens_per_second(self, threads: int, together: int, clock) -> float:
        # Several batches for each worker, so that none waits at the end.
        rounds = max(2, 16 // together)
        sources = [[f"w{7 + i}" for i in range(_SOURCE)]] * (threads * together * rounds)
        began = clock()
        results = self._translators[threads].translate_batch(sources, beam_size=1, max_batch_size=together, min_decoding_length=_TARGET,
                                                             max_decoding_length=_TARGET)
        seconds = clock() - began
        assert all(len(result.hypotheses[0]) == _TARGET for result in results)
        return len(sources) * _TARGET / seconds


def ours_tokens_per_second(bench: Path, precision: str, core_time: bool) -> dict[tuple[int, int], float]:
    names = "|".join(f"precision:{_PRECISIONS[precision]}/vocabulary:{_WORDS}/sentences:{together}/beam:1/real_time/threads:{threads}$"
                     for threads, together in _SETTINGS)
    report = json.loads(subprocess.run([bench, f"--benchmark_filter={names}", "--benchmark_format=json"], check=True, capture_output=True,
                                       text=True).stdout)
    found = {}
    for run in report["benchmarks"]:
        together, threads = re.search(r"sentences:(\d+)/.*threads:(\d+)", run["name"]).groups()
        # The time is of one iteration of one thread, in milliseconds.
        found[int(threads), int(together)] = int(together) * _TARGET / (run["cpu_time"] / 1000) if core_time else run["items_per_second"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, default=Path("build/tests/benchmarks/seq2seq_bench"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--core-time", action="store_true")
    args = parser.parse_args()
    clock = time.process_time if args.core_time else time.perf_counter
    ours, theirs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        write_random_model(Path(folder))
        supported = ctranslate2.get_supported_compute_types("cpu")
        peers = {precision: Peer(Path(folder), precision) for precision in _PRECISIONS if precision in supported}
        for _ in range(args.repeats):
            for precision in _PRECISIONS:
                for setting, speed in ours_tokens_per_second(args.bench, precision, args.core_time).items():
                    ours.setdefault((precision, *setting), []).append(speed)
                for setting in _SETTINGS if precision in peers else ():
                    theirs.setdefault((precision, *setting), []).append(peers[precision].tokens_per_second(*setting, clock))
    print(f"CTranslate2 {ctranslate2.__version__}, {os.cpu_count()} cores, medians of {args.repeats}\n")
    print("| Precision | Threads | Sentences together on each | Millrace, tokens/s | CTranslate2 | Ratio |\n|---|---|---|---|---|---|")
    for precision in _PRECISIONS:
        for threads, together in _SETTINGS:
            key = precision, threads, together
            us = statistics.median(ours[key])
            them = statistics.median(theirs[key]) if key in theirs else None
            print(f"| {precision} | {threads} | {together} | {us:,.0f} | "
                  + (f"{them:,.0f} | {us / them:.2f} |" if them else "refuses | |"))


if __name__ == "__main__":
    main()
