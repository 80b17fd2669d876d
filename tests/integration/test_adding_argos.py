"""A package of Argos Translate, added by its file: its words are those of the oracle, which are CTranslate2's (tests/unit/models/convert/test_argos.py)."""

import re
import subprocess
import sys

import pytest
import sentencepiece
from wire import daemon as daemons
from wire import mirror
from wire.paths import ROOT
from wire.requests import PATIENCE
from wire.stubs import translation

assert mirror   # it has the tests' tiny networks found
import tiny_argos  # noqa: E402
from models.convert.argos import read  # noqa: E402
from models.convert.moses import text_of_words  # noqa: E402
from models.convert.seq2seq_check import Oracle  # noqa: E402

PIECES = sentencepiece.SentencePieceProcessor(str(ROOT / "tests" / "data" / "translation" / "tiny.spm"))
NAME = "argos-en-de"
MOSES_PAIRS = [("en", "fr"), ("fr", "en"), ("de", "cs"), ("it", "en")]
# Those of the golden texts that are a sentence each and have no abbreviation, of which only sacremoses has a list.
MOSES_TEXTS = {"The cat sat on the mat.", "We don't eat the dogs' soup, but the cat's bread.", "L'homme n'a pas vu l'eau aujourd'hui.", "L'uomo dell'acqua, c'\u00e8 un po' di pane.",
               "Sie sieht's an, aber nicht von hier."}
WORDS = 8   # of a translation, at most
TEXTS = ["the cat sat on the mat.", "the old cat.", "a cat and the old mat.", "on the mat sat the cat and the old cat.", "we eat soup and bread."]


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published") / "en_de"
    tiny_argos.package(folder)
    return folder


@pytest.fixture(scope="module")
def moses_packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed")
    for source, target in MOSES_PAIRS:
        tiny_argos.moses_package(folder / f"{source}_{target}", source, target)
    return folder


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, package, moses_packages):
    folder = tmp_path_factory.mktemp("daemon")
    archive = folder / "translate-en_de-1_3.argosmodel"
    archive.write_bytes(tiny_argos.archive(package))
    for path in (archive, moses_packages):
        subprocess.run([sys.executable, "-m", "models.convert", "add", path, "--models", folder / "models"], check=True, cwd=ROOT, capture_output=True)
    with daemons.start(folder, models=folder / "models") as running:
        yield running


def translate(daemon, *texts, beam_size=1, model=NAME):
    search = translation.TranslateSearch(beam_size=beam_size, max_target_tokens=WORDS)
    asked = translation.TranslateRequest(model=model, texts=texts, search=search)
    return [answer.text for answer in daemon.translation.Translate(asked, timeout=PATIENCE).translations]


def test_the_words_are_those_of_the_oracle(daemon, package):
    known, oracle = tiny_argos.words(), Oracle(read(package).network)

    def expected(text):
        found = oracle.translate([known.index(piece) for piece in PIECES.encode(text, out_type=str)], [], WORDS)
        return "".join(known[word] for word in found if known[word] != "</s>").replace("\u2581", " ").strip()
    wanted = [expected(text) for text in TEXTS]
    assert len(set(wanted)) > 1
    assert translate(daemon, *TEXTS) == wanted


@pytest.mark.parametrize("source, target", MOSES_PAIRS)
def test_texts_are_divided_and_joined_as_moses_and_subword_nmt_do_it(daemon, moses_packages, source, target):
    known, oracle = tiny_argos.moses_words(), Oracle(read(moses_packages / f"{source}_{target}").network)
    entries = [entry for entry in tiny_argos.MOSES["texts"][source] if entry["text"] in MOSES_TEXTS]

    def expected(pieces):
        words = " ".join(known[word] for word in oracle.translate([known.index(piece) for piece in pieces.split()], [], WORDS))
        text = re.sub("@@( |$)", "", words.replace(" </s>", ""))
        for pattern, replacement in text_of_words(target):
            text = re.sub(pattern, replacement, text)
        return text
    wanted = [expected(entry["pieces"]) for entry in entries]
    assert translate(daemon, *(entry["text"] for entry in entries), model=f"argos-{source}-{target}") == wanted


def test_a_beam_and_what_has_no_words_are_answered(daemon):
    assert all(translate(daemon, *TEXTS, beam_size=4))
    assert translate(daemon, "\U0001F600", " 12 ") == ["\U0001F600", " 12 "]
