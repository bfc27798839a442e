# SPDX-License-Identifier: BSD-2-Clause
"""Implicit waits in `gpuprobe stat`, and the legacy default stream.

Each is looked for in a program that has it, and in those that come near to it and have not.
"""
import subprocess

import pytest

from lib.account_runs import STAT
from lib.gpu_queue import Account, account
from lib.paths import ROOT, SIM
from lib.script import PROGRAMS

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
