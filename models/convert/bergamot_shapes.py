"""Whether a server can load a Bergamot model: the shapes of its tensors as models/bergamot/bergamot_weights.cc takes them."""

import pathlib
import re

import numpy as np

from .bergamot_marian import EMBEDDINGS, Int8Matrix, embeddings
from .package import ConvertError

_COLUMNS, _MOST_HIDDEN = 64, 1 << 16
_LAYER = re.compile(r"((?:en|de)coder_l\d+_)(?:self|context|rnn|ffn)_.+")


def check_shapes(weights: dict[str, np.ndarray | Int8Matrix], path: pathlib.Path) -> None:
    """Refuses what a server would refuse, and names the tensor."""
    words, dim = embeddings(weights)[1].values.shape
    for name, value in weights.items():
        if name in EMBEDDINGS or name.endswith("_QuantMultA") or not (layer := _LAYER.fullmatch(name)) and name != "decoder_ff_logit_out_b":
            continue
        matrix = layer is not None and re.search(r"_W[a-z0-9]?$", name) is not None
        if matrix != isinstance(value, Int8Matrix):
            raise ConvertError(f"{path}: {name} is of {'float32' if matrix else 'int8'}, expected {'int8' if matrix else 'float32'}")
        expand = weights.get(f"{layer[1]}ffn_W1") if layer else None
        hidden = len(expand.values) if isinstance(expand, Int8Matrix) else dim
        if name.endswith("ffn_W1") and not (hidden % _COLUMNS == 0 and dim <= hidden <= _MOST_HIDDEN):
            raise ConvertError(f"{path}: {name} has {hidden} hidden units, allowed are multiples of {_COLUMNS} from {dim} to {_MOST_HIDDEN}")
        rows = hidden if name.endswith(("ffn_W1", "ffn_b1")) else dim if layer else words
        if matrix:
            expected, shape = [rows, hidden if name.endswith("ffn_W2") else dim], list(value.values.shape)
        else:
            expected, shape = [rows], [value.size]
        if shape != expected:
            raise ConvertError(f"{path}: {name} has the shape {shape}, expected {expected}")
