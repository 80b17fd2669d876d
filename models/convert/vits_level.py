"""How much louder a Piper voice is made: its network's samples are quieter than what Piper's own runtime plays."""

import math
import pathlib
import statistics

import numpy as np

from . import vits_check

PEAK = 0.9      # of the middle one of the sentences; the server bends what is above rather than clip it
MOST_DB = 20.0  # as model.pbtxt allows
LONGEST = 120   # characters of a sentence; longer ones take seconds and tell no more


def gain_db(onnx_file: pathlib.Path, voice: dict) -> float:
    """Piper's runtime brings the peak of each sentence to 1. A stream's first piece cannot know it, so a voice has one gain."""
    reference = vits_check.Reference(onnx_file)
    chosen = [sentence for sentence in vits_check.SENTENCES if len(sentence) <= LONGEST]
    return gain_of([float(np.abs(reference.run(vits_check.phoneme_ids(sentence, voice))).max()) for sentence in chosen])


def gain_of(peaks: list[float]) -> float:
    middle = statistics.median(peaks)
    return round(min(max(20 * math.log10(PEAK / max(middle, 1e-6)), 0.0), MOST_DB), 1)
