# SPDX-License-Identifier: BSD-2-Clause
"""GPU times (`stat --gpu-times`) beside PyTorch's profiler, in a run each of the same work, and
beside the calls that gpuprobe counted in the same run."""
import json
import re
import statistics
import subprocess

WITHIN = 0.02  # of medians
COPIES = {"H2D": "Memcpy HtoD", "D2H": "Memcpy DtoH", "D2D": "Memcpy DtoD"}
MODES = ("train", "compile", "copies")
GRAPHS = {"graph": 100, "long_graph": 1000}
REPLAYS = 30  # as in programs/gpu_times.py


COMPARED = 3000  # characters of a name: gpuprobe's JSON cuts the longest


def bare(name):
    """Kineto and gpuprobe demangle alike, but for spaces and the type of the result."""
    return re.sub(r"\s+", "", re.sub(r"^void ", "", name))[:COMPARED]


def run(machine, *arguments):
    command = machine.python("gpu_times.py", *arguments)
    done = subprocess.run([machine.gpuprobe, "stat", "--gpu-times", "--json", "--", *command],
                          stdout=subprocess.PIPE, text=True, timeout=200, check=True)
    report = json.loads([line for line in done.stdout.splitlines()
                         if line.startswith('{"schema"')][-1])
    return next(one for one in report["processes"] if one["gpu_times"])


def profiled(machine, mode):
    path = f"{machine.work}/truth-{mode}.json"
    subprocess.run(machine.python("gpu_times.py", mode, path), timeout=200, check=True,
                   stderr=subprocess.DEVNULL)
    with open(path) as file:
        return json.load(file)


def kernels_of(times):
    return {bare(one["name"]): (one["count"], one["total_ns"]) for one in times["kernels"]}


def compare_kernels(results, mode, truth, times):
    expected = {bare(name): tuple(value) for name, value in truth["kernels"].items()}
    seen = kernels_of(times)
    results.check(f"GPU times, {mode}: kernels by name, count",
                  {name: count for name, (count, _) in sorted(expected.items())},
                  {name: count for name, (count, _) in sorted(seen.items())})
    ratios = [seen[name][1] / ns for name, (_, ns) in expected.items() if name in seen and ns]
    if ratios:
        median = statistics.median(ratios)
        results.tell(f"GPU times, {mode}: time of a kernel by the profiler's, {len(ratios)} names",
                     f"median {median:.4f}, {min(ratios):.3f} to {max(ratios):.3f}")
        results.check(f"GPU times, {mode}: the median is within 2 %", True,
                      abs(median - 1) <= WITHIN)


def compare_copies(results, mode, truth, times):
    seen = {one["kind"]: (one["count"], one["total_ns"]) for one in times["copies"]}
    for kind, name in COPIES.items():
        found = [value for key, value in truth["copies"].items() if key.startswith(name)]
        expected = sum(count for count, _ in found), sum(ns for _, ns in found)
        if mode == "copies" and expected[0]:
            results.check(f"GPU times, {mode}: {kind}, count", expected[0], seen[kind][0])
            results.check(f"GPU times, {mode}: {kind}, time within 2 % of the profiler's", True,
                          abs(seen[kind][1] / expected[1] - 1) <= WITHIN)


def compare_calls(results, mode, process):
    """The probes on calls counted the same kernels."""
    times = process["gpu_times"]
    launched = {bare(one["name"]): one["launches"] for one in process["kernels"] if one["launches"]}
    results.check(f"GPU times, {mode}: kernels by name, as launched by calls of the same run",
                  launched, {name: count for name, (count, _) in kernels_of(times).items()})
    results.check(f"GPU times, {mode}: lost, dropped, unknown", [0, 0, 0],
                  [times["dropped"], times["unknown_devices"], times["unknown_records"]])


def test_gpu_times(machine, results):
    for mode in MODES:
        truth, process = profiled(machine, mode), run(machine, mode)
        compare_kernels(results, mode, truth, process["gpu_times"])
        compare_copies(results, mode, truth, process["gpu_times"])
        compare_calls(results, mode, process)
    for mode, nodes in GRAPHS.items():
        truth, times = profiled(machine, mode), run(machine, mode)["gpu_times"]
        inside = sum(ns for count, ns in truth["kernels"].values() if count > nodes)
        results.check(f"GPU times, {mode}: launches of a graph of {nodes} nodes", REPLAYS,
                      times["graphs"]["count"])
        results.tell(f"GPU times, {mode}: time of the graphs by that of their nodes",
                     round(times["graphs"]["total_ns"] / inside, 3))
