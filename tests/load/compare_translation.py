#!/usr/bin/env python3
"""CPU time that two builds of the daemon take for the same ordinary sentences, in turns: the 500 of tests/data/translation, 40 in a request.

usage: compare_translation.py BASE/millrace NEW/millrace [--repeats 9] [--rounds 4]
"""

import argparse
import json
import statistics
import urllib.request
from pathlib import Path

from harness.two_builds import cpu_in_turns, start_both

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {language: (ROOT / f"tests/data/translation/{language}.txt").read_text().splitlines() for language in ("en", "pt")}
SENTENCES_TOGETHER = 40


def translate_all(server):
    for source, target in (("en", "pt"), ("pt", "en")):
        texts = TEXTS[source]
        for first in range(0, len(texts), SENTENCES_TOGETHER):
            body = json.dumps({"q": texts[first:first + SENTENCES_TOGETHER], "source": source, "target": target}).encode()
            urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{server.ports['http']}/translate", body,
                                                          {"Content-Type": "application/json"})).read()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("binaries", nargs=2, type=Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--rounds", type=int, default=4, help="how often all sentences are translated in a repeat")
    parser.add_argument("--models", type=Path, default=ROOT / "var/models")
    arguments = parser.parse_args()
    flags = ["--models", ",".join(f"{name}={arguments.models / name}" for name in ("bergamot-en-pt", "bergamot-pt-en")), "--workers", "2"]

    def work(server):
        for _ in range(arguments.rounds):
            translate_all(server)

    with start_both(arguments.binaries, flags) as servers:
        for server in servers:
            translate_all(server)
        seconds = cpu_in_turns(servers, work, arguments.repeats)
    sentences = arguments.rounds * sum(map(len, TEXTS.values()))
    for binary, taken in zip(arguments.binaries, seconds, strict=True):
        each = [1000 * one / sentences for one in taken]
        print(f"{binary}: {statistics.median(each):.3f} ms of CPU a sentence ({min(each):.3f}-{max(each):.3f})")
    print(f"ratio of the medians: {statistics.median(seconds[1]) / statistics.median(seconds[0]):.3f}")


if __name__ == "__main__":
    main()
