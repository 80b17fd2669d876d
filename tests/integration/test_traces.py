"""Spans of requests, as a collector of OpenTelemetry gets them; exemplars; the timeline of the workers."""

import concurrent.futures
import http.client
import json
import signal
import socket
import subprocess
import threading
import time

import grpc
import pytest
from opentelemetry.proto.trace.v1 import trace_pb2
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from websockets.sync.client import connect
from wire import collector as collectors
from wire import daemon as daemons
from wire import repository
from wire.collector import attributes, refuse
from wire.daemon import err, run
from wire.paths import BINARY, EN_PT, ENVIRONMENT, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, speak_request, translate_request
from wire.stubs import synthesis
from wire.traces import PHASES, SOON, check_children, check_links, of_trace, parent, speak_http


@pytest.fixture(scope="module")
def collector():
    with collectors.by_grpc() as collector:
        yield collector


@pytest.fixture(scope="module")
def traced(tmp_path_factory, collector):
    """A daemon with one worker, so that requests meet in batches, all of whose requests are traced by gRPC."""
    folder = tmp_path_factory.mktemp("traced")
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    with daemons.start(folder, "--workers", "1", "--trace-endpoint", collector.url, "--trace-protocol", "grpc", "--log-level", "debug",
                       "--max-buffered-bytes", "64KiB", models=models, OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test", OTEL_SERVICE_NAME="speaker",
                       OTEL_EXPORTER_OTLP_HEADERS="x-tenant=a%20b", **SOON) as daemon:
        yield daemon


def test_the_spans_of_a_translation(traced, collector):
    header, trace, span = parent()
    traced.translation.Translate(translate_request("Good morning."), metadata=[("traceparent", header), ("tracestate", "rojo=1")],
                                 timeout=PATIENCE)
    spans = collector.trace(of_trace(trace))
    server = spans[0]
    check_children(spans)
    assert server.name == "millrace.v1.TranslationService/Translate"
    assert server.parent_span_id == span and server.trace_state == "rojo=1"
    known = attributes(server)
    assert known["rpc.system.name"] == "grpc" and known["rpc.method"] == server.name
    assert known["rpc.response.status_code"] == "OK" and known["millrace.model"] == EN_PT and known["client.address"] == "127.0.0.1"
    assert {child.name for child in spans[1:]} == PHASES
    forward = next(child for child in spans if child.name == "forward")
    assert {key: value for key, value in attributes(forward).items() if key != "millrace.stream"} == {
        "millrace.model": EN_PT, "millrace.worker": 0, "millrace.batch_size": 1}
    assert attributes(forward)["millrace.stream"] in range(1, 32)


def test_the_spans_of_speech_over_http_with_a_sampled_parent(traced, collector):
    header, trace, span = parent()
    speak_http(traced, traceparent=header)
    spans = collector.trace(of_trace(trace))
    server = spans[0]
    check_children(spans)
    assert server.name == "POST /v1/audio/speech" and server.parent_span_id == span
    known = attributes(server)
    assert (known["http.request.method"], known["http.route"], known["url.path"]) == ("POST", "/v1/audio/speech", "/v1/audio/speech")
    assert known["millrace.status"] == "OK" and known["millrace.model"] == VOICE
    names = [child.name for child in spans[1:]]
    assert set(names) >= PHASES and names.count("forward") >= 2   # two sentences


def test_a_websocket_hands_on_the_parent_of_its_opening(traced, collector):
    header, trace, span = parent()
    with connect(f"ws://127.0.0.1:{traced.ports['http']}/v1/text-to-speech/joe/stream-input?output_format=pcm_22050",
                 additional_headers={"traceparent": header}, open_timeout=PATIENCE) as connection:
        for text in (" ", "Good morning. ", ""):
            connection.send(json.dumps({"text": text}))
        while not json.loads(connection.recv(PATIENCE)).get("isFinal"):
            pass
    spans = collector.trace(of_trace(trace))
    check_children(spans)
    assert spans[0].parent_span_id == span and spans[0].name.startswith("GET /v1/text-to-speech/")
    assert {child.name for child in spans[1:]} >= PHASES


def test_the_process_says_who_it_is(traced, collector):
    traced.kserve.ModelInfer(null_request(), timeout=PATIENCE)
    collector.trace(lambda server: server.name == "inference.GRPCInferenceService/ModelInfer")
    resource = {pair.key: pair.value.string_value for pair in collector.requests[0].resource_spans[0].resource.attributes}
    assert resource["service.name"] == "speaker" and resource["deployment.environment.name"] == "test"
    assert resource["service.version"] and resource["service.instance.id"]
    assert collector.headers[0]["x-tenant"] == "a b"


def test_a_client_that_does_not_sample_is_followed(traced, collector):
    header, unsampled, _ = parent(sampled=False)
    after, sampled, _ = parent()
    traced.kserve.ModelInfer(null_request(), metadata=[("traceparent", header)], timeout=PATIENCE)
    traced.kserve.ModelInfer(null_request(), metadata=[("traceparent", after)], timeout=PATIENCE)
    collector.trace(of_trace(sampled))
    assert not [span for span in collector.spans() if span.trace_id == unsampled]


def test_the_requests_of_a_batch_are_linked(traced, collector):
    check_links(traced, collector)


def test_a_refusal_is_not_the_servers_error_and_a_failure_is(traced, collector):
    header, trace, _ = parent()
    with pytest.raises(grpc.RpcError):
        traced.translation.Translate(translate_request("Hello.", model="nobody"), metadata=[("traceparent", header)], timeout=PATIENCE)
    (server,) = collector.trace(of_trace(trace))
    assert attributes(server)["rpc.response.status_code"] == "NOT_FOUND" and not server.status.code
    header, trace, _ = parent()
    with pytest.raises(grpc.RpcError):
        traced.synthesis.Synthesize(speak_request("A long text. " * 200), metadata=[("traceparent", header)], timeout=0.3)
    server = collector.trace(of_trace(trace))[0]
    code = attributes(server)["rpc.response.status_code"]
    assert code in ("DEADLINE_EXCEEDED", "CANCELLED", "RESOURCE_EXHAUSTED", "INVALID_ARGUMENT")
    assert server.status.code == (trace_pb2.Status.STATUS_CODE_ERROR if code == "DEADLINE_EXCEEDED" else 0)


def test_a_slow_reader_stalls(traced, collector):
    header, trace, _ = parent()
    request = speak_request("The children were playing in the garden. " * 30, encoding=synthesis.AUDIO_ENCODING_PCM_F32LE)
    call = traced.synthesis.StreamSynthesize(request, metadata=[("traceparent", header)], timeout=PATIENCE)
    next(call)
    spoken, since = 0, time.monotonic()

    def parked():
        # No forward runs for a moment between any two steps: it has to stay so.
        nonlocal spoken, since
        now = traced.metrics().total("millrace_audio_seconds_total")
        if now != spoken or traced.running_forwards() != 0:
            spoken, since = now, time.monotonic()
        return time.monotonic() - since > 0.5
    eventually("the speech waits for its listener", parked, PATIENCE)
    for _ in call:
        pass
    spans = collector.trace(of_trace(trace))
    check_children(spans)
    assert "client stall" in {span.name for span in spans}


def test_the_log_names_the_trace(traced, collector):
    header, trace, _ = parent()
    traced.kserve.ModelInfer(null_request(), metadata=[("traceparent", header)], timeout=PATIENCE)
    collector.trace(of_trace(trace))
    eventually("the line is written", lambda: f"trace_id={trace.hex()}" in traced.log_text(), 10)


def test_histograms_have_exemplars_in_openmetrics(traced, collector):
    header, trace, _ = parent()
    traced.kserve.ModelInfer(null_request(), metadata=[("traceparent", header)], timeout=PATIENCE)
    connection = http.client.HTTPConnection("127.0.0.1", traced.ports["metrics"], timeout=10)
    connection.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0;q=0.9,text/plain;q=0.5"})
    answer = connection.getresponse()
    page = answer.read().decode()
    connection.close()
    assert answer.headers["Content-Type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(page)}   # raises on what is not OpenMetrics
    assert families["millrace_requests"].type == "counter"
    exemplars = [sample.exemplar for sample in families["millrace_request_duration_seconds"].samples if sample.exemplar]
    assert trace.hex() in [exemplar.labels["trace_id"] for exemplar in exemplars]
    for name in ("millrace_queue_duration_seconds", "millrace_compute_duration_seconds", "millrace_permit_wait_seconds"):
        assert any(sample.exemplar for sample in families[name].samples), name
    assert "trace_id" not in "".join(map(str, traced.metrics().samples))


def test_the_collectors_answers_are_obeyed(traced, collector):
    dropped = traced.metrics().total("millrace_trace_spans_dropped_total", reason="export_failed")
    collector.answers += [refuse(grpc.StatusCode.RESOURCE_EXHAUSTED, retry_ms=10), refuse(grpc.StatusCode.UNAVAILABLE)]
    header, trace, _ = parent()
    traced.kserve.ModelInfer(null_request(), metadata=[("traceparent", header)], timeout=PATIENCE)
    collector.trace(of_trace(trace))   # although it was refused twice
    assert traced.metrics().total("millrace_trace_spans_dropped_total", reason="export_failed") == dropped
    for code in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED):   # the latter without a time
        before = traced.metrics().total("millrace_trace_spans_dropped_total", reason="export_failed")
        collector.answers.append(refuse(code))
        traced.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        eventually("the batch is dropped and counted", lambda before=before: traced.metrics().total(
            "millrace_trace_spans_dropped_total", reason="export_failed") > before, 10)
    assert traced.metrics().total("millrace_trace_spans_exported_total") > 0


def test_by_http(tmp_path, null_models):
    with collectors.by_http() as collector:
        collector.answers += [lambda _: 429, lambda _: 400]
        with daemons.start(tmp_path, "--trace-sample-ratio", "0", models=null_models,
                           OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_EXPORTER_OTLP_PROTOCOL="http/protobuf",
                           OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x", **SOON) as daemon:
            def infer(sampled=True):
                header, trace, _ = parent(sampled)
                daemon.kserve.ModelInfer(null_request(), metadata=[("traceparent", header)], timeout=PATIENCE)
                return trace
            infer()   # is refused for a while, then for ever
            eventually("the first is dropped", lambda: daemon.metrics().total(
                "millrace_trace_spans_dropped_total", reason="export_failed") == 6, 20)
            daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)   # the ratio is 0
            trace = infer()
            spans = collector.trace(of_trace(trace))
            assert {span.name for span in spans[1:]} == PHASES
            assert {span.trace_id for span in collector.spans()} == {trace}
            headers = collector.headers[0]
            assert (headers["path"], headers["content-type"]) == ("/v1/traces", "application/x-protobuf")
            assert headers["authorization"] == "Bearer x"
            # The last spans go out when the daemon stops.
            last = infer()
            daemon.terminate()
            assert daemon.exit_status(20) == 0
            assert collector.trace(of_trace(last))


def test_a_collector_that_hangs_holds_up_nothing(tmp_path, null_models):
    with socket.create_server(("127.0.0.1", 0)) as silent:   # takes connections and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with daemons.start(tmp_path, "--trace-endpoint", url, models=null_models, OTEL_BSP_MAX_QUEUE_SIZE="60",
                           OTEL_BSP_MAX_EXPORT_BATCH_SIZE="6", **SOON) as daemon:
            start = time.monotonic()
            for _ in range(40):
                daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
            assert time.monotonic() - start < 10
            metrics = daemon.metrics()
            assert metrics.total("millrace_trace_spans_dropped_total", reason="queue_full") > 0
            assert 0 < metrics.total("millrace_trace_spans_queued") <= 60
            start = time.monotonic()
            daemon.terminate()
            assert daemon.exit_status(20) == 0
            assert time.monotonic() - start < 8


def test_a_collector_that_is_not_there_is_logged_at_a_limited_rate(tmp_path, null_models):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with daemons.start(tmp_path, "--trace-endpoint", f"http://127.0.0.1:{port}", "--trace-protocol", "grpc", models=null_models,
                       OTEL_BSP_MAX_EXPORT_BATCH_SIZE="6", **SOON) as daemon:
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
        eventually("the failure is logged", lambda: "spans could not be exported yet" in daemon.log_text(), 20)
        daemon.terminate()
        assert daemon.exit_status(20) == 0
        assert daemon.log_text().count("spans could not be exported") <= 3


def test_traces_are_off_by_default(daemon):
    daemon.kserve.ModelInfer(null_request(), metadata=[("traceparent", parent()[0])], timeout=PATIENCE)
    assert daemon.metrics().total("millrace_trace_spans_queued") == 0
    assert "collector=" not in daemon.log_text() and "trace_id=" not in daemon.log_text()


@pytest.mark.parametrize("option, value", [("--trace-endpoint", "collector:4317"), ("--trace-sample-ratio", "2"), ("--trace-protocol", "udp")])
def test_a_wrong_setting_is_refused_by_name(option, value):
    ended = run("serve", option, value)
    assert ended.returncode == 2 and option in err(ended) and value in err(ended)


def test_a_timeline_of_the_workers(daemon, tmp_path):
    """`millrace trace` writes Chrome's format: a thread for each worker, an event for each step."""
    stop = threading.Event()

    def load():
        while not stop.is_set():
            daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
            daemon.translation.Translate(translate_request("Good morning."), timeout=PATIENCE)
    file = tmp_path / "trace.json"
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        workers = [pool.submit(load) for _ in range(2)]
        ended = run("trace", "-o", file, "--seconds", "1", "--address", daemon.address)
        stop.set()
        for worker in workers:
            worker.result()
    assert ended.returncode == 0 and "steps in" in err(ended)
    events = json.loads(file.read_text())["traceEvents"]
    threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert threads == {1: "worker 0", 2: "worker 1"}
    steps = [event for event in events if event["ph"] == "X"]
    assert {step["name"] for step in steps} == {NULL, EN_PT}
    for tid in threads:
        end = -1e9
        for step in (step for step in steps if step["tid"] == tid):   # one after the other
            assert step["ts"] >= end and step["dur"] > 0 and step["args"]["batch_size"] >= 1
            end = step["ts"] + step["dur"] - 0.002   # rounding
        assert end < 3e6
    interrupted = subprocess.Popen([BINARY, "trace", "-o", file, "--seconds", "3600", "--address", daemon.address], stderr=subprocess.PIPE, env=ENVIRONMENT)
    eventually("the file is begun", lambda: file.stat().st_size == 0, 20)
    interrupted.send_signal(signal.SIGINT)
    assert "steps in" in interrupted.communicate(timeout=20)[1].decode() and interrupted.returncode == 128 + signal.SIGINT
    assert json.loads(file.read_text())["traceEvents"]
    info = run("trace", "--seconds", "1", "-o", tmp_path / "no" / "file", "--address", daemon.address)
    assert info.returncode == 1 and "cannot be written" in err(info)
