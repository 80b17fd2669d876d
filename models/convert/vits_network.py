"""The inference graph of Piper's VITS in numpy: what a conversion is checked with, and the reference for the C++ code.

One sentence at a time, so no masks are needed. Arrays are [channels, time]. Weights go by the names of Piper's checkpoints
(enc_p.emb.weight, dec.ups.0.bias), with weight normalisation folded in.
"""

import dataclasses
import math

import numpy as np

Array = np.ndarray
Weights = dict[str, Array]

_TAIL_BOUND = 5.0       # of the duration predictor's splines
_SMALLEST_BIN = 1e-3
_BLOCK = 4096           # columns of a convolution at once


@dataclasses.dataclass
class NetworkShape:
    """What the shapes of the weights do not tell."""

    upsample_strides: list[int]
    flow_dilations: list[int]             # of the layers of one coupling layer
    block_dilations: list[list[int]]      # of each residual block, all stages in order


def count(weights: Weights, pattern: str) -> int:
    """How many numbers from 0 exist for the {} in a weight's name."""
    number = 0
    while pattern.format(number) in weights:
        number += 1
    return number


def convolve(x: Array, weight: Array, bias: Array | None, dilation: int = 1, slope: float = 1.0) -> Array:
    """1-d convolution with zero padding that keeps the length. slope: of a leaky rectifier before it."""
    kernel = weight.shape[2]
    span = (kernel - 1) * dilation
    length = x.shape[1]
    columns = [np.ascontiguousarray(weight[:, :, k]) for k in range(kernel)]
    y = np.empty((weight.shape[0], length), np.float32)
    # In blocks, so that what is between them takes little memory and stays in the processor's cache.
    for begin in range(0, length, _BLOCK):
        block = y[:, begin : begin + _BLOCK]
        width = block.shape[1]
        first, last = begin - span // 2, begin + width + span - span // 2
        part = x[:, max(first, 0) : last]
        if slope != 1:
            part = leaky_relu(part, slope)
        if first < 0 or last > length:
            part = np.pad(part, [(0, 0), (max(-first, 0), max(last - length, 0))])
        np.matmul(columns[0], part[:, :width], out=block)
        for k in range(1, kernel):
            block += columns[k] @ part[:, k * dilation : k * dilation + width]
        if bias is not None:
            block += bias[:, None]
    return y


def convolve_depthwise(x: Array, weight: Array, bias: Array, dilation: int) -> Array:
    kernel = weight.shape[2]
    span = (kernel - 1) * dilation
    length = x.shape[1]
    padded = np.pad(x, [(0, 0), (span // 2, span - span // 2)])
    y = sum(weight[:, :, k] * padded[:, k * dilation : k * dilation + length] for k in range(kernel))
    return y + bias[:, None]


def upsample(x: Array, weight: Array, bias: Array, stride: int) -> Array:
    """Transposed convolution, cropped to stride times the length."""
    kernel = weight.shape[2]
    length = x.shape[1]
    full = np.zeros((weight.shape[1], (length - 1) * stride + kernel), np.float32)
    for k in range(kernel):
        full[:, k : k + (length - 1) * stride + 1 : stride] += weight[:, :, k].T @ x
    crop = (kernel - stride) // 2
    full += bias[:, None]
    return full[:, crop : crop + length * stride]


def leaky_relu(x: Array, slope: float) -> Array:
    scaled = x * np.float32(slope)
    return np.maximum(x, scaled, out=scaled)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def gelu(x: Array) -> Array:
    erf = np.array([math.erf(v) for v in (x / math.sqrt(2)).ravel()], np.float32).reshape(x.shape)
    return x * (1 + erf) / 2


def inverse_spline(y: Array, widths: Array, heights: Array, slopes: Array) -> Array:
    """Inverse of the monotonic rational-quadratic spline on [-5, 5], the identity outside (Durkan et al., 2019).

    y [N]; widths and heights [N, bins] and slopes [N, bins - 1] before their activations.
    """
    bins = widths.shape[1]

    def knots(sizes: Array) -> Array:
        sizes = _SMALLEST_BIN + (1 - _SMALLEST_BIN * bins) * softmax(sizes)
        return np.pad(np.cumsum(sizes, axis=1), [(0, 0), (1, 0)]) * (2 * _TAIL_BOUND) - _TAIL_BOUND

    left, bottom = knots(widths), knots(heights)
    # The slope is 1 at both ends, where the identity takes over.
    slopes = np.pad(_SMALLEST_BIN + np.logaddexp(0, slopes), [(0, 0), (1, 1)], constant_values=1)
    inside = np.abs(y) <= _TAIL_BOUND
    target = np.where(inside, y, 0)
    row = np.arange(len(y))
    found = np.clip((target[:, None] >= bottom).sum(axis=1) - 1, 0, bins - 1)

    width = left[row, found + 1] - left[row, found]
    height = bottom[row, found + 1] - bottom[row, found]
    slope0, slope1, delta = slopes[row, found], slopes[row, found + 1], height / width
    offset = target - bottom[row, found]
    curvature = slope0 + slope1 - 2 * delta
    a = offset * curvature + height * (delta - slope0)
    b = height * slope0 - offset * curvature
    c = -delta * offset
    root = 2 * c / (-b - np.sqrt(b * b - 4 * a * c))
    return np.where(inside, root * width + left[row, found], y).astype(np.float32)


class Network:
    def __init__(self, weights: Weights, shape: NetworkShape):
        self.weights = weights
        self.shape = shape
        self.latent = weights["enc_p.proj.weight"].shape[0] // 2
        self.hop = math.prod(shape.upsample_strides)

    def encode(self, phonemes: Array, noise: Array, noise_w: float, length_scale: float,
               speaker: int = 0) -> tuple[Array, Array]:
        """Mean and log deviation of each phoneme's latent [2 C, T], and its frames [T]. Noise [2, T]."""
        weights = self.weights
        hidden = weights["enc_p.emb.weight"].shape[1]
        x = weights["enc_p.emb.weight"][phonemes].T * np.float32(math.sqrt(hidden))
        for layer in range(count(weights, "enc_p.encoder.attn_layers.{}.conv_q.weight")):
            x = self._norm(f"enc_p.encoder.norm_layers_1.{layer}", x + self._attend(layer, x))
            inner = np.maximum(self._convolve(f"enc_p.encoder.ffn_layers.{layer}.conv_1", x), 0)
            x = self._norm(f"enc_p.encoder.norm_layers_2.{layer}",
                           x + self._convolve(f"enc_p.encoder.ffn_layers.{layer}.conv_2", inner))
        log_frames = self._durations(x, noise * np.float32(noise_w), speaker)
        frames = np.ceil(np.exp(log_frames) * np.float32(length_scale)).astype(np.int64)
        return self._convolve("enc_p.proj", x), frames

    def decode(self, statistics: Array, frames: Array, noise: Array, noise_scale: float, speaker: int = 0) -> Array:
        """Samples [sum(frames) * hop]. Noise [C, sum(frames)]."""
        expanded = np.repeat(statistics, frames, axis=1)
        z = expanded[: self.latent] + noise * np.exp(expanded[self.latent :]) * np.float32(noise_scale)
        return self._generate(self._flow(z, speaker), speaker)

    def _convolve(self, name: str, x: Array, dilation: int = 1, slope: float = 1.0) -> Array:
        return convolve(x, self.weights[f"{name}.weight"], self.weights.get(f"{name}.bias"), dilation, slope)

    def _speak_as(self, name: str, speaker: int) -> Array | float:
        """What a speaker adds at a layer; 0 for a voice of one speaker."""
        if "emb_g.weight" not in self.weights:
            return 0.0
        return self._convolve(name, self.weights["emb_g.weight"][speaker][:, None])

    def _norm(self, name: str, x: Array) -> Array:
        centred = x - x.mean(axis=0)
        scaled = centred / np.sqrt((centred**2).mean(axis=0) + np.float32(1e-5))
        return scaled * self.weights[f"{name}.gamma"][:, None] + self.weights[f"{name}.beta"][:, None]

    def _attend(self, layer: int, x: Array) -> Array:
        """Self-attention with learned embeddings of the distance, as far as the window reaches."""
        name = f"enc_p.encoder.attn_layers.{layer}"
        relative_k, relative_v = self.weights[f"{name}.emb_rel_k"][0], self.weights[f"{name}.emb_rel_v"][0]
        positions, channels = relative_k.shape
        length, window = x.shape[1], (positions - 1) // 2
        heads = x.shape[0] // channels
        query, key, value = (self._convolve(f"{name}.conv_{part}", x).reshape(heads, channels, length) for part in "qkv")
        query = query / np.float32(math.sqrt(channels))
        scores = query.transpose(0, 2, 1) @ key
        near = query.transpose(0, 2, 1) @ relative_k.T
        distances = range(max(-window, 1 - length), min(window, length - 1) + 1)
        for distance in distances:
            rows = np.arange(max(0, -distance), min(length, length - distance))
            scores[:, rows, rows + distance] += near[:, rows, distance + window]
        attention = softmax(scores)
        output = attention @ value.transpose(0, 2, 1)
        for distance in distances:
            rows = np.arange(max(0, -distance), min(length, length - distance))
            output[:, rows] += attention[:, rows, rows + distance][:, :, None] * relative_v[distance + window]
        return self._convolve(f"{name}.conv_o", output.transpose(0, 2, 1).reshape(x.shape))

    def _separable(self, name: str, x: Array) -> Array:
        for layer in range(count(self.weights, name + ".convs_sep.{}.weight")):
            weight = self.weights[f"{name}.convs_sep.{layer}.weight"]
            y = convolve_depthwise(x, weight, self.weights[f"{name}.convs_sep.{layer}.bias"], weight.shape[2] ** layer)
            y = gelu(self._norm(f"{name}.norms_1.{layer}", y))
            y = self._convolve(f"{name}.convs_1x1.{layer}", y)
            x = x + gelu(self._norm(f"{name}.norms_2.{layer}", y))
        return x

    def _durations(self, x: Array, z: Array, speaker: int) -> Array:
        """The stochastic duration predictor, run backwards: noise to the log of each phoneme's frames."""
        x = self._convolve("dp.pre", x) + self._speak_as("dp.cond", speaker)
        x = self._convolve("dp.proj", self._separable("dp.convs", x))
        scale = np.float32(1 / math.sqrt(x.shape[0]))
        # flows.1 is unused at inference; the layers between are exchanges of the two halves.
        for flow in (7, 5, 3):
            z = z[::-1]
            h = self._separable(f"dp.flows.{flow}.convs", self._convolve(f"dp.flows.{flow}.pre", z[:1]) + x)
            h = self._convolve(f"dp.flows.{flow}.proj", h).T
            bins = (h.shape[1] + 1) // 3
            changed = inverse_spline(z[1], h[:, :bins] * scale, h[:, bins : 2 * bins] * scale, h[:, 2 * bins :])
            z = np.stack([z[0], changed])
        z = (z[::-1] - self.weights["dp.flows.0.m"]) * np.exp(-self.weights["dp.flows.0.logs"])
        return z[0]

    def _flow(self, z: Array, speaker: int) -> Array:
        half = self.latent // 2
        for flow in (6, 4, 2, 0):
            name = f"flow.flows.{flow}"
            z = z[::-1]
            x = self._convolve(f"{name}.pre", z[:half])
            hidden = x.shape[0]
            condition = self._speak_as(f"{name}.enc.cond_layer", speaker)
            skipped = np.zeros_like(x)
            for layer, dilation in enumerate(self.shape.flow_dilations):
                gates = self._convolve(f"{name}.enc.in_layers.{layer}", x, dilation)
                if not isinstance(condition, float):
                    gates = gates + condition[2 * hidden * layer : 2 * hidden * (layer + 1)]
                y = np.tanh(gates[:hidden]) * sigmoid(gates[hidden:])
                y = self._convolve(f"{name}.enc.res_skip_layers.{layer}", y)
                if y.shape[0] == 2 * hidden:   # the last layer has no residual part
                    x = x + y[:hidden]
                skipped = skipped + y[-hidden:]
            z = np.concatenate([z[:half], z[half:] - self._convolve(f"{name}.post", skipped)])
        return z

    def _generate(self, z: Array, speaker: int) -> Array:
        x = self._convolve("dec.conv_pre", z) + self._speak_as("dec.cond", speaker)
        per_stage = len(self.shape.block_dilations) // len(self.shape.upsample_strides)
        for stage, stride in enumerate(self.shape.upsample_strides):
            name = f"dec.ups.{stage}"
            x = upsample(leaky_relu(x, 0.1), self.weights[f"{name}.weight"], self.weights[f"{name}.bias"], stride)
            blocks = range(stage * per_stage, (stage + 1) * per_stage)
            total = self._residual_block(blocks[0], x)
            for block in blocks[1:]:
                total += self._residual_block(block, x)
            total /= np.float32(per_stage)
            x = total
        return np.tanh(self._convolve("dec.conv_post", x, slope=0.01))[0]

    def _residual_block(self, block: int, x: Array) -> Array:
        name = f"dec.resblocks.{block}"
        paired = f"{name}.convs1.0.weight" in self.weights
        for layer, dilation in enumerate(self.shape.block_dilations[block]):
            if paired:
                y = self._convolve(f"{name}.convs1.{layer}", x, dilation, slope=0.1)
                y = self._convolve(f"{name}.convs2.{layer}", y, slope=0.1)
            else:
                y = self._convolve(f"{name}.convs.{layer}", x, dilation, slope=0.1)
            y += x
            x = y
        return x
