"""What `add` does not take is told what it is, and what to do with it."""

import pathlib
import shutil
import unittest
import zipfile

import numpy as np

from models.convert import null
from models.convert.unsupported import missing
from repository import Adding
from torch_file import save

MODULE = "is a TorchScript module, which does not say what goes in and out: copy it into the repository as NAME/1/model.pt"
TORCHSCRIPT = "other networks are served as TorchScript, of torch.jit.script(m).save(), by a model.pbtxt as docs/models.md shows it"
WEIGHTS = "has weights without a description of their network beside it"


class Unsupported(Adding):
    def module(self, path: pathlib.Path) -> pathlib.Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        null.write_identity(path)
        return path

    def test_a_module_of_torchscript_wherever_it_lies(self):
        file = self.module(self.root / "folder/model.pt")
        for place in (file, file.parent, self.module(self.root / "deep/1/net.ts").parents[1], self.module(self.root / "without-an-ending"),
                      self.module(self.root / "models.bin"), self.module(self.root / "module.pth")):
            self.assert_refused(place, MODULE)
        with zipfile.ZipFile(self.root / "x.zip", "w") as archive:
            archive.write(file, "any/name.pt")
        self.assert_refused(self.root / "x.zip", f"{self.root / 'x.zip'}/any/name.pt: {MODULE}")

    def test_a_package_of_the_server_needs_no_conversion(self):
        folder = self.root / "repository/null/1"
        self.module(folder / "model.pt")
        (folder / "model.pbtxt").write_text("torchscript {}")
        for place in (folder, folder.parent, folder.parents[1], folder / "model.pbtxt"):
            self.assert_refused(place, "model.pbtxt: is of a package of Millrace, which needs no conversion: copy NAME/VERSION")
        shutil.make_archive(str(self.root / "packed"), "zip", self.root / "repository", "null")
        self.assert_refused(self.root / "packed.zip", "copy NAME/VERSION")

    def test_a_model_of_triton(self):
        self.module(self.root / "triton/1/model.pt")
        (self.root / "triton/config.pbtxt").write_text('platform: "pytorch_libtorch"')
        self.assert_refused(self.root / "triton", f"config.pbtxt: is Triton's configuration, which is not read; {TORCHSCRIPT}")

    def test_networks_and_weights_alone(self):
        for name in ("net.onnx", "folder/net.ONNX"):
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_bytes(b"\x08\x07")
            self.assert_refused(self.root / name, TORCHSCRIPT)
        self.assert_refused(self.root / "folder", f"folder/net.ONNX: is an ONNX network without the JSON file of a Piper voice; {TORCHSCRIPT}")
        with zipfile.ZipFile(self.root / "exported.pt2", "w") as archive:
            archive.writestr("exported/archive_format", "pt2")
        self.assert_refused(self.root / "exported.pt2", f"is a program of torch.export; {TORCHSCRIPT}")
        for name, old in (("state.pt", False), ("old.pth", True)):
            (folder := self.root / name.partition(".")[0]).mkdir()
            save(folder / name, {"weight": np.zeros(4, np.float32)}, old=old)
            self.assert_refused(folder / name, f"{name}: {WEIGHTS}")
            self.assert_refused(folder, f"{name}: {WEIGHTS}")

    def test_the_file_that_was_named_is_meant_not_its_neighbour(self):
        self.module(self.root / "downloads/another.pt")
        (self.root / "downloads/net.safetensors").write_bytes(bytes(8))
        self.assert_refused(self.root / "downloads/net.safetensors", f"net.safetensors: {WEIGHTS}")

    def test_archives_without_a_model(self):
        with zipfile.ZipFile(self.root / "empty.zip", "w"):
            pass
        with zipfile.ZipFile(self.root / "text.zip", "w") as archive:
            archive.writestr("readme.txt", "x")
        for name in ("empty.zip", "text.zip"):
            self.assert_refused(self.root / name, f"{name}: has none of the models that are supported: a Piper voice")

    def test_names_of_published_models_and_addresses(self):
        for name in ("firefox/en-de", "piper/de_DE-thorsten-medium", "opus-mt-en-de", "hf:Helsinki-NLP/opus-mt-en-fr", "kokoro-82m", "nllb-200-distilled-600M", "m2m100-418m"):
            self.assertIn(f"a published model is fetched by: millrace pull {name}", str(missing(pathlib.Path(name))))
        self.assertIn("https://example.org/x.onnx: is an address; PATH is a file or folder of this machine", str(missing(pathlib.Path("https://example.org/x.onnx"))))
        self.assertIn("is a file or folder of this machine, without file://", str(missing(pathlib.Path("file:///x"))))
        self.assertEqual(str(missing(pathlib.Path("downloads/x.onnx"))), "downloads/x.onnx: no such file or folder")


if __name__ == "__main__":
    unittest.main()
