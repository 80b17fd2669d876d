"""Addresses to listen on: names with several addresses, and sockets in the file system."""

import contextlib
import errno
import http.client
import os
import pathlib
import shutil
import signal
import socket
import stat
import tempfile

import pytest
from wire import daemon as daemons
from wire.paths import EN_PT, NULL
from wire.polling import eventually

SERVED = NULL, EN_PT


class UnixHttp(http.client.HTTPConnection):
    """A connection over a socket in the file system, for requests with any Host."""

    def __init__(self, path):
        super().__init__("anything.example", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


def ask(path, target):
    with contextlib.closing(UnixHttp(path)) as connection:
        connection.request("GET", target)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


@pytest.fixture
def folder():
    """Its path is short, as those of sockets must be."""
    name = tempfile.mkdtemp(prefix="mr")
    yield pathlib.Path(name)
    shutil.rmtree(name)


def on_files(folder):
    return [option for protocol in ("grpc", "http", "metrics", "wyoming")
            for option in (f"--{protocol}-address", f"unix:{folder}/{protocol} 100%.sock")]


def test_all_protocols_are_served_on_sockets_in_the_file_system(tmp_path, folder, models):
    with daemons.start(tmp_path, *on_files(folder), models=models) as daemon:
        assert daemon.ports == {"grpc": 0, "http": 0, "metrics": 0, "wyoming": 0}
        files = {name: folder / f"{name} 100%.sock" for name in daemon.ports}
        assert all(stat.S_ISSOCK(file.stat().st_mode) for file in files.values())
        for address in (f"unix:{files['grpc']}", f"unix://{files['grpc']}"):
            assert daemons.out(daemons.run("translate", "Hello", "--target", "pt", "--address", address)).strip()
        # A browser cannot come this way, so any name will do.
        assert ask(files["http"], "/v2/health/ready") == (200, '{"ready":true}')
        assert ask(files["http"], "/none")[0] == 404
        eventually("the refusal is logged", lambda: "client=unix: " in daemon.log_text())
        assert 'millrace_http_refused_total{status="404"} 1\n' in ask(files["metrics"], "/metrics")[1]
        with socket.socket(socket.AF_UNIX) as wyoming:
            wyoming.settimeout(20)
            wyoming.connect(str(files["wyoming"]))
            wyoming.sendall(b'{"type":"ping"}\n')
            assert b'"pong"' in wyoming.recv(4096)
        daemon.terminate()
        assert daemon.exit_status(20) == 0
        assert list(folder.iterdir()) == []


def test_the_file_of_a_daemon_that_was_killed_is_taken_over_and_that_of_one_that_runs_is_not(tmp_path, folder, null_models):
    address = f"unix:{folder}/grpc.sock"
    other = ["--http-address", "off", "--metrics-address", "off"]
    with daemons.start(tmp_path, "--grpc-address", address, *other, models=null_models) as first:
        status, error = daemons.refused_start("--grpc-address", address, *other, models=null_models)
        assert status == 1
        assert error.splitlines()[-1] == f"millrace: --grpc-address {address}: cannot listen: another process listens there"
        assert "null" in daemons.out(daemons.run("models", "--address", address))
        first.process.send_signal(signal.SIGKILL)
        first.exit_status(10)
    assert os.listdir(folder) == ["grpc.sock"]
    with daemons.start(tmp_path, "--grpc-address", address, *other, models=null_models):
        assert "null" in daemons.out(daemons.run("models", "--address", address))


@pytest.mark.parametrize(("path", "message"), [
    ("none/a.sock", "No such file or directory"),
    ("file", "there is a file that is no socket"),
])
def test_what_is_wrong_with_the_path_of_a_socket_is_said_in_one_line(folder, null_models, path, message):
    (folder / "file").write_text("precious")
    address = f"unix:{folder}/{path}"
    status, error = daemons.refused_start("--http-address", address, models=null_models)
    assert status == 1
    assert error.splitlines()[-1] == f"millrace: HTTP address {address}: cannot listen: {message}"
    assert (folder / "file").read_text() == "precious"


def test_a_path_that_is_too_long_is_a_usage_error(null_models):
    address = "unix:/" + "a" * 120
    status, error = daemons.refused_start("--grpc-address", address, models=null_models)
    assert status == 2
    assert f"--grpc-address: '{address[:80]}" in error and "unix: with a path of 1..107 bytes" in error


@pytest.mark.parametrize("address", ["unix:@millrace", "unix-abstract:millrace"])
def test_a_name_outside_of_the_file_system_is_a_usage_error(tmp_path, null_models, address):
    status, error = daemons.refused_start("--grpc-address", address, models=null_models, cwd=tmp_path)
    assert status == 2
    assert f"--grpc-address: '{address[:80]}" in error and "does not begin with @ (no abstract socket)" in error
    assert list(tmp_path.iterdir()) == []


def test_an_address_that_is_given_twice_is_a_usage_error(null_models):
    status, error = daemons.refused_start("--http-address", "127.0.0.1:47000", "--metrics-address", "127.0.0.1:47000", models=null_models)
    assert status == 2
    assert "--metrics-address: 127.0.0.1:47000 is the address of --http-address already; each needs its own" in error


def test_a_port_that_another_program_has_is_told_with_its_address(null_models):
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        status, error = daemons.refused_start("--grpc-address", address, models=null_models)
    assert status == 1
    assert error.splitlines()[-1] == f"millrace: --grpc-address {address}: cannot listen: Address already in use"


def test_localhost_is_both_of_its_addresses(tmp_path, null_models):
    options = [option for protocol in ("grpc", "http", "metrics") for option in (f"--{protocol}-address", "localhost:0")]
    with daemons.start(tmp_path, *options, models=null_models) as daemon:
        for host in ("127.0.0.1", "::1"):
            for port in daemon.ports.values():
                if port == 0:
                    continue
                try:
                    socket.create_connection((host, port), timeout=10).close()
                except OSError as error:
                    assert host == "::1" and error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT), error
        assert "null" in daemons.out(daemons.run("models", "--address", f"localhost:{daemon.ports['grpc']}"))
