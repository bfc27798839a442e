# SPDX-License-Identifier: BSD-2-Clause
"""
A process's progress as reported by the kernel: tests wait for it, however busy the machine is.
"""
import contextlib
import os
import signal
import time
from pathlib import Path

CLOCK_NANOSLEEP = "230"  # x86-64


def wait_until(condition, timeout=60):
    """Waits for the condition. The timeout only ends a hang."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"this did not come about within {timeout} s"
        time.sleep(0.02)


def is_in_slow_call(pid):
    """
    Whether one of its threads is in a call that the simulated CUDA makes slow (CUDA_SIM_LATENCY).
    """
    for syscall in Path(f"/proc/{pid}/task").glob("*/syscall"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if syscall.read_text(encoding="ascii").split()[0] == CLOCK_NANOSLEEP:
                return True
    return False


def wait_until_in_slow_call(pid):
    wait_until(lambda: is_in_slow_call(pid))


def fields_of(pid):
    """The fields of /proc/PID/stat from the process's state on."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8",
                                               errors="replace").rpartition(")")[2].split()


def cpu_seconds(pid):
    """CPU seconds of all its threads."""
    return sum(map(int, fields_of(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def wait_until_ran(pid, seconds):
    """Waits until it has used that much CPU time, or has ended."""
    end = cpu_seconds(pid) + seconds
    wait_until(lambda: cpu_seconds(pid) >= end or fields_of(pid)[0] == "Z")


def blocks(pid, number):
    """Whether it blocks this signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def counted(pid, word):
    """A number of /proc/PID/io."""
    lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{word}:"))


@contextlib.contextmanager
def standing_still(pid):
    """Keeps the process from running during the block."""
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: fields_of(pid)[0] == "T")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
