"""What the converter makes of Marian's own checkpoints, which ones it refuses, and models that it fetches from the hub."""

import contextlib
import io
import json
import pathlib
import shutil
import tempfile
import unittest
import unittest.mock

import numpy as np
import sentencepiece

from models.convert.__main__ import main
from models.convert.package import ConvertError
from models.convert.safetensors import read_safetensors
from models.convert.seq2seq_check import Oracle
from models.convert.seq2seq_layout import Network
from models.convert.seq2seq_marian import read_checkpoint, read_network
from models.convert.seq2seq_marian_check import Reference, check
from models.convert.seq2seq_vocabulary import Vocabulary, Words, read_marian_vocabulary
from models.convert.seq2seq_yaml import read_numbers, read_settings
import tiny_checkpoint
from tiny_marian import PRE_NORM, SETTINGS, UNTIED, arrays, write_bin, write_npz

DATA = pathlib.Path("tests/data/translation")
PIECES = tiny_checkpoint.PIECES
END, UNKNOWN = 0, 1   # of tiny.spm
WORDS = Words([], UNKNOWN, END)
SHARED = Vocabulary(DATA / "tiny.spm", WORDS, WORDS, "none", {}, {})
RELU = {"transformer-ffn-activation": "relu"}
KINDS = {"post-norm, tied": {}, "post-norm, untied": UNTIED, "pre-norm, tied": PRE_NORM,
         "pre-norm, untied": {**PRE_NORM, **UNTIED, **RELU}}


class InFolder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.models = pathlib.Path(temporary.name) / "models"
        self.folder = pathlib.Path(temporary.name) / "tiny"
        self.folder.mkdir()

    def write(self, change=(), found=None, vocabulary=True) -> pathlib.Path:
        settings = {**SETTINGS, **dict(change)}
        write_npz(self.folder / "model.npz", arrays(PIECES, settings) if found is None else found, settings)
        if vocabulary:
            shutil.copy(DATA / "tiny.spm", self.folder / "vocab.spm")
        return self.folder / "model.npz"

    def convert(self, model=None, *options: str) -> tuple[int, str]:
        command = ["seq2seq", "--force", "--models", str(self.models), str(model or self.folder), "--source", "en", "--target", "de", *options]
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            return main(command), out.getvalue()

    def assert_refused(self, message: str, model=None) -> None:
        ended, said = self.convert(model)
        self.assertEqual(ended, 1, said)
        self.assertRegex(said, message)
        self.assertEqual(said.count("\n"), 1, said)
        self.assertFalse(self.models.exists() and list(self.models.iterdir()))


class Checkpoints(InFolder):
    def test_each_kind_writes_the_words_that_marian_writes(self):
        for kind, change in KINDS.items():
            for write, file in ((write_npz, "model.npz"), (write_bin, "model.bin")):
                with self.subTest(kind, file=file):
                    settings = {**SETTINGS, **change}
                    write(self.folder / file, arrays(PIECES, settings), settings)
                    shutil.copy(DATA / "tiny.spm", self.folder / "vocab.spm")
                    ended, said = self.convert(self.folder / file)
                    self.assertEqual((ended, said.splitlines()[0]), (0, "tiny: 8 sources give Marian's translations, word for word"))
                    written = self.models / "tiny" / "1"
                    package = Oracle(Network(json.loads((written / "config.json").read_text()),
                                             read_safetensors(written / "weights.safetensors")))
                    marian = Reference(read_checkpoint(self.folder / file), END, UNKNOWN)
                    for source in ([5, 6, END], [40, 41, 7, 30, 9, 9, END]):
                        self.assertEqual(package.translate(source, [33, 4, 60], 12), marian.translate(source, [33, 4, 60], 12)[0])

    def test_a_translation_begins_with_zeros_that_nothing_writes(self):
        path = self.write(UNTIED)
        network = read_network(read_checkpoint(path), SHARED)
        self.assertEqual((network.config["start"], network.config["suppressed"]), (PIECES, [UNKNOWN, PIECES]))
        for name in ("embeddings", "source_embeddings", "output"):
            self.assertEqual(len(network.tensors[name]), PIECES + 1)
            self.assertFalse(network.tensors[name][PIECES].any())
        self.assertEqual(network.tensors["output.bias"].shape, (PIECES + 1,))

    def test_places_are_those_of_marian(self):
        positions = read_network(read_checkpoint(self.write()), SHARED).tensors["positions"]
        self.assertAlmostEqual(float(positions[5, 3]), np.sin(5 / 10000 ** (3 / 15)), 5)
        self.assertAlmostEqual(float(positions[7, 31]), np.cos(7 / 10000), 5)

    def test_the_check_notices_each_tensor_and_setting_that_is_wrong(self):
        for kind, change in KINDS.items():
            checkpoint = read_checkpoint(self.write(change))
            network = read_network(checkpoint, SHARED)
            for name, tensor in network.tensors.items():
                if name.endswith("key.bias"):   # adds the same to every score
                    continue
                with self.subTest(kind, tensor=name), self.assertRaisesRegex(ConvertError, "do not translate as Marian's do"):
                    check(checkpoint, Network(network.config, {**network.tensors, name: tensor[..., ::-1].copy()}), SHARED)
            for setting in ({"norm_first": False, "activation": "relu"} if change == PRE_NORM else {"embedding_scale": 1.0},
                            {"encoder_heads": 1}, {"suppressed": [PIECES]}, {"start": 5}):
                with self.subTest(kind, setting=setting), self.assertRaisesRegex(ConvertError, "do not translate as Marian's do"):
                    check(checkpoint, Network({**network.config, **setting}, network.tensors), SHARED)

    def test_an_output_that_lies_transposed_and_one_without_a_bias_are_read(self):
        settings = {**SETTINGS, **UNTIED, "output-omit-bias": "true"}
        found = arrays(PIECES, settings)
        found["decoder_ff_logit_out_Wt"] = found.pop("decoder_ff_logit_out_W").T.copy()
        del found["decoder_ff_logit_out_b"]
        checkpoint = read_checkpoint(self.write(settings, found))
        self.assertEqual(check(checkpoint, read_network(checkpoint, SHARED), SHARED), 8)

    def test_what_the_decoder_is_told_is_the_default(self):
        self.write()
        for decoder, expected in (("", ("beam_size: 4", "length_penalty: 1.0")),
                                  ("beam-size: 6\n", ("beam_size: 6", "length_penalty: 0.0")),
                                  ("models:\n  - model.npz\nbeam-size: 2\nnormalize: 0.6\n", ("beam_size: 2", "length_penalty: 0.6"))):
            if decoder:
                (self.folder / "decoder.yml").write_text(decoder)
            self.assertEqual(self.convert()[0], 0)
            for line in expected:
                self.assertIn(line, (self.models / "tiny" / "1" / "model.pbtxt").read_text())


class Refused(InFolder):
    def test_settings_that_the_network_does_not_have(self):
        for change, message in (
                ({"type": "amun"}, "type 'amun' is not supported, allowed is 'transformer'"),
                ({"transformer-decoder-autoreg": "rnn"}, "transformer-decoder-autoreg 'rnn' is not supported, allowed is 'self-attention'"),
                ({"transformer-decoder-autoreg": "average-attention"}, "transformer-decoder-autoreg 'average-attention'"),
                ({"transformer-ffn-activation": "gelu"},
                 "transformer-ffn-activation 'gelu' is not supported, allowed is 'swish' or 'relu'"),
                ({"transformer-ffn-depth": "3"}, "transformer-ffn-depth '3'"),
                ({"transformer-decoder-ffn-depth": "1"}, "transformer-decoder-ffn-depth '1'"),
                ({"transformer-tied-layers": "\n  - 1\n  - 1"}, "transformer-tied-layers '1, 1' is not supported, allowed is none"),
                ({"transformer-no-projection": "true"}, "transformer-no-projection 'true'"),
                ({"transformer-train-position-embeddings": "true"}, "transformer-train-position-embeddings 'true'"),
                ({"transformer-postprocess-emb": "n"}, "transformer-postprocess-emb 'n'"),
                ({"transformer-pool": "true"}, "transformer-pool 'true'"),
                ({"ulr": "true"}, "ulr 'true'"),
                ({"right-left": "true"}, "right-left 'true'"),
                ({"lemma-dim-emb": "64"}, "lemma-dim-emb '64'"),
                ({"transformer-postprocess": "dar"}, "transformer-postprocess 'dar', transformer-postprocess-top '' together"),
                ({"transformer-postprocess": "dhn"}, "transformer-postprocess 'dhn'"),
                ({**PRE_NORM, "transformer-postprocess-top": "a"}, "transformer-preprocess 'n', .*-top 'a' together are not supported"),
                ({"dim-emb": "none"}, "setting dim-emb is 'none', expected a number")):
            with self.subTest(change):
                self.write(change, arrays(PIECES, {**SETTINGS, **PRE_NORM} if "-top" in message else SETTINGS))
                self.assert_refused(message)

    def test_tensors_that_are_missing_too_many_or_of_another_shape(self):
        whole = arrays(PIECES, SETTINGS)
        for change, message in (({"decoder_l3_self_Wq": whole["Wemb"]}, "decoder_l3_self_Wq have no place in the network"),
                                ({"decoder_l2_context_Wo": None}, "model.npz: has no decoder_l2_context_Wo"),
                                ({"encoder_l1_self_Wk": whole["encoder_l1_self_Wk"][:16]},
                                 r"encoder_l1_self_Wk has shape \[16, 32\], expected \[32, 32\]"),
                                ({"Wemb": whole["Wemb"].astype(np.float64)}, "Wemb is not of float32")):
            with self.subTest(message):
                self.write((), {name: array for name, array in {**whole, **change}.items() if array is not None})
                self.assert_refused(message)

    def test_files_that_are_no_models_of_marian(self):
        self.write()
        (self.folder / "model.npz").write_bytes((self.folder / "model.npz").read_bytes()[:5000])
        self.assert_refused("model.npz: not an npz file of Marian, or it is damaged")
        np.savez(self.folder / "model.npz", Wemb=np.zeros((2, 2), np.float32))
        self.assert_refused("model.npz: has no special:model.yml: not a model of Marian")
        (self.folder / "model.npz").unlink()
        self.assert_refused("has neither config.json nor a model.npz or model.bin of Marian")
        (self.folder / "model.bin").write_bytes(bytes(64))
        self.assert_refused("model.bin: corrupt at byte 16: not a Marian binary of version 1")
        (self.folder / "model.bin").unlink()
        for name in ("a.npz", "b.npz"):
            (self.folder / name).write_bytes(b"")
        self.assert_refused("which of its models\\? Name the file: a.npz, b.npz")

    def test_a_model_of_int8(self):
        write_bin(self.folder / "model.bin", {**arrays(PIECES, SETTINGS), "Wemb": np.zeros((PIECES, 32), np.int8)}, SETTINGS)
        shutil.copy(DATA / "tiny.spm", self.folder / "vocab.spm")
        self.assert_refused("model.bin: Wemb is not of float32")


class Vocabularies(InFolder):
    def test_words_are_the_pieces_of_the_model(self):
        shutil.copy(DATA / "tiny.spm", self.folder / "vocab.deen.spm")
        vocabulary = read_marian_vocabulary(self.folder, PIECES, PIECES)
        self.assertEqual(vocabulary.target.lines[:4], ["", "", "▁the", "."])
        self.assertEqual((len(vocabulary.target.lines), vocabulary.target.lines[PIECES]), (PIECES + 1, ""))
        self.assertEqual((vocabulary.target.end, vocabulary.target.unknown, vocabulary.language_tokens), (END, UNKNOWN, "none"))
        with self.assertRaisesRegex(ConvertError, "is word 70, but the model has 70 words"):
            read_marian_vocabulary(self.folder, 70, 70)

    def test_words_are_those_of_a_table_with_the_pieces_of_the_source(self):
        shutil.copy(DATA / "tiny.spm", self.folder / "source.spm")
        shutil.copy(DATA / "tiny.spm", self.folder / "target.spm")
        (self.folder / "opus.spm32k-spm32k.vocab.yml").write_text(
            '</s>: 0\n<unk>: 1\n>>fra<<: 2\n"\\"": 3\n\'it\'\'s\': 4\n▁a:b: 5\n"\\u2028\\x85": 6\n', encoding="utf-8")
        vocabulary = read_marian_vocabulary(self.folder, 8, 8)
        self.assertEqual(vocabulary.target.lines, ["", "", "", '"', "it's", "▁a:b", "\u2028\x85", "", ""])
        self.assertEqual((vocabulary.language_tokens, vocabulary.tags), ("target_in_source", {">>fra<<": "fr"}))
        self.assertEqual((vocabulary.target.end, vocabulary.target.unknown), (0, 1))
        with self.assertRaisesRegex(ConvertError, "is word 6, but the model has 6 words"):
            read_marian_vocabulary(self.folder, 6, 6)

    def test_a_table_becomes_a_package(self):
        self.write(vocabulary=False)
        shutil.copy(DATA / "tiny.spm", self.folder / "source.spm")
        (self.folder / "vocab.yml").write_text("</s>: 0\n<unk>: 1\n" + "".join(f"w{i}: {i}\n" for i in range(2, PIECES)))
        self.assertEqual(self.convert()[0], 0)
        self.assertEqual((self.models / "tiny" / "1" / "words.txt").read_text().split("\n")[:4], ["", "", "w2", "w3"])

    def test_what_is_not_supported_is_named(self):
        self.write(vocabulary=False)
        self.assert_refused("has no vocab.spm")
        (self.folder / "vocab.yml").write_text("</s>: 0\n")
        self.assert_refused("vocab.yml: without source.spm beside it there is nothing that splits text")
        shutil.copy(DATA / "tiny.spm", self.folder / "source.spm")
        self.assert_refused("vocab.yml: has no <unk>")
        (self.folder / "vocab.yml").write_text("</s>: zero\n")
        self.assert_refused("vocab.yml: line 1: '</s>: zero' is not 'word: number'")
        (self.folder / "vocab.en.fsv").write_text("")
        self.assert_refused("vocab.en.fsv: factored vocabularies are not supported")

    def test_bytes_in_the_place_of_characters_are_refused(self):
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c d", "d c b a"]), model_writer=model, vocab_size=264,
                                                 byte_fallback=True, bos_id=-1, eos_id=0, unk_id=1, minloglevel=2)
        self.write(vocabulary=False)
        (self.folder / "vocab.spm").write_bytes(model.getvalue())
        self.assert_refused(r"vocab.spm: its bytes in the place of rare characters \(--byte_fallback\) are not supported")


class Yaml(InFolder):
    def test_settings_are_text_and_lists_of_text(self):
        self.assertEqual(read_settings('a: ""\nb:\n  - 1\n  - "2"\nc: [x, \'y\']\nd: []\n# no\nversion: v1.9 15:35:16 -0800\n', "here"),
                         {"a": "", "b": ["1", "2"], "c": ["x", "y"], "d": [], "version": "v1.9 15:35:16 -0800"})
        self.assertEqual(read_settings("", "here"), {})
        for wrong, message in (("a: b: 1\n", "here: not YAML: mapping values are not allowed here"), ("- 1\n", "here: expected settings as"),
                               ("a\n", "here: expected settings as"), ("a: [\n", "here: not YAML: ")):
            with self.assertRaisesRegex(ConvertError, message):
                read_settings(wrong, "here")

    def test_a_vocabulary_may_have_any_characters(self):
        path = self.folder / "vocab.yml"
        path.write_bytes('a\u2028b: 3\n~: 4\r\n:: 5\n-: 6\n#: 7\n'.encode())
        self.assertEqual(read_numbers(path), {"a\u2028b": 3, "~": 4, ":": 5, "-": 6, "#": 7})
        path.write_bytes(b"\xff: 3\n")
        with self.assertRaisesRegex(ConvertError, "vocab.yml: not UTF-8"):
            read_numbers(path)


class Place(InFolder):
    def test_what_is_not_there_is_named(self):
        self.assert_refused("Somebody/tiny: no such file or folder; .* pull hf:Somebody/tiny", "Somebody/tiny")
        self.assert_refused("no/such/folder: no such file or folder", "no/such/folder")


if __name__ == "__main__":
    unittest.main()
