# SPDX-License-Identifier: BSD-2-Clause
"""The account of `gpuprobe stat` against the truth: calls and errors of each function exactly, the
time inside them, by function and by class; how long calls take; threads that come and go; and that
the monitor's numbers are the same."""
import json
import subprocess
from collections import Counter

import pytest

from lib import exact
from lib.paths import ROOT, SIM, workload
from lib.profile import CLASSES, OPERATIONS, seen_functions, true_functions
from lib.script import PROGRAMS, script
from lib.truth import CALLERS
from lib.undisturbed import undisturbed

STAT = ["stat", "--json"]


def true_classes(truth):
    """class -> calls, of a program of the driver alone: none is inside another."""
    sums = Counter()
    for function, counts in truth._counts("driver", OPERATIONS):
        sums[CLASSES.get(function.operation, "other")] += counts["calls"]
    return +sums


def check_functions(process, truth, mode="auto"):
    true, seen = true_functions(truth, mode), seen_functions(process)
    assert {name: (seen.get(name), counts) for name, counts in true.items()
            if seen.get(name) != counts} == {}
    assert seen.keys() <= true.keys()


def check_classes(process, truth):
    """All threads together, and those told one by one with those that are only summed up."""
    true, together = true_classes(truth), process["all_threads"]
    assert {name: time["calls"] for name, time in together["time"].items() if time["calls"]} == true
    for name, time in together["time"].items():
        parts = [t["time"][name]
                 for t in process["threads"]] + [process["unlisted_threads"]["time"][name]]
        assert (time["calls"], time["ns"]) == (sum(p["calls"] for p in parts),
                                               sum(p["ns"] for p in parts))
    assert together["count"] == len(process["threads"]) + process["unlisted_threads"]["count"]
    # Of one process's functions no call was inside another: the time is the same.
    assert together["inside_ns"] == sum(f["total_ns"] for f in process["functions"])


def check(result, mode="auto"):
    """The only process; the process."""
    assert exact.lost(result.final) == {}
    check_functions(result.process, result.truth, mode)
    return result.process


@pytest.fixture(scope="module")
def threads(tmp_path_factory):
    """programs/threads.c"""
    program = tmp_path_factory.mktemp("threads") / "threads"
    subprocess.run(["cc", "-O2", "-pthread", f"-I{ROOT}/sim/include", "-o", program,
                    PROGRAMS / "threads.c", f"-L{SIM}", "-l:libcuda.so.1", f"-Wl,-rpath,{SIM}"],
                   check=True)
    return program


@pytest.mark.parametrize("count", [1, 16])
def test_launches(gpuprobe_by, count):
    result = gpuprobe_by.run(workload("launch"), "--threads", count, "--launches", 20_000 // count,
                             "--kernels", 200, "--api", "driver", base=STAT)
    process = check(result, "driver")
    check_classes(process, result.truth)
    assert exact.launches(process) == result.truth.launches("driver")
    assert sum(t["launches"] for t in process["threads"]) == 20_000 // count * count
    assert all(t["gap_count"] == t["launches"] - 1 for t in process["threads"] if t["launches"])


@pytest.mark.parametrize("count", [1, 16])
def test_time(gpuprobe, count):
    """Calls that last: what the probes add to each does not count for much."""
    command = undisturbed(workload("memory"), "--threads", count, "--pairs", 200, "--api", "driver")
    result = gpuprobe.run(*command, base=STAT,
                          env={"CUDA_SIM_LATENCY": "cuMemAlloc_v2=2ms,cuMemFree_v2=1ms"})
    process = check(result, "driver")
    check_classes(process, result.truth)
    for function in process["functions"]:
        if function["function"] in ("cuMemAlloc_v2", "cuMemFree_v2"):
            assert function["total_ns"] == pytest.approx(result.truth.ns(function["function"]),
                                                         rel=0.03)
    assert process["all_threads"]["time"]["memory"]["ns"] == pytest.approx(
        result.truth.ns("cuMemAlloc_v2") + result.truth.ns("cuMemFree_v2"), rel=0.03)


@pytest.mark.waits("its calls sleep, for four seconds")
def test_percentiles(gpuprobe):
    """Each call lasts no less than the requested wait and no longer than its caller measures, which
    may wait for a CPU around it. One call in twenty takes ten times as long; one in all;
    each another time."""
    result = gpuprobe.run(*script("""
        import json
        start()
        device = made(driver.cuMemAlloc_v2, 1 << 20)
        host = (ctypes.c_char * (1 << 20))()
        times = {}

        def call(name, *arguments):
            began = time.perf_counter_ns()
            need(getattr(driver, name)(*arguments))
            size = arguments[-1]
            times.setdefault(name, []).append((time.perf_counter_ns() - began, size))

        for n in range(200):
            call("cuMemcpyHtoD_v2", device, host, 1000000 if n % 20 == 7 else 100000)
            call("cuMemcpyDtoH_v2", host, device, 300000 if n == 100 else 20000)
            call("cuMemsetD8_v2", device, 0, 50000 + 1000 * n)
        print(json.dumps(times))
    """), base=STAT, env={"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=1ns+40ns/B,"
                                           "cuMemcpyDtoH_v2=1ns+100ns/B,"
                                              "cuMemsetD8_v2=1ns+40ns/B"})
    process = check(result)
    byte_ns = {"cuMemcpyHtoD_v2": 40, "cuMemcpyDtoH_v2": 100, "cuMemsetD8_v2": 40}
    seen = {function["function"]: function for function in process["functions"]}
    for name, calls in json.loads(result.stdout.splitlines()[0]).items():
        per_byte = byte_ns.pop(name)
        least = sorted(per_byte * size for _, size in calls)
        most = sorted(ns for ns, _ in calls)
        function = seen[name]
        for share in (50, 99):
            place = -(-len(calls) * share // 100) - 1  # the nearest rank
            # Percentiles are told to 5 %.
            assert 0.95 * least[place] <= function[f"p{share}_ns"] <= 1.05 * most[place]
        assert least[-1] <= function["max_ns"] <= most[-1]
        assert sum(least) <= function["total_ns"] <= sum(most)
    assert not byte_ns


def test_both_layers(gpuprobe):
    """A driver call that the runtime made is a call of its own, unless it is the same act,
    and in no class."""
    result = gpuprobe.run(workload("demo"), "--seconds", 1, args=["--api", "both"], base=STAT)
    process = result.process
    runtime = {name: counts for name, counts in true_functions(result.truth, "both").items()
               if name[0] == "runtime"}
    seen = seen_functions(process)
    assert {name: seen.get(name) for name in runtime} == runtime
    assert seen.get(("driver", "cuMemAlloc_v2")) is None  # cudaMalloc's own
    assert process["all_threads"]["time"]["launch"]["calls"] == sum(
        calls for (layer, name), (calls, _) in runtime.items() if name.startswith("cudaLaunch"))


def check_mix(gpuprobe, seed, mix=(), env=None):
    """Failing, nested and captured calls, threads and processes killed in them, fork:
    each function's calls and result."""
    result = gpuprobe.run(workload("mix"), "--seed", seed, "--seconds", 4, *mix, base=STAT, env={
        "CUDA_SIM_DEVICES": 3,
        "CUDA_SIM_FAIL": "cuMemAlloc_v2:%9,cuLaunchKernel:%7,cuMemcpyHtoD_v2:%5", **(env or {})})
    assert exact.lost(result.final).keys() <= {"inflight_busy"}
    wrong = []
    for truth in result.truths:
        true, seen = true_functions(truth), seen_functions(result.process_of(truth.pid))
        wrong += [(truth.comm, name, seen.get(name), counts) for name, counts in true.items()
                  if seen.get(name, (0, 0)) != counts]
    assert not wrong
    assert len(result.truths) >= 5
    return result


@pytest.mark.parametrize("seed", [11, 12])
def test_a_mix_of_all_calls(gpuprobe_by, seed):
    check_mix(gpuprobe_by, seed)


def test_the_monitors_numbers(gpuprobe):
    """What threads keep by themselves is in all that the reports tell."""
    result = gpuprobe.run(workload("mix"), "--seed", 13, "--seconds", 4, base=STAT,
                          env={"CUDA_SIM_DEVICES": 3})
    for truth in result.truths:
        process = result.process_of(truth.pid)
        # A launch counts from its beginning, also one that never ended.
        assert +Counter(
            {k["name"]: k["launches"] + k["captured"] for k in process["kernels"]}) == +Counter({
                name: sum(callers[c]["launches"] + callers[c]["abandoned"] for c in CALLERS["auto"])
                for name, callers in truth.data["kernels"].items()})
    result = gpuprobe.run(workload("copy"), "--threads", 16, "--api", "driver", base=STAT)
    assert exact.copies(result.process) == result.truth.copies("driver")


def test_threads_one_after_the_other(gpuprobe_by, threads):
    """More than there are places for, in less time than between two readings."""
    result = gpuprobe_by.run(threads, "many", 3008, base=STAT)
    process = check(result)
    check_classes(process, result.truth)
    assert process["all_threads"]["count"] == 3008 + 1
    assert process["unlisted_threads"]["count"] > 0


def test_more_threads_than_places(gpuprobe):
    """Their functions are told, their time is not, which is counted."""
    result = gpuprobe.run(workload("launch"), "--threads", 1200, "--launches", 20, "--rate", 10,
                          "--api", "driver", base=STAT)
    process = result.process
    check_functions(process, result.truth, "driver")
    assert exact.launches(process) == result.truth.launches("driver")
    lost = exact.lost(result.final)
    told = sum(time["calls"] for time in process["all_threads"]["time"].values())
    assert lost.keys() == {"thread_accounts"}
    assert told + lost.get("thread_accounts", 0) == sum(true_classes(result.truth).values())


def test_fork(gpuprobe_by):
    result = gpuprobe_by.run(workload("forker"), "--processes", 8, "--pairs", 50, "--launches", 300,
                             "--api", "driver", base=STAT)
    assert exact.lost(result.final) == {}
    working = [truth for truth in result.truths if not truth.idle]
    assert len(working) >= 8
    for truth in working:
        check_functions(result.process_of(truth.pid), truth, "driver")
        check_classes(result.process_of(truth.pid), truth)


def test_exec(gpuprobe_by, threads):
    result = gpuprobe_by.run(threads, "exec", 123, workload("launch"), "--launches", 45, "--api",
                             "driver", base=STAT)
    assert exact.lost(result.final) == {}
    for truth in result.truths:
        process, = [p for p in result.processes if p["comm"] == truth.comm]
        check_functions(process, truth, "driver")
        check_classes(process, truth)


def test_calls_that_never_return(gpuprobe_by, threads):
    """A call that was left by a jump, or by the thread's end, took no time that anyone knows."""
    result = gpuprobe_by.run(threads, "jump", 7, base=STAT,
                             env={"CUDA_SIM_LATENCY": "cuMemAllocManaged=20ms"})
    process = check(result)
    assert ("driver", "cuMemAllocManaged") not in seen_functions(process)
    check_classes(process, result.truth)
    result = gpuprobe_by.run(threads, "leave", 40, base=STAT)
    process = check(result)
    check_classes(process, result.truth)
    assert seen_functions(process)["driver", "cuLaunchKernel"] == (40, 0)


def test_a_process_that_ends_at_once(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        need(driver.cuMemAlloc_v2(ref(out()), 4096))
        driver.cuda_sim_write_truth()
        os._exit(0)
    """), base=STAT)
    process = check(result)
    check_classes(process, result.truth)
    assert seen_functions(process)["driver", "cuMemAlloc_v2"] == (1, 0)
