# SPDX-License-Identifier: BSD-2-Clause
"""A worker of pytest-xdist that runs no test before others of the machine are over: tests/run.py
names it, and the file that says so, in GPUPROBE_TEST_JOINS (runner/integration.py)."""
import os
import time

import pytest

EVERY = 0.1  # s


class LateWorker:
    """Runs nothing until there is the file."""

    def __init__(self, path):
        self.path = path

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self):
        while not os.path.exists(self.path):
            time.sleep(EVERY)


def register(config):
    """Makes this process wait, if it is that worker."""
    worker, _, path = os.environ.get("GPUPROBE_TEST_JOINS", "").partition(" ")
    if path and os.environ.get("PYTEST_XDIST_WORKER") == worker:
        config.pluginmanager.register(LateWorker(path))
