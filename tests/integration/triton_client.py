"""Talks to a server with Triton's own client: triton_client.py ADDRESS. Ends with 0 when all is as it should be."""

import sys

import numpy as np
import tritonclient.grpc as triton
from tritonclient.utils import InferenceServerException, np_to_triton_dtype

client = triton.InferenceServerClient(sys.argv[1])
assert client.is_server_live() and client.is_server_ready()
assert client.get_server_metadata().name == "millrace"
assert list(client.get_server_metadata().extensions) == ["model_configuration", "model_repository", "statistics"]
assert client.is_model_ready("null") and not client.is_model_ready("nobody")
metadata = client.get_model_metadata("echo")
assert [tensor.name for tensor in metadata.inputs] == ["A", "B", "C"], metadata
config = client.get_model_config("echo").config
assert (config.name, config.max_batch_size) == ("echo", 0), config
assert [(tensor.name, tensor.data_type, list(tensor.dims)) for tensor in config.input] == [
    ("A", triton.model_config_pb2.TYPE_FP32, [-1]), ("B", triton.model_config_pb2.TYPE_INT8, [2, -1]),
    ("C", triton.model_config_pb2.TYPE_FP16, [-1, -1])], config
assert [(tensor.name, list(tensor.dims)) for tensor in config.output] == [("X", [-1]), ("Y", [2, -1]), ("Z", [-1, -1])], config

values = {"A": np.arange(5, dtype=np.float32), "B": np.arange(10, dtype=np.int8).reshape(2, 5),
          "C": np.linspace(0, 1, 5, dtype=np.float16).reshape(1, 5)}
inputs = []
for name, value in values.items():
    tensor = triton.InferInput(name, value.shape, np_to_triton_dtype(value.dtype))
    tensor.set_data_from_numpy(value)
    inputs.append(tensor)
result = client.infer("echo", inputs, request_id="7", outputs=[triton.InferRequestedOutput(name) for name in "XYZ"])
assert result.get_response().id == "7"
for name, value in zip("XYZ", values.values(), strict=True):
    assert np.array_equal(result.as_numpy(name), value), name

statistics = client.get_inference_statistics("echo").model_stats[0]
assert (statistics.name, statistics.version) == ("echo", "1"), statistics
assert statistics.inference_count == statistics.inference_stats.success.count > 0, statistics
assert sum(batch.compute_infer.count for batch in statistics.batch_stats) == statistics.execution_count > 0, statistics
assert [model.name for model in client.get_inference_statistics().model_stats] == ["bergamot-en-pt", "echo", "null", "piper-en-us-joe"]

try:
    client.infer("nobody", inputs)
except InferenceServerException as error:
    assert error.status() == "StatusCode.NOT_FOUND", error
else:
    raise AssertionError("an unknown model was served")


def refused(call, status, word):
    try:
        call()
    except InferenceServerException as error:
        assert error.status() == f"StatusCode.{status}" and word in error.message(), error
    else:
        raise AssertionError(f"{word} was taken")


# The timeout is in microseconds.
try:
    client.infer("echo", inputs, timeout=1)
except InferenceServerException as error:   # the server says at once what it knows to take longer
    assert error.status() in ("StatusCode.DEADLINE_EXCEEDED", "StatusCode.INVALID_ARGUMENT") and "deadline" in error.message(), error
else:
    raise AssertionError("a microsecond was enough")
assert client.infer("echo", inputs, timeout=60_000_000).as_numpy("X") is not None

# What would change the answer is refused, and not ignored.
classes = [triton.InferRequestedOutput("X", class_count=3)]
refused(lambda: client.infer("echo", inputs, outputs=classes), "INVALID_ARGUMENT", "outputs[0].parameters.classification")
refused(lambda: client.infer("echo", inputs, sequence_id=7, sequence_start=True), "INVALID_ARGUMENT", "parameters.sequence_id")
refused(lambda: client.infer("echo", inputs, sequence_id="seven"), "INVALID_ARGUMENT", "parameters.sequence_id")

# The repository.
index = {model.name: (model.version, model.state) for model in client.get_model_repository_index().models}
assert index["echo"] == ("1", "READY") and len(index) == 4, index
client.unload_model("echo")
assert not client.is_model_ready("echo")
index = {model.name: model.state for model in client.get_model_repository_index().models}
assert index["echo"] == "UNAVAILABLE", index
client.load_model("echo")
assert client.is_model_ready("echo") and np.array_equal(client.infer("echo", inputs).as_numpy("X"), values["A"])
refused(lambda: client.load_model("nowhere"), "NOT_FOUND", "nowhere")
refused(lambda: client.load_model("echo", config="{}"), "INVALID_ARGUMENT", "config")
refused(lambda: client.unload_model("nowhere"), "NOT_FOUND", "nowhere")
