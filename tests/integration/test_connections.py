"""Connections that take what the daemon has: descriptors, HTTP threads, metrics threads."""

import contextlib
import os
import resource
import signal
import socket
import threading

import grpc
import pytest
from wire import daemon as daemons
from wire.http2 import RawConnection
from wire.polling import eventually, stays

# A hard limit far below what the default of --max-connections can need.
FEW_DESCRIPTORS = ("sh", "-c", 'ulimit -n 256; exec "$0" "$@"')


@pytest.fixture
def daemon(tmp_path, null_models):
    with daemons.start(tmp_path, "--workers", "1", models=null_models, under=FEW_DESCRIPTORS) as running:
        yield running


def connect(port, said=b""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(said)
    return connection


def descriptors(daemon):
    return len(os.listdir(f"/proc/{daemon.process.pid}/fd"))


def processor_seconds(daemon):
    with open(f"/proc/{daemon.process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serves(daemon):
    try:
        return daemon.health(channel=daemon.connect()) == "SERVING"
    except grpc.RpcError:
        return False


def answer(connection):
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(4096):
            received += piece
    return received


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs Linux's /proc")
def test_a_full_descriptor_table_neither_spins_nor_ends_the_daemon(daemon):
    assert "fewer files may be open" in daemon.log_text()
    assert daemon.health(channel=daemon.connect()) == "SERVING"
    free = 4
    limit = descriptors(daemon) + free
    resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    with contextlib.ExitStack() as stack:
        for _ in range(free + 1):   # one descriptor each, while a request is under way
            stack.enter_context(connect(daemon.ports["http"], b"GET /v2"))
        eventually("no descriptor is left", lambda: descriptors(daemon) == limit)
        stack.enter_context(RawConnection(daemon.ports["grpc"]))
        eventually("that is logged", lambda: "gRPC is short of descriptors" in daemon.log_text())
        before = processor_seconds(daemon)
        stays("runs", lambda: daemon.process.poll() is None, 2)
        assert processor_seconds(daemon) - before < 1
        assert daemon.log_text().count("gRPC is short of descriptors") == 1
    eventually("connections are accepted again", lambda: serves(daemon))


def test_http_clients_that_send_no_end_neither_hold_up_others_nor_the_stop(daemon):
    with contextlib.ExitStack() as stack:
        half = [stack.enter_context(connect(daemon.ports["http"], b"GET /v2/health/live HTTP/1.1\r\nHost: localhost\r\nX: ")) for _ in range(10)]
        over = threading.Event()

        def drip():
            while not over.wait(0.1):
                for connection in half:
                    with contextlib.suppress(OSError):
                        connection.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            assert daemon.http("/v2/health/live") == (200, {"live": True})
            daemon.process.send_signal(signal.SIGTERM)
            assert daemon.exit_status(10) == 0
        finally:
            over.set()
            dripping.join()


def test_http_bodies_that_cannot_be_bounded_are_refused(daemon):
    head = b"POST /v2/models/null/infer HTTP/1.1\r\nHost: localhost\r\n"
    for headers, status in ((b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % (1 << 40), 413), (b"Transfer-Encoding: gzip\r\n\r\n", 501),
                            (b"\r\n{}", 411), (b"Content-Length: 1000000000\r\n\r\n", 413)):
        with connect(daemon.ports["http"], head + headers) as connection:
            assert answer(connection).startswith(b"HTTP/1.1 %d " % status)


def test_idle_connections_do_not_starve_a_scrape(daemon):
    with contextlib.ExitStack() as stack:
        for _ in range(8):   # more than there are threads
            stack.enter_context(connect(daemon.ports["metrics"]))
        assert daemon.metrics().total("millrace_server_ready") == 1
