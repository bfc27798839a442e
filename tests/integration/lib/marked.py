# SPDX-License-Identifier: BSD-2-Clause
"""Processes that a test has started, however many forks away: its mark is in their environment."""
import os
import signal
import time
from pathlib import Path


def processes_with(mark):
    """The processes that have `mark` in their environment, with their states."""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            if mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found[int(name)] = (
                    Path(f"/proc/{name}/stat").read_text().rsplit(")", 1)[1].split()[0])
        except OSError:
            continue
    return found


def ends_soon(mark, timeout=60):
    """Waits until no process with the mark lives; fails if one stays stopped."""
    end = time.monotonic() + timeout
    while living := processes_with(mark):
        if time.monotonic() > end:
            for pid in living:
                os.kill(pid, signal.SIGKILL)
            raise AssertionError(f"processes that did not end, by state: {living}")
        time.sleep(0.02)
