#!/usr/bin/env python3
"""Stands in for espeak-ng, line by line, and misbehaves on command: a line may begin with hang, wait (for the writer of a FIFO),
die, die-once (unless a file is there, which it makes) or flood."""

import re
import signal
import sys

for line in sys.stdin:
    line = line.rstrip("\n")
    mark = re.fullmatch(r"\[\[(\w+)\]\]", line)
    if mark:
        print(mark[1], flush=True)
    elif line.startswith("hang"):
        signal.pause()
    elif line.startswith("wait "):
        with open(line[5:]) as gate:
            gate.read()
        print(f"<{line}>", flush=True)
    elif line.startswith("die-once "):
        try:
            open(line[9:], "x").close()
            sys.exit(3)
        except FileExistsError:
            print(f"<{line}>", flush=True)
    elif line.startswith("die"):
        sys.exit(3)
    elif line.startswith("flood"):
        while True:
            print("x" * 1000)
    else:
        print(f"<{line}>", flush=True)
