"""Kokoro with an eighth of its generator's channels: noise in place of speech, in a fraction of the time, with every duration,
shape and operator of the real one."""

import pathlib
import sys

import numpy as np
import safetensors

from . import repository
from .paths import KOKORO, MODELS, ROOT

sys.path.append(str(ROOT))
from models.convert.safetensors import read_safetensors, write_safetensors  # noqa: E402

NARROWER = 8
_GENERATOR = "decoder.generator."
# Sizes that stand for no channels: of the spectrum, of the harmonics, and of the features that the decoder gives to the generator.
_KEPT = {"conv_post.weight": [0], "conv_post.bias": [0], "m_source.l_linear.weight": [0, 1], "m_source.l_linear.bias": [0],
         "noise_convs.0.weight": [1], "noise_convs.1.weight": [1], "ups.0.weight": [0]}


def narrow(name: str, array: np.ndarray) -> np.ndarray:
    if ".fc." in name:   # scales, then shifts, from the style
        return np.concatenate([half[: len(half) // NARROWER] for half in np.split(array, 2)])
    kept = _KEPT.get(name, [])
    return array[tuple(slice(None) if axis in kept or axis > 1 else slice(size // NARROWER) for axis, size in enumerate(array.shape))]


def add(root: pathlib.Path, name: str) -> None:
    """Adds the model to a repository."""
    path = MODELS / KOKORO / "1" / "model.safetensors"
    with safetensors.safe_open(path, "numpy") as file:
        metadata = file.metadata()
    tensors = {key: narrow(key.removeprefix(_GENERATOR), array) if key.startswith(_GENERATOR) else array
               for key, array in read_safetensors(path).items()}
    folder = repository.copy(root, KOKORO, name)
    write_safetensors(folder / "model.safetensors", tensors, metadata)
