# SPDX-License-Identifier: BSD-2-Clause
"""
Signals at any moment: gpuprobe killed under load, either side stopped and continued,
a target killed in a call. The target's result is right, and no probe stays in it.
"""
import contextlib
import os
import random
import signal
import time

import pytest

from lib import exact, leftovers, paths, trace
from lib.probe import Probe, descendants, wait_until_held
from lib.steady import NAME, Steady, build_apart
from lib.steps import Steps

pytestmark = pytest.mark.usefixtures("nothing_left")

ALONE = pytest.mark.alone("a gpuprobe that starts beside it cleans up what this one has left")
FORKS = pytest.mark.plain(
    "AddressSanitizer's allocator may be locked in what is forked beside a thread")
QUIET = ["--metrics-addr", "none"]
# What is killed: the ways to watch one process, and all.
WAYS = [
    lambda pid: [*QUIET, "--display-interval", "0.05", "-p", pid],
    lambda pid: [*QUIET, "--display-interval", "0.05"],
    lambda pid: ["trace", "--buffer", "256K", "-O", "/dev/null", "-p", pid],
    lambda pid: ["trace", "--stack", "-O", "/dev/null", "-p", pid],
    lambda pid: ["record", "-o", "/dev/null", "-p", pid],
    lambda pid: ["stat", "-O", "/dev/null", "-p", pid],
    lambda pid: ["nccl", "-O", "/dev/null", "-p", pid],
    lambda pid: ["memleak", "-p", pid],
    lambda pid: ["account", "-p", pid],
]

MOMENTS = ["ending", "starting", "watching"]


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """programs/steady.c"""
    return build_apart(tmp_path_factory.mktemp("steady"))


def start_and_end_seconds(probe, target, library):
    """From gpuprobe's start to its first probe, and from its signal to its end,
    on this machine now."""
    begin = time.monotonic()
    with probe.start(base=[*QUIET, "-p", str(target.pid), *library], interval=0) as running:
        end = begin + 60
        while not target.changed_code():
            assert time.monotonic() < end, "no probe came"
            time.sleep(0.01)
        start = time.monotonic() - begin
        running.wait_until_watching()
        begin = time.monotonic()
        assert running.stop().status == 0
    return start, time.monotonic() - begin


def kill_at_random(probe, program, rounds):
    """
    Kills gpuprobe so many times while the program is under load: while it starts, while it watches,
    and while it ends; its end begins at any moment of the other two.
    """
    source = random.Random(rounds)
    seen = 0
    library = ["--libcuda-path", str(program.parent / NAME)]
    before = leftovers.left_over()
    with Steady(program) as target:
        start, end = start_and_end_seconds(probe, target, library)
        target.check_clean()
        for number in range(rounds):
            way = WAYS[number % len(WAYS)]
            moment = MOMENTS[(number + number // len(WAYS)) % len(MOMENTS)]
            running = probe.start(base=[str(word) for word in way(target.pid)] + library,
                                  interval=None)
            with running:
                if moment == "watching":
                    running.wait_until_watching()
                time.sleep(source.uniform(0, 2 * start))
                if moment == "ending":
                    running.process.send_signal(signal.SIGINT)
                    time.sleep(source.uniform(0, end))
                seen += bool(target.changed_code())
                running.process.kill()
                running.process.wait()
            target.check_alive()
            target.check_clean()
            if number % 20 == 0 or number == rounds - 1:
                leftovers.assert_none(before)
        assert target.finish() > rounds
    assert seen >= rounds // len(MOMENTS)


def test_gpuprobe_killed_under_load(gpuprobe, program):
    """Each way at each moment."""
    kill_at_random(gpuprobe, program, len(WAYS) * len(MOMENTS))


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
            if any("perf_event" in os.readlink(entry.path)
                   for entry in os.scandir(f"/proc/{child}/fd"))]


def launched(report):
    return report["processes"][0]["launches"] if report["processes"] else 0


@contextlib.contextmanager
def launching(probe):
    """Two threads that launch until the test ends them, watched by gpuprobe.
    Each call is counted."""
    with Steps(probe, """
        import threading
        context = start()
        _, kernels = module("kernel_0", "kernel_1", "kernel_2")
        over = threading.Event()
        def work():
            need(driver.cuCtxSetCurrent(context))
            while not over.is_set():
                for kernel in kernels:
                    need(launch(kernel))
                time.sleep(0.001)
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        step()
        over.set()
        for thread in threads:
            thread.join()
    """) as steps:
        steps.running.wait_for(launched)
        yield steps
        steps.go_on()
        result = steps.running.finish()
    assert result.status == 0
    exact.check(result)


def goes_on(steps):
    """Launches are made and counted after this moment."""
    before = launched(steps.later_report())
    steps.running.wait_for(lambda report: launched(report) > before)


@ALONE
def test_guard_killed(tmp_path, tracefs):
    """The guard of tracefs events is killed: gpuprobe goes on, counts every call,
    and leaves nothing behind."""
    with launching(Probe(tmp_path, "perf")) as steps:
        [guard] = guards_of(steps.running.pid)
        os.kill(guard, signal.SIGKILL)
        goes_on(steps)


# --- stopped and continued ---

def stop_for(pid, seconds):
    os.kill(pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(pid, signal.SIGCONT)


def test_gpuprobe_stopped(gpuprobe_by):
    """The program goes on meanwhile, and every call is counted."""
    with launching(gpuprobe_by) as steps:
        for _ in range(3):
            stop_for(steps.running.pid, 0.4)
            goes_on(steps)


def test_target_stopped(gpuprobe_by):
    """In the middle of its calls; its time in them is the only thing that changes."""
    with launching(gpuprobe_by) as steps:
        [process] = steps.later_report()["processes"]
        for _ in range(3):
            stop_for(process["pid"], 0.4)
            goes_on(steps)


def test_both_stopped_while_processes_come(gpuprobe, tmp_path):
    """
    gpuprobe stands still while its COMMAND starts programs: they wait for it a while, and are
    counted or reported as missed. The first program that is held is one of them, since only the
    first waits for seconds.
    """
    go = tmp_path / "go"
    os.mkfifo(go)
    command = f"for i in 1 2 3; do {paths.workload('launch')} --launches 20 >/dev/null; done"
    with gpuprobe.start("sh", "-c", f"read line <{go}; {command}", interval=0) as running:
        running.wait_until_watching()
        # Opens when the shell does: it has been let go from its own exec by then.
        with open(go, "w", encoding="ascii") as gate:
            os.kill(running.pid, signal.SIGSTOP)
            gate.write("on\n")
        wait_until_held(running.pid, "launch")
        os.kill(running.pid, signal.SIGCONT)
        result = running.finish()
    assert result.status == 0
    exact.check(result)
    assert [p["launches"] for p in result.processes] == [20] * 3


def test_trace_with_both_stopped(tracer, tmp_path):
    """Lines of calls that were begun before and ended after are whole, and in their order."""
    log = tmp_path / "log"
    running, path = tracer.start(paths.workload("traced"), "--rounds", 400, "--rate", 400, "--log",
                                 log, args=["-e", "memory,copy"])
    with running:
        trace.wait_for_lines(path, 20)
        pid = trace.wait_for_lines(path, 20)[0]["pid"]
        stop_for(pid, 0.5)
        stop_for(running.pid, 0.5)
        result = trace.Traced(running.finish(60), path)
    assert result.status == 0 and result.lost == 0
    functions = set(result.counts)
    trace.check_threads(result.lines, trace.read_log(log), functions)
