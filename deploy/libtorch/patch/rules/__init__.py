"""All rules. PATCH_LEVEL is what the exported function of the rule patch-level returns; a change of what the rules promise raises it."""

from . import caches, profiler, streams
from .level import PATCH_LEVEL
from .level import RULES as LEVEL_RULES

# release -> what of it the rules were tried on.
TRIED_RELEASES = {
    "2.15.0": "its headers whole; its .mm files could not be had, so those rules were tried on neighbouring versions of them",
}

RULES = (*caches.RULES, *streams.RULES, *profiler.RULES, *LEVEL_RULES)
