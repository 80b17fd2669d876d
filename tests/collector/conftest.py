import pathlib
import signal
import sys

import pytest

for folder in ("../integration", "."):   # what they share with the other tests, and their own modules
    sys.path.insert(0, str((pathlib.Path(__file__).parent / folder).resolve()))


def pytest_configure():
    # So that the programs end with the tests, whoever ends those.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", returncode=143))
