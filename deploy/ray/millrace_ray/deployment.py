"""The deployment: replicas that start one daemon each. `build` makes an application of it, for serve.yaml and for `serve.run`."""

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pydantic
from ray import serve
from ray.serve.config import AutoscalingConfig, AutoscalingPolicy

from . import frames, methods, scaling
from .asgi import HttpForwarder
from .daemon import Daemon, DaemonError
from .forwarding import Forwarder, Requests

_log = logging.getLogger("ray.serve")
# For calls that a daemon's death has just ended to reach their clients.
_LAST_WORDS_SECONDS = 0.2
# For a daemon without calls.
_STOP_SECONDS = 10


class Settings(pydantic.BaseModel, extra="forbid"):
    """`args` of the application."""
    arguments: list[str]
    """Flags of `millrace serve` but for its addresses: ["--models", "/srv/models"]."""
    program: str = "millrace"
    """On the PATH of each node, or a path that holds on all of them."""
    start_seconds: float = pydantic.Field(default=300, gt=0)
    """Within which a daemon must have loaded its models."""


@serve.ingress()
class Millrace:
    """A replica. It ends when its daemon ends on its own, and Serve replaces it at once; its daemon ends with it in any case."""

    async def __init__(self, settings: Settings) -> None:
        self._closing = contextlib.AsyncExitStack()
        self._daemon = Daemon(settings.program, settings.arguments)
        self._closing.push_async_callback(self._daemon.stop, _STOP_SECONDS)
        began = time.monotonic()
        await self._daemon.start(settings.start_seconds)
        _log.info("millrace serve, process %d, serves after %.1f s", self._daemon.pid, time.monotonic() - began)
        self._forwarder = Forwarder(f"127.0.0.1:{self._daemon.ports['grpc']}")
        self._closing.push_async_callback(self._forwarder.close)
        self._http = HttpForwarder(self._daemon.ports["http"])
        self._closing.push_async_callback(self._http.close)
        self._load = {scaling.WAIT_SECONDS: 0.0, scaling.BUSY: 0.0}
        self._metrics = await self._closing.enter_async_context(aiohttp.ClientSession())
        watch = asyncio.create_task(self._end_with_daemon())
        self._closing.callback(watch.cancel)

    def __serve_build_asgi_app__(self) -> HttpForwarder:
        return self._http

    async def check_health(self) -> None:
        if not await self._daemon.is_serving():
            raise DaemonError("the daemon of this replica does not serve")

    async def record_autoscaling_stats(self) -> dict[str, float]:
        # Serve asks on while a replica stops, whose daemon has ended.
        if not self._metrics.closed:
            async with self._metrics.get(f"http://127.0.0.1:{self._daemon.ports['metrics']}/metrics") as answer:
                self._load = scaling.load(await answer.text())
        return self._load

    async def __del__(self) -> None:
        """Serve calls it once, when the replica has no calls left."""
        await self._closing.aclose()

    async def _end_with_daemon(self) -> None:
        """A replica without a daemon would answer faster than any other and get all the calls until the next health check."""
        status = await self._daemon.wait()
        _log.error("millrace serve, process %d, ended with %d; this replica ends as well", self._daemon.pid, status)
        await asyncio.sleep(_LAST_WORDS_SECONDS)
        os._exit(1)

    async def _unary(self, call: frames.Call) -> frames.Frame:
        return await self._forwarder.unary(call)

    async def _server_stream(self, call: frames.Call) -> AsyncIterator[frames.Frame]:
        async for frame in self._forwarder.server_stream(call):
            yield frame

    async def _bidirectional(self, requests: Requests) -> AsyncIterator[frames.Frame]:
        async for frame in self._forwarder.bidirectional(requests):
            yield frame


_FORWARDS = {methods.Kind.UNARY: Millrace._unary, methods.Kind.SERVER_STREAM: Millrace._server_stream,
             methods.Kind.BIDIRECTIONAL: Millrace._bidirectional}
# Serve calls a replica by the name of the method.
for _name, _kind in methods.by_name().items():
    setattr(Millrace, _name, _FORWARDS[_kind])


def build(args: Settings | dict[str, Any]) -> serve.Application:
    return DEPLOYMENT.bind(args if isinstance(args, Settings) else Settings(**args))


# serve.yaml may set all of it anew. The daemon has queues and refuses what is beyond them, so that Serve's own limit stays out of the way.
DEPLOYMENT = serve.deployment(
    name="millrace", max_ongoing_requests=1000, health_check_period_s=2, health_check_timeout_s=10,
    graceful_shutdown_timeout_s=90,
    autoscaling_config=AutoscalingConfig(
        min_replicas=1, max_replicas=1, metrics_interval_s=1, look_back_period_s=10, upscale_delay_s=0, downscale_delay_s=300,
        policy=AutoscalingPolicy(policy_function=scaling.QueueTimePolicy)))(Millrace)
