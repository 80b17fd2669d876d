"""What an operator sees: health, reflection, HTTP endpoints, metrics, request ids and logs."""

import json
import re

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from wire import daemon as daemons
from wire.paths import EN_PT, NULL, PT_EN, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, null_request, refused, speak_request, translate_request
from wire.stubs import admin, kserve

WORKERS = 2
SERVICES = {"millrace.v1.TranslationService", "millrace.v1.SynthesisService", "millrace.v1.AdminService",
            "inference.GRPCInferenceService", "grpc.health.v1.Health", "nvidia.riva.tts.RivaSpeechSynthesis",
            "nvidia.riva.nmt.RivaTranslation"}


# --- health and reflection ---

def test_health_is_serving(daemon):
    assert daemon.health() == "SERVING"
    listed = health_pb2_grpc.HealthStub(daemon.channel).List(health_pb2.HealthListRequest(), timeout=10).statuses
    assert {"", NULL, VOICE, *SERVICES} - {"grpc.health.v1.Health"} <= set(listed)


def test_health_of_an_unknown_service_is_not_found(daemon):
    with pytest.raises(grpc.RpcError) as raised:
        daemon.health("nobody.Service")
    assert raised.value.code() == grpc.StatusCode.NOT_FOUND


def test_health_can_be_watched(daemon):
    watch = health_pb2_grpc.HealthStub(daemon.channel).Watch(health_pb2.HealthCheckRequest())
    assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
    watch.cancel()


def test_health_of_a_model_goes_by_its_loads(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        status = health_pb2.HealthCheckResponse
        watch = health_pb2_grpc.HealthStub(daemon.channel).Watch(health_pb2.HealthCheckRequest(service=NULL))
        assert (next(watch).status, daemon.health(NULL)) == (status.SERVING, "SERVING")
        daemon.admin.UnloadModel(admin.UnloadModelRequest(model=NULL), timeout=PATIENCE)
        assert (next(watch).status, daemon.health(NULL)) == (status.NOT_SERVING, "NOT_SERVING")
        assert daemon.health() == "NOT_SERVING"   # no model is left
        daemon.admin.LoadModel(admin.LoadModelRequest(model=NULL), timeout=PATIENCE)
        assert (next(watch).status, daemon.health(NULL)) == (status.SERVING, "SERVING")
        watch.cancel()
        assert refused(health_pb2_grpc.HealthStub(daemon.channel).Check, health_pb2.HealthCheckRequest(service="nobody")).code() \
            == grpc.StatusCode.NOT_FOUND


def reflect(daemon, **request):
    stub = reflection_pb2_grpc.ServerReflectionStub(daemon.channel)
    return next(stub.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(**request)]), timeout=PATIENCE))


def test_reflection_lists_all_services(daemon):
    services = {service.name for service in reflect(daemon, list_services="").list_services_response.service}
    assert services >= SERVICES


def test_reflection_v1_answers_as_v1alpha_does(daemon):
    """grpcurl asks for v1 first. The messages of both are the same bytes."""
    v1 = daemon.channel.stream_stream("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                                      reflection_pb2.ServerReflectionRequest.SerializeToString,
                                      reflection_pb2.ServerReflectionResponse.FromString)
    questions = [{"list_services": ""}, {"file_containing_symbol": "grpc.reflection.v1.ServerReflection"},
                 {"file_by_filename": "millrace/v1/synthesis.proto"}, {"file_containing_symbol": "none.Such"},
                 {"all_extension_numbers_of_type": "millrace.v1.Voice"}, {}]
    answers = list(v1(iter([reflection_pb2.ServerReflectionRequest(**question) for question in questions]), timeout=PATIENCE))
    assert answers == [reflect(daemon, **question) for question in questions]
    services = {service.name for service in answers[0].list_services_response.service}
    assert services >= {"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"}
    assert answers[3].error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]
    assert "none.Such" in answers[3].error_response.error_message


def test_reflection_describes_a_method(daemon):
    answer = reflect(daemon, file_containing_symbol="millrace.v1.SynthesisService.StreamSynthesize")
    assert any(b"StreamSynthesizeResponse" in file for file in answer.file_descriptor_response.file_descriptor_proto)


def test_reflection_can_be_switched_off(tmp_path, null_models):
    with daemons.start(tmp_path, "--reflection", "off", models=null_models) as daemon:
        with pytest.raises(grpc.RpcError) as raised:
            reflect(daemon, list_services="")
        assert raised.value.code() == grpc.StatusCode.UNIMPLEMENTED
        assert daemon.health() == "SERVING"


def test_unknown_method_is_unimplemented(daemon, bystander):
    error = refused(daemon.raw("millrace.v1.TranslationService/Nothing"), b"")
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    assert error.details().startswith("service millrace.v1.TranslationService has no method 'Nothing' here; it has ")
    assert "Translate" in error.details()


def test_unknown_service_is_unimplemented(daemon, bystander):
    error = refused(daemon.raw("helloworld.Greeter/SayHello"), b"")
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    assert error.details().startswith("the server has no service 'helloworld.Greeter'; it has ")
    assert all(service in error.details() for service in SERVICES)


# --- HTTP ---

def test_http_health(daemon):
    assert daemon.http("/v2/health/live")[0] == 200
    assert daemon.http("/v2/health/ready")[0] == 200


def test_http_server_metadata(daemon):
    status, body = daemon.http("/v2")
    assert status == 200
    version = daemon.kserve.ServerMetadata(kserve.ServerMetadataRequest(), timeout=PATIENCE).version
    assert (body["name"], body["version"]) == ("millrace", version)


def test_http_model_list(daemon):
    status, body = daemon.http("/v2/models")
    assert status == 200
    assert [(model["name"], model["state"]) for model in body["models"]] == [
        (name, "READY") for name in sorted([NULL, EN_PT, PT_EN, VOICE])]


def test_http_model_metadata(daemon):
    status, null = daemon.http(f"/v2/models/{NULL}")
    assert status == 200
    assert (null["name"], null["versions"], null["platform"], null["task"]) == (NULL, ["1"], "torchscript", "infer")
    assert null["inputs"] == [{"name": "INPUT0", "datatype": "FP32", "shape": [64]}]
    assert null["outputs"] == [{"name": "OUTPUT0", "datatype": "FP32", "shape": [64]}]
    voice = daemon.http(f"/v2/models/{VOICE}/versions/1")[1]
    assert (voice["voices"], voice["sample_rate"], voice["license"]) == (["joe"], 22050, "CC0-1.0")
    assert (voice["language"], voice["languages"]) == ("en-US", ["en-US"])
    translator = daemon.http(f"/v2/models/{EN_PT}")[1]
    assert (translator["source_language"], translator["target_language"]) == ("en", "pt")


def test_http_model_ready(daemon):
    assert daemon.http(f"/v2/models/{NULL}/ready")[0] == 200
    assert daemon.http(f"/v2/models/{NULL}/versions/1/ready")[0] == 200


@pytest.mark.parametrize("path", ["/v2/models/nobody", "/v2/models/nobody/ready", f"/v2/models/{NULL}/versions/2", "/v2/nothing", "/nothing",
                                  "/v2/models/../../etc/passwd", "/v2/models/%2e%2e%2fnull", "/v2/models/..%2f..%2fetc%2fpasswd"])
def test_http_unknown_path_is_404_with_a_message(daemon, bystander, path):
    status, body = daemon.http(path)
    assert status == 404
    assert body["error"]


def test_http_wrong_method_is_refused_with_a_message(daemon, bystander):
    status, body = daemon.http("/v2/health/live", method="POST")
    assert status == 405
    assert body["error"]


def test_http_long_path_is_refused(daemon, bystander):
    status, body = daemon.http("/v2/models/" + "a" * 4000)
    assert status == 414
    assert "1024" in body["error"]


# --- request ids and logs ---

def test_failed_call_says_its_request_id_and_logs_it(daemon):
    error = refused(daemon.translation.Translate, translate_request("Hi.", model="nobody"), metadata=[("x-request-id", "my-id-4711")])
    assert dict(error.trailing_metadata())["x-request-id"] == "my-id-4711"
    line = next(line for line in daemon.log_text().splitlines() if "my-id-4711" in line)
    assert "NOT_FOUND" in line and "Translate" in line


def test_request_id_is_made_up_where_none_or_a_bad_one_was_sent(daemon):
    ids = {dict(refused(daemon.translation.Translate, translate_request("Hi.", model="nobody"), metadata=metadata)
                .trailing_metadata())["x-request-id"]
           for metadata in ([], [], [("x-request-id", "x" * 5000)], [("x-request-id", "a \"b\" c")])}
    assert len(ids) == 4 and all(0 < len(one) <= 64 for one in ids), ids


def test_json_log_is_one_object_a_line(tmp_path, null_models):
    with daemons.start(tmp_path, "--log-format", "json", models=null_models) as daemon:
        refused(daemon.kserve.ModelInfer, null_request(model_name='"quoted"\n'), metadata=[("x-request-id", "id-1")])
        refused(daemon.raw("inference.GRPCInferenceService/ModelInfer"), b"\x0a\x02\xff\xfe")   # libraries log of that, too
        daemon.terminate()
        assert daemon.exit_status(10) == 0
    lines = [json.loads(line) for line in daemon.log_text().splitlines()]
    failed = next(line for line in lines if line.get("request_id") == "id-1")
    assert failed["code"] == "NOT_FOUND" and '"quoted"\n' in failed["error"]


# --- metrics ---

METRICS = {
    "millrace_build_info", "millrace_server_ready", "millrace_models_ready",
    "millrace_model_load_failed", "millrace_model_load_failures_total", "millrace_model_idle", "millrace_model_memory_bytes",
    "millrace_model_unloads_total", "millrace_model_loads_on_demand_total", "millrace_model_load_on_demand_seconds_total",
    "millrace_requests_waiting_for_load",
    "millrace_requests_total", "millrace_requests_refused_total", "millrace_requests_in_flight", "millrace_queue_depth",
    "millrace_queue_oldest_seconds", "millrace_expected_wait_seconds",
    "millrace_request_duration_seconds_bucket", "millrace_queue_duration_seconds_bucket",
    "millrace_compute_duration_seconds_bucket", "millrace_permit_wait_seconds_bucket", "millrace_helped_seconds_total",
    "millrace_time_to_first_audio_seconds_bucket", "millrace_batch_size_bucket",
    "millrace_permits", "millrace_permits_in_use", "millrace_streams_leased", "millrace_stream_leases_total",
    "millrace_stream_lease_refusals_total", "millrace_audio_seconds_total", "millrace_characters_total", "millrace_tokens_total",
    "millrace_graph_cache_entries", "millrace_graph_cache_bytes", "millrace_graph_cache_hits_total",
    "millrace_graph_cache_misses_total", "millrace_graph_cache_evictions_total",
    "millrace_graph_cache_new_shapes_total", "millrace_compiled_shapes", "millrace_connections", "millrace_connections_closed_total",
    "millrace_incomplete_calls_refused_total", "millrace_grpc_polling_delay_seconds", "millrace_http_refused_total",
    "millrace_grpc_refused_total",
    "millrace_translation_cache_entries", "millrace_translation_cache_bytes", "millrace_translation_cache_hits_total",
    "millrace_translation_cache_misses_total", "millrace_translation_cache_evictions_total",
    "millrace_speech_cache_entries", "millrace_speech_cache_bytes", "millrace_speech_cache_hits_total",
    "millrace_speech_cache_misses_total", "millrace_speech_cache_evictions_total",
    "process_resident_memory_bytes", "process_cpu_seconds_total", "process_start_time_seconds", "process_open_fds",
}


def test_every_metric_is_there_before_the_first_request(daemon):
    # The times of a method begin with its first request.
    assert METRICS - daemon.metrics().names() <= {"millrace_request_duration_seconds_bucket"}


def test_labels_are_bounded(daemon):
    """A client that asks for names that do not exist must not make new series."""
    def series():
        return {(name, *sorted(labels.items())) for name, labels, _ in daemon.metrics().samples if name.startswith("millrace_")}
    def ask(i):
        refused(daemon.kserve.ModelInfer, null_request(model_name=f"made-up-{i}"))
        refused(daemon.raw(f"made.up.Service/Method{i}"), b"")
    ask(0)   # the first request that ends with a code brings its series
    before = series()
    for i in range(1, 20):
        ask(i)
    assert series() == before


def test_series_are_those_of_what_the_models_do(daemon):
    """A kind's own methods alone, codes and the times of a method once there are any: a few hundred series, not thousands."""
    metrics = daemon.metrics()
    kinds = {NULL: {"ModelInfer", "HttpInfer"}, EN_PT: {"Translate", "StreamTranslate", "HttpTranslate", "RivaTranslateText"},
             VOICE: {"Synthesize", "StreamSynthesize", "SynthesizeTextStream", "HttpSpeech", "WyomingSpeech", "WyomingTextStream",
                     "RivaSynthesize", "RivaSynthesizeOnline", "ElevenLabsTextStream", "VllmOmniTextStream"}}
    for model, methods in kinds.items():
        counted = metrics.matching("millrace_requests_total", model=model)
        assert {labels["method"] for labels, _ in counted} == methods
        watched = {"OK", "UNKNOWN", "DEADLINE_EXCEEDED", "INTERNAL", "DATA_LOSS"}
        for method in methods:
            assert watched <= {labels["code"] for labels, _ in counted if labels["method"] == method}
        assert all(value > 0 or labels["code"] in watched for labels, value in counted)
    assert metrics.matching("millrace_tokens_total", model=VOICE) == metrics.matching("millrace_audio_seconds_total", model=EN_PT) == []
    assert metrics.matching("millrace_time_to_first_audio_seconds_count", model=NULL) == []
    assert all(value > 0 for _, value in metrics.matching("millrace_request_duration_seconds_count"))
    assert len(metrics.samples) < 800


class Counted:
    """How much each counter grew between two scrapes."""

    def __init__(self, before, after):
        self._before, self._after = before, after

    def __call__(self, name, **labels):
        return self._after.total(name, **labels) - self._before.total(name, **labels)


def test_metrics_count_known_traffic(daemon):
    daemon.wait_until_idle()
    before = daemon.metrics()

    for _ in range(3):
        daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
    for _ in range(2):
        refused(daemon.kserve.ModelInfer, null_request(model_name="nobody"))
    text = "Olá. Onde está a minha mãe?"
    translated = daemon.translation.Translate(translate_request(text, "Sim.", model=PT_EN), timeout=PATIENCE)
    streamed = list(daemon.translation.StreamTranslate(translate_request(text, model=PT_EN), timeout=PATIENCE))
    spoken = daemon.synthesis.Synthesize(speak_request("One. Two."), timeout=PATIENCE)
    stream = list(daemon.synthesis.StreamSynthesize(speak_request("One. Two. Three."), timeout=PATIENCE))
    refused(daemon.synthesis.Synthesize, speak_request("Hello.", speed=9))

    daemon.wait_until_idle()
    after = daemon.metrics()
    grew = Counted(before, after)

    assert grew("millrace_requests_total", model=NULL, method="ModelInfer", code="OK") == 3
    assert grew("millrace_requests_total", model="", method="ModelInfer", code="NOT_FOUND") == 2
    assert grew("millrace_requests_total", model=PT_EN, method="Translate", code="OK") == 1
    assert grew("millrace_requests_total", model=PT_EN, method="StreamTranslate", code="OK") == 1
    assert grew("millrace_requests_total", model=VOICE, method="Synthesize", code="OK") == 1
    assert grew("millrace_requests_total", model=VOICE, method="Synthesize", code="INVALID_ARGUMENT") == 1
    assert grew("millrace_requests_total", model=VOICE, method="StreamSynthesize", code="OK") == 1
    assert grew("millrace_requests_total") == 10
    assert grew("millrace_request_duration_seconds_count") == 10
    assert grew("millrace_request_duration_seconds_count", model=NULL, method="ModelInfer") == 3

    assert grew("millrace_characters_total", model=PT_EN) == 2 * len(text) + len("Sim.")
    tokens = [*translated.translations, *streamed]
    assert grew("millrace_tokens_total", model=PT_EN, direction="source") == sum(one.source_tokens for one in tokens)
    assert grew("millrace_tokens_total", model=PT_EN, direction="target") == sum(one.target_tokens for one in tokens)
    seconds = spoken.duration_seconds + sum(len(message.audio) for message in stream) / 2 / 22050
    assert grew("millrace_audio_seconds_total", model=VOICE) == pytest.approx(seconds, rel=1e-3)
    assert grew("millrace_time_to_first_audio_seconds_count", model=VOICE) == 2

    # Each request of the null model is one step of a batch of one; speech takes one step a sentence.
    assert grew("millrace_batch_size_count", model=NULL) == grew("millrace_batch_size_sum", model=NULL) == 3
    assert grew("millrace_queue_duration_seconds_count", model=NULL) == 3
    assert grew("millrace_compute_duration_seconds_count", model=NULL) == 3
    assert grew("millrace_permit_wait_seconds_count", model=NULL) == 3
    assert grew("millrace_compute_duration_seconds_count", model=VOICE) == 5
    assert grew("millrace_compute_duration_seconds_sum", model=VOICE) > 0

    for gauge in ("millrace_requests_in_flight", "millrace_permits_in_use", "millrace_queue_depth"):
        assert after.total(gauge) == 0
    assert after.total("millrace_streams_leased") == WORKERS
    assert after.total("millrace_permits") >= 1
    assert after.total("millrace_server_ready") == 1
    assert {labels["model"] for labels, value in after.matching("millrace_models_ready") if value == 1} == {NULL, EN_PT, PT_EN, VOICE}
    [(build, value)] = after.matching("millrace_build_info")
    assert value == 1 and build["device"] == "cpu" and build["mode"] == "parallel" and build["version"] and build["libtorch"]
    assert after.total("process_resident_memory_bytes") > 50e6
    assert after.total("process_cpu_seconds_total") > before.total("process_cpu_seconds_total")


def test_histograms_are_cumulative_and_end_with_all(daemon):
    daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
    metrics = daemon.metrics()
    buckets = metrics.matching("millrace_request_duration_seconds_bucket", model=NULL, method="ModelInfer")
    values = [value for labels, value in sorted(buckets, key=lambda bucket: float(bucket[0]["le"]))]
    assert values == sorted(values)
    assert values[-1] == metrics.total("millrace_request_duration_seconds_count", model=NULL, method="ModelInfer") > 0


def test_refusals_of_every_protocol_are_counted_and_logged(tmp_path, null_models):
    keys = tmp_path / "keys"
    daemons.run("hash-key", "alice", "--append", keys)
    with daemons.start(tmp_path, "--api-keys", keys, models=null_models) as asking:
        assert asking.http("/v2/models")[0] == 401
        for method, code in (("millrace.v1.AdminService/ListModels", "UNAUTHENTICATED"), ("none.Service/Call", "UNIMPLEMENTED")):
            with pytest.raises(grpc.RpcError) as error:
                asking.raw(method)(b"", timeout=10)
            assert error.value.code().name == code
            assert asking.metrics().total("millrace_grpc_refused_total", code=code) == 1
            assert f"gRPC call refused code={code} grpc_method=/{method} client=ipv4:127.0.0.1:" in asking.log_text()
        assert asking.metrics().total("millrace_http_refused_total", status="401") == 1
        log = asking.log_text()
        assert "HTTP request refused status=401 http_method=GET path=/v2/models client=127.0.0.1 " in log
        assert "an API key is needed" in log


@pytest.mark.parametrize("path", ["/v2/models", "/v1/models", "/v1/voices", "/v2/usage", "/translate"])
def test_the_log_has_the_message_of_a_refusal_whatever_form_its_protocol_gives_it(tmp_path, null_models, path):
    keys = tmp_path / "keys"
    daemons.run("hash-key", "alice", "--append", keys)
    with daemons.start(tmp_path, "--api-keys", keys, models=null_models) as asking:
        assert asking.http(path, "POST" if path == "/translate" else "GET")[0] in {401, 403}
        eventually("it is logged", lambda: "HTTP request refused" in asking.log_text())
        (line,) = [line for line in asking.log_text().splitlines() if "HTTP request refused" in line]
        assert re.search(r' reason="[^"{]*key[^"{]*" ', line), line
