"""What tells that a thread which serves gRPC has stopped coming round, while the rest of the daemon goes on."""

import contextlib
import ctypes
import os
import pathlib
import socket
import time

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from wire import daemon as daemons
from wire.polling import eventually

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="a single thread can be stopped on Linux")

SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
WAIT_FOR_THREADS = 0x40000000   # __WALL


def ptrace(request, thread):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    if libc.ptrace(request, thread, None, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@contextlib.contextmanager
def stopped(process, name):
    """The threads of a child process that have this name stand still for the time of a with block."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    threads = [int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == name]
    assert threads, f"no thread is called {name}"
    try:
        for thread in threads:
            ptrace(SEIZE, thread)
    except PermissionError as error:
        pytest.skip(f"this machine lets nobody stop a thread: {error}")
    try:
        for thread in threads:
            ptrace(INTERRUPT, thread)
            os.waitpid(thread, WAIT_FOR_THREADS)
        yield
    finally:
        for thread in threads:
            ptrace(DETACH, thread)


def pings(manager):
    """How often the service manager has been told of life since the last time."""
    count = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            count += manager.recv(4096) == b"WATCHDOG=1"
    return count


@pytest.fixture
def manager(tmp_path):
    """systemd's end of NOTIFY_SOCKET."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.setblocking(False)
        yield receiver


def test_a_stalled_polling_thread_is_told(tmp_path, null_models, manager):
    with daemons.start(tmp_path, "--workers", "1", models=null_models, NOTIFY_SOCKET=manager.getsockname(), WATCHDOG_USEC="30000000") as daemon:
        watch = health_pb2_grpc.HealthStub(daemon.channel).Watch(health_pb2.HealthCheckRequest())
        told = (health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status) for answer in watch)
        assert next(told) == "SERVING"
        eventually("systemd is told that it lives", lambda: pings(manager) > 0)
        with stopped(daemon.process, "millrace-grpc"):
            begun = time.monotonic()
            eventually("it is not ready", lambda: daemon.http("/v2/health/ready")[0] == 503, 15)
            assert time.monotonic() - begun > 3   # a short delay is no stall
            assert daemon.http("/v2/health/live")[0] == 200
            assert daemon.metrics().total("millrace_grpc_polling_delay_seconds") >= 4
            pings(manager)
            longer = daemon.metrics().total("millrace_grpc_polling_delay_seconds") + 2
            eventually("it was looked at again", lambda: daemon.metrics().total("millrace_grpc_polling_delay_seconds") > longer)
            assert pings(manager) == 0
        # The stalled thread tells gRPC's clients late, but it does.
        assert [next(told), next(told)] == ["NOT_SERVING", "SERVING"]
        assert daemon.http("/v2/health/ready")[0] == 200
        eventually("systemd is told that it lives again", lambda: pings(manager) > 0)
        eventually("the delay is over", lambda: daemon.metrics().total("millrace_grpc_polling_delay_seconds") < 2)
