# SPDX-License-Identifier: BSD-2-Clause
"""Allocates tensors by the stand-in for PyTorch's allocator, and prints what is true of them.

usage: tensors.py LIBRARY, then commands on stdin, each answered by a line of JSON:
  make N BYTES     N tensors in the function `keep`, which stay
  churn N BYTES    N tensors in the function `churn`, each freed at once
  backward N BYTES N tensors that stay, each by a thread without Python
  drop N           frees N of those that stay, the oldest first
  threads T N B    T threads, each makes N tensors of B bytes and frees every second one
  steps N MS       N steps of MS each: a launch, three tensors by `churn`, one by `keep`
  fork N BYTES     a child makes N tensors, frees one of its parent's, answers with its counts
  empty            returns unused segments to CUDA
  count            the counts alone
  quit
"""
import ctypes
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
if "CUDA_SIM_DIRECTORY" in os.environ:
    from cuda import driver, made, module, need


class Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "allocations", "bytes", "frees", "freed_bytes", "live", "live_bytes", "rounded_bytes",
        "segments", "segment_bytes")]


c10 = ctypes.CDLL(sys.argv[1])
c10.c10_allocate.restype = ctypes.c_void_p
c10.c10_allocate.argtypes = (ctypes.c_size_t, ctypes.c_int, ctypes.c_size_t)
c10.c10_allocate_in_thread.restype = ctypes.c_void_p
c10.c10_allocate_in_thread.argtypes = (ctypes.c_size_t,)
c10.c10_free.argtypes = (ctypes.c_void_p,)
kept = []


def keep(count, size):
    for _ in range(count):
        kept.append(c10.c10_allocate(size, 0, 0))


def backward(count, size):
    for _ in range(count):
        kept.append(c10.c10_allocate_in_thread(size))


def churn(count, size):
    for _ in range(count):
        c10.c10_free(c10.c10_allocate(size, 0, 0))


def step(kernel, ms):
    need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    churn(3, 2000)
    keep(1, 1000)
    time.sleep(ms / 1000)


def run_steps(count, ms):
    need(driver.cuInit(0))
    need(driver.cuCtxSetCurrent(made(driver.cuDevicePrimaryCtxRetain, 0)))
    kernel = module("step")[1][0]
    for _ in range(count):
        step(kernel, ms)


def drop(count):
    for _ in range(count):
        c10.c10_free(kept.pop(0))


def work(count, size):
    for i in range(count):
        piece = c10.c10_allocate(size, 0, 0)
        if i % 2:
            c10.c10_free(piece)
        else:
            kept.append(piece)


def run_threads(threads, count, size):
    running = [threading.Thread(target=work, args=(count, size)) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def counts():
    now = Counts()
    c10.c10_count(ctypes.byref(now))
    return {name: getattr(now, name) for name, _ in Counts._fields_} | {
        "malloc_watchers": c10.c10_malloc_watchers(),
        "free_watchers": c10.c10_free_watchers(), "pid": os.getpid()}


def answer(values):
    """In one write: gpuprobe writes to the same pipe."""
    sys.stdout.write(json.dumps(values) + "\n")
    sys.stdout.flush()


def fork(count, size):
    """The child stays until its parent ends, which first waits for its answer."""
    answered, done = os.pipe()
    if os.fork():
        os.close(done)
        os.read(answered, 1)
        os.close(answered)
        return
    os.close(answered)
    before = counts()
    keep(count, size)
    c10.c10_free(kept.pop(0))
    after = counts()
    answer({key: after[key] - before[key] for key in ("allocations", "bytes", "frees")}
           | {"pid": os.getpid()})
    os.close(done)
    while os.getppid() != 1 and sys.stdin.readline():
        pass
    os._exit(0)


COMMANDS = {"make": keep, "churn": churn, "drop": drop, "threads": run_threads, "fork": fork,
            "steps": run_steps, "backward": backward,
            "empty": c10.c10_empty_cache, "count": lambda: None}

answer(counts())
for line in sys.stdin:
    word, *numbers = line.split()
    if word == "quit":
        break
    COMMANDS[word](*map(int, numbers))
    if word != "fork":
        answer(counts())
