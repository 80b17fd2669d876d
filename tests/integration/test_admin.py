"""Listing, loading and unloading models while the daemon serves."""

import concurrent.futures
import contextlib
import shutil
import threading

import grpc
import pytest
from wire import daemon as daemons
from wire import repository
from wire.daemon import err, out, run
from wire.paths import EN_PT, MODELS, NULL, VOICE
from wire.polling import eventually
from wire.requests import PATIENCE, assert_refused, null_request, refused, translate_request
from wire.stubs import admin

SERVED = NULL, EN_PT, VOICE
READY, FAILED, AVAILABLE = admin.MODEL_STATE_READY, admin.MODEL_STATE_FAILED, admin.MODEL_STATE_AVAILABLE


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, models, gate):
    # Two permits: a model warms up while a forward of another waits at the gate.
    with daemons.start(tmp_path_factory.mktemp("daemon"), "--workers", "2", "--max-in-flight", "2", "--queue-size", "77",
                       models=models) as running:
        yield running


def load(daemon, model):
    return daemon.admin.LoadModel(admin.LoadModelRequest(model=model), timeout=PATIENCE).model


def unload(daemon, model):
    daemon.admin.UnloadModel(admin.UnloadModelRequest(model=model), timeout=PATIENCE)


def listed(daemon):
    return {model.name: model for model in daemon.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE).models}


# --- what the server says of itself ---

def test_list_describes_each_model(daemon):
    models = listed(daemon)
    assert list(models) == sorted(models) == sorted([NULL, EN_PT, VOICE, "gate"])
    assert {(model.state, model.version, model.error) for model in models.values()} == {(READY, "1", "")}
    assert {model.queue_size for model in models.values()} == {77}
    assert {model.queue_depth for model in models.values()} == {0}
    null, translator, voice = models[NULL], models[EN_PT], models[VOICE]
    assert (null.platform, null.task, null.license) == ("torchscript", "infer", "CC0-1.0")
    assert (translator.platform, translator.task) == ("bergamot", "translation")
    assert (translator.source_language, translator.target_language) == ("en", "pt")
    assert (voice.platform, voice.task, list(voice.voices), voice.sample_rate) == ("vits", "synthesis", ["joe"], 22050)
    assert list(voice.languages) == ["en-US"]


def test_server_info_tells_what_runs(daemon):
    info = daemon.admin.GetServerInfo(admin.GetServerInfoRequest(), timeout=PATIENCE)
    assert info.version and info.uptime_seconds > 0
    assert info.provenance.device == "cpu" and info.provenance.device_name
    assert "libtorch_cpu" in info.provenance.libtorch_path
    assert info.provenance.libtorch_version.split("+")[0] == info.provenance.compiled_against.split("+")[0]
    assert len(info.provenance.libtorch_git_revision) >= 8
    assert (info.streams.slots, info.streams.leased, info.streams.refusals_total) == (32, 2, 0)
    assert info.streams.leases_total >= 2
    assert (info.limiter.permits, info.limiter.source) == (2, "flag")
    assert (info.workers, info.mode, info.requests_in_flight) == (2, "parallel", 0)


# --- loading and unloading ---

def test_unloaded_model_is_not_found_and_comes_back(daemon, bystander):
    unload(daemon, EN_PT)
    assert listed(daemon)[EN_PT].state == AVAILABLE
    assert_refused(daemon.translation.Translate, translate_request("Hello."), "NOT_FOUND", "model", EN_PT)
    assert load(daemon, EN_PT).state == READY
    assert daemon.translation.Translate(translate_request("Hello."), timeout=PATIENCE).translations[0].text


def test_loading_a_loaded_model_serves_it_on(daemon, bystander):
    assert load(daemon, NULL).state == READY
    assert listed(daemon)[NULL].state == READY


def test_requests_in_flight_finish_after_their_model_was_unloaded(daemon, gate, bystander):
    """One request is in its forward and others wait in the queue when the model goes: all of them are answered."""
    calls = [daemon.kserve.ModelInfer.future(gate.request(), timeout=PATIENCE) for _ in range(5)]
    eventually("a forward at the gate", lambda: daemon.running_forwards() >= 1 and daemon.queue_depth(gate.name) >= 3)
    unload(daemon, gate.name)
    assert_refused(daemon.kserve.ModelInfer, gate.request(wait=False), "NOT_FOUND", gate.name)
    gate.open()
    assert [call.result(PATIENCE).model_name for call in calls] == [gate.name] * 5
    load(daemon, gate.name)


def test_new_version_takes_over_while_the_old_one_finishes(daemon, models, bystander):
    old = repository.Gate(models, "versioned", 1)
    load(daemon, "versioned")
    in_flight = daemon.kserve.ModelInfer.future(old.request(), timeout=PATIENCE)
    eventually("a forward at the gate", lambda: daemon.running_forwards() >= 1 and daemon.queue_depth("versioned") == 0)
    new = repository.Gate(models, "versioned", 2)
    new.open()
    assert load(daemon, "versioned").version == "2"
    assert daemon.kserve.ModelInfer(new.request(), timeout=PATIENCE).model_version == "2"
    assert not in_flight.done()
    old.open()
    assert in_flight.result(PATIENCE).model_version == "1"


def test_load_and_unload_under_traffic_fail_no_request_otherwise_than_not_found(daemon, bystander):
    stop = threading.Event()

    def calls():
        codes = set()
        while not stop.is_set():
            try:
                daemon.translation.Translate(translate_request("Good morning."), timeout=PATIENCE)
                codes.add("OK")
            except grpc.RpcError as error:
                codes.add(error.code().name)
        return codes

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(calls) for _ in range(4)]
        try:
            for _ in range(2):
                unload(daemon, EN_PT)
                load(daemon, EN_PT)
        finally:
            stop.set()
        codes = set.union(*(client.result(PATIENCE) for client in clients))
    assert codes <= {"OK", "NOT_FOUND"} and "OK" in codes


def test_loads_of_one_model_at_once_all_succeed(daemon, bystander):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        states = list(pool.map(lambda _: load(daemon, NULL).state, range(4)))
    assert states == [READY] * 4


# --- what cannot be loaded ---

@pytest.mark.parametrize("name", ["", "../null", "..", ".", ".hidden", "a/b", "/etc", "null/1", "a" * 129, "null\0", "nul l"])
def test_name_that_is_no_name_never_reaches_the_file_system(daemon, bystander, name):
    assert_refused(daemon.admin.LoadModel, admin.LoadModelRequest(model=name), "INVALID_ARGUMENT", "model", "letters, digits")
    assert_refused(daemon.admin.UnloadModel, admin.UnloadModelRequest(model=name), "INVALID_ARGUMENT", "model", "letters, digits")


def test_name_that_is_not_utf8_is_refused(daemon, bystander):
    """gRPC's own parser refuses it before the service sees it, with a status of its own."""
    error = refused(daemon.raw("millrace.v1.AdminService/LoadModel"), b"\x0a\x02\xff\xfe")
    assert error.code() in (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.INTERNAL, grpc.StatusCode.UNIMPLEMENTED), error


def test_unknown_model_is_not_found(daemon, bystander):
    assert_refused(daemon.admin.LoadModel, admin.LoadModelRequest(model="nobody"), "NOT_FOUND", "nobody")
    assert_refused(daemon.admin.UnloadModel, admin.UnloadModelRequest(model="nobody"), "NOT_FOUND", "nobody")
    assert "nobody" not in listed(daemon)


CORRUPT = {
    "weights cut off": (EN_PT, lambda weights: {"weights_safetensors": weights[: len(weights) // 2]}, ["weights.safetensors"]),
    "weights empty": (EN_PT, lambda weights: {"weights_safetensors": b""}, ["weights.safetensors"]),
    "header length huge": (EN_PT, lambda weights: {"weights_safetensors": b"\xff" * 8 + weights[8:]}, ["weights.safetensors"]),
    "header garbage": (EN_PT, lambda weights: {"weights_safetensors": weights[:8] + b"}" * 64 + weights[72:]}, ["weights.safetensors"]),
    "vocabulary garbage": (EN_PT, lambda weights: {"vocab_spm": b"\x00\x01\x02" * 99}, ["vocab.spm"]),
    "voice garbage": (VOICE, lambda weights: {"voice_json": b"{"}, ["voice.json"]),
    "voice weights cut off": (VOICE, lambda weights: {"model_safetensors": weights[:4096]}, ["model.safetensors"]),
    "TorchScript cut off": (NULL, lambda weights: {"model_pt": weights[:300]}, ["model.pt"]),
    "TorchScript garbage": (NULL, lambda weights: {"model_pt": b"garbage"}, ["model.pt"]),
}


@pytest.mark.parametrize("base, damage, words", CORRUPT.values(), ids=CORRUPT.keys())
def test_damaged_file_fails_that_model_alone(daemon, models, bystander, base, damage, words):
    """The call names the file; the list shows the model as FAILED with the same words; nothing else notices."""
    weights = {EN_PT: "weights.safetensors", VOICE: "model.safetensors", NULL: "model.pt"}[base]
    whole = (MODELS / base / "1" / weights).read_bytes()
    with broken_model(models, base, damage(whole)):
        error = refused(daemon.admin.LoadModel, admin.LoadModelRequest(model="broken"))
        assert error.code().name in ("INVALID_ARGUMENT", "FAILED_PRECONDITION", "DATA_LOSS", "INTERNAL"), error
        for word in words:
            assert word in error.details()
        entry = listed(daemon)["broken"]
        assert entry.state == FAILED
        assert entry.error == error.details()


@contextlib.contextmanager
def broken_model(models, base, damaged):
    repository.copy(models, base, "broken", **damaged)
    try:
        yield
    finally:
        shutil.rmtree(models / "broken")


def test_damaged_new_version_leaves_the_old_one_in_service(daemon, models, bystander):
    gate = repository.Gate(models, "upgraded", 1)
    gate.open()
    load(daemon, "upgraded")
    broken = models / "upgraded" / "2"
    broken.mkdir()
    (broken / "model.pbtxt").write_text('torchscript { file: "model.pt" inputs { nmae: "x" } }')
    assert_refused(daemon.admin.LoadModel, admin.LoadModelRequest(model="upgraded"), "INVALID_ARGUMENT", "model.pbtxt:1:", "nmae")
    entry = listed(daemon)["upgraded"]
    assert (entry.state, entry.version) == (READY, "1") and "nmae" in entry.error
    assert daemon.kserve.ModelInfer(gate.request(), timeout=PATIENCE).model_version == "1"


PBTXT = (MODELS / NULL / "1" / "model.pbtxt").read_text() if (MODELS / NULL).exists() else ""
TYPOS = {
    "field": (PBTXT.replace("max_batch", "max_bacth"), [":2:", "max_bacth"]),
    "value": (PBTXT.replace("64 }\ntorch", "9999 }\ntorch"), [":2:", "max_batch", "0..1024"]),
    "type": (PBTXT.replace('inputs { name: "INPUT0" datatype: "FP32"', 'inputs { name: "INPUT0" datatype: "FLOAT"'),
             [":5:", "datatype", "FLOAT", "FP32"]),
    "brace": (PBTXT.rstrip().removesuffix("}"), ["model.pbtxt:"]),
    "path out of the folder": (PBTXT.replace("model.pt", "../../null/1/model.pt"), [":4:", "torchscript.file", "../../null"]),
    "absolute path": (PBTXT.replace("model.pt", "/etc/passwd"), [":4:", "torchscript.file", "/etc/passwd"]),
    "no such file": (PBTXT.replace("model.pt", "other.pt"), ["other.pt", "model.pbtxt"]),
    "no kind": ('license: "CC0-1.0"\n', ["torchscript", "vits", "bergamot"]),
    "two kinds": (PBTXT + 'vits { file: "x" }\n', ["vits"]),
    "empty": ("", ["torchscript", "vits", "bergamot"]),
    "not text": ("\x00\xff\x01", ["model.pbtxt"]),
}


@pytest.mark.parametrize("text, words", TYPOS.values(), ids=TYPOS.keys())
def test_typo_in_a_model_config_is_named_with_file_line_and_field(daemon, models, bystander, text, words):
    folder = models / "typo" / "1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.pt").write_bytes((MODELS / NULL / "1" / "model.pt").read_bytes())
    (folder / "model.pbtxt").write_text(text)
    error = refused(daemon.admin.LoadModel, admin.LoadModelRequest(model="typo"))
    assert error.code().name in ("INVALID_ARGUMENT", "FAILED_PRECONDITION"), error
    for word in [str(folder), *words]:
        assert word in error.details()


def test_mended_model_loads(daemon, models, bystander):
    """After the failures above, the same name works once its files are right."""
    folder = models / "typo" / "1"
    (folder / "model.pbtxt").write_text(PBTXT)
    assert load(daemon, "typo").state == READY
    assert daemon.kserve.ModelInfer(null_request(model_name="typo"), timeout=PATIENCE).model_name == "typo"


def test_commands_load_and_unload(tmp_path, null_models):
    with daemons.start(tmp_path, models=null_models) as daemon:
        def command(*arguments):
            ended = run(*arguments, "--address", daemon.address)
            return ended.returncode, out(ended), err(ended)

        assert command("unload", NULL) == (0, "null is unloaded\n", "")
        assert command("unload", NULL)[0] == 1
        assert command("load", NULL) == (0, "null version 1 is loaded\n", "")
        assert command("load", NULL)[0] == 0  # it is the latest version already
        for name in ("nobody", "../null", ""):
            status, said, why = command("load", name)
            assert (status, said) == (1, "") and why.startswith("millrace: ") and why.count("\n") == 1, why
        assert command("load")[0] == 2
