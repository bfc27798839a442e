# SPDX-License-Identifier: BSD-2-Clause
"""
Results for tests/run.py: a line of JSON for each test with its name, state, seconds, output, why a
failure is certain (lib/certain.py) and the machine's load at that time. The lines go to the file
that GPUPROBE_TEST_RESULTS names.
"""
import json
import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))

from runner.outcome import FAILED, PASSED, SKIPPED, load_of_machine  # noqa: E402

from lib import certain  # noqa: E402

RESULTS = "GPUPROBE_TEST_RESULTS"
PHASES = ("setup", "call", "teardown")


class Failures:
    """
    In the process that runs the tests: marks each failure with the reason why it is certain, and
    with the machine's load.
    """

    def __init__(self):
        self.comparisons = certain.Comparisons()

    def pytest_runtest_setup(self):
        self.comparisons.forget()

    def pytest_assertrepr_compare(self, op, left, right):
        self.comparisons.note(op, left, right)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, call):
        report = (yield).get_result()
        if report.failed:
            report.user_properties += [("certain", certain.reason(call.excinfo, self.comparisons)),
                                       ("load", load_of_machine())]


def _name(report):
    """
    The test's name as pytest takes it: a worker appends `@` and the group that keeps tests
    together.
    """
    name, at, group = report.nodeid.rpartition("@")
    return name if at and "]" not in group else report.nodeid


class Writer:
    """
    In the process in which pytest was started: joins the phases of each test and writes its line.
    """

    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")  # pylint: disable=consider-using-with
        self.begun = {}

    def pytest_runtest_logreport(self, report):
        name = _name(report)
        test = self.begun.setdefault(name, {"name": name, "state": PASSED, "seconds": 0.0})
        test["seconds"] += report.duration
        if report.skipped:
            test["state"] = SKIPPED
        if report.failed:
            test["state"] = FAILED
            test["output"] = (
                test.get("output", "") + f"{name} ({report.when})\n{report.longreprtext}\n"
                + "".join(f"--- {title}\n{text}\n" for title, text in report.sections))
            test.update(report.user_properties or {"certain": "the process of the tests ended"})
        if report.when not in PHASES[:2]:
            self._write(name)

    def _write(self, name):
        self.file.write(json.dumps(self.begun.pop(name)) + "\n")
        self.file.flush()

    def pytest_sessionfinish(self):
        for name in list(self.begun):
            self._write(name)
        self.file.close()


def register(config):
    """
    Registers this process's plugins: xdist's workers run tests, the process that started them
    writes; without xdist one process does both.
    """
    config.pluginmanager.register(Failures())
    if "PYTEST_XDIST_WORKER" not in os.environ and os.environ.get(RESULTS):
        config.pluginmanager.register(Writer(os.environ[RESULTS]))
