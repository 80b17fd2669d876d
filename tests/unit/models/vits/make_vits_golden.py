"""Writes what onnxruntime makes of the demo voice with all noise off: for each sentence the phonemes and the samples.

Layout, little-endian: int64 count, that many int64 phonemes, int64 count, that many float32 samples; and so on to the end.
"""

import argparse
import pathlib
import struct

from models.convert import vits, vits_check


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=pathlib.Path)
    args = parser.parse_args()
    onnx_file = vits._demo_file()
    voice = vits.read_voice_file(onnx_file.with_name(onnx_file.name + ".json"))
    reference = vits_check.Reference(onnx_file)
    with open(args.output, "wb") as out:
        for sentence in vits_check.SENTENCES:
            ids = vits_check.phoneme_ids(sentence, voice)
            samples = reference.run(ids)
            out.write(struct.pack(f"<q{len(ids)}q", len(ids), *ids))
            out.write(struct.pack("<q", len(samples)) + samples.astype("<f4").tobytes())


if __name__ == "__main__":
    main()
