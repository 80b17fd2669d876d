"""The hot part of the demo voices as PyTorch modules, and in the formats that PyTorch can run them in.

Hot part: of Kokoro what comes after the curves of pitch and loudness (the package's own Decoder: iSTFTNet), of Piper the inverse
flow and the generator (VITS with HiFi-GAN). Run with the Python that scripts/peers.sh kokoro makes:

  formats.py inputs VOICE OUT                what to speak: writes OUT/VOICE-SECONDS.f32, prints {seconds: frames}
  formats.py export VOICE FORMAT FILE        writes the format; prints what it took as JSON
  formats.py serve VOICE FORMAT FILE         runs it: reads lines "<frames> <threads> <input> <output or ->", answers each with the
                                             seconds on the clock and of the processor

An input is float32 numbers: Kokoro's style [256], text [512][frames], pitch and loudness [2 * frames], noise [samples][9]; Piper's
latents [192][frames]. millrace_hotpart answers the same lines.
"""

import argparse
import functools
import json
import math
import sys
import time
import types
from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from torch import nn
from torch.nn import functional

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT))
PACKAGES = {"kokoro": ROOT / "var/models/kokoro-82m/1", "vits": ROOT / "var/models/piper-en-us-joe/1"}
SECONDS = (1, 3, 8)
FRAMES_PER_SECOND = {"kokoro": 40, "vits": 22050 / 256}
FORMATS = ("eager", "torchscript", "aotinductor", "torchscript-bfloat16", "aotinductor-bfloat16")


def _in_float32(method):
    """Where Lower must not reach: phases and the spectrum."""
    @functools.wraps(method)
    def run(self, *args):
        with torch.autocast("cpu", enabled=False):
            return method(self, *(arg.float() for arg in args))

    return run


class RealFourier(nn.Module):
    """TorchSTFT of kokoro.istftnet as convolutions: bfloat16 has no complex numbers, and AOTInductor runs such transforms by a fallback."""

    def __init__(self, size, hop):
        super().__init__()
        self.size, self.hop = size, hop
        window = torch.hann_window(size, dtype=torch.float64)
        bins = torch.arange(size // 2 + 1)
        angle = 2 * math.pi * bins[:, None] * torch.arange(size) / size
        twice = torch.where((bins == 0) | (bins == size // 2), 1.0, 2.0)[:, None] / size
        self.analysis = [(window * wave).float()[:, None] for wave in (angle.cos(), -angle.sin())]
        self.synthesis = [(window * twice * wave).float()[:, None] for wave in (angle.cos(), -angle.sin())]
        self.power = (window**2).float()[None, None]
        self.ends = ((bins == 0) | (bins == size // 2))[None, :, None]

    @_in_float32
    def transform(self, samples):
        padded = functional.pad(samples[:, None], (self.size // 2, self.size // 2), mode="reflect")
        real, imaginary = (functional.conv1d(padded, basis, stride=self.hop) for basis in self.analysis)
        # At both ends the spectrum is real: half a turn there must not depend on the sign of a zero.
        angle = torch.where(self.ends, torch.where(real < 0, math.pi, 0.0), torch.atan2(imaginary, real))
        return torch.sqrt(real**2 + imaginary**2), angle

    @_in_float32
    def inverse(self, size, angle):
        parts = (size * angle.cos(), size * angle.sin())
        total = sum(functional.conv_transpose1d(part, basis, stride=self.hop)
                    for part, basis in zip(parts, self.synthesis, strict=True))
        overlap = functional.conv_transpose1d(torch.ones_like(size[:, :1]), self.power, stride=self.hop)
        return (total / overlap)[:, :, self.size // 2 : -(self.size // 2)]


class ExactSource(nn.Module):
    """SourceModuleHnNSF in float32."""

    def __init__(self, source):
        super().__init__()
        self.source = source
        source.l_sin_gen._f02sine = functools.partial(_sines_of_whole_values, source.l_sin_gen)

    @_in_float32
    def forward(self, f0):
        return self.source(f0)


def _sines_of_whole_values(generator, f0):
    """SineGen._f02sine without its first interpolation, which takes the mean of equal numbers: so lengths stay whole for an exporter."""
    scale = generator.upsample_scale
    turns = (f0[:, ::scale] / generator.sampling_rate) % 1
    phase = (torch.cumsum(turns, 1) * 2 * torch.pi).transpose(1, 2) * scale
    return torch.sin(functional.interpolate(phase, size=phase.shape[2] * scale, mode="linear").transpose(1, 2))


class KokoroHotPart(nn.Module):
    """The package's decoder with its noise as an input."""

    def __init__(self, exportable):
        super().__init__()
        import kmodel

        model, _, _ = kmodel.load(PACKAGES["kokoro"])
        self.decoder = model.decoder
        self._noise = []   # while a call runs
        generator = self.decoder.generator
        network = sys.modules["kokoro.istftnet"]
        harmonics = torch.arange(1.0, 10.0)[None, None]
        own = types.SimpleNamespace(**{name: getattr(torch, name) for name in dir(torch)})
        own.randn_like = lambda like: self._noise[0] if like.shape[-1] == harmonics.numel() else torch.zeros_like(like)
        own.rand = lambda *shape, device=None: torch.zeros(*shape)   # changes a sample that nothing is made of
        own.FloatTensor = lambda values: harmonics
        network.torch = own
        if exportable:
            generator.stft = RealFourier(20, 5)
            generator.f0_upsamp = _Repeat(300)
            generator.m_source = ExactSource(generator.m_source)

    def forward(self, text, pitch, loudness, style, noise):
        self._noise.append(noise)
        try:
            return self.decoder(text, pitch, loudness, style).flatten()
        finally:
            self._noise.clear()

    @staticmethod
    def arguments(numbers, frames):
        style, text, pitch, loudness, noise = numbers.split([256, 512 * frames, 2 * frames, 2 * frames, 600 * frames * 9])
        return text.view(1, 512, frames), pitch[None], loudness[None], style[None, :128], noise.view(1, 600 * frames, 9)

    @staticmethod
    def dynamic():
        frames = torch.export.Dim("frames", min=8, max=4096)
        return {2: frames}, {1: 2 * frames}, {1: 2 * frames}, None, {1: 600 * frames}


class _Repeat(nn.Module):
    """nn.Upsample by a whole number."""

    def __init__(self, times):
        super().__init__()
        self.times = times

    def forward(self, x):
        return x[..., None].expand(*x.shape, self.times).reshape(*x.shape[:2], -1)


class VitsHotPart(nn.Module):
    """As models/convert/vits_network.py has it."""

    def __init__(self, exportable):
        super().__init__()
        del exportable   # it is as it is written
        with safe_open(PACKAGES["vits"] / "model.safetensors", "pt") as file:
            shape = file.metadata()
            weights = {name: file.get_tensor(name) for name in file.keys() if name.startswith(("dec.", "flow."))}

        def numbers(text):
            return [int(number) for number in text.split()]

        def conv(name, dilation=1):
            weight = weights[name + ".weight"]
            layer = nn.Conv1d(weight.shape[1], weight.shape[0], weight.shape[2], dilation=dilation,
                              padding=(weight.shape[2] - 1) * dilation // 2, bias=name + ".bias" in weights)
            return _filled(layer, weights, name)

        def upsampling(name, stride):
            weight = weights[name + ".weight"]
            layer = nn.ConvTranspose1d(weight.shape[0], weight.shape[1], weight.shape[2], stride, (weight.shape[2] - stride) // 2)
            return _filled(layer, weights, name)

        self.flows = nn.ModuleList()
        for index in (6, 4, 2, 0):
            name = f"flow.flows.{index}"
            layers = [nn.ModuleList([conv(f"{name}.enc.in_layers.{i}", dilation), conv(f"{name}.enc.res_skip_layers.{i}")])
                      for i, dilation in enumerate(numbers(shape["flow_dilations"]))]
            self.flows.append(nn.ModuleDict({"pre": conv(name + ".pre"), "layers": nn.ModuleList(layers), "post": conv(name + ".post")}))
        self.pre, self.post = conv("dec.conv_pre"), conv("dec.conv_post")
        strides = numbers(shape["upsample_strides"])
        self.ups = nn.ModuleList(upsampling(f"dec.ups.{i}", stride) for i, stride in enumerate(strides))
        self.blocks = nn.ModuleList()
        for i, dilations in enumerate(shape["block_dilations"].split(";")):
            name = f"dec.resblocks.{i}"
            paired = f"{name}.convs1.0.weight" in weights
            self.blocks.append(nn.ModuleList(
                nn.ModuleList([conv(f"{name}.convs1.{j}", d), conv(f"{name}.convs2.{j}")] if paired else [conv(f"{name}.convs.{j}", d)])
                for j, d in enumerate(numbers(dilations))))

    def forward(self, latents):
        z = latents
        half = z.shape[1] // 2
        for flow in self.flows:
            z = z.flip(1)
            x = flow["pre"](z[:, :half])
            hidden = x.shape[1]
            skipped = torch.zeros_like(x)
            for gates, mixed in flow["layers"]:
                both = gates(x)
                y = mixed(torch.tanh(both[:, :hidden]) * torch.sigmoid(both[:, hidden:]))
                if y.shape[1] == 2 * hidden:
                    x = x + y[:, :hidden]
                skipped = skipped + y[:, -hidden:]
            z = torch.cat([z[:, :half], z[:, half:] - flow["post"](skipped)], 1)
        x = self.pre(z)
        each = len(self.blocks) // len(self.ups)
        for stage, up in enumerate(self.ups):
            x = up(functional.leaky_relu(x, 0.1))
            x = sum(self._block(self.blocks[stage * each + i], x) for i in range(each)) / each
        return torch.tanh(self.post(functional.leaky_relu(x, 0.01))).flatten()

    @staticmethod
    def _block(block, x):
        for convs in block:
            y = x
            for conv in convs:
                y = conv(functional.leaky_relu(y, 0.1))
            x = x + y
        return x

    @staticmethod
    def arguments(numbers, frames):
        return (numbers.view(1, 192, frames),)

    @staticmethod
    def dynamic():
        return ({2: torch.export.Dim("frames", min=8, max=4096)},)


def _filled(layer, weights, name):
    with torch.no_grad():
        layer.weight.copy_(weights[name + ".weight"])
        if layer.bias is not None:
            layer.bias.copy_(weights[name + ".bias"])
    return layer


class Lower(nn.Module):
    """What gains from it in bfloat16, the rest in float32."""

    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, *args):
        with torch.autocast("cpu", torch.bfloat16, cache_enabled=False):
            return self.part(*args).float()


PARTS = {"kokoro": KokoroHotPart, "vits": VitsHotPart}


def build(voice, kind):
    """The published module where it runs as it is, else its equal."""
    lower = kind.endswith("-bfloat16")
    part = PARTS[voice](exportable=lower or kind == "aotinductor").eval()
    for parameter in part.parameters():
        parameter.requires_grad_(False)
    return Lower(part).eval() if lower else part


def write_inputs(voice, out):
    """A long sentence, cut."""
    from models.convert import vits_check

    text = vits_check.SENTENCES[-1]
    lengths = {seconds: round(seconds * FRAMES_PER_SECOND[voice]) for seconds in SECONDS}
    random = np.random.default_rng(1)
    package = PACKAGES[voice]
    if voice == "kokoro":
        import kmodel
        from phonemes import kokoro_ids

        model, vocabulary, voices = kmodel.load(package)
        ids = kokoro_ids([text], vocabulary)[0]
        style = voices[sorted(voices)[0]][len(ids) - 3].view(1, -1)
        kept = []
        model.decoder.register_forward_pre_hook(lambda _, args: kept.append(args))
        model.forward_with_tokens(torch.tensor([ids]), style)
        spoken, pitch, loudness, _ = (value.numpy() for value in kept[0])

        def numbers(frames):
            noise = random.standard_normal((600 * frames, 9), np.float32)
            return style.numpy(), spoken[0, :, :frames], pitch[0, : 2 * frames], loudness[0, : 2 * frames], noise
    else:
        from models.convert.vits_network import Network, NetworkShape

        with safe_open(package / "model.safetensors", "np") as file:
            weights = {name: file.get_tensor(name) for name in file.keys()}
        described = json.loads((package / "voice.json").read_text())
        ids = vits_check.phoneme_ids(text, described)
        scales = described["inference"]
        statistics, each = Network(weights, NetworkShape([1], [], [])).encode(
            np.array(ids), random.standard_normal((2, len(ids)), np.float32), scales["noise_w"], 1.0)
        mean, deviation = np.split(np.repeat(statistics, each, axis=1), 2)
        latents = mean + random.standard_normal(mean.shape, np.float32) * np.exp(deviation) * np.float32(scales["noise_scale"])

        def numbers(frames):
            return (latents[:, :frames],)

    out.mkdir(parents=True, exist_ok=True)
    for seconds, frames in lengths.items():
        with open(out / f"{voice}-{seconds}.f32", "wb") as file:
            for array in numbers(frames):
                file.write(np.ascontiguousarray(array, np.float32).tobytes())
    print(json.dumps(lengths))


def sample_of(voice, frames):
    """Arguments of that length, for an exporter."""
    count = {"kokoro": 256 + frames * (512 + 4 + 5400), "vits": 192 * frames}[voice]
    return PARTS[voice].arguments(torch.randn(count, generator=torch.Generator().manual_seed(2)) / 2, frames)


def export(voice, kind, file):
    """Seconds that it took."""
    begin = time.perf_counter()
    with torch.no_grad():
        if kind.startswith("torchscript"):
            traced = torch.jit.trace(build(voice, kind), sample_of(voice, 40), check_trace=False)
            torch.jit.save(torch.jit.freeze(traced), file)
        elif kind.startswith("aotinductor"):
            import torch._inductor.config as inductor

            inductor.cpp.dynamic_threads = True   # the number of threads is the caller's, not the exporter's
            part = build(voice, kind)
            shapes = (PARTS[voice].dynamic(),) if kind.endswith("-bfloat16") else PARTS[voice].dynamic()
            program = torch.export.export(part, sample_of(voice, 40), dynamic_shapes=shapes, strict=False)
            torch._inductor.aoti_compile_and_package(program, package_path=str(file))
    return time.perf_counter() - begin


def load(voice, kind, file):
    if kind.startswith("torchscript"):
        return torch.jit.optimize_for_inference(torch.jit.load(file))
    if kind.startswith("aotinductor"):
        return torch._inductor.aoti_load_package(str(file))
    return build(voice, kind)


def serve(voice, kind, file):
    part = load(voice, kind, file)
    for line in sys.stdin:
        frames, threads, source, target = line.split()
        torch.set_num_threads(int(threads))
        args = PARTS[voice].arguments(torch.from_numpy(np.fromfile(source, np.float32)), int(frames))
        with torch.inference_mode():
            wall, cpu = time.perf_counter(), time.process_time()
            samples = part(*args)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        if target != "-":
            samples.float().numpy().tofile(target)
        print(wall, cpu, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("inputs", "export", "serve"))
    parser.add_argument("voice", choices=PARTS)
    parser.add_argument("format", choices=FORMATS, nargs="?")
    parser.add_argument("path", type=Path)
    args = parser.parse_args()
    if args.what == "inputs":
        write_inputs(args.voice, args.path)
    elif args.what == "export":
        seconds = export(args.voice, args.format, args.path)
        print(json.dumps({"seconds": seconds, "bytes": args.path.stat().st_size}))
    else:
        serve(args.voice, args.format, args.path)


if __name__ == "__main__":
    main()
