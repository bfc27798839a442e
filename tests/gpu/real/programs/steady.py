# SPDX-License-Identifier: BSD-2-Clause
"""What the programs of the corpus have in common: their options, and the clock of their loop.

    PROGRAM SECONDS [--repaired] [--held] [--times FILE]

A program is an ordinary loop that asks `loop.done()` after each step. The first steps warm up. Then
READY is printed, with --held a line on the standard input is waited for, and the steady loop
begins. It ends after SECONDS or by SIGTERM. The last line of the output is one JSON object: steps,
units of work in a step, seconds of the steady loop, median and mean seconds of a step.
--times has the time of each step's end written to FILE at the end:
64-bit nanoseconds of CLOCK_MONOTONIC, the first of them the begin.
"""
import argparse
import array
import ctypes
import json
import os
import signal
import statistics
import sys
import threading
import time

WARM_UP_STEPS = 5


def record_busy():
    """From now on CUPTI records when the GPU works, if BUSY_LIBRARY names the library of busy.c.
    For programs that cannot start with CUDA_INJECTION64_PATH."""
    library = os.environ.get("BUSY_LIBRARY")
    if library and not ctypes.CDLL(library).InitializeInjection():
        raise SystemExit("CUPTI records nothing")


class Loop:
    def __init__(self, description, warm_up=WARM_UP_STEPS, arguments=()):
        """`arguments`: (name, keywords) of the program's own options;
        their values are in `options`."""
        parser = argparse.ArgumentParser(description=description,
                                         formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("seconds", type=float, help="of the steady loop")
        parser.add_argument("--repaired", action="store_true", help="without the fault")
        parser.add_argument("--held", action="store_true",
                            help="wait for a line before the steady loop")
        parser.add_argument("--times", help="a file for the times of the steps")
        for name, keywords in arguments:
            parser.add_argument(name, **keywords)
        self.options = parser.parse_args()
        self.repaired = self.options.repaired
        # Set when the steady loop has begun: for threads that must be quiet before.
        self.going = threading.Event()
        self.over = threading.Event()  # it is to end
        self.at_begin = None  # called then: for processes that are to be quiet before
        self.units = 1  # of work in a step, where the repaired program does several at a time
        self._warm_up = warm_up
        self._times = array.array("q")
        self._end_ns = 0

    def begin(self):
        """The steady loop begins; done() says so by itself when the warm-up is over."""
        signal.signal(signal.SIGTERM, lambda number, frame: self.over.set())
        print("READY", flush=True)
        if self.options.held:
            sys.stdin.readline()
        self._times.append(time.monotonic_ns())
        self._end_ns = self._times[0] + int(self.options.seconds * 1e9)
        self.going.set()
        if self.at_begin:
            self.at_begin()

    def done(self):
        """A step has ended; whether the loop is to."""
        if not self._times:
            self._warm_up -= 1
            if self._warm_up <= 0:
                self.begin()
            return False
        self._times.append(time.monotonic_ns())
        if self._times[-1] >= self._end_ns:
            self.over.set()
        return self.over.is_set()

    def wait(self):
        """For programs whose steps are other threads': returns when the loop is over."""
        self.over.wait(self.options.seconds)
        self.over.set()

    def finish(self, steps=None):
        """Tells how the loop went. `steps`: where done() did not count them."""
        times = self._times
        if len(times) < 2:
            times.append(time.monotonic_ns())
        counted = steps is None
        steps = len(times) - 1 if counted else steps
        seconds = (times[-1] - times[0]) / 1e9
        median = (statistics.median(b - a for a, b in zip(times, times[1:])) / 1e9
                  if counted and steps else None)
        if self.options.times:
            with open(self.options.times, "wb") as file:
                times.tofile(file)
        print(json.dumps({"pid": os.getpid(), "steps": steps, "units": self.units,
                          "seconds": seconds, "median_step_seconds": median,
                          "mean_step_seconds": seconds / steps if steps else None}), flush=True)
