# SPDX-License-Identifier: BSD-2-Clause
"""Makes objects by the driver's API, or handles of libraries, one after the other, and prints what
the GPU lost for them.

    objects.py KIND PATTERN COUNT SECONDS

KIND: stream, event, graph_exec (of 10 kernels, launched), module (one kernel, launched), cublas,
cudnn (of the packages beside PyTorch). PATTERN:
leak (all stay), each (destroyed at once), pool (made at the start), cache (the latest 100 stay).
"""
import ctypes
import glob
import json
import os
import site
import sys
import sysconfig
import time

PTX = (b".version 7.0\n.target sm_75\n.address_size 64\n"
       b".visible .entry small()\n{\n\tret;\n}\n\0")
KERNELS = 10
CACHE = 100

cuda = ctypes.CDLL("libcuda.so.1")
# Made before the measurement: the first launch of a process loads more than its kernel.
context, stream = ctypes.c_void_p(), ctypes.c_void_p()


def call(name, *arguments):
    result = getattr(cuda, name)(*arguments)
    if result:
        sys.exit(f"{name} returned {result}")


def made(name, *arguments):
    handle = ctypes.c_void_p()
    call(name, ctypes.byref(handle), *arguments)
    return handle


def launch(function):
    call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, stream, None, None)


def load():
    module = made("cuModuleLoadData", PTX)
    return module, made("cuModuleGetFunction", module, b"small")


def make_module():
    module, function = load()
    launch(function)
    call("cuStreamSynchronize", stream)
    return module


def make_exec(graph):
    executable = made("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
    call("cuGraphLaunch", executable, stream)
    call("cuStreamSynchronize", stream)
    return executable


def capture(function):
    call("cuStreamBeginCapture_v2", stream, 0)
    for _ in range(KERNELS):
        launch(function)
    graph = ctypes.c_void_p()
    call("cuStreamEndCapture", stream, ctypes.byref(graph))
    return graph


def library(name):
    """A library of NVIDIA's Python packages."""
    for folder in {sysconfig.get_path("purelib"), *site.getsitepackages()}:
        for path in sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", name + ".so.*"))):
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(name + ".so")


class Handles:
    """Functions of a library that take and give handles, by the way calls of the driver go here."""

    def __init__(self, name, create, destroy):
        self.library, self.create, self.destroy = library(name), create, destroy

    def make(self):
        handle = ctypes.c_void_p()
        if getattr(self.library, self.create)(ctypes.byref(handle)):
            sys.exit(f"{self.create} failed")
        return handle

    def end(self, handle):
        getattr(self.library, self.destroy)(handle)


HANDLES = {
    "cublas": ("libcublas", "cublasCreate_v2", "cublasDestroy_v2"),
    "cudnn": ("libcudnn", "cudnnCreate", "cudnnDestroy"),
}


def free_bytes():
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    return free.value


def main():
    global context, stream
    kind, pattern, count, seconds = (*sys.argv[1:3], int(sys.argv[3]), float(sys.argv[4]))
    call("cuInit", 0)
    device = ctypes.c_int()
    call("cuDeviceGet", ctypes.byref(device), 0)
    context = made("cuDevicePrimaryCtxRetain", device)
    call("cuCtxSetCurrent", context)
    stream = made("cuStreamCreate", 1)
    _, function = load()
    launch(function)
    call("cuStreamSynchronize", stream)
    graph = capture(function)
    if kind in HANDLES:
        handles = Handles(*HANDLES[kind])
        make, end = handles.make, handles.end
    else:
        make, destroy = {
            "stream": (lambda: made("cuStreamCreate", 1), "cuStreamDestroy_v2"),
            "event": (lambda: made("cuEventCreate", 0), "cuEventDestroy_v2"),
            "graph_exec": (lambda: make_exec(graph), "cuGraphExecDestroy"),
            "module": (make_module, "cuModuleUnload"),
        }[kind]

        def end(handle):
            call(destroy, handle)
    make()
    # Long enough for a reading with the context alone.
    time.sleep(3)
    before, kept = free_bytes(), []
    for _ in range(count):
        kept.append(make())
        if pattern == "each" or (pattern == "cache" and len(kept) > CACHE):
            end(kept.pop(0))
        if pattern != "pool":
            time.sleep(seconds / count)
    if pattern == "pool":
        time.sleep(seconds)
    print(json.dumps({"made": count, "bytes": before - free_bytes()}))
    sys.stdout.flush()
    # Long enough for a reading with all of them.
    time.sleep(3)


if __name__ == "__main__":
    main()
