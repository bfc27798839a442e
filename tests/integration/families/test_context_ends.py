# SPDX-License-Identifier: BSD-2-Clause
"""Memory that goes with its context: it is no longer live, at once, and was freed by no call."""
import re

import pytest

from lib import exact
from lib.probe import TEXT
from lib.script import memory_script
from lib.steps import Steps

ALL = ["--top", "0"]
ENDS = {
    "destroy": ("context = made(driver.cuCtxCreate_v2, 0, 0)",
                "need(driver.cuCtxDestroy_v2(context))"),
    "reset": ("context = start()", "need(driver.cuDevicePrimaryCtxReset_v2(0))"),
    "release": ("context = start()", "need(driver.cuDevicePrimaryCtxRelease_v2(0))"),
    "runtime": ("need(runtime.cudaSetDevice(0))\nneed(runtime.cudaFree(0))",
                "need(runtime.cudaDeviceReset())"),
}
EVERYTHING = """
made(driver.cuMemAlloc_v2, 1000)
made(driver.cuMemAllocManaged, 2000, 1)
made(driver.cuMemHostAlloc, 3000, 0)
memory = ctypes.create_string_buffer(4000)
need(driver.cuMemHostRegister_v2(ctypes.addressof(memory), 4000, 0))
made(driver.cuArrayCreate_v2, array_descriptor(500, 0, BYTE, 1))
handle = exported(made(driver.cuMemAlloc_v2, 6000))
need(driver.cuIpcOpenMemHandle_v2(ref(out()), handle, 1))
made(driver.cuMemAllocAsync, 7000, 0)
create(GRAIN)
"""


@pytest.mark.parametrize("end", ENDS)
def test_kinds(gpuprobe_by, end):
    begin, finish = ENDS[end]
    body = "need(driver.cuInit(0))\n" + begin + EVERYTHING + finish
    result = gpuprobe_by.run(*memory_script(body), args=ALL)
    exact.check(result)
    memory = result.process["memory"]
    assert {kind: count for kind, (count, _) in exact.with_context(result.process).items()} == \
        {"device": 2, "managed": 1, "host": 1, "registered": 1, "array": 1, "imported": 1}
    # What is no context's stays.
    assert memory["live_at_exit_bytes"] == 7000 + (2 << 20)
    assert {a["kind"] for a in memory["live"]} == {"pool", "physical"}


def test_only_what_is_in_it(gpuprobe_by):
    """One of two contexts goes, at the second try; later objects of another context at the
    same handle stay."""
    result = gpuprobe_by.run(*memory_script("""
        need(driver.cuInit(0))
        one = made(driver.cuCtxCreate_v2, 0, 0)
        address = made(driver.cuMemAlloc_v2, 1000)
        two = made(driver.cuCtxCreate_v2, 0, 0)
        made(driver.cuMemAlloc_v2, 2000)
        assert driver.cuCtxDestroy_v2(one) == 999
        need(driver.cuMemFree_v2(address))
        need(driver.cuCtxSetCurrent(one))
        made(driver.cuMemAlloc_v2, 3000)
        need(driver.cuCtxDestroy_v2(one))
        three = made(driver.cuCtxCreate_v2, 0, 0)
        made(driver.cuMemAlloc_v2, 4000)
    """), args=ALL, env={"CUDA_SIM_FAIL": "cuCtxDestroy_v2:1=999"})
    exact.check(result)
    assert exact.with_context(result.process) == {"device": (1, 3000)}
    assert sorted(size for size, _ in exact.live(result.process).values()) == [2000, 4000]


def test_no_context_is_the_one_below(gpuprobe_by):
    """Making no context current pops the top of the thread's stack:
    the one below is current then."""
    result = gpuprobe_by.run(*memory_script("""
        need(driver.cuInit(0))
        lower = made(driver.cuCtxCreate_v2, 0, 0)
        upper = made(driver.cuCtxCreate_v2, 0, 0)
        need(driver.cuCtxSetCurrent(None))
        made(driver.cuMemAlloc_v2, 1000)
        need(driver.cuCtxPopCurrent_v2(ref(out())))
        need(driver.cuCtxSetCurrent(None))
        need(driver.cuCtxPushCurrent_v2(upper))
        made(driver.cuMemAlloc_v2, 2000)
        need(driver.cuCtxDestroy_v2(lower))
    """), args=ALL)
    exact.check(result)
    assert exact.with_context(result.process) == {"device": (1, 1000)}
    assert sorted(size for size, _ in exact.live(result.process).values()) == [2000]
    assert [(d["device"], d["allocations"], d["live_bytes"])
            for d in result.process["devices"]] == [(0, 2, 2000)]


def test_the_last_detaching_ends_it(gpuprobe_by):
    """What is attached to has a reference more; a detaching that fails leaves it."""
    result = gpuprobe_by.run(*memory_script("""
        need(driver.cuInit(0))
        lower = made(driver.cuCtxCreate_v2, 0, 0)
        context = made(driver.cuCtxCreate_v2, 0, 0)
        made(driver.cuMemAlloc_v2, 1000)
        address = made(driver.cuMemAlloc_v2, 2000)
        for _ in range(2):
            need(driver.cuCtxAttach(ref(out()), 0))
        need(driver.cuCtxDetach(context))
        assert driver.cuCtxDetach(context) == 999
        need(driver.cuCtxDetach(context))
        need(driver.cuMemFree_v2(address))
        need(driver.cuCtxDetach(context))
        made(driver.cuMemAlloc_v2, 3000)
    """), args=ALL, env={"CUDA_SIM_FAIL": "cuCtxDetach:2=999"})
    exact.check(result)
    assert exact.with_context(result.process) == {"device": (1, 1000)}
    assert sorted(size for size, _ in exact.live(result.process).values()) == [3000]


def test_addresses_come_again(gpuprobe_by):
    """At once, before anything has been cleared away; frees of memory that is gone are
    not known ones."""
    result = gpuprobe_by.run(*memory_script("""
        start()
        for turn in range(50):
            addresses = [made(driver.cuMemAlloc_v2, 5000) for _ in range(4)]
            need(driver.cuDevicePrimaryCtxReset_v2(0))
            assert driver.cuMemFree_v2(addresses[0]) != 0
    """), args=ALL)
    exact.check(result)
    memory = result.process["memory"]
    assert memory["device"]["with_context"] == 200 and memory["device"]["frees"] == 0
    assert memory["unknown"]["free_failures"] == 50 and memory["double_frees"] == 0


def test_live_memory_falls_at_the_next_report(gpuprobe_by, tmp_path):
    """Without any call that touches it, and though most reports go through no list."""
    go, end = tmp_path / "go", tmp_path / "end"
    with gpuprobe_by.start(*memory_script(f"""
        context = start()
        for number in range(300):
            made(driver.cuMemAlloc_v2, 1000)
        wait_for({str(go)!r})
        need(driver.cuDevicePrimaryCtxReset_v2(0))
        made(driver.cuMemAlloc_v2, 77)
        wait_for({str(end)!r})
    """), args=["--top", "5"]) as running:
        running.wait_for(lambda r: r["processes"] and
                         r["processes"][0]["memory"]["device"]["live_allocations"] == 300)
        go.touch()
        report = running.wait_for(
            lambda r: r["processes"][0]["memory"]["device"]["allocations"] == 301)
        report = running.report()
        device = report["processes"][0]["memory"]["device"]
        assert (device["live_allocations"], device["live_bytes"],
                device["with_context"]) == (1, 77, 300)
        assert report["processes"][0]["devices"][0]["live_bytes"] == 77
        assert list(exact.live(report["processes"][0]).values()) == [(77, "device")]
        # It stays so: what has been cleared away is remembered.
        for _ in range(3):
            device = running.report()["processes"][0]["memory"]["device"]
            assert (device["live_allocations"], device["with_context"]) == (1, 300)
        end.touch()
        result = running.finish()
    exact.check(result)


def test_the_map_has_room_again(gpuprobe):
    """What is gone does not fill the table of allocations for ever."""
    with Steps(gpuprobe, """
        start()
        for turn in range(10):
            for number in range(100):
                made(driver.cuMemAlloc_v2, 1000 + number + 100 * turn)
            need(driver.cuDevicePrimaryCtxReset_v2(0))
            step()
    """, args=["--max-allocations", "128"]) as steps:
        for turn in range(1, 11):
            steps.running.wait_for(
                lambda r: r["processes"]
                and r["processes"][0]["memory"]["device"]["with_context"] == 100 * turn)
            steps.go_on()
        result = steps.running.finish()
    exact.check(result)
    assert result.last_seen(result.truth.pid)["memory"]["device"]["with_context"] == 1000


def test_at_exit(gpuprobe):
    """A process that ends has ended its memory by that: it is live at exit."""
    result = gpuprobe.run(*memory_script("""
        context = start()
        made(driver.cuMemAlloc_v2, 1000)
    """), args=ALL)
    exact.check(result)
    assert result.process["memory"]["live_at_exit_bytes"] == 1000


def test_text(gpuprobe):
    result = gpuprobe.run(*memory_script("""
        start()
        made(driver.cuMemAlloc_v2, 1000)
        made(driver.cuMemHostAlloc, 500, 0)
        need(driver.cuDevicePrimaryCtxReset_v2(0))
    """), base=TEXT)
    assert re.search(r"""
        total: 0 Bytes in 0 allocations
        host: 0 Bytes in 0 allocations \(1 allocated, 0 freed, 1 gone with their context\)
        gone with their context: 1000 Bytes in 1 allocation
""", result.stdout), result.stdout
