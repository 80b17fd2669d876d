"""HTTP connections as clients, proxies and attackers hold them: kept for long, half-sent, silent, in numbers."""

import contextlib
import http.client
import select
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from wire import daemon as daemons
from wire.paths import NULL

MANY = 132   # connections; more than there are threads for requests
OF_ONE_ADDRESS = 96   # of these, that may wait for bodies of one address
OLD_IDLE_LIMIT = 2   # seconds


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, null_models):
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--workers", "1", models=null_models) as running:
        yield running


def connect(port, said):
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(said)
    return connection


def timed(function):
    start = time.monotonic()
    result = function()
    return result, time.monotonic() - start


def test_a_kept_connection_serves_many_requests_and_survives_a_pause(daemon):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=20)

    def ask():
        connection.request("GET", "/v2/models")
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200
        return answer

    with contextlib.closing(connection):
        assert ask().headers["Keep-Alive"] == "timeout=75"
        kept = connection.sock
        for _ in range(50):
            ask()
        # Nothing comes: neither an answer nor an end of the connection.
        assert select.select([kept], [], [], OLD_IDLE_LIMIT + 0.5) == ([], [], [])
        ask()
        assert connection.sock is kept


def test_idle_connections_do_not_hold_up_the_stop(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon, contextlib.ExitStack() as stack:
        for port in ("http", "metrics"):
            idle = stack.enter_context(contextlib.closing(http.client.HTTPConnection("127.0.0.1", daemon.ports[port], timeout=20)))
            idle.request("GET", "/metrics")
            idle.getresponse().read()
        daemon.terminate()
        status, seconds = timed(lambda: daemon.exit_status(20))
        assert status == 0 and seconds < 10


@pytest.mark.parametrize("said", [b"", b"GET /v2/health/live HTTP/1.1\r\nHost:",
                                  b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{"],
                         ids=["nothing", "half a head", "half a body"])
def test_health_is_answered_whatever_others_hold(daemon, said):
    with contextlib.ExitStack() as stack:
        for _ in range(MANY):
            stack.enter_context(connect(daemon.ports["http"], said))
        for path, answer in (("/v2/health/live", {"live": True}), ("/v2/health/ready", {"ready": True})):
            got, seconds = timed(lambda path=path: daemon.http(path))
            assert got == (200, answer) and seconds < 5


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_slow_bodies_of_one_address_leave_places_to_others(daemon):
    head = b"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n"
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connect(daemon.ports["http"], head + b"{")) for _ in range(MANY)]
        refused = []
        while len(refused) < MANY - OF_ONE_ADDRESS:
            ready, _, _ = select.select([peer for peer in slow if peer not in refused], [], [], 20)
            assert ready, f"{len(refused)} of {MANY} are refused"
            for peer in ready:
                assert peer.recv(65536).startswith(b"HTTP/1.1 429 ")
                refused.append(peer)
        # All that are not refused wait for their bodies.
        for address, status in (("127.0.0.2", b"200"), ("127.0.0.1", b"429")):
            peer = socket.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=20, source_address=(address, 0))
            stack.enter_context(peer)
            peer.sendall(b"POST /v2/repository/index HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
            if status == b"200":
                peer.sendall(b"{}")
            answer, seconds = timed(lambda peer=peer: peer.recv(65536))
            assert answer.split(b" ")[1] == status and seconds < 5, answer


def test_half_sent_requests_do_not_delay_a_scrape(daemon):
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connect(daemon.ports["metrics"], b"GET /metrics HTTP/1.1\r\nHost:"))
        metrics, seconds = timed(daemon.metrics)
        assert metrics.total("millrace_server_ready") == 1 and seconds < 5


def test_ranges_are_ignored_and_cost_nothing(daemon):
    ranges = "bytes=" + ",".join(["0-"] * 2500)

    def ask(_):
        connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", f"/v2/models/{NULL}", headers={"Range": ranges})
            answer = connection.getresponse()
            return answer.status, len(answer.read()), answer.headers["Content-Range"]

    whole = daemon.http(f"/v2/models/{NULL}")
    before = daemon.metrics().total("process_resident_memory_bytes")
    with ThreadPoolExecutor(12) as pool:
        answers = set(pool.map(ask, range(24)))
    assert len(answers) == 1
    [(status, size, content_range)] = answers
    assert whole[0] == status == 200 and size < 10_000 and content_range is None
    assert daemon.metrics().total("process_resident_memory_bytes") - before < 50e6


def test_a_range_of_a_form_that_is_none_is_ignored_too(daemon):
    assert daemon.http("/v2", range="bytes=9-0,nonsense")[0] == 200


# --- methods and paths ---

@pytest.mark.parametrize("method, path, allow", [("POST", "/v2/health/live", "GET, HEAD"), ("DELETE", f"/v2/models/{NULL}", "GET, HEAD"),
                                                 ("GET", "/v1/audio/speech", "POST"), ("HEAD", "/translate", "POST"),
                                                 ("PUT", "/languages/", "GET, HEAD")])
def test_a_method_that_a_path_does_not_have_is_refused_with_those_that_it_has(daemon, method, path, allow):
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=20)
    with contextlib.closing(connection):
        connection.request(method, path)
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Allow"]) == (405, f"{allow}, OPTIONS")


@pytest.mark.parametrize("path", ["/v2", "/v2/models", f"/v2/models/{NULL}", "/v2/health/ready", "/v1/models", "/v1/audio/voices", "/languages",
                                  "/frontend/settings"])
def test_paths_may_end_with_a_slash_and_have_a_head(daemon, path):
    whole = daemon.http(path)
    assert whole[0] == 200 and daemon.http(path + "/") == whole
    connection = http.client.HTTPConnection("127.0.0.1", daemon.ports["http"], timeout=20)
    with contextlib.closing(connection):
        connection.request("HEAD", path)
        answer = connection.getresponse()
        assert (answer.status, answer.read()) == (200, b"") and int(answer.headers["Content-Length"]) > 0


# --- what a request may look like ---

def head_of(daemon, request: bytes, port="http") -> bytes:
    with connect(daemon.ports[port], request) as connection:
        head = b""
        while b"\r\n\r\n" not in head and (received := connection.recv(4096)):
            head += received
    return head.split(b"\r\n\r\n")[0]


def test_a_post_without_a_body_is_served(daemon):
    assert head_of(daemon, b"POST /v2/repository/index HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("request_head", [
    b"GET /v2/health/ready?a=b?c HTTP/1.1\r\nHost: localhost\r\n",
    b"GET /v2/health/ready?url=http://a/?q HTTP/1.1\r\nHost: localhost\r\n",
    b"GET http://localhost/v2 HTTP/1.1\r\nHost: localhost\r\n",
    b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nCookie: " + b"a" * 60_000 + b"\r\n",
], ids=["question mark", "URL", "absolute form", "long header"])
def test_unusual_heads_are_served(daemon, request_head):
    assert head_of(daemon, request_head + b"\r\n").startswith(b"HTTP/1.1 200 ")


def test_a_malformed_head_is_told_and_closes(daemon):
    head = head_of(daemon, b"GET /v2 HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in head and b"Keep-Alive" not in head


# --- pages whose name resolves to this machine ---

REBOUND = b"Host: evil.example:46000\r\nOrigin: http://evil.example:46000\r\n"


def test_a_probe_may_call_the_server_as_it_likes(daemon):
    """Envoy's are for the name of a cluster, unless they are told another one."""
    for path in (b"live", b"ready"):
        assert head_of(daemon, b"GET /v2/health/" + path + b" HTTP/1.1\r\nHost: millrace_http\r\n\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("request_line", [b"POST /translate", b"GET /v2", b"GET /console/live", b"GET /v1/models"])
def test_a_host_of_another_name_is_refused(daemon, request_line):
    head = head_of(daemon, request_line + b" HTTP/1.1\r\nContent-Length: 0\r\n" + REBOUND + b"\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")


def test_a_websocket_of_another_name_is_refused(daemon):
    head = head_of(daemon, b"GET /v1/audio/speech/stream HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                           b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" + REBOUND + b"\r\n")
    assert head.startswith(b"HTTP/1.1 403 ")


@pytest.mark.parametrize("version, header", [(b"1.0", b""), (b"1.1", b"Content-Length: 5\r\n"), (b"1.1", b"Connection: close\r\n")])
def test_a_connection_that_will_be_closed_is_no_websocket(daemon, version, header):
    head = head_of(daemon, b"GET /v1/audio/speech/stream HTTP/" + version + b"\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n" + header + b"\r\n")
    assert head.startswith(b"HTTP/1.1 400 ") and b"Sec-WebSocket-Accept" not in head


def test_metrics_are_for_this_machine_alone_too(daemon):
    assert head_of(daemon, b"GET /metrics HTTP/1.1\r\n" + REBOUND + b"\r\n", "metrics").startswith(b"HTTP/1.1 403 ")


def test_the_name_of_a_proxy_may_be_allowed(tmp_path, null_models):
    with daemons.start(tmp_path, "--allowed-host", "tts.example.org", models=null_models) as daemon:
        assert head_of(daemon, b"GET /v2 HTTP/1.1\r\nHost: tts.example.org\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        assert head_of(daemon, b"GET /v2 HTTP/1.1\r\n" + REBOUND + b"\r\n").startswith(b"HTTP/1.1 403 ")
