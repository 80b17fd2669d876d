"""What a collector of OpenTelemetry was sent, and a fake one, by gRPC or by HTTP, that answers as a test wants."""

import abc
import collections
import concurrent.futures
import contextlib
import http.server
import threading
from collections.abc import Callable, Iterator

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1 import trace_pb2

from .polling import eventually

Span = trace_pb2.Span


class Collector(abc.ABC):
    """Where the spans are, in a fake or in a real collector."""

    @abc.abstractmethod
    def processes(self) -> list[trace_pb2.ResourceSpans]:
        """What was accepted so far: spans, and the process that sent them."""

    def spans(self) -> list[Span]:
        return [span for process in self.processes() for scope in process.scope_spans for span in scope.spans]

    def trace(self, root: Callable[[Span], bool]) -> list[Span]:
        """All spans of the trace with a server span for which this holds, once it has come; the server's first."""
        found: list[Span] = []

        def has_come() -> bool:
            spans = self.spans()
            for server in spans:
                if server.kind == Span.SPAN_KIND_SERVER and root(server):
                    found[:] = [server, *(span for span in spans if span.parent_span_id == server.span_id)]
                    return True
            return False
        eventually("the spans reach the collector", has_come, 20)
        return found


class FakeCollector(Collector):
    """The answers are used up one by one, then everything is accepted."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[trace_service_pb2.ExportTraceServiceRequest] = []   # that were accepted
        self.headers: list[dict[str, str]] = []
        self.answers: collections.deque[Callable] = collections.deque()
        self._lock = threading.Lock()

    def keep(self, request: trace_service_pb2.ExportTraceServiceRequest) -> None:
        with self._lock:
            self.requests.append(request)

    def processes(self) -> list[trace_pb2.ResourceSpans]:
        with self._lock:
            return [process for request in self.requests for process in request.resource_spans]


def attributes(span: Span) -> dict[str, object]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in span.attributes}


def refuse(code: grpc.StatusCode, retry_ms: int | None = None) -> Callable:
    """An answer by gRPC: an error, with google.rpc.RetryInfo if there is a time."""
    def answer(context: grpc.ServicerContext) -> None:
        if retry_ms is not None:
            delay = Duration(nanos=retry_ms * 1_000_000).SerializeToString()
            info = Any(type_url="type.googleapis.com/google.rpc.RetryInfo", value=b"\x0a" + bytes([len(delay)]) + delay)
            detail = info.SerializeToString()
            status = b"\x08" + bytes([code.value[0]]) + b"\x1a" + bytes([len(detail)]) + detail
            context.set_trailing_metadata([("grpc-status-details-bin", status)])
        context.abort(code, "not now")
    return answer


@contextlib.contextmanager
def by_grpc() -> Iterator[FakeCollector]:
    collector = FakeCollector()

    class Service(trace_service_pb2_grpc.TraceServiceServicer):
        def Export(self, request, context):   # noqa: N802, the name of the method
            collector.headers.append(dict(context.invocation_metadata()))
            if collector.answers:
                collector.answers.popleft()(context)
            collector.keep(request)
            return trace_service_pb2.ExportTraceServiceResponse()

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(Service(), server)
    collector.url = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(None)


@contextlib.contextmanager
def by_http() -> Iterator[FakeCollector]:
    """Its answers are functions of the handler, which return the status."""
    collector = FakeCollector()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):   # noqa: N802
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.headers.append({"path": self.path} | {name.lower(): value for name, value in self.headers.items()})
            status = collector.answers.popleft()(self) if collector.answers else 200
            if status == 200:
                collector.keep(trace_service_pb2.ExportTraceServiceRequest.FromString(body))
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "0")
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    collector.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
