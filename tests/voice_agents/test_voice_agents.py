"""The speech services of Pipecat and LiveKit, as published, against the real daemon. scripts/check-voice-agents.sh installs and runs them."""

import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

from wire import daemon as daemons  # noqa: E402
from wire import repository  # noqa: E402
from wire.paths import NULL, VOICE  # noqa: E402


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    with daemons.start(folder, "--workers", "2", models=repository.link(folder / "models", NULL, VOICE)) as running:
        yield running


@pytest.mark.parametrize(("framework", "spoken"), [("pipecat", 6), ("livekit", 6)])
def test_each_service_speaks_texts_and_turns(daemon, framework, spoken):
    addresses = [f"127.0.0.1:{daemon.ports[port]}" for port in ("grpc", "http")]
    result = subprocess.run([ROOT / ".tools" / f"{framework}-venv" / "bin" / "python",
                             ROOT / "tests" / "voice_agents" / f"{framework}_speech.py", *addresses],
                            capture_output=True, text=True, timeout=180, check=False)
    assert result.returncode == 0, result.stderr[-4000:]
    services = json.loads(result.stdout)
    assert len(services) == spoken
    for name, service in services.items():
        assert service["errors"] == [], name
        assert 1.5 < service["seconds"] < 6, (name, service)
