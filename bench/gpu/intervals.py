# SPDX-License-Identifier: BSD-2-Clause
"""Means of few measurements with their 95 % confidence interval, by Student's t."""
import math
import statistics

# Two-sided 95 % quantiles by degrees of freedom. Degrees between two entries take the smaller
# entry, which gives the wider interval.
QUANTILES = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306,
             9: 2.262, 10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120,
             17: 2.110, 18: 2.101, 19: 2.093, 20: 2.086, 25: 2.060, 30: 2.042, 40: 2.021, 60: 2.000,
             120: 1.980}


def quantile(degrees):
    return QUANTILES[max(known for known in QUANTILES if known <= degrees)]


def interval(values):
    """{"mean", "low", "high", "n", "least", "most"}: the bounds are None for fewer than two values,
    and the result is None for no values."""
    if not values:
        return None
    n, mean = len(values), statistics.fmean(values)
    half = quantile(n - 1) * statistics.stdev(values) / math.sqrt(n) if n > 1 else None
    return {"mean": mean, "low": None if half is None else mean - half,
            "high": None if half is None else mean + half, "n": n, "least": min(values),
            "most": max(values)}


def pairs(blocks, tool):
    """
    [(seconds of a step with `tool`, seconds beside it)]: the latter the mean of the blocks without
    any tool before and after it, which knows nothing of a steady drift. `blocks` is [(tool or None,
    seconds of a step)] in the order of their times.
    """
    found = []
    for i, (watched_by, seconds) in enumerate(blocks):
        if watched_by != tool:
            continue
        beside = [blocks[j][1] for j in (i - 1, i + 1)
                  if 0 <= j < len(blocks) and blocks[j][0] is None]
        if beside:
            found.append((seconds, statistics.fmean(beside)))
    return found
