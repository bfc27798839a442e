# SPDX-License-Identifier: BSD-2-Clause
"""Allocations, frees and what is live: exact, whatever fails, races or is killed."""
import re
import signal
import subprocess

import pytest

from lib import exact
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.probe import TEXT, Background, wait_for_file
from lib.script import clocked, script
from lib.steps import Steps

ALL = ["--top", "0"]  # whole lists
KINDS = ("device", "managed", "pool", "host", "pitch")


def check(result, api="auto"):
    """Numbers, and the list of what was live at the end, address by address."""
    exact.check(result, api)
    for truth in result.truths:
        if not truth.idle:
            process = result.process_of(truth.pid)
            assert exact.live(process) == truth.live()
            assert process["memory"]["live_at_exit_allocations"] == len(truth.live())
            assert process["memory"]["live_at_exit_bytes"] == sum(
                size for size, _ in truth.live().values())


@pytest.mark.parametrize("layer", ["driver", "runtime"])
@pytest.mark.parametrize("kind", KINDS)
def test_kinds(gpuprobe, kind, layer):
    result = gpuprobe.run(workload("memory"), "--kind", kind, "--api", layer, "--threads", 3,
                          "--pairs", 50, "--keep", 4, "--size", 100000, "--random-sizes", args=ALL)
    check(result)
    totals = result.process["memory"]["device" if kind == "pitch" else kind]
    assert (totals["allocations"], totals["frees"], totals["live_allocations"]) == (162, 150, 12)


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_on_each_path(gpuprobe_by, kind):
    check(gpuprobe_by.run(workload("memory"), "--kind", kind, "--threads", 2, "--pairs", 20,
                          "--keep", 2, "--random-sizes", args=ALL))


@pytest.mark.parametrize("api", ["driver", "runtime", "both"])
def test_layers(gpuprobe, api):
    check(gpuprobe.run(workload("memory"), "--threads", 2,
                       "--pairs", 30, "--keep", 3, "--fail-frees", 4,
                       args=[*ALL, "--api", api], env={"CUDA_SIM_FAIL": "cuMemAlloc_v2:%5"}), api)


def test_every_symbol_that_allocates(gpuprobe_by):
    """Each exported form, and frees of one kind's memory by another's function."""
    result = gpuprobe_by.run(*script("""
        start()
        context = made(driver.cuCtxGetCurrent)
        keep = []
        keep.append(made(driver.cuMemAlloc_v2, 1000))
        pitch = out()
        keep.append(made(driver.cuMemAllocPitch_v2, ref(pitch), 1000, 3, 4))
        keep.append(made(driver.cuMemAllocManaged, 2000, 1))
        pool = made(driver.cuDeviceGetDefaultMemPool, 0)
        for form in ("", "_ptsz"):
            keep.append(made(getattr(driver, "cuMemAllocAsync" + form), 3000, 0))
            keep.append(made(getattr(driver, "cuMemAllocFromPoolAsync" + form), 4000, pool, 0))
            need(getattr(driver, "cuMemFreeAsync" + form)(made(driver.cuMemAllocAsync, 5000, 0), 0))
        need(driver.cuMemFree_v2(made(driver.cuMemAllocAsync, 6000, 0)))
        for function, arguments in ((driver.cuMemHostAlloc, (700, 0)),
                                    (driver.cuMemAllocHost_v2, (800,))):
            made(function, *arguments)
            need(driver.cuMemFreeHost(made(function, *arguments)))
        made(runtime.cudaMalloc, 1100)
        made(runtime.cudaMallocManaged, 1200, 1)
        made(runtime.cudaMallocPitch, ref(pitch), 1300, 2)
        made(runtime.cudaHostAlloc, 1400, 0)
        made(runtime.cudaMallocHost, 1500)
        for form in ("", "_ptsz"):
            made(getattr(runtime, "cudaMallocAsync" + form), 1600, 0)
            made(getattr(runtime, "cudaMallocFromPoolAsync" + form), 1700, pool, 0)
            need(getattr(runtime, "cudaFreeAsync" + form)(
                made(runtime.cudaMallocAsync, 1800, 0), 0))
        need(runtime.cudaFree(made(runtime.cudaMallocAsync, 1900, 0)))
        need(runtime.cudaFree(made(runtime.cudaMallocManaged, 1950, 1)))
        need(runtime.cudaFreeHost(made(runtime.cudaHostAlloc, 1960, 0)))
    """), args=ALL)
    check(result)
    assert exact.memory(result.process)["pool"]["frees"] == 6


def test_failing_allocations(gpuprobe_by):
    check(gpuprobe_by.run(workload("memory"), "--threads", 4, "--pairs", 50, "--keep", 5, args=ALL,
                          env={"CUDA_SIM_FAIL": "cuMemAlloc_v2:%7"}))


def test_failures_that_never_reach_the_driver(gpuprobe_by):
    result = gpuprobe_by.run(workload("memory"), "--threads", 2, "--pairs", 50, args=ALL,
                             env={"CUDA_SIM_FAIL": "cudaMalloc:%5,cudaFree:%4"})
    check(result)
    assert exact.errors(result.process) == {("runtime", "cudaMalloc", 2): 20,
                                            ("runtime", "cudaFree", 1): 20}


def test_memory_runs_out(gpuprobe):
    result = gpuprobe.run(workload("memory"), "--pairs", 3, "--keep", 20, "--size", 1 << 20,
                          args=ALL, env={"CUDA_SIM_MEMORY": "12M"})
    check(result)
    assert result.process["memory"]["device"]["live_bytes"] == 12 << 20
    assert exact.errors(result.process) == {("runtime", "cudaMalloc", 2): 8 + 3}


def test_failing_frees_are_put_back(gpuprobe_by):
    result = gpuprobe_by.run(workload("memory"), "--threads", 1, "--pairs", 60, "--keep", 2,
                             "--random-sizes", args=ALL, env={"CUDA_SIM_FAIL": "cuMemFree_v2:%3"})
    check(result)
    assert result.process["memory"]["device"]["live_allocations"] == 22
    assert exact.memory_sum(result.process, "free_failures") == 20


@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_frees_that_are_wrong(gpuprobe_by, layer):
    result = gpuprobe_by.run(workload("memory"), "--api", layer, "--pairs", 10, "--keep", 1,
                             "--fail-frees", 7, "--double-free", 5, "--null-frees", 9, args=ALL)
    check(result)
    assert exact.memory_sum(result.process, "free_failures") == 12
    assert exact.memory_sum(result.process, "unknown_frees") == 0


def test_allocations_of_nothing(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        for _ in range(3):
            assert made(runtime.cudaMalloc, 0) == 0
        for _ in range(2):
            assert driver.cuMemAlloc_v2(ref(out()), 0) == 1
        need(runtime.cudaFree(0))
        need(driver.cuMemFree_v2(0))
    """))
    memory = result.process["memory"]
    assert memory["device"] == {**memory["device"], "allocations": 3, "allocation_failures": 2,
                                "frees": 0, "free_failures": 0, "live_bytes": 0,
                                "live_allocations": 0}
    assert memory["live"] == [] and memory["unknown"]["frees"] == 0
    assert exact.errors(result.process) == {("driver", "cuMemAlloc_v2", 1): 2}
    assert exact.lost(result.final) == {}


def test_addresses_reused_at_once(gpuprobe_by):
    """The simulator hands the last freed address out first, to whichever thread comes."""
    result = gpuprobe_by.run(workload("memory"), "--api", "driver", "--threads", 8, "--pairs",
                             25000, "--keep", 3, args=ALL)
    check(result)
    assert exact.memory(result.process)["device"] == {"allocations": 200024, "frees": 200000,
                                                      "live_allocations": 24,
                                                      "live_bytes": 24 * 4096}
    assert exact.memory_sum(result.process, "unknown_frees") == 0


def test_memory_of_another_thread(gpuprobe):
    """One thread allocates, another frees."""
    check(gpuprobe.run(*script("""
        import queue, threading
        context = start()
        addresses = queue.Queue()

        def free():
            need(driver.cuCtxSetCurrent(context))
            while (address := addresses.get()) is not None:
                need(driver.cuMemFree_v2(address))

        threads = [threading.Thread(target=free) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(2000):
            addresses.put(made(driver.cuMemAlloc_v2, 64 + number))
        for _ in threads:
            addresses.put(None)
        for thread in threads:
            thread.join()
        made(driver.cuMemAlloc_v2, 123)
    """), args=ALL))


def test_text(gpuprobe):
    result = gpuprobe.run(workload("memory"), "--pairs", 2, "--keep", 2, "--size", 5000, base=TEXT,
                          env={"CUDA_SIM_FAIL": "cudaMalloc:1"})
    pid, (address,) = result.truth.pid, result.truth.live()
    assert re.search(rf"""
num_successful_mallocs:  3
num_failed_mallocs:      1
num_successful_frees:    2
num_failed_frees:        0
live: 0 Bytes in 0 allocations
live at exit: 5000 Bytes in 1 allocation
per-process memory maps:
process {pid} \(memory\) ended
        0x{address:016x}: 5000 Bytes live at exit
        0x[0-9a-f]{{16}}: 0 Bytes
        .*total: 5000 Bytes in 1 allocation live at exit
""", result.stdout, re.DOTALL), result.stdout
    assert "\nerrors:\n" f"process {pid} (memory) ended\n" \
           "        cudaMalloc: cudaErrorMemoryAllocation (2) x 1, at " in result.stdout


def test_text_of_host_memory(gpuprobe):
    result = gpuprobe.run(workload("memory"), "--kind", "host", "--pairs", 2, "--keep", 3, "--size",
                          1000, base=TEXT)
    assert "num_successful_mallocs:  0\n" in result.stdout
    assert ("        total: 0 Bytes in 0 allocations\n"
            "        host: 3000 Bytes in 3 allocations live at exit (5 allocated, 2 freed)\n"
            in result.stdout)
    assert "more allocation" not in result.stdout


def test_long_lists_are_cut_to_the_largest(gpuprobe):
    result = gpuprobe.run(workload("memory"), "--pairs", 0, "--keep", 50, "--random-sizes",
                          base=TEXT, args=["--top", "5"])
    sizes = sorted((size for size, _ in result.truth.live().values()), reverse=True)
    shown = [int(size) for size in re.findall(r"0x[0-9a-f]{16}: (\d+) Bytes live at exit\n",
                                              result.stdout)]
    assert shown == sizes[:5]
    assert f"        ... and 45 more allocations ({sum(sizes[5:])} Bytes)\n" in result.stdout
    assert f"        total: {sum(sizes)} Bytes in 50 allocations live at exit\n" in result.stdout


def test_killed_with_live_memory(gpuprobe_by):
    with gpuprobe_by.start(workload("idle-holder"), "--count", 5, "--bytes", 7000, "--launch", 3,
                           args=ALL) as running:
        # A report is read while the program goes on: it may have the launches but not
        # yet the memory, or its amount but not the allocations.
        report = running.wait_for(lambda r: r["processes"] and r["processes"][0]["launches"] == 3
                                  and r["processes"][0]["memory"]["device"]["live_bytes"] == 35000
                                  and len(exact.live(r["processes"][0])) == 5)
        process = report["processes"][0]
        assert not process["ended"]
        subprocess.run(["kill", "-KILL", str(process["pid"])], check=True)
        result = running.finish()
    assert result.status == 128 + signal.SIGKILL
    assert result.process["ended"]
    assert result.process["memory"]["live_at_exit_bytes"] == 35000
    assert result.process["memory"]["live_at_exit_allocations"] == 5
    assert exact.live(result.process) == exact.live(process)
    assert exact.launches(result.process) == {"holder_kernel_0": 3}
    assert result.final["totals"]["live_at_exit_bytes"] == 35000
    assert result.final["totals"]["device_memory"]["live_bytes"] == 0


def test_process_that_was_there_before(gpuprobe_by):
    """What it does from now on is exact, and it is marked."""
    with Background(workload("idle-holder"), "--count", 4, "--then-launch", 250) as holder:
        assert holder.stdout.readline() == "READY\n"
        with gpuprobe_by.start(args=["-p", str(holder.pid)]) as running:
            running.report()
            for _ in range(2):
                assert holder.tell("go") == "DONE"
            report = running.wait_for(
                lambda r: r["processes"] and r["processes"][0]["launches"] == 500)
            process = report["processes"][0]
            assert process["since_attach"] is True and process["pid"] == holder.pid
            # The handle has been given out long before: its name is read through it.
            assert exact.launches(process) == {"holder_kernel_0": 500}
            assert exact.memory(process) == {}
            holder.kill()
            holder.wait(10)
            result = running.stop()
    assert result.status == 0
    assert result.process["since_attach"] is True and result.process["ended"]
    assert exact.lost(result.final) == {}


def test_frees_of_what_was_there_before(gpuprobe, tmp_path):
    """They are counted, told to be of unknown addresses, and do not make live memory negative."""
    ready, go, done, end = (tmp_path / name for name in ("ready", "go", "done", "end"))
    program = script(f"""
        start()
        old = [made(driver.cuMemAlloc_v2, 1000) for _ in range(6)]
        touch({str(ready)!r})
        wait_for({str(go)!r})
        for address in old[:4]:
            need(driver.cuMemFree_v2(address))
        new = [made(driver.cuMemAlloc_v2, 2000) for _ in range(3)]
        need(driver.cuMemFree_v2(new[0]))
        touch({str(done)!r})
        wait_for({str(end)!r})
    """)
    with Background(*program) as holder:
        wait_for_file(ready)
        with gpuprobe.start(args=["-p", str(holder.pid), *ALL]) as running:
            running.report()
            go.touch()
            report = running.wait_for(lambda r: done.exists() and r["processes"] and
                                      exact.memory_sum(r["processes"][0], "frees") == 5)
            process = report["processes"][0]
            assert process["since_attach"] is True
            assert exact.memory(process) == {
                "device": {"allocations": 3, "frees": 1, "live_bytes": 4000, "live_allocations": 2},
                "unknown": {"allocations": 0, "frees": 4, "live_bytes": 0, "live_allocations": 0}}
            assert process["memory"]["unknown"]["unknown_frees"] == 4
            end.touch()
            holder.wait(10)
            running.stop()


def test_too_many_for_the_map(gpuprobe_by):
    """Beyond --max-allocations the calls still count; what could not be kept is told."""
    result = gpuprobe_by.run(workload("memory"), "--pairs", 20, "--keep", 100, "--size", 1000,
                             args=[*ALL, "--max-allocations", "64"])
    memory, live = result.process["memory"], result.truth.live()
    assert exact.lost(result.final) == {"allocation_map_full": 36 + 20}
    assert memory["device"]["allocations"] == 120
    # The 20 that were freed again had no room: nobody knows what they freed.
    assert exact.memory_sum(result.process, "frees") == 20
    assert memory["unknown"]["unknown_frees"] == 20
    assert memory["device"]["live_allocations"] == 64 == len(memory["live"])
    assert memory["device"]["live_bytes"] == 64000
    assert exact.live(result.process).items() <= live.items()


def test_allocation_seconds(gpuprobe_by):
    """The time inside the outermost calls: no less than the simulator took,
    no more than the program measured."""
    result = gpuprobe_by.run(*script("""
        import threading
        def work():
            for _ in range(100):
                with clocked("allocations"):
                    address = made(runtime.cudaMalloc, 4096)
                need(runtime.cudaFree(address))
        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """), env={"CUDA_SIM_LATENCY": "cuMemAlloc_v2=400us"})
    exact.check(result)
    true = result.truth.ns("cudaMalloc")
    assert true >= 200 * 400_000
    assert (true <= result.process["memory"]["device"]["allocation_ns"]
            <= clocked(result)["allocations"])


def test_freed_addresses_are_shown_once(gpuprobe, tmp_path):
    go, end = tmp_path / "go", tmp_path / "end"
    with gpuprobe.start(*script(f"""
        start()
        addresses = [made(driver.cuMemAlloc_v2, 1000 + n) for n in range(3)]
        wait_for({str(go)!r})
        need(driver.cuMemFree_v2(addresses[1]))
        need(driver.cuMemFree_v2(addresses[2]))
        again = made(driver.cuMemAlloc_v2, 900)
        assert again == addresses[2]
        need(driver.cuMemFree_v2(again))
        wait_for({str(end)!r})
    """), args=ALL) as running:
        report = running.wait_for(
            lambda r: r["processes"] and len(r["processes"][0]["memory"]["live"]) == 3)
        before = exact.live(report["processes"][0])
        assert report["processes"][0]["memory"]["freed"] == []
        go.touch()
        freed = []
        first = min(before, key=lambda address: before[address])
        # A reading between the end of a call and its count may have one and not the other.
        report = running.wait_for(lambda r: freed.extend(r["processes"][0]["memory"]["freed"]) or
                                  exact.memory_sum(r["processes"][0], "frees") == 3 and
                                  {int(f["address"], 16) for f in freed} == before.keys() - {first})
        for _ in range(2):
            report = running.report()
            assert report["processes"][0]["memory"]["freed"] == []
        assert exact.live(report["processes"][0]) == {first: (1000, "device")}
        end.touch()
        running.finish()


def test_libraries_given_by_option_are_attached_once(gpuprobe):
    check(gpuprobe.run(workload("memory"), "--pairs", 10, "--keep", 1, args=ALL,
                       libraries=[LIBCUDA, LIBCUDART]))


def test_largest_of_many(gpuprobe):
    """So many that reports gather the list in steps; the largest are in it, by the truth."""
    with Steps(gpuprobe, """
        import random
        start()
        numbers = random.Random(1)
        for _ in range(100):
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, numbers.randrange(1, 1 << 20))))
        for _ in range(40000):
            made(driver.cuMemAlloc_v2, numbers.randrange(1, 1 << 20))
        step()
    """, interval=0.2) as steps:
        reports = [steps.running.wait_for(
            lambda r: r["processes"]
            and r["processes"][0]["memory"]["device"]["live_allocations"] == 40000)]
        # A report has the last gathered list, which on a busy machine may be an earlier one.
        while (len(reports) < 4 or len({str(report["processes"][0]["memory"]["live"])
                                        for report in reports[-3:]}) > 1):
            reports.append(steps.running.report())
        steps.go_on()
        result = steps.running.finish()
    sizes = sorted((size for size, _ in result.truth.live().values()), reverse=True)
    for report in reports[-3:]:
        process = report["processes"][0]
        assert [a["bytes"] for a in process["memory"]["live"]] == sizes[:20]
        assert exact.live(process).items() <= result.truth.live().items()


def test_largest_while_they_change(gpuprobe):
    """Memory freed between the gathering and the report is not reported as live:
    no address twice, no list too long."""
    with gpuprobe.start(workload("memory"), "--threads", 2, "--pairs", 300000, "--keep", 20000,
                        "--size", "1M", "--random-sizes", interval=0.05) as running:
        result = running.finish(60)
    check_live = [report["processes"][0] for report in result.reports if report["processes"]]
    for process in check_live:
        assert len(exact.live(process)) <= 20
    exact.check(result)
