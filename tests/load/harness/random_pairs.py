"""Pairs of Bergamot's architectures with random weights, added to a repository as a person adds them, and what a server makes of texts with them."""

import math
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT), str(ROOT / "tests/integration"), str(ROOT / "tests/unit/models/convert")]

import grpc  # noqa: E402
import numpy as np  # noqa: E402
import published  # noqa: E402
from tiny_marian import write_bin  # noqa: E402
from wire.stubs import translation, translation_grpc  # noqa: E402

# Width, hidden units, layers of the encoder and of the decoder.
ARCHITECTURES = {"tiny": (256, 1536, 6, 2), "base-memory": (384, 1536, 6, 4), "base": (512, 2048, 6, 2)}
CALLERS, PATIENCE = 32, 600
_DEVIATION = 73   # of integers from -127 to 127
_ACTIVATION_SCALE = 16.0   # as in published pairs, about


def make(folder, architecture, vocabulary, words, shortlist=None):
    """A pair from English into Portuguese. Each matrix doubles what it multiplies, about, so that translations differ."""
    folder.mkdir()
    width = ARCHITECTURES[architecture][0]
    arrays = published.bergamot_arrays(*ARCHITECTURES[architecture], words=words, spread=127, bias=0.1)
    # fxtranslate needs the scales of activations, of the output layer too.
    arrays |= {f"{name}_QuantMultA": np.full((1, 1), _ACTIVATION_SCALE, np.float32)
               for name in ["none", *(name for name, array in arrays.items() if array.dtype == np.int8)]}
    write_bin(folder / "model.enpt.intgemm.alphas.bin", arrays, published.BERGAMOT_SETTINGS, _DEVIATION * math.sqrt(width) / 2)
    shutil.copy(vocabulary, folder / "vocab.enpt.spm")
    if shortlist is not None:
        shutil.copy(shortlist, folder / "lex.50.50.enpt.s2t.bin")


def add(folder, models, name):
    subprocess.run([sys.executable, "-m", "models.convert", "add", folder, "--models", models, "--as", name], check=True, cwd=ROOT, capture_output=True)


def translate(address, model, texts, tokens):
    """tokens: of a translation, at most: with random weights it seldom ends."""
    with grpc.insecure_channel(address) as channel, ThreadPoolExecutor(CALLERS) as callers:
        stub = translation_grpc.TranslationServiceStub(channel)

        def one(text):
            search = translation.TranslateSearch(max_target_tokens=tokens)
            asked = translation.TranslateRequest(model=model, texts=[text], source_language="en", target_language="pt", search=search)
            return stub.Translate(asked, timeout=PATIENCE).translations[0].text.strip()
        return list(callers.map(one, texts))
