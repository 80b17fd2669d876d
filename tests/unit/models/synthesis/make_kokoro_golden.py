"""Writes what the Python package kokoro (KModel, PyTorch) makes of a converted package, with a noise that C++ can repeat.

Not part of the tests, which read its committed result: it needs torch, kokoro 0.9.4 and transformers, in an environment of
their own. usage: make_kokoro_golden.py <package folder> <output> [sentence...]

Layout, little-endian, for each sentence: int64 count and the phonemes; int64 length and the voice's name; int64 count and the
frames; int64 count and the pitch as float32, in hertz; int64 count and the loudness as float32; int64 count and the samples
as int16, 32767 being 1; and so on to the end. With --durations the output is text: the frames of a sentence a line, for the
sentences of a file.
"""

import argparse
import json
import pathlib
import struct
import sys
import types

import numpy as np
import torch
from safetensors.torch import load_file

SENTENCES = ["həlˈO wˈɜɹld.", "koɴnʲiʨiwa, sekai."]


def import_model():
    """kokoro's network without its text front ends, which import far more."""
    import importlib.util

    spec = importlib.util.find_spec("kokoro")
    package = types.ModuleType("kokoro")
    package.__path__ = list(spec.submodule_search_locations)
    sys.modules["kokoro"] = package
    from kokoro import istftnet, model

    return model.KModel, istftnet


def noise(shape) -> torch.Tensor:
    """Uniform noise of deviation 1 from a hash of the index: the same as HashNoise in kokoro_golden_test.cc."""
    x = np.arange(int(np.prod(shape)), dtype=np.uint64)
    x = (x * 2654435761) & 0xFFFFFFFF
    x ^= x >> 16
    x = (x * 0x85EBCA6B) & 0xFFFFFFFF
    x ^= x >> 13
    values = ((x >> 8).astype(np.float32) * np.float32(2**-24) - np.float32(0.5)) * np.float32(3.4641016)
    return torch.from_numpy(values.reshape(shape))


def load(folder: pathlib.Path):
    KModel, istftnet = import_model()
    vocabulary = json.loads((folder / "kokoro.json").read_text(encoding="utf-8"))["vocab"]
    config = dict(vocab=vocabulary, n_token=178, hidden_dim=512, style_dim=128, n_layer=3, max_dur=50, dropout=0.2, n_mels=80,
                  text_encoder_kernel_size=5,
                  plbert=dict(hidden_size=768, num_attention_heads=12, intermediate_size=2048, max_position_embeddings=512,
                              num_hidden_layers=12, dropout=0.1),
                  istftnet=dict(upsample_kernel_sizes=[20, 12], upsample_rates=[10, 6], gen_istft_hop_size=5,
                                gen_istft_n_fft=20, resblock_dilation_sizes=[[1, 3, 5]] * 3,
                                resblock_kernel_sizes=[3, 7, 11], upsample_initial_channel=512))
    tensors = load_file(folder / "model.safetensors")
    voices = {name.removeprefix("voices."): tensors.pop(name) for name in list(tensors) if name.startswith("voices.")}
    original, torch.load = torch.load, lambda *_, **__: {}
    model = KModel(repo_id="none", config=config, model="none")
    torch.load = original
    for module in model.modules():
        for hook in list(getattr(module, "_forward_pre_hooks", {}).values()):
            if type(hook).__name__ == "WeightNorm":
                torch.nn.utils.remove_weight_norm(module)
    state = {}
    for name, tensor in tensors.items():
        state[name] = tensor.view(1, -1, 1) if ".alpha" in name else tensor
    missing, unexpected = model.load_state_dict(state, strict=False)
    missing = [name for name in missing if ".norm." not in name and "pooler" not in name]
    if missing or unexpected:
        raise SystemExit(f"missing {missing}, unexpected {unexpected}")
    for name, parameter in model.named_parameters():
        if ".norm." in name:
            torch.nn.init.constant_(parameter, 1.0 if name.endswith("weight") else 0.0)
    istftnet.torch = types.SimpleNamespace(**{n: getattr(torch, n) for n in dir(torch)})
    istftnet.torch.randn_like = lambda like: noise(tuple(like.shape))
    return model.eval(), vocabulary, voices


class DurationsKnown(Exception):
    pass


def write_durations(model, vocabulary, voices, args) -> None:
    """The forward is left at its decoder, which needs the frames of each phoneme: they are the alignment's row sums."""
    names = sorted(voices)
    kept = []

    def keep(prosody, style):
        raise DurationsKnown

    def align(lengths, frames):
        kept.append(frames)
        return original(lengths, frames)

    model.predictor.F0Ntrain = keep
    module = sys.modules["kokoro.model"]
    original = torch.repeat_interleave
    module.torch = types.SimpleNamespace(**{n: getattr(torch, n) for n in dir(torch)})
    module.torch.repeat_interleave = align
    for i, sentence in enumerate(args.durations.read_text(encoding="utf-8").splitlines()):
        ids = [0, *(vocabulary[p] for p in sentence if p in vocabulary), 0]
        style = voices[names[i % len(names)]][len(ids) - 3].view(1, -1)
        try:
            model.forward_with_tokens(torch.tensor([ids]), style)
        except DurationsKnown:
            pass
    args.output.write_text("".join(" ".join(map(str, frames.tolist())) + "\n" for frames in kept))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("sentences", nargs="*", default=SENTENCES)
    parser.add_argument("--durations", type=pathlib.Path, metavar="SENTENCES")
    args = parser.parse_args()
    model, vocabulary, voices = load(args.folder)
    names = sorted(voices)
    if args.durations:
        write_durations(model, vocabulary, voices, args)
        return
    curves = ()
    original = model.predictor.F0Ntrain

    def keep(prosody, style):
        nonlocal curves
        curves = original(prosody, style)
        return curves

    model.predictor.F0Ntrain = keep
    with open(args.output, "wb") as out:
        for i, sentence in enumerate(args.sentences):
            ids = [0, *(vocabulary[p] for p in sentence if p in vocabulary), 0]
            name = names[i % len(names)]
            style = voices[name][len(ids) - 3].view(1, -1)
            samples, frames = model.forward_with_tokens(torch.tensor([ids]), style)
            pitch, loudness = curves
            pcm = np.round(samples.numpy() * 32767).astype("<i2")
            out.write(struct.pack(f"<q{len(ids)}q", len(ids), *ids))
            out.write(struct.pack("<q", len(name)) + name.encode())
            out.write(struct.pack(f"<q{len(frames)}q", len(frames), *frames.tolist()))
            for curve in (pitch, loudness):
                out.write(struct.pack("<q", curve.numel()) + curve.numpy().ravel().astype("<f4").tobytes())
            out.write(struct.pack("<q", len(pcm)) + pcm.tobytes())
            print(f"{sentence}: {int(frames.sum())} frames, {len(pcm) / 24000:.2f} s, peak {np.abs(samples.numpy()).max():.3f}")


if __name__ == "__main__":
    main()
