"""Writes how long each phoneme lasts in onnxruntime on the original int8 file of Kokoro, for sentences of phonemes in a file.

Layout, little-endian, for each sentence: int64 count and the phonemes; int64 length and the voice's name; int64 count and the
frames; and so on to the end.
"""

import argparse
import pathlib
import struct
import tempfile

import numpy as np

from models.convert import kokoro, kokoro_check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sentences", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    wheels = kokoro.read_wheels()
    names = sorted(wheels.voices)
    with tempfile.NamedTemporaryFile(suffix=".onnx") as onnx, open(args.output, "wb") as out:
        onnx.write(wheels.onnx)
        onnx.flush()
        reference = kokoro_check.Reference(pathlib.Path(onnx.name))
        for i, sentence in enumerate(args.sentences.read_text(encoding="utf-8").splitlines()):
            ids = kokoro_check.to_ids(sentence, wheels.vocabulary)
            name = names[i % len(names)]
            frames = reference.frames(ids, wheels.voices[name][len(ids) - 3])
            out.write(struct.pack(f"<q{len(ids)}q", len(ids), *ids))
            out.write(struct.pack("<q", len(name)) + name.encode())
            out.write(struct.pack(f"<q{len(frames)}q", len(frames), *np.asarray(frames).tolist()))


if __name__ == "__main__":
    main()
