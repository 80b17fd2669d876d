"""What the programs that the tests start have in common."""

import contextlib
import subprocess


def end(process: subprocess.Popen, seconds: float) -> None:
    """Asks it to end, and kills it if it has not after so long."""
    if process.poll() is None:
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
    if process.poll() is None:
        process.kill()
        process.wait()
