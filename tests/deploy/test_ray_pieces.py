"""The parts of deploy/ray/millrace_ray that are not about calls: methods, scaling, the daemon's process, HTTP. None of it needs Ray."""

import asyncio
import contextlib
import importlib
import importlib.util
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import fake_daemon
import pytest
import yaml
from daemon import ROOT, wait_for
from wire import stubs   # noqa: F401  generates the modules of proto/
from google.protobuf import descriptor_pool

sys.path.insert(0, str(ROOT / "deploy" / "ray"))
from millrace_ray import frames, methods, scaling  # noqa: E402
from millrace_ray.daemon import Daemon, DaemonError, serve_command  # noqa: E402
from millrace_ray.methods import Kind  # noqa: E402

FAKE = pathlib.Path(fake_daemon.__file__)


# Methods.

def served_methods():
    """The methods of proto/ by descriptors, but for what the daemon calls itself and for load reports."""
    found = {}
    for file in sorted((ROOT / "proto").rglob("*.proto")):
        name = str(file.relative_to(ROOT / "proto"))
        package = re.search(r"^package (.*);", file.read_text(), re.MULTILINE)[1]
        if package.startswith(("opentelemetry", "xds")):
            continue
        for service in re.findall(r"^service (\w+)", file.read_text(), re.MULTILINE):
            descriptor = descriptor_pool.Default().FindFileByName(name).services_by_name[service]
            for method in descriptor.methods:
                kind = {(False, False): Kind.UNARY, (False, True): Kind.SERVER_STREAM, (True, True): Kind.BIDIRECTIONAL}[
                    method.client_streaming, method.server_streaming]
                found[f"/{descriptor.full_name}/{method.name}"] = kind
    return found


def test_methods_are_those_of_the_daemon():
    import_all()
    assert methods.METHODS == served_methods()


def import_all():
    """Reflection and health are in proto/ too, and nothing else here imports them."""
    for module in ("grpc.health.v1.health_pb2", "grpc.reflection.v1.reflection_pb2", "grpc.reflection.v1alpha.reflection_pb2"):
        path = pathlib.Path(stubs._folder.name) / (module.replace(".", "/") + ".py")
        spec = importlib.util.spec_from_file_location(module.rpartition(".")[2], path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_methods_of_one_name_are_of_one_kind(monkeypatch):
    assert methods.by_name()["Synthesize"] is Kind.UNARY   # of two services
    monkeypatch.setitem(methods.METHODS, "/other.Service/Synthesize", Kind.BIDIRECTIONAL)
    with pytest.raises(ValueError, match="Synthesize are both unary and bidirectional"):
        methods.by_name()


def test_frame_of_another_version_is_refused():
    assert frames.read(frames.message(b"\x01").SerializeToString()) == b"\x01"
    with pytest.raises(ValueError, match="different versions"):
        frames.read(b"\x02x")


def test_serve_yaml_names_what_exists():
    config = yaml.safe_load((ROOT / "deploy" / "ray" / "serve.yaml").read_text())
    for path in config["grpc_options"]["grpc_servicer_functions"]:
        module, _, name = path.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))
    application, = config["applications"]
    module, _, name = application["import_path"].partition(":")
    assert f"\ndef {name}(" in (ROOT / "deploy" / "ray" / f"{module.replace('.', '/')}.py").read_text()   # its import needs Ray
    policy = application["deployments"][0]["autoscaling_config"]["policy"]
    module, _, name = policy["policy_function"].partition(":")
    assert callable(getattr(importlib.import_module(module), name)(**policy["policy_kwargs"]))


# Scaling.

METRICS = """\
# HELP millrace_permits Forwards that may run at once.
millrace_permits 4
millrace_permits_in_use 3
millrace_queue_oldest_seconds{model="a"} 0.5
millrace_queue_oldest_seconds{model="b"} 0
millrace_expected_wait_seconds{model="a"} 0.25
millrace_expected_wait_seconds{model="b"} 1.5e0
"""


def test_load_is_the_longest_wait_of_any_model_and_the_share_of_busy_permits():
    assert scaling.load(METRICS) == {"wait_seconds": 1.5, "busy": 0.75}
    assert scaling.load(METRICS.replace("1.5e0", "0.1"))["wait_seconds"] == 0.5


def test_load_without_a_metric_is_an_error_and_not_zero():
    with pytest.raises(ValueError, match="millrace_permits_in_use"):
        scaling.load(METRICS.replace("millrace_permits_in_use", "millrace_other"))


class Context:
    def __init__(self, waits, busy, current, target=None):
        self.current_num_replicas, self.target_num_replicas, self.policy_state = current, target or current, {"kept": 1}
        self.aggregated_metrics = {"wait_seconds": dict(enumerate(waits)), "busy": dict(enumerate(busy))}


def decided(context, **settings):
    replicas, state = scaling.QueueTimePolicy(**settings)(context)
    assert state == {"kept": 1}
    return replicas


def test_waits_beyond_the_target_add_replicas():
    assert decided(Context([0.3, 0.3], [1, 1], 2), target_wait_seconds=0.2) == 3
    assert decided(Context([9, 9], [1, 1], 2)) == 4   # at most twice as many at once
    assert decided(Context([0.8, 0.0], [1, 0], 2), target_wait_seconds=0.2) == 4   # the mean counts


def test_busy_permits_add_replicas_before_anything_waits():
    assert decided(Context([0, 0], [1, 1], 2), target_busy=0.7) == 3


def test_load_at_its_targets_keeps_the_replicas():
    assert decided(Context([0.2] * 3, [0.7] * 3, 3), target_wait_seconds=0.2, target_busy=0.7) == 3
    assert decided(Context([0.1] * 3, [0.5] * 3, 3)) == 3   # two would be above the target


def test_idle_replicas_are_taken_away_down_to_one():
    assert decided(Context([0, 0, 0, 0], [0.3] * 4, 4)) == 2
    assert decided(Context([0, 0], [0, 0], 2)) == 1


def test_replicas_that_start_are_not_asked_for_twice():
    assert decided(Context([9, 9], [1, 1], 2, target=4)) == 4


@pytest.mark.parametrize("metrics", [None, {}, {"wait_seconds": {}, "busy": {}}, {"wait_seconds": {0: 9.0}}])
def test_without_reports_nothing_changes(metrics):
    context = Context([], [], 3, target=5)
    context.aggregated_metrics = metrics
    assert decided(context) == 5


@pytest.mark.parametrize(("settings", "message"), [({"target_wait_seconds": 0}, "target_wait_seconds: 0 is not above 0"),
                                                   ({"target_busy": 1.5}, "target_busy: 1.5 is not above 0 and at most 1")])
def test_wrong_targets_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        scaling.QueueTimePolicy(**settings)


# The daemon.

@pytest.fixture
def program(tmp_path):
    path = tmp_path / "millrace"
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{FAKE}" "$@"\n')
    path.chmod(0o755)
    return str(path)


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_command_of_a_missing_program_names_it():
    with pytest.raises(DaemonError, match="program: 'no-such-program' is neither on the PATH"):
        serve_command("no-such-program", [], pathlib.Path("ports"))


@pytest.mark.parametrize("flag", ["--grpc-address", "--port-file=x", "--drain-delay"])
def test_flags_of_the_replica_are_refused(flag):
    with pytest.raises(DaemonError, match=re.escape(f"arguments: {flag!r} is set by the replica itself")):
        serve_command(sys.executable, ["--models", "m", flag], pathlib.Path("ports"))


@contextlib.asynccontextmanager
async def started(program, *arguments):
    daemon = Daemon(program, arguments)
    await daemon.start(30)
    try:
        yield daemon
    finally:
        await daemon.stop(0)


def test_daemon_serves_from_its_start_to_its_stop(program):
    async def test():
        async with started(program) as daemon:
            assert await daemon.is_serving() and set(daemon.ports) == {"grpc", "http", "metrics"}
            await daemon.stop(20)
            assert await daemon.wait() == 0   # by SIGTERM, not SIGKILL
            assert not await daemon.is_serving()
    asyncio.run(test())


def test_stopped_daemon_that_does_not_end_is_killed(program):
    async def test():
        async with started(program) as daemon:
            os.kill(daemon.pid, signal.SIGSTOP)
            await daemon.stop(0.2)
            assert await daemon.wait() == -signal.SIGKILL
    asyncio.run(test())


def test_death_of_the_daemon_is_noticed(program):
    async def test():
        async with started(program) as daemon:
            os.kill(daemon.pid, signal.SIGKILL)
            assert await asyncio.wait_for(daemon.wait(), 20) == -signal.SIGKILL
            assert daemon.has_ended() and not await daemon.is_serving()
    asyncio.run(test())


def test_daemon_that_ends_at_its_start_is_an_error(program):
    with pytest.raises(DaemonError, match="--models broken ended with 3; its log has more"):
        asyncio.run(Daemon(program, ["--models", "broken"]).start(30))


def test_daemon_that_never_serves_is_ended(program):
    async def test():
        daemon = Daemon(program, ["--models", "stuck"])
        with pytest.raises(DaemonError, match="did not serve within 0.5 s"):
            await daemon.start(0.5)
        assert not is_running(daemon.pid)
    asyncio.run(test())


def test_daemon_ends_with_a_replica_that_is_killed(program, tmp_path):
    """Which can do nothing about it any more."""
    replica = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT / "deploy" / "ray")!r})
from millrace_ray.daemon import Daemon
async def main():
    daemon = Daemon({program!r}, [])
    await daemon.start(30)
    print(daemon.pid, flush=True)
    await daemon.wait()
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", replica], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        assert is_running(pid)
        process.kill()
    wait_for("the daemon ends", lambda: not is_running(pid), 20)


def test_guard_does_not_start_a_program_for_a_process_that_has_ended(tmp_path):
    guard = ROOT / "deploy" / "ray" / "millrace_ray" / "guard.py"
    run = subprocess.run([sys.executable, guard, "1", "/bin/touch", tmp_path / "started"], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "process 1, which started this one, has ended" in run.stderr
    assert not (tmp_path / "started").exists()


# HTTP.

@pytest.fixture
def http_forwarder():
    pytest.importorskip("aiohttp")
    from millrace_ray.asgi import HttpForwarder
    return HttpForwarder


def asgi(forwarder, method="GET", path="/", query=b"", headers=(), body=(), root_path=""):
    """The status, headers and body of a request; each part of its body is an event of its own."""
    events = [{"type": "http.request", "body": part, "more_body": i < len(body) - 1} for i, part in enumerate(body)]
    sent = []

    async def receive():
        return events.pop(0) if events else await asyncio.Event().wait()

    async def send(event):
        sent.append(event)

    async def test():
        scope = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": query, "headers": list(headers),
                 "root_path": root_path}
        await asyncio.wait_for(forwarder(scope, receive, send), 20)
        await forwarder.close()
    asyncio.run(test())
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(event["body"] for event in sent[1:] if "body" in event)


def test_http_request_arrives_as_it_was_sent(http_forwarder):
    forwarder = http_forwarder(fake_daemon.serve_http())
    status, headers, body = asgi(forwarder, "POST", "/serve/a%2Fb", b"q=%20x", [(b"host", b"speech.example"), (b"content-length", b"5"), (b"x-a", b"1"),
                                                                       (b"connection", b"close, x-hop"), (b"x-hop", b"1")], [b"he", b"llo"], "/serve")
    seen = json.loads(body)
    assert (status, seen["method"], seen["path"], seen["body"]) == (200, "POST", "/a%2Fb?q=%20x", "hello")
    assert sorted(map(tuple, seen["headers"])) == [("content-length", "5"), ("host", "speech.example"), ("x-a", "1")]
    assert headers[b"retry-after"] == b"3"


@pytest.mark.parametrize(("path", "status"), [("/full", 429), ("/moved", 302)])
def test_http_status_passes_unchanged(http_forwarder, path, status):
    assert asgi(http_forwarder(fake_daemon.serve_http()), path=path)[0] == status


def test_http_without_a_daemon_says_so(http_forwarder):
    status, headers, body = asgi(http_forwarder(1))
    assert (status, headers[b"retry-after"]) == (503, b"1") and b"does not answer" in body


def websocket(http_forwarder, events):
    """What a client is sent for these events behind its connect, and what the daemon's side has seen."""
    from aiohttp import web
    seen, sent = [], []

    async def echo(request):
        socket = web.WebSocketResponse(protocols=("speech",))
        seen.append((request.path_qs, request.headers.get("X-A")))
        await socket.prepare(request)
        async for message in socket:
            seen.append(message.data)
            if message.data == "bye":
                await socket.close(code=4001)
            elif isinstance(message.data, str):
                await socket.send_str(message.data.upper())
            else:
                await socket.send_bytes(message.data)
        seen.append(socket.close_code)
        return socket

    async def test():
        application = web.Application()
        application.router.add_get("/{path:.*}", echo)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        arriving = [{"type": "websocket.connect"}, *events]
        forwarder = http_forwarder(runner.addresses[0][1])

        async def receive():
            return arriving.pop(0) if arriving else await asyncio.Event().wait()

        async def send(event):
            sent.append(event)
        scope = {"type": "websocket", "path": "/ws", "raw_path": b"/ws", "query_string": b"a=1", "root_path": "", "subprotocols": ["speech"],
                 "headers": [(b"x-a", b"1"), (b"upgrade", b"websocket"), (b"sec-websocket-key", b"k"), (b"sec-websocket-version", b"13")]}
        await asyncio.wait_for(forwarder(scope, receive, send), 20)
        await forwarder.close()
        await runner.cleanup()
    asyncio.run(test())
    return sent, seen


def test_websocket_goes_both_ways_until_the_daemon_closes_it(http_forwarder):
    sent, seen = websocket(http_forwarder, [{"type": "websocket.receive", "text": "hello"}, {"type": "websocket.receive", "bytes": b"\x00\xff"},
                                            {"type": "websocket.receive", "text": "bye"}])
    assert seen[0] == ("/ws?a=1", "1")
    assert sent == [{"type": "websocket.accept", "subprotocol": "speech"}, {"type": "websocket.send", "text": "HELLO"},
                    {"type": "websocket.send", "bytes": b"\x00\xff"}, {"type": "websocket.close", "code": 4001}]


def test_websocket_that_the_client_closes_is_closed_at_the_daemon(http_forwarder):
    _, seen = websocket(http_forwarder, [{"type": "websocket.receive", "text": "hello"}, {"type": "websocket.disconnect", "code": 1001}])
    assert seen[1:] == ["hello", 1001]


def test_websocket_without_a_daemon_is_refused(http_forwarder):
    sent = []

    async def test():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(event):
            sent.append(event)
        forwarder = http_forwarder(1)
        await forwarder({"type": "websocket", "path": "/ws", "headers": [], "subprotocols": []}, receive, send)
        await forwarder.close()
    asyncio.run(test())
    assert [event["type"] for event in sent] == ["websocket.close"]
