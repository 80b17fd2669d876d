"""Compares the frames of each phoneme, which the weights give in numpy, with onnxruntime's on the original int8 file.

They cannot be equal throughout: the original also rounds activations to int8 at run time, so a length next to a half may be
rounded either way.
"""

import dataclasses
import pathlib

import numpy as np

from .kokoro_network import Weights, durations
from .package import ConvertError

EQUAL_AT_LEAST = 0.95
MOST_FRAMES_OFF = 1
_FRAMES = "/encoder/Clip_output_0"

# Phonemes as the model reads them.
SENTENCES = [
    "jˈɛs.",
    "ɡʊd ˈivnɪŋ!",
    "wˌɛɹ ɪz ɪt?",
    "həlˈO wˈɜɹld.",
    "ðə kˈɛtᵊl ɪz bˈYlɪŋ.",
    "plˈiz klˈOz ðə hˈɛvi dˈɔɹ.",
    "sˈɛvən ɡɹˈA ɡˈis kɹˈɔst ðə ɹˈOd.",
    "koɴnʲiʨiwa, sekai.",
    "kʲoːwa iːteɴkidesɯne.",
    "ðə mjuzˈiəm ˈOpənz æt tˈɛn; vˈɪzɪTəɹz hˌu kˈʌm ˈɜɹli mˌA wˈAt ɪn ðə ɡˈɑɹdᵊn.",
]


@dataclasses.dataclass
class Agreement:
    phonemes: int = 0
    equal: int = 0
    furthest: int = 0   # frames

    @property
    def good(self) -> bool:
        return self.equal >= EQUAL_AT_LEAST * self.phonemes and self.furthest <= MOST_FRAMES_OFF


class Reference:
    """The original file in onnxruntime, up to the frames of each phoneme."""

    def __init__(self, path: pathlib.Path, threads: int = 0):
        import onnx
        import onnxruntime
        model = onnx.load(str(path))
        # Alone: what only the samples need is then left out.
        del model.graph.output[:]
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(_FRAMES))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        # Threads that spin cost minutes where others want the processor.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self._session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                     providers=["CPUExecutionProvider"])

    def frames(self, ids: list[int], style: np.ndarray, speed: float = 1.0) -> np.ndarray:
        feed = {"tokens": np.array([ids], np.int64), "style": style.reshape(1, -1).astype(np.float32),
                "speed": np.array([speed], np.float32)}
        return self._session.run([_FRAMES], feed)[0].ravel().astype(np.int64)


def to_ids(phonemes: str, vocabulary: dict[str, int]) -> list[int]:
    return [0, *(vocabulary[p] for p in phonemes if p in vocabulary), 0]


def frames(weights: Weights, ids: list[int], style: np.ndarray, speed: float, layers: int, heads: int) -> np.ndarray:
    second = style.ravel()[style.size // 2 :]
    found = durations(weights, np.array(ids), second, speed, layers, heads)
    if not np.isfinite(found).all():
        raise ConvertError("the network gives a phoneme a length that is no number; the weights are damaged")
    return np.maximum(np.round(found), 1).astype(np.int64)


def check(weights: Weights, onnx_file: pathlib.Path, vocabulary: dict[str, int], voices: dict[str, np.ndarray],
          layers: int, heads: int) -> Agreement:
    reference = Reference(onnx_file)
    agreement = Agreement()
    names = sorted(voices)
    for i, sentence in enumerate(SENTENCES):
        ids = to_ids(sentence, vocabulary)
        style = voices[names[i % len(names)]][len(ids) - 3]
        off = np.abs(reference.frames(ids, style) - frames(weights, ids, style, 1.0, layers, heads))
        agreement.phonemes += len(off)
        agreement.equal += int((off == 0).sum())
        agreement.furthest = max(agreement.furthest, int(off.max()))
    return agreement
