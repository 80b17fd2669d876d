"""Measures what int8 costs Kokoro's generator in onnxruntime: the distance of log-mel spectrograms to float32.

Runs the original file twice for sentences of phonemes: with the products of the residual blocks as they are, in int8 with
activations quantised at run time, and with all products in float32 on the same weights. The first differs from the second in
nothing else, so lengths are equal. Prints the distance for each sentence and their mean, in dB, as LogMelDistance in
tests/unit/models/speech/log_mel.h measures it for our own kernels.
usage: python -m tests.unit.models.kokoro.measure_onnxruntime_int8 <file of phonemes> [every n-th sentence]
"""

import argparse
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from models.convert import kokoro, kokoro_check
from models.convert.log_mel import log_mel

BLOCKS = ("/generator/resblocks", "/generator/noise_res")


def dequantise(model: onnx.ModelProto, keep) -> onnx.ModelProto:
    """Makes the integer products float32 ones, except for nodes whose name `keep` returns true for."""
    graph = onnx.ModelProto()
    graph.CopyFrom(model)
    weights = {tensor.name: tensor for tensor in graph.graph.initializer}
    products = [node for node in graph.graph.node if node.op_type.endswith("Integer")]
    kept_inputs = {name for node in products if keep(node) for name in node.input}
    made_float = {name for node in products if not keep(node) for name in node.output}
    source = {name: node for node in graph.graph.node for name in node.output}
    # Biases are added as whole numbers: a Floor, a Cast and a Reshape, in this order.
    whole = set()
    for node in graph.graph.node:
        if node.op_type == "Add" and node.input[0] in made_float:
            cast = source[source[node.input[1]].input[0]]
            whole |= {cast.output[0], source[cast.input[0]].output[0]}
    nodes = []
    for node in graph.graph.node:
        if node.output[0] in whole:
            nodes.append(helper.make_node("Identity", node.input, node.output))
            continue
        if node.op_type == "DynamicQuantizeLinear" and node.output[0] not in kept_inputs:
            nodes.append(helper.make_node("Identity", [node.input[0]], [node.output[0]]))
            nodes.append(helper.make_node("Constant", [], [node.output[1]], value=numpy_helper.from_array(np.float32(1))))
            continue
        if node.op_type in ("ConvInteger", "MatMulInteger") and not keep(node):
            values = numpy_helper.to_array(weights[node.input[1]]).astype(np.float32)
            zero = numpy_helper.to_array(weights[node.input[3]]).astype(np.float32) if len(node.input) > 3 else np.float32(0)
            shape = [-1] + [1] * (values.ndim - 1) if node.op_type == "ConvInteger" else [-1]
            name = node.input[1] + ".float"
            if name not in weights:
                weights[name] = numpy_helper.from_array(values - (zero.reshape(shape) if zero.ndim else zero), name)
                graph.graph.initializer.append(weights[name])
            made = helper.make_node(node.op_type.removesuffix("Integer"), [node.input[0], name], node.output, node.name)
            made.attribute.extend(node.attribute)
            nodes.append(made)
            continue
        nodes.append(node)
    del graph.graph.value_info[:]   # the types that were
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)
    return graph


def in_blocks(node: onnx.NodeProto) -> bool:
    return node.op_type == "ConvInteger" and any(block in node.name for block in BLOCKS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", type=pathlib.Path)
    parser.add_argument("every", type=int, nargs="?", default=1)
    args = parser.parse_args()
    wheels = kokoro.read_wheels()
    original = onnx.load_from_string(wheels.onnx)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1

    def session(keep):
        return onnxruntime.InferenceSession(dequantise(original, keep).SerializeToString(), options,
                                            providers=["CPUExecutionProvider"])

    sessions = [session(lambda node: False), session(in_blocks)]
    names = sorted(wheels.voices)
    distances = []
    for i, sentence in enumerate(args.sentences.read_text(encoding="utf-8").splitlines()):
        if i % args.every != 0:
            continue
        ids = kokoro_check.to_ids(sentence, wheels.vocabulary)
        feed = {"tokens": np.array([ids], np.int64), "speed": np.ones(1, np.float32),
                "style": wheels.voices[names[i % len(names)]][len(ids) - 3].reshape(1, -1).astype(np.float32)}
        exact, rounded = (log_mel(one.run(None, feed)[0].ravel()) for one in sessions)
        if exact.shape != rounded.shape:
            sys.exit(f"sentence {i}: {len(exact)} and {len(rounded)} frames")
        distances.append(np.abs(exact - rounded).mean())
        print(f"sentence {i}: {len(ids)} phonemes, {distances[-1]:.3f} dB", flush=True)
    print(f"mean of {len(distances)}: {np.mean(distances):.3f} dB")


if __name__ == "__main__":
    main()
