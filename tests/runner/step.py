# SPDX-License-Identifier: BSD-2-Clause
"""A step of a run: anything with `name`, run(), which returns its tests, and again(test)."""
import time
import traceback

from runner.outcome import Part, failure


def run_step(step):
    """
    Runs the step. Returns its tests with the time taken; a step that breaks off counts as one
    failed test.
    """
    begin = time.monotonic()
    try:
        tests = step.run()
    except Exception:  # pylint: disable=broad-except
        tests = [failure(step.name, "all of it", traceback.format_exc(), "the step broke off")]
    part = Part(step.name, tests, time.monotonic() - begin)
    print(part.line(), flush=True)
    return part
