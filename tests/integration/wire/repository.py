"""Model repositories for tests: links to the demo models, and small TorchScript models written by hand."""

import io
import pathlib
import pickle
import zipfile

from .paths import MODELS
from .stubs import kserve

_MODULE = """\
class Module(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
"""


def link(root: pathlib.Path, *names: str) -> pathlib.Path:
    """A repository with some of the demo models."""
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        assert (MODELS / name / "1" / "model.pbtxt").is_file(), f"{MODELS / name} is not there: run `make models` first"
        (root / name).symlink_to(MODELS / name)
    return root


def copy(root: pathlib.Path, model: str, name: str, **replaced: bytes) -> pathlib.Path:
    """Adds a copy of a demo model to a repository; returns its version's folder. Files can be replaced, '_' for '.'."""
    folder = root / name / "1"
    folder.mkdir(parents=True)
    contents = {file.name: file.read_bytes() for file in (MODELS / model / "1").iterdir() if not file.name.startswith("packed-")}
    for file, data in replaced.items():
        assert file.replace("_", ".", 1) in contents
        contents[file.replace("_", ".", 1)] = data
    for file, data in contents.items():
        (folder / file).write_bytes(data)
    return folder


def write_torchscript(path: pathlib.Path, forward: str) -> None:
    """An archive whose module has this forward method, as TorchScript code; needs no importable torch."""
    instance = type("Module", (), {"__module__": "__torch__"})()
    instance.training = False
    out = io.BytesIO()
    # The Python pickler looks the class up by name; it exists only inside the archive.
    pickler = pickle._Pickler(out, protocol=2)
    pickler.save_global = lambda obj, name=None: pickler.write(b"c__torch__\nModule\n")
    pickler.dump(instance)
    code = _MODULE + "".join(f"  {line}\n" for line in forward.splitlines())
    records = {"data.pkl": out.getvalue(), "code/__torch__.py": code.encode(), "constants.pkl": pickle.dumps((), protocol=2),
               "version": b"3\n", "byteorder": b"little"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in records.items():
            archive.writestr("model/" + name, data)


def add_echo(root: pathlib.Path, name: str = "echo") -> pathlib.Path:
    """A model with several types and free sizes: X = A (FP32 [n]), Y = B (INT8 [2,n]), Z = C (FP16 [n])."""
    folder = root / name / "1"
    folder.mkdir(parents=True)
    (folder / "model.pbtxt").write_text("""\
license: "CC0-1.0"
torchscript {
  file: "model.pt"
  inputs { name: "A" datatype: "FP32" shape: -1 }
  inputs { name: "B" datatype: "INT8" shape: 2 shape: -1 }
  inputs { name: "C" datatype: "FP16" shape: -1 shape: -1 }
  outputs { name: "X" datatype: "FP32" shape: -1 }
  outputs { name: "Y" datatype: "INT8" shape: 2 shape: -1 }
  outputs { name: "Z" datatype: "FP16" shape: -1 shape: -1 }
}
""")
    write_torchscript(folder / "model.pt", """\
def forward(self: __torch__.Module,
  a: Tensor,
  b: Tensor,
  c: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
  return (a, b, c)
""")
    return folder


class Gate:
    """A model whose forward waits until the test opens the gate, so that a request is in flight for exactly as long as a test
    wants. An input of 0 passes at once, as in the warm-up, unless the model is to hang there."""

    def __init__(self, root: pathlib.Path, name: str = "gate", version: int = 1, settings: str = "", in_warm_up: bool = False) -> None:
        self.name = name
        self._file = root.parent / f"{name}-{version}.gate"
        self._file.write_bytes(b"\0")
        folder = root / name / str(version)
        folder.mkdir(parents=True)
        (folder / "model.pbtxt").write_text(f"""\
license: "CC0-1.0"
{settings}
torchscript {{
  file: "model.pt"
  inputs {{ name: "WAIT" datatype: "FP32" shape: 1 }}
  outputs {{ name: "WAITED" datatype: "FP32" shape: 1 }}
}}
""")
        size = "torch.add(int(torch.select(x, 0, 0)), 1)" if in_warm_up else "int(torch.select(x, 0, 0))"
        # What the loop reads depends on the input and goes into the output, so that no optimisation can fold or drop it.
        write_torchscript(folder / "model.pt", f"""\
def forward(self: __torch__.Module,
  x: Tensor) -> Tensor:
  size = {size}
  waits = torch.gt(size, 0)
  waited = x
  while waits:
    door = torch.from_file("{self._file}", False, size, dtype=0, layout=None, device=None, pin_memory=None)
    opened = torch.select(door, 0, 0)
    waited = torch.add(x, opened)
    waits = bool(torch.eq(opened, 0))
  return waited
""")

    def open(self) -> None:
        with self._file.open("r+b") as file:   # without truncating it first: the forward has it mapped
            file.write(b"\1")

    def close(self) -> None:
        with self._file.open("r+b") as file:
            file.write(b"\0")

    def request(self, wait: bool = True) -> kserve.ModelInferRequest:
        tensor = kserve.ModelInferRequest.InferInputTensor(name="WAIT", datatype="FP32", shape=[1])
        tensor.contents.fp32_contents.append(1 if wait else 0)
        return kserve.ModelInferRequest(model_name=self.name, inputs=[tensor])
