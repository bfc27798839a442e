# SPDX-License-Identifier: BSD-2-Clause
"""A loop of steps that spends its time in a known way between its launches, and keeps its own account of that.

usage: host_steps.py WAY SECONDS

WAY: compute, sleep, lock, gil, queue, launch. It goes on for so many seconds of its main thread's CPU time where that is
what it spends, else of time. The last line is JSON: the numbers of the threads and processes that matter, and in
"log" the times so far at each step (CLOCK_BOOTTIME, seconds): what the thread has had of the CPU in all and in
normalise(), and how long it has waited.
"""
import ctypes
import json
import math
import multiprocessing
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuda import driver, made, need, ptx, start  # noqa: E402

WAY, SECONDS = sys.argv[1], float(sys.argv[2])
COMM = os.environ.get("HOST_COMM")
told = {"main": threading.get_native_id()}
own = {"normalise": 0.0, "waited": 0.0}
log = []
ends = threading.Event()
lock = threading.Lock()


def normalise(count=60000):
    began = time.thread_time()
    total = 0.0
    for number in range(count):
        total += math.sqrt(number)
    own["normalise"] += time.thread_time() - began
    return total


def rest():
    began = time.monotonic()
    time.sleep(0.01)
    own["waited"] += time.monotonic() - began


def hold():
    """Has the lock nearly all of the time, asleep."""
    told["other"] = threading.get_native_id()
    if COMM:
        ctypes.CDLL(None).prctl(15, ctypes.c_char_p(COMM.encode("latin-1")))
    while not ends.is_set():
        with lock:
            time.sleep(0.02)
        time.sleep(0.002)


def take():
    began = time.monotonic()
    with lock:
        own["waited"] += time.monotonic() - began


def hog():
    """Wants the interpreter all of the time."""
    told["other"] = threading.get_native_id()
    number = 0
    while not ends.is_set():
        number += 1


def transform(count=150000):
    return sum(number * number for number in range(count))


def work(queue, stops):
    while not stops.is_set():
        queue.put(transform())
    queue.put(None)


def fetch(queue):
    began = time.monotonic()
    item = queue.get()
    own["waited"] += time.monotonic() - began
    return item


def launch(kernel, count=20):
    for _ in range(count):
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    need(driver.cuCtxSynchronize())


def note():
    log.append([time.clock_gettime(time.CLOCK_BOOTTIME), time.thread_time(), own["normalise"], own["waited"]])


def spent():
    return time.thread_time() if WAY in ("compute", "launch") else time.monotonic()


def main():
    other = {"lock": hold, "gil": hog}.get(WAY)
    queue = multiprocessing.Queue(2)
    stops = multiprocessing.Event()
    worker = multiprocessing.Process(target=work, args=(queue, stops)) if WAY == "queue" else None
    thread = threading.Thread(target=other) if other else None
    if worker:
        worker.start()
        told["worker"] = worker.pid
    if thread:
        thread.start()
    start()
    module = made(driver.cuModuleLoadData, ptx("step"))
    kernel = made(driver.cuModuleGetFunction, module, b"step")
    steps = {"compute": normalise, "sleep": rest, "lock": take, "queue": lambda: fetch(queue)}
    step = steps.get(WAY, lambda: None)
    began = spent()
    while spent() - began < SECONDS:
        step()
        launch(kernel)
        note()
    ends.set()
    if thread:
        thread.join()
    if worker:
        stops.set()
        while queue.get() is not None:
            pass
        worker.join()
    print(json.dumps({**told, "log": log}))


if __name__ == "__main__":
    main()
