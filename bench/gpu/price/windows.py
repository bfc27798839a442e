# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe attached to a running program and detached in turn; which spans of time were with it and
which without.

A visit, in order: half a window without gpuprobe; gpuprobe starts; the first second with its
probes; a window; gpuprobe ends; half a window without. So each window has as much time without
gpuprobe around it, which no other window shares: visits are independent, and a steady drift cancels
out.
"""
import contextlib
import glob
import os
import time
from dataclasses import dataclass, field

FIRST = 1.0  # seconds after the last probe came in that are not the steady state
SETTLING = 0.2  # after gpuprobe's end: the kernel frees what it had
STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
COUNTED_SECONDS = 1.0


@dataclass
class Visit:
    """Spans are (begin, end) in CLOCK_MONOTONIC ns. `seen`: {operation: calls} from the moment of
    attaching to that of detaching, the span `attached`."""
    seconds: float
    before: tuple = None
    starting: tuple = None  # from gpuprobe's exec until its probes are in
    first: tuple = None
    steady: tuple = None
    ending: tuple = None
    after: tuple = None
    attached: tuple = None
    seen: dict = field(default_factory=dict)


def wait(seconds):
    begin = time.monotonic_ns()
    time.sleep(seconds)
    return begin, time.monotonic_ns()


def visit(program, watcher, seconds, operations):
    """One visit whose window has so many seconds; raises what the watcher and the program raise.
    `operations`: {function: operation}."""
    found = Visit(seconds, before=wait(seconds / 2))
    began = time.monotonic_ns()
    try:
        watcher.start(program.pids())
        live = int(watcher.live * 1e9)
        found.starting = began, live
        while time.monotonic_ns() < live + int(FIRST * 1e9):
            time.sleep(0.002)
        found.first, found.steady = (live, time.monotonic_ns()), wait(seconds)
        ending = time.monotonic_ns()
        seen = watcher.stop()
        found.ending, found.attached = (ending, time.monotonic_ns()), (live, ending)
    finally:
        watcher.end()
    program.check()
    found.seen = counted(seen, program.pids(), operations)
    time.sleep(SETTLING)
    found.after = wait(seconds / 2)
    return found


def counted(seen, pids, operations):
    """{operation: calls} of the program's processes."""
    total = {}
    for pid in pids:
        process = seen.get(pid, {"functions": {}, "launches": 0})
        for function, calls in process["functions"].items():
            operation = operations.get(function, "other")
            if operation != "launch":  # a launch's return is followed once in a while
                total[operation] = total.get(operation, 0) + calls
        total["launch"] = total.get("launch", 0) + process["launches"]
    return total


# --- what BPF programs do, apart from the visits: counting costs time ---

@contextlib.contextmanager
def statistics():
    """The kernel counts runs of BPF programs and their time."""
    with open(STATISTICS) as file:
        before = file.read()
    try:
        with open(STATISTICS, "w") as file:
            file.write("1")
        yield
    finally:
        with open(STATISTICS, "w") as file:
            file.write(before)


def runs_of(pid):
    """(runs, ns) of the BPF programs that a process holds."""
    programs = {}
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path) as file:
                lines = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        except OSError:  # closed meanwhile
            continue
        if "run_cnt" in lines:
            programs[int(lines["prog_id"])] = int(lines["run_cnt"]), int(lines["run_time_ns"])
    return tuple(sum(values) for values in zip(*programs.values())) if programs else (0, 0)


def bpf_runs(program, watcher):
    """{"span", "runs", "ns"}: what gpuprobe's BPF programs do in a second; None where the kernel
    cannot count."""
    if not os.access(STATISTICS, os.W_OK):
        return None
    with statistics():
        try:
            watcher.start(program.pids())
            time.sleep(FIRST)
            before, begin = runs_of(watcher.process.pid), time.monotonic_ns()
            time.sleep(COUNTED_SECONDS)
            after, end = runs_of(watcher.process.pid), time.monotonic_ns()
            watcher.stop()
        finally:
            watcher.end()
    return {"span": (begin, end), "runs": after[0] - before[0], "ns": after[1] - before[1]}
