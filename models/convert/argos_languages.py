"""BCP 47 tags of the languages that Argos names in its own way."""

_TAGS = {"zt": "zh-Hant", "pb": "pt-BR"}


def tag_of(code: str) -> str:
    return _TAGS.get(code, code)
