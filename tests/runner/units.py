# SPDX-License-Identifier: BSD-2-Clause
"""The unit tests: cmocka programs, several at a time."""
import re
import time
from concurrent.futures import ThreadPoolExecutor

from runner.outcome import FAILED, PASSED, SKIPPED, Outcome, Part, failure, load_of_machine, pick
from runner.process import capture, ending

SECONDS = 900  # under valgrind a minute becomes many
MARKS = {"       OK ": PASSED, "  FAILED  ": FAILED, "  SKIPPED ": SKIPPED}
# failed tests are listed again at the end
LINE = re.compile(r"^\[(       OK |  FAILED  |  SKIPPED )\] (\w+)$", re.M)
REPORT = re.compile(r"ERROR: (Address|Leak)Sanitizer|runtime error:|^==\d+== ", re.M)
# cmocka's messages for a signal, and for two values that should be equal.
SIGNAL = re.compile(r"^Test failed with exception: (.*)", re.M)
UNEQUAL = re.compile(r"^\[  ERROR   \] --- .* != |^.* != .*$", re.M)


def certain_of(status, output):
    """Why a program that ended like this did not fail by chance; empty if it may have."""
    if REPORT.search(output):
        return "a sanitizer's or valgrind's report"
    if SIGNAL.search(output):
        return f"a signal: {SIGNAL.search(output).group(1)}"
    if status is not None and status < 0:
        return f"a signal: {ending(status)}"
    return "a wrong value" if UNEQUAL.search(output) else ""


class Units:
    """The programs of a build except those left out; `before` has words put before each."""

    def __init__(self, name, folder, before=(), env=None, leaves=(), workers=2):
        self.name = name
        self.folder = folder
        self.before = before
        self.env = env
        self.leaves = leaves
        self.workers = workers

    def _run(self, program):
        """
        The tests of a program. A program that ends without reporting any counts as one failed test.
        """
        begin = time.monotonic()
        status, output = capture([*self.before, program], SECONDS, self.env)
        seconds = time.monotonic() - begin
        states = {case: MARKS[mark] for mark, case in LINE.findall(output)}
        tests = [Outcome(self.name, f"{program.name} {case}", state, key=program)
                 for case, state in states.items()]
        bad = [test for test in tests if test.failed]
        for test in bad:
            test.output, test.certain = output, certain_of(status, output)
            test.load = load_of_machine()
        if not bad and (status != 0 or not tests):
            tests.append(failure(self.name, program.name,
                                 f"{output}\n{program.name} {ending(status)}\n",
                                 certain_of(status, output), key=program))
        part = Part(f"{self.name} {program.name}", tests, seconds)
        print("".join(test.output for test in bad[:1]) + part.line(), flush=True)
        return part

    def programs(self):
        return sorted(path for path in self.folder.glob("test_*")
                      if path.is_file() and path.name not in self.leaves)

    def run(self):
        with ThreadPoolExecutor(self.workers) as pool:
            parts = list(pool.map(self._run, self.programs()))
        tests = [test for part in parts for test in part.tests]
        for part in parts:  # cmocka reports no times: the program's first test gets them
            if part.tests:
                part.tests[0].seconds = part.seconds
        return tests or [failure(self.name, "programs", f"no test programs in {self.folder}",
                                 "nothing to run")]

    def again(self, test):
        """
        Runs the test again together with the others of its program, or all programs if that one had
        broken off.
        """
        tests = self._run(test.key).tests
        return pick(tests, test)
