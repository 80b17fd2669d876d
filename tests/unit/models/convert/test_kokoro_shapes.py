"""Weights of Kokoro that a server cannot load are refused by the name of the tensor."""

import pathlib
import tempfile
import unittest

import numpy as np

import published
from models.convert import kokoro
from models.convert.kokoro_shapes import check_shapes
from models.convert.package import ConvertError
from repository import Adding

# The first dimension of these depends on nothing, and the server takes any number of rows.
FREE_ROWS = {"bert.embeddings.token_type_embeddings.weight", "bert.embeddings.position_embeddings.weight"}


class Shapes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            published.kokoro(pathlib.Path(folder))
            weights, _, _, cls.metadata = kokoro.read_folder(pathlib.Path(folder))
        cls.weights = kokoro._clean(weights, "x")

    def refusal(self, **changed) -> str:
        """The message, or nothing if the weights are accepted."""
        weights = {name: value for name, value in (self.weights | changed).items() if value is not None}
        try:
            check_shapes(weights, self.metadata, "x.pth")
        except ConvertError as error:
            return str(error)
        return ""

    def test_a_whole_network_is_accepted(self):
        self.assertEqual(self.refusal(), "")

    def test_each_tensor_is_needed_but_for_the_bias_of_a_convolution(self):
        for name in self.weights:
            module, _, last = name.rpartition(".")
            of_convolution = last == "bias" and self.weights.get(module + ".weight", np.zeros(0)).ndim == 3
            with self.subTest(name):
                message = self.refusal(**{name: None})
                # An upsampling and a pool have their biases always.
                if of_convolution and not (".ups." in name or ".pool." in name):
                    self.assertEqual(message, "")
                else:
                    self.assertRegex(message, r"^x\.pth: \S+ ")

    def test_each_shape_is_checked(self):
        for name, value in self.weights.items():
            with self.subTest(name):
                self.assertIn(f"x.pth: {name} has the shape {[1, *value.shape]}, expected ", self.refusal(**{name: value[None]}))
                message = self.refusal(**{name: np.concatenate([value, value])})
                # Another layer may be the one that no longer fits.
                self.assertEqual(message == "", name in FREE_ROWS, message)

    def test_what_no_shape_tells_is_named(self):
        for changed, message in (({"text_encoder.cnn.0.0.weight": np.zeros((8, 8, 4), np.float32)}, "text_encoder.cnn.0.0.weight has 4 taps; only an odd number is supported"),
                                 ({"bert.embeddings.position_embeddings.weight": np.zeros((2, 8), np.float32)}, "has no room for a phoneme"),
                                 ({"decoder.generator.ups.0.weight": np.zeros((8, 8, 9), np.float32)}, "has 9 taps, which do not fit its stride of 10"),
                                 ({"predictor.lstm.weight_hh_l0": np.zeros((16, 5), np.float32)}, "predictor.lstm.weight_hh_l0 has the shape [16, 5], expected four square gates"),
                                 ({"decoder.decode.1.pool.weight": None}, "decoder.decode.1.pool.weight must be in the last block alone"),
                                 ({"predictor.F0.1.pool.weight": None}, "predictor.F0.0.conv1.weight and those after it do not double the length once")):
            with self.subTest(message):
                self.assertIn(message, self.refusal(**changed))

    def test_settings_that_the_server_refuses(self):
        for changed, message in (({"fft": "20 15"}, "gen_istft_n_fft is 20, expected an even multiple of gen_istft_hop_size, 15"),
                                 ({"block_dilations": "1 3 5;1 3 5;1 3"}, r"resblocks\.2\.alpha1\.2 is there, but resblock_dilation_sizes has 2 dilations"),
                                 ({"block_dilations": "1 3 5;1 3 5"}, r"resblocks\.2\.\S+ "),
                                 ({"albert_heads": "5"}, "has 12 outputs, no multiple of 5 heads"),
                                 ({"fft": "4096 2048", "upsample_strides": "10 6"}, "make 122880 samples of one value, allowed are 65536")):
            with self.subTest(message), self.assertRaisesRegex(ConvertError, message):
                check_shapes(self.weights, self.metadata | changed, "x.pth")


class Checkpoints(Adding):
    def test_one_without_its_last_layer_is_refused(self):
        published.kokoro(self.root / "kokoro", changed={"decoder.generator.conv_post.weight": None})
        self.assert_refused(self.root / "kokoro", "kokoro: decoder.generator.conv_post.weight is missing")

    def test_numbers_beyond_float32_are_refused(self):
        with self.assertRaisesRegex(ConvertError, "x: a.weight has values that are not finite"):
            kokoro._clean({"a.weight": np.array([1e300])}, "x")


if __name__ == "__main__":
    unittest.main()
