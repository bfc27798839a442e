# SPDX-License-Identifier: BSD-2-Clause
"""What became of a test, and how runs of tests are printed and added up."""
import os
from dataclasses import dataclass, field
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def load_of_machine():
    """How busy the machine is now, in words: load averages, tasks that run,
    and the share of time spent waiting for a CPU."""
    one, five, _, tasks, _ = Path("/proc/loadavg").read_text(encoding="ascii").split()
    text = (f"load {one} {five}, running {tasks.split('/')[0]} of {tasks.split('/')[1]} tasks on "
            f"{os.cpu_count()} CPUs")
    try:
        pressure = Path("/proc/pressure/cpu").read_text(encoding="ascii").split()
    except OSError:
        return text
    return f"{text}, waiting for a CPU {pressure[1].split('=')[1]} % of the last 10 s"


@dataclass
class Outcome:
    """
    A test that ended. `key` is what its step needs to run it again.
    `certain` says why a failure is never tried again, and is empty where a second try may tell.
    """

    step: str
    name: str
    state: str
    seconds: float = 0.0
    output: str = ""
    certain: str = ""
    load: str = ""
    key: object = None

    @property
    def failed(self):
        return self.state == FAILED


@dataclass
class Part:
    """A step that ended: its tests, and where its time went."""

    name: str
    tests: list = field(default_factory=list)
    seconds: float = 0.0

    def count(self, state):
        return sum(test.state == state for test in self.tests)

    def line(self):
        skipped = f", {self.count(SKIPPED)} skipped" if self.count(SKIPPED) else ""
        return (f"{self.name}: {self.count(PASSED)} passed, {self.count(FAILED)} failed{skipped} "
                f"({self.seconds:.1f} s)")


def failure(step, name, output, certain="", seconds=0.0, key=None):
    """A test that failed just now."""
    return Outcome(step, name, FAILED, seconds, output, certain, load_of_machine(), key)


def pick(tests, wanted):
    """What became of a test in a second run: its own outcome, or that of all tests where it was
    no single one."""
    for test in tests:
        if test.name == wanted.name:
            return test
    bad = [test for test in tests if test.failed]
    return bad[0] if bad else Outcome(wanted.step, wanted.name, PASSED)
