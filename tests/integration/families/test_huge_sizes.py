# SPDX-License-Identifier: BSD-2-Clause
"""Sizes near 2^64, as a program may claim them: sums are exact if they fit,
else the largest number, and never go back."""
import subprocess

import pytest

from lib import exact
from lib.paths import TESTS
from lib.scrape import Endpoint
from lib.steps import Steps

MOST = (1 << 64) - 1
LIVE_AT_EXIT = ("gpuprobe_live_at_exit_bytes_total", frozenset())
Q = 1 << 62


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """programs/huge_cuda.c"""
    path = tmp_path_factory.mktemp("huge_cuda") / "libcuda.so.1"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-Wl,-soname,libcuda.so.1",
                    "-o", path, TESTS / "programs" / "huge_cuda.c"], check=True)
    return path


class Huge(Steps):
    """A script with `driver`, which succeeds whatever it is asked for."""

    PRELUDE = """
driver = Library({library!r})
Q = 1 << 62
def take(function, size, *rest):
    return made(getattr(driver, function), size, *rest)
"""

    def __init__(self, probe, library, body, **options):
        super().__init__(probe, self.PRELUDE.replace("{library!r}", repr(str(library))), body,
                         "step()", **options)

    def shows(self, condition):
        """The process of the first report that meets the condition, which then goes on."""
        report = self.running.wait_for(lambda r: r["processes"] and condition(r["processes"][0]))
        self.go_on()
        return report["processes"][0]


def live(process, kind):
    memory = process["memory"].get(kind, {"live_bytes": 0})
    return memory["live_bytes"]


def device_live(process):
    return sum(device["live_bytes"] for device in process["devices"])


KINDS = {"device": ("cuMemAlloc_v2", "", "cuMemFree_v2(at)"),
         "managed": ("cuMemAllocManaged", ", 1", "cuMemFree_v2(at)"),
         "host": ("cuMemAllocHost_v2", "", "cuMemFreeHost(at)"),
         "pool": ("cuMemAllocFromPoolAsync", ", 0x1000, 0", "cuMemFreeAsync(at, 0)")}


@pytest.mark.parametrize("kind", KINDS)
def test_live_memory(gpuprobe, library, kind):
    """Eight quarters of 2^64 are freed one by one, and the last three are exact;
    a thread's counters and the map's add up."""
    function, rest, free = KINDS[kind]
    with Huge(gpuprobe, library, f"""
        import threading
        blocks = [take("{function}", Q{rest}) for _ in range(3)]
        step()
        blocks.append(take("{function}", Q{rest}))
        thread = threading.Thread(target=lambda: blocks.extend(
            take("{function}", Q - 1{rest}) for _ in range(4)))
        thread.start()
        thread.join()
        take("{function}", 77{rest})
        step()
        for at in blocks[3:]:
            driver.{free}
        step()
        for at in blocks[1:3]:
            driver.{free}
        """) as steps:
        assert live(steps.shows(lambda p: live(p, kind)), kind) == 3 * Q
        process = steps.shows(lambda p: p["memory"][kind]["live_allocations"] == 9)
        assert live(process, kind) == MOST
        if kind == "pool":
            assert process["memory"]["pools"][0]["used_bytes"] == MOST
        process = steps.shows(lambda p: p["memory"][kind]["live_allocations"] == 4)
        assert live(process, kind) == 3 * Q + 77
        if kind != "host":
            assert device_live(process) == 3 * Q + 77
        if kind == "pool":
            assert process["memory"]["pools"][0]["used_bytes"] == 3 * Q + 77
        process = steps.shows(lambda p: p["memory"][kind]["live_allocations"] == 2)
        assert live(process, kind) == Q + 77
        result = steps.running.finish()
    final, = result.processes
    assert final["memory"]["live_at_exit_bytes"] == (0 if kind == "host" else Q + 77)


def test_virtual_memory(gpuprobe, library):
    with Huge(gpuprobe, library, """
        ranges = [take("cuMemAddressReserve", 2 * Q, 0, 0, 0) for _ in range(3)]
        handles = [take("cuMemCreate", Q, None, 0) for _ in range(5)]
        for at, handle in zip(ranges, handles):
            need(driver.cuMemMap(at, 2 * Q, 0, handle, 0))
        step()
        need(driver.cuMemUnmap(ranges[0], 2 * Q))
        need(driver.cuMemUnmap(ranges[1], 2 * Q))
        """) as steps:
        process = steps.shows(
            lambda p: "mapped" in p["memory"] and p["memory"]["mapped"]["live_allocations"] == 3)
        assert [live(process, kind)
                for kind in ("reserved", "physical", "mapped")] == [MOST, MOST, MOST]
        process = steps.shows(lambda p: p["memory"]["mapped"]["live_allocations"] == 1)
        assert live(process, "mapped") == 2 * Q
        steps.running.finish()


COPIES = """
        host = ctypes.create_string_buffer(8)
        def copies():
            for _ in range(3):
                driver.cuMemcpyHtoD_v2(0x1000, host, 2 * Q)
                driver.cuMemcpyHtoDAsync_v2(0x1000, host, 2 * Q - 1, 0x2000)
                driver.cuMemsetD32_v2(0x1000, 0, Q)
                driver.cuMemsetD2D8_v2(0x1000, 0, 0, 1 << 40, 1 << 40)
"""


def test_copies(gpuprobe, library):
    """Sums, products of width and height, and what is in flight."""
    with Huge(gpuprobe, library, COPIES + """
        driver.cuMemcpyHtoD_v2(0x1000, host, 2 * Q)
        driver.cuMemsetD32_v2(0x1000, 0, Q >> 3)
        step()
        copies()
        step()
        copies()
        """) as steps:
        process = steps.shows(lambda p: len(exact.copies(p)) == 2)
        assert exact.copies(process) == {("H2D", "sync"): (1, 2 * Q), ("set", "sync"): (1, Q >> 1)}
        for times in (1, 2):
            process = steps.shows(
                lambda p, times=times: exact.copies(p)["set", "sync"][0] == 1 + 6 * times)
            assert exact.copies(process) == {("H2D", "sync"): (1 + 3 * times, MOST),
                                             ("H2D", "async"): (3 * times, MOST),
                                             ("set", "sync"): (1 + 6 * times, MOST)}
            assert exact.in_flight(process) == {"H2D": (3 * times, MOST)}
            assert sum(device["copy_bytes"] for device in process["devices"]) >= MOST
        steps.running.finish()


def test_a_call_site(gpuprobe, library):
    """One call site, one size."""
    body = COPIES + """
        for _ in range(5):
            take("cuMemAlloc_v2", Q)
        copies()
        """
    with Huge(gpuprobe, library, body, args=["--stack", "fp"]) as steps:
        process = steps.shows(
            lambda p: p["copies"] and exact.copies(p).get(("set", "sync"), (0,))[0] == 6)
        allocated = [site for site in process["call_sites"]["calls"] if "bytes" in site]
        assert [(site["calls"], site["bytes"]) for site in allocated] == [(5, MOST)]
        steps.running.finish()


def test_counters_never_go_back(gpuprobe, library):
    """Over processes that end one after the other with as much, and over each one's own calls."""
    endpoint = Endpoint()
    body = """
        def run():
            pid = os.fork()
            if not pid:
                for _ in range(3):
                    take("cuMemAlloc_v2", Q // 2)
                    driver.cuMemcpyHtoD_v2(0x1000, None, Q)
                os._exit(0)
            os.waitpid(pid, 0)
        for _ in range(3):
            run()
            step()
        """
    with Huge(gpuprobe, library, body, base=["--json", *endpoint.option]) as steps:
        before = {}
        for ended in (1, 2, 3):
            for _ in range(100):
                steps.later_report()
                counters = endpoint.scrape().counters()
                assert {key: value for key, value in before.items()
                        if counters.get(key, value) < value} == {}
                before = counters
                if before.get(LIVE_AT_EXIT) == float(min(ended * 3 * Q // 2, MOST)):
                    break
            else:
                pytest.fail(f"{LIVE_AT_EXIT}: {before.get(LIVE_AT_EXIT)}")
            steps.go_on()
        steps.go_on()
        steps.running.finish()
