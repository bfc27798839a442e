# SPDX-License-Identifier: BSD-2-Clause
"""The C workloads on the real libraries, compared with the simulator's truth of the same run."""
import shutil
import subprocess

from machine import (PROGRAMS, copies_of, errors_of, kernels_of, launches_of, lost, memory_of)


def test_workloads(machine, results):
    for api in ("runtime", "driver"):
        for function in ("kernel", "ex", "cooperative"):
            report, status = machine.watch([f"{machine.real}/launch", "--threads",
                                            "4", "--launches", "2500",
                                            "--kernels", "3", "--api", api, "--function", function])
            results.check(
                f"launch, {api} API, {function}, 4 threads: exit status, launches, kernels, lost",
                (0, 10000, 3, 0),
                (status, launches_of(report), len(kernels_of(report)), lost(report)))
        report, status = machine.watch([f"{machine.real}/launch", "--launches", "1000", "--api",
                                        api, "--function", "graph"])
        results.check(f"launch, {api} API, graph: exit status, graph launches",
                      (0, 1000), (status, sum(p["graph_launches"] for p in report["processes"])))
        for kind in ("device", "managed", "host", "pool"):
            report, status = machine.watch([f"{machine.real}/memory", "--threads",
                                            "4", "--pairs", "100", "--keep", "2",
                                            "--size", "4096", "--kind", kind, "--api", api])
            results.check(f"memory, {api} API, {kind}: exit status, totals",
                          (0, {"allocations": 408, "frees": 400,
                               "live_bytes": 8 * 4096, "live_allocations": 8}),
                          (status, memory_of(report, kind)))
        truth = machine.truth([f"{machine.sim}/modules", "--rounds", "20", "--api", api])
        report, status = machine.watch([f"{machine.real}/modules", "--rounds", "20", "--api", api])
        expected = {
            name: launches["driver"]["launches"] + launches["driver_from_runtime"]["launches"]
            for name, launches in truth["kernels"].items()}
        results.check(
            f"modules, {api} API: exit status, launches of {len(expected)} kernels by name",
            (0, expected), (status, dict(kernels_of(report))))
        truth = machine.truth([f"{machine.sim}/copy", "--count", "3", "--api", api])
        report, status = machine.watch([f"{machine.real}/copy", "--count", "3", "--api", api])
        results.check(f"copy, {api} API: exit status, calls and bytes by kind",
                      (0, truth_copies(truth)), (status, copies_of(report)))


def truth_copies(truth):
    """The copies that reached the driver, by kind and mode, as gpuprobe counts them."""
    total = {}
    for layer in ("driver", "driver_from_runtime"):
        for kind, modes in truth["executed_copies"][layer].items():
            for mode, copies in modes.items():
                if copies["calls"]:
                    calls, size = total.get(f"{kind} {mode}", (0, 0))
                    total[f"{kind} {mode}"] = (calls + copies["calls"], size + copies["bytes"])
    return total


def test_static_runtime(machine, results):
    program = f"{machine.work}/static_runtime"
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    subprocess.run([nvcc, "--cudart", "static", "-o", program, f"{PROGRAMS}/static_runtime.cu"],
                   check=True)
    report, status = machine.watch([program])
    results.check("static runtime: exit status, kernels",
                  (0, {"void add_one<float>(float*, int)": 1000,
                       "scale(float*, int, float)": 1000}), (status, dict(kernels_of(report))))
    results.check("static runtime: device memory",
                  {"allocations": 3, "frees": 2, "live_bytes": 4096, "live_allocations": 1},
                  memory_of(report, "device"))
    results.check("static runtime: errors, under the runtime's name",
                  {"cudaMalloc: cudaErrorMemoryAllocation": 1}, errors_of(report))
