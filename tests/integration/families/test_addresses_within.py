# SPDX-License-Identifier: BSD-2-Clause
"""Addresses in the middle of an allocation are recognised, also in memory allocated before the
first of them came up."""
from lib import exact
from lib.script import memory_script

ALL = ["--top", "0"]


def test_older_memory(gpuprobe_by, tmp_path):
    """The first copy by unified addresses asks for them;
    at the next reading live memory becomes known, and from then on new memory."""
    go, end = tmp_path / "go", tmp_path / "end"
    with gpuprobe_by.start(*memory_script(f"""
        start()
        old = [made(driver.cuMemAlloc_v2, 100000 + 1000 * n) for n in range(40)]
        base, handle = reserve(4 * GRAIN), create(2 * GRAIN)
        need(driver.cuMemMap(base, 2 * GRAIN, 0, handle, 0))
        need(driver.cuMemSetAccess(base, 2 * GRAIN, packed("=III", 1, 0, 3), 1))
        need(driver.cuMemcpy(old[0] + 500, old[1] + 500, 1))
        wait_for({str(go)!r})
        new = made(driver.cuMemAllocManaged, 50000, 1)
        for n, address in enumerate(old[1:]):
            need(driver.cuMemcpy(address + 99999, old[n] + 10, 1000 - 900))
        need(driver.cuMemcpy(new + 4999, base + GRAIN + 3, 7))
        for address in old:
            need(driver.cuMemFree_v2(address))
        # The same addresses are the host's next, pinned, and not the device's any more.
        pinned = made(driver.cuMemHostAlloc, 70000, 0)
        need(driver.cuMemcpy(pinned + 60000, new + 1, 11))
        wait_for({str(end)!r})
    """), args=ALL) as running:
        running.wait_for(lambda r: r["processes"] and exact.copies(r["processes"][0]))
        for _ in range(2):
            running.report()
        go.touch()
        report = running.wait_for(
            lambda r: sum(c[0] for c in exact.copies(r["processes"][0]).values()) == 42)
        end.touch()
        result = running.finish()
    assert exact.lost(result.final) == {}
    assert exact.copies(report["processes"][0]) == {
        ("unknown", "sync"): (1, 1), ("D2D", "sync"): (40, 39 * 100 + 7), ("D2H", "sync"): (1, 11)}
    assert result.last_seen(result.truth.pid)["memory"]["device"]["live_allocations"] == 0
