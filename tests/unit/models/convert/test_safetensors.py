"""The file that the C++ side maps: header, order and alignment."""

import json
import pathlib
import struct
import tempfile
import unittest

import numpy as np

from models.convert.package import ConvertError
from models.convert.safetensors import read_safetensors, write_safetensors


class WriteSafetensors(unittest.TestCase):
    def test_every_tensor_is_found_aligned_and_whole(self):
        tensors = {"bytes": np.arange(5, dtype=np.int8), "rows": np.arange(6, dtype=np.float32).reshape(2, 3),
                   "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T, "ids": np.arange(3, dtype=np.int32)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "weights.safetensors"
            write_safetensors(path, tensors, {"format": "test"})
            raw = path.read_bytes()
        (length,) = struct.unpack_from("<Q", raw)
        self.assertEqual(length % 8, 0)
        header = json.loads(raw[8:8 + length])
        self.assertEqual(header.pop("__metadata__"), {"format": "test"})
        self.assertEqual(header.keys(), tensors.keys())
        end_of_all = 0
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            self.assertEqual(begin % tensors[name].itemsize, 0, name)
            self.assertEqual(entry["shape"], list(tensors[name].shape))
            data = np.frombuffer(raw[8 + length + begin:8 + length + end], tensors[name].dtype)
            np.testing.assert_array_equal(data.reshape(entry["shape"]), tensors[name])
            end_of_all = max(end_of_all, end)
        self.assertEqual(len(raw), 8 + length + end_of_all)

    def test_a_file_is_read_with_its_16_bits_widened(self):
        data = struct.pack("<2e", 1.5, -2.0) + struct.pack("<2H", 0x3FC0, 0xC000)
        header = json.dumps({"half": {"dtype": "F16", "shape": [2], "data_offsets": [0, 4]},
                             "brain": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [4, 8]}}).encode()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            path.write_bytes(struct.pack("<Q", len(header)) + header + data)
            tensors = read_safetensors(path)
        for name, shape in (("half", (2,)), ("brain", (1, 2))):
            self.assertEqual((tensors[name].dtype, tensors[name].shape), (np.float32, shape))
            np.testing.assert_array_equal(tensors[name].ravel(), [1.5, -2.0])

    def test_what_is_no_such_file_is_refused_by_name(self):
        header = json.dumps({"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}).encode()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.safetensors"
            for content, message in ((b"no", "model.safetensors: not a safetensors file"),
                                     (struct.pack("<Q", len(header)) + header + bytes(8), "model.safetensors: x has the type F64, allowed are F32")):
                path.write_bytes(content)
                with self.assertRaisesRegex(ConvertError, message):
                    read_safetensors(path)
            with self.assertRaisesRegex(ConvertError, "cannot read .*missing.safetensors: No such file"):
                read_safetensors(path.with_name("missing.safetensors"))


if __name__ == "__main__":
    unittest.main()
