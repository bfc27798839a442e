# SPDX-License-Identifier: BSD-2-Clause
"""
Signals at any moment: gpuprobe killed under load, either side stopped and continued, a target killed in a call.
The target's result is right, and no probe stays in it.
"""
import os
import random
import signal
import time

import pytest

from lib import exact, leftovers, paths, trace
from lib.probe import Probe, descendants
from lib.steady import NAME, Steady, build_apart

pytestmark = pytest.mark.usefixtures("nothing_left")

ALONE = pytest.mark.alone("a gpuprobe that starts beside it cleans up what this one has left")
FORKS = pytest.mark.plain("AddressSanitizer's allocator may be locked in what is forked beside a thread")
QUIET = ["--metrics-addr", "none"]
# What is killed: the ways to watch one process, and all.
WAYS = [
    lambda pid: [*QUIET, "--display-interval", "0.05", "-p", pid],
    lambda pid: [*QUIET, "--display-interval", "0.05"],
    lambda pid: ["trace", "--buffer", "256K", "-O", "/dev/null", "-p", pid],
    lambda pid: ["trace", "--stack", "-O", "/dev/null", "-p", pid],
    lambda pid: ["stat", "-O", "/dev/null", "-p", pid],
    lambda pid: ["memleak", "-p", pid],
]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """programs/steady.c"""
    return build_apart(tmp_path_factory.mktemp("steady"))


def start_and_end_seconds(probe, target, library):
    """From gpuprobe's start to its first probe, and from its signal to its end, on this machine now."""
    begin = time.monotonic()
    with probe.start(base=[*QUIET, "-p", str(target.pid), *library], interval=0) as running:
        while not target.changed_code():
            assert time.monotonic() < begin + 20, "no probe came"
            time.sleep(0.01)
        start = time.monotonic() - begin
        time.sleep(start)  # until all probes are in
        begin = time.monotonic()
        assert running.stop().status == 0
    return start, time.monotonic() - begin


def kill_at_random(probe, program, rounds):
    """So many kills of gpuprobe while the program is under load: while it starts, while it watches, while it ends."""
    source = random.Random(rounds)
    seen = number = 0
    library = ["--libcuda-path", str(program.parent / NAME)]
    before = leftovers.left_over()
    with Steady(program) as target:
        start, end = start_and_end_seconds(probe, target, library)
        target.check_clean()
        # As many more as it takes to have met probes often enough, where the machine has become busier meanwhile.
        while number < rounds or seen <= rounds / 5 and number < 3 * rounds:
            way = WAYS[number % len(WAYS)]
            running = probe.start(base=[str(word) for word in way(target.pid)] + library, interval=None)
            with running:
                time.sleep(source.uniform(0, 2 * start))
                if number % 3 == 0:  # while it ends
                    running.process.send_signal(signal.SIGINT)
                    time.sleep(source.uniform(0, end))
                seen += bool(target.changed_code())
                running.process.kill()
                running.process.wait()
            target.check_alive()
            target.check_clean()
            number += 1
            if number % 20 == 0:
                leftovers.assert_none(before)
        assert target.finish() > rounds
    assert seen > rounds / 5, "the moments were too early to show anything"


def test_gpuprobe_killed_under_load(gpuprobe, program):
    kill_at_random(gpuprobe, program, 100)


@pytest.mark.slow
def test_gpuprobe_killed_under_load_often(gpuprobe, program):
    kill_at_random(gpuprobe, program, 1000)


@ALONE
@FORKS
def test_gpuprobe_killed_with_tracefs_links(tmp_path, program, tracefs):
    """Nor does an event of it stay in tracefs."""
    kill_at_random(Probe(tmp_path, "perf"), program, 12)


@pytest.mark.slow
@ALONE
@FORKS
def test_gpuprobe_killed_with_tracefs_links_often(tmp_path, program, tracefs):
    kill_at_random(Probe(tmp_path, "perf"), program, 1000)


def guards_of(pid):
    """The processes beside a gpuprobe that have events of tracefs open."""
    return [child for child in descendants(pid)
            if any("perf_event" in os.readlink(entry.path) for entry in os.scandir(f"/proc/{child}/fd"))]


@ALONE
def test_guard_killed(tmp_path, tracefs):
    """Somebody kills the guard of tracefs' events: gpuprobe goes on, counts every call, and leaves nothing behind."""
    probe = Probe(tmp_path, "perf")
    with probe.start(paths.workload("launch"), *LAUNCHES) as running:
        running.wait_for(lambda r: r["processes"] and r["processes"][0]["launches"])
        [guard] = guards_of(running.pid)
        os.kill(guard, signal.SIGKILL)
        result = running.finish(60)
    assert result.status == 0
    exact.check(result)


# --- stopped and continued ---

LAUNCHES = ["--threads", 2, "--launches", 3000, "--rate", 1500, "--kernels", 3]


def stop_for(pid, seconds):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


def test_gpuprobe_stopped(gpuprobe_by):
    """The program goes on meanwhile, and every call is counted."""
    with gpuprobe_by.start(paths.workload("launch"), *LAUNCHES) as running:
        running.wait_for(lambda r: r["processes"] and r["processes"][0]["launches"])
        for _ in range(3):
            stop_for(running.pid, 0.4)
        result = running.finish(60)
    assert result.status == 0
    exact.check(result)
    assert result.truth.launches() == {f"kernel_{i}": 2000 for i in range(3)}


def test_target_stopped(gpuprobe_by):
    """In the middle of its calls; its time in them is the only thing that changes."""
    with gpuprobe_by.start(paths.workload("launch"), *LAUNCHES) as running:
        report = running.wait_for(lambda r: r["processes"] and r["processes"][0]["launches"])
        for _ in range(3):
            stop_for(report["processes"][0]["pid"], 0.4)
        result = running.finish(60)
    assert result.status == 0
    exact.check(result)


def test_both_stopped_while_processes_come(gpuprobe):
    """gpuprobe stands still while its COMMAND starts programs: they wait for it a while, and are counted or told."""
    command = f"for i in 1 2 3; do {paths.workload('launch')} --launches 20 >/dev/null; done"
    with gpuprobe.start("sh", "-c", f"sleep 0.5; {command}", interval=0) as running:
        time.sleep(0.9)
        stop_for(running.pid, 1)
        result = running.finish(60)
    assert result.status == 0
    exact.check(result)
    assert [p["launches"] for p in result.final["processes"]] == [20] * 3


def test_trace_with_both_stopped(tracer, tmp_path):
    """Lines of calls that were begun before and ended after are whole, and in their order."""
    log = tmp_path / "log"
    running, path = tracer.start(paths.workload("traced"), "--rounds", 400, "--rate", 400, "--log", log,
                                 args=["-e", "memory,copy"])
    with running:
        trace.wait_for_lines(path, 20)
        pid = trace.wait_for_lines(path, 20)[0]["pid"]
        stop_for(pid, 0.5)
        stop_for(running.pid, 0.5)
        result = trace.Traced(running.finish(60), path)
    assert result.status == 0 and result.lost == 0
    functions = set(result.counts)
    trace.check_threads(result.lines, trace.read_log(log), functions)
