"""Spans of the real daemon in the OpenTelemetry Collector, by each protocol. scripts/check-collector.sh compiles it and runs these."""

import pytest
from real_collector import TRANSPORTS, RealCollector
from wire import daemon as daemons
from wire import repository
from wire.certificates import Authority
from wire.collector import attributes
from wire.paths import EN_PT, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, assert_refused, null_request, speak_request, translate_request
from wire.traces import PHASES, SOON, check_children, check_links, of_trace, parent, speak_http

BY_EACH_PROTOCOL = pytest.mark.parametrize("protocol", TRANSPORTS)


def start(folder, collector, *options, **given):
    """A daemon all of whose requests are traced."""
    return daemons.start(folder, "--trace-endpoint", collector.url, "--trace-protocol", collector.protocol, "--trace-sample-ratio", "1",
                         *options, **given, **SOON)


@pytest.fixture(scope="module", params=TRANSPORTS)
def collector(request, tmp_path_factory):
    collector = RealCollector(tmp_path_factory.mktemp("collector"), request.param)
    with collector.running():
        yield collector


@pytest.fixture(scope="module")
def traced(tmp_path_factory, collector):
    """A daemon with one worker, so that requests meet in batches."""
    folder = tmp_path_factory.mktemp("traced")
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    with start(folder, collector, "--workers", "1", "--trace-service-name", "speaker", models=models,
               OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test") as daemon:
        yield daemon


@pytest.fixture(scope="module")
def null_models(tmp_path_factory):
    return repository.link(tmp_path_factory.mktemp("repository") / "models", NULL)


def infer(daemon):
    """A request that succeeds, and its trace."""
    header, trace, _ = parent()
    daemon.kserve.ModelInfer(null_request(), metadata=[("traceparent", header)], timeout=PATIENCE)
    return trace


def dropped(daemon):
    return daemon.metrics().total("millrace_trace_spans_dropped_total")


def test_the_spans_of_a_translation(traced, collector):
    header, trace, span = parent()
    traced.translation.Translate(translate_request("Good morning."), timeout=PATIENCE,
                                 metadata=[("traceparent", header), ("tracestate", "rojo=1"), ("x-request-id", "morning")])
    spans = collector.trace(of_trace(trace))
    server = spans[0]
    check_children(spans)
    assert server.name == "millrace.v1.TranslationService/Translate"
    assert server.parent_span_id == span and server.trace_state == "rojo=1" and not server.status.code
    known = attributes(server)
    assert isinstance(known.pop("client.port"), int)
    assert known == {"rpc.system.name": "grpc", "rpc.method": server.name, "rpc.response.status_code": "OK", "client.address": "127.0.0.1",
                     "millrace.model": EN_PT, "millrace.method": "Translate", "millrace.request_id": "morning"}
    assert {child.name for child in spans[1:]} == PHASES
    forward = next(child for child in spans if child.name == "forward")
    assert attributes(forward)["millrace.stream"] in range(1, 32)
    assert {key: value for key, value in attributes(forward).items() if key != "millrace.stream"} == {
        "millrace.model": EN_PT, "millrace.worker": 0, "millrace.batch_size": 1}


def test_the_spans_of_speech(traced, collector):
    header, trace, span = parent()
    traced.synthesis.Synthesize(speak_request("Good morning. How are you?"), metadata=[("traceparent", header)], timeout=PATIENCE)
    spans = collector.trace(of_trace(trace))
    check_children(spans)
    assert spans[0].name == "millrace.v1.SynthesisService/Synthesize" and spans[0].parent_span_id == span
    assert attributes(spans[0])["millrace.model"] == VOICE
    names = [child.name for child in spans[1:]]
    assert set(names) >= PHASES and names.count("forward") >= 2   # two sentences


def test_the_spans_of_speech_over_http(traced, collector):
    header, trace, span = parent()
    speak_http(traced, traceparent=header)
    spans = collector.trace(of_trace(trace))
    check_children(spans)
    assert spans[0].name == "POST /v1/audio/speech" and spans[0].parent_span_id == span
    known = attributes(spans[0])
    assert isinstance(known.pop("client.port"), int) and known.pop("millrace.request_id")
    assert known == {"http.request.method": "POST", "http.route": "/v1/audio/speech", "url.path": "/v1/audio/speech", "url.scheme": "http",
                     "client.address": "127.0.0.1", "millrace.model": VOICE, "millrace.method": "HttpSpeech", "millrace.status": "OK"}
    assert {child.name for child in spans[1:]} >= PHASES


def test_a_refusal_is_not_the_servers_error(traced, collector):
    header, trace, _ = parent()
    assert_refused(traced.translation.Translate, translate_request("Hello.", model="nobody"), "NOT_FOUND", "nobody",
                   metadata=[("traceparent", header)])
    (server,) = collector.trace(of_trace(trace))
    assert attributes(server)["rpc.response.status_code"] == attributes(server)["error.type"] == "NOT_FOUND"
    assert not server.status.code


def test_the_process_says_who_it_is(traced, collector):
    trace = infer(traced)
    collector.trace(of_trace(trace))
    processes = {tuple(sorted((pair.key, pair.value.string_value) for pair in process.resource.attributes))
                 for process in collector.processes()}
    assert len(processes) == 1
    known = dict(processes.pop())
    assert known["service.name"] == "speaker" and known["deployment.environment.name"] == "test"
    assert known["service.version"] and known["service.instance.id"]
    assert {scope.scope.name for process in collector.processes() for scope in process.scope_spans} == {"millrace"}


def test_the_requests_of_a_batch_are_linked(traced, collector):
    check_links(traced, collector)


def test_each_span_is_accepted_once(traced, collector):
    """The daemon, the collector and its file agree on how many there are."""
    for _ in range(20):
        infer(traced)
    last = infer(traced)
    collector.trace(of_trace(last))
    spans = collector.spans()
    eventually("the collector and the daemon count the same", lambda: collector.counted("accepted") == len(spans) == traced.metrics().total(
        "millrace_trace_spans_exported_total"))
    assert len({(span.trace_id, span.span_id) for span in spans}) == len(spans)
    assert collector.counted("refused") == 0 and dropped(traced) == 0
    assert "could not be exported" not in traced.log_text() and "rejected" not in traced.log_text()


@BY_EACH_PROTOCOL
def test_a_collector_that_comes_back_gets_what_it_missed(tmp_path, null_models, protocol):
    collector = RealCollector(tmp_path, protocol)
    with start(tmp_path, collector, models=null_models) as daemon:
        with collector.running():
            collector.trace(of_trace(infer(daemon)))
        missed = [infer(daemon) for _ in range(3)]
        eventually("the daemon notices", lambda: "spans could not be exported yet" in daemon.log_text())
        missed += [infer(daemon) for _ in range(3)]
        with collector.running():
            for trace in missed:
                collector.trace(of_trace(trace))
            collector.trace(of_trace(infer(daemon)))
            assert dropped(daemon) == 0
            # The last spans go out when the daemon stops.
            last = infer(daemon)
            daemon.terminate()
            assert daemon.exit_status(20) == 0
            collector.trace(of_trace(last))
        spans = collector.spans()
        assert len({(span.trace_id, span.span_id) for span in spans}) == len(spans)


@BY_EACH_PROTOCOL
def test_a_collector_that_wants_a_certificate(tmp_path, null_models, protocol):
    authority = Authority(tmp_path, "authority")
    certificate, key = authority.issue("daemon")
    collector = RealCollector(tmp_path, protocol, authority)
    with collector.running(), start(tmp_path, collector, models=null_models, OTEL_EXPORTER_OTLP_CERTIFICATE=str(authority.certificate),
                                    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=str(certificate), OTEL_EXPORTER_OTLP_CLIENT_KEY=str(key)) as daemon:
        collector.trace(of_trace(infer(daemon)))
        assert dropped(daemon) == 0
