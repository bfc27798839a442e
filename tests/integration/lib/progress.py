# SPDX-License-Identifier: BSD-2-Clause
"""How far a process has got, as the kernel tells it: what a test waits for,
however busy the machine is."""
import contextlib
import os
import signal
import time
from pathlib import Path

CLOCK_NANOSLEEP = "230"  # x86-64


def wait_until(condition, timeout=60):
    """The timeout only ends a hang."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"this did not come about within {timeout} s"
        time.sleep(0.02)


def is_in_slow_call(pid):
    """Whether a thread of it is in a call that the simulated CUDA makes last (CUDA_SIM_LATENCY)."""
    for syscall in Path(f"/proc/{pid}/task").glob("*/syscall"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if syscall.read_text(encoding="ascii").split()[0] == CLOCK_NANOSLEEP:
                return True
    return False


def wait_until_in_slow_call(pid):
    wait_until(lambda: is_in_slow_call(pid))


def fields_of(pid):
    """Those of /proc/PID/stat from the process's state on."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8",
                                               errors="replace").rpartition(")")[2].split()


def cpu_seconds(pid):
    """All its threads together."""
    return sum(map(int, fields_of(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def wait_until_ran(pid, seconds):
    """Until it has had a CPU for so long, or has ended."""
    end = cpu_seconds(pid) + seconds
    wait_until(lambda: cpu_seconds(pid) >= end or fields_of(pid)[0] == "Z")


def blocks(pid, number):
    """Whether it keeps this signal from being delivered."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def counted(pid, word):
    """A number of /proc/PID/io."""
    lines = Path(f"/proc/{pid}/io").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{word}:"))


@contextlib.contextmanager
def standing_still(pid):
    """It does not run in the meantime."""
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: fields_of(pid)[0] == "T")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
