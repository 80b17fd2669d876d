"""The files of kokoro-onnx, kokoro-v1.0.onnx or .int8.onnx and voices-v1.0.bin, of the weights in a folder of the hub: nodes and constants by the
names of its exports. The graph does not run, since a converter reads what it holds."""

import pathlib

import numpy as np
import onnx
from onnx import helper, numpy_helper

from models.convert import kokoro


def _gates(matrix: np.ndarray) -> np.ndarray:
    i, f, c, o = np.split(matrix, 4)   # PyTorch has input, forget, cell, output
    return np.concatenate([i, o, f, c])


class _Export:
    def __init__(self, int8: bool):
        self.int8, self.nodes, self.constants = int8, [], {}

    def constant(self, name: str, value: np.ndarray) -> str:
        self.constants[name] = np.ascontiguousarray(value)
        return name

    def quantized(self, name: str, value: np.ndarray) -> tuple[str, str, str]:
        scale = np.float32(max(np.abs(value).max() / 127, 1e-9))
        return (self.constant(name + "_quantized", np.round(value / scale).astype(np.int8)), self.constant(name + "_scale", scale),
                self.constant(name + "_zero_point", np.int8(0)))

    def product(self, path: str, weight: np.ndarray) -> None:
        if self.int8:
            weight_name, _, zero = self.quantized(f"onnx::MatMul_{len(self.nodes)}", weight.T)
            self.nodes.append(helper.make_node("MatMulInteger", ["x", weight_name, "x_zero", zero], ["y"], name=f"/{path}/MatMul_quant"))
        else:
            weight_name = self.constant(f"onnx::MatMul_{len(self.nodes)}", weight.T)
            self.nodes.append(helper.make_node("MatMul", ["x", weight_name], ["y"], name=f"/{path}/MatMul"))

    def lstm(self, path: str, given: dict[str, np.ndarray]) -> None:
        def both(kind: str) -> np.ndarray:
            return np.stack([_gates(given[f"{kind}_l0{suffix}"]) for suffix in ("", "_reverse")])

        name = f"onnx::LSTM_{len(self.nodes)}"
        bias = self.constant(name + "_B", np.concatenate([both("bias_ih"), both("bias_hh")], axis=1))
        matrices = [both("weight_ih"), both("weight_hh")]
        if not self.int8:
            names = [self.constant(f"{name}_{i}", matrix) for i, matrix in enumerate(matrices)]
            self.nodes.append(helper.make_node("LSTM", ["x", *names, bias], ["y"], name=f"/{path}/LSTM"))
            return
        inputs = []
        for i, matrix in enumerate(matrices):
            weight, scale, zero = self.quantized(f"{name}_{i}", matrix.transpose(0, 2, 1))
            self.constants[scale], self.constants[zero] = np.full(2, self.constants[scale]), np.zeros(2, np.int8)
            inputs.append((weight, scale, zero))
        self.nodes.append(helper.make_node("DynamicQuantizeLSTM", ["x", inputs[0][0], inputs[1][0], bias, "", "", "", "", *inputs[0][1:], *inputs[1][1:]],
                                           ["y"], name=f"/{path}/LSTM_quant"))


def write(hub: pathlib.Path, folder: pathlib.Path, int8: bool = False) -> pathlib.Path:
    weights, voices, _, _ = kokoro.read_folder(hub)
    export = _Export(int8)
    lstms: dict[str, dict[str, np.ndarray]] = {}
    for name, value in weights.items():
        prefix = "decoder." if name.startswith("decoder.") else "encoder."
        module, _, last = name.rpartition(".")
        if "_l0" in last:
            lstms.setdefault(prefix + module, {})[last] = value
        elif last == "weight" and value.ndim == 2 and "embeddings.word" not in name and not module.endswith((".fc", "_embeddings", "LayerNorm")):
            export.product((prefix + module).replace(".", "/").replace("/0", ".0"), value)
        else:
            export.constant(prefix + name, value)
    for module, given in lstms.items():
        export.lstm(module.replace(".", "/").replace("/0", ".0"), given)
    folder.mkdir(parents=True)
    graph = helper.make_graph(export.nodes, "kokoro", [], [], [numpy_helper.from_array(value, name) for name, value in export.constants.items()])
    path = folder / ("kokoro-v1.0.int8.onnx" if int8 else "kokoro-v1.0.onnx")
    onnx.save(helper.make_model(graph), path)
    with open(folder / "voices-v1.0.bin", "wb") as file:
        np.savez(file, **voices)
    return path
