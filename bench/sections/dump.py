# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe dump`: how long it takes until it has read the last thread and until it ends, by
target; and what it costs a program whose threads it reads all the time: one that calls, and one
that computes on each CPU."""
import contextlib
import json
import subprocess
import threading
import time

from setup import figure, in_turn, ratios, spread, table, verdict

TITLE = "A dump"
ORDER = 45
BARS = {"taken": 0.3, "whole": 0.5}
THREADED = """
import sys, threading, time
def wait(depth):
    return wait(depth - 1) if depth else time.sleep(600)
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=wait, args=(20,), daemon=True).start()
print("READY", flush=True)
wait(20)
"""
LOOKED_AT = {"a C program of 1 thread": None, "Python, 1 thread": 1, "Python, 40 threads": 40,
             "Python, 400 threads": 400}


def dump(setup, pid):
    """The dump of a process, and the seconds that it took."""
    began = time.monotonic()
    done = subprocess.run([setup.build / "gpuprobe", "dump", "--json", "-q", "-p", str(pid)],
                          check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout), time.monotonic() - began


@contextlib.contextmanager
def program(threads):
    command = ["sleep", "600"] if threads is None else ["/usr/bin/python3", "-c", THREADED,
                                                        str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        if threads is not None:
            process.stdout.readline()
        time.sleep(0.2)
        yield process.pid
        process.kill()


def times(setup, threads):
    """(seconds until the last thread was taken, until the end), of several runs."""
    with program(threads) as pid:
        found = [dump(setup, pid) for _ in range(2 * setup.rounds)]
    assert all(len(dumped["processes"][0]["threads"]) == (threads or 1) for dumped, _ in found)
    return {"taken": figure([dumped["taken_ns"] / 1e9 for dumped, _ in found]),
            "whole": figure([whole for _, whole in found])}


def nanoseconds(setup, dumped):
    """Of a launch, the program being looked at all the time or not at all; and how often it was."""
    milliseconds, count = 300 if setup.quick else 3000, 0
    with subprocess.Popen([setup.build / "bench/calls", "launch", str(milliseconds)],
                          stdout=subprocess.PIPE, text=True) as calls:
        over = threading.Event()
        reader = threading.Thread(target=lambda: (calls.wait(), over.set()))
        reader.start()
        while dumped and not over.wait(0.1):
            with contextlib.suppress(subprocess.CalledProcessError):  # it may have ended
                dump(setup, calls.pid)
                count += 1
        reader.join()
        return float(calls.stdout.read().split()[0]), count


def measure(setup):
    runs = in_turn(setup.rounds,
                   {kind: lambda kind=kind: nanoseconds(setup, kind) for kind in (False, True)})
    alone, looked_at = ([ns for ns, _ in runs[kind]] for kind in (False, True))
    return {"times": {name: times(setup, threads) for name, threads in LOOKED_AT.items()},
            "alone": figure(alone), "looked_at": figure(looked_at),
            "ratio": figure(ratios(looked_at, alone)),
            "dumps": figure([count for _, count in runs[True]])}


def show(result):
    rows = [[name, spread(found["taken"], "{:.3f}"), spread(found["whole"], "{:.3f}")]
            for name, found in result["times"].items()]
    slowest = max(result["times"].values(), key=lambda found: found["taken"]["median"])
    small = list(result["times"].values())[0]
    return f"""Seconds from the start of `gpuprobe dump -p` until the last thread was read, and
until its end. Bars: read {verdict(slowest["taken"]["median"], BARS["taken"])}; a small program
whole {verdict(small["whole"]["median"], BARS["whole"])}.

""" + table(["what", "last thread read", "whole"], rows) + f"""
A program launches all the time, on two CPUs shared with dumps that follow each other a tenth of a
second apart ({spread(result["dumps"], "{:.0f}")} dumps in a run). A launch takes
{spread(result["looked_at"], "{:.2f}")} ns, and {spread(result["alone"], "{:.2f}")} ns without
dumps: {spread(result["ratio"], "{:.3f}")} times as long.
"""
