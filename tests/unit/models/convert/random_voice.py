"""Piper voices of random weights: the graph as Piper's exporter writes it, in the shapes that are published.

What can be told of a module by its nodes is as in published files: weights that were normalised have lost their names, biases have theirs.
"""

import dataclasses
import json
import math
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WINDOW, BINS, EDGE = 4, 10, 5.0   # of the attention; of the splines, which are the identity beyond the edge
SPEAKER_CHANNELS = 512


@dataclasses.dataclass(frozen=True)
class Quality:
    sample_rate: int
    hidden: int
    filter: int
    initial: int              # channels before the first upsampling
    rates: tuple[int, ...]
    kernels: tuple[int, ...]  # of the upsamplings
    block_kernels: tuple[int, ...]
    dilations: tuple[tuple[int, ...], ...]
    paired: bool              # ResBlock 1


_SMALL = {"initial": 256, "rates": (8, 8, 4), "kernels": (16, 16, 8), "block_kernels": (3, 5, 7), "dilations": ((1, 2), (2, 6), (3, 12)),
          "paired": False}
QUALITIES = {
    "x_low": Quality(16000, 96, 384, **_SMALL),
    "low": Quality(16000, 192, 768, **_SMALL),
    "medium": Quality(22050, 192, 768, **_SMALL),
    "high": Quality(22050, 192, 768, 512, (8, 8, 2, 2), (16, 16, 4, 4), (3, 7, 11), ((1, 3, 5),) * 3, True),
}


class _Graph:
    def __init__(self, seed: int):
        self.nodes, self.constants, self.folded = [], [], 0
        self.random = np.random.default_rng(seed)

    def op(self, kind: str, *inputs: str, name: str = "", outputs: int = 1, **attributes):
        made = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), made, name=name or f"/{kind}_{len(self.nodes)}", **attributes))
        return made[0] if outputs == 1 else made

    def const(self, array, name: str = "") -> str:
        name = name or f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def number(self, value: float) -> str:
        return self.const(np.float32(value))

    def weights(self, *shape: int, gain: float = 1.0) -> np.ndarray:
        scale = gain / math.sqrt(math.prod(shape[1:]))
        return self.random.standard_normal(shape, np.float32) * np.float32(scale)

    def conv(self, module: str, x: str, shape: tuple[int, int, int], *, dilation: int = 1, normalised: bool = False, group: int = 1,
             stride: int | None = None, bias: bool = True, gain: float = 1.0) -> str:
        weight = self.weights(*shape, gain=gain)
        if normalised:
            self.folded += 1
        inputs = [x, self.const(weight, f"onnx::Conv_{8000 + self.folded}" if normalised else f"{module}.weight")]
        if bias:
            channels = shape[0] if stride is None else shape[1]
            inputs.append(self.const(self.random.standard_normal(channels, np.float32) * np.float32(0.1), f"{module}.bias"))
        kernel = shape[2]
        pad = (kernel - 1) * dilation // 2 if stride is None else (kernel - stride) // 2
        kind = "Conv" if stride is None else "ConvTranspose"
        return self.op(kind, *inputs, name=f"/{module.replace('.', '/')}/{kind}", dilations=[dilation], group=group, kernel_shape=[kernel],
                       pads=[pad, pad], strides=[stride or 1])

    def slice(self, x: str, axis: int, begin: int, end: int) -> str:
        return self.op("Slice", x, *(self.const(np.array([n], np.int64)) for n in (begin, end, axis)))

    def reshape(self, x: str, *shape: int) -> str:
        return self.op("Reshape", x, self.const(np.array(shape, np.int64)))

    def norm(self, module: str, x: str, channels: int) -> str:
        centred = self.op("Sub", x, self.op("ReduceMean", x, axes=[1]))
        variance = self.op("ReduceMean", self.op("Mul", centred, centred), axes=[1])
        scaled = self.op("Div", centred, self.op("Sqrt", self.op("Add", variance, self.number(1e-5))))
        gamma = self.const(1 + self.weights(channels, gain=0.1), f"{module}.gamma")
        beta = self.const(self.weights(channels, gain=0.1), f"{module}.beta")
        return self.op("Add", self.op("Mul", scaled, self.reshape(gamma, 1, channels, 1)), self.reshape(beta, 1, channels, 1))

    def length(self, x: str, axis: int) -> str:
        return self.op("Gather", self.op("Shape", x), self.const(np.int64(axis)), axis=0)

    def flip(self, x: str) -> str:
        """The channels in reverse order."""
        return self.op("Slice", x, *(self.const(np.array([n], np.int64)) for n in (-1, -(1 << 31), 1, -1)))


def _attend(g: _Graph, module: str, x: str, hidden: int) -> str:
    heads, channels = 2, hidden // 2
    q, k, v = (g.reshape(g.conv(f"{module}.conv_{part}", x, (hidden, hidden, 1)), heads, channels, -1) for part in "qkv")
    q = g.op("Transpose", g.op("Div", q, g.number(math.sqrt(channels))), perm=[0, 2, 1])
    relative = [g.reshape(g.const(g.weights(1, 2 * WINDOW + 1, channels, gain=3), f"{module}.emb_rel_{part}"), 2 * WINDOW + 1, channels) for part in "kv"]
    places = g.op("Range", g.const(np.int64(0)), g.length(x, 2), g.const(np.int64(1)))
    distance = g.op("Sub", g.op("Unsqueeze", places, g.const(np.array([0]))), g.op("Unsqueeze", places, g.const(np.array([1]))))
    near = g.op("Cast", g.op("LessOrEqual", g.op("Abs", distance), g.const(np.int64(WINDOW))), to=TensorProto.FLOAT)
    index = g.op("Add", g.op("Clip", distance, g.const(np.int64(-WINDOW)), g.const(np.int64(WINDOW))), g.const(np.int64(WINDOW)))
    chosen = g.op("OneHot", index, g.const(np.array([2 * WINDOW + 1])), g.const(np.array([0, 1], np.float32)))
    chosen = g.op("Mul", chosen, g.op("Unsqueeze", near, g.const(np.array([2]))))
    keys = g.op("MatMul", q, g.op("Transpose", relative[0], perm=[1, 0]))
    scores = g.op("Add", g.op("MatMul", q, k), g.op("Einsum", keys, chosen, equation="htd,tjd->htj"))
    attention = g.op("Softmax", scores, axis=-1)
    values = g.op("MatMul", g.op("Einsum", attention, chosen, equation="htj,tjd->htd"), relative[1])
    out = g.op("Add", g.op("MatMul", attention, g.op("Transpose", v, perm=[0, 2, 1])), values)
    return g.conv(f"{module}.conv_o", g.reshape(g.op("Transpose", out, perm=[0, 2, 1]), 1, hidden, -1), (hidden, hidden, 1))


def _gelu(g: _Graph, x: str) -> str:
    erf = g.op("Erf", g.op("Div", x, g.number(math.sqrt(2))))
    return g.op("Mul", g.op("Mul", x, g.op("Add", erf, g.number(1))), g.number(0.5))


def _separable(g: _Graph, module: str, x: str, channels: int) -> str:
    for layer in range(3):
        y = g.conv(f"{module}.convs_sep.{layer}", x, (channels, 1, 3), dilation=3**layer, group=channels)
        y = _gelu(g, g.norm(f"{module}.norms_1.{layer}", y, channels))
        y = g.norm(f"{module}.norms_2.{layer}", g.conv(f"{module}.convs_1x1.{layer}", y, (channels, channels, 1)), channels)
        x = g.op("Add", x, _gelu(g, y))
    return x


def _spline(g: _Graph, y: str, h: str) -> str:
    """y [1, 1, T], h [1, 3 bins - 1, T]."""
    h = g.op("Transpose", g.op("Squeeze", h, g.const(np.array([0]))), perm=[1, 0])
    y = g.reshape(y, -1, 1)

    def column(value: float) -> str:
        return g.op("Add", g.op("Mul", g.slice(h, 1, 0, 1), g.number(0)), g.number(value))

    def knots(sizes: str) -> str:
        sizes = g.op("Add", g.op("Mul", g.op("Softmax", sizes, axis=-1), g.number(1 - 1e-3 * BINS)), g.number(1e-3))
        sums = g.op("Concat", column(0), g.op("CumSum", sizes, g.const(np.int64(1))), axis=1)
        return g.op("Sub", g.op("Mul", sums, g.number(2 * EDGE)), g.number(EDGE))

    left, bottom = knots(g.slice(h, 1, 0, BINS)), knots(g.slice(h, 1, BINS, 2 * BINS))
    slopes = g.op("Concat", column(1), g.op("Add", g.op("Softplus", g.slice(h, 1, 2 * BINS, 3 * BINS - 1)), g.number(1e-3)), column(1), axis=1)
    inside = g.op("LessOrEqual", g.op("Abs", y), g.number(EDGE))
    target = g.op("Where", inside, y, g.number(0))
    reached = g.op("Cast", g.op("GreaterOrEqual", target, bottom), to=TensorProto.INT64)
    found = g.op("Sub", g.op("ReduceSum", reached, g.const(np.array([1]))), g.const(np.int64(1)))
    found = g.op("Clip", found, g.const(np.int64(0)), g.const(np.int64(BINS - 1)))
    after = g.op("Add", found, g.const(np.int64(1)))

    def at(table: str, index: str) -> str:
        return g.op("GatherElements", table, index, axis=1)

    width, height = (g.op("Sub", at(table, after), at(table, found)) for table in (left, bottom))
    first, last, mean = at(slopes, found), at(slopes, after), g.op("Div", height, width)
    offset = g.op("Sub", target, at(bottom, found))
    curve = g.op("Mul", offset, g.op("Sub", g.op("Add", first, last), g.op("Mul", mean, g.number(2))))
    a = g.op("Add", curve, g.op("Mul", height, g.op("Sub", mean, first)))
    b = g.op("Sub", g.op("Mul", height, first), curve)
    c = g.op("Neg", g.op("Mul", mean, offset))
    root = g.op("Sqrt", g.op("Sub", g.op("Mul", b, b), g.op("Mul", g.op("Mul", a, c), g.number(4))))
    share = g.op("Div", g.op("Mul", c, g.number(2)), g.op("Sub", g.op("Neg", b), root))
    return g.reshape(g.op("Where", inside, g.op("Add", g.op("Mul", share, width), at(left, found)), y), 1, 1, -1)


def _noise(g: _Graph, like: str, scale: str) -> str:
    return g.op("Mul", g.op("RandomNormalLike", like, dtype=TensorProto.FLOAT), scale)


def _frames(g: _Graph, x: str, speaker: str | None, hidden: int, scale: str) -> str:
    x = g.conv("dp.pre", x, (hidden, hidden, 1))
    if speaker:
        x = g.op("Add", x, g.conv("dp.cond", speaker, (hidden, SPEAKER_CHANNELS, 1)))
    x = g.conv("dp.proj", _separable(g, "dp.convs", x, hidden), (hidden, hidden, 1))
    z = _noise(g, g.slice(x, 1, 0, 2), scale)
    for flow in (7, 5, 3):
        kept, changed = g.op("Split", g.flip(z), axis=1, outputs=2)
        module = f"dp.flows.{flow}"
        h = _separable(g, f"{module}.convs", g.op("Add", g.conv(f"{module}.pre", kept, (hidden, 1, 1)), x), hidden)
        h = g.conv(f"{module}.proj", h, (3 * BINS - 1, hidden, 1))
        # Of the sizes, not of the slopes.
        by = np.ones((1, 3 * BINS - 1, 1), np.float32)
        by[:, : 2 * BINS] /= math.sqrt(hidden)
        z = g.op("Concat", kept, _spline(g, changed, g.op("Mul", h, g.const(by))), axis=1)
    # About three frames a phoneme.
    shift = g.const(np.array([[-1.0], [0.2]], np.float32), "dp.flows.0.m")
    factor = np.exp(-np.array([[0.1], [-0.2]], np.float32))   # as the exporter folds logs
    z = g.op("Mul", g.op("Sub", g.flip(z), shift), g.const(factor))
    return g.reshape(g.slice(z, 1, 0, 1), -1)


def _flow(g: _Graph, z: str, speaker: str | None, hidden: int) -> str:
    half, layers = hidden // 2, 4
    for flow in (6, 4, 2, 0):
        module = f"flow.flows.{flow}"
        kept, changed = g.op("Split", g.flip(z), axis=1, outputs=2)
        x = g.conv(f"{module}.pre", kept, (hidden, half, 1))
        added = speaker and g.conv(f"{module}.enc.cond_layer", speaker, (2 * hidden * layers, SPEAKER_CHANNELS, 1), normalised=True)
        skipped = None
        for layer in range(layers):
            last = layer == layers - 1
            gates = g.conv(f"{module}.enc.in_layers.{layer}", x, (2 * hidden, hidden, 5), normalised=True)
            if added:
                gates = g.op("Add", gates, g.slice(added, 1, 2 * hidden * layer, 2 * hidden * (layer + 1)))
            tanh, gate = g.op("Split", gates, axis=1, outputs=2)
            y = g.op("Mul", g.op("Tanh", tanh), g.op("Sigmoid", gate))
            y = g.conv(f"{module}.enc.res_skip_layers.{layer}", y, (hidden if last else 2 * hidden, hidden, 1), normalised=True)
            skip = y
            if not last:
                residual, skip = g.op("Split", y, axis=1, outputs=2)
                x = g.op("Add", x, residual)
            skipped = g.op("Add", skipped, skip) if skipped else skip
        z = g.op("Concat", kept, g.op("Sub", changed, g.conv(f"{module}.post", skipped, (half, hidden, 1), gain=0.3)), axis=1)
    return z


def _generate(g: _Graph, z: str, speaker: str | None, quality: Quality) -> str:
    channels = quality.initial
    x = g.conv("dec.conv_pre", z, (channels, quality.hidden, 7))
    if speaker:
        x = g.op("Add", x, g.conv("dec.cond", speaker, (channels, SPEAKER_CHANNELS, 1)))
    block = 0
    for stage, (rate, kernel) in enumerate(zip(quality.rates, quality.kernels)):
        x = g.op("LeakyRelu", x, alpha=0.1)
        x = g.conv(f"dec.ups.{stage}", x, (channels, channels // 2, kernel), stride=rate, normalised=True, gain=math.sqrt(rate))
        channels //= 2
        total = None
        for size, dilations in zip(quality.block_kernels, quality.dilations):
            y, module = x, f"dec.resblocks.{block}"
            block += 1
            for layer, dilation in enumerate(dilations):
                inner = g.op("LeakyRelu", y, alpha=0.1)
                shape = (channels, channels, size)
                if quality.paired:
                    inner = g.conv(f"{module}.convs1.{layer}", inner, shape, dilation=dilation, normalised=True)
                    inner = g.conv(f"{module}.convs2.{layer}", g.op("LeakyRelu", inner, alpha=0.1), shape, normalised=True, gain=0.5)
                else:
                    inner = g.conv(f"{module}.convs.{layer}", inner, shape, dilation=dilation, normalised=True, gain=0.5)
                y = g.op("Add", inner, y)
            total = g.op("Add", total, y) if total else y
        x = g.op("Div", total, g.number(len(quality.block_kernels)))
    x = g.conv("dec.conv_post", g.op("LeakyRelu", x, alpha=0.01), (1, channels, 7), bias=False)
    return g.op("Tanh", x)


def network(quality: Quality, speakers: int = 1, symbols: int = 64, layers: int = 2, seed: int = 0) -> onnx.ModelProto:
    """layers: of the encoder, which has six in published voices."""
    g, hidden = _Graph(seed), quality.hidden
    inputs = [helper.make_tensor_value_info("input", TensorProto.INT64, ["batch", "phonemes"]),
              helper.make_tensor_value_info("input_lengths", TensorProto.INT64, ["batch"]),
              helper.make_tensor_value_info("scales", TensorProto.FLOAT, [3])]
    speaker = None
    if speakers > 1:
        inputs.append(helper.make_tensor_value_info("sid", TensorProto.INT64, ["batch"]))
        table = g.const(g.random.standard_normal((speakers, SPEAKER_CHANNELS), np.float32), "emb_g.weight")
        speaker = g.op("Unsqueeze", g.op("Gather", table, "sid"), g.const(np.array([2])))
    noise_scale, length_scale, noise_w = (g.slice("scales", 0, i, i + 1) for i in range(3))
    table = g.const(g.weights(symbols, hidden), "enc_p.emb.weight")
    x = g.op("Mul", g.op("Gather", table, "input"), g.number(math.sqrt(hidden)))
    x = g.op("Transpose", x, perm=[0, 2, 1])
    for layer in range(layers):
        module = "enc_p.encoder"
        x = g.norm(f"{module}.norm_layers_1.{layer}", g.op("Add", x, _attend(g, f"{module}.attn_layers.{layer}", x, hidden)), hidden)
        y = g.op("Relu", g.conv(f"{module}.ffn_layers.{layer}.conv_1", x, (quality.filter, hidden, 3)))
        y = g.conv(f"{module}.ffn_layers.{layer}.conv_2", y, (hidden, quality.filter, 3))
        x = g.norm(f"{module}.norm_layers_2.{layer}", g.op("Add", x, y), hidden)
    statistics = g.conv("enc_p.proj", x, (2 * hidden, hidden, 1))
    frames = g.op("Ceil", g.op("Mul", g.op("Exp", _frames(g, x, speaker, hidden, noise_w)), length_scale))
    ends = g.op("CumSum", frames, g.const(np.int64(0)))
    all_frames = g.op("ReduceSum", frames, g.const(np.array([0])), keepdims=0)
    places = g.op("Range", g.number(0), all_frames, g.number(1))
    ends, begins = (g.op("Unsqueeze", name, g.const(np.array([1]))) for name in (ends, g.op("Sub", ends, frames)))
    path = g.op("And", g.op("Less", places, ends), g.op("GreaterOrEqual", places, begins))
    mean, deviation = g.op("Split", g.op("MatMul", statistics, g.op("Cast", path, to=TensorProto.FLOAT)), axis=1, outputs=2)
    z = g.op("Add", mean, g.op("Mul", _noise(g, mean, noise_scale), g.op("Exp", deviation)))
    sound = _generate(g, _flow(g, z, speaker, hidden), speaker, quality)
    g.nodes.append(helper.make_node("Unsqueeze", [sound, g.const(np.array([1]))], ["output"], name="/Unsqueeze"))
    output = helper.make_tensor_value_info("output", TensorProto.FLOAT, ["batch", 1, 1, "time"])
    graph = helper.make_graph(g.nodes, "voice", inputs, [output], g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)


def settings(quality: Quality, speakers: int = 1, letters: str = "abcdefghijklmnopqrstuvwxyz", **changes) -> dict:
    """The JSON file of a voice that reads letters."""
    symbols = "_^$ !',.?" + letters
    return {"audio": {"sample_rate": quality.sample_rate, "quality": "x_low"}, "espeak": {"voice": "en-us"},
            "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8}, "phoneme_type": "text", "phoneme_map": {},
            "phoneme_id_map": {symbol: [number] for number, symbol in enumerate(symbols)}, "num_symbols": 64, "num_speakers": speakers,
            "speaker_id_map": {f"p{i}": i for i in range(speakers)} if speakers > 1 else {}, "piper_version": "1.0.0",
            "language": {"code": "en_US"}, "dataset": "random"} | changes


def write(path: pathlib.Path, quality: str = "x_low", speakers: int = 1, **changes) -> pathlib.Path:
    """Writes both files; changes: of the settings."""
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(network(QUALITIES[quality], speakers), str(path))
    path.with_name(path.name + ".json").write_text(json.dumps(settings(QUALITIES[quality], speakers, **changes)), encoding="utf-8")
    return path
