# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe stat`'s list of copies that were made again for nothing."""
from collections import Counter

import pytest

from lib.probe import Probe
from lib.profile_runs import Scenario, by_scenario, stat
from lib.script import script

REPEATS = """
start()
module_, (kernel,) = module("kernel")
a, b = (made(driver.cuMemHostAlloc, 1 << 16, 0) for _ in range(2))
x, y = (made(driver.cuMemAlloc_v2, 1 << 16) for _ in range(2))
managed = 0
stream = made(driver.cuStreamCreate, 1)
other = made(driver.cuStreamCreate, 1) # neither waits for the default stream
def up(to=None, source=None, size=4096): need(driver.cuMemcpyHtoD_v2(to or x, source or a, size))
def down(to=None, source=None, size=4096): need(driver.cuMemcpyDtoH_v2(to or a, source or x, size))
def up_on(s, to=None, source=None): need(driver.cuMemcpyHtoDAsync_v2(to or x, source or a, 4096, s))
def down_on(s, to=None, source=None):
    need(driver.cuMemcpyDtoHAsync_v2(to or a, source or x, 4096, s))
def run(s=0): need(launch(kernel, s))
def wait(): need(driver.cuCtxSynchronize())
def fill(): need(driver.cuMemsetD8_v2(y, 0, 16))
def within(): need(driver.cuMemcpyDtoD_v2(y + 64, y, 16))
def fresh(): need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 64)))
def manage():
    global managed
    managed = made(driver.cuMemAllocManaged, 1 << 16, 1)
def rows(pitch):
    class Memcpy2D(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in (
            "srcXInBytes", "srcY", "srcMemoryType", "srcHost", "srcDevice", "srcArray", "srcPitch",
            "dstXInBytes", "dstY", "dstMemoryType", "dstHost", "dstDevice", "dstArray", "dstPitch",
            "WidthInBytes", "Height")]
    need(driver.cuMemcpy2D_v2(ref(Memcpy2D(
        srcMemoryType=1, srcHost=a, srcPitch=pitch, dstMemoryType=2, dstDevice=x, dstPitch=pitch,
        WidthInBytes=64, Height=4))))
"""

# What is done -> copies for nothing, to the device and from it.
SCENARIOS = {
    "the same twice": ("up(); up()", 1, 0),
    "four times each": ("[up() for _ in range(4)]; [down() for _ in range(4)]", 3, 3),
    "a launch between": ("up(); run(); up(); wait(); down(); run(); down()", 0, 0),
    "a launch and a wait between": ("up(); run(); wait(); up()", 0, 0),
    "other ranges": ("up(); up(x + 4096); up(x, b); up(x, a, 2048)", 0, 0),
    "two ranges in turn": ("[(up(x, a), up(y, b)) for _ in range(5)]", 8, 0),
    "two ranges in turn, back": ("[(down(a, x), down(b, y)) for _ in range(5)]", 0, 8),
    "back after there": ("up(); down(); up(); down()", 0, 0),
    "used by a copy back": ("up(); down(b, y); up()", 0, 0),
    "changed by a copy there": ("down(); up(y, b); down()", 0, 0),
    "a set between": ("up(); fill(); up(); down(); fill(); down()", 0, 0),
    "a copy within the device between": ("up(); within(); up(); down(); within(); down()", 0, 0),
    "memory comes and goes between": ("up(); fresh(); up(); down(); fresh(); down()", 0, 0),
    "waits between": ("up(); wait(); up(); wait(); down(); wait(); down()", 1, 1),
    "after a launch, once it is done": ("run(); wait(); down(); down(); up(); up()", 1, 1),
    "asynchronous": ("up_on(stream); up_on(stream); down_on(stream); down_on(stream); wait()",
                     1, 1),
    "after a launch on the same stream": (
        "run(stream); down_on(stream); down_on(stream); up_on(stream); up_on(stream)", 1, 1),
    "after a launch on another stream": (
        "run(other); down_on(stream); down_on(stream); up_on(stream); up_on(stream)", 0, 0),
    "after launches on two streams": (
        "run(other); run(stream); [(down_on(stream), up_on(stream, y, b)) for _ in range(3)]",
        0, 0),
    "after two streams, once both are done": (
        "run(other); run(stream); wait(); "
        "[down_on(stream) for _ in range(3)]; [up() for _ in range(3)]", 2, 2),
    "while one of two streams is done": (
        "run(other); run(stream); need(driver.cuStreamSynchronize(stream)); "
        "[down_on(stream) for _ in range(3)]", 0, 0),
    "a kernel that goes on, polled": (
        "run(other); "
        "[(down_on(stream), need(driver.cuStreamSynchronize(stream))) for _ in range(20)]", 0, 0),
    "a kernel that goes on, fed": ("run(other); [up() for _ in range(20)]", 0, 0),
    "a graph that was launched": (
        "need(driver.cuStreamBeginCapture_v2(stream, 2)); run(stream); "
        "graph = made(lambda word: driver.cuStreamEndCapture(stream, word)); "
        "ready = made(driver.cuGraphInstantiateWithFlags, graph, 0); up(); up(); "
        "need(driver.cuGraphLaunch(ready, other)); up(); up(); wait(); up(); up()", 2, 0),
    "copies with gaps": ("rows(64); rows(128); rows(64)", 0, 0),
    "managed memory": (
        "manage(); [up(managed) for _ in range(3)]; [down(a, managed) for _ in range(3)]", 0, 0),
    "beside managed memory": ("manage(); [up() for _ in range(3)]; [down() for _ in range(3)]",
                              2, 2),
    "by part, beside managed memory": ("manage(); [up(x + 64) for _ in range(3)]", 0, 0),
}


def repeats_of(process):
    account = process["account"]["repeats"]
    listed = Counter()
    for repeat in process["repeated_copies"]:
        listed[repeat["kind"]] += repeat["repeats"]
        assert repeat["copies"] > repeat["repeats"] > 0
    found = account["H2D"]["calls"], account["D2H"]["calls"]
    assert found == (listed["H2D"], listed["D2H"])
    return found


@pytest.fixture(scope="module")
def repeating(tmp_path_factory):
    scenarios = {name: Scenario(actions) for name, (actions, *_) in SCENARIOS.items()}
    return by_scenario(Probe(tmp_path_factory.mktemp("repeats")), scenarios, REPEATS)


@pytest.mark.parametrize("name", SCENARIOS)
def test_repeats(repeating, name):
    assert repeats_of(repeating[name].process) == SCENARIOS[name][1:]


def test_what_a_repeat_costs(gpuprobe_by):
    result = stat(gpuprobe_by, *script(REPEATS + """
for _ in range(5):
    up(size=10000)
    up(size=10000)
    down(size=3000)
    run()
    wait()
"""), env={"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=2ms,cuMemcpyDtoH_v2=1ms"})
    assert repeats_of(result.process) == (5, 0)
    one, = result.process["repeated_copies"]
    assert (one["kind"], one["function"], one["bytes"],
            one["copies"]) == ("H2D", "cuMemcpyHtoD_v2", 10000, 10)
    # The first of each pair takes as long at least.
    assert 10e6 <= one["repeat_ns"] <= 1.05 * result.truth.ns("cuMemcpyHtoD_v2") - 10e6
    assert result.process["account"]["repeats"]["H2D"] == {"calls": 5, "ns": one["repeat_ns"],
                                                           "bytes": 50000}


def test_repeats_by_the_runtime(gpuprobe):
    """A direction that the addresses tell, and one that the call names, at each layer."""
    program = script("""
        device = made(runtime.cudaMalloc, 4096)
        host = made(runtime.cudaMallocHost, 4096)
        for kind in (1, 4):
            for _ in range(3):
                need(runtime.cudaMemcpy(device, host, 512 + kind, kind))
    """)
    for api in ("auto", "runtime", "both"):
        assert repeats_of(stat(gpuprobe, *program, args=["--api", api]).process) == (4, 0)


def test_threads_repeat(gpuprobe):
    """Each thread copies its own range, at the same time and with no launch:
    all but the first copies are redundant."""
    result = stat(gpuprobe, *script(REPEATS + """
import threading
context = made(driver.cuCtxGetCurrent)
def work(number):
    need(driver.cuCtxSetCurrent(context))
    for _ in range(200):
        up(x + 4096 * number, a + 4096 * number)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""))
    assert repeats_of(result.process) == (4 * 199, 0)


def test_threads_that_launch(gpuprobe):
    """Another thread launches between any two copies: none is redundant,
    whatever the threads' pace."""
    result = stat(gpuprobe, *script(REPEATS + """
import threading
context = made(driver.cuCtxGetCurrent)
meeting = threading.Barrier(2)
def work():
    need(driver.cuCtxSetCurrent(context))
    for _ in range(300):
        meeting.wait()
        run()
        meeting.wait()
thread = threading.Thread(target=work)
thread.start()
for _ in range(300):
    up()
    meeting.wait()
    meeting.wait()
thread.join()
"""))
    assert repeats_of(result.process) == (0, 0)


def test_repeats_of_more_ranges_than_are_kept(gpuprobe):
    """The totals have those that the list has forgotten."""
    ranges = 40000
    result = stat(gpuprobe, *script(f"""
        start()
        host = made(driver.cuMemHostAlloc, 1 << 20, 0)
        device = made(driver.cuMemAlloc_v2, 1 << 20)
        for number in range({ranges}):
            for _ in range(2):
                need(driver.cuMemcpyHtoD_v2(device + number, host, 16))
    """))
    assert result.process["account"]["repeats"]["H2D"]["calls"] == ranges
    assert result.process["account"]["repeats"]["H2D"]["bytes"] == 16 * ranges
    assert 0 < len(result.process["repeated_copies"]) <= 16384
