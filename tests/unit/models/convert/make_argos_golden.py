"""Writes argos_golden.json: what CTranslate2 makes of the random networks of tiny_argos.py, greedily. Needs ctranslate2, sentencepiece, numpy."""

import json
import pathlib
import random
import tempfile

import ctranslate2
import numpy as np

import tiny_argos

STEPS = 12
KINDS = {"float32": None, "int8": np.int8, "int16": np.int16, "float16": np.float16}


def main() -> None:
    golden = {}
    for name, kind in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder) / "en_de"
            tiny_argos.package(package, kind=kind)
            # The same numbers as the package gets, whatever they were quantised to.
            translator = ctranslate2.Translator(str(package / "model"), compute_type="float32")
            known, chance = tiny_argos.words(), random.Random(1)
            sources = [[chance.choice(known[4:]) for _ in range(chance.randrange(2, 12))] for _ in range(12)]
            suppressed = [[word] for word in ("<unk>", "<blank>", "<s>")]
            results = translator.translate_batch(sources, beam_size=1, max_decoding_length=STEPS, suppress_sequences=suppressed)
            golden[name] = [{"source": " ".join(source), "target": " ".join(result.hypotheses[0])} for source, result in zip(sources, results)]
    path = pathlib.Path(__file__).with_name("argos_golden.json")
    path.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
