# SPDX-License-Identifier: BSD-2-Clause
"""
Steps that run a command. It prints a line for each test, `ok NAME (SECONDS s)` or `not ok NAME:
why` followed by details, and ends with `N passed, N failed`. A line `# certain: WHY` after a
failure says that it is not by chance.
"""
import re

from runner.outcome import FAILED, PASSED, Outcome, failure, load_of_machine, pick
from runner.process import capture, ending

LINE = re.compile(r"^(ok|not ok) ([^:(]+?)(?: \((\d+(?:\.\d+)?) (ms|s)\))?(?: ?[:(].*)?$")
CLOSING = re.compile(r"^(\d+) passed, (\d+) failed$", re.M)
CERTAIN = re.compile(r"^# certain: (.*)$", re.M)


def parse(step, output):
    """The tests named in the output, failed ones with the lines that follow them."""
    tests = []
    for line in output.splitlines():
        found = LINE.match(line)
        if found:
            seconds = float(found[3] or 0) / (1000 if found[4] == "ms" else 1)
            tests.append(Outcome(step, found[2], PASSED if found[1] == "ok" else FAILED, seconds,
                                 key=found[2]))
        if tests and tests[-1].failed:
            tests[-1].output += line + "\n"
    for test in tests:
        if test.failed:
            found = CERTAIN.search(test.output)
            test.certain = found[1] if found else ""
            test.load = load_of_machine()
    return tests


class Command:
    """
    A command with a time limit. `once_more` is the command for a single test, with {test} for its
    name. It is None if a test cannot run by itself; then the whole command is run again.
    """

    def __init__(self, name, command, seconds, once_more=None):
        self.name = name
        self.command = command
        self.seconds = seconds
        self.once_more = once_more

    def _run(self, command):
        status, output = capture(command, self.seconds)
        print(output, flush=True)
        tests = parse(self.name, output)
        closing = CLOSING.findall(output)
        told = sum(map(int, closing[-1])) if closing else 0
        if told != len(tests) or not tests or (status != 0
                                               and not any(test.failed for test in tests)):
            tests.append(failure(self.name, "all of it",
                                 f"{output[-4000:]}\n{ending(status)}; {told} tests in the "
                                 f"closing line, {len(tests)} named\n"))
        return tests

    def run(self):
        return self._run(self.command)

    def again(self, test):
        """
        Runs the test again, or the whole command if the step broke off or the test cannot run by
        itself.
        """
        tests = []
        if self.once_more and test.key:
            tests = self._run([str(word).replace("{test}", test.key) for word in self.once_more])
        if not any(one.name == test.name for one in tests):
            tests = self._run(self.command)
        return pick(tests, test)
