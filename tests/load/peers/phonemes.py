"""What the peers that take phonemes are given: the same for all."""

import re
import subprocess

from models.convert import kokoro_check

LONGEST = 500   # symbols; a style exists for up to 510


def _ipa(text):
    spoken = subprocess.run(["espeak-ng", "--ipa", "-q", "--stdin", "-v", "en-us"], input=text.encode(), capture_output=True, check=True)
    return re.sub(r"\([^)]*\)", "", " ".join(spoken.stdout.decode().split()))


def kokoro_ids(texts, vocabulary):
    """Kokoro's symbols of each text."""
    return [kokoro_check.to_ids(_ipa(text), vocabulary)[:LONGEST] for text in texts]
