# SPDX-License-Identifier: BSD-2-Clause
"""The outcome of a test, and the printing and adding up of runs."""
import os
from dataclasses import dataclass, field
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


def load_of_machine():
    """
    The machine's load in words: load averages, running tasks, and the share of time spent waiting
    for a CPU.
    """
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
    A finished test. `key` identifies it for a retry by its step. `certain` says why a failure is
    never retried, and is empty if a retry may help.
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
    """A finished step: its tests, the time that it took, and how idle the CPUs were meanwhile."""

    name: str
    tests: list = field(default_factory=list)
    seconds: float = 0.0
    idle: float = 0.0

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
    """
    The outcome of a test in a second run: its own, or that of all tests if it could not run alone.
    """
    for test in tests:
        if test.name == wanted.name:
            return test
    bad = [test for test in tests if test.failed]
    return bad[0] if bad else Outcome(wanted.step, wanted.name, PASSED)
