"""How fast fxtranslate, the engine of Firefox's translations in Rust, translates on the files of a pair, in as many processes as asked.

Prints JSON, with the translations in the order of the texts.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path


def load(pair):
    from fxtranslate import Translator

    def read(pattern):
        [file] = pair.glob(pattern)
        return file.read_bytes()
    shortlist = read("lex.*.bin") if any(pair.glob("lex.*.bin")) else None
    return Translator(read("model.*.bin"), read("vocab.*spm"), read("vocab.*spm"), shortlist)


def work(pair, texts, ready, results):
    engine = load(pair)
    engine.translate(texts[0])   # warm
    ready.wait()
    start, cpu = time.monotonic(), time.process_time()
    found = [engine.translate(text) for text in texts]
    results.put((start, time.monotonic(), time.process_time() - cpu, texts[0], found))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pair", type=Path, help="folder with model.*.bin, vocab.*.spm and, if there is one, lex.*.bin")
    parser.add_argument("texts", type=Path, help="a text a line")
    parser.add_argument("--processes", type=int, default=1)
    args = parser.parse_args()
    texts = [line for line in args.texts.read_text().splitlines() if line]
    shares = [texts[i::args.processes] for i in range(args.processes)]
    ready, results = multiprocessing.Barrier(args.processes), multiprocessing.Queue()
    workers = [multiprocessing.Process(target=work, args=(args.pair, share, ready, results)) for share in shares]
    for worker in workers:
        worker.start()
    ended = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    by_first = {first: found for *_, first, found in ended}
    translations = [""] * len(texts)
    for i, share in enumerate(shares):
        translations[i::args.processes] = by_first[share[0]]
    print(json.dumps({"sentences": len(texts), "wall_seconds": max(end for _, end, *_ in ended) - min(start for start, *_ in ended),
                      "cpu_seconds": sum(cpu for _, _, cpu, *_ in ended), "backend": load(args.pair).backend(), "translations": translations}))


if __name__ == "__main__":
    main()
