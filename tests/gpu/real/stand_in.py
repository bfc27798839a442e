#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Stands in for the programs of the corpus on machines without a GPU, to try the runners: work for
the simulated GPU, and between it rest, of which the repaired program has less."""
import ctypes
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs"))
from steady import Loop  # noqa: E402  pylint: disable=wrong-import-position

SETS, BYTES = 20, 1 << 16


def main():
    loop = Loop(__doc__)
    runtime = ctypes.CDLL("libcudart.so.13")
    memory = ctypes.c_void_p()
    assert runtime.cudaMalloc(ctypes.byref(memory), BYTES) == 0
    while True:
        time.sleep(0.0002 if loop.repaired else 0.004)
        for _ in range(SETS):
            runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(BYTES), None)
        runtime.cudaDeviceSynchronize()
        if loop.done():
            break
    loop.finish()


if __name__ == "__main__":
    main()
