"""Pairs of every width that Mozilla publishes, and of widths and heads that nobody does yet, added by their files, are served."""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import sentencepiece
from wire import daemon as daemons
from wire import tiny_translator
from wire.paths import ROOT
from wire.requests import PATIENCE
from wire.stubs import translation

assert tiny_translator   # it has the tests' tiny networks found
import published  # noqa: E402
from models.convert.bergamot import read_model  # noqa: E402
from models.convert.bergamot_pair import find_pair  # noqa: E402
from tiny_marian import write_bin  # noqa: E402

# Width, hidden units, layers of the encoder and of the decoder.
ARCHITECTURES = {"tiny": (256, 1536, 6, 2), "base-memory": (384, 1536, 6, 4), "base": (512, 2048, 6, 2),
                 "192-wide": (192, 768, 6, 2), "320-wide": (320, 1280, 6, 2), "448-wide": (448, 1792, 6, 2), "12-heads": (192, 320, 2, 2)}
HEADS = {"12-heads": "12"}   # of those that have not 8
PIECES = sentencepiece.SentencePieceProcessor(str(ROOT / "tests" / "data" / "translation" / "tiny.spm"))
WORDS = 8   # of a translation, at most: with random weights it seldom ends
TEXTS = ["the cat sat on the mat.", "the old cat.", "a cat and the old mat.", "on the mat sat the cat and the old cat.", "the mat."]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    folders = {}
    for name, architecture in ARCHITECTURES.items():
        folders[name] = folder = tmp_path_factory.mktemp(name)
        # Weights whose words stand out, so that rounding does not decide between two of them.
        write_bin(folder / "model.ende.intgemm.alphas.bin", published.bergamot_arrays(*architecture, spread=127, bias=0.3),
                  published.BERGAMOT_SETTINGS | {"transformer-heads": HEADS.get(name, "8")}, 300)
        shutil.copy(ROOT / "tests" / "data" / "translation" / "tiny.spm", folder / "vocab.ende.spm")
    return folders


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("daemon")
    for name, pair in pairs.items():
        subprocess.run([sys.executable, "-m", "models.convert", "add", pair, "--models", folder / "models", "--as", name], check=True, cwd=ROOT,
                       capture_output=True)
    with daemons.start(folder, models=folder / "models") as running:
        yield running


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_the_words_of_each_width_are_those_of_marians_arithmetic(daemon, pairs, name):
    oracle = read_model(find_pair(pairs[name])).oracle()
    asked = translation.TranslateRequest(model=name, texts=TEXTS, source_language="en", target_language="de",
                                         search=translation.TranslateSearch(max_target_tokens=WORDS))
    found = [result.text.strip() for result in daemon.translation.Translate(asked, timeout=PATIENCE).translations]
    with np.errstate(over="ignore"):
        assert found == [PIECES.decode(oracle.translate(PIECES.encode(text))[:WORDS]).strip() for text in TEXTS]


def add(daemon, pairs, name, server):
    # The daemon's repository is the folder that its log lies beside.
    return subprocess.run([sys.executable, "-m", "models.convert", "add", pairs["tiny"], "--models", daemon.log.parent / "models", "--as", name,
                           "--load", server], check=False, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_a_running_server_serves_what_is_added(daemon, pairs):
    ended = add(daemon, pairs, "later", f"http://127.0.0.1:{daemon.ports['http']}")
    assert (ended.returncode, ended.stderr) == (0, ""), ended
    asked = translation.TranslateRequest(model="later", texts=TEXTS)
    assert len(daemon.translation.Translate(asked, timeout=PATIENCE).translations) == len(TEXTS)


def test_a_server_that_does_not_load_it_is_named(daemon, pairs):
    ended = add(daemon, pairs, "unserved", "http://127.0.0.1:1")
    assert ended.returncode == 1 and ended.stderr.count("\n") == 1
    assert "unserved: is installed, but http://127.0.0.1:1 does not load it" in ended.stderr
    assert (daemon.log.parent / "models" / "unserved" / "1" / "model.pbtxt").exists()
