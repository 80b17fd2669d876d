"""The reader of ONNX files, against the package onnx, and on what is no such file."""

import pathlib
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from models.convert.onnx_file import read_graph
from models.convert.package import ConvertError


class OnnxFile(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "model.onnx"

    def write(self, tensors: list) -> bytes:
        nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], name="/dec/conv/Conv", dilations=[3], group=-2),
                 helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(np.arange(3, dtype=np.int64)))]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, None])
        w = helper.make_tensor_value_info("w", TensorProto.FLOAT, [1])
        model = helper.make_model(helper.make_graph(nodes, "graph", [x, w], [x], tensors))
        self.path.write_bytes(data := model.SerializeToString())
        return data

    def test_every_type_in_raw_bytes_and_in_typed_fields(self):
        chance, tensors, expected = np.random.default_rng(1), [], {}
        for dtype in (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64, np.uint32, np.uint64, np.bool_):
            array = (100 * chance.normal(size=(2, 3))).astype(np.int64).astype(dtype)
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            for form, raw in (("raw", True), ("typed", False)):
                expected[name := f"{form}-{np.dtype(dtype)}"] = array
                tensors.append(helper.make_tensor(name, kind, array.shape, array.tobytes() if raw else array.ravel(), raw=raw))
        tensors.append(helper.make_tensor("scalar", TensorProto.FLOAT, [], [2.5]))
        tensors.append(helper.make_tensor("empty", TensorProto.FLOAT, [0, 4], []))
        tensors.append(helper.make_tensor("w", TensorProto.FLOAT, [1], [1.0]))
        self.write(tensors)
        graph = read_graph(self.path)
        for name, array in expected.items():
            np.testing.assert_array_equal(graph.constants[name], array, name)
            self.assertEqual(graph.constants[name].dtype, array.dtype)
        self.assertEqual((graph.constants["scalar"].shape, graph.constants["empty"].shape), ((), (0, 4)))
        np.testing.assert_array_equal(graph.constants["c"], [0, 1, 2])
        self.assertEqual(graph.inputs, ["x"])   # w has a value
        self.assertEqual((graph.nodes[0].op_type, graph.nodes[0].name, graph.nodes[0].input), ("Conv", "/dec/conv/Conv", ["x", "w", "b"]))
        self.assertEqual(graph.nodes[0].ints, {"dilations": [3], "group": [-2]})

    def test_a_file_that_was_cut_or_changed_is_refused(self):
        data = self.write([numpy_helper.from_array(np.ones((4, 5), np.float32), "w")])
        for damaged in [data[:length] for length in range(0, len(data) - 1, 3)] + [b"no", b"\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x0b" * 9]:
            self.path.write_bytes(damaged)
            with self.assertRaisesRegex(ConvertError, "is not an ONNX file, or it is damaged: |has no graph"):
                read_graph(self.path)
        chance = np.random.default_rng(2)
        for _ in range(300):
            changed = bytearray(data)
            for place in chance.integers(0, len(data), 3):
                changed[place] = chance.integers(0, 256)
            self.path.write_bytes(changed)
            try:
                read_graph(self.path)
            except ConvertError:
                pass

    def test_tensors_that_lie_elsewhere_or_do_not_fit_are_refused(self):
        tensor = numpy_helper.from_array(np.ones(4, np.float32), "w")
        tensor.dims[0] = 5
        outside = onnx.TensorProto(name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        for bad, message in ((tensor, "'w' has 4 elements, its shape is"), (outside, "'w' lies in another file"),
                             (onnx.TensorProto(name="w", dims=[1], data_type=TensorProto.STRING), "'w' has the type 8"),
                             (onnx.TensorProto(name="w", dims=[-1], data_type=TensorProto.FLOAT), "'w' has the shape")):
            self.write([bad])
            with self.assertRaisesRegex(ConvertError, message):
                read_graph(self.path)
        with self.assertRaisesRegex(ConvertError, "cannot read .*: No such file"):
            read_graph(self.path.with_name("none.onnx"))


if __name__ == "__main__":
    unittest.main()
