# SPDX-License-Identifier: BSD-2-Clause
"""The file of a program's steps, of one thread or process: for each step two numbers of 64
bits, its start (CLOCK_MONOTONIC nanoseconds) and how long the yardstick before it took.

The yardstick is a fixed piece of Python work that calls nothing of CUDA. A virtual CPU runs at half
its speed for a second, then at full speed again, as its neighbours please: steps that take 2.5 ms
take 4 ms, and so does the yardstick. A step by the yardstick's time is steadier than a step by the
clock."""
import array
import os
import random
import time
from dataclasses import dataclass, field

WRITE_NS = 500_000_000  # the longest that a step stays in memory
ITEMS, WALKED = 1 << 15, 1500  # objects of the yardstick; those of one step


class Yardstick:
    """Some 100 us of what an interpreter does: objects from all over the memory, arithmetic, a
    dictionary."""

    def __init__(self):
        self.items = [{"value": number} for number in range(ITEMS)]
        random.Random(1).shuffle(self.items)
        self.at = 0

    def measure(self):
        """Nanoseconds that it takes now."""
        begin = time.monotonic_ns()
        some, total = self.items[self.at:self.at + WALKED], {}
        self.at = (self.at + WALKED) % (ITEMS - WALKED)
        for item in some:
            value = item["value"]
            total[value & 63] = total.get(value & 63, 0) + value
        return time.monotonic_ns() - begin


class StepFile:
    """Written by one thread. Steps reach the file in batches, so that writing disturbs few of them,
    and a program that is killed loses the last half second."""

    def __init__(self, path, yardstick=None):
        """`yardstick`: None where other threads of the program would disturb it."""
        self.file, self.yardstick = open(path, "wb", buffering=0), yardstick
        self.numbers, self.written = array.array("q"), time.monotonic_ns()

    def mark(self):
        """A step starts when this returns, and the step before ended when it was called."""
        called = time.monotonic_ns()
        if called - self.written > WRITE_NS:
            self.file.write(self.numbers)
            del self.numbers[:]
            self.written = called
        if self.yardstick:
            self.yardstick.measure()
        now = time.monotonic_ns()
        self.numbers.extend((now, now - called if self.yardstick else 0))


@dataclass
class Steps:
    """`starts` of steps, and the ns of the `yardsticks` before each, 0 for none."""
    starts: list = field(default_factory=list)
    yardsticks: list = field(default_factory=list)


def read(path):
    """The Steps in the file so far, oldest first."""
    numbers = array.array("q")
    with open(path, "rb") as file:
        numbers.frombytes(file.read(os.fstat(file.fileno()).st_size // 16 * 16))
    return Steps(numbers[::2], numbers[1::2])
