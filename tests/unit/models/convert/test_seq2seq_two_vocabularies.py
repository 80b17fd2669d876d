"""Models whose languages have a vocabulary each, of the hub and of Marian: what is written of either, and folders that are wrong."""

import contextlib
import io
import json
import pathlib
import shutil
import tempfile
import unittest

import numpy as np

from models.convert.__main__ import main
from models.convert.safetensors import read_safetensors, write_safetensors
from models.convert.seq2seq_check import Oracle
from models.convert.seq2seq_layout import Network
from models.convert.seq2seq_marian import read_checkpoint
from models.convert.seq2seq_marian_check import Reference
import tiny_checkpoint
from tiny_marian import PRE_NORM, SETTINGS, UNTIED, arrays, write_bin, write_npz

DATA = pathlib.Path("tests/data/translation")
PIECES = tiny_checkpoint.PIECES
TARGET_PIECES, TARGET_END, TARGET_UNKNOWN = 48, 2, 3   # of tiny-de.spm
TIED_TO_DECODER = {**UNTIED, "tied-embeddings": "true"}


def table(words: int, end: int = 0, unknown: int = 1) -> dict[str, int]:
    return {**{f"w{i}": i for i in range(words) if i not in (end, unknown)}, "</s>": end, "<unk>": unknown}


class TwoVocabularies(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.models = pathlib.Path(temporary.name) / "models"
        self.written = self.models / "tiny" / "1"
        self.folder = pathlib.Path(temporary.name) / "tiny"
        self.folder.mkdir()

    def convert(self, *options: str) -> tuple[int, str]:
        command = ["seq2seq", "--force", "--models", str(self.models), str(self.folder), "--source", "en", "--target", "de", *options]
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            return main(command), out.getvalue()

    def assert_refused(self, message: str) -> None:
        ended, said = self.convert("--check", "none")
        self.assertEqual(ended, 1, said)
        self.assertRegex(said, message)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse(self.models.exists() and list(self.models.iterdir()))

    def lines(self, name: str) -> list[str]:
        return (self.written / name).read_text().split("\n")[:-1]

    def network(self) -> Network:
        return Network(json.loads((self.written / "config.json").read_text()), read_safetensors(self.written / "weights.safetensors"))


class OfTheHub(TwoVocabularies):
    def setUp(self):
        super().setUp()
        self.given = {**tiny_checkpoint.config("marian", PIECES), "decoder_vocab_size": TARGET_PIECES + 1,
                      "share_encoder_decoder_embeddings": False, "pad_token_id": TARGET_PIECES,
                      "decoder_start_token_id": TARGET_PIECES, "eos_token_id": TARGET_END}
        self.state = tiny_checkpoint.state(self.given)
        self.write()
        shutil.copy(DATA / "tiny.spm", self.folder / "source.spm")
        shutil.copy(DATA / "tiny-de.spm", self.folder / "target.spm")
        self.write_json("vocab.json", {**table(PIECES), ">>deu<<": 5})
        self.write_json("target_vocab.json", {**table(TARGET_PIECES, TARGET_END, TARGET_UNKNOWN), "<pad>": TARGET_PIECES})

    def write(self) -> None:
        self.write_json("config.json", self.given)
        write_safetensors(self.folder / "model.safetensors", self.state, {})

    def write_json(self, name: str, value) -> None:
        (self.folder / name).write_text(json.dumps(value))

    def test_each_side_gets_its_words(self):
        ended, said = self.convert("--check", "none")
        self.assertEqual(ended, 0, said)
        network = self.network()
        np.testing.assert_array_equal(network.tensors["source_embeddings"], self.state["model.encoder.embed_tokens.weight"])
        np.testing.assert_array_equal(network.tensors["embeddings"], self.state["model.decoder.embed_tokens.weight"])
        self.assertEqual((len(self.lines("words.txt")), len(self.lines("target_words.txt"))), (PIECES, TARGET_PIECES + 1))
        self.assertEqual(self.lines("words.txt")[:6], ["", "", "w2", "w3", "w4", ""])
        self.assertEqual(self.lines("target_words.txt")[:5], ["w0", "w1", "", "", "w4"])
        self.assertEqual((self.written / "target.spm").read_bytes(), (DATA / "tiny-de.spm").read_bytes())
        config = network.config
        self.assertEqual((config["end"], config["source_end"], config["unknown"], config["target_unknown"]),
                         (TARGET_END, 0, 1, TARGET_UNKNOWN))
        self.assertEqual(config["languages"], [{"tag": "de", "code": ">>deu<<", "word": 5}])
        for line in ('target_words_file: "target_words.txt"', 'target_pieces_file: "target.spm"'):
            self.assertIn(f"  {line}\n", (self.written / "model.pbtxt").read_text())

    def test_sides_of_one_size_have_their_own_words_all_the_same(self):
        self.given["vocab_size"] = TARGET_PIECES + 1
        self.state["model.encoder.embed_tokens.weight"] = self.state["model.encoder.embed_tokens.weight"][:TARGET_PIECES + 1]
        self.write()
        self.write_json("vocab.json", table(TARGET_PIECES))
        self.assertEqual(self.convert("--check", "none")[0], 0)
        self.assertNotEqual(self.lines("words.txt"), self.lines("target_words.txt"))

    def test_a_shared_vocabulary_keeps_the_pieces_of_translations(self):
        given = tiny_checkpoint.config("marian", PIECES)
        self.write_json("config.json", given)
        write_safetensors(self.folder / "model.safetensors", tiny_checkpoint.state(given), {})
        (self.folder / "target_vocab.json").unlink()
        self.assertEqual(self.convert("--check", "none")[0], 0)
        self.assertIn('target_pieces_file: "target.spm"', (self.written / "model.pbtxt").read_text())
        self.assertNotIn("target_words", (self.written / "model.pbtxt").read_text())
        self.assertFalse((self.written / "target_words.txt").exists())

    def test_what_does_not_fit_is_named(self):
        self.write_json("target_vocab.json", {"x": 0})
        self.assert_refused("target_vocab.json: has no <unk>")
        self.write_json("target_vocab.json", table(TARGET_PIECES + 2))
        self.assert_refused("target_vocab.json: 'w49' is word 49, but the model has 49 words")
        (self.folder / "target_vocab.json").unlink()
        self.assert_refused("has no target_vocab.json, but the model has 72 words of the source and 49 of the target")
        self.write_json("target_vocab.json", table(TARGET_PIECES))
        self.write_json("vocab.json", {"<unk>": 1})
        self.assert_refused("vocab.json: has no </s>")
        self.write_json("vocab.json", table(PIECES))
        (self.folder / "target.spm").write_bytes(b"no model")
        self.assert_refused("target.spm: not a SentencePiece model")
        self.given["decoder_start_token_id"] = 60
        self.write()
        self.assert_refused("config.json: decoder_start_token_id 60 is not a word, allowed 0..48")


class OfMarian(TwoVocabularies):
    def write(self, change=UNTIED, write=write_npz, file="model.npz") -> None:
        settings = {**SETTINGS, **change}
        write(self.folder / file, arrays(TARGET_PIECES, settings, source_words=PIECES), settings)

    def write_models(self, source: str, target: str) -> None:
        shutil.copy(DATA / "tiny.spm", self.folder / source)
        shutil.copy(DATA / "tiny-de.spm", self.folder / target)

    def test_each_kind_writes_the_words_that_marian_writes(self):
        self.write_models("vocab.src.spm", "vocab.trg.spm")
        for change in (UNTIED, TIED_TO_DECODER, {**UNTIED, **PRE_NORM}):
            for write, file in ((write_npz, "model.npz"), (write_bin, "model.bin")):
                with self.subTest(change, file=file):
                    settings = {**SETTINGS, **change}
                    found = arrays(TARGET_PIECES, settings, source_words=PIECES)
                    if change is TIED_TO_DECODER:
                        del found["decoder_ff_logit_out_W"]
                    write(self.folder / file, found, settings)
                    ended, said = self.convert()
                    self.assertEqual((ended, said.splitlines()[0]), (0, "tiny: 8 sources give Marian's translations, word for word"))
                    package, marian = Oracle(self.network()), Reference(read_checkpoint(self.folder / file), TARGET_END, TARGET_UNKNOWN)
                    for source in ([5, 6, 0], [70, 41, 71, 30, 9, 9, 0]):
                        self.assertEqual(package.translate(source, [33, 4, 39], 12), marian.translate(source, [33, 4, 39], 12)[0])
                    (self.folder / file).unlink()

    def test_only_the_target_has_the_word_that_begins_a_translation(self):
        self.write()
        self.write_models("vocab.src.spm", "vocab.trg.spm")
        self.assertEqual(self.convert()[0], 0)
        network = self.network()
        self.assertEqual((network.source_words, network.words), (PIECES, TARGET_PIECES + 1))
        self.assertEqual((len(self.lines("words.txt")), len(self.lines("target_words.txt"))), (PIECES, TARGET_PIECES + 1))
        config = network.config
        self.assertEqual((config["start"], config["suppressed"]), (TARGET_PIECES, [TARGET_UNKNOWN, TARGET_PIECES]))
        self.assertEqual((config["end"], config["source_end"], config["unknown"]), (TARGET_END, 0, 1))

    def test_tables_are_read_of_each_side(self):
        self.write()
        self.write_models("source.spm", "target.spm")
        for side, words in (("src", PIECES), ("trg", TARGET_PIECES)):
            (self.folder / f"opus.{side}.vocab.yml").write_text("".join(f"{word}: {i}\n" for word, i in table(words).items()))
        self.assertEqual(self.convert()[0], 0)
        self.assertEqual((self.lines("words.txt")[-1], self.lines("target_words.txt")[-2:]), ("w71", ["w47", ""]))
        self.assertEqual((self.written / "target.spm").read_bytes(), (DATA / "tiny-de.spm").read_bytes())

    def test_the_decoder_names_the_sides(self):
        self.write()
        self.write_models("vocab.zh.spm", "vocab.de.spm")
        self.assert_refused("which of vocab.de.spm, vocab.zh.spm is the source's vocabulary, and which the target's\\? "
                            "Name them src.vocab.spm and trg.vocab.spm")
        (self.folder / "decoder.yml").write_text("vocabs:\n  - /there/vocab.zh.spm\n  - vocab.de.spm\n")
        self.assertEqual(self.convert()[0], 0)
        self.assertEqual(len(self.lines("words.txt")), PIECES)

    def test_copies_are_one_vocabulary(self):
        settings = {**SETTINGS}
        write_npz(self.folder / "model.npz", arrays(PIECES, settings), settings)
        for name in ("vocab.src.spm", "vocab.trg.spm"):
            shutil.copy(DATA / "tiny.spm", self.folder / name)
        self.assertEqual(self.convert()[0], 0)
        self.assertFalse((self.written / "target_words.txt").exists())

    def test_what_does_not_fit_is_named(self):
        self.write()
        shutil.copy(DATA / "tiny.spm", self.folder / "vocab.spm")
        self.assert_refused("vocab.spm: is the only vocabulary, but the model has 72 words of the source and 48 of the target")
        (self.folder / "vocab.spm").unlink()
        self.write_models("vocab.trg.spm", "vocab.src.spm")   # the wrong way round
        self.assert_refused("vocab.trg.spm: '.*' is word [0-9]+, but the model has 48 words")
        self.write_models("vocab.src.spm", "vocab.trg.spm")
        write_npz(self.folder / "model.npz", arrays(PIECES, SETTINGS), SETTINGS)
        self.assert_refused("tiny: has a vocabulary of each language, but the model has only Wemb for both")


if __name__ == "__main__":
    unittest.main()
