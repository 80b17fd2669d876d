"""Two replicas on a local Ray, each with a daemon of its own: calls of each kind, errors, a daemon that dies, scaling. Skipped without Ray, which
scripts/check-ray.sh installs."""

import concurrent.futures
import contextlib
import copy
import json
import os
import pathlib
import queue
import re
import signal
import sys
import threading
import time
import urllib.error
import urllib.request

import daemon as daemons
import grpc
import pytest
import yaml
from daemon import MODELS, ROOT, free_port, wait_for
from wire.stubs import admin, admin_grpc, synthesis, synthesis_grpc, translation, translation_grpc

ray = pytest.importorskip("ray")
PACKAGE = ROOT / "deploy" / "ray"
sys.path.insert(0, str(PACKAGE))
from fleet import traffic  # noqa: E402
from ray import serve  # noqa: E402
from ray.serve.context import _get_global_client  # noqa: E402
from ray.serve.schema import ServeDeploySchema  # noqa: E402

# Several daemons share this machine.
ONE_WORKER = ["--workers", "1", "--intra-op-threads", "1"]


def children(pid):
    with contextlib.suppress(FileNotFoundError):
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield int(child)
                yield from children(int(child))


def daemon_pids():
    """The daemons of the replicas, which are below this process as all of its Ray is."""
    found = []
    for pid in children(os.getpid()):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            # Not guard.py, which becomes the daemon.
            if pathlib.Path(os.fsdecode(arguments[0])).name.startswith("millrace") and b"serve" in arguments:
                found.append(pid)
    return found


class Cluster:
    """Serve on a Ray of this process, with the application of serve.yaml."""

    def __init__(self, models):
        self.grpc_port, self.http_port, self._models = free_port(), free_port(), models
        self._config = yaml.safe_load((PACKAGE / "serve.yaml").read_text())

    def start(self):
        grpc_options = self._config["grpc_options"] | {"port": self.grpc_port}
        http_options = {"host": "127.0.0.1", "port": self.http_port}
        serve.start(http_options=http_options, grpc_options=grpc_options)
        self._config |= {"http_options": http_options, "grpc_options": grpc_options}
        application, = self._config["applications"]
        application["args"] = {"program": str(daemons.BINARY), "arguments": ["--models", str(self._models), *ONE_WORKER]}
        deployment, = application["deployments"]
        deployment["ray_actor_options"] = {"num_cpus": 0.1}   # a share of this machine that fits

    def deploy(self, **autoscaling):
        """As `serve run serve.yaml` does. Returns when the application runs."""
        config = copy.deepcopy(self._config)
        config["applications"][0]["deployments"][0]["autoscaling_config"] |= autoscaling
        _get_global_client().deploy_apps(ServeDeploySchema.model_validate(config))
        wait_for("the application runs", lambda: serve.status().applications["millrace"].status == "RUNNING")

    def connect(self, *options):
        return grpc.insecure_channel(f"127.0.0.1:{self.grpc_port}", [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0),
                                                                     ("grpc.use_local_subchannel_pool", 1), *options])

    def replicas(self):
        return serve.status().applications["millrace"].deployments["millrace"].replica_states.get("RUNNING", 0)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    models = tmp_path_factory.mktemp("models")
    for name in traffic.MODELS:
        (models / name).symlink_to(MODELS / name)
    # Proxies import the handlers from it, as from a package that is installed on each node.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get("PYTHONPATH")]))
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_DISABLE_MEMORY_MONITOR"] = "1"
    for name in [name for name in os.environ if name.startswith("MILLRACE_")]:   # as tests/deploy/daemon.py
        if name != "MILLRACE_CPU_ISA":
            del os.environ[name]
    ray.init(num_cpus=2, object_store_memory=80 << 20, include_dashboard=False, logging_level="warning")
    below = list(children(os.getpid()))
    try:
        cluster = Cluster(models)
        cluster.start()
        cluster.deploy(min_replicas=2, max_replicas=2)
        wait_for("two replicas", lambda: cluster.replicas() == 2 and len(daemon_pids()) == 2)
        below = list(children(os.getpid()))
        yield cluster
    finally:
        serve.shutdown()
        ray.shutdown()
    wait_for("Ray and the daemons have ended", lambda: not set(below) & set(children(os.getpid())), 60)
    assert daemon_pids() == []


@pytest.fixture
def channel(cluster):
    with cluster.connect() as channel:
        yield channel


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The answers of a daemon without Ray."""
    with daemons.daemon(tmp_path_factory.mktemp("alone"), *ONE_WORKER) as alone, grpc.insecure_channel(f"127.0.0.1:{alone.ports['grpc']}") as channel:
        yield traffic.Expected(channel)


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


def test_calls_reach_both_replicas(channel):
    """They were not started at the same moment."""
    stub = admin_grpc.AdminServiceStub(channel)

    def both():
        starts = sorted(time.time() - stub.GetServerInfo(admin.GetServerInfoRequest(), timeout=10).uptime_seconds for _ in range(20))
        return starts[-1] - starts[0] > 0.02
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


def in_flight(cluster):
    """Requests that the daemons have not yet answered."""
    total = 0
    for pid in daemon_pids():
        arguments = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        ports = json.loads(pathlib.Path(arguments[arguments.index("--port-file") + 1]).read_text())
        metrics = daemons.get(f"http://127.0.0.1:{ports['metrics']}/metrics") or ""
        total += sum(float(value) for value in re.findall(r"^millrace_requests_in_flight\S* (\S+)$", metrics, re.MULTILINE))
    return total


def test_cancelled_stream_ends_at_the_daemon(cluster, channel):
    text = "It is one. " * 2000
    stream = synthesis_grpc.SynthesisServiceStub(channel).StreamSynthesize(synthesis.SynthesizeRequest(model="piper-en-us-joe", text=text))
    assert next(stream).audio
    assert in_flight(cluster) == 1
    stream.cancel()
    wait_for("nothing is in flight", lambda: in_flight(cluster) == 0, 30)


def test_deadline_reaches_the_daemon(channel):
    """Which names what is left of it, where Serve would only cut the call off."""
    text = "The children were playing in the garden. " * 100
    with pytest.raises(grpc.RpcError) as late:
        synthesis_grpc.SynthesisServiceStub(channel).Synthesize(synthesis.SynthesizeRequest(model="piper-en-us-joe", text=text), timeout=0.3)
    assert late.value.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.RESOURCE_EXHAUSTED)


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
    before = daemon_pids()
    stop = threading.Event()
    failed, served = [], []

    def call():
        with cluster.connect(("grpc.service_config", (ROOT / "deploy/grpc/service_config_proxy.json").read_text())) as channel:
            while not stop.is_set():
                try:
                    served.append(translate(channel))
                except grpc.RpcError as error:
                    failed.append(f"{error.code().name}: {error.details()}")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        calls = pool.submit(call)
        try:
            os.kill(before[0], signal.SIGKILL)
            wait_for("a new daemon beside the one that is left", lambda: len(set(daemon_pids()) - set(before)) == 1 and before[1] in daemon_pids())
            wait_for("two replicas", lambda: cluster.replicas() == 2)
        finally:
            stop.set()
        calls.result(60)
    assert failed == [] and len(served) > 10


def test_replicas_follow_the_queue_time(cluster):
    """The last of the tests: it has the application scale, down to one replica while idle and up while requests wait."""
    cluster.deploy(min_replicas=1, max_replicas=2, look_back_period_s=2, downscale_delay_s=1,
                   policy={"policy_function": "millrace_ray.scaling:QueueTimePolicy", "policy_kwargs": {"target_wait_seconds": 0.05}})
    wait_for("one replica is left", lambda: cluster.replicas() == 1 and len(daemon_pids()) == 1)
    stop = threading.Event()

    def call():
        with cluster.connect() as channel:
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
