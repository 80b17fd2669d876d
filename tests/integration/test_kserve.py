"""The KServe v2 service: what it answers to good requests, and to each kind of bad tensor."""

import math
import subprocess
import sys
from pathlib import Path

import pytest
from wire import daemon as daemons
from wire import repository
from wire.paths import EN_PT, NULL, VOICE
from wire.requests import PATIENCE, assert_refused, floats, null_request
from wire.stubs import kserve

Input = kserve.ModelInferRequest.InferInputTensor
Output = kserve.ModelInferRequest.InferRequestedOutputTensor
Contents = kserve.InferTensorContents
FLOAT32_VALUES = [0.0, -0.0, 1.5, -2.25, 1e-45, 3.4e38, math.inf, -math.inf] * 8


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    folder = tmp_path_factory.mktemp("daemon")
    models = repository.link(folder / "models", NULL, EN_PT, VOICE)
    repository.add_echo(models)
    with daemons.start(folder, "--workers", "2", models=models) as running:
        yield running


def infer(daemon, request):
    return daemon.kserve.ModelInfer(request, timeout=PATIENCE)


# --- the server and its models ---

def test_server_is_live_and_ready(daemon):
    assert daemon.kserve.ServerLive(kserve.ServerLiveRequest(), timeout=PATIENCE).live
    assert daemon.kserve.ServerReady(kserve.ServerReadyRequest(), timeout=PATIENCE).ready


def test_server_metadata_names_the_server(daemon):
    metadata = daemon.kserve.ServerMetadata(kserve.ServerMetadataRequest(), timeout=PATIENCE)
    assert metadata.name == "millrace"
    assert metadata.version


@pytest.mark.parametrize("name, version, ready", [
    (NULL, "", True), (NULL, "1", True), (EN_PT, "", True), (NULL, "2", False), ("nobody", "", False), ("", "", False)])
def test_model_ready(daemon, name, version, ready):
    answer = daemon.kserve.ModelReady(kserve.ModelReadyRequest(name=name, version=version), timeout=PATIENCE)
    assert answer.ready == ready


def test_model_metadata_describes_tensors(daemon):
    metadata = daemon.kserve.ModelMetadata(kserve.ModelMetadataRequest(name="echo"), timeout=PATIENCE)
    assert (metadata.name, list(metadata.versions), metadata.platform) == ("echo", ["1"], "torchscript")
    assert [(t.name, t.datatype, list(t.shape)) for t in metadata.inputs] == [
        ("A", "FP32", [-1]), ("B", "INT8", [2, -1]), ("C", "FP16", [-1, -1])]
    assert [(t.name, t.datatype, list(t.shape)) for t in metadata.outputs] == [
        ("X", "FP32", [-1]), ("Y", "INT8", [2, -1]), ("Z", "FP16", [-1, -1])]


def test_metadata_of_an_unknown_model_is_not_found(daemon):
    assert_refused(daemon.kserve.ModelMetadata, kserve.ModelMetadataRequest(name="nobody"), "NOT_FOUND", "nobody", "null")


# --- good requests ---

def test_raw_contents_come_back_unchanged(daemon):
    response = infer(daemon, null_request(FLOAT32_VALUES, id="an-id"))
    assert (response.model_name, response.model_version, response.id) == (NULL, "1", "an-id")
    assert [(t.name, t.datatype, list(t.shape)) for t in response.outputs] == [("OUTPUT0", "FP32", [64])]
    assert response.raw_output_contents[0] == floats(FLOAT32_VALUES)


def test_typed_contents_give_the_same_as_raw(daemon):
    typed = kserve.ModelInferRequest(model_name=NULL, inputs=[
        Input(name="INPUT0", datatype="FP32", shape=[64], contents=Contents(fp32_contents=FLOAT32_VALUES))])
    assert infer(daemon, typed).raw_output_contents[0] == floats(FLOAT32_VALUES)


@pytest.mark.parametrize("longest", ["", "x" * 128], ids=["empty", "128 bytes"])
def test_id_comes_back(daemon, longest):
    assert infer(daemon, null_request(id=longest)).id == longest


def test_parameters_without_effect_are_named(daemon):
    request = null_request()
    request.parameters["priority"].int64_param = 3
    request.parameters["timeout"].int64_param = 1_000_000
    request.inputs[0].parameters["anything"].string_param = "x"
    response, call = daemon.kserve.ModelInfer.with_call(request, timeout=60)
    assert len(response.outputs) == 1
    assert dict(call.trailing_metadata())["warning"] == '299 millrace "ignored members: parameters.priority, inputs[0].parameters.anything"'


def echo_request(order="ABC", outputs=(), size=3, raw=True):
    """A request for the model with three inputs, whose tensors come in any order."""
    values = {"A": floats([float(i) for i in range(size)]), "B": bytes(i % 256 for i in range(2 * size)), "C": b"\x00\x3c" * size}
    types = {"A": ("FP32", [size]), "B": ("INT8", [2, size]), "C": ("FP16", [size, 1])}
    inputs = [Input(name=name, datatype=types[name][0], shape=types[name][1]) for name in order]
    return kserve.ModelInferRequest(model_name="echo", inputs=inputs, outputs=[Output(name=name) for name in outputs],
                                    raw_input_contents=[values[name] for name in order] if raw else [])


@pytest.mark.parametrize("order", ["ABC", "CAB", "BCA"])
def test_inputs_are_matched_by_name(daemon, order):
    response = infer(daemon, echo_request(order))
    by_name = dict(zip([t.name for t in response.outputs], response.raw_output_contents, strict=True))
    assert by_name == {"X": floats([0.0, 1.0, 2.0]), "Y": bytes(range(6)), "Z": b"\x00\x3c" * 3}


@pytest.mark.parametrize("wanted", [["Y"], ["X", "Z"], []], ids=["one", "two", "all"])
def test_named_outputs_are_those_that_come(daemon, wanted):
    response = infer(daemon, echo_request(outputs=wanted))
    assert sorted(t.name for t in response.outputs) == (wanted or ["X", "Y", "Z"])
    assert len(response.raw_output_contents) == len(response.outputs)


@pytest.mark.parametrize("size", [0, 1, 1000])
def test_free_dimensions_take_any_size(daemon, size):
    response = infer(daemon, echo_request(size=size))
    shapes = {t.name: list(t.shape) for t in response.outputs}
    assert shapes == {"X": [size], "Y": [2, size], "Z": [size, 1]}


def test_model_version_may_be_given(daemon):
    assert infer(daemon, null_request(model_version="1")).model_version == "1"


def test_a_triton_client_understands_the_server(daemon):
    """An independent client with messages of its own. Both describe a package `inference`, so it needs its own process."""
    script = Path(__file__).with_name("triton_client.py")
    ended = subprocess.run([sys.executable, script, daemon.address], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr


# --- bad tensors: each message names the field and what is allowed ---

def one_input(name="INPUT0", datatype="FP32", shape=(64,), data=floats([0.0] * 64), **fields):
    return kserve.ModelInferRequest(**{"model_name": NULL, "inputs": [Input(name=name, datatype=datatype, shape=shape)],
                                       "raw_input_contents": [data]} | fields)


def typed(datatype="FP32", shape=(64,), **contents):
    return kserve.ModelInferRequest(model_name=NULL, inputs=[
        Input(name="INPUT0", datatype=datatype, shape=shape, contents=Contents(**contents))])


def echo_with(index, datatype=None, shape=None, raw=None, contents=None):
    """The three-input request with one thing of one input changed."""
    request = echo_request()
    if contents is not None:
        del request.raw_input_contents[:]
        request.inputs[0].contents.fp32_contents.extend([0.0] * 3)
        request.inputs[1].contents.int_contents.extend([0] * 6)
        request.inputs[index].contents.CopyFrom(contents)
    if datatype is not None:
        request.inputs[index].datatype = datatype
    if shape is not None:
        request.inputs[index].shape[:] = shape
    if raw is not None:
        request.raw_input_contents[index] = raw
    return request


BIG = 2**62
BAD = {
    "no model": (one_input(model_name=""), ["model_name", "empty"]),
    "id too long": (null_request(id="x" * 129), ["id:", "129", "128"]),
    "no input": (one_input(inputs=[], raw_input_contents=[]), ["inputs", "0", "1: INPUT0"]),
    "too many inputs": (one_input(inputs=[Input(name="INPUT0", datatype="FP32", shape=[64])] * 2), ["inputs", "2", "1: INPUT0"]),
    "a thousand inputs": (one_input(inputs=[Input(name="x")] * 1000), ["inputs", "1000", "INPUT0"]),
    "input given twice": (echo_request("AAB"), ["inputs[1].name", "'A'", "before"]),
    "unknown input": (one_input(name="INPUT1"), ["inputs[0].name", "'INPUT1'", "INPUT0"]),
    "input without a name": (one_input(name=""), ["inputs[0].name", "INPUT0"]),
    "wrong type": (one_input(datatype="FP64"), ["inputs[0].datatype", "'FP64'", "FP32"]),
    "no such type": (one_input(datatype="float"), ["inputs[0].datatype", "'float'", "FP32"]),
    "wrong size": (one_input(shape=[63]), ["inputs[0].shape", "[63]", "[64]"]),
    "wrong rank": (one_input(shape=[1, 64]), ["inputs[0].shape", "[1,64]", "[64]"]),
    "no shape": (one_input(shape=[]), ["inputs[0].shape", "[64]"]),
    "negative size": (one_input(shape=[-64]), ["inputs[0].shape", "[-64]", "[64]"]),
    "minus one": (one_input(shape=[-1]), ["inputs[0].shape", "[-1]", "[64]"]),
    "huge size": (one_input(shape=[BIG]), ["inputs[0].shape", str(BIG), "[64]"]),
    "negative size of a free dimension": (echo_with(0, shape=[-3]), ["inputs[0].shape", "[-3]", ">= 0"]),
    "huge size of a free dimension": (echo_with(0, shape=[BIG]), ["raw_input_contents[0]", "12 bytes", str(BIG)]),
    "product of sizes overflows": (echo_with(2, shape=[BIG, 4]), ["inputs[2].shape", str(BIG)]),
    "bytes overflow": (echo_with(0, shape=[2**62 - 1], raw=b""), ["raw_input_contents[0]", "0 bytes"]),
    "largest sizes": (echo_with(2, shape=[2**63 - 1, 2**63 - 1]), ["inputs[2].shape"]),
    "too few bytes": (one_input(data=bytes(255)), ["raw_input_contents[0]", "255 bytes", "64 elements of 4 bytes"]),
    "too many bytes": (one_input(data=bytes(260)), ["raw_input_contents[0]", "260 bytes", "64 elements of 4 bytes"]),
    "no bytes": (one_input(data=b""), ["raw_input_contents[0]", "0 bytes", "64"]),
    "more raw contents than inputs": (one_input(raw_input_contents=[bytes(256)] * 2), ["raw_input_contents", "2", "1"]),
    "fewer raw contents than inputs": (null_request(model_name="echo", inputs=echo_request().inputs), ["raw_input_contents", "1", "3"]),
    "no contents": (echo_request(raw=False), ["inputs[0].contents.fp32_contents", "0 elements", "3"]),
    "raw and typed contents": (one_input(inputs=[Input(name="INPUT0", datatype="FP32", shape=[64],
                                                       contents=Contents(fp32_contents=[0.0] * 64))]),
                               ["inputs[0].contents", "raw_input_contents"]),
    "too few typed elements": (typed(fp32_contents=[0.0] * 63), ["fp32_contents", "63", "64"]),
    "too many typed elements": (typed(fp32_contents=[0.0] * 65), ["fp32_contents", "65", "64"]),
    "typed elements in the wrong list": (typed(int_contents=[0] * 64), ["contents", "fp32_contents"]),
    "two lists": (typed(fp32_contents=[0.0] * 64, int_contents=[1]), ["contents", "fp32_contents"]),
    "typed element out of range": (echo_with(1, contents=Contents(int_contents=[0, 1, 2, 128, 4, 5])),
                                   ["inputs[1].contents.int_contents[3]", "INT8"]),
    "FP16 has no typed list": (echo_with(2, contents=Contents(fp32_contents=[1.0] * 3)),
                               ["inputs[2].contents", "FP16", "raw_input_contents"]),
    "unknown output": (null_request(outputs=[Output(name="OUTPUT9")]), ["outputs[0].name", "'OUTPUT9'", "OUTPUT0"]),
}


@pytest.mark.parametrize("request_, words", BAD.values(), ids=BAD.keys())
def test_bad_request_is_refused_by_field(daemon, bystander, request_, words):
    assert_refused(daemon.kserve.ModelInfer, request_, "INVALID_ARGUMENT", *words)


def test_empty_tensor_with_a_huge_other_dimension_does_no_harm(daemon, bystander):
    """No element, so no byte is wrong; the sizes are as large as they get."""
    try:
        infer(daemon, echo_with(2, shape=[0, BIG], raw=b""))
    except daemons.grpc.RpcError as error:
        assert error.code().name in ("INVALID_ARGUMENT", "INTERNAL"), error


@pytest.mark.parametrize("fields, words", [
    ({"model_name": "nobody"}, ["model", "'nobody'", "null"]),
    ({"model_name": "../null"}, ["model", "'../null'"]),
    ({"model_name": "x" * 5000}, ["model", "xxx"]),
    ({"model_version": "2"}, ["model_version", "'2'", "1"]),
    ({"model_version": "latest"}, ["model_version", "'latest'"]),
], ids=["name", "path", "long name", "version", "version that is no number"])
def test_unknown_model_is_not_found(daemon, bystander, fields, words):
    assert_refused(daemon.kserve.ModelInfer, null_request(**fields), "NOT_FOUND", *words)


@pytest.mark.parametrize("model", [EN_PT, VOICE])
def test_model_of_another_task_is_refused(daemon, bystander, model):
    assert_refused(daemon.kserve.ModelInfer, null_request(model_name=model), "FAILED_PRECONDITION", "model", model, "infer")


@pytest.mark.parametrize("message, words", [
    (b"\xff\xff\xff", ["inference.ModelInferRequest"]),
    (b"\x2a\x05\x0a\x03\xf0\x28\x8c", ["inputs[0].name", "UTF-8"]),
    (b"\x0a\x02\xc0\x80", ["model_name", "UTF-8"]),
], ids=["garbage", "name of an input", "name of the model"])
def test_message_that_is_not_valid_is_refused(daemon, bystander, message, words):
    assert_refused(daemon.raw("inference.GRPCInferenceService/ModelInfer"), message, "INVALID_ARGUMENT", *words)
