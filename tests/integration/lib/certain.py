# SPDX-License-Identifier: BSD-2-Clause
"""
Decides which failures are certain: sanitizer reports, signals, wrong counts, harm to a program.
tests/run.py never retries these, in any test. Any other failure, such as a late answer, may be due
to a busy machine.
"""
import re
import subprocess

# Statements about how a process ended or a request was answered: their numbers are not counts.
ABOUT_ENDS = re.compile(r"\b(status|returncode|poll\(|wait\(|exit_?code|\.code)")
SIGNALS = range(129, 193)  # exit statuses of shells for a command killed by a signal


class Harm(AssertionError):
    """A watched program or an unrelated one was changed."""


class Report(AssertionError):
    """A sanitizer or valgrind reported something."""


class Comparisons:
    """The values of the last failed `==` in this test, from pytest's rewritten assertions."""

    def __init__(self):
        self.last = None

    def forget(self):
        self.last = None

    def note(self, operator, left, right):
        self.last = (left, right) if operator == "==" else None


def _numbers(value, depth=4):
    """The numbers in a value, including those in its containers."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return [value]
    if not depth or not isinstance(value, (dict, list, tuple, set, frozenset)):
        return []
    parts = [*value.keys(), *value.values()] if isinstance(value, dict) else value
    return [number for part in parts for number in _numbers(part, depth - 1)]


def _is_signal(value):
    return (isinstance(value, int) and not isinstance(value, bool)
            and (value < 0 or value in SIGNALS))


def _of_comparison(statement, values):
    if ABOUT_ENDS.search(statement):
        return "a signal" if any(map(_is_signal, values)) else ""
    return "a wrong count" if any(map(_numbers, values)) else ""


def _statement(excinfo):
    """The source of the failed statement; empty if it cannot be read."""
    try:
        return str(excinfo.traceback[-1].statement)
    except (IndexError, OSError):
        return ""


def reason(excinfo, comparisons):
    """Why this failure of a test is certain; empty if it may be by chance."""
    error = excinfo.value
    if isinstance(error, Report):
        return "a sanitizer's or valgrind's report"
    if isinstance(error, Harm):
        return "harm to a program"
    if isinstance(error, subprocess.CalledProcessError):
        return f"a program failed: {error.returncode}"
    if isinstance(error, AssertionError) and comparisons.last:
        return _of_comparison(_statement(excinfo), comparisons.last)
    return ""
