#!/usr/bin/env python3
"""How often `millrace calibrate` finds the injected limit of the stand-in for Apple's GPU: the real binary, a fresh profile each time.

Prints one line a run and a table at the end; exit status 1 when a run found another limit.

Usage: calibrate_boundary.py BINARY [--runs 20] [--limits 1 2 3 5 8] [--repeats 1] [--crash-probability 1]"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def found_limits(binary, limit, repeats, probability):
    """What each operator was found to survive."""
    # Long enough on the GPU that the streams of all threads have work under way at once.
    faults = f"limit={limit} crash_probability={probability} gpu_microseconds=3000"
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile.json"
        command = [binary, "calibrate", "--device", "mps", "--operators-only", "--repeats", str(repeats),
                   "--max-threads", str(limit + 2), "-o", str(profile)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                       env=os.environ | {"MPS_STANDIN_FAULTS": faults})
        return [operator["safe_concurrency"] for operator in json.loads(profile.read_text())["operators"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--limits", type=int, nargs="+", default=[1, 2, 3, 5, 8])
    parser.add_argument("--repeats", type=int, default=1, help="of each cell; 1 does for a crash that is certain")
    parser.add_argument("--crash-probability", type=float, default=1)
    options = parser.parse_args()
    exact = dict.fromkeys(options.limits, 0)
    for run in range(options.runs):
        for limit in options.limits:
            start = time.monotonic()
            found = found_limits(options.binary, limit, options.repeats, options.crash_probability)
            exact[limit] += set(found) == {limit}
            print(f"run {run + 1} of {options.runs}: limit {limit}, found {found} in {time.monotonic() - start:.1f} s", flush=True)
    print("\n| limit | found exactly |\n| --- | --- |")
    for limit, count in exact.items():
        print(f"| {limit} | {count} of {options.runs} |")
    return 0 if all(count == options.runs for count in exact.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
