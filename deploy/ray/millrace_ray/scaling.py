"""How many replicas to have, by the time that requests wait in the daemons' own queues."""

import math
import re
from typing import Any, Protocol

_SAMPLE = re.compile(r"^(\w+)(?:\{[^}]*\})? (\S+)$", re.MULTILINE)
# Names of what a replica reports to Serve.
WAIT_SECONDS = "wait_seconds"
BUSY = "busy"
_MOST_GROWTH = 2.0


def load(metrics: str) -> dict[str, float]:
    """What a replica reports, out of the daemon's metrics: the longest wait of any model, as it is and as it is forecast, and the share of
    its permits that are in use. Raises ValueError where the text lacks one."""
    samples: dict[str, list[float]] = {}
    for name, value in _SAMPLE.findall(metrics):
        samples.setdefault(name, []).append(float(value))

    def of(name: str) -> list[float]:
        if name not in samples:
            raise ValueError(f"the daemon's metrics lack {name}")
        return samples[name]
    wait = max(of("millrace_queue_oldest_seconds") + of("millrace_expected_wait_seconds"))
    return {WAIT_SECONDS: wait, BUSY: max(of("millrace_permits_in_use")) / max(of("millrace_permits"))}


class Context(Protocol):
    """What the policy reads of `ray.serve.config.AutoscalingContext`."""
    current_num_replicas: int
    target_num_replicas: int
    policy_state: dict[str, Any]
    aggregated_metrics: dict[str, dict[Any, float]] | None


class QueueTimePolicy:
    """A policy for `autoscaling_config`: as many replicas as keep the mean wait and the mean share of busy permits at their targets.

    A queue is empty until a replica is full, and then grows without bound. So the wait says when there are too few replicas, and the permits
    in use say when fewer would do. It at most doubles the replicas at once; bounds and delays are Serve's.
    """

    def __init__(self, target_wait_seconds: float = 0.2, target_busy: float = 0.7) -> None:
        if not target_wait_seconds > 0:
            raise ValueError(f"target_wait_seconds: {target_wait_seconds} is not above 0")
        if not 0 < target_busy <= 1:
            raise ValueError(f"target_busy: {target_busy} is not above 0 and at most 1")
        self._target_wait_seconds = target_wait_seconds
        self._target_busy = target_busy

    def __call__(self, context: Context) -> tuple[int, dict[str, Any]]:
        metrics = context.aggregated_metrics or {}
        waits, busy = (list(metrics.get(name, {}).values()) for name in (WAIT_SECONDS, BUSY))
        if not waits or not busy or context.current_num_replicas == 0:   # no report says nothing about the load
            return context.target_num_replicas, context.policy_state
        pressure = max(_mean(waits) / self._target_wait_seconds, _mean(busy) / self._target_busy)
        wanted = context.current_num_replicas * min(pressure, _MOST_GROWTH)
        # Rounded first: 3 times a third is a little more than 1.
        return max(1, math.ceil(round(wanted, 6))), context.policy_state


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
