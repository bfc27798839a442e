# SPDX-License-Identifier: BSD-2-Clause
"""The integration tests (pytest), with one gpuprobe and the tests of some marks."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

from runner.outcome import Outcome, failure
from runner.process import FIRST, ROOT, ending

SECONDS = 7200
FOLDER = "tests/integration"  # pytest's root: names of tests are relative to it


class Integration:
    """The tests with these marks, with this gpuprobe; `before` has words put before pytest."""

    def __init__(self, name, build, program, marks, options=(), tests=None, before=(),
                 folder=FOLDER):
        self.name = f"integration, {name}"
        self.folder = folder
        self.build = build
        self.program = program
        self.marks = marks
        self.options = options
        self.tests = tests or [folder]
        self.before = before

    def _pytest(self, results, options, tests, before):
        """Runs pytest and passes its output on. Returns its status, None after a timeout."""
        env = {**os.environ, "GPUPROBE_BUILD": str(self.build),
               "GPUPROBE_PROGRAM": str(self.program), "GPUPROBE_TEST_RESULTS": str(results),
               "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*before, *self.before, "/usr/bin/python3", "-m", "pytest", "-q", "--no-summary",
                   *options, "-m", self.marks, *tests]
        try:
            return subprocess.run(command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL,
                                  timeout=SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            return None

    def _run(self, options, tests, before=()):
        with tempfile.TemporaryDirectory() as directory:
            results = Path(directory) / "results"
            status = self._pytest(results, options, tests, before)
            lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
        found = [Outcome(self.name, **json.loads(line)) for line in lines]
        for test in found:
            test.key = f"{self.folder}/{test.name}"
            if test.failed:
                print(test.output, flush=True)
        if status not in (0, 1) or not found:
            found.append(failure(self.name, "pytest", f"pytest {ending(status)}\n",
                                 "the run broke off"))
        return found

    def run(self):
        return self._run(self.options, self.tests)

    def again(self, test):
        """Runs the test again in a single pytest process, with nothing beside it."""
        return next((new for new in self._run((), [test.key], FIRST) if new.name == test.name),
                    None)
