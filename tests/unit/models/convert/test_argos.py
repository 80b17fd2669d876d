"""Packages of Argos become packages whose words are CTranslate2's; what the engine does not compute is refused by name."""

import contextlib
import json
import pathlib
import shutil
import sys
import types
import unittest
import unittest.mock

import numpy as np

import tiny_argos
from models.convert.argos import read
from models.convert.ctranslate2_file import plain, read_model
from models.convert.package import ConvertError
from models.convert.safetensors import read_safetensors
from models.convert.seq2seq_check import Oracle
from repository import Adding

GOLDEN = json.loads(pathlib.Path(__file__).with_name("argos_golden.json").read_text(encoding="utf-8"))
KINDS = {"float32": None, "int8": np.int8, "int16": np.int16, "float16": np.float16}
WORDS = len(tiny_argos.words())


class Argos(Adding):
    def setUp(self):
        super().setUp()
        self.package = self.root / "translate-en_de-1_3"
        self.model = self.package / "model"


class Words(Argos):
    def assert_words_are(self, golden: list[dict[str, str]]) -> None:
        oracle, known = Oracle(read(self.package).network), tiny_argos.words()
        for record in golden:
            target = record["target"].split()
            found = oracle.translate([known.index(word) for word in record["source"].split()], [], len(target))
            self.assertEqual([known[word] for word in found], target)

    def test_are_those_of_ctranslate2_whatever_they_were_quantised_to(self):
        for name, kind in KINDS.items():
            with self.subTest(name):
                shutil.rmtree(self.package, ignore_errors=True)
                tiny_argos.package(self.package, kind=kind)
                self.assert_words_are(GOLDEN[name])

    def test_are_the_same_in_older_versions_of_the_format(self):
        tiny_argos.package(self.package)
        (self.model / "config.json").unlink()
        known = self.model / "shared_vocabulary.json"
        (self.model / "shared_vocabulary.txt").write_text("".join(word + "\n" for word in json.loads(known.read_text())), encoding="utf-8")
        known.unlink()
        found = tiny_argos.variables(WORDS, WORDS)
        renamed = {name.replace("embeddings_0/", "embeddings/"): array for name, array in found.items()}
        flags = {name.partition("/")[2]: renamed.pop(name) for name in list(renamed) if renamed[name].ndim == 0}
        for version, revision in ((5, 5), (4, 4), (3, 3)):
            tiny_argos.write_model(self.model / "model.bin", renamed | flags, version, revision)
            self.assert_words_are(GOLDEN["float32"])

    def test_of_a_matrix_that_two_names_share(self):
        tiny_argos.package(self.package)
        found = tiny_argos.variables(WORDS, WORDS)
        tied = tiny_argos.quantised(found | {"decoder/projection/weight": found["decoder/embeddings/weight"]}, np.int8)
        del tied["decoder/projection/weight"], tied["decoder/projection/weight_scale"]
        tiny_argos.write_model(self.model / "model.bin", tied, aliases={"decoder/projection/weight": "decoder/embeddings/weight"})
        self.assertNotIn("output", read(self.package).network.tensors)
        variables = read_model(self.model / "model.bin")
        self.assertTrue((plain(variables, "decoder/projection/weight") == plain(variables, "decoder/embeddings/weight")).all())


class Added(Argos):
    def test_as_it_is_published(self):
        tiny_argos.package(self.root / "unpacked" / "en_de")
        archive = self.root / "translate-en_de-1_3.argosmodel"
        archive.write_bytes(tiny_argos.archive(self.root / "unpacked" / "en_de"))
        text = self.assert_added(archive, "argos-en-de")
        for line in ('source_language: "en"', 'target_language: "de"', "beam_size: 4", "length_penalty: 0.2"):
            self.assertIn(line, text)
        written = self.models / "argos-en-de/1"
        config = json.loads((written / "config.json").read_text())
        self.assertFalse(config["has_source_end"])
        self.assertEqual((config["start"], config["end"], config["suppressed"]), (2, 3, [0, 1, 2]))
        self.assertEqual((written / "words.txt").read_text().split("\n")[:5], ["", "", "", "", tiny_argos.words()[4]])
        self.assertEqual(len(read_safetensors(written / "weights.safetensors")["positions"]), tiny_argos.PLACES)

    def test_every_package_of_a_folder_at_once(self):
        packages = self.root / "packages"
        for source, target in (("en", "zt"), ("pb", "en")):
            tiny_argos.package(packages / f"{source}_{target}", source, target)
        (packages / "notes.txt").write_text("x")
        self.assertEqual(self.add(packages), (0, ""))
        self.assertEqual({model.name for model in self.models.iterdir()}, {"argos-en-zt", "argos-pb-en"})
        self.assertIn('target_language: "zh-Hant"', (self.models / "argos-en-zt/1/model.pbtxt").read_text())
        self.assertIn('source_language: "pt-BR"', (self.models / "argos-pb-en/1/model.pbtxt").read_text())
        status, error = self.add(packages, "--as", "one")
        self.assertEqual((status, "is the name of one model" in error), (1, True), error)

    def test_a_package_that_is_not_supported_does_not_keep_the_others_away(self):
        packages = self.root / "packages"
        for source, target in (("de", "en"), ("en", "de"), ("en", "fr")):
            tiny_argos.package(packages / f"{source}_{target}", source, target)
        (packages / "en_de" / "sentencepiece.model").unlink()
        code, out, errors = self.command("add", packages, "--json")
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((code, [event["event"] for event in events]), (1, ["installed", "installed", "notice", "error"]))
        self.assertEqual({model.name for model in self.models.iterdir()}, {"argos-de-en", "argos-en-fr"})
        self.assertIn(f"{packages}: 1 of its 3 models were not added", errors)
        status, errors = self.add(packages, "--force")
        self.assertEqual((status, errors.count("\n")), (1, 2))
        self.assertIn(str(packages / "en_de"), errors.splitlines()[0])

    def test_with_options(self):
        tiny_argos.package(self.package)
        text = self.assert_added(self.package, "mine", "--as", "mine", "--target", "gsw", "--precision", "int8")
        for line in ('target_language: "gsw"', "PRECISION_INT8"):
            self.assertIn(line, text)

    def test_vocabularies_of_each_language(self):
        tiny_argos.package(self.package)
        (self.model / "shared_vocabulary.json").unlink()
        source, target = tiny_argos.words(), tiny_argos.words("tiny-de.spm")
        for name, known in (("source", source), ("target", target)):
            (self.model / f"{name}_vocabulary.json").write_text(json.dumps(known))
        tiny_argos.write_model(self.model / "model.bin", tiny_argos.variables(len(source), len(target)))
        text = self.assert_added(self.package, "argos-en-de")
        self.assertIn('target_words_file: "target_words.txt"', text)


    def test_texts_that_moses_and_merges_divide(self):
        tiny_argos.moses_package(self.package)
        text = self.assert_added(self.package, "argos-en-fr")
        for line in ('pieces_file: "source.json"', 'target_pieces_file: "target.json"'):
            self.assertIn(line, text)
        written = self.models / "argos-en-fr/1"
        source, target = (json.loads((written / f"{side}.json").read_text()) for side in ("source", "target"))
        self.assertEqual((source["merges"][0], source["own_end"], len(target["merges"])), ("t h", False, len(tiny_argos.MOSES["codes"]) - 1))
        self.assertNotEqual(source["dividing"], target["dividing"])
        lines = (written / "words.txt").read_text(encoding="utf-8").splitlines()
        known = dict(zip(tiny_argos.moses_words(), lines))
        self.assertEqual((known["</s>"], known["c@@"], known["at"]), ("", "c", "at\u2581"))

    def test_a_file_of_a_package_stands_for_it(self):
        tiny_argos.moses_package(self.package)
        for i, inside in enumerate(("bpe.model", "metadata.json", "model", "model/model.bin", "model/config.json")):
            self.assertEqual(self.add(self.package / inside, "--as", f"from-{i}"), (0, ""))

    def test_merges_of_the_first_version(self):
        tiny_argos.moses_package(self.package)
        merges = self.package / "bpe.model"
        merges.write_text("\ufeffa b\r\nb c\r\na b\r\n", encoding="utf-8")
        self.assert_added(self.package, "argos-en-fr")
        source = json.loads((self.models / "argos-en-fr/1/source.json").read_text())
        self.assertEqual((source["merges"], source["own_end"]), (["a b", "b c"], True))

    def test_abbreviations_are_those_of_sacremoses_where_that_is_installed(self):
        class Prefixes:
            def words(self, language):
                return [f"St-{language}", "No #NUMERIC_ONLY#"]

        modules = {"sacremoses": types.ModuleType("sacremoses"), "sacremoses.corpus": types.SimpleNamespace(NonbreakingPrefixes=Prefixes)}
        tiny_argos.moses_package(self.package)
        with unittest.mock.patch.dict(sys.modules, modules):
            self.assert_added(self.package, "argos-en-fr")
        self.assertIn("St\\\\-en", (self.models / "argos-en-fr/1/source.json").read_text())


    def test_merges_that_are_of_other_words(self):
        tiny_argos.moses_package(self.package)
        known = self.model / "shared_vocabulary.json"
        known.write_text(json.dumps([word.replace("@@", "\uffed") for word in tiny_argos.moses_words()]))
        self.assert_refused(self.package, "its vocabulary has no part of a word, which ends with @@")


class Refused(Argos):
    def setUp(self):
        super().setUp()
        tiny_argos.package(self.package)

    def write(self, change: dict[str, np.ndarray | None], **options: int) -> None:
        found = tiny_argos.variables(WORDS, WORDS) | change
        tiny_argos.write_model(self.model / "model.bin", {name: array for name, array in found.items() if array is not None}, **options)

    def test_networks_that_the_engine_does_not_have(self):
        relative = "encoder/layer_0/self_attention/relative_position_keys"
        for change, message in (({relative: np.zeros((5, 8), np.float32)}, f"{relative} have no place in the network that is served"),
                                ({"encoder/activation": np.int8(3), "decoder/activation": np.int8(3)}, "activation 3 is not supported"),
                                ({"decoder/pre_norm": np.int8(0)}, "pre_norm of the encoder is not that of the decoder"),
                                ({"decoder/start_from_zero_embedding": np.int8(1)}, "start_from_zero_embedding have no place"),
                                ({"encoder/position_encodings/encodings": None}, "has no encoder/position_encodings/encodings"),
                                ({"decoder/layer_1/attention/linear_1/bias": np.zeros(3, np.float32)}, "linear_1 has shape [64, 32] and 3 biases")):
            self.write({name: None if array is None else np.asarray(array) for name, array in change.items()})
            self.assert_refused(self.package, message)

    def test_words_that_do_not_fit(self):
        known = self.model / "shared_vocabulary.json"
        known.write_text(json.dumps(tiny_argos.words()[:-1]))
        self.assert_refused(self.package, f"has {WORDS} words of the target, but the vocabulary beside it {WORDS - 1}")
        for text, message in (("{}", "is no list of words"), ("[1]", "is no list of words"), ("[" * 100_000, "is not JSON"),
                              ('["a"]', "its vocabulary has no <unk>")):
            known.write_text(text)
            self.assert_refused(self.package, message)
        known.unlink()
        self.assert_refused(self.package, "has neither shared_vocabulary.json or .txt nor those of source and target")

    def test_settings_that_the_engine_does_not_have(self):
        for change, message in (({"add_source_bos": True}, "a source that begins with <s>"), ({"decoder_start_token": "<x>"}, "begins with '<x>'")):
            (self.model / "config.json").write_text(json.dumps(tiny_argos.SETTINGS | change))
            self.assert_refused(self.package, message)

    def test_packages_of_other_kinds(self):
        metadata = self.package / "metadata.json"
        given = json.loads(metadata.read_text())
        for change, message in (({"type": "sbd"}, "type is 'sbd', only 'translate' is supported"), ({"target_prefix": "__de__"}, "only packages of one"),
                                ({"from_code": None}, "--source and --target are needed")):
            metadata.write_text(json.dumps(given | change))
            self.assert_refused(self.package, message)
        metadata.write_text(json.dumps(given))
        (self.package / "sentencepiece.model").unlink()
        self.assert_refused(self.package, "has neither sentencepiece.model nor bpe.model")

    def test_damaged_merges(self):
        (self.package / "sentencepiece.model").rename(merges := self.package / "bpe.model")
        self.assert_refused(self.package, "bpe.model: is not of subword-nmt")
        for text, message in (("", "has no merges"), ("#version: 0.2\n", "has no merges"), ("#version: 0.3\na b\n", "is of version '0.3'"),
                              ("a b\nc\n", "merge 2 is 'c', expected two parts"), ("#version: 0.2\na b c\n", "merge 1 is 'a b c'"), ("a b\n\n", "merge 2 is ''")):
            merges.write_text(text)
            self.assert_refused(self.package, message)

    def test_damaged_models(self):
        whole = (self.model / "model.bin").read_bytes()
        for size in range(0, len(whole), len(whole) // 9):
            (self.model / "model.bin").write_bytes(whole[:size])
            self.assert_refused(self.package, "model.bin")
        for version in (1, 2, 7, 1 << 31):
            self.write({}, version=version)
            self.assert_refused(self.package, "allowed are 3..6")
        self.write({"encoder/layer_norm/gamma": np.full(tiny_argos.DIM, np.nan, np.float32)})
        self.assert_refused(self.package, "the weights are damaged")
        found = tiny_argos.quantised(tiny_argos.variables(WORDS, WORDS), np.int8)
        for scale in (None, np.zeros(WORDS, np.float32), np.ones(3, np.float32)):
            self.write(found | {"decoder/projection/weight_scale": scale})
            self.assert_refused(self.package, "decoder/projection/weight has no scale for each of its rows")

    def test_headers_that_lie(self):
        path = self.model / "model.bin"
        whole = path.read_bytes()
        for at in range(4, 400):
            path.write_bytes(whole[:at] + b"\xff" + whole[at + 1:])
            with contextlib.suppress(ConvertError):
                read(self.package)


if __name__ == "__main__":
    unittest.main()
