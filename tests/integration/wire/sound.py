"""What independent decoders make of audio: SoX, with libmad for MP3, and opusdec. `make test` installs them; without them the tests fail."""

import array
import math
import subprocess
from dataclasses import dataclass


@dataclass
class Sound:
    rate: int
    samples: array.array   # 16 bit

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate

    @property
    def loudness(self) -> float:
        """Root mean square, 0..1."""
        return math.sqrt(sum(sample * sample for sample in self.samples) / max(1, len(self.samples))) / 32768

    @property
    def peak(self) -> float:
        return max(map(abs, self.samples)) / 32768


def decode(audio: bytes, kind: str) -> Sound:
    """kind: wav, flac, mp3 or opus. Read from a pipe, as a player reads a stream."""
    if kind == "opus":
        audio, kind = _run(audio, "opusdec", "--quiet", "--force-wav", "-", "-"), "wav"
    decoded = _run(audio, "sox", "-V1", "-t", kind, "-", "-t", "au", "-e", "signed", "-b", "16", "-")
    assert decoded[:4] == b".snd" and int.from_bytes(decoded[20:24], "big") == 1, "one channel"
    samples = array.array("h", decoded[int.from_bytes(decoded[4:8], "big"):])
    samples.byteswap()   # an AU file is big-endian
    return Sound(int.from_bytes(decoded[16:20], "big"), samples)


def _run(audio: bytes, *command: str) -> bytes:
    ended = subprocess.run(command, input=audio, capture_output=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return ended.stdout
