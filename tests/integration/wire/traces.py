"""Requests that are traced, and what their spans must look like at any collector."""

import concurrent.futures
import secrets
import time
from collections.abc import Callable

from opentelemetry.proto.trace.v1 import trace_pb2

from .collector import Collector, Span, attributes
from .daemon import Daemon
from .paths import VOICE
from .polling import eventually
from .requests import PATIENCE, null_request
from .rest import send

SOON = {"OTEL_BSP_SCHEDULE_DELAY": "50"}
PHASES = {"queue", "prepare", "permit", "forward", "complete"}


def parent(sampled: bool = True) -> tuple[str, bytes, bytes]:
    """The header of a client's span, and its two ids."""
    trace, span = secrets.token_hex(16), secrets.token_hex(8)
    return f"00-{trace}-{span}-{'01' if sampled else '00'}", bytes.fromhex(trace), bytes.fromhex(span)


def of_trace(trace: bytes) -> Callable[[Span], bool]:
    return lambda server: server.trace_id == trace


def speak_http(daemon: Daemon, **headers: str) -> None:
    """Two sentences, by the route of OpenAI's clients."""
    body = {"model": VOICE, "input": "Good morning. How are you?", "response_format": "pcm"}
    status, _, audio = send(daemon, "POST", "/v1/audio/speech", body, "application/json", **headers)
    assert status == 200 and audio


def check_children(spans: list[Span]) -> None:
    server, *children = spans
    for span in children:
        assert span.parent_span_id == server.span_id and span.trace_id == server.trace_id
        assert span.kind == trace_pb2.Span.SPAN_KIND_INTERNAL
        assert server.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano <= server.end_time_unix_nano
    assert abs(server.start_time_unix_nano / 1e9 - time.time()) < 600


def check_links(daemon: Daemon, collector: Collector) -> None:
    """Requests of the null model that meet in a batch are linked with each other. The daemon has one worker."""
    def batches() -> bool:
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for done in [pool.submit(daemon.kserve.ModelInfer, null_request(), timeout=PATIENCE) for _ in range(64)]:
                done.result()
        return any(span.name == "forward" and span.links for span in collector.spans())
    eventually("requests meet in a batch", batches, 30)
    linked = next(span for span in collector.spans() if span.name == "forward" and span.links)
    assert len(linked.links) == attributes(linked)["millrace.batch_size"] - 1
    for link in linked.links:
        eventually("the linked span comes", lambda link=link: any(
            (span.trace_id, span.span_id) == (link.trace_id, link.span_id) for span in collector.spans()), 20)
        mate = next(span for span in collector.spans() if (span.trace_id, span.span_id) == (link.trace_id, link.span_id))
        assert mate.name == "forward" and mate.trace_id != linked.trace_id
        assert mate.start_time_unix_nano <= linked.end_time_unix_nano
