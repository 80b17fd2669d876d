"""Compares the numpy network, with the weights that were read, against onnxruntime on the original file."""

import itertools
import pathlib
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator

import numpy as np

from .package import ConvertError
from .vits_network import Network
from .vits_voice_file import LETTERS

TOLERANCE = 1e-3   # greatest difference of two samples, which lie in -1 .. 1

# 1 to 60 words.
SENTENCES = [
    "Yes.",
    "Good evening!",
    "Where is it?",
    "The kettle is boiling.",
    "Please close the heavy door.",
    "Seven grey geese crossed the road.",
    "My sister plays the cello on Thursdays.",
    "The last train to the coast leaves at nine.",
    "Nobody knew why the lights in the old harbour went out.",
    "If it rains tomorrow, we will move the tables into the big barn.",
    "She wrote the address on a paper bag, folded it twice, and put it in her coat.",
    "The museum opens at ten; visitors who come early may wait in the garden behind the east wing.",
    "After three hours of walking we reached a small lake, cold and perfectly clear, where nobody had lit a fire for "
    "years.",
    "He measured the shelf, cut the board, sanded its edges, and found, of course, that the wall behind it was "
    "anything but straight or even.",
    "When the committee finally published its report, most of the villagers had already decided for themselves what "
    "had caused the flood, and no table of figures would change that.",
    "The baker gets up at two, lights the oven, kneads the first dough by hand because the machine wakes the "
    "neighbours, and by five o'clock the whole street smells of bread and burnt sugar.",
    "Although the river looked calm from the bridge, the ferryman refused to cross before noon, for he had seen how "
    "quickly the current turned after a night of rain, and he did not trust the new rope at all.",
    "In the spring they planted beans, carrots and onions; in the summer they carried water up the hill twice a day; "
    "in the autumn they sold what they could not eat, and in the long winter they mended tools and told stories.",
    "The engineer explained, slowly and with many drawings, that the tower did not lean because of the wind, as the "
    "newspapers kept saying, but because one of its four corners stood on clay, which swells and shrinks with every "
    "season, and that the cure would be cheap but boring.",
    "On the first day of the new year my grandfather would take the tall clock apart on the kitchen table, clean every "
    "wheel with a soft brush, oil the bearings with one drop each, and put it together again before supper, humming, "
    "while we children were allowed to watch but never, under any circumstances, to touch anything at all.",
]


def phoneme_ids(sentence: str, voice: dict) -> list[int]:
    """What the voice reads: start, each phoneme followed by a pad, end. Enough for a check; serving has its own front end."""
    text = _letters(sentence, voice) if voice.get("phoneme_type") == LETTERS else _spoken(sentence, voice)
    table = voice["phoneme_id_map"]
    ids = list(table["^"])
    for phoneme in unicodedata.normalize("NFD", text):
        if phoneme in table:
            ids += table["_"] + table[phoneme]
    return ids + table["_"] + table["$"]


def _spoken(sentence: str, voice: dict) -> str:
    program = shutil.which("espeak-ng")
    if program is None:
        raise ConvertError("a Piper voice needs the program espeak-ng, to speak and to be checked: apt-get install espeak-ng, or brew install espeak-ng")
    language = voice.get("espeak", {}).get("voice", "en-us")
    spoken = subprocess.run([program, "--ipa", "-q", "--stdin", "-v", language], input=sentence.encode(),
                            capture_output=True, check=False)
    if spoken.returncode != 0:
        raise ConvertError(f"espeak-ng: {spoken.stderr.decode(errors='replace').strip()}")
    return re.sub(r"\([^)]*\)", "", " ".join(spoken.stdout.decode().split()))


def _letters(sentence: str, voice: dict) -> str:
    """A voice that reads letters need not know those of English: its own take their place, one after the other."""
    own = itertools.cycle([phoneme for phoneme in voice["phoneme_id_map"] if len(phoneme) == 1 and phoneme.isalpha()] or [" "])
    return "".join(next(own) if letter.isalpha() else letter for letter in sentence)


# For a check of the network alone.
SHORT = SENTENCES[3:6]
SHORTEST_SECONDS, LONGEST_SECONDS, LOWEST_PEAK = 0.1, 20, 1e-3


class Reference:
    """The original file in onnxruntime, with all noise off."""

    def __init__(self, path: pathlib.Path):
        import onnxruntime
        options = onnxruntime.SessionOptions()
        # Threads that spin cost minutes where others want the processor.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self._names = {i.name for i in self._session.get_inputs()}

    def run(self, ids: list[int], length_scale: float = 1.0, speaker: int = 0) -> np.ndarray:
        feed = {"input": np.array([ids], np.int64), "input_lengths": np.array([len(ids)], np.int64),
                "scales": np.array([0, length_scale, 0], np.float32)}
        if "sid" in self._names:
            feed["sid"] = np.array([speaker], np.int64)
        return self._session.run(None, feed)[0].ravel()


def run_network(network: Network, ids: list[int], length_scale: float = 1.0, speaker: int = 0, most_frames: int | None = None) -> np.ndarray:
    statistics, frames = network.encode(np.array(ids), np.zeros((2, len(ids)), np.float32), 0, length_scale, speaker)
    if most_frames is not None and not 0 < frames.clip(-1, most_frames + 1).sum() <= most_frames:
        raise ConvertError(f"the network does not speak: a short sentence has {frames.sum()} frames, allowed are 1..{most_frames}")
    return network.decode(statistics, frames, np.zeros((network.latent, int(frames.sum())), np.float32), 0, speaker)


def compare(network: Network, reference: Reference, ids: list[int], speaker: int) -> float:
    """The greatest difference of two samples; infinite when the lengths differ."""
    # A duration next to a whole number may be rounded either way: then another speed decides.
    for length_scale in (1.0, 1.01, 0.99):
        expected = reference.run(ids, length_scale, speaker)
        actual = run_network(network, ids, length_scale, speaker)
        if len(expected) == len(actual):
            return float(np.abs(expected - actual).max())
    return float("inf")


def spoken_peaks(network: Network, voice: dict) -> list[float]:
    """The peaks of short sentences that the network says. Needs no reference; refuses weights that cannot be those of a voice."""
    peaks = []
    for sentence in SHORT:
        most_frames = LONGEST_SECONDS * voice["audio"]["sample_rate"] // network.hop
        samples = run_network(network, phoneme_ids(sentence, voice), most_frames=most_frames)
        seconds = len(samples) / voice["audio"]["sample_rate"]
        peak = float(np.abs(samples).max(initial=0.0))
        # A comparison with NaN is false.
        if not (SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS and LOWEST_PEAK <= peak <= 1):
            raise ConvertError(f"the network does not speak: '{sentence}' has {seconds:.2f} seconds and the peak {peak:.2g}; expected are "
                               f"{SHORTEST_SECONDS}..{LONGEST_SECONDS} seconds and {LOWEST_PEAK}..1")
        peaks.append(peak)
    return peaks


def check(network: Network, onnx_file: pathlib.Path, voice: dict, sentences: int) -> Iterator[tuple[str, float]]:
    """Yields each sentence and its difference. Speakers take turns."""
    reference = Reference(onnx_file)
    chosen = [SENTENCES[i * len(SENTENCES) // sentences] for i in range(sentences)]
    speakers = max(1, voice.get("num_speakers", 1))
    for i, sentence in enumerate(chosen):
        yield sentence, compare(network, reference, phoneme_ids(sentence, voice), i % speakers)
