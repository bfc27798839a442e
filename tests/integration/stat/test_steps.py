# SPDX-License-Identifier: BSD-2-Clause
"""The steps that programs repeat, as `gpuprobe stat` reports them,
against the programs' own counts.

A step goes from one anchor to the next, so that a loop of N rounds has N - 1;
the first submissions of a thread are before its record, so that one round may be missing.
"""
import json
import re
import subprocess

import pytest

from lib import paths
from lib.probe import Probe
from lib.profile_runs import Programs, Scenario, by_scenario

PROGRAMS = Programs()

COMMON = """
import threading
context = start()
_, kernels = module(*[f"kernel_{n}" for n in range(40)])
stream = made(driver.cuStreamCreate, 1)
memory = made(driver.cuMemAlloc_v2, 1 << 20)
host = made(driver.cuMemHostAlloc, 1 << 20, 0)
def launches(*numbers):
    for n in numbers:
        need(launch(kernels[n], stream))
def to_device(size):
    need(driver.cuMemcpyHtoDAsync_v2(memory, host, size, stream))
def wait():
    need(driver.cuStreamSynchronize(stream))
took = []
def timed(step, *arguments):
    began = time.monotonic_ns()
    step(*arguments)
    took.append(time.monotonic_ns() - began)
def until_gpuprobe_sleeps():
    # Then it has read what it was woken for. It is the parent of the program that runs all others.
    def parent_of(pid):
        return int(fields_of(pid)[1])
    def fields_of(pid):
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    probe = parent_of(os.getppid())
    time.sleep(0.002)
    while fields_of(probe)[0] != "S":
        time.sleep(0.002)
def tell(**facts):
    print("FACTS " + json.dumps({"took": took, **facts}), flush=True)
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    probe = Probe(tmp_path_factory.mktemp("steps"))
    return by_scenario(probe, PROGRAMS.scenarios, prelude=COMMON, at_once=4)


@pytest.fixture
def found(watched, request):
    """The steps that were told of the test's own program, and what it says of itself."""
    ran = watched[request.node.name]
    lines = [line.removeprefix("FACTS ") for line in ran.stdout.splitlines()
             if line.startswith("FACTS ")]
    return ran.process["steps"], json.loads(lines[0]) if lines else {}, ran


def check_count(steps, rounds, missing=2):
    assert rounds - missing <= steps["count"] <= rounds - 1


@PROGRAMS.of_test("""
def step():
    to_device(4096)
    launches(*range(12))
    wait()
    time.sleep(0.01)
for _ in range(250):
    timed(step)
tell()
""")
def test_loop(found):
    steps, facts, _ = found
    check_count(steps, 250)
    assert (steps["launches"] == 12 and steps["waits"] == 1
            and steps["copies"] == {"to_device": 1, "to_host": 0, "other": 0})
    assert steps["bytes"] == {"to_device": 4096, "to_host": 0, "other": 0}
    assert steps["allocations"] == steps["frees"] == 0
    own = sorted(facts["took"])
    assert 10e6 <= steps["p50_ns"] < own[-1] * 1.05
    assert steps["p50_ns"] == pytest.approx(own[len(own) // 2], rel=0.1)
    assert steps["inside_ns"]["wait"] < steps["mean_ns"]


@PROGRAMS.of_test("""
def step(number):
    to_device(4096)
    launches(*range(12))
    if number in (170, 220):
        time.sleep(0.6)
    if number == 200:
        for _ in range(30):
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 4096)))
    time.sleep(0.01)
for number in range(250):
    step(number)
tell()
""", {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=20ms"})
def test_slow_steps(found):
    """They are listed, with what took so long in them."""
    steps, _, _ = found
    check_count(steps, 250)
    slow = [step for step in steps["slowest"] if step["ns"] > 400e6]
    assert ([step["excess"] for step in sorted(slow, key=lambda step: step["begin_ns"])]
            == ["outside", "memory", "outside"])
    for step in slow:
        assert 0.9 * (step["ns"] - steps["p50_ns"]) < step["excess_ns"] < step["ns"]
    assert steps["allocations"] * steps["summed"] == pytest.approx(30)


@PROGRAMS.of_test("""
def step(*numbers):
    to_device(4096)
    launches(*numbers)
    time.sleep(0.005)
for _ in range(250):
    step(*range(12))
for _ in range(700):
    step(*range(20, 35))
tell()
""")
def test_phase_change(found):
    """What a program repeats now is told apart from what it did."""
    steps, _, _ = found
    phases = {phase["thread_launches"]: phase["count"] for phase in steps["phases"]}
    assert 248 <= phases[12] <= 249 and 690 <= phases[15] <= 699
    assert steps["launches"] == 15


@PROGRAMS.of_test("""
def loop(seconds, *numbers):
    rounds, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        to_device(4096)
        launches(*numbers)
        time.sleep(0.0002)
        rounds += 1
    return rounds
tell(rounds=[loop(7, *range(12)), loop(4, *range(20, 35)), loop(0.5, *range(12))])
""")
def test_phase_change_after_long(found):
    """What is in steps that come for long is not kept; once others come, it is."""
    steps, facts, _ = found
    first, other, again = facts["rounds"]
    assert 12 * first > 4 * 16384
    phases = {phase["thread_launches"]: phase["count"] for phase in steps["phases"]}
    assert first - 3 <= phases[12] <= first + again - 1
    # By when the new ones are kept again is the machine's business, and they come for four seconds.
    assert other / 2 <= phases[15] <= other - 1


@PROGRAMS.of_test("""
import random
chosen = random.Random(1)
for _ in range(3000):
    launches(chosen.randrange(40))
tell()
""")
def test_nothing_repeats(found):
    steps, _, ran = found
    assert steps is None
    assert sum(thread["launches"] for thread in ran.process["threads"]) == 3000


@PROGRAMS.of_test("""
import queue
tasks, done = queue.Queue(), queue.Queue()
def backward():
    need(driver.cuCtxSetCurrent(context))
    while tasks.get():
        launches(*range(12, 37))
        need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 4096)))
        done.put(1)
thread = threading.Thread(target=backward)
thread.start()
def step():
    to_device(8192)
    launches(*range(12))
    tasks.put(1)
    done.get()
    launches(38, 39)
    wait()
    time.sleep(0.01)
for _ in range(250):
    timed(step)
tasks.put(0)
thread.join()
tell(tid=threading.get_native_id())
""")
def test_backward_thread(found):
    """The steps are the main thread's; what the other one does meanwhile is in them."""
    steps, facts, ran = found
    check_count(steps, 250)
    assert steps["tid"] == facts["tid"] == ran.process["pid"]
    assert steps["launches"] == pytest.approx(39, abs=0.2) and steps["waits"] == 1
    assert steps["allocations"] == pytest.approx(1, abs=0.02) == steps["frees"]


@PROGRAMS.of_test("""
go, done = threading.Semaphore(0), threading.Semaphore(0)
def backward():
    need(driver.cuCtxSetCurrent(context))
    while go.acquire():
        launches(*range(12, 37))
        done.release()
threading.Thread(target=backward, daemon=True).start()
for number in range(1500):
    launches(*range(10))
    go.release()
    done.acquire()
    wait()
    if number % 100 == 99:
        until_gpuprobe_sleeps()
tell()
""")
def test_threads_found_between_readings(found):
    """Full histories make gpuprobe look for steps early: the other thread's work counts at once."""
    steps, _, _ = found
    check_count(steps, 1500)
    assert steps["launches"] == pytest.approx(35, abs=0.5)


@PROGRAMS.of_test("""
def layer(begin):
    launches(*range(begin, begin + 8))
for _ in range(200):
    launches(30)
    for _ in range(24):
        layer(0)
    launches(31, 32, 33)
    for _ in range(24):
        layer(10)
    launches(34, 35, 36, 37)
    time.sleep(0.02)
tell()
""")
def test_layers(found):
    """What is equal within a step is no step."""
    steps, _, _ = found
    assert steps["launches"] == 8 * 48 + 8
    check_count(steps, 200)


@PROGRAMS.of_test("""
need(driver.cuStreamBeginCapture_v2(stream, 0))
launches(*range(12))
graph = out()
need(driver.cuStreamEndCapture(stream, ref(graph)))
executable = made(driver.cuGraphInstantiateWithFlags, graph.value, 0)
for _ in range(400):
    to_device(4096)
    need(driver.cuGraphLaunch(executable, stream))
    wait()
    time.sleep(0.004)
tell()
""")
def test_graphs(found):
    """A graph a step."""
    steps, _, _ = found
    check_count(steps, 400, missing=10)
    assert steps["launches"] == steps["waits"] == steps["copies"]["to_device"] == 1


@PROGRAMS.of_test("""
def step(numbers):
    to_device(4096)
    launches(*numbers)
    time.sleep(0.004)
for number in range(500):
    step(range(12))
    if number % 100 == 99:
        for _ in range(5):
            step(range(20, 26))
            wait()
tell()
""")
def test_evaluation(found):
    """What comes in between is told apart, and is no step."""
    steps, _, _ = found
    assert (steps["launches"] == 12 and 470 <= steps["count"] <= 499
            and 1 <= steps["irregular"] <= 29)


LOOP = [paths.workload("steps"), "--steps", 300, "--launches", 25, "--cpu", "0.004", "--copy", 1000]


@PROGRAMS.of_cases({
    "runtime": Scenario([*LOOP, "--api", "runtime"]),
    "driver": Scenario([*LOOP, "--api", "driver"]),
    "waiting now and then": Scenario([*LOOP, "--wait", "event", "--wait-every", 10]),
})
def test_workload(found):
    """A program in C. What it waits for now and then does not make ten steps one."""
    steps, _, ran = found
    check_count(steps, 300)
    assert steps["launches"] == 25 and steps["copies"]["to_device"] == 1
    assert steps["p50_ns"] >= 0.96 * 4e6  # the middle of its bucket
    assert sum(ran.truth.launches().values()) == 300 * 25


def test_short_run(gpuprobe):
    """A program that ends before anything was looked for: its steps are all from what was kept."""
    result = gpuprobe.run(paths.workload("steps"), "--steps", 60, "--cpu", "0.001",
                          base=["stat", "--json"])
    [process] = result.final["processes"]
    check_count(process["steps"], 60)
    assert process["steps"]["launches"] == 10


def test_steps_of_microseconds(gpuprobe):
    """The thread goes on while its record is read, before the anchor is known:
    no step is longer than the program."""
    result = gpuprobe.run(paths.workload("launch"), "--kernels", 2, "--seconds", 3,
                          base=["stat", "--json"], env={"CUDA_SIM_LATENCY": "cuLaunchKernel=5us"})
    [process] = result.final["processes"]
    assert process["steps"]["count"] > 10000
    assert (process["steps"]["total_ns"]
            <= process["steps"]["latest_ns"] - process["steps"]["first_ns"] < 10e9)


@pytest.mark.parametrize("command", ["stat", "diagnose"])
def test_text(command):
    # On a busy machine diagnose would count only part of the launches, to bound what that costs.
    done = subprocess.run([paths.GPUPROBE, command, "--max-overhead", "off", "--",
                           paths.workload("steps"), "--steps", "60", "--cpu", "0.002"],
                          text=True, capture_output=True, timeout=60, check=True)
    # Uneven steps of a busy machine make the line longer than one of the terminal.
    text = done.stdout.replace("\n  ", " ")
    assert re.search(r"(?m)^process \d+ \(steps --steps 60.*\)(, GPU \S+)?: 5[89] steps of [\d.]+ "
                     r"\w?s \((on average; median [\d.]+ \w?s, )?p99 [\d.]+ \w?s\), "
                     r"10 launches each\n", text), text
