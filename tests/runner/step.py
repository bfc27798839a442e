# SPDX-License-Identifier: BSD-2-Clause
"""A step of a run: anything with `name`, run(), which returns its tests, and again(test)."""
import os
import time
import traceback

from runner.outcome import Part, failure


def idle_seconds():
    """How long the machine's CPUs have been idle since boot, all of them together."""
    with open("/proc/stat", encoding="ascii") as stat:
        ticks = stat.readline().split()
    return (int(ticks[4]) + int(ticks[5])) / os.sysconf("SC_CLK_TCK")


def run_step(step):
    """
    Runs the step. Returns its tests, the time taken, and the share of it that the machine's CPUs
    were idle; a step that breaks off counts as one failed test.
    """
    begin, idle = time.monotonic(), idle_seconds()
    try:
        tests = step.run()
    except Exception:  # pylint: disable=broad-except
        tests = [failure(step.name, "all of it", traceback.format_exc(), "the step broke off")]
    seconds = time.monotonic() - begin
    part = Part(step.name, tests, seconds,
                (idle_seconds() - idle) / max(seconds, 0.01) / os.cpu_count())
    print(part.line(), flush=True)
    return part
