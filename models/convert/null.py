"""The null model: a TorchScript identity. What a request costs with it is what the server costs."""

import argparse
import io
import pathlib
import pickle
import zipfile

from .package import check_place, new_version, report_written

PBTXT = """\
license: "CC0-1.0"
batching { max_batch: 64 }
torchscript {
  file: "model.pt"
  inputs { name: "INPUT0" datatype: "FP32" shape: 64 }
  outputs { name: "OUTPUT0" datatype: "FP32" shape: 64 }
  stack: true
}
"""

CODE = """\
class Null(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.Null,
    x: Tensor) -> Tensor:
    return x
"""


def _object() -> bytes:
    """An instance of __torch__.Null, which exists only inside the archive, as TorchScript pickles one."""
    null = type("Null", (), {"__module__": "__torch__"})
    instance = null()
    instance.training = False
    out = io.BytesIO()
    # The Python pickler looks the class up by name; the plain-Python one lets us skip that.
    pickler = pickle._Pickler(out, protocol=2)
    pickler.save_global = lambda obj, name=None: pickler.write(b"c__torch__\nNull\n")
    pickler.dump(instance)
    return out.getvalue()


def write_identity(path: pathlib.Path) -> None:
    """Writes the archive by hand: a conversion then needs no importable torch, which on a CPU box would pull in all of CUDA."""
    records = {"data.pkl": _object(), "code/__torch__.py": CODE.encode(), "constants.pkl": pickle.dumps((), protocol=2),
               "version": b"3\n", "byteorder": b"little"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in records.items():
            archive.writestr(zipfile.ZipInfo("model/" + name), data)   # a fixed date: same bytes on each run


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as", "--name", dest="name", default="null", help="name in the repository (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    check_place(args.models, args.name, args.force)
    with new_version(args.models, args.name) as folder:
        write_identity(folder / "model.pt")
        (folder / "model.pbtxt").write_text(PBTXT)
    report_written(args.models, args.name)
