"""The Python environments of the programs that we are compared with: var/peers/NAME, made by scripts/peers.sh when they are needed."""

import subprocess
from pathlib import Path

from harness.clients import LoadFailed

ROOT = Path(__file__).resolve().parents[3]


def installed(name):
    return (ROOT / "var/peers" / name / "stamp").exists()


def python(name):
    """The interpreter of a peer's environment, which is made or brought up to date first."""
    made = subprocess.run([str(ROOT / "scripts/peers.sh"), name], stdin=subprocess.DEVNULL)
    if made.returncode != 0:
        raise LoadFailed(f"the peer {name} could not be installed; the message of scripts/peers.sh is above")
    return ROOT / "var/peers" / name / "bin/python"
