"""Becomes a program that the kernel kills when the thread that started it ends: guard.py PARENT PROGRAM ARGUMENTS...

A replica that crashes, or that Ray kills, can not stop its daemon, which would keep its memory and its GPU from the next one. Linux only.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    parent = int(sys.argv[1])
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent:   # it ended before prctl
        raise SystemExit(f"guard.py: process {parent}, which started this one, has ended")
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
