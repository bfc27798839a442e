#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A PyTorch program that works only while its own profiler records for gpuprobe.

    KINETO_USE_DAEMON=1 kineto.py MODE

It trains once, prints READY, and waits for the file of a trace (gpuprobe-*.trace.tmp), which Kineto
opens before it warms up. Once that is over, it does the work of programs/gpu_times.py: all work of
the GPU that gpuprobe's probes can see is in the recorded time, if that is 10 s. It ends with its
standard input.
"""
import glob
import sys
import time

import torch

from gpu_times import MODES

WARM_SECONDS = 4  # from the file to the recording: 2 s, and 1 s of warm-up


def main():
    work = MODES[sys.argv[1]]
    work()
    torch.cuda.synchronize()
    print("READY", flush=True)
    while not glob.glob("/tmp/gpuprobe-*.trace.tmp"):
        time.sleep(0.05)
    time.sleep(WARM_SECONDS)
    work()
    torch.cuda.synchronize()
    sys.stdin.read()


main()
