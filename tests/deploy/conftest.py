import pathlib
import shutil
import subprocess
import sys

import pytest

for folder in ("../integration", "..", "."):   # what they share with the other tests, and their own modules
    sys.path.insert(0, str((pathlib.Path(__file__).parent / folder).resolve()))
import daemon as daemons  # noqa: E402


@pytest.fixture(scope="session")
def daemon(tmp_path_factory):
    """A daemon with demo models of each kind, shared by all tests that only look at it or send it requests."""
    with daemons.daemon(tmp_path_factory.mktemp("daemon")) as running:
        yield running


@pytest.fixture(scope="session")
def prometheus(daemon, tmp_path_factory):
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("the program prometheus is not installed")
    with daemons.prometheus(program, tmp_path_factory.mktemp("prometheus"), daemon.ports["metrics"]) as running:
        yield running


@pytest.fixture(scope="session")
def traffic(daemon, tmp_path_factory):
    """Sends one of each kind of request, again and again until the session ends, so that every rate has something to show."""
    folder = tmp_path_factory.mktemp("traffic")
    loop = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("traffic.py"), str(daemons.BINARY),
                             f"127.0.0.1:{daemon.ports['grpc']}", str(folder)])
    yield
    loop.terminate()
    loop.wait(30)
