"""Reads the ONNX exports of Kokoro-82M that kokoro-onnx publishes, in float32 or int8, back into the weights of the PyTorch model, as float32.

Weight normalisation is folded in, so `conv.weight` stands for weight_g and weight_v. Zero points are shared between tensors,
so they are taken from the inputs of the node that uses them, never by name.
"""

import collections
import pathlib
import re

import numpy as np
from .kokoro_network import Weights
from .onnx_file import Node, read_graph
from .scaled_tensors import Scales

# What the weights' names do not tell, of kokoro-v1.0.
METADATA = {"albert_layers": "12", "albert_heads": "12", "upsample_strides": "10 6", "fft": "20 5",
            "block_dilations": "1 3 5;1 3 5;1 3 5"}


# The symbols of kokoro-v1.0, which its ONNX file does not have: the number of the first of those that follow each other.
_SYMBOLS = {1: ";:,.!?", 9: "—…\"()“” ̃ʣʥʦʨᵝꭧAI", 31: "O", 33: "Q", 35: "ST", 39: "W", 41: "Yᵊabcdef", 50: "hijklmnopqrstuvwxyzɑɐɒæ",
            75: "βɔɕç", 80: "ɖðʤə", 85: "ɚɛɜ", 90: "ɟ", 92: "ɡ", 99: "ɥ", 101: "ɨɪʝ", 110: "ɯɰŋɳɲɴø", 118: "ɸθœ", 123: "ɹ", 125: "ɾɻ",
            128: "ʁɽʂʃʈʧ", 135: "ʊʋ", 138: "ʌɣɤ", 142: "χʎ", 147: "ʒʔ", 156: "ˈˌː", 162: "ʰ", 164: "ʲ", 169: "↓", 171: "→↗↘", 177: "ᵻ"}
VOCABULARY = {symbol: first + i for first, symbols in _SYMBOLS.items() for i, symbol in enumerate(symbols)}


class Graph:
    """The graph's constants, and which nodes use them."""

    def __init__(self, path: pathlib.Path):
        graph = read_graph(path)
        self.nodes, self.constants = graph.nodes, graph.constants
        self._users = collections.defaultdict(list)
        self.scales: dict[str, tuple[np.ndarray, np.ndarray]] = {}   # by the name in KModel, as to_codes takes them
        for node in self.nodes:
            for name in node.input:
                self._users[name].append(node)

    def _zero_point(self, name: str) -> np.ndarray:
        for node in self._users[name]:
            if node.op_type in ("ConvInteger", "MatMulInteger") and len(node.input) > 3:
                return self.constants[node.input[3]]
            if node.op_type == "DequantizeLinear" and len(node.input) > 2:
                return self.constants[node.input[2]]
        return self.constants.get(name.replace("_quantized", "_zero_point"), np.zeros((), self.constants[name].dtype))

    def dequantized(self, name: str, axis: int, known_as: str) -> np.ndarray:
        """`axis` is the one that a scale or zero point of each channel runs along, `known_as` the name in KModel."""
        if not name.endswith("_quantized"):
            return self.constants[name].astype(np.float32)
        values = self.constants[name].astype(np.float32)
        shape = [1] * values.ndim
        shape[axis] = -1
        found = self.constants[name.replace("_quantized", "_scale")], self._zero_point(name)
        self.scales.setdefault(known_as, found)
        scale, zero = (np.asarray(a, np.float32).reshape(shape if a.ndim else ()) for a in found)
        return (values - zero) * scale


def _module(name: str) -> str:
    """'/encoder/text_encoder/cnn.0/cnn.0.0/Conv' or 'decoder.decoder.encode.conv1.bias' -> the name in KModel."""
    if name.startswith("/"):
        parts = name.strip("/").split("/")[:-1]
        name = ".".join(part for part, after in zip(parts, parts[1:] + [""]) if not after.startswith(part + "."))
    name = re.sub(r"^decoder\.decoder\.", "decoder.", name)
    name = re.sub(r"^encoder\.", "", name)
    return "predictor." + name if re.match(r"(F0|N|shared|F0_proj|N_proj)(\.|$)", name) else name


def _reorder(gates: np.ndarray) -> np.ndarray:
    """ONNX has input, output, forget, cell."""
    i, o, f, c = np.split(gates, 4)
    return np.concatenate([i, f, c, o])


def _biases(graph: Graph, constant: str, direction: int, name: str) -> Weights:
    suffix = "_reverse" if direction else ""
    parts = np.split(graph.constants[constant][direction], 2)
    return {f"{name}.bias_{kind}_l0{suffix}": _reorder(part) for kind, part in zip(("ih", "hh"), parts, strict=True)}


def _lstm(graph: Graph, node: Node, name: str) -> Weights:
    weights = {}
    for direction, suffix in enumerate(("", "_reverse")):
        for kind, constant in zip(("ih", "hh"), node.input[1:3], strict=True):
            weights[f"{name}.weight_{kind}_l0{suffix}"] = _reorder(graph.constants[constant][direction])
        weights |= _biases(graph, node.input[3], direction, name)
    return weights


def _quantized_lstm(graph: Graph, node: Node, name: str) -> Weights:
    def matrices(weight: str, scale: str, zero: str) -> np.ndarray:
        shape = (2, 1, -1)
        return ((graph.constants[weight].astype(np.float32) - graph.constants[zero].astype(np.float32).reshape(shape))
                * graph.constants[scale].reshape(shape))

    given = node.input
    inputs, hidden = matrices(given[1], given[8], given[9]), matrices(given[2], given[10], given[11])
    weights = {}
    for direction, suffix in enumerate(("", "_reverse")):
        for kind, scale, zero in (("ih", given[8], given[9]), ("hh", given[10], given[11])):
            found = (graph.constants[constant].reshape(2, -1)[direction] for constant in (scale, zero))
            graph.scales[f"{name}.weight_{kind}_l0{suffix}"] = tuple(_reorder(a) if a.size > 1 else a for a in found)
        weights[f"{name}.weight_ih_l0{suffix}"] = _reorder(inputs[direction].T)
        weights[f"{name}.weight_hh_l0{suffix}"] = _reorder(hidden[direction].T)
        weights |= _biases(graph, given[3], direction, name)
    return weights


def _snake(graph: Graph, node: Node, name: str) -> Weights:
    """The alphas, stored as their inverses; those before convs1 and convs2 alternate."""
    weights = {}
    for constant in node.input:
        found = re.search(r"Reciprocal(?:_(\d+))?_output", constant)
        if found and constant in graph.constants:
            number = int(found[1] or 0)
            weights[f"{name}.alpha{number % 2 + 1}.{number // 2}"] = 1 / graph.constants[constant]
    return weights


def _of_node(graph: Graph, node: Node) -> Weights:
    name = _module(node.name) if node.name else ""
    # ALBERT's one layer runs 12 times, under names of its own from the second time on.
    if re.search(r"albert_layers\.0\..*_\d+$", name):
        return {}
    if node.op_type == "DynamicQuantizeLSTM":
        return _quantized_lstm(graph, node, name)
    if node.op_type == "LSTM":
        return _lstm(graph, node, name)
    if node.op_type == "Mul":
        return _snake(graph, node, name)
    constant = node.input[1] if len(node.input) > 1 else ""
    if constant not in graph.constants:
        return {}
    if node.op_type in ("Conv", "ConvTranspose", "ConvInteger"):
        return {name + ".weight": graph.dequantized(constant, 0, name + ".weight")}
    if node.op_type in ("MatMul", "MatMulInteger"):
        return {name + ".weight": graph.dequantized(constant, 1, name + ".weight").T}
    return {}


def read_onnx(path: pathlib.Path) -> tuple[Weights, Scales]:
    """The weights, and the scales of those that are 8-bit integers in the file."""
    graph = Graph(path)
    weights = {}
    for name in graph.constants:
        if re.match(r"(encoder|decoder)\..*(?<!_scale)(?<!_zero_point)(?<!_shape)$", name):
            module = _module(name.removesuffix("_quantized"))
            value = graph.dequantized(name, 1, module)
            weights[module] = value.T if name.endswith(".fc.weight_quantized") else value
    for node in graph.nodes:
        for name, value in _of_node(graph, node).items():
            weights.setdefault(name, value)
    return {name: value for name, value in weights.items() if ".istft." not in name and ".stft." not in name}, graph.scales
