"""Computes until it is killed, and takes a share of one CPU: python cpu_share.py SHARE. What contends for CPUs and does nothing else."""

import sys
import time

PAUSE_S = 0.001   # between looks at its own CPU time; it has nothing to wait for


def main() -> None:
    share = float(sys.argv[1])
    begin = time.monotonic()
    while True:
        # A program that had to wait for its CPU takes what it lacks afterwards, as one does whose socket has room meanwhile.
        if time.process_time() < share * (time.monotonic() - begin):
            sum(range(1000))
        else:
            time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
