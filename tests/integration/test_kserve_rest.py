"""KServe v2 over HTTP: Triton's own client, which must see what gRPC's clients see, and each kind of bad request."""

import json
import socket
import time

import numpy as np
import pytest
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException, np_to_triton_dtype
from wire import daemon as daemons
from wire import repository
from wire.paths import EN_PT, NULL
from wire.polling import eventually
from wire.requests import PATIENCE, floats, null_request
from wire.rest import send

VALUES = np.array([0.0, -0.0, 1.5, -2.25, 1e-45, 3.4e38, 0.1, -7] * 8, dtype=np.float32)
ECHO = {"A": np.arange(5, dtype=np.float32) / 3, "B": np.arange(-5, 5, dtype=np.int8).reshape(2, 5),
        "C": np.linspace(0, 1, 5, dtype=np.float16).reshape(1, 5)}
PATH = f"/v2/models/{NULL}/infer"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, EN_PT)
    repository.add_echo(models)
    with daemons.start(folder, "--workers", "2", models=models) as running:
        yield running


@pytest.fixture(scope="module")
def client(daemon):
    with triton.InferenceServerClient(f"127.0.0.1:{daemon.ports['http']}", connection_timeout=PATIENCE, network_timeout=PATIENCE) as made:
        yield made


def tensor(name, value, binary=True):
    made = triton.InferInput(name, value.shape, np_to_triton_dtype(value.dtype))
    made.set_data_from_numpy(value, binary_data=binary)
    return made


def echo_inputs(**values):
    return [tensor(name, value) for name, value in (ECHO | values).items()]


def post(daemon, body, path=PATH, **headers):
    """Status, headers and body of an answer."""
    return send(daemon, "POST", path, body, **headers)


def null_body(data=None, shape=(64,), datatype="FP32", name="INPUT0", **members):
    data = [0] * 64 if data is None else data
    return {"inputs": [{"name": name, "shape": list(shape), "datatype": datatype, "data": data}]} | members


# --- Triton's client ---

def test_the_client_sees_the_server_and_its_models(client):
    assert client.is_server_live() and client.is_server_ready()
    metadata = client.get_server_metadata()
    assert (metadata["name"], metadata["extensions"]) == ("millrace", ["binary_tensor_data", "model_configuration", "model_repository", "statistics"])
    assert client.is_model_ready(NULL) and not client.is_model_ready("nobody")
    assert [(one["name"], one["shape"]) for one in client.get_model_metadata("echo")["inputs"]] == [
        ("A", [-1]), ("B", [2, -1]), ("C", [-1, -1])]
    assert client.get_model_repository_index() == [
        {"name": name, "version": "1", "state": "READY"} for name in (EN_PT, "echo", NULL)]
    config = client.get_model_config("echo")
    assert (config["name"], config["max_batch_size"], config["model_transaction_policy"]) == ("echo", 0, {"decoupled": False})
    assert [(one["name"], one["data_type"], one["dims"]) for one in config["input"]] == [
        ("A", "TYPE_FP32", [-1]), ("B", "TYPE_INT8", [2, -1]), ("C", "TYPE_FP16", [-1, -1])]


@pytest.mark.parametrize("binary_in", [True, False], ids=["binary in", "JSON in"])
@pytest.mark.parametrize("binary_out", [True, False, None], ids=["binary out", "JSON out", "all out"])
def test_what_comes_is_what_grpc_gives(daemon, client, binary_in, binary_out):
    outputs = None if binary_out is None else [triton.InferRequestedOutput("OUTPUT0", binary_data=binary_out)]
    result = client.infer(NULL, [tensor("INPUT0", VALUES, binary_in)], request_id="7", outputs=outputs, model_version="1")
    over_grpc = daemon.kserve.ModelInfer(null_request(VALUES.tolist(), id="7"), timeout=PATIENCE)
    response = result.get_response()
    assert (response["model_name"], response["model_version"], response["id"]) == (NULL, over_grpc.model_version, over_grpc.id)
    assert [(one["name"], one["datatype"], one["shape"]) for one in response["outputs"]] == [
        (one.name, one.datatype, list(one.shape)) for one in over_grpc.outputs]
    came = result.as_numpy("OUTPUT0")
    assert came.dtype == np.float32 and came.tobytes() == over_grpc.raw_output_contents[0] == VALUES.tobytes()


@pytest.mark.parametrize("wanted", ["XYZ", "Y", "ZX"])
def test_named_outputs_are_those_that_come(client, wanted):
    result = client.infer("echo", echo_inputs(), outputs=[triton.InferRequestedOutput(name) for name in wanted])
    assert sorted(one["name"] for one in result.get_response()["outputs"]) == sorted(wanted)
    for name, value in zip("XYZ", ECHO.values(), strict=True):
        came = result.as_numpy(name)
        assert came is None if name not in wanted else came.dtype == value.dtype and np.array_equal(came, value)


def test_json_and_binary_data_may_be_mixed(client):
    inputs = [tensor("C", ECHO["C"]), tensor("B", ECHO["B"], binary=False), tensor("A", ECHO["A"])]
    outputs = [triton.InferRequestedOutput("X", binary_data=False), triton.InferRequestedOutput("Y"), triton.InferRequestedOutput("Z")]
    result = client.infer("echo", inputs, outputs=outputs)
    for name, value in zip("XYZ", ECHO.values(), strict=True):
        assert np.array_equal(result.as_numpy(name), value), name


@pytest.mark.parametrize("size", [0, 1, 1_000_000])
def test_free_dimensions_take_any_size(client, size):
    values = {"A": np.arange(size, dtype=np.float32), "B": np.zeros((2, size), dtype=np.int8), "C": np.zeros((size, 1), dtype=np.float16)}
    result = client.infer("echo", echo_inputs(**values))
    assert np.array_equal(result.as_numpy("X"), values["A"])
    assert result.as_numpy("Y").shape == (2, size)


def test_what_json_cannot_say_comes_as_binary_data(client):
    values = VALUES.copy()
    values[:3] = np.nan, np.inf, -np.inf
    result = client.infer(NULL, [tensor("INPUT0", values)])
    assert result.as_numpy("OUTPUT0").tobytes() == values.tobytes()
    with pytest.raises(InferenceServerException, match="element 0 is not a finite number.* ask for it as binary data"):
        client.infer(NULL, [tensor("INPUT0", values)], outputs=[triton.InferRequestedOutput("OUTPUT0", binary_data=False)])


def test_statistics_keep_failures_apart(daemon, client):
    def stats():
        return client.get_inference_statistics(NULL, "1")["model_stats"][0]

    before = stats()
    for _ in range(3):
        client.infer(NULL, [tensor("INPUT0", VALUES)])
    daemon.kserve.ModelInfer(null_request(VALUES.tolist()), timeout=PATIENCE)
    with pytest.raises(InferenceServerException):
        client.infer(NULL, [tensor("INPUT0", VALUES)], timeout=1)
    after = stats()
    assert after["inference_count"] - before["inference_count"] == 4
    grown = {name: after["inference_stats"][name]["count"] - before["inference_stats"][name]["count"] for name in after["inference_stats"]}
    assert grown == {"success": 4, "fail": 1, "queue": 4, "compute_input": 4, "compute_infer": 4, "compute_output": 4,
                     "cache_hit": 0, "cache_miss": 0}
    assert after["last_inference"] / 1000 == pytest.approx(time.time(), abs=60)
    assert after["inference_stats"]["success"]["ns"] >= sum(
        after["inference_stats"][name]["ns"] for name in ("queue", "compute_input", "compute_infer", "compute_output"))
    assert sum(batch["compute_infer"]["count"] for batch in after["batch_stats"]) == after["execution_count"]
    assert [one["name"] for one in client.get_inference_statistics()["model_stats"]] == [EN_PT, "echo", NULL]
    for model, version in [("nobody", ""), (NULL, "2")]:
        with pytest.raises(InferenceServerException, match="is not loaded"):
            client.get_inference_statistics(model, version)


def test_statistics_count_other_protocols_too(daemon, client):
    def translated():
        return client.get_inference_statistics(EN_PT)["model_stats"][0]["inference_count"]

    before = translated()
    assert post(daemon, {"q": "Good morning.", "source": "en", "target": "pt"}, path="/translate", Content_Type="application/json")[0] == 200
    assert translated() == before + 1


def test_members_without_effect_are_named(daemon):
    request = null_body(parameters={"priority": 3, "timeout": 1_000_000}, output=[])
    request["inputs"][0]["parameters"] = {"anything": {"deep": [1]}}
    status, headers, _ = post(daemon, request)
    assert (status, headers["Warning"]) == (200, '299 millrace "ignored members: inputs[0].parameters.anything, parameters.priority, output"')
    unset = {"sequence_id": 0, "sequence_start": False, "priority": None, "x": ""}
    status, headers, _ = post(daemon, null_body(parameters=unset))
    assert (status, headers["Warning"]) == (200, None)


def test_a_body_of_its_own_is_the_only_input(daemon):
    status, headers, body = post(daemon, VALUES.tobytes(), Inference_Header_Content_Length="0")
    assert (status, headers["Content-Type"]) == (200, "application/octet-stream")
    length = int(headers["Inference-Header-Content-Length"])
    assert json.loads(body[:length])["outputs"][0]["parameters"] == {"binary_data_size": 256}
    assert body[length:] == VALUES.tobytes()


def test_several_at_once(client):
    pending = [client.async_infer(NULL, [tensor("INPUT0", np.full(64, i, dtype=np.float32))]) for i in range(20)]
    assert [result.get_result().as_numpy("OUTPUT0")[0] for result in pending] == list(range(20))


@pytest.mark.parametrize("model, version, status, words", [
    ("nobody", "", "404", "'nobody' is not loaded"), (NULL, "2", "404", "'2'"), (EN_PT, "", "400", "not for infer")])
def test_the_client_is_told_what_model_is_not_there(client, bystander, model, version, status, words):
    with pytest.raises(InferenceServerException) as raised:
        client.infer(model, [tensor("INPUT0", VALUES)], model_version=version)
    assert raised.value.status() == status and words in raised.value.message()


def test_the_client_is_told_what_is_wrong_with_a_tensor(client, bystander):
    for value, words in [(VALUES[:63], "inputs[0].shape: is [63]; the model takes [64]"),
                         (VALUES.astype(np.float64), "inputs[0].datatype: 'FP64'"),
                         (np.array([b"text"] * 64, dtype=np.object_), "inputs[0].datatype: 'BYTES'")]:
        for binary in (True, False):
            with pytest.raises(InferenceServerException) as raised:
                client.infer(NULL, [tensor("INPUT0", value, binary)])
            assert raised.value.status() == "400" and words in raised.value.message()


# --- bad requests: each gets an answer in the protocol's own form ---

def binary_body(size=256, behind=b"\0" * 256, **parameters):
    head = {"inputs": [{"name": "INPUT0", "shape": [64], "datatype": "FP32", "parameters": {"binary_data_size": size} | parameters}]}
    text = json.dumps(head).encode()
    return text + behind, {"Inference-Header-Content-Length": str(len(text))}


GOOD = json.dumps(null_body()).encode()
BIG = 2**62
BAD = {
    "empty": (b"", {}, 'the body is empty; it must be JSON such as {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [64]'),
    "garbage": (b"\xff\x00" * 100, {}, "not valid JSON at byte"),
    "half": (GOOD[:-3], {}, "not valid JSON"),
    "array": (b"[]", {}, "must be a JSON object"),
    "no UTF-8": (GOOD.replace(b"INPUT0", b"\xff"), {}, "not valid JSON"),
    "NaN": (GOOD.replace(b"[0,", b"[NaN,"), {}, "not valid JSON at byte"),
    "infinity": (GOOD.replace(b"[0,", b"[1e999,"), {}, "a number is out of range"),
    "beyond FP32": (GOOD.replace(b"[0,", b"[1e300,"), {}, "inputs[0].data[0]: must be a number of -3.40282e+38..3.40282e+38 for FP32, not 1e+300"),
    "deep": (b'{"x":' + b"[" * 900_000, {}, "nested deeper than 64"),
    "deep data": (b'{"inputs":[{"data":' + b"[" * 900_000, {}, "nested deeper than 64"),
    "deep objects": (b'{"x":' * 100_000, {}, "nested deeper than 64"),
    "no inputs": (b"{}", {}, "inputs: has 0 tensors; model 'null' takes 1: INPUT0"),
    "unknown input": (json.dumps(null_body(name="x" * 5000)).encode(), {}, "is not an input of model 'null'"),
    "wrong type": (json.dumps(null_body(datatype="INT8")).encode(), {}, "inputs[0].datatype: 'INT8'"),
    "wrong shape": (json.dumps(null_body(shape=[8, 8])).encode(), {}, "inputs[0].shape: is [8,8]"),
    "huge shape": (json.dumps(null_body(shape=[BIG])).encode(), {}, f"inputs[0].shape: is [{BIG}]"),
    "huge rank": (json.dumps(null_body(shape=[1] * 100_000)).encode(), {}, "more than 64 dimensions"),
    "too few elements": (json.dumps(null_body([0] * 63)).encode(), {}, "has 63 elements; shape [64] needs 64"),
    "too many elements": (json.dumps(null_body([0] * 65)).encode(), {}, "has more elements than the shape [64] needs"),
    "text for a number": (json.dumps(null_body(["0"] * 64)).encode(), {}, "inputs[0].data[0]: must be a number of -3.40282e+38..3.40282e+38 for FP32, not '0'"),
    "unknown output": (json.dumps(null_body(outputs=[{"name": "NO"}])).encode(), {}, "outputs[0].name: 'NO'"),
    "long id": (json.dumps(null_body(id="x" * 129)).encode(), {}, "id: has 129 bytes"),
    "truncated binary": (*binary_body(behind=b"\0" * 255), "is 256; only 255 bytes of the body are left"),
    "too much binary": (*binary_body(behind=b"\0" * 257), "1 bytes more"),
    "binary size that lies": (*binary_body(size=BIG), f"is {BIG}; only 256 bytes"),
    "binary of another size": (*binary_body(size=252, behind=b"\0" * 252), "has 252 bytes; FP32[64] needs 64 elements of 4 bytes"),
    "shared memory": (*binary_body(size=None, behind=b"", shared_memory_region="x"), "is not supported; send the data"),
    "binary without a header": (binary_body()[0], {}, "not valid JSON"),
    "binary without a header or data": (binary_body(behind=b"")[0], {}, "only 0 bytes of the body are left"),
    "header beyond the body": (GOOD, {"Inference-Header-Content-Length": str(len(GOOD) + 1)}, "must be a number of 0.."),
    "header within the JSON": (GOOD, {"Inference-Header-Content-Length": "10"}, "not valid JSON"),
    "header within the data": (binary_body()[0], {"Inference-Header-Content-Length": "200"}, "not valid JSON"),
    "header that is no number": (GOOD, {"Inference-Header-Content-Length": "-1"}, "must be a number of 0.."),
    "body of its own that is short": (b"\0" * 255, {"Inference-Header-Content-Length": "0"}, "the body: has 255 bytes"),
}


@pytest.mark.parametrize("body, headers, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_by_member(daemon, bystander, body, headers, words):
    status, answered, answer = post(daemon, body, **headers)
    assert (status, answered["Content-Type"]) == (400, "application/json"), answer
    assert words in json.loads(answer)["error"]
    assert len(answer) < 1000


def test_a_huge_free_dimension_takes_no_memory(daemon, bystander):
    inputs = [{"name": "A", "shape": [2**60], "datatype": "FP32", "data": [0]}]
    status, _, answer = post(daemon, {"inputs": inputs}, path="/v2/models/echo/infer")
    assert status == 400 and f"has 1 elements; shape [{2**60}] needs {2**60}" in json.loads(answer)["error"]


def test_the_body_is_bounded_as_grpcs_messages_are(daemon, bystander):
    limit = 16 << 20
    assert post(daemon, GOOD + b" " * (limit - len(GOOD)))[0] == 200
    assert post(daemon, GOOD + b" " * (limit - len(GOOD) + 1))[0] == 413
    assert post(daemon, b" " * ((1 << 20) + 1), path="/translate")[0] == 413


def test_a_client_that_leaves_while_it_sends_disturbs_nobody(daemon, bystander):
    before = daemon.metrics().total("millrace_requests_total", method="HttpInfer")
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", daemon.ports["http"]), timeout=PATIENCE) as connection:
            connection.sendall(f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n".encode() + b"{" * 1000)
    assert post(daemon, GOOD)[0] == 200
    eventually("the good request is counted",
               lambda: daemon.metrics().total("millrace_requests_total", method="HttpInfer") == before + 1, PATIENCE)


def test_typed_contents_over_grpc_and_json_give_the_same(daemon):
    _, _, answer = post(daemon, null_body(VALUES.astype(float).tolist()))
    came = np.array(json.loads(answer)["outputs"][0]["data"], dtype=np.float32)
    assert came.tobytes() == floats(VALUES.tolist())


def test_models_are_unloaded_and_loaded_while_others_serve(daemon, client, bystander):
    client.unload_model(EN_PT)
    assert not client.is_model_ready(EN_PT)
    assert {"name": EN_PT, "state": "UNAVAILABLE"} in client.get_model_repository_index()
    with pytest.raises(InferenceServerException, match="is not loaded"):
        client.unload_model(EN_PT)
    client.load_model(EN_PT)
    assert client.is_model_ready(EN_PT)
    with pytest.raises(InferenceServerException, match="parameters: 'config' is not supported"):
        client.load_model(EN_PT, config="{}")
    with pytest.raises(InferenceServerException, match="nowhere"):
        client.load_model("nowhere")
    status, _, answer = post(daemon, {}, path=f"/v2/repository/models/{EN_PT}/unload", Origin="https://other.example")
    assert status == 403 and "pages that this server itself serves" in json.loads(answer)["error"]
    assert client.is_model_ready(EN_PT)
