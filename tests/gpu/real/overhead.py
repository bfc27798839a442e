#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What `gpuprobe diagnose -p` costs programs of the corpus: in one process that runs on,
it comes and goes in turn.

    # as root, on a GPU: three loops, at most --limit seconds
    tests/gpu/real/overhead.py --output overhead.json.xz
    tests/gpu/real/overhead.py --only sound --output sound.json.xz
    # into results.json and docs/diagnosis.md
    tests/gpu/real/run.py --take overhead.json.xz

Each round is a while without gpuprobe and a while with it. A round's figure is the time of a step
with it over the mean of the whiles before and after, less 1. The result is the middle of all rounds
with its 95 % confidence interval (paired.py). The time in which gpuprobe comes or goes is in
neither; the slowest step of that time is given separately.

A step that takes more than twice the median counts as twice the median: probes add a quarter at
most, so that the rest is the machine's. How many there were, with gpuprobe and without, is in the
result, and so is the cost with all that they took.

A budget (--max-overhead) holds for each second, and what a second costs too much the next one pays
back. So a loop that is watched with a budget is watched for two whole seconds at a time.
"""
import argparse
import datetime
import math
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import building
import corpus
from results import write
from running import Failed, Run, boot_offset, diagnose

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[1:1] = [str(ROOT / "bench/gpu"), corpus.PROGRAMS]
import paired  # noqa: E402  pylint: disable=wrong-import-position
from intervals import pairs  # noqa: E402  pylint: disable=wrong-import-position
from steady import WARM_UP_STEPS  # noqa: E402  pylint: disable=wrong-import-position

MARGIN = 0.2  # seconds at either end of a watch that are not counted: probes come and go
AFTER = 0.2  # seconds after a watch that are not counted: the kernel frees what gpuprobe had
LONG = 2  # times the median: what a step takes more than that is not counted
SETTLING = 2  # seconds of a loop that are not counted


@dataclass(frozen=True)
class Loop:
    title: str
    bar: float  # the most that it may cost; None: told for information
    program: str  # of the corpus; None: launches.c
    while_seconds: float  # of each while without gpuprobe
    watched_seconds: float  # of each while with it
    # Steps from one wait for the GPU to the next: between others the clock only measures
    # submissions.
    stride: int = 1


DRY = 3  # so many times as long are whiles on a machine that tests keep busy


LOOPS = {
    "launch_bound": Loop("launch-bound: training with an optimizer of tiny kernels",
                         0.03, "tiny_optimiser", 1, 2),
    "sound": Loop("sound: training, compiled, GPU-bound", 0.01, "compiled", 2.5, 2.5,
                  stride=20),
    "launches": Loop("nothing but launches of an empty kernel, per launch", None, None, 1, 2),
}


def command(loop, work, sim):
    if not loop.program:
        return [building.build_launches(work, sim)]
    if sim:
        return [sys.executable, str(HERE / "stand_in.py")]
    program = corpus.ALL[loop.program]
    return [sys.executable, program.path, *program.arguments]


def environment(loop, work, sim):
    found = {"TMPDIR": work, **(corpus.ALL[loop.program].environment if loop.program else {})}
    if sim:
        found |= {"LD_LIBRARY_PATH": sim, "CUDA_SIM_CLOCK": building.SIM_CLOCK,
                  "CUDA_SIM_LATENCY": "cuLaunchKernel=60us"}  # it sleeps: tests run beside it
    return found


def without_gpuprobe(seconds):
    time.sleep(AFTER)
    begin = time.monotonic_ns()
    time.sleep(seconds)
    return False, begin, time.monotonic_ns()


def with_gpuprobe(run, seconds, gpuprobe, work):
    report = diagnose(gpuprobe, run.process.pid, seconds + 2 * MARGIN, f"{work}/report")
    margin, offset = int(MARGIN * 1e9), boot_offset()
    return True, report["began_ns"] - offset + margin, report["boot_ns"] - offset - margin


def whiles(run, seconds, gpuprobe, rounds, deadline, work):
    """[(whether gpuprobe was there, begin, end)], in the order of their times,
    and why it ended early or None. `seconds`: without gpuprobe, and with it."""
    alone, watched = seconds
    found = []
    for _ in range(rounds):
        began = time.monotonic()
        found += [without_gpuprobe(alone), with_gpuprobe(run, watched, gpuprobe, work)]
        # The next round takes as long as this one, and one more while follows.
        if 2 * time.monotonic() - began + alone + AFTER > deadline:
            return [*found, without_gpuprobe(alone)], "out of time"
    return [*found, without_gpuprobe(alone)], None


def steps_in(times, begin, end):
    """The lengths of the steps, in ns, that began and ended in a while."""
    ends = [at for at in times if begin <= at <= end]
    return [b - a for a, b in zip(ends, ends[1:])]


def mean_of(steps, most):
    """Mean ns of a while's steps, none of which counts more than `most`; None of no steps."""
    return statistics.fmean(min(step, most) for step in steps) if steps else None


def slowest_between(times, found):
    """The longest step of those that began or ended outside of all whiles; None of none."""
    def is_inside(at):
        return any(begin <= at <= end for _, begin, end in found)

    first, last = found[0][1], found[-1][2]
    between = [b - a for a, b in zip(times, times[1:])
               if first <= a and b <= last and not (is_inside(a) and is_inside(b))]
    return max(between, default=0) / 1e9 or None


def result_of(loop, told, times, found, why):
    """What the whiles come to. The steps of warming up are before the first of the times."""
    warm_up = WARM_UP_STEPS if loop.program else 0
    synchronised = [at for number, at in enumerate(times) if (number + warm_up) % loop.stride == 0]
    steps = [(is_watched, steps_in(synchronised, begin, end)) for is_watched, begin, end in found]
    if not all(inside for _, inside in steps):
        raise Failed("a while had too few steps")
    alone = [step for is_watched, inside in steps if not is_watched for step in inside]
    most = LONG * statistics.median(alone)
    unit = 1e9 * told["units"] * loop.stride
    blocks, whole = ([("diagnose" if is_watched else None, mean_of(inside, limit) / unit)
                      for is_watched, inside in steps] for limit in (most, math.inf))
    beside = pairs(blocks, "diagnose")
    if len(beside) < 2:
        raise Failed(f"{len(beside)} rounds give no interval")
    return {"title": loop.title, "bar": loop.bar, "rounds": len(beside),
            "step_seconds": statistics.fmean(seconds for tool, seconds in blocks if tool is None),
            "cost": paired.interval([watched / plain - 1 for watched, plain in beside]),
            "cost_with_long_steps": paired.interval(
                [watched / plain - 1 for watched, plain in pairs(whole, "diagnose")]),
            "added_ns": paired.interval([(watched - plain) * 1e9 for watched, plain in beside]),
            "long_steps": long_steps(steps, most),
            "slowest_seconds": max(b - a for a, b in zip(times, times[1:])) / 1e9,
            "slowest_coming_or_going_seconds": slowest_between(times, found), "blocks": blocks,
            "ended_early": why}


def long_steps(steps, most):
    """Of how many steps a part was not counted, and of how many: with gpuprobe, without it."""
    both = [[step for is_watched, inside in steps if is_watched == watched for step in inside]
            for watched in (True, False)]
    return [[sum(step > most for step in some), len(some)] for some in both]


def measure(run, loop, options, gpuprobe, deadline, work):
    run.wait_until_ready()
    run.go()
    time.sleep(SETTLING)
    longer = DRY if options.dry else 1
    seconds = loop.while_seconds * longer, loop.watched_seconds * longer
    found, why = whiles(run, seconds, gpuprobe, options.rounds, deadline, work)
    told, times = run.stop()
    return result_of(loop, told, times, found, why)


def measure_all(options, names, work):
    """{name: result}. All start at the same time and are held until their turn;
    each ends before the next one's turn."""
    deadline = time.monotonic() + options.limit
    gpuprobe = building.gpuprobe_of(options.build, options.dry)
    sim = building.sim_of(options.build) if options.dry else None
    versions, found = building.versions(gpuprobe), {}
    runs = {name: Run(name, command(LOOPS[name], work, sim), environment(LOOPS[name], work, sim),
                      work) for name in names}
    try:
        for name, run in runs.items():
            try:
                result = measure(run, LOOPS[name], options, gpuprobe, deadline, work)
            except (Failed, OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                print(f"{name}: {error}", file=sys.stderr, flush=True)
                run.end()  # before the next one's turn
                continue
            found[name] = {
                "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
                "versions": versions, **result}
            write(options.output, {"overhead": found})
            print(f"{name}: {line_of(result)}", flush=True)
    finally:
        for run in runs.values():
            run.end()
    return found


def line_of(result):
    cost = result["cost"]
    watched, alone = (f"{few} of {count}" for few, count in result["long_steps"])
    return (
        f"{100 * cost['mean']:.2f} % ({100 * cost['low']:.2f} to {100 * cost['high']:.2f} %) of "
        f"{1e6 * result['step_seconds']:,.1f} us, {result['rounds']} rounds; "
        f"long steps: {watched} with gpuprobe, {alone} without")


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=LOOPS,
                        help="this loop alone (repeatable)")
    parser.add_argument("--build", default=str(ROOT / "build"),
                        help="where gpuprobe is [%(default)s]")
    parser.add_argument("--output", default="overhead.json.xz", help="[%(default)s]")
    parser.add_argument("--rounds", type=int, default=60,
                        help="of each loop, at most [%(default)s]")
    parser.add_argument("--limit", type=float, default=560, help="seconds for all [%(default)s]")
    parser.add_argument("--work", default="/var/tmp",
                        help="a folder for the time being [%(default)s]")
    parser.add_argument("--dry", action="store_true",
                        help="stand_in.py on the simulated CUDA instead of the programs")
    return parser.parse_args(argv)


def main(argv=None):
    options = options_of(argv)
    names = options.only or list(LOOPS)
    work = tempfile.mkdtemp(prefix="gpuprobe-overhead-", dir=options.work)
    try:
        found = measure_all(options, names, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{len(found)} passed, {len(names) - len(found)} failed")
    return 0 if len(found) == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
