"""What can be measured of a voice's sound: loudness, silence, clipping, pitch."""

import wave
from dataclasses import dataclass

import numpy as np

FLOOR_DB = -50  # below the loudest moment: silence
FRAME_S = 0.04
HOP_S = 0.01


@dataclass
class Sound:
    samples: np.ndarray  # mono, -1..1
    rate: int            # hertz

    @property
    def seconds(self):
        return len(self.samples) / self.rate


def read_wav(path):
    with wave.open(str(path)) as file:
        if (file.getnchannels(), file.getsampwidth()) != (1, 2):
            raise ValueError(f"{path}: has {file.getnchannels()} channels of {8 * file.getsampwidth()} bits; one of 16 is needed")
        data = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return Sound(data.astype(np.float64) / 32768, file.getframerate())


def frames(sound):
    """[frames, samples], each 40 ms, one every 10 ms; at least one."""
    size, hop = int(FRAME_S * sound.rate), int(HOP_S * sound.rate)
    samples = np.pad(sound.samples, (0, max(0, size - len(sound.samples))))
    return np.lib.stride_tricks.sliding_window_view(samples, size)[::hop]


def levels_db(sound):
    """Root mean square of each frame, in dB of full scale."""
    return 10 * np.log10(np.mean(frames(sound) ** 2, axis=1) + 1e-12)


def silences(sound):
    """(at the beginning, at the end, the longest within), seconds."""
    levels = levels_db(sound)
    heard = np.flatnonzero(levels > levels.max() + FLOOR_DB)
    within = np.max(np.diff(heard), initial=1) - 1
    return heard[0] * HOP_S, (len(levels) - 1 - heard[-1]) * HOP_S, within * HOP_S


def pitches(sound, lowest=60.0, highest=450.0):
    """Hertz of each voiced frame, by autocorrelation (Boersma 1993, without its interpolation and path)."""
    found = []
    levels = levels_db(sound)
    window = np.hanning(frames(sound).shape[1])
    own = np.correlate(window, window, "full")[len(window) - 1:]
    first, last = int(sound.rate / highest), min(int(sound.rate / lowest), len(window) - 1)
    for frame, level in zip(frames(sound), levels, strict=True):
        if level < levels.max() - 25:
            continue
        frame = (frame - frame.mean()) * window
        spectrum = np.fft.rfft(frame, 2 * len(frame))
        correlation = np.fft.irfft(np.abs(spectrum) ** 2)[:len(frame)]
        if correlation[0] <= 0:
            continue
        correlation = correlation / correlation[0] / (own / own[0] + 1e-9)
        within = correlation[first - 1:last + 1]
        peaks = first + np.flatnonzero((within[1:-1] >= within[:-2]) & (within[1:-1] > within[2:]))
        if not len(peaks) or correlation[peaks].max() < 0.6:
            continue
        # Multiples of the period correlate as well: the shortest that does is the period.
        found.append(sound.rate / peaks[correlation[peaks] > 0.9 * correlation[peaks].max()][0])
    return np.array(found)


def measure(sound):
    """The figures of a recording, by name."""
    start, end, within = silences(sound)
    pitch = pitches(sound)
    low, middle, high = np.percentile(pitch, (5, 50, 95)) if len(pitch) else (0, 0, 0)
    voiced = levels_db(sound)
    return {"seconds": sound.seconds,
            "level_db": float(10 * np.log10(np.mean(sound.samples ** 2) + 1e-12)),
            "loudest_db": float(voiced.max()),
            "peak": float(np.max(np.abs(sound.samples), initial=0)),
            "clipped": int(np.sum(np.abs(sound.samples) >= 32767 / 32768)),
            "silence_before_s": float(start), "silence_after_s": float(end), "longest_pause_s": float(within),
            "pitch_low_hz": float(low), "pitch_hz": float(middle), "pitch_high_hz": float(high)}


def log_mel(sound, bands=80, size=1024):
    """[frames, bands]: dB in bands of equal width on the mel scale, those more than 80 dB below the loudest raised to it."""
    hop = size // 4
    padded = np.pad(sound.samples, (0, max(0, size - len(sound.samples))))
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop] * np.hanning(size)
    power = np.abs(np.fft.rfft(windows)) ** 2

    def mel(hertz):
        return 2595 * np.log10(1 + hertz / 700)

    edges = np.interp(np.linspace(0, mel(sound.rate / 2), bands + 2), mel(np.arange(size // 2 + 1) * sound.rate / size),
                      np.arange(size // 2 + 1))
    bins = np.arange(size // 2 + 1)[:, None]
    filters = np.clip(np.minimum((bins - edges[:-2]) / (edges[1:-1] - edges[:-2]), (edges[2:] - bins) / (edges[2:] - edges[1:-1])), 0, None)
    levels = 10 * np.log10(power @ filters + 1e-12)
    return np.maximum(levels, levels.max() - 80)


def log_mel_distance(a, b):
    """Mean difference of the log mel spectra of two recordings of one length, in dB."""
    return float(np.mean(np.abs(log_mel(a) - log_mel(b))))
