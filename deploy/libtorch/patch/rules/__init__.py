"""All rules. PATCH_LEVEL is what the exported function of the rule patch-level returns; a change of what the rules promise raises it."""

from . import caches, profiler, streams
from .level import PATCH_LEVEL
from .level import RULES as LEVEL_RULES

__all__ = ["PATCH_LEVEL", "RULES", "TRIED_RELEASES"]

# release -> how the rules were tried on it.
TRIED_RELEASES = {
    "2.15.0": "tried on its headers and on neighbouring versions of its .mm files, all whole; not yet on a whole checkout",
}

RULES = (*caches.RULES, *streams.RULES, *profiler.RULES, *LEVEL_RULES)
