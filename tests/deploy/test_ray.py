"""Two replicas on a local Ray, each with a daemon of its own: calls of each kind, errors, a daemon that dies, scaling. Skipped without Ray, which
scripts/check-ray.sh installs."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import re
import signal
import threading
import urllib.error
import urllib.request

import daemon as daemons
import grpc
import pytest
from daemon import MODELS, ROOT, wait_for
from wire.stubs import synthesis, synthesis_grpc, translation, translation_grpc

pytest.importorskip("ray")
from fleet import balancers, traffic  # noqa: E402
from fleet.ray_serve import RayServe  # noqa: E402

# Several daemons share this machine.
ONE_WORKER = ["--workers", "1", "--intra-op-threads", "1"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    models = tmp_path_factory.mktemp("models")
    for name in traffic.MODELS:
        (models / name).symlink_to(MODELS / name)
    with pytest.MonkeyPatch.context() as environment:
        for name in os.environ.keys() - daemons.ENVIRONMENT.keys():   # which the daemon would refuse
            environment.delenv(name)
        with RayServe(daemons.BINARY, models, ONE_WORKER) as cluster:
            cluster.deploy(min_replicas=2, max_replicas=2)
            wait_for("two replicas", lambda: cluster.replicas() == 2)
            assert len(cluster.daemons()) == 2
            yield cluster
        assert cluster.daemons() == []


def connect(cluster, *options):
    return grpc.insecure_channel(f"127.0.0.1:{cluster.grpc_port}", [*balancers.COMMON, *options])


@pytest.fixture
def channel(cluster):
    with connect(cluster) as channel:
        yield channel


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The answers of a daemon without Ray."""
    with daemons.daemon(tmp_path_factory.mktemp("alone"), *ONE_WORKER) as alone, grpc.insecure_channel(f"127.0.0.1:{alone.ports['grpc']}") as channel:
        return traffic.Expected(channel)


def translate(channel, text=traffic.TEXT, **options):
    request = translation.TranslateRequest(model="bergamot-en-pt", texts=[text])
    return translation_grpc.TranslationServiceStub(channel).Translate(request, timeout=traffic.DEADLINE, **options)


def test_calls_of_each_kind_have_the_answers_of_a_daemon_alone(cluster, channel, expected):
    through = traffic.Expected(channel)   # unary speech and translation, and a text stream
    assert through.translated.translations == expected.translated.translations
    assert through.spoken.audio == expected.spoken.audio
    assert through.streamed == expected.streamed
    speech = synthesis_grpc.SynthesisServiceStub(channel)
    request = synthesis.SynthesizeRequest(model="piper-en-us-joe", text="Good morning. It is one.", seed=1)
    parts = list(speech.StreamSynthesize(request, timeout=traffic.DEADLINE))
    assert len(parts) >= 2 and {part.sentence_index for part in parts} == {0, 1}


def test_text_stream_is_spoken_while_it_is_written(channel):
    written = queue.Queue()
    written.put(synthesis.SynthesizeTextStreamRequest(config=synthesis.SynthesizeRequest(model="piper-en-us-joe", seed=1)))
    for sentence in ("It is one. ", "It is two. "):
        written.put(synthesis.SynthesizeTextStreamRequest(text=sentence))
    replies = synthesis_grpc.SynthesisServiceStub(channel).SynthesizeTextStream(iter(written.get, None), timeout=traffic.DEADLINE)
    assert next(replies).audio   # although more of the text is to come
    written.put(None)
    assert {reply.sentence_index for reply in replies} >= {1}


def metric(pid, name):
    """The sum of a metric of a daemon over its labels."""
    arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    ports = json.loads(pathlib.Path(arguments[arguments.index("--port-file") + 1]).read_text())
    metrics = daemons.get(f"http://127.0.0.1:{ports['metrics']}/metrics") or ""
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", metrics, re.MULTILINE))


def in_flight(cluster):
    return sum(metric(pid, "millrace_requests_in_flight") for pid in cluster.daemons())


def test_calls_reach_both_replicas(cluster, channel):
    before = {pid: metric(pid, "millrace_requests_total") for pid in cluster.daemons()}

    def both():
        translate(channel)
        return all(metric(pid, "millrace_requests_total") > count for pid, count in before.items())
    wait_for("calls reach both replicas", both, 30)


def test_error_passes_unchanged(channel):
    with pytest.raises(grpc.RpcError) as refused:
        translate(channel, text="")
    with pytest.raises(grpc.RpcError) as unknown:
        synthesis_grpc.SynthesisServiceStub(channel).Synthesize(synthesis.SynthesizeRequest(model="nobody", text="a"), timeout=10)
    assert refused.value.code() == grpc.StatusCode.INVALID_ARGUMENT and "texts" in refused.value.details()
    assert unknown.value.code() == grpc.StatusCode.NOT_FOUND and "nobody" in unknown.value.details()
    stream = synthesis_grpc.SynthesisServiceStub(channel).StreamSynthesize(synthesis.SynthesizeRequest(model="nobody", text="a"), timeout=10)
    with pytest.raises(grpc.RpcError) as streamed:
        next(stream)
    assert (streamed.value.code(), streamed.value.details()) == (unknown.value.code(), unknown.value.details())


def test_cancelled_stream_ends_at_the_daemon(cluster, channel):
    text = "It is one. " * 2000
    stream = synthesis_grpc.SynthesisServiceStub(channel).StreamSynthesize(synthesis.SynthesizeRequest(model="piper-en-us-joe", text=text))
    assert next(stream).audio
    assert in_flight(cluster) == 1
    stream.cancel()
    wait_for("nothing is in flight", lambda: in_flight(cluster) == 0, 30)


def http(cluster, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{cluster.http_port}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=traffic.DEADLINE) as answer:
        return answer.read()


def test_http_is_forwarded(cluster, expected):
    translated = json.loads(http(cluster, "/translate", {"q": traffic.TEXT, "source": "en", "target": "pt"}))
    assert translated["translatedText"] == expected.translated.translations[0].text
    speech = http(cluster, "/v1/audio/speech", {"model": "piper-en-us-joe", "input": "Good morning.", "response_format": "wav"})
    assert speech.startswith(b"RIFF") and len(speech) > 10_000
    with pytest.raises(urllib.error.HTTPError) as refused:
        http(cluster, "/translate", {"q": "a", "source": "en", "target": "xx"})
    assert refused.value.code == 400 and "xx" in refused.value.read().decode()


def test_dead_daemon_is_replaced_with_its_replica(cluster):
    """Callers with the retry policy of deploy/grpc notice nothing."""
    before = cluster.daemons()
    stop = threading.Event()
    failed, served = [], []

    def call():
        with connect(cluster, ("grpc.service_config", (ROOT / "deploy/grpc/service_config_proxy.json").read_text())) as channel:
            while not stop.is_set():
                try:
                    served.append(translate(channel))
                except grpc.RpcError as error:
                    failed.append(f"{error.code().name}: {error.details()}")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        calls = pool.submit(call)
        try:
            os.kill(before[0], signal.SIGKILL)
            wait_for("a new daemon beside the one that is left", lambda: len(set(cluster.daemons()) - set(before)) == 1 and before[1] in cluster.daemons())
            wait_for("two replicas", lambda: cluster.replicas() == 2)
        finally:
            stop.set()
        calls.result(60)
    assert failed == [] and len(served) > 10


def test_replicas_follow_the_queue_time(cluster):
    """The last of the tests: it has the application scale, down to one replica while idle and up while requests wait."""
    cluster.deploy(min_replicas=1, max_replicas=2, look_back_period_s=2, downscale_delay_s=1,
                   policy={"policy_function": "millrace_ray.scaling:QueueTimePolicy", "policy_kwargs": {"target_wait_seconds": 0.05}})
    wait_for("one replica is left", lambda: cluster.replicas() == 1 and len(cluster.daemons()) == 1)
    stop = threading.Event()

    def call():
        with connect(cluster) as channel:
            while not stop.is_set():
                with contextlib.suppress(grpc.RpcError):
                    synthesis_grpc.SynthesisServiceStub(channel).Synthesize(
                        synthesis.SynthesizeRequest(model="piper-en-us-joe", text=traffic.TEXT), timeout=traffic.DEADLINE)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        calls = [pool.submit(call) for _ in range(6)]
        try:
            wait_for("a second replica", lambda: cluster.replicas() == 2)
        finally:
            stop.set()
        for one in calls:
            one.result(60)
