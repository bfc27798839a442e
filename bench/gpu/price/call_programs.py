#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Loops of one kind of call to the driver, to learn what gpuprobe adds to a call:
call_programs.py KIND STEPS. Without a GPU, on the simulated CUDA as well.

Writes its steps to STEPS.0 (steps.py) until it is killed. Prints a line of JSON once it
runs. A step is a batch of calls, and a launch's batch ends with a wait.
"""
import ctypes
import gc
import json
import os
import sys

from steps import StepFile

CALLS = 200  # of a step
COPY_BYTES, BUFFER_BYTES = 64, 64 << 10
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
KERNEL = b""".version 7.0
.target sm_52
.address_size 64
.visible .entry empty()
{
ret;
}
"""


class Driver:
    """libcuda with a context, a stream, an empty kernel and a buffer."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.kernel, self.stream = ctypes.c_void_p(), ctypes.c_void_p()
        self.buffer, self.host = ctypes.c_uint64(), ctypes.create_string_buffer(COPY_BYTES)
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(module), KERNEL)
        self.call("cuModuleGetFunction", ctypes.byref(self.kernel), module, b"empty")
        self.call("cuStreamCreate", ctypes.byref(self.stream), NON_BLOCKING)
        self.call("cuMemAlloc_v2", ctypes.byref(self.buffer), ctypes.c_size_t(BUFFER_BYTES))

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise SystemExit(f"{name} failed with {status}")


def launch(driver):
    """A step of launches."""
    call, one, none = driver.cuda.cuLaunchKernel, ctypes.c_uint(1), ctypes.c_void_p()
    arguments = (driver.kernel, one, one, one, one, one, one, ctypes.c_uint(0), driver.stream,
                 none, none)
    wait, stream = driver.cuda.cuStreamSynchronize, driver.stream

    def step():
        for _ in range(CALLS):
            call(*arguments)
        wait(stream)
    return step


def repeated(call, *arguments):
    def step():
        for _ in range(CALLS):
            call(*arguments)
    return step


def allocation(driver):
    """A step of allocations and frees, half of each."""
    allocate, free = driver.cuda.cuMemAlloc_v2, driver.cuda.cuMemFree_v2
    address, size = ctypes.c_uint64(), ctypes.c_size_t(BUFFER_BYTES)
    place = ctypes.byref(address)

    def step():
        for _ in range(CALLS // 2):
            allocate(place, size)
            free(address)
    return step


KINDS = {
    "launch": launch,
    "wait": lambda driver: repeated(driver.cuda.cuStreamSynchronize, driver.stream),
    "copy": lambda driver: repeated(driver.cuda.cuMemcpyHtoD_v2, driver.buffer, driver.host,
                                    ctypes.c_size_t(COPY_BYTES)),
    "allocation": allocation,
    "query": lambda driver: repeated(driver.cuda.cuStreamQuery, driver.stream),
}


def main():
    kind, path = sys.argv[1:]
    step, steps = KINDS[kind](Driver()), StepFile(f"{path}.0")
    gc.collect()
    gc.disable()
    print(json.dumps({"pid": os.getpid()}), flush=True)
    while True:
        steps.mark()
        step()


if __name__ == "__main__":
    main()
