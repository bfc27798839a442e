# SPDX-License-Identifier: BSD-2-Clause
"""CUDA by ctypes, for the scripts that tests let gpuprobe watch (lib/script.py).

driver and runtime are the two libraries; an integer argument is passed with 64 bits. Every call
returns its result code; need() ends the script where that is not 0.
"""
import atexit
import contextlib
import ctypes
import json
import os
import sys
import time

SIM = os.environ["CUDA_SIM_DIRECTORY"]


class Library:
    def __init__(self, path):
        self._library = ctypes.CDLL(path)

    def __getattr__(self, name):
        function = getattr(self._library, name)

        def call(*arguments):
            return function(*[ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments])

        setattr(self, name, call)
        return call


class Lazy:
    """A library that is opened with its first call."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, name):
        library = Library(f"{SIM}/{self._name}")
        self.__dict__["_opened"] = library
        value = getattr(library, name)
        self.__dict__[name] = value
        return value


driver = Lazy("libcuda.so.1")
runtime = Lazy("libcudart.so.13")


def need(result):
    if result:
        sys.exit(f"a CUDA call failed: {result}")


def out():
    """A word for a call to write to; .value reads it."""
    return ctypes.c_uint64(0)


def ref(word):
    return ctypes.byref(word)


def made(function, *arguments):
    """What a call that must succeed writes to its first argument."""
    word = out()
    need(function(ref(word), *arguments))
    return word.value


def start(device=0):
    """Initializes the driver and makes the primary context current."""
    need(driver.cuInit(0))
    context = made(driver.cuDevicePrimaryCtxRetain, device)
    need(driver.cuCtxSetCurrent(context))
    return context


def ptx(*names):
    text = ".version 7.0\n.target sm_75\n.address_size 64\n"
    return (text + "".join(f".visible .entry {name}()\n{{\n\tret;\n}}\n"
                           for name in names)).encode()


def module(*names):
    """A module with the kernels: (module, handles)."""
    loaded = made(driver.cuModuleLoadData, ptx(*names))
    return loaded, [made(driver.cuModuleGetFunction, loaded, name.encode()) for name in names]


def launch(handle, stream=0, threads=1):
    return driver.cuLaunchKernel(handle, 1, 1, 1, threads, 1, 1, 0, stream, None, None)


_clocked = []


@contextlib.contextmanager
def clocked(name):
    """Calls inside take no longer than this by the program's own clock:
    lib.script.clocked() has the sum."""
    began = time.monotonic_ns()
    yield
    _clocked.append((name, time.monotonic_ns() - began))


@atexit.register
def _tell_clocked():
    sums = {}
    for name, ns in _clocked:
        sums[name] = sums.get(name, 0) + ns
    if sums:
        print("CLOCKED " + json.dumps(sums), flush=True)


def touch(path):
    """Tells the test, which waits for the file; stdout may be gpuprobe's."""
    with open(path, "w", encoding="utf-8"):
        pass


def wait_until_in_slow_call(thread):
    """Until the thread is in a call that the simulated CUDA makes last (CUDA_SIM_LATENCY)."""
    clock_nanosleep = "230"  # x86-64
    while True:
        with open(f"/proc/self/task/{thread.native_id}/syscall", encoding="ascii") as syscall:
            if syscall.read().split()[0] == clock_nanosleep:
                return
        time.sleep(0.01)


def wait_for(path):
    """Until the test has made the file; not for ever, should the test be gone."""
    end = time.monotonic() + 60
    while not os.path.exists(path):
        if time.monotonic() > end:
            sys.exit(f"{path} never came")
        time.sleep(0.01)
