# SPDX-License-Identifier: BSD-2-Clause
"""The cost of following threads (diagnose --host on): a switch of threads that are not followed,
and the time of those that are."""
import random
import statistics
import subprocess

from setup import figure, spread, table

TITLE = "Threads that are followed"
ORDER = 62
WAYS = {"bystander": ("two threads without CUDA pass a byte: a switch and a wakeup", 2, 40),
        "switch": ("the same for two followed threads", 2, 40),
        "compute": ("100 us of work and a launch, followed, 99 samples a second", 1, 40)}
BAR_NS = 100  # a switch, for who is not followed
BAR_SHARE = 0.01  # of a followed thread's time
RESAMPLES = 2000


def turn(setup, way, host):
    """Nanoseconds of a switch, or a piece of work, under diagnose with --host as told."""
    _, switches, stretches = WAYS[way]
    with setup.gpuprobe("diagnose", "--host", host):
        done = subprocess.run([setup.build / "bench/host", way,
                               str(stretches // (4 if setup.quick else 1))],
                              capture_output=True, text=True, check=True)
    return float(done.stdout) / switches


def interval(values):
    """The median's, of 95 %: by the medians of values drawn anew from these."""
    drawn = random.Random(27)
    medians = sorted(statistics.median(drawn.choices(values, k=len(values)))
                     for _ in range(RESAMPLES))
    return [medians[RESAMPLES // 40], medians[-RESAMPLES // 40]]


def compare(setup, way, rounds):
    """On and off in turn, in either order by turns: what on adds, of each round."""
    pairs = []
    for number in range(rounds):
        order = ("off", "on") if number % 2 else ("on", "off")
        pairs.append({host: turn(setup, way, host) for host in order})
    added, shares = [p["on"] - p["off"] for p in pairs], [p["on"] / p["off"] - 1 for p in pairs]
    return {"off": figure([p["off"] for p in pairs]), "on": figure([p["on"] for p in pairs]),
            "added": figure(added), "added_interval": interval(added), "share": figure(shares),
            "share_interval": interval(shares)}


def measure(setup):
    rounds = 3 if setup.quick else 7
    return {way: compare(setup, way, rounds) for way in WAYS}


def show(result):
    rows = []
    for way, (name, *_) in WAYS.items():
        found = result[way]
        low, high = found["added_interval"]
        least, most = found["share_interval"]
        rows.append([name, spread(found["off"]), spread(found["on"]),
                     f"{found['added']['median']:+,.0f} ({low:+,.0f} to {high:+,.0f})",
                     f"{found['share']['median']:+.1%} ({least:+.1%} to {most:+.1%})"])
    bystander = result["bystander"]["added"]["median"]
    return f"""`diagnose --host on` and `--host off` in turn: nanoseconds of a context switch or a
piece of work. The added time and its share have the 95 % interval of the median. Bars: {BAR_NS} ns
a switch for a thread that is not followed ({"met" if bystander <= BAR_NS else "missed"}),
{BAR_SHARE:.0%} of the time of a thread that computes.

""" + table(["what", "off", "on", "on adds", "share"], rows)
