"""Float32 tensors that were made of 8-bit integers, in a quarter of their bytes and without loss.

A tensor that is (codes - zero point) * scale in float32, bit by bit, is stored as its codes, uint8, beside `<name>.scale`, float32, and
`<name>.zero_point`, uint8. Both have one value, or one for each row of the tensor's first dimension.
"""

from collections.abc import Mapping

import numpy as np

SCALE, ZERO_POINT = ".scale", ".zero_point"
# These map the name of a tensor to its scales and its zero points, which may be negative.
Scales = Mapping[str, tuple[np.ndarray, np.ndarray]]


def _by_row(values: np.ndarray, array: np.ndarray) -> np.ndarray:
    return values.reshape(-1, *[1] * (array.ndim - 1))


def to_codes(weights: Mapping[str, np.ndarray], scales: Scales) -> dict[str, np.ndarray]:
    """The weights, with each as codes that these scales allow without loss."""
    stored = dict(weights)
    for name, (scale, zero_point) in scales.items():
        value = weights.get(name)
        if value is None or value.ndim < 2 or scale.size not in (1, len(value)):
            continue
        scale = np.ascontiguousarray(scale.reshape(-1), np.float32)
        zero_point = np.broadcast_to(zero_point.reshape(-1), scale.shape).astype(np.int32)
        # Signed codes are moved into the range of unsigned ones.
        codes = np.rint(value / _by_row(scale, value)).astype(np.int32) + _by_row(zero_point, value)
        moved = -128 * int(codes.min() < 0)
        codes, zero_point = codes - moved, zero_point - moved
        if min(codes.min(), zero_point.min()) < 0 or max(codes.max(), zero_point.max()) > 255:
            continue
        narrow = {name: codes.astype(np.uint8), name + SCALE: scale, name + ZERO_POINT: zero_point.astype(np.uint8)}
        if to_floats(narrow)[name].tobytes() == np.ascontiguousarray(value).tobytes():
            stored |= narrow
    return stored


def to_floats(stored: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors of a file, with those that are stored as codes as float32."""
    weights = dict(stored)
    for name, codes in stored.items():
        if codes.dtype == np.uint8 and name + SCALE in stored and name + ZERO_POINT in stored:
            scale, zero_point = (_by_row(weights.pop(name + suffix), codes) for suffix in (SCALE, ZERO_POINT))
            weights[name] = (codes.astype(np.float32) - zero_point) * scale
    return weights
