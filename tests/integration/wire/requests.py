"""Good requests, and what a failed call says."""

import struct

import grpc
import pytest

from .paths import EN_PT, NULL, VOICE
from .stubs import kserve, synthesis, translation

# Long enough for a busy machine, short enough to fail.
PATIENCE = 60


def floats(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)


def null_request(values: list[float] | None = None, **fields: object) -> kserve.ModelInferRequest:
    """ModelInfer for the null model with raw contents."""
    values = [float(i) for i in range(64)] if values is None else values
    tensor = kserve.ModelInferRequest.InferInputTensor(name="INPUT0", datatype="FP32", shape=[64])
    return kserve.ModelInferRequest(**{"model_name": NULL, "inputs": [tensor], "raw_input_contents": [floats(values)]} | fields)


def translate_request(*texts: str, **fields: object) -> translation.TranslateRequest:
    return translation.TranslateRequest(**{"model": EN_PT, "texts": texts} | fields)


def speak_request(text: str, **fields: object) -> synthesis.SynthesizeRequest:
    return synthesis.SynthesizeRequest(**{"model": VOICE, "text": text} | fields)


def refused(call: object, request: object, **options: object) -> grpc.RpcError:
    """The error of a call, unary or streaming, that must not succeed."""
    with pytest.raises(grpc.RpcError) as raised:
        answer = call(request, timeout=PATIENCE, **options)
        if isinstance(answer, grpc.RpcError):   # a streaming call fails while it is read
            for _ in answer:
                pass
    return raised.value


def assert_refused(call: object, request: object, code: str, *words: str, **options: object) -> None:
    """The call ends with this status, and its message holds all of these words: the field and what is allowed."""
    error = refused(call, request, **options)
    assert error.code().name == code, f"{error.code().name}: {error.details()}"
    for word in words:
        assert word in error.details(), f"{word!r} is not in {error.details()!r}"
