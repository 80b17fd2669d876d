"""Sockets that the service manager holds, as systemd's socket units do: a restart refuses no connection."""

import contextlib
import json
import socket
import sys
import threading
import time
import urllib.request

import grpc
import pytest
from wire import daemon as daemons
from wire.paths import NULL
from wire.polling import eventually
from wire.requests import PATIENCE, null_request
from wire.stubs import kserve_grpc

# Does what systemd does between fork and exec: the sockets become descriptors 3, 4, ..., of the process that LISTEN_PID names.
HAND_OVER = """
import fcntl, os, sys
sources = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in os.environ["SOCKETS"].split()]
for i, source in enumerate(sources):
    os.dup2(source, 3 + i)
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[1], sys.argv[1:])
"""
RETRIES = {"methodConfig": [{"name": [{}], "retryPolicy": {
    "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "1s", "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}


def listen(address="127.0.0.1"):
    return socket.create_server((address, 0), backlog=1024)


def handed(**sockets):
    """What starts a daemon with these sockets, by their names."""
    descriptors = tuple(one.fileno() for one in sockets.values())
    return {"under": (sys.executable, "-c", HAND_OVER), "descriptors": descriptors,
            "SOCKETS": " ".join(map(str, descriptors)), "LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": ":".join(sockets)}


def port_of(listening):
    return listening.getsockname()[1]


class Client:
    """Connects again and again, with one request on each connection, until the end of a with block."""

    def __init__(self, request):
        self._request = request
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.served = 0
        self.longest = 0.0
        self.errors = []

    def _run(self):
        while not self._over.is_set():
            start = time.monotonic()
            try:
                self._request()
                self.served += 1
            except Exception as error:   # which the test looks at
                self.errors.append(error)
            self.longest = max(self.longest, daemons.elapsed(start))
            time.sleep(0.01)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join(PATIENCE)


def test_a_restart_refuses_no_connection(tmp_path, null_models):
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with listen() as grpc_socket, listen() as http_socket, listen() as metrics_socket, contextlib.ExitStack() as stack:
        sockets = {"grpc": grpc_socket, "http": http_socket, "metrics": metrics_socket}
        ports = {name: port_of(one) for name, one in sockets.items()}

        def infer():
            socket.create_connection(("127.0.0.1", ports["grpc"]), timeout=PATIENCE).close()   # which gRPC would try again
            arguments = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_http_proxy", 0), ("grpc.service_config", json.dumps(RETRIES))]
            with grpc.insecure_channel(f"127.0.0.1:{ports['grpc']}", arguments) as channel:
                answer = kserve_grpc.GRPCInferenceServiceStub(channel).ModelInfer(
                    null_request(), timeout=PATIENCE, wait_for_ready=True)
                assert answer.model_name == NULL

        def ask_health():
            with urllib.request.urlopen(f"http://127.0.0.1:{ports['http']}/v2/health/live", timeout=PATIENCE) as answer:
                assert answer.status == 200

        with daemons.start(tmp_path / "first", "--workers", "1", models=null_models, **handed(**sockets)) as first:
            assert first.ports == ports | {"wyoming": 0}
            assert first.metrics().total("millrace_server_ready") == 1
            over_grpc = stack.enter_context(Client(infer))
            over_http = stack.enter_context(Client(ask_health))
            eventually("both are served", lambda: over_grpc.served > 5 and over_http.served > 5)
            first.terminate()
            assert first.exit_status(10) == 0
        before = over_grpc.served, over_http.served
        time.sleep(0.5)   # nobody accepts, and clients wait
        with daemons.start(tmp_path / "second", "--workers", "1", models=null_models, **handed(**sockets)) as second:
            eventually("both are served again", lambda: over_grpc.served > before[0] + 5 and over_http.served > before[1] + 5)
            stack.close()
            assert over_grpc.errors == []
            # One that the first daemon had accepted may have been closed without an answer, but none was refused.
            assert [error for error in over_http.errors if "refused" in str(error)] == []
            assert len(over_http.errors) <= 1
            assert min(over_grpc.longest, over_http.longest) > 0.4, "no client came while nobody accepted"
            second.terminate()
            assert second.exit_status(10) == 0


def test_a_socket_that_is_open_to_others_needs_tls_as_an_address_does(null_models):
    with listen("0.0.0.0") as exposed:
        status, message = daemons.refused_start(models=null_models, **handed(grpc=exposed))
    assert status == 1
    assert "--grpc-address" in message and "can be reached from other machines without TLS" in message


@pytest.mark.parametrize(("names", "words"), [
    ("millrace.socket", "'millrace.socket' is no port of this server, allowed are: grpc, http, metrics, wyoming"),
    ("grpc:http", "has 2 names for 1 sockets"),
])
def test_names_that_are_none_end_the_start(null_models, names, words):
    with listen() as one:
        status, message = daemons.refused_start(models=null_models, **handed(grpc=one) | {"LISTEN_FDNAMES": names})
    assert status == 1
    assert words in message
