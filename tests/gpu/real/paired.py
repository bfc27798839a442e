# SPDX-License-Identifier: BSD-2-Clause
"""The middle of paired differences with a 95 % confidence interval.

A machine now and then disturbs a round. The mean of all rounds and Student's interval suffer from
each such round. The middle is Hodges' and Lehmann's instead: the median of the means of any two
rounds. It is nearly as sharp as the mean where nothing disturbs, and a few bad rounds hardly move
it. The interval is that of bootstrapping: so wide are the middles of rounds drawn anew. It is
expanded, since few rounds scatter less than many.
"""
import math
import random
import statistics

from intervals import quantile

DRAWS = 2000
NORMAL = 1.96  # the two-sided 95 % quantile for any number of rounds
SEED = 1  # the same figures give the same interval


def middle(values):
    ordered = sorted(values)
    return statistics.median((a + b) / 2 for i, a in enumerate(ordered) for b in ordered[i:])


def interval(values):
    """{"mean", "low", "high", "n", "least", "most"} as of bench/gpu/intervals.py, where "mean" is
    the middle; for two values or more."""
    draw, n, center = random.Random(SEED), len(values), middle(values)
    drawn = sorted(middle(draw.choices(values, k=n)) for _ in range(DRAWS))
    wider = math.sqrt(n / (n - 1)) * quantile(n - 1) / NORMAL
    return {"mean": center, "low": center - wider * (center - drawn[round(0.025 * (DRAWS - 1))]),
            "high": center + wider * (drawn[round(0.975 * (DRAWS - 1))] - center), "n": n,
            "least": min(values), "most": max(values)}
