# SPDX-License-Identifier: BSD-2-Clause
"""Runs `gpuprobe trace` with its lines as JSON in a file, and compares them with what was called.

A workload with --log (sim/workloads/traced.c) notes each of its calls; the simulated CUDA's truth
files count those that it makes itself, too.
"""
import functools
import json
import time
from collections import Counter
from dataclasses import dataclass

from lib import paths
from lib.probe import Probe

# The times of all clocks are those of the calls themselves.
COLUMNS = ("time,process,pid,tid,layer,event,details,ptr,size,dst,src,kind,kernel,grid,block,shmem,"
           "stream,duration,result")
# Members of a line besides its columns.
EXTRA = {"schema", "line", "depth", "code", "failed"}
KINDS = {0: "H2H", 1: "H2D", 2: "D2H", 3: "D2D", 4: "default"}
NO_ROLE = {"func", "event", "device", "value", "ctx", "flags"}  # in the log, but not columns
SUCCESS = ("cudaSuccess", "CUDA_SUCCESS")
# Calls whose arguments are not logged, or that are made before the log begins.
DEFAULT = "memory,launch,copy,sync,stream,event,device"


@dataclass(frozen=True)
class Call:
    """A line of a workload's log."""
    tid: int
    before: int  # nanoseconds of CLOCK_BOOTTIME, as all times
    after: int
    function: str
    result: int
    values: dict


def read_log(path):
    """The calls by thread, each thread's in their order."""
    threads = {}
    with open(path, encoding="utf-8") as log:
        for line in log:
            tid, before, after, function, result, *values = line.rstrip("\n").split("\t")
            pairs = (value.split("=") for value in values)
            threads.setdefault(int(tid), []).append(
                Call(int(tid), int(before), int(after), function, int(result),
                     {n: int(v, 16) for n, v in pairs}))
    return threads


class Traced:
    """The result of a trace: its lines and its messages."""

    def __init__(self, result, path):
        self.status = result.status
        self.stdout = result.stdout
        self.stderr = result.stderr
        self.result = result
        self.text = path.read_text(encoding="utf-8") if path.exists() else ""

    @functools.cached_property
    def objects(self):
        """All lines after the first, including those that report losses."""
        return without_start(json.loads(line) for line in self.text.splitlines())

    @property
    def start(self):
        """What the first line says of the trace as a whole."""
        first = json.loads(self.text.splitlines()[0])
        assert first["line"] == "start"
        return first["start"]

    @functools.cached_property
    def lines(self):
        """
        Lines of calls, one for each call: one first shown in progress is there with its end; calls
        from before attach are excluded.
        """
        return [line for line in self.objects
                if "event" in line and line.get("line") not in ("in_progress", "before_attach")]

    @property
    def before(self):
        """Lines of calls that began before attach."""
        return [line for line in self.objects if is_before(line)]

    @property
    def lost(self):
        """The number of calls that lines report as lost."""
        return sum(line.get("lost", 0) for line in self.objects if line.get("line") == "lost")

    @property
    def events(self):
        return [line["event"] for line in self.lines]

    @property
    def counts(self):
        return Counter(self.events)

    @property
    def truth(self):
        return self.result.truth

    def of(self, *events):
        return [line for line in self.lines if line["event"] in events]


class Tracer:
    """gpuprobe trace with a kind of links: the fixtures `tracer` and `tracer_by`."""

    def __init__(self, directory, links=None):
        self.probe = Probe(directory, links)
        self.links = links
        self.runs = 0

    @property
    def next_path(self):
        """The file for the lines of the next run."""
        return self.probe.directory / f"trace{self.runs + 1}"

    def base(self, form, columns):
        """(the file for the lines, the command's first words)"""
        path = self.next_path
        self.runs += 1
        base = ["trace", "--format", form, "-O", str(path)]
        return path, base + (["-o", columns, "--timestamps", "ns"] if columns else [])

    def run(self, *command, args=(), form="json", columns=COLUMNS, **options):
        """Runs `gpuprobe trace args -- command` to its end. Returns a Traced."""
        path, base = self.base(form, columns)
        return Traced(self.probe.run(*command, args=args, base=base, **options), path)

    def start(self, *command, args=(), form="json", columns=COLUMNS, **options):
        """Starts it beside the test. Returns (a Running, the path of its lines)."""
        path, base = self.base(form, columns)
        return self.probe.start(*command, args=args, base=base, interval=None, **options), path

    def traced(self, *options, args=(), **more):
        """Runs the workload `traced`. Returns (Traced, its log by thread)."""
        log = self.probe.directory / f"log{self.runs}"
        result = self.run(paths.workload("traced"), *options, "--log", log, args=args, **more)
        return result, read_log(log)


def without_start(lines):
    """The lines that follow the first, which is about the trace as a whole."""
    return [line for line in lines if line.get("line") != "start"]


def wait_for(path, condition, timeout=60):
    """
    Waits until condition(lines) is true of the file's complete lines after the first. Returns them,
    parsed.
    """
    end = time.monotonic() + timeout
    lines, at = [], 0
    while True:
        if path.exists():
            with open(path, "rb") as file:
                file.seek(at)
                data = file.read()
            whole = data[:data.rfind(b"\n") + 1]
            at += len(whole)
            lines += without_start(json.loads(line) for line in whole.split(b"\n")[:-1])
            if condition(lines):
                return lines
        if time.monotonic() > end:
            raise TimeoutError(f"the lines were not as expected within {timeout} s: {lines[-20:]}")
        time.sleep(0.02)


def wait_for_lines(path, count, timeout=60):
    """Waits until the file has that many complete lines. Returns them, parsed."""
    return wait_for(path, lambda lines: len(lines) >= count, timeout)


def in_order(lines):
    """
    Whether they are ordered by time; the time is that of the return if a call was in progress.
    """
    times = [line["time"] for line in lines if "time" in line]
    return times == sorted(times)


def is_unfinished(line):
    """Whether the call did not return while it was watched."""
    return line.get("line") == "unfinished"


def is_in_progress(line):
    """Whether the line shows a call that later lines no longer wait for."""
    return line.get("line") == "in_progress"


def is_before(line):
    """Whether the line shows a call that began before attach."""
    return line.get("line") == "before_attach"


def wanted(log, functions):
    """The calls of these functions in a log by thread; None: all."""
    return {tid: [c for c in calls if functions is None or c.function in functions]
            for tid, calls in log.items()}


def differences(line, call):
    """The differences between a line and its call."""
    found = []
    if line["event"] != call.function:
        return [f"{line['event']} instead of {call.function}"]
    begin = line["time"]
    # A busy machine delayed it by more than a second; its time is the return's.
    if line.get("line") == "resumed":
        begin -= line["duration"]
    if not call.before <= begin <= begin + line["duration"] <= call.after:
        found.append(
            f"time {line['time']} + {line['duration']}, called from {call.before} to {call.after}")
    if (line["result"] in SUCCESS) != (call.result == 0):
        found.append(f"result {line['result']} instead of {call.result}")
    for name, value in call.values.items():
        if name not in NO_ROLE and not same(name, line.get(name), value):
            found.append(f"{name} is {line.get(name)!r} instead of {value:#x}")
    return found


def same(name, shown, value):
    """Whether a column shows the value of the log."""
    if name == "kind":
        return shown == KINDS[value]
    if name in ("grid", "block"):
        return shown is not None and shown[0] == value
    if isinstance(shown, str):
        return int(shown, 16) == value
    return shown == value


def check_threads(lines, log, functions=None):
    """
    Checks that each thread's lines are its calls, in their order, with their times, results and
    values.
    """
    for tid, calls in wanted(log, functions).items():
        own = [line for line in lines if line["tid"] == tid]
        assert [line["event"] for line in own][:200] == [call.function for call in calls][:200]
        assert len(own) == len(calls)
        wrong = [f"{call.function}: {', '.join(found)}" for line, call in zip(own, calls)
                 if (found := differences(line, call))]
        assert wrong[:5] == [], f"{len(wrong)} of {len(calls)} calls differ"
