"""Log-mel spectrograms, by which sounds of equal length are compared."""

import numpy as np

SAMPLE_RATE = 24000   # of sounds at another rate the bands lie elsewhere, in the same way for all that are compared
WINDOW = 1024
HOP = 256
BANDS = 80
FLOOR_DB = -80.0   # relative to a sine of full scale


def _mel_filters() -> np.ndarray:
    """[bands, bins]: triangles between points that are equally far apart in mel (2595 log10(1 + f / 700))."""
    top = 2595 * np.log10(1 + SAMPLE_RATE / 2 / 700)
    points = 700 * (10 ** (np.linspace(0, top, BANDS + 2) / 2595) - 1)
    bins = np.arange(WINDOW // 2 + 1) * SAMPLE_RATE / WINDOW
    lower, middle, upper = points[:-2, None], points[1:-1, None], points[2:, None]
    return np.maximum(0, np.minimum((bins - lower) / (middle - lower), (upper - bins) / (upper - middle)))


def log_mel(samples: np.ndarray) -> np.ndarray:
    """[frames, bands] in dB, of samples of which a full scale is 1."""
    frames = np.lib.stride_tricks.sliding_window_view(samples, WINDOW)[::HOP]
    spectrum = np.abs(np.fft.rfft(frames * np.hanning(WINDOW + 1)[:-1])) ** 2 / (WINDOW / 4) ** 2
    return np.maximum(10 * np.log10(spectrum @ _mel_filters().T + 1e-30), FLOOR_DB)


def distance(a: np.ndarray, b: np.ndarray) -> float:
    """The mean distance of two sounds, dB."""
    return float(np.abs(log_mel(a) - log_mel(b)).mean())
