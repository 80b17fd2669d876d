"""A model whose languages have a vocabulary each, converted from Marian's own files: its words are Marian's, whatever a request asks."""

import shutil
import subprocess
import sys

import pytest
import sentencepiece
from wire import daemon as daemons
from wire import tiny_translator
from wire.paths import ROOT
from wire.requests import PATIENCE
from wire.stubs import admin, translation

assert tiny_translator   # it has the tests' tiny networks found
from models.convert.seq2seq_marian import read_checkpoint  # noqa: E402
from models.convert.seq2seq_marian_check import Reference  # noqa: E402
from tiny_marian import SETTINGS, UNTIED, arrays, write_npz  # noqa: E402

DATA = ROOT / "tests" / "data" / "translation"
SOURCE, TARGET = (sentencepiece.SentencePieceProcessor(str(DATA / name)) for name in ("tiny.spm", "tiny-de.spm"))
TEXTS = ["the cat sat on the mat.", "the old cat.", "a cat and the old mat.", "on the mat sat the cat and the old cat."]
NAME = "two"
WORDS = 10   # of a translation, at most


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("published")
    settings = {**SETTINGS, **UNTIED}
    write_npz(folder / "model.npz", arrays(TARGET.vocab_size(), settings, source_words=SOURCE.vocab_size()), settings)
    shutil.copy(DATA / "tiny.spm", folder / "vocab.src.spm")
    shutil.copy(DATA / "tiny-de.spm", folder / "vocab.trg.spm")
    return folder


@pytest.fixture(scope="module")
def daemon(tmp_path_factory, published):
    """The model; and copies with tables of the target that do not fit."""
    folder = tmp_path_factory.mktemp("daemon")
    models = folder / "models"
    subprocess.run([sys.executable, "-m", "models.convert", "seq2seq", "--models", models, published, "--name", NAME, "--source", "en",
                    "--target", "de"], check=True, cwd=ROOT, capture_output=True)
    for name in ("short", "missing"):
        shutil.copytree(models / NAME, models / name)
    table = models / "short" / "1" / "target_words.txt"
    table.write_text("".join(table.read_text().splitlines(keepends=True)[1:]))
    (models / "missing" / "1" / "target_words.txt").unlink()
    with daemons.start(folder, models=models) as running:
        yield running


@pytest.fixture(scope="module")
def marian(published):
    reference = Reference(read_checkpoint(published / "model.npz"), TARGET.eos_id(), TARGET.unk_id())

    def translate(text, prefix=""):
        words, _ = reference.translate(SOURCE.encode(text) + [SOURCE.eos_id()], TARGET.encode(prefix), WORDS)
        return TARGET.decode([word for word in words if word != TARGET.eos_id()])
    return translate


def translate(daemon, *texts, beam_size=1, **fields):
    search = translation.TranslateSearch(beam_size=beam_size, max_target_tokens=WORDS)
    return daemon.translation.Translate(translation.TranslateRequest(model=NAME, texts=texts, search=search, **fields),
                                        timeout=PATIENCE).translations


def test_the_words_are_those_of_marian(daemon, marian):
    expected = [marian(text) for text in TEXTS]
    assert len(set(expected)) > 1
    assert [result.text for result in translate(daemon, *TEXTS)] == expected


def test_a_beginning_is_read_by_the_pieces_of_the_target(daemon, marian):
    prefix = "ich habe"
    assert SOURCE.encode(prefix) != TARGET.encode(prefix)
    results = translate(daemon, *TEXTS, target_prefixes=[prefix] * len(TEXTS))
    assert [result.text for result in results] == [marian(text, prefix) for text in TEXTS]


def test_a_beginning_waits_for_the_first_sentence_that_is_translated(daemon, marian):
    [result] = translate(daemon, f"\U0001F600\n\n{TEXTS[0]}\n\n{TEXTS[1]}", target_prefixes=["ich habe"])
    assert result.text == f"\U0001F600\n\n{marian(TEXTS[0], 'ich habe')}\n\n{marian(TEXTS[1])}"


def test_what_must_survive_does(daemon):
    [result] = translate(daemon, "<p>the <b>cat</b> sat on the mat.</p>", format=translation.TEXT_FORMAT_HTML)
    assert result.text.startswith("<p>") and result.text.endswith("</p>")
    assert result.text.count("<b>") == result.text.count("</b>") == 1


def test_a_beam_finds_its_alternatives_among_the_targets_words(daemon):
    search = translation.TranslateSearch(beam_size=4, hypotheses=4, max_target_tokens=WORDS)
    request = translation.TranslateRequest(model=NAME, texts=[TEXTS[0]], search=search)
    [result] = daemon.translation.Translate(request, timeout=PATIENCE).translations
    assert len(result.alternatives) > 0
    for text in (result.text, *(other.text for other in result.alternatives)):
        assert TARGET.unk_id() not in TARGET.encode(text), text


def test_tables_that_do_not_fit_are_named(daemon):
    failed = {model.name: model.error for model in daemon.admin.ListModels(admin.ListModelsRequest(), timeout=PATIENCE).models
              if model.state == admin.MODEL_STATE_FAILED}
    assert set(failed) == {"short", "missing"}
    assert f"target_words.txt: {TARGET.vocab_size()} lines, but the weights have {TARGET.vocab_size() + 1} tokens" in failed["short"]
    assert "target_words.txt" in failed["missing"]
