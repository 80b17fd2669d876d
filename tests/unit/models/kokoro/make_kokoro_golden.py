"""Writes what the Python package kokoro (KModel, PyTorch) makes of a converted package, with a noise that C++ can repeat.

Not part of the tests, which read its committed result: it needs the environment that scripts/peers.sh kokoro makes.
usage: var/peers/kokoro/bin/python make_kokoro_golden.py <package folder> <output> [sentence...]

Layout, little-endian, for each sentence: int64 count and the phonemes; int64 length and the voice's name; int64 count and the
frames; int64 count and the pitch as float32, in hertz; int64 count and the loudness as float32; int64 count and the samples
as int16, 32767 being 1; and so on to the end. With --durations the output is text: the frames of a sentence a line, for the
sentences of a file.
"""

import argparse
import pathlib
import struct
import sys
import types

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "load/peers"))
import kmodel  # noqa: E402

SENTENCES = ["həlˈO wˈɜɹld.", "koɴnʲiʨiwa, sekai."]


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
    loaded = kmodel.load(folder)
    istftnet = sys.modules["kokoro.istftnet"]
    istftnet.torch = types.SimpleNamespace(**{n: getattr(torch, n) for n in dir(torch)})
    istftnet.torch.randn_like = lambda like: noise(tuple(like.shape))
    return loaded


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
