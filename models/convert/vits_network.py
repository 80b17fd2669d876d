"""The inference graph of Piper's VITS as a scriptable PyTorch module.

One sentence at a time (batch 1), so no masks are needed. Randomness is an input. The module has two methods, because the
durations that `encode` finds decide the shape of the noise that `decode` takes:

  encode(phonemes [1, T] int64, noise [1, 2, T], noise_w, length_scale, speaker [1] int64)
      -> statistics [1, 2 C, T], frames [T] int64
  decode(statistics, frames, noise [1, C, sum(frames)], noise_scale, speaker) -> samples [sum(frames) * hop]

`decode` is `frames_to_latent` followed by `generate`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import List, Optional, Tuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

_LAYER_NORM_EPS = 1e-5
_SLOPE = 0.1


@dataclasses.dataclass
class UpsampleSpec:
    in_channels: int
    out_channels: int
    kernel: int
    stride: int
    padding: int


@dataclasses.dataclass
class ResBlockSpec:
    channels: int
    kernel: int
    dilations: List[int]
    paired: bool  # each dilated convolution is followed by one without dilation ("resblock 1")


@dataclasses.dataclass
class VitsSpec:
    """Everything about the network that is not a weight."""

    symbols: int
    hidden: int  # of the text encoder
    filter: int  # of its feed-forward layers
    heads: int
    layers: int
    encoder_kernel: int
    window: int  # of the relative attention, to each side
    latent: int  # C: channels between flow and generator
    duration_hidden: int
    duration_kernel: int
    duration_layers: int
    duration_flows: List[int]  # indices of the coupling layers, in the order in which inference runs them
    duration_bins: int
    flow_hidden: int
    flow_kernel: int
    flow_layers: int
    flow_dilations: List[int]
    flows: List[int]  # indices, in the order in which inference runs them
    generator_initial: int
    upsamples: List[UpsampleSpec]
    resblocks: List[ResBlockSpec]
    speakers: int  # 0: one speaker, no embedding
    speaker_channels: int

    @property
    def hop(self) -> int:
        return math.prod(u.stride for u in self.upsamples)


class ChannelNorm(nn.Module):
    """Layer norm over the channels of [1, C, T]."""

    def __init__(self, channels: int):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(channels))
        self.beta = nn.Parameter(torch.zeros(channels))

    def forward(self, x: Tensor) -> Tensor:
        y = F.layer_norm(x.transpose(1, 2), self.gamma.shape, self.gamma, self.beta, _LAYER_NORM_EPS)
        return y.transpose(1, 2)


class RelativeAttention(nn.Module):
    """Self-attention with learned embeddings of the distance, for distances up to `window`; 0 beyond it."""

    def __init__(self, channels: int, heads: int, window: int):
        super().__init__()
        self.heads = heads
        self.window = window
        self.head_channels = channels // heads
        self.conv_q = nn.Conv1d(channels, channels, 1)
        self.conv_k = nn.Conv1d(channels, channels, 1)
        self.conv_v = nn.Conv1d(channels, channels, 1)
        self.conv_o = nn.Conv1d(channels, channels, 1)
        self.emb_rel_k = nn.Parameter(torch.zeros(1, 2 * window + 1, self.head_channels))
        self.emb_rel_v = nn.Parameter(torch.zeros(1, 2 * window + 1, self.head_channels))

    def forward(self, x: Tensor) -> Tensor:
        length = x.size(2)
        span = 2 * self.window
        query = self._split(self.conv_q(x)) / math.sqrt(self.head_channels)
        key = self._split(self.conv_k(x))
        value = self._split(self.conv_v(x))

        scores = torch.matmul(query, key.transpose(1, 2))
        # Row i holds the scores of distances -window..window. Reading the rows, padded to length + span + 1, with a pitch
        # shorter by one moves row i to the right by i: column j + window is then position j.
        near = torch.matmul(query, self.emb_rel_k.transpose(1, 2))
        near = F.pad(near, [0, length]).flatten(1)[:, : length * (length + span)]
        near = near.view(self.heads, length, length + span)[:, :, self.window : self.window + length]
        weights = torch.softmax(scores + near, dim=-1)

        output = torch.matmul(weights, value)
        # The same the other way round.
        band = F.pad(weights, [self.window, self.window]).flatten(1)
        band = F.pad(band, [0, length]).view(self.heads, length, length + span + 1)[:, :, : span + 1]
        output = output + torch.matmul(band, self.emb_rel_v)
        return self.conv_o(output.transpose(1, 2).reshape(1, -1, length))

    def _split(self, x: Tensor) -> Tensor:
        return x.view(self.heads, self.head_channels, x.size(2)).transpose(1, 2)


class FeedForward(nn.Module):
    def __init__(self, channels: int, filter_channels: int, kernel: int):
        super().__init__()
        self.pad_left = (kernel - 1) // 2
        self.pad_right = kernel // 2
        self.conv_1 = nn.Conv1d(channels, filter_channels, kernel)
        self.conv_2 = nn.Conv1d(filter_channels, channels, kernel)

    def forward(self, x: Tensor) -> Tensor:
        x = torch.relu(self.conv_1(F.pad(x, [self.pad_left, self.pad_right])))
        return self.conv_2(F.pad(x, [self.pad_left, self.pad_right]))


class AttentionStack(nn.Module):
    def __init__(self, spec: VitsSpec):
        super().__init__()
        layers = range(spec.layers)
        self.attn_layers = nn.ModuleList([RelativeAttention(spec.hidden, spec.heads, spec.window) for _ in layers])
        self.norm_layers_1 = nn.ModuleList([ChannelNorm(spec.hidden) for _ in layers])
        self.ffn_layers = nn.ModuleList([FeedForward(spec.hidden, spec.filter, spec.encoder_kernel) for _ in layers])
        self.norm_layers_2 = nn.ModuleList([ChannelNorm(spec.hidden) for _ in layers])

    def forward(self, x: Tensor) -> Tensor:
        for attention, norm_1, feed_forward, norm_2 in zip(
            self.attn_layers, self.norm_layers_1, self.ffn_layers, self.norm_layers_2
        ):
            x = norm_1(x + attention(x))
            x = norm_2(x + feed_forward(x))
        return x


class TextEncoder(nn.Module):
    """Phonemes -> hidden states, and mean and log deviation of each phoneme's latent."""

    def __init__(self, spec: VitsSpec):
        super().__init__()
        self.scale = math.sqrt(spec.hidden)
        self.emb = nn.Embedding(spec.symbols, spec.hidden)
        self.encoder = AttentionStack(spec)
        self.proj = nn.Conv1d(spec.hidden, 2 * spec.latent, 1)

    def forward(self, phonemes: Tensor) -> Tuple[Tensor, Tensor]:
        x = self.encoder((self.emb(phonemes) * self.scale).transpose(1, 2))
        return x, self.proj(x)


class SeparableConvs(nn.Module):
    """Dilated depthwise and pointwise convolutions with residual connections."""

    def __init__(self, channels: int, kernel: int, layers: int):
        super().__init__()
        self.convs_sep = nn.ModuleList()
        self.convs_1x1 = nn.ModuleList()
        self.norms_1 = nn.ModuleList()
        self.norms_2 = nn.ModuleList()
        for i in range(layers):
            dilation = kernel**i
            padding = (kernel * dilation - dilation) // 2
            self.convs_sep.append(
                nn.Conv1d(channels, channels, kernel, groups=channels, dilation=dilation, padding=padding)
            )
            self.convs_1x1.append(nn.Conv1d(channels, channels, 1))
            self.norms_1.append(ChannelNorm(channels))
            self.norms_2.append(ChannelNorm(channels))

    def forward(self, x: Tensor) -> Tensor:
        for depthwise, norm_1, pointwise, norm_2 in zip(self.convs_sep, self.norms_1, self.convs_1x1, self.norms_2):
            y = F.gelu(norm_1(depthwise(x)))
            x = x + F.gelu(norm_2(pointwise(y)))
        return x


def inverse_spline(y: Tensor, widths: Tensor, heights: Tensor, derivatives: Tensor) -> Tensor:
    """Inverse of the monotonic rational-quadratic spline on [-5, 5], the identity outside (Durkan et al., 2019).

    y [N]; widths and heights [N, bins] and derivatives [N, bins - 1] before their activations.
    """
    bound, smallest = 5.0, 1e-3
    bins = widths.size(1)
    widths = smallest + (1.0 - smallest * bins) * torch.softmax(widths, dim=-1)
    heights = smallest + (1.0 - smallest * bins) * torch.softmax(heights, dim=-1)
    # The slope is 1 at both ends, where the identity takes over.
    slopes = F.pad(smallest + F.softplus(derivatives), [1, 1], value=1.0)

    left = F.pad(torch.cumsum(widths, dim=-1), [1, 0]) * (2.0 * bound) - bound
    bottom = F.pad(torch.cumsum(heights, dim=-1), [1, 0]) * (2.0 * bound) - bound
    inside = (y >= -bound) & (y <= bound)
    target = torch.where(inside, y, torch.zeros_like(y)).unsqueeze(1)
    bin_index = ((target >= bottom).sum(dim=-1, keepdim=True) - 1).clamp(0, bins - 1)

    x0 = left.gather(1, bin_index)
    y0 = bottom.gather(1, bin_index)
    width = left.gather(1, bin_index + 1) - x0
    height = bottom.gather(1, bin_index + 1) - y0
    slope0 = slopes.gather(1, bin_index)
    slope1 = slopes.gather(1, bin_index + 1)
    delta = height / width

    offset = target - y0
    curvature = slope0 + slope1 - 2.0 * delta
    a = offset * curvature + height * (delta - slope0)
    b = height * slope0 - offset * curvature
    c = -delta * offset
    root = (2.0 * c) / (-b - torch.sqrt(b * b - 4.0 * a * c))
    return torch.where(inside, (root * width + x0).squeeze(1), y)


class SplineFlow(nn.Module):
    """Inverse of a coupling layer whose transformation is a spline."""

    def __init__(self, spec: VitsSpec):
        super().__init__()
        self.bins = spec.duration_bins
        self.scale = 1.0 / math.sqrt(spec.duration_hidden)
        self.pre = nn.Conv1d(1, spec.duration_hidden, 1)
        self.convs = SeparableConvs(spec.duration_hidden, spec.duration_kernel, spec.duration_layers)
        self.proj = nn.Conv1d(spec.duration_hidden, 3 * spec.duration_bins - 1, 1)

    def forward(self, z: Tensor, condition: Tensor) -> Tensor:
        kept, changed = z[:, :1], z[:, 1:]
        h = self.proj(self.convs(self.pre(kept) + condition))[0].transpose(0, 1)
        widths = h[:, : self.bins] * self.scale
        heights = h[:, self.bins : 2 * self.bins] * self.scale
        changed = inverse_spline(changed[0, 0], widths, heights, h[:, 2 * self.bins :])
        return torch.cat([kept, changed.view(1, 1, -1)], dim=1)


class DurationPredictor(nn.Module):
    """The stochastic duration predictor, run backwards: noise -> log of each phoneme's frames."""

    def __init__(self, spec: VitsSpec):
        super().__init__()
        hidden = spec.duration_hidden
        self.pre = nn.Conv1d(spec.hidden, hidden, 1)
        self.convs = SeparableConvs(hidden, spec.duration_kernel, spec.duration_layers)
        self.proj = nn.Conv1d(hidden, hidden, 1)
        self.flows = nn.ModuleList([SplineFlow(spec) for _ in spec.duration_flows])
        self.shift = nn.Parameter(torch.zeros(2, 1))
        self.inverse_scale = nn.Parameter(torch.ones(2, 1))
        self.cond = nn.Conv1d(spec.speaker_channels, hidden, 1) if spec.speakers else None

    def forward(self, x: Tensor, z: Tensor, speaker: Optional[Tensor]) -> Tensor:
        x = self.pre(x)
        if self.cond is not None and speaker is not None:
            x = x + self.cond(speaker)
        x = self.proj(self.convs(x))
        for flow in self.flows:
            z = flow(z.flip(1), x)
        z = (z.flip(1) - self.shift) * self.inverse_scale
        return z[:, 0]


class GatedConvs(nn.Module):
    """WaveNet layers: dilated convolutions with gates, residual and skip connections."""

    def __init__(self, spec: VitsSpec):
        super().__init__()
        hidden = spec.flow_hidden
        self.hidden = hidden
        self.in_layers = nn.ModuleList()
        self.res_skip_layers = nn.ModuleList()
        for i in range(spec.flow_layers):
            dilation = spec.flow_dilations[i]
            padding = (spec.flow_kernel - 1) * dilation // 2
            self.in_layers.append(nn.Conv1d(hidden, 2 * hidden, spec.flow_kernel, dilation=dilation, padding=padding))
            last = i == spec.flow_layers - 1
            self.res_skip_layers.append(nn.Conv1d(hidden, hidden if last else 2 * hidden, 1))
        self.cond_layer = (
            nn.Conv1d(spec.speaker_channels, 2 * hidden * spec.flow_layers, 1) if spec.speakers else None
        )

    def forward(self, x: Tensor, speaker: Optional[Tensor]) -> Tensor:
        hidden = self.hidden
        output = torch.zeros_like(x)
        condition: Optional[Tensor] = None
        if self.cond_layer is not None and speaker is not None:
            condition = self.cond_layer(speaker)
        for i, (convolution, res_skip) in enumerate(zip(self.in_layers, self.res_skip_layers)):
            gates = convolution(x)
            if condition is not None:
                gates = gates + condition[:, 2 * hidden * i : 2 * hidden * (i + 1)]
            y = res_skip(torch.tanh(gates[:, :hidden]) * torch.sigmoid(gates[:, hidden:]))
            if y.size(1) == hidden:  # the last layer has no residual part
                output = output + y
            else:
                x = x + y[:, :hidden]
                output = output + y[:, hidden:]
        return output


class CouplingFlow(nn.Module):
    """Inverse of a mean-only affine coupling layer."""

    def __init__(self, spec: VitsSpec):
        super().__init__()
        self.half = spec.latent // 2
        self.pre = nn.Conv1d(self.half, spec.flow_hidden, 1)
        self.enc = GatedConvs(spec)
        self.post = nn.Conv1d(spec.flow_hidden, self.half, 1)

    def forward(self, z: Tensor, speaker: Optional[Tensor]) -> Tensor:
        kept, changed = z[:, : self.half], z[:, self.half :]
        return torch.cat([kept, changed - self.post(self.enc(self.pre(kept), speaker))], dim=1)


class ResBlock(nn.Module):
    """Dilated convolutions with residual connections; paired: each followed by one without dilation."""

    def __init__(self, spec: ResBlockSpec):
        super().__init__()
        self.paired = spec.paired
        self.convs1 = nn.ModuleList()
        self.convs2 = nn.ModuleList()
        for dilation in spec.dilations:
            self.convs1.append(
                nn.Conv1d(
                    spec.channels,
                    spec.channels,
                    spec.kernel,
                    dilation=dilation,
                    padding=(spec.kernel - 1) * dilation // 2,
                )
            )
            self.convs2.append(
                nn.Conv1d(spec.channels, spec.channels, spec.kernel, padding=(spec.kernel - 1) // 2)
                if spec.paired
                else nn.Identity()
            )

    def forward(self, x: Tensor) -> Tensor:
        for conv1, conv2 in zip(self.convs1, self.convs2):
            y = conv1(F.leaky_relu(x, _SLOPE))
            if self.paired:
                y = conv2(F.leaky_relu(y, _SLOPE))
            x = x + y
        return x


class UpsampleStage(nn.Module):
    """A transposed convolution, then the mean of several residual blocks."""

    def __init__(self, upsample: UpsampleSpec, blocks: List[ResBlockSpec]):
        super().__init__()
        self.up = nn.ConvTranspose1d(
            upsample.in_channels, upsample.out_channels, upsample.kernel, upsample.stride, upsample.padding
        )
        self.blocks = nn.ModuleList([ResBlock(block) for block in blocks])
        self.count = len(blocks)

    def forward(self, x: Tensor) -> Tensor:
        x = self.up(F.leaky_relu(x, _SLOPE))
        total = torch.zeros_like(x)
        for block in self.blocks:
            total = total + block(x)
        return total / self.count


class Generator(nn.Module):
    """HiFi-GAN: latent frames -> samples."""

    def __init__(self, spec: VitsSpec):
        super().__init__()
        self.conv_pre = nn.Conv1d(spec.latent, spec.generator_initial, 7, padding=3)
        blocks = len(spec.resblocks) // len(spec.upsamples)
        self.stages = nn.ModuleList(
            [
                UpsampleStage(upsample, spec.resblocks[i * blocks : (i + 1) * blocks])
                for i, upsample in enumerate(spec.upsamples)
            ]
        )
        self.conv_post = nn.Conv1d(spec.upsamples[-1].out_channels, 1, 7, padding=3, bias=False)
        self.cond = nn.Conv1d(spec.speaker_channels, spec.generator_initial, 1) if spec.speakers else None

    def forward(self, z: Tensor, speaker: Optional[Tensor]) -> Tensor:
        x = self.conv_pre(z)
        if self.cond is not None and speaker is not None:
            x = x + self.cond(speaker)
        for stage in self.stages:
            x = stage(x)
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


class Vits(nn.Module):
    def __init__(self, spec: VitsSpec):
        super().__init__()
        self.latent = spec.latent
        self.hop = spec.hop
        self.speakers = spec.speakers
        self.enc_p = TextEncoder(spec)
        self.dp = DurationPredictor(spec)
        self.flow = nn.ModuleList([CouplingFlow(spec) for _ in spec.flows])
        self.dec = Generator(spec)
        self.emb_g = nn.Embedding(spec.speakers, spec.speaker_channels) if spec.speakers else None

    @torch.jit.export
    def encode(
        self, phonemes: Tensor, noise: Tensor, noise_w: float, length_scale: float, speaker: Tensor
    ) -> Tuple[Tensor, Tensor]:
        x, statistics = self.enc_p(phonemes)
        log_frames = self.dp(x, noise * noise_w, self._embed(speaker))
        return statistics, torch.ceil(torch.exp(log_frames[0]) * length_scale).to(torch.int64)

    @torch.jit.export
    def frames_to_latent(
        self, statistics: Tensor, frames: Tensor, noise: Tensor, noise_scale: float, speaker: Tensor
    ) -> Tensor:
        expanded = statistics.repeat_interleave(frames, 2)
        mean, log_deviation = expanded[:, : self.latent], expanded[:, self.latent :]
        z = mean + noise * torch.exp(log_deviation) * noise_scale
        embedded = self._embed(speaker)
        for flow in self.flow:
            z = flow(z.flip(1), embedded)
        return z

    @torch.jit.export
    def generate(self, latent: Tensor, speaker: Tensor) -> Tensor:
        return self.dec(latent, self._embed(speaker)).flatten()

    @torch.jit.export
    def decode(
        self, statistics: Tensor, frames: Tensor, noise: Tensor, noise_scale: float, speaker: Tensor
    ) -> Tensor:
        return self.generate(self.frames_to_latent(statistics, frames, noise, noise_scale, speaker), speaker)

    def forward(self, latent: Tensor, speaker: Tensor) -> Tensor:
        return self.generate(latent, speaker)

    def _embed(self, speaker: Tensor) -> Optional[Tensor]:
        if self.emb_g is not None:
            return self.emb_g(speaker).unsqueeze(-1)
        return None
