"""Runs a TorchScript module with Triton's client. Needs tritonclient[grpc] and numpy.

Usage: triton_infer.py [ADDRESS]
"""

import sys

import numpy
import tritonclient.grpc as triton

client = triton.InferenceServerClient(sys.argv[1] if len(sys.argv) > 1 else "localhost:8001")
print(client.get_model_metadata("null", as_json=True)["inputs"])
tensor = triton.InferInput("INPUT0", [64], "FP32")
tensor.set_data_from_numpy(numpy.arange(64, dtype=numpy.float32))
print(client.infer("null", [tensor], client_timeout=30).as_numpy("OUTPUT0"))
