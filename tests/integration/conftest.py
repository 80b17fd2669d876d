import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from wire import daemon as daemons  # noqa: E402
from wire import repository  # noqa: E402
from wire.bystander import Bystander  # noqa: E402
from wire.paths import EN_PT, MODELS, NULL, PT_EN, VOICE  # noqa: E402

LOG_LINES = 60


def pytest_configure():
    # So that the daemons end with the tests, whoever ends those.
    signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated", returncode=143))
    # A job in the background of a shell ignores it, and so would the programs that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """The file that takes longest comes first: one process runs a whole file, and at the end the others would wait for it."""
    items.sort(key=lambda item: item.path.name != "test_mps.py")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    """A daemon with the demo models that start and answer fast, shared by the tests of a module."""
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, EN_PT, PT_EN, VOICE)
    with daemons.start(folder, "--workers", "2", models=models) as running:
        yield running


@pytest.fixture(scope="module")
def models(request, tmp_path_factory):
    """A repository of the models that the module lists in `SERVED`."""
    return repository.link(tmp_path_factory.mktemp("repository") / "models", *request.module.SERVED)


@pytest.fixture(scope="module")
def gate(models):
    return repository.Gate(models)


@pytest.fixture(scope="session")
def all_models(tmp_path_factory):
    """A daemon with all demo models, for what only Kokoro shows: it takes long to start, and many times as long as Piper to
    speak, above all on a processor without AVX-512. Tests only send it requests."""
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--workers", "2", models=MODELS, seconds=180) as running:
        yield running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """The last lines of the daemons' logs stand under the report of a failed test."""
    report = yield
    if report.failed:
        for log in daemons.logs[-2:]:
            if log.exists():
                lines = log.read_text(errors="replace").splitlines()[-LOG_LINES:]
                report.sections.append((f"log {log}", "\n".join(lines)))
    return report


@pytest.fixture
def bystander(daemon):
    """Another client of the same daemon. Its call is in flight during the test, it makes another one after it, and both must
    succeed: whatever the test does to the daemon, other requests do not notice."""
    with Bystander(daemon) as client:
        client.wait_for_calls(1)
        yield client
        client.wait_for_calls(client.calls + 2)   # the one under way, and one that began after the test


@pytest.fixture(scope="session")
def null_models(tmp_path_factory):
    """A repository with only the null model: its daemon starts fastest."""
    return repository.link(tmp_path_factory.mktemp("repository") / "models", NULL)
