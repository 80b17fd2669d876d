"""Tensors that were made of 8-bit integers are stored as these, without loss."""

import pathlib
import tempfile
import unittest

import numpy as np

from models.convert.safetensors import read_safetensors, write_safetensors
from models.convert.scaled_tensors import to_codes


class ScaledTensors(unittest.TestCase):
    def setUp(self):
        self.random = np.random.default_rng(7)

    def stored(self, codes: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> dict[str, np.ndarray]:
        shape = (-1, 1) if scale.size > 1 else ()
        weights = {"w": (codes.astype(np.float32) - zero_point.astype(np.float32).reshape(shape)) * scale.reshape(shape)}
        stored = to_codes(weights, {"w": (scale, zero_point)})
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            write_safetensors(path, stored, {})
            read = read_safetensors(path)
            self.assertEqual(read.keys(), weights.keys())
            self.assertEqual(read["w"].tobytes(), weights["w"].tobytes())
        return stored

    def test_codes_take_a_byte_and_give_the_same_bits(self):
        for kind, low, high in ((np.uint8, 0, 256), (np.int8, -128, 128)):
            codes = self.random.integers(low, high, (5, 40), kind)
            for rows in (1, 5):
                scale = self.random.random(rows, np.float32) / 100
                zero_point = self.random.integers(low, high, rows, kind)
                stored = self.stored(codes, scale, zero_point)
                self.assertEqual((stored["w"].dtype, stored["w.scale"].size, stored["w.zero_point"].size), (np.uint8, rows, rows))
            self.assertEqual(self.stored(codes, np.float32(0.02), kind(3))["w"].dtype, np.uint8)

    def test_what_the_scales_do_not_give_stays_as_it_is(self):
        codes = self.random.integers(0, 256, (5, 40), np.uint8)
        weights = {"w": codes.astype(np.float32) * np.float32(0.1) + np.float32(1e-4)}
        stored = to_codes(weights, {"w": (np.float32([0.1]), np.uint8([0])), "missing": (np.float32([1]), np.uint8([0]))})
        self.assertEqual(stored.keys(), {"w"})
        self.assertIs(stored["w"], weights["w"])


if __name__ == "__main__":
    unittest.main()
