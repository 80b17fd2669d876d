"""Writes, for each shape in which Piper's voices are published, a voice of random weights and what onnxruntime makes of it without noise.

A folder for each: model.safetensors as the converter makes it of the ONNX file, and golden.bin, little-endian: int64 speaker, int64 count, that
many int64 phonemes, int64 count, that many float32 samples; and so on to the end.
"""

import argparse
import pathlib
import struct

import numpy as np

import random_voice
from models.convert import vits, vits_check
from models.convert.safetensors import write_safetensors
from models.convert.vits_onnx import read_voice

# Speakers by quality. The network of medium is that of low at another rate.
SHAPES = {"x_low": (1, 3), "low": (3,), "medium": (1,), "high": (1, 3)}
SYMBOLS, LENGTHS = 64, (3, 8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    random = np.random.default_rng(1)
    for quality, counts in SHAPES.items():
        for speakers in counts:
            folder = args.output / f"{quality}_{speakers}"
            file = random_voice.write(folder / "voice.onnx", quality, speakers)
            reference = vits_check.Reference(file)
            with open(folder / "golden.bin", "wb") as out:
                for place, length in enumerate(LENGTHS):
                    speaker = place % speakers
                    ids = random.integers(3, SYMBOLS, length).tolist()
                    samples = reference.run(ids, speaker=speaker)
                    out.write(struct.pack(f"<qq{length}q", speaker, length, *ids))
                    out.write(struct.pack("<q", len(samples)) + samples.astype("<f4").tobytes())
            weights, shape = read_voice(file)
            write_safetensors(folder / "model.safetensors", weights, vits._metadata(shape))
            file.unlink()


if __name__ == "__main__":
    main()
