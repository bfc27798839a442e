#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A thread that launches beside one that allocates and frees large memory, to be watched.

Writes a line of JSON: how long the launches of a millisecond and more took, with and,
for a while at first, without the other thread.
"""
import ctypes
import json
import os
import threading
import time

import torch

LARGE = 8 << 30
SECONDS = 12
LONG_NS = 1_000_000


def hog(over):
    # CDLL: calls without Python's lock.
    runtime = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")
    pointer = ctypes.c_void_p()
    while not over.is_set():
        assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(LARGE)) == 0
        assert runtime.cudaFree(pointer) == 0


def launch(values, seconds):
    """The number of launches, how many were long, and the time of these."""
    count = long = long_ns = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.perf_counter_ns()
        values.mul_(1.0)
        took = time.perf_counter_ns() - began
        count += 1
        if took >= LONG_NS:
            long += 1
            long_ns += took
        if count % 100 == 0:
            torch.cuda.current_stream().synchronize()
    return count, long, long_ns


def main():
    values = torch.ones(1024, device="cuda")
    before = launch(values, 2)
    over = threading.Event()
    other = threading.Thread(target=hog, args=(over,))
    other.start()
    beside = launch(values, SECONDS)
    over.set()
    other.join()
    print(json.dumps({"pid": os.getpid(), "before": before, "beside": beside}), flush=True)


if __name__ == "__main__":
    main()
