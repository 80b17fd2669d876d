"""The null model: a TorchScript identity. What a request costs with it is what the server costs."""

import argparse

import torch

from .package import new_version

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


class Null(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--name", default="null", help="name in the repository (default: %(default)s)")


def run(args: argparse.Namespace) -> None:
    with new_version(args.models, args.name) as folder:
        torch.jit.script(Null()).save(str(folder / "model.pt"))
        (folder / "model.pbtxt").write_text(PBTXT)
    print(f"{args.models / args.name / '1'}: written")
