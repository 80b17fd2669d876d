"""What the converter of Kokoro reads: checkpoints without PyTorch, a folder of the hub, parts and vocabularies that are wrong."""

import collections
import hashlib
import json
import pathlib
import tempfile
import unittest

import numpy as np

from models.convert import kokoro
from models.convert.kokoro_checkpoint import read_checkpoint
from models.convert.package import ConvertError
from torch_file import Evil, Stored, save


class Checkpoint(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name) / "x.pth"
        self.addCleanup(self.folder.cleanup)

    def test_tensors_come_back(self):
        array = np.arange(6, dtype=np.float32).reshape(2, 3)
        save(self.path, {"net": collections.OrderedDict(a=Stored(array))})
        np.testing.assert_array_equal(read_checkpoint(self.path)["net"]["a"], array)

    def test_tensors_of_an_old_file_come_back(self):
        arrays = {name: np.arange(6 + i, dtype=np.float32) for i, name in enumerate("abcdefghijkl")}
        save(self.path, collections.OrderedDict({name: Stored(array) for name, array in arrays.items()}), old=True)
        found = read_checkpoint(self.path)
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)

    def test_an_old_file_that_is_cut_or_changed_is_refused(self):
        save(self.path, {"a": Stored(np.arange(40, dtype=np.float32)), "b": Stored(np.arange(3, dtype=np.float32))}, old=True)
        whole = self.path.read_bytes()
        for size in range(14, len(whole)):
            self.path.write_bytes(whole[:size])
            with self.assertRaises(ConvertError):
                read_checkpoint(self.path)
        for place in range(14, len(whole) - 180):
            self.path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:])
            try:
                read_checkpoint(self.path)
            except ConvertError:
                pass
        save(self.path, Evil(), old=True)
        with self.assertRaisesRegex(ConvertError, "x.pth.*print, which no tensor needs"):
            read_checkpoint(self.path)

    def test_a_tensor_beyond_its_storage_is_refused(self):
        save(self.path, Stored(np.zeros((2, 3), np.float32)), stride=(4, 1))
        with self.assertRaisesRegex(ConvertError, "x.pth.*beyond its storage"):
            read_checkpoint(self.path)

    def test_code_is_not_run(self):
        save(self.path, Evil())
        with self.assertRaisesRegex(ConvertError, "x.pth.*print, which no tensor needs"):
            read_checkpoint(self.path)

    def test_other_files_are_refused(self):
        self.path.write_bytes(b"no zip")
        with self.assertRaisesRegex(ConvertError, "x.pth is not a file of torch.save"):
            read_checkpoint(self.path)
        with self.assertRaisesRegex(ConvertError, "cannot read"):
            read_checkpoint(self.path.with_name("missing"))


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        (self.folder / "voices").mkdir()
        self.config = {"vocab": {"a": 1}, "plbert": {"num_hidden_layers": 2, "num_attention_heads": 3},
                       "istftnet": {"upsample_rates": [4, 2], "gen_istft_n_fft": 8, "gen_istft_hop_size": 2,
                                    "resblock_dilation_sizes": [[1, 3], [1, 2]]}}
        self.write_config()

    def write_config(self):
        (self.folder / "config.json").write_text(json.dumps(self.config))

    def test_weight_norm_is_folded_and_prefixes_are_dropped(self):
        v = np.random.default_rng(1).normal(size=(3, 2, 5)).astype(np.float32)
        g = np.array([1, 2, 3], np.float32).reshape(3, 1, 1)
        save(self.folder / "m.pth", {"decoder": {"module.c.weight_v": Stored(v), "module.c.weight_g": Stored(g)}})
        save(self.folder / "voices" / "af.pt", Stored(np.zeros((510, 1, 12), np.float32)))
        weights, voices, vocabulary, metadata = kokoro.read_folder(self.folder)
        expected = g * v / np.sqrt((v**2).sum((1, 2), keepdims=True))
        np.testing.assert_allclose(weights["decoder.c.weight"], expected, rtol=1e-6)
        self.assertEqual(list(weights), ["decoder.c.weight"])
        self.assertEqual(voices["af"].shape, (510, 1, 12))
        self.assertEqual(vocabulary, {"a": 1})
        self.assertEqual(metadata, {"albert_layers": "2", "albert_heads": "3", "upsample_strides": "4 2", "fft": "8 2",
                                    "block_dilations": "1 3;1 2"})

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(ConvertError, "has 0 .pth files"):
            kokoro.read_folder(self.folder)
        save(self.folder / "m.pth", {"decoder": {}})
        del self.config["plbert"]
        self.write_config()
        with self.assertRaisesRegex(ConvertError, "there is no 'plbert'"):
            kokoro.read_folder(self.folder)
        self.config["vocab"] = {"ab": 1}
        self.write_config()
        with self.assertRaisesRegex(ConvertError, "each symbol of one character"):
            kokoro.read_folder(self.folder)

    def test_instance_norms_must_be_the_identity(self):
        kokoro.check_instance_norms({"a.norm.weight": np.ones(3), "a.norm.bias": np.zeros(3)}, "x")
        with self.assertRaisesRegex(ConvertError, "a.norm.bias is not 0.0"):
            kokoro.check_instance_norms({"a.norm.bias": np.ones(3)}, "x")


class Voices(unittest.TestCase):
    def test_english_is_spoken_by_who_is_understood_best_in_it(self):
        japanese = ["jf_alpha", "jf_nezumi", "jm_kumo"]
        self.assertEqual(kokoro.default_voice(japanese, "en-US"), "jm_kumo")
        everybody = ["af_alloy", "af_heart", "bf_emma", *japanese]
        self.assertEqual(kokoro.default_voice(everybody, "en-US"), "af_heart")
        self.assertEqual(kokoro.default_voice(everybody, "en-GB"), "bf_emma")
        self.assertEqual(kokoro.default_voice(["anna", "ben"], "en-US"), "anna")

    def test_a_voice_says_what_it_was_made_for(self):
        text = kokoro.describe_voices(["jf_alpha", "jm_kumo", "pf_dora", "xx"], "jm_kumo")
        self.assertEqual(" ".join(text.split()), 'voices { name: "jf_alpha" language: "ja" default_for: "ja" } '
                         'voices { name: "jm_kumo" language: "ja" } voices { name: "pf_dora" language: "pt-BR" }')
        self.assertNotIn("default_for", kokoro.describe_voices(["af_heart", "jf_alpha"], "af_heart"))


class Parts(unittest.TestCase):
    def test_damaged_parts_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            parts = [pathlib.Path(folder) / name for name in "ab"]
            for part in parts:
                part.write_bytes(part.name.encode())
            expected = hashlib.sha256(b"ab").hexdigest()
            self.assertEqual(kokoro.join_parts(expected, parts), b"ab")
            parts[1].write_bytes(b"c")
            with self.assertRaisesRegex(ConvertError, f"expected {expected}"):
                kokoro.join_parts(expected, parts)


if __name__ == "__main__":
    unittest.main()
