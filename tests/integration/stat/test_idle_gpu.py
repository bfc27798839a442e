# SPDX-License-Identifier: BSD-2-Clause
"""Idle times of the GPU in `gpuprobe stat`: from an empty queue to the next launch.

Each is tested with a program that has it, and with some that nearly have it.
"""
import json

import pytest

from lib.gpu_queue import COMMON, IDLE, Account, accounts
from lib.probe import Background, Probe, wait_for_file
from lib.profile_runs import STAT, Programs, Scenario
from lib.script import script

PROGRAMS = Programs()
IDLE_NS = 100e6  # from when on it counts


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    # They sleep most of the time.
    return accounts(Probe(tmp_path_factory.mktemp("idle")), PROGRAMS.scenarios, at_once=4)


@pytest.fixture
def found(watched, request):
    """The account of the test's own program."""
    return watched[request.node.name]


def check_idle(found, gaps, slack_ns=2e6):
    """So many idle times, which lasted as long as the program paused."""
    assert found.sum("idle_gaps") == gaps
    if gaps:
        slack_ns = slack_ns * gaps + 0.02 * found.paused_ns + found.delayed_ns
        assert abs(found.sum("idle_ns") - found.paused_ns) < slack_ns


def check_inside(found, inside_ns):
    """Of the idle time so much was in the only allocation."""
    assert 80e6 <= inside_ns < found.truth.ns("cuMemAlloc_v2") + 5e6 + found.delayed_ns


WAITS = {
    "context": "need(driver.cuCtxSynchronize())",
    "stream": "need(driver.cuStreamSynchronize(s))",
    "event": "need(driver.cuEventRecord(e, s)); need(driver.cuEventSynchronize(e))",
    "stream query": """
    while driver.cuStreamQuery(s) == 600:
        time.sleep(0.001)""",
    "event query": """
    need(driver.cuEventRecord(e, s))
    while driver.cuEventQuery(e) == 600:
        time.sleep(0.001)""",
}


@PROGRAMS.of_cases({name: Scenario(f"""
s, e = stream(), event()
for _ in range(3):
    for _ in range(4):
        need(launch(kernel, s))
    {wait}
    pause()
need(launch(kernel, s))
tell()
""") for name, wait in WAITS.items()})
def test_idle_after_wait(found):
    check_idle(found, 3)
    assert found.threads[0]["idle_max_ns"] >= 0.15e9


@PROGRAMS.of_test("""
d, h = device_memory(), pinned()
for _ in range(2):
    need(launch(kernel))
    need(driver.cuMemcpyDtoH_v2(h, d, 4096))
    pause()
need(launch(kernel))
tell()
""")
def test_idle_after_copy(found):
    """A synchronous copy waits for the legacy stream, on which all was."""
    check_idle(found, 2)


@PROGRAMS.of_test("""
s = stream()
need(driver.cuStreamBeginCapture_v2(s, 0))
need(launch(kernel, s))
graph = made(lambda out: driver.cuStreamEndCapture(s, out))
run = made(driver.cuGraphInstantiateWithFlags, graph, 0)
for _ in range(3):
    need(driver.cuGraphLaunch(run, s))
    need(driver.cuStreamSynchronize(s))
    pause()
need(driver.cuGraphLaunch(run, s))
tell()
""")
def test_graph_ends_idle_time(found):
    check_idle(found, 3)


@PROGRAMS.of_test("""
s, other, e = stream(), stream(), event()
need(launch(kernel, s))
need(driver.cuCtxSynchronize())
began = time.monotonic()
for _ in range(5):
    time.sleep(0.05)
    assert launch(0, s) != 0
    need(driver.cuStreamBeginCapture_v2(other, 0))
    need(launch(kernel, other))
    made(lambda out: driver.cuStreamEndCapture(other, out))
    need(driver.cuCtxSynchronize())
    need(driver.cuStreamQuery(s))
    need(driver.cuStreamSynchronize(s))
idle.append(time.monotonic() - began)
need(launch(kernel, s))
tell()
""")
def test_what_does_not_end_it(found):
    """Launches that fail or are captured, waits and queries of what is empty."""
    check_idle(found, 1)


NOT_IDLE = {
    "no wait": "need(launch(kernel, a)); pause(); need(launch(kernel, a))",
    # How long it can have been idle at most is told: a busy machine makes more of it.
    "short": """
need(launch(kernel, a))
began = time.monotonic()
need(driver.cuCtxSynchronize())
time.sleep(0.06)
need(launch(kernel, a))
idle.append(time.monotonic() - began)
tell()
""",
    "another stream has work": """
need(launch(kernel, b))
for _ in range(3):
    need(launch(kernel, a))
    need(driver.cuStreamSynchronize(a))
    pause()
need(launch(kernel, a))
""",
    "launched after the event": """
need(launch(kernel, a))
need(driver.cuEventRecord(e, a))
need(launch(kernel, a))
need(driver.cuEventSynchronize(e))
pause()
need(launch(kernel, a))
""",
    "a copy in flight": """
need(launch(kernel, a))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, b))
need(driver.cuStreamSynchronize(a))
pause()
need(launch(kernel, a))
""",
    "not ready": """
need(launch(kernel, a))  # goes on for a minute
assert driver.cuStreamQuery(a) == 600
pause()
need(launch(kernel, a))
""",
    "a wait that fails": """
need(launch(kernel, a))
assert driver.cuCtxSynchronize() == 702
pause()
need(launch(kernel, a))
""",
    "the first launch": "need(driver.cuCtxSynchronize()); pause(); need(launch(kernel, a))",
    "another thread's launches": """
begun = threading.Event()
def others():
    for _ in range(20):
        need(launch(kernel, b))
        begun.set()
        time.sleep(0.02)
need(launch(kernel, a))
thread = run(others)
begun.wait()
need(driver.cuStreamSynchronize(a))
pause(0.25)
need(launch(kernel, a))
thread.join()
""",
    "another context": """
second = made(driver.cuCtxCreate_v2, 0, 0)
s = stream()
need(launch(kernel, s))
need(driver.cuCtxSetCurrent(context))
need(launch(kernel, a))
need(driver.cuCtxSynchronize())
pause()
need(launch(kernel, a))
""",
}


NOT_IDLE_ENV = {"a wait that fails": {"CUDA_SIM_FAIL": "cuCtxSynchronize:1=702"},
                "not ready": {"CUDA_SIM_ASYNC": "60s"}}


OBJECTS = "a, b, e = stream(), stream(), event()\nd, h = device_memory(), pinned()\n"


@PROGRAMS.of_cases({case: Scenario(OBJECTS + body, NOT_IDLE_ENV.get(case, {}))
                    for case, body in NOT_IDLE.items()})
def test_not_idle(found):
    assert found.sum("idle_gaps") <= sum(pause >= IDLE_NS for pause in found.pauses_ns)


@PROGRAMS.of_test("""
s = stream()
d, h = device_memory(), pinned()
need(launch(kernel, s))
need(driver.cuStreamSynchronize(s))
pause(0.12)
need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, s))
need(driver.cuStreamSynchronize(s))
pause(0.08)
need(driver.cuMemcpyHtoD_v2(d, h, 4096))
need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, s))
need(launch(kernel, s))
tell()
""", {"CUDA_SIM_ASYNC": "80ms", "CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=80ms"})
def test_copies_on_the_way(found):
    """Copies do not end an idle time but their own time does not count:
    160 ms of copies between pauses of 120 and 80 ms."""
    check_idle(found, 1, slack_ns=4e6)


@PROGRAMS.of_test("""
need(launch(kernel))
need(driver.cuCtxSynchronize())
began = time.monotonic()
time.sleep(0.1)
device_memory()
idle.append(time.monotonic() - began)
need(launch(kernel))
tell()
""", {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=80ms"})
def test_inside_other_calls(found):
    check_idle(found, 1)
    check_inside(found, found.sum("idle_inside_ns"))


@PROGRAMS.of_test("""
need(launch(kernel))
need(driver.cuCtxSynchronize())
began = time.monotonic()
def work():
    time.sleep(0.1)
    device_memory()
    idle.append(time.monotonic() - began)
    need(launch(kernel))
    tell()  # before it ends, and how long it was kept waiting with it
run(work).join()
""", {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=80ms"})
def test_another_thread_ends_it(found):
    """It is counted where it ends, with that thread's own time inside calls."""
    first, second = sorted(found.threads, key=lambda thread: -thread["launches_since_wait"])
    other = first if first["idle_gaps"] else second
    check_idle(found, 1)
    assert other["idle_ns"] == found.sum("idle_ns")
    check_inside(found, other["idle_inside_ns"])


@PROGRAMS.of_test("""
def work():
    s, (other,) = stream(), module("other")[1]
    end = time.monotonic() + 0.8
    while time.monotonic() < end:
        need(launch(other, s))
        need(driver.cuStreamSynchronize(s))
second = made(driver.cuDevicePrimaryCtxRetain, 1)
thread = run(work, second)
for _ in range(3):
    need(launch(kernel))
    need(driver.cuCtxSynchronize())
    pause()
need(launch(kernel))
thread.join()
tell()
""", {"CUDA_SIM_DEVICES": 2})
def test_devices_apart(found):
    """The other device works all the time; it says nothing about the first."""
    check_idle(found, 3)


def test_attached_late(gpuprobe, tmp_path):
    """Which device a thread is on is not known then: each thread's waits are for its own."""
    ready, go = tmp_path / "ready", tmp_path / "go"
    program = script(COMMON + f"""
def work():
    need(launch(kernel))
    touch({str(ready)!r})
    wait_for({str(go)!r})
    for number in range(2):
        need(launch(kernel))
        need(driver.cuCtxSynchronize())
        pause() if not number else time.sleep(0.65)
thread = run(work)
need(launch(kernel))
wait_for({str(go)!r})
time.sleep(0.6)
need(launch(kernel))
thread.join()
tell()
""")
    with Background(*program, env=IDLE) as process:
        wait_for_file(ready)
        with gpuprobe.start(base=STAT, interval=None,
                            args=["-p", process.pid, "--interval", 0.2]) as running:
            running.report()
            go.touch()
            result = running.finish()
        found = Account(result.process, None, process.stdout.read())
    check_idle(found, 1)


def test_stack_of_idle_time(gpuprobe):
    result = gpuprobe.run(*script(COMMON + """
def culprit():
    need(launch(kernel))
need(launch(kernel))
for _ in range(10):
    need(driver.cuCtxSynchronize())
    time.sleep(0.12)
    culprit()
"""), base=["diagnose", "--json"], env=IDLE)
    finding, = [f for f in result.final["findings"] if f["id"] == "idle-gaps"]
    assert "culprit" in json.dumps(finding["stack"])
