"""BCP 47 tags of the languages that publishers name in their own ways."""

_TAGS = {"zt": "zh-Hant", "pb": "pt-BR"}   # of Argos


def tag_of(code: str) -> str:
    """Mozilla's registry has zh_hant where Firefox has zh-Hant."""
    first, *rest = _TAGS.get(code, code).replace("_", "-").split("-")
    return "-".join([first, *(part.title() if len(part) == 4 else part.upper() if len(part) == 2 else part for part in rest)])
