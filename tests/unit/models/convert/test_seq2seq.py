"""What the converter of encoder-decoder transformers reads: names, languages, vocabularies, and folders that are wrong."""

import contextlib
import io
import json
import pathlib
import shutil
import struct
import tempfile
import unittest

import numpy as np

from models.convert import seq2seq_layout
from models.convert.__main__ import main
from models.convert.package import ConvertError
from models.convert.safetensors import read_safetensors, write_safetensors
from models.convert.seq2seq import source_tokens
from models.convert.seq2seq_check import Oracle
from models.convert.seq2seq_languages import code_of, tags
from models.convert.seq2seq_vocabulary import read_vocabulary
from tiny_checkpoint import PIECES, config, state

DATA = pathlib.Path("tests/data/translation")


class Layout(unittest.TestCase):
    def test_tensors_get_our_names(self):
        given = config("m2m_100", 90)
        network = seq2seq_layout.read_network(given, {}, arrays := state(given))
        np.testing.assert_array_equal(network.tensors["decoder.0.cross.key.weight"],
                                      arrays["model.decoder.layers.0.encoder_attn.k_proj.weight"])
        np.testing.assert_array_equal(network.tensors["encoder.0.ffn.norm.bias"],
                                      arrays["model.encoder.layers.0.final_layer_norm.bias"])
        self.assertNotIn("output", network.tensors)
        self.assertNotIn("source_embeddings", network.tensors)
        self.assertTrue(network.config["norm_first"])
        self.assertEqual(network.config["suppressed"], [1])

    def test_embeddings_that_are_not_shared_are_kept_apart(self):
        given = {**config("marian", 90), "tie_word_embeddings": False}
        arrays = state(given)
        arrays["model.encoder.embed_tokens.weight"] = arrays["model.shared.weight"] + 1
        arrays["lm_head.weight"] = arrays["model.shared.weight"] + 2
        network = seq2seq_layout.read_network(given, {}, arrays)
        np.testing.assert_array_equal(network.tensors["source_embeddings"], arrays["model.encoder.embed_tokens.weight"])
        np.testing.assert_array_equal(network.tensors["output"], arrays["lm_head.weight"])
        self.assertFalse(network.config["norm_first"])

    def test_small_networks_are_given_shorter_sentences(self):
        def tokens(dimension, layers, places, wanted=None):
            network = seq2seq_layout.Network({"encoder_layers": 6, "decoder_layers": layers}, {"positions": np.zeros((places, dimension))})
            return source_tokens(network, wanted)
        self.assertEqual(tokens(256, 6, 512), 80)
        self.assertEqual(tokens(512, 2, 512), 80)
        self.assertEqual(tokens(512, 6, 512), 128)
        self.assertEqual(tokens(512, 6, 100), 100)
        self.assertEqual(tokens(512, 6, 512, wanted=200), 200)
        for wanted in (15, 513):
            with self.assertRaisesRegex(ConvertError, f"--max-source-tokens: {wanted} is out of range, allowed 16..512"):
                tokens(512, 6, 512, wanted)

    def test_what_is_not_supported_is_named(self):
        given = config("marian", 90)
        for change, message in (({"model_type": "t5"}, "t5"), ({"activation_function": "tanh"}, "tanh"),
                                ({"normalize_embedding": True}, "normalize_embedding")):
            with self.assertRaisesRegex(ConvertError, message):
                seq2seq_layout.read_network({**given, **change}, {}, state(given))
        arrays = state(given)
        del arrays["model.decoder.layers.0.fc1.bias"]
        with self.assertRaisesRegex(ConvertError, "model.decoder.layers.0.fc1.bias"):
            seq2seq_layout.read_network(given, {}, arrays)

    def test_places_are_those_of_the_papers(self):
        marian = seq2seq_layout.marian_positions(8, 6)
        self.assertAlmostEqual(float(marian[5, 1]), np.sin(5 / 10000 ** (2 / 6)), 6)
        self.assertAlmostEqual(float(marian[5, 4]), np.cos(5 / 10000 ** (2 / 6)), 6)
        m2m = seq2seq_layout.m2m_positions(8, 6, 1)
        self.assertAlmostEqual(float(m2m[0, 0]), np.sin(2), 6)
        self.assertAlmostEqual(float(m2m[0, 5]), np.cos(2 / 10000), 6)

    def test_a_translation_begins_with_its_prefix(self):
        given = config("m2m_100", 90)
        oracle = Oracle(seq2seq_layout.read_network(given, {}, state(given)))
        self.assertEqual(oracle.translate([5, 6, 2], [80], 4)[0], 80)


class Languages(unittest.TestCase):
    def test_codes_become_tags(self):
        self.assertEqual(tags(["eng_Latn", "zho_Hans", "zho_Hant", "ace_Arab", "ace_Latn", "__pt__", ">>fra<<"]), {
            "eng_Latn": "en", "zho_Hans": "zh-Hans", "zho_Hant": "zh-Hant", "ace_Arab": "ace-Arab", "ace_Latn": "ace-Latn",
            "__pt__": "pt", ">>fra<<": "fr"})

    def test_two_codes_of_one_language_keep_their_names(self):
        found = tags(["lvs_Latn", "lav_Latn", "eng_Latn"])
        self.assertEqual(len(set(found.values())), 3)
        self.assertEqual(found["lav_Latn"], "lav-Latn")

    def test_a_person_may_say_tag_or_code(self):
        found = tags(["eng_Latn", "deu_Latn"])
        self.assertEqual(code_of(found, "DE", "--target"), "deu_Latn")
        self.assertEqual(code_of(found, "deu_latn", "--target"), "deu_Latn")
        with self.assertRaisesRegex(ConvertError, "--target: 'xx' is not a language of the model, which has de, en"):
            code_of(found, "xx", "--target")


class Folder(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name) / "model"
        self.folder.mkdir()

    def tearDown(self):
        self.temporary.cleanup()

    def write(self, name: str, value) -> None:
        (self.folder / name).write_text(json.dumps(value))

    def test_words_of_nllb_stand_one_behind_the_pieces(self):
        shutil.copy(DATA / "tiny.spm", self.folder / "sentencepiece.bpe.model")
        self.write("special_tokens_map.json", {"additional_special_tokens": ["eng_Latn", "por_Latn"]})
        vocabulary = read_vocabulary(self.folder, PIECES + 4, PIECES + 4)
        self.assertEqual(vocabulary.source.lines[:4], [""] * 4)
        self.assertEqual(vocabulary.source.lines[4], ".")   # piece 3
        self.assertEqual(vocabulary.languages, {"eng_Latn": PIECES + 1, "por_Latn": PIECES + 2})
        self.assertEqual(vocabulary.source.unknown, 3)

    def test_a_tokenizer_that_numbers_its_languages_is_believed(self):
        shutil.copy(DATA / "tiny.spm", self.folder / "sentencepiece.bpe.model")
        self.write("tokenizer.json", {"added_tokens": [{"content": "eng_Latn", "id": 75}, {"content": "<pad>", "id": 1}]})
        self.assertEqual(read_vocabulary(self.folder, PIECES + 4, PIECES + 4).languages, {"eng_Latn": 75})

    def test_words_of_marian_are_those_of_its_table(self):
        shutil.copy(DATA / "tiny.spm", self.folder / "source.spm")
        self.write("vocab.json", {"</s>": 0, "<unk>": 1, ">>por<<": 2, "x": 3, "<pad>": 4})
        vocabulary = read_vocabulary(self.folder, 5, 5)
        self.assertEqual(vocabulary.source.lines, ["", "", "", "x", ""])
        self.assertEqual((vocabulary.language_tokens, vocabulary.tags), ("target_in_source", {">>por<<": "pt"}))
        self.write("vocab.json", {"<unk>": 1, "x": 5})
        with self.assertRaisesRegex(ConvertError, "'x' is word 5, but the model has 5 words"):
            read_vocabulary(self.folder, 5, 5)

    def test_a_folder_becomes_a_package(self):
        models = self.folder / "models"
        given = config("m2m_100", PIECES + 4)
        self.write("config.json", given)
        write_safetensors(self.folder / "model.safetensors", state(given), {})
        shutil.copy(DATA / "tiny.spm", self.folder / "sentencepiece.bpe.model")
        self.write("special_tokens_map.json", {"additional_special_tokens": ["eng_Latn", "por_Latn"]})
        command = ["seq2seq", "--models", str(models), str(self.folder), "--check", "none", "--source", "en", "--name", "tiny"]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(main(command), 1)
            self.assertIn("--target is needed", errors.getvalue())
            self.assertEqual(main([*command, "--target", "pt"]), 0)
        written = models / "tiny" / "1"
        self.assertIn('target_language: "pt"', (written / "model.pbtxt").read_text())
        self.assertIn("max_source_tokens: 32", (written / "model.pbtxt").read_text())   # as many as it has places
        self.assertEqual(json.loads((written / "config.json").read_text())["languages"][1],
                         {"tag": "pt", "code": "por_Latn", "word": PIECES + 2})
        self.assertEqual(read_safetensors(written / "weights.safetensors")["positions"].shape, (32, 32))

    def test_half_precision_is_read_as_float32(self):
        header = json.dumps({"x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}).encode()
        path = self.folder / "half.safetensors"
        path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack("<HH", 0x3F80, 0xC000))
        np.testing.assert_array_equal(read_safetensors(path)["x"], np.array([1, -2], np.float32))
        path.write_bytes(b"\xff" * 16)
        with self.assertRaisesRegex(ConvertError, "not a safetensors file"):
            read_safetensors(path)


if __name__ == "__main__":
    unittest.main()
