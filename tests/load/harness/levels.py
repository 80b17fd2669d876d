"""The level of a figure that was sampled by time, at places of what was being done meanwhile."""

import statistics


def by_share(samples, shares):
    """[(time, value)] and [(time, share that was done)], both in order of time, as [(share that was done at that time, value)]."""
    result, at, share = [], 0, 0.0
    for seconds, value in samples:
        while at < len(shares) and shares[at][0] <= seconds:
            share = shares[at][1]
            at += 1
        result.append((share, value))
    return result


def level(samples, first, last):
    """The median of [(share, value)] from one share to another."""
    return statistics.median(value for share, value in samples if first <= share <= last)
