"""A pair whose languages have a vocabulary each, added by its files: its words are those of Marian's arithmetic, in requests and documents."""

import json
import subprocess
import sys
import urllib.request

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

DATA = ROOT / "tests" / "data" / "translation"
SOURCE, TARGET = (sentencepiece.SentencePieceProcessor(str(DATA / name)) for name in ("tiny.spm", "tiny-zh.spm"))
NAME = "firefox-en-zh"
WORDS = 8   # of a translation, at most: with random weights it seldom ends
TEXTS = ["the cat sat on the mat.", "the old cat.", "a cat and the old mat.", "on the mat sat the cat and the old cat.", "we eat soup and bread."]


@pytest.fixture(scope="module", params=["with a shortlist", "without"])
def pair(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published") / "pair"
    published.bergamot_of_two(folder, shortlist=request.param == "with a shortlist")
    return folder


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, pair):
    folder = tmp_path_factory.mktemp("daemon")
    models = folder / "models"
    subprocess.run([sys.executable, "-m", "models.convert", "add", pair, "--models", models, "--as", NAME], check=True, cwd=ROOT, capture_output=True)
    with daemons.start(folder, models=models) as running:
        yield running


@pytest.fixture(scope="module")
def marian(pair):
    oracle = read_model(find_pair(pair)).oracle()
    return lambda text: TARGET.decode(oracle.translate(SOURCE.encode(text))[:WORDS])


def translate(daemon, *texts, **fields):
    asked = translation.TranslateRequest(model=NAME, texts=texts, search=translation.TranslateSearch(max_target_tokens=WORDS), **fields)
    return [answer.text for answer in daemon.translation.Translate(asked, timeout=PATIENCE).translations]


def test_the_words_are_those_of_marians_arithmetic(daemon, marian):
    expected = [marian(text) for text in TEXTS]
    assert len(set(expected)) == len(TEXTS)
    assert translate(daemon, *TEXTS) == expected


def test_sentences_in_chinese_are_joined_as_chinese_is_written(daemon, marian):
    """Those in capitals are read in small letters, which are all that the vocabulary has."""
    [found] = translate(daemon, " ".join(text.upper() for text in TEXTS))
    expected = [marian(text).strip() for text in TEXTS]
    # What ends with a sign of no script, as a space, keeps the space of its source.
    assert found.replace(" ", "") == "".join(expected).replace(" ", "")
    assert found.count(" ") < sum(text.count(" ") for text in expected) + len(TEXTS) - 1
    [html] = translate(daemon, f"<p>{TEXTS[0].upper()} {TEXTS[1].upper()}</p> <p>{TEXTS[1]}</p>", format=translation.TEXT_FORMAT_HTML)
    assert html == f"<p>{expected[0]}{expected[1]}</p> <p>{expected[1]}</p>"


def test_the_pair_is_listed_with_its_languages(daemon):
    with urllib.request.urlopen(f"http://127.0.0.1:{daemon.ports['http']}/languages", timeout=PATIENCE) as answer:
        languages = {language["code"]: language["targets"] for language in json.load(answer)}
    assert "zh" in languages["en"]
