"""The daemon of a replica: a process on free ports of loopback, from its start until it has served what it was given."""

import asyncio
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence

import grpc

_GUARD = pathlib.Path(__file__).with_name("guard.py")
_PORTS = ("grpc", "http", "metrics")
_OWN_FLAGS = ("--grpc-address", "--http-address", "--metrics-address", "--port-file", "--drain-delay")
_CHECK = "/grpc.health.v1.Health/Check"
_SERVING = b"\x08\x01"   # HealthCheckResponse{status: SERVING}
_POLL_SECONDS = 0.05


class DaemonError(RuntimeError):
    """A daemon that can not be started, or that ended on its own."""


def serve_command(program: str, arguments: Sequence[str], port_file: pathlib.Path) -> list[str]:
    """`millrace serve` on free ports. Raises DaemonError for a program that is missing and for flags that belong to the replica."""
    path = shutil.which(program)
    if path is None:
        raise DaemonError(f"program: {program!r} is neither on the PATH of this node nor the path of a program")
    for argument in arguments:
        if argument.partition("=")[0] in _OWN_FLAGS:
            raise DaemonError(f"arguments: {argument!r} is set by the replica itself, as are {', '.join(_OWN_FLAGS)}")
    addresses = [part for name in _PORTS for part in (f"--{name}-address", "127.0.0.1:0")]
    # Serve sends a replica that stops no more calls, so that the daemon need not wait for anyone to notice.
    return [path, "serve", *addresses, "--port-file", str(port_file), "--drain-delay", "0s", *arguments]


def _report_end(process: subprocess.Popen, loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    process.wait()
    try:
        loop.call_soon_threadsafe(ended.set)
    except RuntimeError:   # the loop is closed, and nobody waits
        pass


class Daemon:
    """Not thread-safe; to be used in one event loop, whose thread must live as long as the process: the daemon is killed with it."""

    def __init__(self, program: str, arguments: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="millrace-ray-")
        self._port_file = pathlib.Path(self._folder.name) / "ports.json"
        self._command = serve_command(program, arguments, self._port_file)
        self._process: subprocess.Popen | None = None
        self._ended = asyncio.Event()
        self.ports: dict[str, int] = {}   # by "grpc", "http" and "metrics", after start()

    @property
    def pid(self) -> int:
        return self._process.pid

    async def start(self, seconds: float) -> None:
        """Returns when the daemon serves all of its models. Raises DaemonError if it ends before, or does not within that time."""
        guard = [sys.executable, "-I", "-S", str(_GUARD), str(os.getpid()), *self._command]
        self._process = subprocess.Popen(guard, stdin=subprocess.DEVNULL)   # its log is the replica's, where Ray finds it
        loop = asyncio.get_running_loop()
        threading.Thread(target=_report_end, args=(self._process, loop, self._ended), name="millrace-wait", daemon=True).start()
        try:
            async with asyncio.timeout(seconds):
                self.ports = await self._read_ports()
                while not await self.is_serving():
                    await self._sleep()
        except TimeoutError:
            await self.stop(0)
            raise DaemonError(f"{' '.join(self._command)} did not serve within {seconds:g} s; its log has more") from None
        except BaseException:
            await self.stop(0)
            raise

    async def _read_ports(self) -> dict[str, int]:
        while True:
            try:
                return json.loads(self._port_file.read_text())
            except (FileNotFoundError, json.JSONDecodeError):
                await self._sleep()

    async def _sleep(self) -> None:
        """Until it is worth to look again."""
        try:
            await asyncio.wait_for(self._ended.wait(), _POLL_SECONDS)
        except TimeoutError:
            return
        raise DaemonError(f"{' '.join(self._command)} ended with {self._process.returncode}; its log has more")

    async def is_serving(self) -> bool:
        """By its health check, which says no while models load and while it drains."""
        if self.has_ended():
            return False
        async with grpc.aio.insecure_channel(f"127.0.0.1:{self.ports['grpc']}", [("grpc.enable_http_proxy", 0)]) as channel:
            try:
                return await channel.unary_unary(_CHECK)(b"", timeout=5) == _SERVING
            except grpc.aio.AioRpcError:
                return False

    def has_ended(self) -> bool:
        return self._process is None or self._ended.is_set()

    async def wait(self) -> int:
        """Waits until it has ended, for whatever reason; its exit status as Popen has it."""
        await self._ended.wait()
        return self._process.returncode

    async def stop(self, seconds: float) -> None:
        """Has it finish what it serves, for so long at most, and then ends it."""
        if self._process is not None and not self._ended.is_set():
            if seconds > 0:
                self._process.send_signal(signal.SIGTERM)
                try:
                    await asyncio.wait_for(self._ended.wait(), seconds)
                except TimeoutError:
                    pass
            if not self._ended.is_set():
                self._process.kill()
                await self._ended.wait()
        self._folder.cleanup()
