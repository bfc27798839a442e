# SPDX-License-Identifier: BSD-2-Clause
"""A loop of equal steps, or the same with one thing worse. It is meant for gpuprobe diff.

usage: regressed.py STEPS WHAT [WHAT...]

A step copies a batch to the device, launches 12 kernels and waits once. Several run side by side,
each in a process of its own; the last line is JSON: their pids. WHAT: same, or
wait: waits twice;
copy: copies the batch back as well;
fusion: launches 6 kernels more, of another name;
malloc: allocates and frees in each step;
growth: allocates in each step, and frees nothing;
event: records an event in each step.
"""
import ctypes
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuda import driver, made, need, ptx, start  # noqa: E402

STEPS, WHAT, *MORE = sys.argv[1:]
BATCH = 4096
MEGABYTE = 1 << 20


def launch(kernel, count):
    for _ in range(count):
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))


def allocate(size):
    return made(driver.cuMemAlloc_v2, size)


def wait():
    need(driver.cuCtxSynchronize())


def load_batch(batch, host):
    need(driver.cuMemcpyHtoD_v2(batch, host, BATCH))


def worsen(batch, host, kernel, event):
    if WHAT == "wait":
        wait()
    elif WHAT == "copy":
        need(driver.cuMemcpyDtoH_v2(host, batch, BATCH))
    elif WHAT == "fusion":
        launch(kernel, 6)
    elif WHAT == "malloc":
        need(driver.cuMemFree_v2(allocate(MEGABYTE)))
    elif WHAT == "growth":
        allocate(MEGABYTE)
    elif WHAT == "event":
        need(driver.cuEventRecord(event, 0))


def run_side_by_side():
    started = [subprocess.Popen([sys.executable, __file__, STEPS, what]) for what in (WHAT, *MORE)]
    if any(process.wait() for process in started):
        sys.exit("one failed")
    print(json.dumps([process.pid for process in started]))


def main():
    start()
    module = made(driver.cuModuleLoadData, ptx("gemm", "bias"))
    gemm = made(driver.cuModuleGetFunction, module, b"gemm")
    bias = made(driver.cuModuleGetFunction, module, b"bias")
    event = made(driver.cuEventCreate, 2)
    batch, host = allocate(BATCH), ctypes.create_string_buffer(BATCH)
    for _ in range(int(STEPS)):
        load_batch(batch, host)
        launch(gemm, 12)
        worsen(batch, host, bias, event)
        wait()
        time.sleep(0.01)


if MORE:
    run_side_by_side()
else:
    main()
