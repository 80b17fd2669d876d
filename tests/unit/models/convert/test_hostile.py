"""Files of strangers that lie, or that would take all memory, end in one message and leave the repository as it was."""

import io
import json
import os
import pathlib
import pickle
import resource
import shutil
import signal
import struct
import sys
import tarfile
import tempfile
import traceback
import unittest
import unittest.mock
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

import published
import random_voice
from models.convert import vits_check
from models.convert.__main__ import main
from repository import Adding
from tiny_marian import SETTINGS, arrays, write_npz

MOST_SECONDS, MOST_BYTES = 20, 600 << 20


class Hostile(Adding):
    """Each file is added by a copy of this process, whose memory and time are bounded."""

    def add(self, path, *options):
        with tempfile.TemporaryFile("w+") as errors:
            if (child := os.fork()) == 0:
                try:
                    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                    os.dup2(errors.fileno(), 2)
                    sys.stdout, sys.stderr = (open(i, "w", errors="backslashreplace", closefd=False) for i in (1, 2))   # as console() has them
                    size = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
                    resource.setrlimit(resource.RLIMIT_AS, (size + MOST_BYTES,) * 2)
                    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS,) * 2)
                    signal.alarm(3 * MOST_SECONDS)   # of a reader that waits
                    status = main(["add", str(path), "--models", str(self.models), *options])
                except BaseException:
                    traceback.print_exc()
                    status = 70
                sys.stderr.flush()
                os._exit(status)
            ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            errors.seek(0)
            return ended, errors.read()


class Voices(Hostile):
    def setUp(self):
        super().setUp()
        self.file = self.root / "voice.onnx"
        self.model = random_voice.network(random_voice.QUALITIES["x_low"], layers=1)

    def write(self, **settings):
        self.file.write_bytes(self.model.SerializeToString())
        (self.root / "voice.onnx.json").write_text(json.dumps(random_voice.settings(random_voice.QUALITIES["x_low"], **settings)))

    def constant(self, name):
        return next(tensor for tensor in self.model.graph.initializer if tensor.name == name)

    def replace(self, name, array):
        self.constant(name).CopyFrom(numpy_helper.from_array(np.asarray(array, np.float32), name))

    def attribute(self, module, name):
        node = next(node for node in self.model.graph.node if node.name.startswith("/" + module.replace(".", "/") + "/"))
        return next(attribute for attribute in node.attribute if attribute.name == name)

    def refuse(self, message, **settings):
        self.write(**settings)
        self.assert_refused(self.file, message)

    def test_a_whole_one_is_added(self):
        self.write()
        with unittest.mock.patch.object(vits_check, "SHORT", vits_check.SHORT[:1]):   # the network takes its time in numpy
            text = self.assert_added(self.file, "voice")
        self.assertIn('language: "en-US"', text)

    def test_weights_that_lie_elsewhere(self):
        tensor = self.constant("dec.conv_pre.weight")
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", "../../../etc/passwd"), ("offset", "0"), ("length", "100")):
            tensor.external_data.add(key=key, value=value)
        self.refuse("the tensor 'dec.conv_pre.weight' lies in another file")

    def test_weights_that_are_no_numbers(self):
        weights = numpy_helper.to_array(self.constant("enc_p.proj.weight")).copy()
        weights[0, 0] = np.nan
        self.replace("enc_p.proj.weight", weights)
        self.refuse("enc_p.proj.weight has values that are not finite")

    def test_weights_that_overflow(self):
        weights = numpy_helper.to_array(self.constant("dec.conv_pre.weight")).copy()
        weights[0, 0] = -1e38
        self.replace("dec.conv_pre.weight", weights)
        self.refuse("dec.conv_pre.weight has values up to 1e+38, allowed are 1e+06; the weights are damaged")

    def test_shapes_that_do_not_fit_each_other(self):
        for name, shape in (("dec.conv_pre.weight", (256, 95, 7)), ("enc_p.encoder.attn_layers.0.conv_q.weight", (96, 1, 1)),
                            ("enc_p.encoder.attn_layers.0.emb_rel_k", (1, 9, 7)), ("enc_p.proj.weight", (192, 96)), ("dp.flows.0.m", (0, 1)),
                            ("enc_p.encoder.norm_layers_1.0.gamma", (95,))):
            kept = onnx.TensorProto()
            kept.CopyFrom(self.constant(name))
            self.replace(name, np.ones(shape))
            with self.subTest(name):
                self.refuse(f"{self.file}: is damaged, or differs from what is published as vits: ")
            self.constant(name).CopyFrom(kept)

    def test_a_sentence_that_never_ends(self):
        self.replace("dp.flows.0.m", [[-40], [0]])
        self.refuse("the network does not speak: a short sentence has ")

    def test_upsamplings_and_dilations_beyond_memory(self):
        for module, name, value, message in (("dec.ups.0", "strides", 1 << 40, "its upsamplings are [1099511627776, 8, 4] times, allowed are 1..64"),
                                             ("dec.ups.1", "strides", 0, "its upsamplings are [8, 0, 4] times"),
                                             ("dec.resblocks.0.convs.0", "dilations", 1 << 40, "has the dilations [1099511627776, 2]"),
                                             ("flow.flows.0.enc.in_layers.1", "dilations", -1, "has the dilations [1, -1, 1, 1]")):
            attribute = self.attribute(module, name)
            kept, attribute.ints[0] = attribute.ints[0], value
            with self.subTest(module):
                self.refuse(message)
            attribute.ints[0] = kept

    def test_symbols_that_the_network_does_not_know(self):
        self.refuse("gives 'z' 64, the network knows 64 symbols", phoneme_id_map={"_": [0], "^": [1], "$": [2], "z": [64]})
        self.refuse("num_speakers is 2, the network knows 1", num_speakers=2)

    def test_bombs_of_protocol_buffers(self):
        # A graph of empty nodes, of one node with empty inputs, and of a tensor with a number a byte.
        for graph, message in ((b"\x0a\x00" * 1_000_000, "more than 50000 nodes"),
                               (self.field(1, b"\x0a\x00" * 1_000_000), "more than 500000 fields"),
                               (self.field(5, b"\x10\x07" + self.field(7, bytes(1_000_000))), "more than 500000 fields")):
            self.write()
            self.file.write_bytes(self.field(7, graph))
            self.assert_refused(self.file, message)

    @staticmethod
    def field(number, data):
        size, length = len(data), bytearray()
        while size > 0x7F:
            length.append(size & 0x7F | 0x80)
            size >>= 7
        return bytes([number << 3 | 2, *length, size]) + data


class Weights(Hostile):
    def setUp(self):
        super().setUp()
        self.folder = self.root / "opus-mt-en-de"
        published.marian(self.folder)

    def safetensors(self, header, data=b"", length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        (self.folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)

    def test_safetensors_whose_header_lies(self):
        half = {"dtype": "F16", "shape": [1 << 19], "data_offsets": [0, 1 << 20]}
        cases = [({f"t{i}": half for i in range(1000)}, "t0 and t1 share bytes"),
                 (b"[" * 1_000_000, "not a safetensors file"), (b'{"a":' * 200_000, "not a safetensors file"),
                 ({"t": half | {"shape": [1 << 60, 1 << 60]}}, "has the shape"), ({"t": half | {"data_offsets": [-8, 1 << 20]}}, "has the shape"),
                 ({"t": half | {"data_offsets": [0]}}, "not a safetensors file"), ({"t": 3}, "not a safetensors file"), ([1], "not a safetensors file"),
                 ({"t": half | {"dtype": "F4"}}, "has the type F4")]
        for header, message in cases:
            with self.subTest(message=message, header=str(header)[:40]):
                self.safetensors(header, bytes(1 << 20))
                self.assert_refused(self.folder, message)
        for length in (1 << 63, 65 << 20, 1 << 20):
            self.safetensors({}, length=length)
            self.assert_refused(self.folder, f"its header has {length} bytes")

    def pickled(self, size, stride, elements=16, compress=zipfile.ZIP_STORED):
        """A checkpoint of one tensor, in the form of torch.save."""
        class Tensor:
            def __reduce__(self):
                return _stub("torch._utils", "_rebuild_tensor_v2"), (Storage(), 0, size, stride, False, {})

        class Storage:
            pass

        class Pickler(pickle._Pickler):
            def persistent_id(self, given):
                return ("storage", _stub("torch", "FloatStorage"), "0", "cpu", elements) if isinstance(given, Storage) else None

            def save_global(self, given, name=None):
                self.write(f"c{given.__module__}\n{given.__qualname__}\n".encode())

        written = io.BytesIO()
        Pickler(written, protocol=2).dump({"model.shared.weight": Tensor()})
        with zipfile.ZipFile(self.folder / "pytorch_model.bin", "w", compress) as archive:
            archive.writestr("archive/data.pkl", written.getvalue())
            archive.writestr("archive/data/0", bytes(4 * elements))

    def test_a_tensor_that_repeats_its_storage_without_end(self):
        self.pickled((1 << 20, 1 << 20), (0, 0))
        self.assert_refused(self.folder, "a tensor reaches beyond its storage")
        self.pickled((4, 4), (1,))
        self.assert_refused(self.folder, "a tensor reaches beyond its storage")

    def test_a_storage_that_grows(self):
        self.pickled((4, 4), (4, 1), elements=25_000_000, compress=zipfile.ZIP_DEFLATED)
        self.assert_refused(self.folder, "are allowed of weights in a file of this size")

    def test_an_npz_file_that_grows(self):
        folder = self.root / "grows"
        folder.mkdir()
        with zipfile.ZipFile(folder / "model.npz", "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("Wemb.npy", "w") as member:
                np.lib.format.write_array_header_1_0(member, {"descr": "<f4", "fortran_order": False, "shape": (25_000_000,)})
                for _ in range(100):
                    member.write(bytes(1_000_000))
        self.assert_refused(folder, "are allowed of weights in a file of this size")

    def test_settings_beyond_every_network(self):
        config = json.loads((self.folder / "config.json").read_text())
        for name, value in (("encoder_layers", 10**12), ("decoder_layers", -1), ("d_model", 10**12), ("d_model", 31), ("d_model", None),
                            ("encoder_attention_heads", 0), ("encoder_attention_heads", 5), ("max_position_embeddings", 10**12), ("encoder_layers", float("nan")),
                            ("decoder_start_token_id", -5), ("eos_token_id", 10**12), ("pad_token_id", "x")):
            (self.folder / "config.json").write_text(json.dumps(config | {name: value}))
            with self.subTest(name, value=value):
                self.assert_refused(self.folder, "" if name in ("encoder_attention_heads", "pad_token_id") else f"{name} ")

    def test_json_that_is_deep(self):
        for name in ("config.json", "vocab.json", "generation_config.json"):
            kept = (self.folder / name).read_text() if (self.folder / name).exists() else None
            (self.folder / name).write_text("[" * 200_000)
            with self.subTest(name):
                self.assert_refused(self.folder, "is not JSON")
            (self.folder / name).write_text(kept) if kept is not None else (self.folder / name).unlink()

    def test_settings_of_marian_that_take_hours(self):
        folder = self.root / "marian"
        folder.mkdir()
        settings = SETTINGS | {"x": "y" * 300_000}
        write_npz(folder / "model.npz", arrays(published.PIECES, settings), settings)
        shutil.copy(published.DATA / "tiny.spm", folder / "vocab.spm")
        self.assert_refused(folder, "characters, 262144 are allowed")


class Archives(Hostile):
    def test_two_members_of_one_name(self):
        with zipfile.ZipFile(self.root / "x.zip", "w") as archive, self.assertWarns(UserWarning):
            archive.writestr("model.onnx", b"one")
            archive.writestr("model.onnx", b"two")
        self.assert_refused(self.root / "x.zip", "has two members of one name")
        with zipfile.ZipFile(self.root / "x.zip", "w") as archive:
            archive.writestr("./model.onnx", b"one")
            archive.writestr("model.onnx", b"two")
        self.assert_refused(self.root / "x.zip", "has two members of one name")
        with tarfile.open(self.root / "x.tar", "w") as archive:
            for name in ("model.onnx", "./model.onnx"):
                archive.addfile(tarfile.TarInfo(name), io.BytesIO())
        self.assert_refused(self.root / "x.tar", "has two members of one name")

    def test_folders_without_end(self):
        for depth in (1500, 3000):
            with zipfile.ZipFile(self.root / "x.zip", "w") as archive:
                archive.writestr("a/" * depth + "model.onnx", b"")
            with self.subTest(depth=depth):
                status, error = self.add(self.root / "x.zip")
                self.assertEqual((status, error.count("\n"), self.models.exists()), (1, 1, False), error)

    def test_a_file_in_the_place_of_a_folder(self):
        with zipfile.ZipFile(self.root / "x.zip", "w") as archive:
            archive.writestr("a", b"")
            archive.writestr("a/model.onnx", b"")
        self.assert_refused(self.root / "x.zip", "cannot unpack")


def _stub(module, name):
    stub = type(name, (), {})
    stub.__module__, stub.__qualname__ = module, name
    return stub


if __name__ == "__main__":
    unittest.main()
