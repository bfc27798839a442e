# SPDX-License-Identifier: BSD-2-Clause
"""The file of a program's step times: the starts of its steps, CLOCK_MONOTONIC nanoseconds as
numbers of 64 bits. A thread or process of a program has its own file."""
import array
import os
import time

WRITE_NS = 500_000_000  # the longest that a time stays in memory


class StepFile:
    """Written by one thread. The times reach the file in batches, so that writing disturbs few
    steps, and a program that is killed loses the last half second."""

    def __init__(self, path):
        self.file = open(path, "wb", buffering=0)
        self.times, self.written = array.array("q"), time.monotonic_ns()

    def mark(self):
        """A step starts now."""
        now = time.monotonic_ns()
        self.times.append(now)
        if now - self.written > WRITE_NS:
            self.file.write(self.times)
            del self.times[:]
            self.written = now


def read(path):
    """The times in the file so far, oldest first."""
    times = array.array("q")
    with open(path, "rb") as file:
        times.frombytes(file.read(os.fstat(file.fileno()).st_size // 8 * 8))
    return times
