"""Reads a Piper voice's ONNX graph back into the weights of the checkpoint that it was exported from.

The exporter folds weight normalisation into constants with made-up names (onnx::Conv_8168), and a real parameter may carry
the name of an unused graph input. What survives is the path of the module in the node's name and in the bias's name.
"""

import math
import pathlib
import re

import numpy as np

from . import onnx_file
from .package import ConvertError, check_weights_of
from .vits_network import NetworkShape, Weights


_MOST_STRIDE, _MOST_HOP, _MOST_DILATION = 64, 65536, 4096


class Graph:
    """The graph's constants, and its convolutions by module path."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        graph = onnx_file.read_graph(path)
        self.constants, self.nodes, self.inputs = graph.constants, graph.nodes, set(graph.inputs)
        self.convolutions = {_module_path(n): n for n in self.nodes if n.op_type in ("Conv", "ConvTranspose")}

    def embedding(self, graph_input: str) -> np.ndarray:
        """The table that a graph input looks up."""
        for node in self.nodes:
            if node.op_type == "Gather" and node.input[1] == graph_input and node.input[0] in self.constants:
                return self.constants[node.input[0]]
        raise ConvertError(f"{self.path} is not a Piper VITS graph: nothing looks up the input '{graph_input}'")

    def attribute(self, module: str, name: str) -> int:
        return (self.convolutions[module].ints.get(name) or [1])[0]

    def numbers(self, pattern: str) -> list[int]:
        """The distinct numbers that the pattern's group matches in the paths of the convolutions, ascending."""
        matches = (re.fullmatch(pattern, path) for path in self.convolutions)
        return sorted({int(m[1]) for m in matches if m})


def _module_path(node: onnx_file.Node) -> str:
    if len(node.input) > 2 and node.input[2].endswith(".bias"):
        return node.input[2].removesuffix(".bias")
    if len(node.input) > 1 and node.input[1].endswith(".weight"):
        return node.input[1].removesuffix(".weight")
    return ".".join(node.name.strip("/").split("/")[:-1])


def _duration_scale(graph: Graph) -> np.ndarray:
    """The affine layer's logs; the exporter may have folded exp(-logs) into a constant."""
    if "dp.flows.0.logs" in graph.constants:
        return graph.constants["dp.flows.0.logs"]
    shifted = {out for n in graph.nodes if n.op_type == "Sub" and "dp.flows.0.m" in n.input for out in n.output}
    for node in graph.nodes:
        if node.op_type == "Mul" and shifted & set(node.input):
            for name in node.input:
                if name in graph.constants:
                    return -np.log(graph.constants[name])
    raise ConvertError(f"{graph.path}: no scale of dp.flows.0, the stochastic duration predictor's affine layer")


def _shape(graph: Graph) -> NetworkShape:
    blocks = []
    for block in graph.numbers(r"dec\.resblocks\.(\d+)\..*"):
        prefix = f"dec.resblocks.{block}"
        convs = "convs1" if f"{prefix}.convs1.0" in graph.convolutions else "convs"
        layers = graph.numbers(rf"dec\.resblocks\.{block}\.{convs}\.(\d+)")
        blocks.append([graph.attribute(f"{prefix}.{convs}.{layer}", "dilations") for layer in layers])
    shape = NetworkShape(
        upsample_strides=[graph.attribute(f"dec.ups.{i}", "strides") for i in graph.numbers(r"dec\.ups\.(\d+)")],
        flow_dilations=[graph.attribute(f"flow.flows.0.enc.in_layers.{i}", "dilations")
                        for i in graph.numbers(r"flow\.flows\.0\.enc\.in_layers\.(\d+)")],
        block_dilations=blocks,
    )
    _check_shape(graph, shape)
    return shape


def _check_shape(graph: Graph, shape: NetworkShape) -> None:
    """As models/vits/vits_weights.cc has it. Other numbers would also take any memory here."""
    if not shape.upsample_strides or any(not 1 <= stride <= _MOST_STRIDE for stride in shape.upsample_strides) or \
            math.prod(shape.upsample_strides) > _MOST_HOP:
        raise ConvertError(f"{graph.path}: its upsamplings are {shape.upsample_strides[:8]} times, allowed are 1..{_MOST_STRIDE}, "
                           f"{_MOST_HOP} together")
    if not shape.block_dilations or len(shape.block_dilations) % len(shape.upsample_strides):
        raise ConvertError(f"{graph.path}: has {len(shape.block_dilations)} residual blocks for {len(shape.upsample_strides)} upsamplings")
    for dilations in (shape.flow_dilations, *shape.block_dilations):
        if not dilations or any(not 1 <= dilation <= _MOST_DILATION for dilation in dilations):
            raise ConvertError(f"{graph.path}: has the dilations {dilations[:8]}, allowed are 1..{_MOST_DILATION}")


def read_voice(path: pathlib.Path) -> tuple[Weights, NetworkShape]:
    graph = Graph(path)
    for module in ("enc_p.proj", "dp.flows.7.pre", "flow.flows.6.pre", "dec.conv_pre", "dec.conv_post"):
        if module not in graph.convolutions:
            raise ConvertError(f"{path} is not the graph of a Piper voice: it has no convolution {module}")
    weights = {name: array for name, array in graph.constants.items()
               if re.search(r"\.(gamma|beta|emb_rel_[kv]|m)$", name)}
    for module, node in graph.convolutions.items():
        for part, name in zip(("weight", "bias"), node.input[1:]):
            if name not in graph.constants:
                raise ConvertError(f"{path}: the {part} of {module} is not a constant")
            weights[f"{module}.{part}"] = graph.constants[name]
    weights["enc_p.emb.weight"] = graph.embedding("input")
    weights["dp.flows.0.logs"] = _duration_scale(graph)
    if "sid" in graph.inputs:
        weights["emb_g.weight"] = graph.embedding("sid")
    for name, array in weights.items():
        check_weights_of(array, f"{path}: {name}")
    return {name: np.ascontiguousarray(array, np.float32) for name, array in weights.items()}, _shape(graph)
