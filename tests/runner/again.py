# SPDX-License-Identifier: BSD-2-Clause
"""
The verdict of a run. A failure that may be by chance is retried once, while nothing else runs. A
test that passes then does not fail the run, but it is a defect to fix: it is listed with both
outputs, and more than a few of them fail the run. Sanitizer reports, signals, wrong values and harm
to a program are never retried.
"""
from runner.outcome import FAILED, PASSED, SKIPPED, load_of_machine

FORGIVEN = 3
# More failures than this are not chance, and retrying each would take too long.
TRIED = 12


# How much of a failure the closing lines show. It may be all that is kept of a run.
LINES, CHARACTERS = 6, 240


def _why(output):
    """
    The lines of a test's output that say what went wrong: pytest's marked lines, or else the last
    ones.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("E  ")] or lines[-LINES:]
    return [f"    {line[:CHARACTERS]}" for line in said[:LINES]]


class Retried:
    """A failed test and the outcome of its retry; `second` is None if it was not retried."""

    def __init__(self, first, second, load):
        self.first = first
        self.second = second
        self.load = load

    @property
    def forgiven(self):
        return self.second is not None and self.second.state == PASSED

    def text(self):
        state = self.second.state if self.second else "not run"
        output = self.second.output if self.second else ""
        return (f"== {self.first.step}: {self.first.name}: failed, then {state}\n"
                f"-- first try ({self.first.load})\n{self.first.output.strip()}\n"
                f"-- second try ({self.load})\n{output.strip() or state}\n")


class Verdict:
    """The tests of a run and their retries."""

    def __init__(self, tests, retried):
        self.tests = tests
        self.retried = retried

    @property
    def forgiven(self):
        return [one for one in self.retried if one.forgiven]

    def _count(self, state):
        return sum(test.state == state for test in self.tests)

    def write(self, path):
        """
        Writes the list of tests that passed only when retried, or removes that of an earlier run.
        """
        path.unlink(missing_ok=True)
        if self.forgiven:
            path.write_text("\n".join(one.text() for one in self.forgiven), encoding="utf-8")
            print(f"\n{len(self.forgiven)} passed at the second try only; "
                  f"mend each at its cause. {path}:\n\n"
                  f"{path.read_text(encoding='utf-8')}", flush=True)

    def close(self):
        """Prints the failures by name and the closing line. Returns the exit status of the run."""
        forgiven = len(self.forgiven)
        passed, failed = self._count(PASSED) + forgiven, self._count(FAILED) - forgiven
        excused = {id(one.first) for one in self.forgiven}
        for test in self.tests:
            if test.failed and id(test) not in excused:
                print(f"failed: {test.step}: {test.name}{test.certain and f' ({test.certain})'}",
                      *_why(test.output), sep="\n")
        if forgiven > FORGIVEN:
            passed, failed = passed - forgiven, failed + forgiven
            print(f"{forgiven} tests passed at the second try only; "
                  f"more than {FORGIVEN} fail the run")
        if self._count(SKIPPED):
            print(f"{self._count(SKIPPED)} skipped")
        print(f"{passed} passed, {failed} failed", flush=True)
        return 1 if failed or not passed else 0


def may_be_chance(tests):
    """The failures to retry: none if so many failed that chance does not explain it."""
    found = [test for test in tests if test.failed and not test.certain]
    return found if len(found) <= TRIED else []


def judge(parts, steps, flaky):
    """
    Retries each failure that may be by chance, using the step of its name; writes the list `flaky`.
    """
    tests = [test for part in parts for test in part.tests]
    retried = []
    for test in may_be_chance(tests):
        print(f"again, alone: {test.step}: {test.name}", flush=True)
        load = load_of_machine()
        retried.append(Retried(test, steps[test.step].again(test), load))
    verdict = Verdict(tests, retried)
    verdict.write(flaky)
    return verdict
