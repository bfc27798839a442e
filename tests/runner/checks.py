# SPDX-License-Identifier: BSD-2-Clause
"""Checks, each counted as one test: commands that must exit with 0."""
import time

from runner.outcome import PASSED, Outcome, failure
from runner.process import capture

SECONDS = 300


class Checks:
    """Commands by name."""

    def __init__(self, name, commands):
        self.name = name
        self.commands = commands

    def _run(self, name):
        begin = time.monotonic()
        status, output = capture(self.commands[name], SECONDS)
        seconds = time.monotonic() - begin
        if status == 0:
            return Outcome(self.name, name, PASSED, seconds, key=name)
        print(output, flush=True)
        return failure(self.name, name, output, "" if status is None else "a wrong value", seconds,
                       name)

    def run(self):
        return [self._run(name) for name in self.commands]

    def again(self, test):
        """Runs the check again."""
        return self._run(test.key)
