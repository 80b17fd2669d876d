"""Waiting for something that happens elsewhere, by a deadline instead of a fixed sleep."""

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def eventually(what: str, condition: Callable[[], Result], seconds: float = 20) -> Result:
    """Polls until the condition gives something true and returns that; fails by name when time is up."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)


def stays(what: str, condition: Callable[[], object], seconds: float) -> None:
    """Fails by name as soon as the condition gives something false within that time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not condition():
            raise AssertionError(f"no longer: {what}")
        time.sleep(0.05)
