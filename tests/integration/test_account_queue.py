# SPDX-License-Identifier: BSD-2-Clause
"""What the account tells of the GPU's queue: idle times, implicit waits, the legacy default stream, missing waits.

Each thing is looked for in a program that has it, and in those that come near to it and have not.
"""
import json
import subprocess
import time

import pytest

from lib.paths import ROOT, SIM
from lib.probe import Background
from lib.script import PROGRAMS, script

STAT = ["stat", "--json"]
IDLE = {"CUDA_SIM_ASYNC": "20ms"}

# What the scripts have in common: `kernel`, the primary context in `context`, and threads.
COMMON = """
import json, threading
context = start()
_, (kernel,) = module("kernel")
def stream(flags=1):
    return made(driver.cuStreamCreate, flags)
def event(flags=0):
    return made(driver.cuEventCreate, flags)
def pinned(size=4096):
    return made(driver.cuMemHostAlloc, size, 0)
def device_memory(size=4096):
    return made(driver.cuMemAlloc_v2, size)
def run(function, device_context=None):
    failures = []
    def body():
        try:
            need(driver.cuCtxSetCurrent(device_context or context))
            function()
        except BaseException as error:
            failures.append(error)
    thread = threading.Thread(target=body)
    thread.start()
    return thread
def kept_waiting():
    tasks = "/proc/self/task/"
    return sum(int(open(tasks + tid + "/schedstat").read().split()[1]) for tid in os.listdir(tasks))
waited_before = kept_waiting()
idle = []
def pause(seconds=0.15):
    began = time.monotonic()
    time.sleep(seconds)
    idle.append(time.monotonic() - began)
def tell():
    print("IDLE " + json.dumps([sum(idle) * 1e9, kept_waiting() - waited_before]), flush=True)
"""


class Account:
    """The account of the only process."""

    def __init__(self, result):
        self.process = result.process
        self.truth = result.truths[0] if result.truths else None
        self.threads = self.process["threads"]
        self.totals = self.process["account"]
        self.at_exit = self.process["inflight_at_exit"]
        self.take(result.stdout)

    def take(self, stdout):
        """How long the program paused, and its threads were ready to run and did not: the gaps are longer by some of that."""
        told = [line for line in stdout.splitlines() if line.startswith("IDLE ")]
        self.paused_ns, self.delayed_ns = json.loads(told[0][5:]) if told else (None, None)

    def sum(self, name):
        return sum(thread[name] for thread in self.threads)

    def implicit(self):
        """Calls by cause, those without any left out."""
        causes = {}
        for thread in self.threads:
            for cause, totals in thread["implicit"].items():
                if totals["calls"]:
                    causes[cause] = causes.get(cause, 0) + totals["calls"]
        return causes

    def missing(self):
        """What is above 0 of the counters of missing waits."""
        names = ("unrecorded_waits", "unrecorded_queries", "destroyed_busy", "freed_busy", "freed_busy_bytes")
        found = {name: self.totals[name] for name in names if self.totals[name]}
        if self.at_exit["calls"]:
            found["at_exit"] = self.at_exit["calls"]
        return found


def account(gpuprobe, body, env=None, args=(), status=0):
    result = gpuprobe.run(*script(COMMON + body), base=STAT, args=args, env={**IDLE, **(env or {})}, status=status)
    assert result.final["lost"] == {} or not any(result.final["lost"].values()), result.final["lost"]
    return Account(result)


def check_idle(found, gaps, slack_ns=2e6):
    """So many idle times, which lasted as long as the program paused."""
    assert found.sum("idle_gaps") == gaps
    if gaps:
        slack_ns = slack_ns * gaps + 0.02 * found.paused_ns + found.delayed_ns
        assert abs(found.sum("idle_ns") - found.paused_ns) < slack_ns


def check_inside(found, inside_ns):
    """Of the idle time so much was in the only allocation."""
    assert 80e6 <= inside_ns < found.truth.ns("cuMemAlloc_v2") + 5e6 + found.delayed_ns


# --- idle times ---

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


@pytest.mark.parametrize("wait", WAITS)
def test_idle_after_wait(gpuprobe, wait):
    found = account(gpuprobe, f"""
s, e = stream(), event()
for _ in range(3):
    for _ in range(4):
        need(launch(kernel, s))
    {WAITS[wait]}
    pause()
need(launch(kernel, s))
tell()
""")
    check_idle(found, 3)
    assert found.threads[0]["idle_max_ns"] >= 0.15e9


def test_idle_after_copy(gpuprobe):
    """A synchronous copy waits for the legacy stream, on which all was."""
    found = account(gpuprobe, """
d, h = device_memory(), pinned()
for _ in range(2):
    need(launch(kernel))
    need(driver.cuMemcpyDtoH_v2(h, d, 4096))
    pause()
need(launch(kernel))
tell()
""")
    check_idle(found, 2)


def test_graph_ends_idle_time(gpuprobe):
    found = account(gpuprobe, """
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
    check_idle(found, 3)


def test_what_does_not_end_it(gpuprobe):
    """Launches that fail or are captured, waits and queries of what is empty."""
    found = account(gpuprobe, """
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
    check_idle(found, 1)


NOT_IDLE = {
    "no wait": "need(launch(kernel, a)); pause(); need(launch(kernel, a))",
    "short": "need(launch(kernel, a)); need(driver.cuCtxSynchronize()); pause(0.06); need(launch(kernel, a))",
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
need(launch(kernel, a))
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
def others():
    for _ in range(20):
        need(launch(kernel, b))
        time.sleep(0.02)
need(launch(kernel, a))
thread = run(others)
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


@pytest.mark.parametrize("case", NOT_IDLE)
def test_not_idle(gpuprobe, case):
    env = {"CUDA_SIM_FAIL": "cuCtxSynchronize:1=702"} if case == "a wait that fails" else {}
    found = account(gpuprobe, "a, b, e = stream(), stream(), event()\nd, h = device_memory(), pinned()\n" +
                    NOT_IDLE[case], env)
    check_idle(found, 0)


def test_copies_on_the_way(gpuprobe):
    """They do not end the time, but their own does not count: 160 ms of copies between pauses of 120 and 80 ms."""
    found = account(gpuprobe, """
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
    check_idle(found, 1, slack_ns=4e6)


def test_inside_other_calls(gpuprobe):
    found = account(gpuprobe, """
need(launch(kernel))
need(driver.cuCtxSynchronize())
began = time.monotonic()
time.sleep(0.1)
device_memory()
idle.append(time.monotonic() - began)
need(launch(kernel))
tell()
""", {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=80ms"})
    check_idle(found, 1)
    check_inside(found, found.sum("idle_inside_ns"))


def test_another_thread_ends_it(gpuprobe):
    """It is counted where it ends, with that thread's own time inside calls."""
    found = account(gpuprobe, """
need(launch(kernel))
need(driver.cuCtxSynchronize())
began = time.monotonic()
def work():
    time.sleep(0.1)
    device_memory()
    idle.append(time.monotonic() - began)
    need(launch(kernel))
run(work).join()
tell()
""", {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=80ms"})
    first, second = sorted(found.threads, key=lambda thread: -thread["launches_since_wait"])
    other = first if first["idle_gaps"] else second
    check_idle(found, 1)
    assert other["idle_ns"] == found.sum("idle_ns")
    check_inside(found, other["idle_inside_ns"])


def test_devices_apart(gpuprobe):
    """The other device works all the time; it says nothing about the first."""
    found = account(gpuprobe, """
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
        while not ready.exists():
            time.sleep(0.01)
        with gpuprobe.start(base=STAT, interval=None, args=["-p", process.pid, "--interval", 0.2]) as running:
            running.report()
            go.touch()
            found = Account(running.finish())
        found.take(process.stdout.read())
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


# --- implicit waits ---

IMPLICIT = {
    "copy": ("need(driver.cuMemcpyDtoH_v2(h, d, 4096))", "cuMemcpyDtoH_v2"),
    "copy within the device": ("need(driver.cuMemcpyDtoD_v2(d, d2, 4096))", "cuMemcpyDtoD_v2"),
    "set": ("need(driver.cuMemsetD8_v2(d, 0, 4096))", "cuMemsetD8_v2"),
    "free": ("need(driver.cuMemFree_v2(freed.pop()))", "cuMemFree_v2"),
    "free of pinned memory": ("need(driver.cuMemFreeHost(hosts.pop()))", "cuMemFreeHost"),
    "load": ("module('more')", "cuModuleLoadData"),
}
PREPARED = """
s = stream()
d, d2, h = device_memory(), device_memory(), pinned()
freed, hosts = [device_memory() for _ in range(12)], [pinned() for _ in range(12)]
"""


def implicit(gpuprobe, body, latency):
    return account(gpuprobe, PREPARED + body + "tell()\n", {"CUDA_SIM_ASYNC": "0s", "CUDA_SIM_LATENCY": f"{latency}=200us"})


@pytest.mark.parametrize("cause", IMPLICIT)
def test_implicit_wait(gpuprobe, cause):
    call, function = IMPLICIT[cause]
    found = implicit(gpuprobe, f"""
for _ in range(4):
    need(launch(kernel, s))
    {call}
    need(launch(kernel, s))
    need(driver.cuStreamSynchronize(s))
""", function)
    kind = cause.split()[0]
    assert found.implicit() == {kind: 4}
    # Others of the function's calls were not in between.
    assert 4 * 200e3 <= found.threads[0]["implicit"][kind]["ns"] < 1.1 * found.truth.ns(function) + 4e6 + found.delayed_ns


@pytest.mark.parametrize("cause", IMPLICIT)
def test_no_implicit_wait(gpuprobe, cause):
    """Before all launches, before a wait, and after all launches."""
    call, function = IMPLICIT[cause]
    found = implicit(gpuprobe, f"""
{call}
for _ in range(4):
    need(launch(kernel, s))
    {call}
    need(driver.cuStreamSynchronize(s))
    {call}
need(launch(kernel, s))
need(launch(kernel, s))
{call}
""" if cause != "load" else f"""
for _ in range(4):
    need(launch(kernel, s))
    {call}
    need(driver.cuStreamSynchronize(s))
    {call}
need(launch(kernel, s))
""", function)
    assert found.implicit() == {}


def test_quick_or_in_stream_order(gpuprobe):
    found = account(gpuprobe, PREPARED + """
pool = made(driver.cuMemAllocAsync, 4096, s)
for _ in range(4):
    need(launch(kernel, s))
    need(driver.cuMemsetD8Async(d, 0, 4096, s))
    need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
    if pool:
        need(driver.cuMemFreeAsync(pool, s))
        pool = None
    need(launch(kernel, s))
need(driver.cuStreamSynchronize(s))
""", {"CUDA_SIM_ASYNC": "0s",
      "CUDA_SIM_LATENCY": "cuMemsetD8Async=200us,cuMemcpyDtoHAsync_v2=200us,cuMemFreeAsync=200us"})
    assert found.implicit() == {}


def test_slow_first_launch(gpuprobe):
    """It loads its module: a wait for all others, if launches came before and come after."""
    found = account(gpuprobe, """
_, kernels = module(*(f"k{i}" for i in range(4)))
for kernel in kernels:
    need(launch(kernel))
""", {"CUDA_SIM_ASYNC": "0s", "CUDA_SIM_LATENCY": "cuLaunchKernel=150us"})
    assert found.implicit() == {"load": 2}


# --- the legacy default stream ---

def test_legacy_launches(gpuprobe):
    found = account(gpuprobe, """
s = stream()
for where in (0, 1, 0, s, 2):
    need(launch(kernel, where))
need(driver.cuLaunchKernel_ptsz(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
need(driver.cuStreamSynchronize(0))
need(driver.cuStreamSynchronize(s))
need(driver.cuStreamSynchronize(2))
need(driver.cuCtxSynchronize())
""")
    assert found.sum("legacy_launches") == 3
    assert found.threads[0]["legacy_waits"]["calls"] == 2
    assert found.sum("legacy_behind") == 0


CROSSINGS = {
    "blocking": ("stream(0)", "0", 6),
    "the other way": ("0", "stream(0)", 6),
    "per-thread": ("2", "0", 6),
    "not blocking": ("stream(1)", "0", 0),
    "no legacy": ("stream(0)", "stream(0)", 0),
}


@pytest.mark.parametrize("case", CROSSINGS)
def test_legacy_crossings(gpuprobe, case):
    first, second, crossings = CROSSINGS[case]
    found = account(gpuprobe, f"""
a, b = {first}, {second}
for _ in range(2):
    for where in (a, b, b, a, a, b):
        need(launch(kernel, where))
    need(driver.cuCtxSynchronize())
for where in (a, b):
    need(launch(kernel, where))
    need(driver.cuCtxSynchronize())
""", {"CUDA_SIM_ASYNC": "0s"})
    assert found.sum("legacy_crossings") == crossings


def test_behind_a_wait(gpuprobe):
    body = """
s = stream()
need(launch(kernel))
waiting = threading.Event()
def wait():
    waiting.set()
    need({wait})
thread = run(wait)
waiting.wait()
time.sleep(0.1)
for _ in range(5):
    need(launch({kernel}, {where}))
thread.join()
for _ in range(3):
    need(launch({kernel}, {where}))
"""
    slow = {"CUDA_SIM_ASYNC": "1s"}
    for wait, where, behind in (("driver.cuStreamSynchronize(0)", "0", 5), ("driver.cuCtxSynchronize()", "0", 5),
                                ("driver.cuStreamSynchronize(0)", "s", 0), ("driver.cuStreamSynchronize(2)", "0", 0)):
        found = account(gpuprobe, body.format(wait=wait, where=where, kernel="kernel"), slow)
        assert found.sum("legacy_behind") == behind, (wait, where)
        assert all(queue["legacy_waiting"] == 0 for queue in found.totals["queues"])


def test_behind_a_wait_of_another_device(gpuprobe):
    found = account(gpuprobe, """
second = made(driver.cuDevicePrimaryCtxRetain, 1)
def wait():
    need(driver.cuLaunchKernel(module("other")[1][0], 1, 1, 1, 1, 1, 1, 0, 0, None, None))
    need(driver.cuCtxSynchronize())
thread = run(wait, second)
time.sleep(0.1)
for _ in range(5):
    need(launch(kernel))
thread.join()
""", {"CUDA_SIM_ASYNC": "500ms", "CUDA_SIM_DEVICES": 2})
    assert found.sum("legacy_launches") == 6 and found.sum("legacy_behind") == 0


@pytest.fixture(scope="module")
def left_waits(tmp_path_factory):
    """programs/left_waits.c"""
    output = tmp_path_factory.mktemp("left_waits") / "left_waits"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-pthread", f"-I{ROOT}/sim/include", "-o", output,
                    PROGRAMS / "left_waits.c", f"-L{SIM}", "-l:libcuda.so.1", f"-Wl,-rpath,{SIM}"],
                   check=True)
    return output


@pytest.mark.parametrize("way", ["leave", "jump", "deep"])
def test_waits_that_never_return(gpuprobe, left_waits, way):
    """Nobody is held to wait any more."""
    found = Account(gpuprobe.run(left_waits, way, 5, base=STAT))
    assert found.sum("legacy_launches") == 10 + (0 if way == "jump" else 5)
    assert found.sum("legacy_behind") == 0
    assert [queue["legacy_waiting"] for queue in found.totals["queues"]] == [0]


# --- missing waits ---

MISSING = {
    "wait for an event": ("need(driver.cuEventSynchronize(e))", {"unrecorded_waits": 1}),
    "stream's wait for an event": ("need(driver.cuStreamWaitEvent(s, e, 0))", {"unrecorded_waits": 1}),
    "query of an event": ("need(driver.cuEventQuery(e))", {"unrecorded_queries": 1}),
    "stream with a launch": ("need(launch(kernel, s)); need(driver.cuStreamDestroy_v2(s))", {"destroyed_busy": 1}),
    "stream with a copy": ("""
need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, s))
need(driver.cuStreamDestroy_v2(s))
""", {"destroyed_busy": 1}),
    "stream with a launch after the wait": ("""
need(launch(kernel, s))
need(driver.cuStreamSynchronize(s))
need(launch(kernel, s))
need(driver.cuStreamDestroy_v2(s))
""", {"destroyed_busy": 1}),
    "wait for another stream": ("""
other = stream()
need(launch(kernel, other))
need(launch(kernel, s))
need(driver.cuStreamSynchronize(other))
need(driver.cuStreamDestroy_v2(s))
""", {"destroyed_busy": 1}),
    "free of a target": ("""
for _ in range(2):
    need(driver.cuMemcpyDtoHAsync_v2(h + 100, d, 1000, s))
need(driver.cuMemFreeHost(h))
""", {"freed_busy": 1, "freed_busy_bytes": 2000}),
    "end of a target's registration": ("""
import mmap
memory = mmap.mmap(-1, 1 << 16)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
need(driver.cuMemHostRegister_v2(address, 1 << 16, 0))
need(driver.cuMemcpyDtoHAsync_v2(address + 4096, d, 1000, s))
need(driver.cuMemHostUnregister(address))
""", {"freed_busy": 1, "freed_busy_bytes": 1000}),
    "exit": ("need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))", {"at_exit": 1}),
    "exit with two": ("""
need(driver.cuMemcpyDtoHAsync_v2(pinned(), d, 4096, stream()))
need(driver.cuMemcpyDtoHAsync_v2(pinned(), d, 4096, stream()))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuStreamSynchronize(s))
""", {"at_exit": 2}),
}
OBJECTS = """
s, e = stream(), event()
d, h = device_memory(), pinned()
"""


@pytest.mark.parametrize("case", MISSING)
def test_missing_wait(gpuprobe, case):
    body, expected = MISSING[case]
    assert account(gpuprobe, OBJECTS + body).missing() == expected


WAITED = {
    "event recorded": """
need(driver.cuEventRecord(e, s))
need(driver.cuEventSynchronize(e))
need(driver.cuEventQuery(e))
need(driver.cuStreamWaitEvent(s, e, 0))
""",
    "events in turn": """
events = [event() for _ in range(3)]
for i in range(7):
    need(driver.cuEventQuery(events[i % 3]) % 600)
    need(driver.cuEventSynchronize(events[i % 3]))
    need(driver.cuStreamWaitEvent(s, events[i % 3], 0))
    need(driver.cuEventRecord(events[i % 3], s))
""",
    "an event's handle comes back": """
for _ in range(3):
    e = event()
    need(driver.cuEventRecord(e, s))
    need(driver.cuEventSynchronize(e))
    need(driver.cuEventDestroy_v2(e))
""",
    "event of another process": """
shared = event(6)
need(driver.cuEventSynchronize(shared))
""",
    "event of a graph": """
graph = made(driver.cuGraphCreate, 0)
made(driver.cuGraphAddEventRecordNode, graph, None, 0, e)
run_ = made(driver.cuGraphInstantiateWithFlags, graph, 0)
need(driver.cuGraphLaunch(run_, s))
need(driver.cuEventSynchronize(e))
need(driver.cuCtxSynchronize())
""",
    "event of all of a context": """
need(launch(kernel, s))
need(driver.cuCtxRecordEvent(context, e))
need(driver.cuEventSynchronize(e))
need(driver.cuStreamDestroy_v2(s))
""",
    "stream waited for": """
for _ in range(3):
    need(launch(kernel, s))
    need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
    need(driver.cuStreamSynchronize(s))
    need(driver.cuStreamDestroy_v2(s))
    s = stream()
need(driver.cuMemFreeHost(h))
""",
    "context waited for": """
other = stream()
need(launch(kernel, s))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, other))
need(driver.cuCtxSynchronize())
need(driver.cuStreamDestroy_v2(s))
need(driver.cuStreamDestroy_v2(other))
need(driver.cuMemFreeHost(h))
""",
    "event after it waited for": """
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuEventRecord(e, s))
need(driver.cuEventSynchronize(e))
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "another stream waits for the event": """
other = stream()
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuEventRecord(e, s))
need(driver.cuStreamWaitEvent(other, e, 0))
need(driver.cuStreamSynchronize(other))
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "queried": """
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
while driver.cuStreamQuery(s) == 600:
    time.sleep(0.001)
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "host function": """
done = threading.Event()
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: done.set())
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuLaunchHostFunc(s, callback, 0))
done.wait()
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "legacy stream after a blocking one": """
blocking = stream(0)
need(launch(kernel, blocking))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, blocking))
need(driver.cuMemcpyDtoH_v2(pinned(), d, 4096))
need(driver.cuStreamDestroy_v2(blocking))
need(driver.cuMemFreeHost(h))
""",
    "blocking stream after the legacy one": """
blocking = stream(0)
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, 0))
need(launch(kernel, blocking))
need(driver.cuStreamSynchronize(blocking))
need(driver.cuMemFreeHost(h))
""",
    "a free that blocks": """
need(launch(kernel, s))
need(driver.cuMemFree_v2(d))
need(driver.cuStreamDestroy_v2(s))
""",
    "pageable target": """
target = ctypes.create_string_buffer(4096)
need(driver.cuMemcpyDtoHAsync_v2(ctypes.addressof(target), d, 4096, s))
""",
    "copy to the device": "need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, s)); need(driver.cuMemFreeHost(h))",
    "captured": """
need(driver.cuStreamBeginCapture_v2(s, 0))
need(launch(kernel, s))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
graph = made(lambda out: driver.cuStreamEndCapture(s, out))
need(driver.cuStreamDestroy_v2(s))
need(driver.cuMemFreeHost(h))
""",
    "a handle that comes back": """
for _ in range(3):
    need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
    need(driver.cuStreamSynchronize(s))
    need(driver.cuStreamDestroy_v2(s))
    s = stream()
need(driver.cuMemFreeHost(h))
h = pinned()
need(driver.cuMemFreeHost(h))
""",
    "context that ended": """
second = made(driver.cuCtxCreate_v2, 0, 0)
other, mine, theirs = stream(), device_memory(), pinned()
need(driver.cuMemcpyDtoHAsync_v2(theirs, mine, 4096, other))
need(driver.cuCtxDestroy_v2(second))
""",
}


@pytest.mark.parametrize("case", WAITED)
def test_nothing_missing(gpuprobe, case):
    assert account(gpuprobe, OBJECTS + WAITED[case]).missing() == {}


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 15)", "os._exit(3)"])
def test_ends_that_want_no_result(gpuprobe, end):
    """A process that was killed or says that it failed."""
    found = account(gpuprobe, OBJECTS + f"need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))\n{end}\n", status=None)
    assert found.missing() == {}


def test_free_that_fails(gpuprobe):
    found = account(gpuprobe, OBJECTS + """
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
assert driver.cuMemFreeHost(h) == 1
need(launch(kernel, s))
assert driver.cuStreamDestroy_v2(s) == 400
need(driver.cuCtxSynchronize())
""", {"CUDA_SIM_FAIL": "cuMemFreeHost:1=1,cuStreamDestroy_v2:1=400"})
    assert found.missing() == {}
