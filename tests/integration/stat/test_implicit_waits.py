# SPDX-License-Identifier: BSD-2-Clause
"""Implicit waits in `gpuprobe stat`, and the legacy default stream.

Each is looked for in a program that has it, and in those that come near to it and have not.
"""
import subprocess

import pytest

from lib import script
from lib.gpu_queue import accounts
from lib.paths import ROOT, SIM
from lib.probe import Probe
from lib.profile_runs import Programs, Scenario

PROGRAMS = Programs()


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    return accounts(Probe(tmp_path_factory.mktemp("implicit")), PROGRAMS.scenarios)


@pytest.fixture
def found(watched, request):
    """The account of the test's own program."""
    return watched[request.node.name]

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


def implicit(body, load=None):
    """For each cause a program whose `call` in `body` is slow;
    the cause `load` may have a body of its own."""
    return {cause: Scenario(
                PREPARED + (load if load and cause == "load" else body).format(call=call)
                + "tell()\n", {"CUDA_SIM_ASYNC": "0s", "CUDA_SIM_LATENCY": f"{function}=200us"})
            for cause, (call, function) in IMPLICIT.items()}


@PROGRAMS.of_cases(implicit("""
for _ in range(4):
    need(launch(kernel, s))
    {call}
    need(launch(kernel, s))
    need(driver.cuStreamSynchronize(s))
"""), "cause")
def test_implicit_wait(found, cause):
    function = IMPLICIT[cause][1]
    kind = cause.split()[0]
    assert found.implicit() == {kind: 4}
    # Others of the function's calls were not in between.
    found_ns = found.threads[0]["implicit"][kind]["ns"]
    assert 4 * 200e3 <= found_ns < 1.1 * found.truth.ns(function) + 4e6 + found.delayed_ns


@PROGRAMS.of_cases(implicit("""
{call}
for _ in range(4):
    need(launch(kernel, s))
    {call}
    need(driver.cuStreamSynchronize(s))
    {call}
need(launch(kernel, s))
need(launch(kernel, s))
{call}
""", load="""
for _ in range(4):
    need(launch(kernel, s))
    {call}
    need(driver.cuStreamSynchronize(s))
    {call}
need(launch(kernel, s))
"""))
def test_no_implicit_wait(found):
    """Before all launches, before a wait, and after all launches."""
    assert found.implicit() == {}


@PROGRAMS.of_test(PREPARED + """
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
def test_quick_or_in_stream_order(found):
    assert found.implicit() == {}


@PROGRAMS.of_test("""
_, kernels = module(*(f"k{i}" for i in range(4)))
for kernel in kernels:
    need(launch(kernel))
""", {"CUDA_SIM_ASYNC": "0s", "CUDA_SIM_LATENCY": "cuLaunchKernel=150us"})
def test_slow_first_launch(found):
    """The cause of the slow launch is not seen: there is no load,
    but it counts if launches come before and after."""
    assert found.implicit() == {"first_launch": 2}


# --- the legacy default stream ---

@PROGRAMS.of_test("""
s = stream()
for where in (0, 1, 0, s, 2):
    need(launch(kernel, where))
need(driver.cuLaunchKernel_ptsz(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
need(driver.cuStreamSynchronize(0))
need(driver.cuStreamSynchronize(s))
need(driver.cuStreamSynchronize(2))
need(driver.cuCtxSynchronize())
""")
def test_legacy_launches(found):
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


@PROGRAMS.of_cases({case: Scenario(f"""
a, b = {first}, {second}
for _ in range(2):
    for where in (a, b, b, a, a, b):
        need(launch(kernel, where))
    need(driver.cuCtxSynchronize())
for where in (a, b):
    need(launch(kernel, where))
    need(driver.cuCtxSynchronize())
""", {"CUDA_SIM_ASYNC": "0s"}) for case, (first, second, _) in CROSSINGS.items()}, "case")
def test_legacy_crossings(found, case):
    assert found.sum("legacy_crossings") == CROSSINGS[case][2]


def test_behind_a_wait(gpuprobe):
    body = """
s = stream()
need(launch(kernel))
def wait():
    {wait}
thread = run(wait)
until_waiting(thread)
for _ in range(5):
    need(launch(kernel, {where}))
thread.join()
for _ in range(3):
    need(launch(kernel, {where}))
"""
    legacy = "need(driver.cuStreamSynchronize(0))"
    own = "need(launch(kernel, 2)); need(driver.cuStreamSynchronize(2))"  # the thread's own stream
    behind = {(legacy, "0"): 5, ("need(driver.cuCtxSynchronize())", "0"): 5, (legacy, "s"): 0,
              (own, "0"): 0}
    # They sleep, all at once.
    found = accounts(gpuprobe, {case: Scenario(body.format(wait=case[0], where=case[1]),
                                               {"CUDA_SIM_ASYNC": "3s"}) for case in behind},
                     at_once=4)
    for case, count in behind.items():
        assert found[case].sum("legacy_behind") == count, case
        assert all(queue["legacy_waiting"] == 0 for queue in found[case].totals["queues"])


@PROGRAMS.of_test("""
second = made(driver.cuDevicePrimaryCtxRetain, 1)
def wait():
    need(driver.cuLaunchKernel(module("other")[1][0], 1, 1, 1, 1, 1, 1, 0, 0, None, None))
    need(driver.cuCtxSynchronize())
thread = run(wait, second)
until_waiting(thread)
for _ in range(5):
    need(launch(kernel))
thread.join()
""", {"CUDA_SIM_ASYNC": "1s", "CUDA_SIM_DEVICES": 2})
def test_behind_a_wait_of_another_device(found):
    assert found.sum("legacy_launches") == 6 and found.sum("legacy_behind") == 0


LEFT = ["leave", "jump", "deep"]


@pytest.fixture(scope="module")
def left_waits(tmp_path_factory):
    """programs/left_waits.c, run in each way."""
    directory = tmp_path_factory.mktemp("left_waits")
    program = directory / "left_waits"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-pthread", f"-I{ROOT}/sim/include", "-o", program,
                    script.PROGRAMS / "left_waits.c", f"-L{SIM}", "-l:libcuda.so.1",
                    f"-Wl,-rpath,{SIM}"], check=True)
    return accounts(Probe(directory), {way: Scenario([program, way, 5]) for way in LEFT})


@pytest.mark.parametrize("way", LEFT)
def test_waits_that_never_return(left_waits, way):
    """Nobody is held to wait any more."""
    found = left_waits[way]
    assert found.sum("legacy_launches") == 10 + (0 if way == "jump" else 5)
    assert found.sum("legacy_behind") == 0
    assert [queue["legacy_waiting"] for queue in found.totals["queues"]] == [0]
