"""The file that the C++ side maps: header, order and alignment."""

import json
import pathlib
import struct
import tempfile
import unittest

import numpy as np

from models.convert.safetensors import write_safetensors


class WriteSafetensors(unittest.TestCase):
    def test_every_tensor_is_found_aligned_and_whole(self):
        tensors = {"bytes": np.arange(5, dtype=np.int8), "rows": np.arange(6, dtype=np.float32).reshape(2, 3),
                   "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T, "ids": np.arange(3, dtype=np.int32)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "weights.safetensors"
            write_safetensors(path, tensors, {"format": "test"})
            raw = path.read_bytes()
        (length,) = struct.unpack_from("<Q", raw)
        self.assertEqual((8 + length) % 64, 0)
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


if __name__ == "__main__":
    unittest.main()
