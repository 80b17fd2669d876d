"""scripts/serve.sh with stand-ins for what it runs: which ports it asks about, and what it says when the daemon is ready."""

import contextlib
import pathlib
import shutil
import socket
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PORTS = {"grpc": 8001, "http": 8000, "metrics": 8002}
SECONDS = 30
# Answers one request on the port of HTTP, as the daemon does when it is ready.
DAEMON = f"""#!{sys.executable}
import http.server, sys
print("daemon", *sys.argv[1:], flush=True)
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
if "wait" in sys.argv:
    with http.server.HTTPServer(("127.0.0.1", {PORTS["http"]}), Handler) as server:
        server.timeout = {SECONDS}
        server.handle_request()
    import time
    time.sleep(1)   # while the script says that it is ready
"""


@pytest.fixture
def checkout(tmp_path):
    """A checkout in which all is built and nothing is installed."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / "build").mkdir()
    for name in ("serve.sh", "lib.sh"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    for name in ("scripts/deps.sh", "scripts/build.sh", "scripts/models.sh"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "build" / "millrace").write_text(DAEMON)
    (tmp_path / "build" / "millrace").chmod(0o755)
    return tmp_path


def serve(checkout, *arguments, **variables):
    return subprocess.run(["bash", checkout / "scripts" / "serve.sh", *arguments], env={"PATH": "/usr/bin:/bin", **variables},
                          capture_output=True, text=True, timeout=SECONDS, check=False)


@contextlib.contextmanager
def taken(name):
    """The port has a listener: this one, or that of another program."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with contextlib.suppress(OSError):
            listener.bind(("127.0.0.1", PORTS[name]))
            listener.listen()
        yield


def others(name):
    """Arguments that take the other two ports out of question."""
    return [part for other in PORTS if other != name for part in (f"--{other}-address", "127.0.0.1:0")]


@pytest.mark.parametrize("name", PORTS)
def test_a_port_in_use_is_told_before_anything_is_built(checkout, name):
    with taken(name):
        ended = serve(checkout, *others(name), "--wyoming-address", "127.0.0.1:10200")
        assert ended.returncode == 1
        assert f"port {PORTS[name]} is in use" in ended.stderr
        assert "daemon" not in ended.stdout


@pytest.mark.parametrize("name", PORTS)
def test_only_default_ports_are_asked_about(checkout, name):
    variable = {f"MILLRACE_{name.upper()}_ADDRESS": "127.0.0.1:0"}
    for arguments, variables in (([f"--{name}-address", "127.0.0.1:0"], {}), ([], variable), (["--config", "a.toml"], {})):
        with taken(name):
            ended = serve(checkout, *others(name), *arguments, **variables)
        assert ended.returncode == 0, ended.stderr
        assert "daemon serve --models" in ended.stdout
        assert "Ready" not in ended.stdout


def test_ready_names_the_page(checkout):
    for port in PORTS.values():
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"another program has port {port}")
    ended = serve(checkout, "--wyoming-address", "127.0.0.1:10200", "wait")
    assert "Ready: http://localhost:8000/ " in ended.stdout
    assert "10 to 20 minutes" not in ended.stdout   # all is built


def test_the_first_time_says_how_long_it_takes(checkout):
    (checkout / "build" / "millrace").rename(checkout / "daemon")
    (checkout / "scripts" / "build.sh").write_text("#!/bin/sh\nmv daemon build/millrace\n")
    ended = serve(checkout, "--config", "a.toml")
    steps = [ended.stdout.index(words) for words in ("10 to 20 minutes", "step 1 of 3", "step 2 of 3", "step 3 of 3", "daemon serve")]
    assert steps == sorted(steps)
