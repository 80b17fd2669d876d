"""The daemon with the MPS backend and the real models, on the stand-in for Apple's GPU: it ends the process when a rule of Metal or
of libtorch is broken (tests/fakes/mps/README.md)."""

import array
import concurrent.futures
import json
import os
import signal
import sys

import grpc
import pytest
from wire import daemon as daemons
from wire import narrow_kokoro, repository
from wire.executors import executors
from wire.paths import EN_PT, KOKORO, NULL, ON_MPS_STANDIN, PT_EN, ROOT, SERVER_PROGRAM, VOICE
from wire.requests import PATIENCE, null_request, speak_request, translate_request
from wire.stubs import admin, synthesis

sys.path.insert(0, str(ROOT))
from models.convert.voice_precision import with_fields  # noqa: E402

pytestmark = pytest.mark.skipif(not ON_MPS_STANDIN.is_file(), reason="the stand-in is built on Linux only")

WORKERS = 4
RATE = 24000
TEXTS = ["The house is small but the garden is big.", "Where is the nearest station?", "I am looking for my friends.",
         "Good morning, everyone!", "Thank you."]


def start(folder, *options, models=None, **others):
    """With the models that warm up quickly there, or with others. A warm-up computes each shape on the stand-in, and takes a minute on a busy machine."""
    models = models or repository.link(folder / "models", NULL, EN_PT, PT_EN, VOICE)
    return daemons.start(folder, "--device", "mps", "--workers", WORKERS, *options, models=models, binary=ON_MPS_STANDIN,
                         **{"seconds": 180} | others)


@pytest.fixture(scope="module")
def on_mps(tmp_path_factory):
    with start(tmp_path_factory.mktemp("mps")) as running:
        yield running


@pytest.fixture(scope="module")
def on_cpu(tmp_path_factory):
    """The models on the processor, with the voice in float32 as a device computes it."""
    folder = tmp_path_factory.mktemp("cpu")
    models = repository.link(folder / "models", EN_PT)
    config = repository.copy(models, VOICE, VOICE) / "model.pbtxt"
    config.write_text(with_fields(config.read_text(), "  precision: PRECISION_FLOAT32\n"))
    with daemons.start(folder, models=models) as running:
        yield running


def translate(daemon, text):
    return daemon.translation.Translate(translate_request(text), timeout=PATIENCE).translations[0].text


def speak(daemon, text, **fields):
    request = speak_request(text, seed=5, encoding=synthesis.AUDIO_ENCODING_PCM_F32LE, **fields)
    return array.array("f", daemon.synthesis.Synthesize(request, timeout=PATIENCE).audio)


def test_the_device_is_told_everywhere(on_mps):
    info = on_mps.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=10)
    assert (info.mode, info.workers) == ("encode-lock", WORKERS)
    metrics = on_mps.metrics()
    assert metrics.total("millrace_build_info", device="mps", mode="encode-lock") == 1
    assert metrics.total("millrace_permits") == 2
    assert metrics.total("millrace_device_memory_bytes") > 1e6
    assert metrics.total("millrace_compiled_shapes") > 0
    assert not any(name.startswith("millrace_worker_") for name in metrics.names())


def test_with_a_patched_libtorch_each_worker_has_graphs_of_its_own(daemon, tmp_path):
    """Workers encode at the same time, on the stand-in's word that their graphs are their own, and are counted one by one."""
    models = repository.link(tmp_path / "models", NULL, EN_PT)
    with start(tmp_path, "--max-in-flight", WORKERS, "--i-accept-unsafe-concurrency", models=models, seconds=400,
               MPS_STANDIN_FAULTS="patch_level=1") as patched:
        assert patched.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=10).mode == "parallel"
        metrics = patched.metrics()
        assert metrics.total("millrace_build_info", mode="parallel", mps_patch="1") == 1
        workers = {str(worker) for worker in range(WORKERS + 1)}
        for family in ("graph_cache_entries", "graph_cache_hits_total", "graph_cache_misses_total", "compiled_shapes"):
            assert {labels["worker"] for labels, _ in metrics.matching(f"millrace_worker_{family}")} == workers
        compiled = [value for _, value in metrics.matching("millrace_worker_compiled_shapes")]
        assert min(compiled) > 10   # each has run the whole warm-up
        assert metrics.total("millrace_compiled_shapes") == sum(compiled)
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            assert all(pool.map(lambda text: translate(patched, text) == translate(daemon, text), TEXTS * 4))
            list(pool.map(lambda _: patched.kserve.ModelInfer(null_request(), timeout=PATIENCE), range(50)))
        metrics = patched.metrics()
        for family in ("graph_cache_entries", "graph_cache_hits_total", "graph_cache_misses_total"):
            assert metrics.total(f"millrace_worker_{family}") == metrics.total(f"millrace_{family}") > 0


def test_without_an_encode_lock_shared_graphs_end_the_daemon(tmp_path):
    """What the lock is for: the same with graphs that all threads share, of a libtorch that claims to be patched. Encoding takes so
    long that the workers' warm-ups meet, whatever else the machine does."""
    models = repository.link(tmp_path / "models", NULL, EN_PT)
    with pytest.raises(AssertionError, match="two threads encode one graph"):
        with start(tmp_path, "--max-in-flight", WORKERS, "--i-accept-unsafe-concurrency", models=models, seconds=400,
                   MPS_STANDIN_FAULTS="patch_level=1 shared_caches=1 encode_microseconds=1000"):
            pass


def test_many_callers_at_once_get_what_the_cpu_gives(on_cpu, on_mps):
    def same_translation(text):
        return translate(on_mps, text) == translate(on_cpu, text)

    def same_speech(text):
        ours, theirs = speak(on_mps, text), speak(on_cpu, text)
        return len(ours) == len(theirs) and max(abs(a - b) for a, b in zip(ours, theirs, strict=True)) < 0.01

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        translations = list(pool.map(same_translation, TEXTS * 6))
        speech = list(pool.map(same_speech, TEXTS * 2))
    assert all(translations) and all(speech)
    on_mps.wait_until_idle()
    assert on_mps.process.poll() is None


def test_an_error_of_the_gpu_fails_one_request(tmp_path, null_models):
    """A command buffer fails now and then, after more of them than the warm-up takes: some calls end with INTERNAL, all others are
    answered, the daemon goes on."""
    with start(tmp_path, models=null_models, MPS_STANDIN_FAULTS="error_every=1000") as daemon:
        outcomes = []
        for _ in range(1500):
            try:
                daemon.kserve.ModelInfer(null_request(), timeout=PATIENCE)
                outcomes.append("OK")
            except grpc.RpcError as error:
                assert "Internal Error" in error.details()
                outcomes.append(error.code().name)
        assert set(outcomes) == {"OK", "INTERNAL"}
        assert 1 <= outcomes.count("INTERNAL") <= 20
        assert daemon.health() == "SERVING"


@pytest.mark.parametrize("limit", [1, 3])
def test_calibrate_finds_what_the_device_survives(tmp_path, limit):
    profile = tmp_path / "profile.json"
    # Long enough on the GPU that the streams of all threads have work under way at once.
    faults = f"limit={limit} gpu_microseconds=2000"
    ended = daemons.run("calibrate", "--device", "mps", "--operators-only", "--repeats", 2, "--max-threads", limit + 2, "-o", profile,
                        binary=ON_MPS_STANDIN, seconds=300, MPS_STANDIN_FAULTS=faults)
    assert ended.returncode == 0, ended.stderr.decode()
    operators = json.loads(profile.read_text())["operators"]
    assert [operator["safe_concurrency"] for operator in operators] == [limit] * len(operators) and operators


@pytest.mark.parametrize(("fault", "outcome"), [("wrong_results=1", "wrong"), ("hang=1", "hang")])
def test_calibrate_tells_how_the_device_fails(tmp_path, fault, outcome):
    profile = tmp_path / "profile.json"
    ended = daemons.run("calibrate", "--device", "mps", "--operators-only", "--repeats", 1, "--max-threads", 2, "--watchdog", "5s",
                        "-o", profile, binary=ON_MPS_STANDIN, seconds=300,
                        MPS_STANDIN_FAULTS=f"limit=1 gpu_microseconds=2000 {fault}")
    assert ended.returncode == 0, ended.stderr.decode()
    for operator in json.loads(profile.read_text())["operators"]:
        assert operator["safe_concurrency"] == 1
        assert operator["runs"][1] == dict(threads=2, ok=0, wrong=0, error=0, crash=0, hang=0) | {outcome: 1}


def test_sigterm_ends_it_in_order(tmp_path):
    with start(tmp_path, "--drain-delay", "0s") as daemon:
        assert translate(daemon, TEXTS[0])
        daemon.terminate()
        assert daemon.exit_status(20) == 0


def test_usual_sentences_compile_nothing_on_a_worker(tmp_path):
    """On this device a shape that a worker is the first to run is compiled for ever."""
    with start(tmp_path, MPS_STANDIN_FAULTS="hang_on_compile=1") as daemon:
        for text in TEXTS:
            assert translate(daemon, text)
            assert speak(daemon, text)


def test_kokoro_compiles_nothing_on_a_worker(tmp_path):
    """Of the generator only the number of channels is cut: what is compiled depends on operators and lengths."""
    narrow_kokoro.add(tmp_path / "models", KOKORO)
    with start(tmp_path, models=tmp_path / "models", seconds=400, MPS_STANDIN_FAULTS="hang_on_compile=1") as daemon:
        for text in TEXTS:
            audio = speak(daemon, text, model=KOKORO, voice="")
            assert 0.5 * RATE < len(audio) < 10 * RATE
            assert 0.01 < max(abs(sample) for sample in audio) <= 1


@pytest.mark.parametrize(("faults", "outcome"), [("", ("yes", "yes", "passed")), ("off_queue=1", ("no", "no", "failed"))])
def test_the_selftest_fails_on_a_libtorch_that_encodes_off_the_queue(faults, outcome):
    """Which exports the same functions as one that does not. Alone on its stream it works all the same."""
    ended = daemons.run("selftest", "--device", "mps", "--filter", "EncodersOnTheQueue", "--json", binary=ON_MPS_STANDIN, seconds=300,
                        MPS_STANDIN_FAULTS=faults)
    assert ended.returncode == (1 if faults else 0)
    report = json.loads(ended.stdout)
    row = report["support"]["command buffers"]
    assert (row["libtorch"], row["millrace"], row["tests"]) == outcome
    tried = next(line for line in row["tried"] if line.startswith("EncodersOnTheQueue: "))
    # An operator that waits for the device first is on the queue before it fetches anything.
    assert tried.startswith("EncodersOnTheQueue: failed, ok=" if faults else "EncodersOnTheQueue: passed, ok=6, tried=6")
    committed = "matmul while its queue is held: expected ok, got crash (SIGABRT): mps stand-in: _status < MTLCommandBufferStatusCommitted"
    assert (committed in ended.stdout.decode()) == bool(faults)


def test_executors_compute_on_the_device(on_cpu, tmp_path):
    """Each on one of its own, which two stand-ins are; one that dies leaves the other serving."""
    programs = tmp_path / "programs"
    programs.mkdir()
    os.link(ON_MPS_STANDIN, programs / SERVER_PROGRAM.name)   # the server starts the program of this name as an executor
    models = repository.link(tmp_path / "models", NULL, EN_PT, VOICE)
    with daemons.start(tmp_path, "--device", "mps", "--workers", "2", "--executors", "2", models=models, seconds=200,
                       binary=programs / SERVER_PROGRAM.name) as on_executors:
        assert on_executors.metrics().total("millrace_build_info", device="mps") == 1
        both = executors(on_executors)
        assert len(both) == 2
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            texts = pool.map(lambda text: (text, translate(on_executors, text)), TEXTS * 6)
            os.kill(both[0], signal.SIGSEGV)
            assert all(translated == translate(on_cpu, text) for text, translated in texts)
        assert len(speak(on_executors, TEXTS[0])) == len(speak(on_cpu, TEXTS[0]))
        assert on_executors.metrics().total("millrace_executor_deaths_total") == 1
        assert both[1] in executors(on_executors)
