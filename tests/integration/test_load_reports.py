"""Reports of the load for balancers, by ORCA: in the trailers of calls, in one form, and out of band."""

import base64
import time

import grpc
import pytest
from wire import daemon as daemons
from wire import stubs
from wire.http2 import RawConnection, grpc_message
from wire.paths import NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, speak_request

SERVED = NULL, VOICE
BINARY = "endpoint-load-metrics-bin"
TEXT = "endpoint-load-metrics"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, models, gate):
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--load-report", "binary", "--load-target-wait", "100ms", "--workers", "1",
                       "--intra-op-threads", "1", "--queue-size", "64", models=models) as running:
        yield running


def trailers_of(daemon, method="inference.GRPCInferenceService/ModelInfer", request=None):
    """Read by hand, because gRPC's clients keep the binary report for their balancers."""
    request = null_request() if request is None else request
    with RawConnection(daemon.ports["grpc"]) as connection:
        connection.call(method, grpc_message(request.SerializeToString()), end=True)
        return connection.headers()


def report_of(trailers):
    value = trailers[BINARY]
    return stubs.orca_report.OrcaLoadReport.FromString(base64.b64decode(value + "=" * (-len(value) % 4)))


def subscribe(daemon, seconds=1):
    request = stubs.orca.OrcaLoadReportRequest()
    request.report_interval.seconds = seconds
    return stubs.orca_grpc.OpenRcaServiceStub(daemon.channel).StreamCoreMetrics(request, timeout=PATIENCE)


def test_every_call_has_one_report(daemon):
    trailers = trailers_of(daemon)
    assert TEXT not in trailers
    report = report_of(trailers)
    assert 0 < report.mem_utilization < 1
    assert set(report.named_metrics) == {"queue_depth", "queue_oldest_seconds", "expected_wait_seconds"}
    failed = trailers_of(daemon, request=null_request(model_name="none"))
    assert failed["grpc-status"] == "5" and report_of(failed).mem_utilization > 0
    streamed = trailers_of(daemon, "millrace.v1.SynthesisService/StreamSynthesize", speak_request("Hello."))
    assert streamed["grpc-status"] == "0" and report_of(streamed).mem_utilization > 0


def test_rates_follow_the_requests(daemon):
    def busy():
        for _ in range(20):
            trailers_of(daemon)
        trailers_of(daemon, request=null_request(model_name="none"))   # whose fault is the client's
        report = report_of(trailers_of(daemon))
        return report.rps_fractional > 5 and report.cpu_utilization > 0 and report.eps == 0
    eventually("requests are counted", busy)


def test_waiting_requests_make_the_server_fully_used(daemon, gate):
    warm = daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE)
    eventually("it is at the gate", lambda: daemon.running_forwards() == 1)
    reports = subscribe(daemon)
    eventually("the permit is in use", lambda: next(reports).application_utilization > 0.3, 10)
    gate.open()
    warm.result()
    gate.close()
    calls = [daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE) for _ in range(8)]
    try:
        eventually("they wait", lambda: daemon.queue_depth(gate.name) == 7)

        def overloaded():
            report = next(reports)
            return report.application_utilization > 1 and report.named_metrics["queue_depth"] == 7 and \
                report.named_metrics["expected_wait_seconds"] > 0.1
        eventually("the forecast shows it", overloaded, 10)
        metrics = daemon.metrics()
        assert metrics.total("millrace_expected_wait_seconds", model=gate.name) > 0.1
        assert metrics.total("millrace_queue_oldest_seconds", model=gate.name) > 0
    finally:
        gate.open()
    assert all(call.result() for call in calls)
    reports.cancel()


def test_reports_out_of_band_come_at_the_interval(daemon):
    reports = subscribe(daemon)
    next(reports)
    start = time.monotonic()
    next(reports)
    assert 0.5 < daemons.elapsed(start) < 10
    reports.cancel()


def test_an_interval_that_is_none_is_refused(daemon):
    with pytest.raises(grpc.RpcError) as raised:
        next(subscribe(daemon, -1))
    assert raised.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert "report_interval" in raised.value.details()


def test_as_text_for_envoy(tmp_path, null_models):
    with daemons.start(tmp_path, "--load-report", "text", "--workers", "1", models=null_models) as daemon:
        trailers = trailers_of(daemon)
        assert BINARY not in trailers
        metrics = dict(pair.split(":") for pair in trailers[TEXT].split(","))
        assert float(metrics["application_utilization"]) >= 0
        assert 0 < float(metrics["mem_utilization"]) < 1
        daemon.terminate()
        assert daemon.exit_status(10) == 0


def test_nothing_is_reported_unless_it_is_asked_for(tmp_path, null_models):
    with daemons.start(tmp_path, "--workers", "1", models=null_models) as daemon:
        assert not {TEXT, BINARY} & set(trailers_of(daemon))
        with pytest.raises(grpc.RpcError) as raised:
            next(subscribe(daemon))
        assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_server_that_stops_ends_the_streams(tmp_path, null_models):
    with daemons.start(tmp_path, "--load-report", "stream", "--workers", "1", models=null_models) as daemon:
        assert BINARY not in trailers_of(daemon)
        streams = [subscribe(daemon, 3600) for _ in range(64)]
        for reports in streams:
            next(reports)
        daemon.terminate()
        for reports in streams:
            with pytest.raises(grpc.RpcError) as raised:
                next(reports)
            assert raised.value.code() == grpc.StatusCode.UNAVAILABLE
            assert "the server is shutting down" in raised.value.details()   # not that the connection ended
        assert daemon.exit_status(10) == 0
