"""Whether a server can load the weights of Kokoro: the layers that models/kokoro/ builds, in its order, and how their shapes depend on each other."""

import math

from .kokoro_network import Weights
from .package import ConvertError

ANY = -1
_NOISE_LAYERS = 3   # of a residual block for the source, with the dilations 1, 3 and 5
_END_MARKS = 2
_MOST_SAMPLES = 65536   # of one value of the pitch


class _Shapes:
    """Each method checks one kind of layer, as models/kokoro/kokoro_layers.cc takes it, and returns what follows from its shape."""

    def __init__(self, weights: Weights, source: str):
        self._weights, self._source = weights, source

    def refuse(self, name: str, what: str) -> None:
        raise ConvertError(f"{self._source}: {name} {what}")

    def take(self, name: str, *shape: int) -> tuple[int, ...]:
        if name not in self._weights:
            self.refuse(name, "is missing")
        found = self._weights[name].shape
        if len(found) != len(shape) or any(size != wanted if wanted >= 0 else size < 1 for size, wanted in zip(found, shape)):
            self.refuse(name, f"has the shape {list(found)}, expected {list(shape)}" + (f", {ANY} being any size" if ANY in shape else ""))
        return found

    def has(self, name: str) -> bool:
        return name in self._weights

    def count(self, prefix: str) -> int:
        """The number of layers, at least one, so that the first tensor that one lacks is named."""
        number = 1
        while any(name.startswith(f"{prefix}{number}.") for name in self._weights):
            number += 1
        return number

    def linear(self, name: str, out: int, inputs: int) -> tuple[int, int]:
        found = self.take(name + ".weight", out, inputs)
        self.take(name + ".bias", found[0])
        return found

    def norm(self, name: str, channels: int, weight: str = "weight", bias: str = "bias") -> None:
        self.take(f"{name}.{weight}", channels)
        self.take(f"{name}.{bias}", channels)

    def conv(self, name: str, out: int, inputs: int, taps: int = ANY) -> tuple[int, int]:
        """Returns the numbers of channels."""
        found = self.take(name + ".weight", out, inputs, taps)
        if self.has(name + ".bias"):
            self.take(name + ".bias", found[0])
        return found[:2]

    def same_conv(self, name: str, out: int, inputs: int) -> tuple[int, int]:
        found = self.conv(name, out, inputs)
        if (taps := self._weights[name + ".weight"].shape[2]) % 2 == 0:
            self.refuse(name + ".weight", f"has {taps} taps; only an odd number is supported")
        return found

    def lstm(self, name: str, inputs: int) -> int:
        """Returns the number of channels of both directions."""
        for direction in ("", "_reverse"):
            gates, hidden = self.take(f"{name}.weight_hh_l0{direction}", ANY, ANY)
            if gates != 4 * hidden:
                self.refuse(f"{name}.weight_hh_l0{direction}", f"has the shape {[gates, hidden]}, expected four square gates")
            self.take(f"{name}.weight_ih_l0{direction}", gates, inputs)
            for bias in ("ih", "hh"):
                self.take(f"{name}.bias_{bias}_l0{direction}", gates)
        return 2 * hidden

    def style_block(self, name: str, inputs: int, style: int) -> tuple[int, bool]:
        """Returns the number of channels, and whether it doubles the length."""
        out, _ = self.same_conv(name + ".conv1", ANY, inputs)
        self.same_conv(name + ".conv2", out, out)
        self.linear(name + ".norm1.fc", 2 * inputs, style)
        self.linear(name + ".norm2.fc", 2 * out, style)
        if doubles := self.has(name + ".pool.weight"):
            self.take(name + ".pool.weight", inputs, 1, 3)
            self.take(name + ".pool.bias", inputs)
        if inputs != out:
            self.same_conv(name + ".conv1x1", out, inputs)
        return out, doubles

    def snake_block(self, name: str, channels: int, style: int, layers: int) -> None:
        if self.has(f"{name}.alpha1.{layers}"):
            self.refuse(f"{name}.alpha1.{layers}", f"is there, but resblock_dilation_sizes has {layers} dilations of that block")
        for i in range(layers):
            for half in (1, 2):
                self.linear(f"{name}.adain{half}.{i}.fc", 2 * channels, style)
                self.take(f"{name}.alpha{half}.{i}", channels)
                self.same_conv(f"{name}.convs{half}.{i}", channels, channels)


def check_shapes(weights: Weights, metadata: dict[str, str], source: str) -> None:
    """Refuses weights that a server would refuse, and names the tensor. source: where they are from."""
    shapes = _Shapes(weights, source)
    style, prosody, text = _check_encoder(shapes, int(metadata["albert_heads"]))
    _check_decoder(shapes, metadata, style, prosody, text)


def _check_encoder(shapes: _Shapes, heads: int) -> tuple[int, int, int]:
    """Returns the size of a style, and the numbers of channels of prosody and of the text."""
    symbols, small = shapes.take("bert.embeddings.word_embeddings.weight", ANY, ANY)
    positions, _ = shapes.take("bert.embeddings.position_embeddings.weight", ANY, small)
    if positions <= _END_MARKS:
        shapes.refuse("bert.embeddings.position_embeddings.weight", "has no room for a phoneme")
    shapes.take("bert.embeddings.token_type_embeddings.weight", ANY, small)
    shapes.norm("bert.embeddings.LayerNorm", small)
    hidden, _ = shapes.linear("bert.encoder.embedding_hidden_mapping_in", ANY, small)
    if hidden % heads:
        shapes.refuse("bert.encoder.embedding_hidden_mapping_in.weight", f"has {hidden} outputs, no multiple of {heads} heads")
    layer = "bert.encoder.albert_layer_groups.0.albert_layers.0"
    for part in ("query", "key", "value", "dense"):
        shapes.linear(f"{layer}.attention.{part}", hidden, hidden)
    inner, _ = shapes.linear(layer + ".ffn", ANY, hidden)
    shapes.linear(layer + ".ffn_output", hidden, inner)
    for norm in (".attention.LayerNorm", ".full_layer_layer_norm"):
        shapes.norm(layer + norm, hidden)

    channels, _ = shapes.linear("bert_encoder", ANY, hidden)
    style, number = ANY, 0
    while number == 0 or shapes.has(f"predictor.text_encoder.lstms.{number + 1}.fc.weight"):
        name = f"predictor.text_encoder.lstms.{number}"
        _, style = shapes.linear(f"predictor.text_encoder.lstms.{number + 1}.fc", 2 * channels, style)
        if (both := shapes.lstm(name, channels + style)) != channels:
            shapes.refuse(name + ".weight_hh_l0", f"has {both // 2} inputs, expected half of {channels}")
        number += 2
    shapes.linear("predictor.duration_proj.linear_layer", ANY, shapes.lstm("predictor.lstm", channels + style))

    _, width = shapes.take("text_encoder.embedding.weight", symbols, ANY)
    for i in range(shapes.count("text_encoder.cnn.")):
        shapes.same_conv(f"text_encoder.cnn.{i}.0", width, width)
        shapes.norm(f"text_encoder.cnn.{i}.1", width, "gamma", "beta")
    return style, channels, shapes.lstm("text_encoder.lstm", width)


def _check_decoder(shapes: _Shapes, metadata: dict[str, str], style: int, prosody: int, text: int) -> None:
    shared = shapes.lstm("predictor.shared", prosody + style)
    for curve in ("F0", "N"):
        prefix, width, doubled = f"predictor.{curve}.", shared, 0
        for i in range(shapes.count(prefix)):
            width, doubles = shapes.style_block(f"{prefix}{i}", width, style)
            doubled += doubles
        if doubled != 1:
            shapes.refuse(prefix + "0.conv1.weight", "and those after it do not double the length once")
        shapes.same_conv(f"predictor.{curve}_proj", 1, width)
        shapes.same_conv(f"decoder.{curve}_conv", 1, 1)

    again, _ = shapes.same_conv("decoder.asr_res.0", ANY, text)
    width, _ = shapes.style_block("decoder.encode", text + 2, style)
    count = shapes.count("decoder.decode.")
    for i in range(count):
        width, doubles = shapes.style_block(f"decoder.decode.{i}", width + again + 2, style)
        if doubles != (i + 1 == count):
            shapes.refuse(f"decoder.decode.{i}.pool.weight", "must be in the last block alone")
    _check_generator(shapes, metadata, style, width)


def _check_generator(shapes: _Shapes, metadata: dict[str, str], style: int, width: int) -> None:
    size, hop = map(int, metadata["fft"].split())
    strides = [int(stride) for stride in metadata["upsample_strides"].split()]
    dilations = [block.split() for block in metadata["block_dilations"].split(";")]
    if size % 2 or size < 2 * hop or size % hop:
        shapes.refuse("gen_istft_n_fft", f"is {size}, expected an even multiple of gen_istft_hop_size, {hop}")
    if hop * math.prod(strides) > _MOST_SAMPLES:
        shapes.refuse("upsample_rates", f"and gen_istft_hop_size make {hop * math.prod(strides)} samples of one value, allowed are {_MOST_SAMPLES}")
    shapes.linear("decoder.generator.m_source.l_linear", 1, ANY)
    for i, stride in enumerate(strides):
        name = f"decoder.generator.ups.{i}"
        _, out, taps = shapes.take(name + ".weight", width, ANY, ANY)
        shapes.take(name + ".bias", out)
        if taps < stride or (taps - stride) % 2:
            shapes.refuse(name + ".weight", f"has {taps} taps, which do not fit its stride of {stride}")
        later = math.prod(strides[i + 1:])
        shapes.conv(f"decoder.generator.noise_convs.{i}", out, size + 2, 2 * later if later > 1 else 1)
        shapes.snake_block(f"decoder.generator.noise_res.{i}", out, style, _NOISE_LAYERS)
        for k, block in enumerate(dilations):
            shapes.snake_block(f"decoder.generator.resblocks.{i * len(dilations) + k}", out, style, len(block))
        width = out
    shapes.same_conv("decoder.generator.conv_post", size + 2, width)
