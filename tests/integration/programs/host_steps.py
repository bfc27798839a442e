# SPDX-License-Identifier: BSD-2-Clause
"""A loop of steps that spends its time in a known way between its launches,
and keeps its own account of that.

usage: host_steps.py WAY SECONDS

WAY: compute, sleep, lock, gil, queue, loader, idle, read, team, launch, start. Start computes for
START seconds before steps that sleep. The worker of queue computes, that of loader reads
the file HOST_FILE, that of idle sleeps. It goes on for so many seconds of its main thread's CPU
time where that is what it spends, else of time; and until there is the file HOST_ENOUGH, if that is
set, for a minute more at most. The last line is JSON: the numbers of the threads
and processes that matter, and in "log" the times so far at each step (CLOCK_BOOTTIME, seconds):
what the thread has had of the CPU in all and in normalise(), and how long it has waited.
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
FILE = os.environ.get("HOST_FILE")
ENOUGH = os.environ.get("HOST_ENOUGH")
START = 6
told = {"main": threading.get_native_id()}
own = {"normalise": 0.0, "waited": 0.0}
log = []
ends = threading.Event()
lock = threading.Lock()
ask, answer, held = threading.Event(), threading.Event(), threading.Event()


def normalise(count=60000):
    began = time.thread_time()
    total = 0.0
    for number in range(count):
        total += math.sqrt(number)
    own["normalise"] += time.thread_time() - began
    return total


def prepare(kernel):
    """Launches once: that is work, and no step. Computes behind programs that mostly sleep, which
    have the same priority (lib/undisturbed.py)."""
    need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    priority = os.sched_getparam(0)
    if priority.sched_priority:
        os.sched_setparam(0, os.sched_param(1))
    began = time.monotonic()
    while time.monotonic() - began < START:
        sum(number * number for number in range(1000))
    if priority.sched_priority:
        os.sched_setparam(0, priority)


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
            held.set()
            time.sleep(0.02)
        time.sleep(0.002)
    held.set()


def take():
    """Not before the other one has it, however late that comes."""
    began = time.monotonic()
    held.wait()
    held.clear()
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


def load():
    """Opened anew, it is in no cache."""
    with open(FILE, "rb", buffering=0) as file:
        return len(file.read(4096))


def dawdle():
    time.sleep(0.02)
    return 0


def work(queue, stops, make):
    while not stops.is_set():
        queue.put(make())
    queue.put(None)


def read():
    began = time.monotonic()
    load()
    own["waited"] += time.monotonic() - began


def fetch(queue):
    began = time.monotonic()
    item = queue.get()
    own["waited"] += time.monotonic() - began
    return item


def launch(kernel, count=20):
    for _ in range(count):
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0))
    need(driver.cuCtxSynchronize())


def submit_for(kernel):
    """The other thread of team: computes and launches when it is asked."""
    told["other"] = threading.get_native_id()
    need(driver.cuCtxSetCurrent(made(driver.cuDevicePrimaryCtxRetain, 0)))
    while ask.wait() and not ends.is_set():
        ask.clear()
        normalise()
        launch(kernel)
        answer.set()


def hand_over():
    answer.clear()
    ask.set()
    answer.wait()


def note():
    log.append([time.clock_gettime(time.CLOCK_BOOTTIME), time.thread_time(), own["normalise"],
                own["waited"]])


def spent():
    return time.thread_time() if WAY in ("compute", "launch") else time.monotonic()


def is_over(began):
    seconds = spent() - began
    return seconds >= SECONDS and (
        not ENOUGH or os.path.exists(ENOUGH) or seconds >= SECONDS + 60)


def main():
    other = {"lock": hold, "gil": hog}.get(WAY)
    queue = multiprocessing.Queue(2)
    stops = multiprocessing.Event()
    make = {"queue": transform, "loader": load, "idle": dawdle}.get(WAY)
    worker = multiprocessing.Process(target=work, args=(queue, stops, make)) if make else None
    thread = threading.Thread(target=other) if other else None
    if worker:
        worker.start()
        told["worker"] = worker.pid
    if thread:
        thread.start()
    start()
    module = made(driver.cuModuleLoadData, ptx("step"))
    kernel = made(driver.cuModuleGetFunction, module, b"step")
    if WAY == "team":
        thread = threading.Thread(target=submit_for, args=(kernel,))
        thread.start()
    steps = {"compute": normalise, "sleep": rest, "lock": take, "read": read, "team": hand_over,
             "start": rest}
    step = (lambda: fetch(queue)) if worker else steps.get(WAY, lambda: None)
    if WAY == "start":
        prepare(kernel)
    began = spent()
    while not is_over(began):
        step()
        launch(kernel)
        note()
    ends.set()
    ask.set()
    if thread:
        thread.join()
    if worker:
        stops.set()
        while fetch(queue) is not None:
            pass
        worker.join()
    print(json.dumps({**told, "log": log}))


if __name__ == "__main__":
    main()
