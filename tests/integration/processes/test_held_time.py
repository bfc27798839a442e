# SPDX-License-Identifier: BSD-2-Clause
"""
Durations of calls of a COMMAND that gpuprobe holds in the middle of one: the runtime's first call
loads the driver, and the process is stopped until that has its probes.
That time is not part of the call.
"""
import json
import os
import signal
import time

import pytest

from lib import trace
from lib.probe import wait_for_file, wait_until_held
from lib.script import script

pytestmark = pytest.mark.usefixtures("nothing_left")

NAME = "first_call"
# What it takes by its own clock has the hold in it.
PROGRAM = """
    malloc = runtime.cudaMalloc
    with open("/proc/self/comm", "w") as comm:
        comm.write(sys.argv[1])
    def timed():
        began = time.monotonic_ns()
        need(malloc(ref(out()), 1000))
        return time.monotonic_ns() - began
    touch(f"{sys.argv[2]}/ready")
    wait_for(f"{sys.argv[2]}/go")
    first = timed()
    with open(f"{sys.argv[2]}/took", "w") as took:
        print(first, timed(), file=took)
"""


class Held:
    """The program's first call, held for longer than everything else takes,
    since gpuprobe stands still meanwhile."""

    def __init__(self, running, directory):
        wait_for_file(directory / "ready")
        os.kill(running.pid, signal.SIGSTOP)
        (directory / "go").touch()
        wait_until_held(running.pid, NAME)
        began = time.monotonic_ns()
        time.sleep(0.5)
        self.ns = time.monotonic_ns() - began
        os.kill(running.pid, signal.SIGCONT)
        self.result = running.finish()
        self.first, self.second = map(int, (directory / "took").read_text().split())
        assert self.result.status == 0 and self.first > self.ns

    def check(self, told_ns, clocked_ns):
        """Exactly: the hold was at least self.ns, and the program's clock went on in it."""
        assert 0 < told_ns <= clocked_ns - self.ns, (told_ns, clocked_ns, self.ns)


def program(directory):
    return script(PROGRAM) + [NAME, directory]


@pytest.mark.parametrize("options", [["--stack", "auto"], ["--entry-return"], []],
                         ids=["stack", "two_lines", "plain"])
def test_trace(tracer, tmp_path, options):
    """The duration is without it; when the call ended is as it was."""
    running, path = tracer.start(*program(tmp_path), args=["-e", "cudaMalloc", *options])
    with running:
        held = Held(running, tmp_path)
    lines = [line for line in trace.Traced(held.result, path).lines if line.get("line") != "entry"]
    assert [line["event"] for line in lines] == ["cudaMalloc"] * 2
    held.check(lines[0]["duration"], held.first)
    assert 0 < lines[1]["duration"] <= held.second


def test_trace_of_long_calls(tracer, tmp_path):
    """
    A call that is long only because it was held does not pass --min-duration,
    unless it had a line while it was in progress: then it has its last line.
    """
    running, path = tracer.start(*program(tmp_path),
                                 args=["-e", "cudaMalloc", "--min-duration", "400ms"])
    with running:
        held = Held(running, tmp_path)
    traced = trace.Traced(held.result, path)
    shown = [line["time"] for line in traced.objects if line.get("line") == "in_progress"]
    assert all(line["duration"] >= 400_000_000 or shown for line in traced.lines)
    assert len(traced.lines) >= len(shown)


@pytest.mark.parametrize("interval", [None, 0.1], ids=["at_the_end", "meanwhile"])
@pytest.mark.parametrize("command", ["stat", "diagnose"])
def test_sums(gpuprobe, tmp_path, command, interval):
    """Total and most of the function, and the time inside calls of the run, are without it,
    also if there are reports while the call is in progress."""
    out = tmp_path / "out"
    reports = ["--interval", interval] if interval else []
    running = gpuprobe.start(*program(tmp_path), base=[command, "--json"],
                             args=["-O", out, *reports], interval=None)
    with running:
        held = Held(running, tmp_path)
    [process] = json.loads(out.read_text().splitlines()[-1])["processes"]
    [malloc] = [f for f in process["functions"] if f["function"] == "cudaMalloc"]
    held.check(malloc["max_ns"], held.first)
    held.check(malloc["total_ns"], held.first + held.second)
    held.check(process["all_threads"]["time"]["memory"]["ns"], held.first + held.second)


def test_monitor(gpuprobe, tmp_path):
    """The monitor's time of allocations."""
    with gpuprobe.start(*program(tmp_path)) as running:
        held = Held(running, tmp_path)
    held.check(held.result.process["memory"]["device"]["allocation_ns"], held.first + held.second)
