"""How fast CTranslate2 decodes requests whose translations have forced lengths, greedily, in process and from tokens that were made before.

One thread a worker, which is faster than several. Either so many callers have a sentence each translated and ask for the next, each with
its own length, or one call has all of them, with their mean length, batched by CTranslate2 as it likes. Prints JSON.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

import ctranslate2
from callers import serve_all


def one_by_one(translator, requests, callers):
    seconds = serve_all(requests, callers, lambda request, _: translate(translator, [request["pieces"]], request["length"]))
    return sum(request["length"] for request in requests), statistics.median(seconds) * 1e3


def all_at_once(translator, requests, together):
    length = round(statistics.mean(request["length"] for request in requests))
    translate(translator, [request["pieces"] for request in requests], length, together)
    return length * len(requests), None


def translate(translator, sources, length, together=0):
    results = translator.translate_batch(sources, beam_size=1, max_batch_size=together, min_decoding_length=length, max_decoding_length=length)
    assert all(len(result.hypotheses[0]) == length for result in results)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="what ct2-transformers-converter wrote")
    parser.add_argument("requests", type=Path, help="JSON: a list of {pieces, length}")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--count", type=int, required=True, help="of the requests, so many")
    parser.add_argument("--workers", type=int, default=2)
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--callers", type=int, help="sentences that are asked for at a time, one a call")
    how.add_argument("--together", type=int, help="one call; sentences in a batch at most")
    args = parser.parse_args()
    requests = json.loads(args.requests.read_text())[:args.count]
    translator = ctranslate2.Translator(str(args.model), device="cpu", compute_type=args.precision, inter_threads=args.workers, intra_threads=1)
    all_at_once(translator, requests[:4 * args.workers], 4)   # warm
    wall, cpu = time.perf_counter(), time.process_time()
    tokens, p50 = one_by_one(translator, requests, args.callers) if args.callers else all_at_once(translator, requests, args.together)
    print(json.dumps({"tokens": tokens, "wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu, "p50_ms": p50}))


if __name__ == "__main__":
    main()
