# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch, as people run it, compared with its own profiler and its own memory statistics.

What the profiler saw in N steps is compared with gpuprobe's run of N steps less
its run of 0 steps. Memory is compared at the end of one and the same run.
"""
import json
import subprocess
import time

from machine import (device_memory, function_totals, kernels_of, launches_of, lost, total_of)

STEPS = 100


def train(machine, *arguments):
    return machine.python("train.py", *arguments)


def profile_of(command):
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     check=True).stdout.splitlines()[0])


def test_pytorch(machine, results):
    profile = profile_of(train(machine, "--profile"))
    profiled = profile["launch_calls"]
    none, _ = machine.watch(train(machine, "--steps", "0"))
    for label, arguments, links in (("", [], None), (", uprobe_multi", [], "multi"),
                                    (", tracefs", [], "perf"),
                                    (", --api both", ["--api", "both"], None),
                                    (", --check-launches", ["--check-launches"], None)):
        report, status = machine.watch(train(machine, "--steps", "100"), *arguments, links=links)
        results.check(
            f"PyTorch, 100 steps less 0 steps{label}: exit status, launches (profiler: {profiled})",
            (0, sum(profiled.values())), (status, launches_of(report) - launches_of(none)))
        results.check(f"PyTorch{label}: launches without a name, lost", (0, 0),
                      (kernels_of(report)[None], lost(report)))
    return profile


def test_late_attach(machine, results):
    """A program that was there before: named all the same, and marked."""
    program = subprocess.Popen(train(machine, "--steps", "1000000"), stdout=subprocess.DEVNULL)
    time.sleep(15)
    ran = subprocess.run([machine.gpuprobe, "--json", "--display-interval", "0",
                          "--metrics-addr", "none", "-p", str(program.pid), "--duration", "3"],
                         stdout=subprocess.PIPE, timeout=60)
    running = program.poll() is None
    program.kill()
    report = json.loads(ran.stdout.decode().splitlines()[-1])
    results.check("attached to a running PyTorch: it runs on, is `since attach`, launches seen, "
                  "without a name", (True, True, True, 0),
                  (running, report["processes"][0]["since_attach"], launches_of(report) > 1000,
                   kernels_of(report)[None]))


def copies_by_way(report):
    """Calls and bytes of executed copies and sets, named as the profiler names them."""
    total = {}
    for process in report["processes"]:
        for function in process["functions"]:
            if (function["kind"] not in ("H2D", "D2H", "D2D", "set")
                    or "captured" in function["flags"]):
                continue
            host = "Pinned" if "pinned" in function["flags"] else "Pageable"
            name = {"H2D": f"Memcpy HtoD ({host} -> Device)",
                    "D2H": f"Memcpy DtoH (Device -> {host})",
                    "D2D": "Memcpy DtoD (Device -> Device)",
                    "set": "Memset (Device)"}[function["kind"]]
            calls, size = total.get(name, (0, 0))
            total[name] = (calls + function["calls"], size + function["bytes"])
    return total


def less(more, fewer):
    return {name: (calls - fewer.get(name, (0, 0))[0], size - fewer.get(name, (0, 0))[1])
            for name, (calls, size) in more.items() if calls != fewer.get(name, (0, 0))[0]}


def test_mode(machine, results, mode):
    """Eager, compiled or with graphs: kernels that ran, copies, memory."""
    seen = profile_of(machine.python("loop.py", "--mode", mode, "--steps", str(STEPS),
                                     "--profile"))["profile"]
    none, _ = machine.watch(machine.python("loop.py", "--mode", mode, "--steps", "0"))
    report, status = machine.watch(machine.python("loop.py", "--mode", mode, "--steps", str(STEPS)))
    memory = machine.said[0]["memory"]
    executed = launches_of(report) + total_of(report, "graph_kernels")
    executed_none = launches_of(none) + total_of(none, "graph_kernels")
    results.check(f"PyTorch {mode}, {STEPS} steps: exit status, kernels that ran (profiler: "
                  f"{seen['launch_calls']})", (0, seen["kernels"]),
                  (status, executed - executed_none))
    results.check(
        f"PyTorch {mode}: copies and sets, calls and bytes, by way and kind of host memory",
        {name: tuple(numbers) for name, numbers in seen["copies"].items()},
        less(copies_by_way(report), copies_by_way(none)))
    results.check(f"PyTorch {mode}: cudaMalloc's calls and bytes less cudaFree's (its "
                  "memory_stats: device allocs and "
                  "frees, reserved bytes)",
                  (memory["num_device_alloc"], memory["num_device_free"],
                   memory["reserved_bytes.all.current"]),
                  allocator_seen(report))
    results.check(f"PyTorch {mode}: launches without a name, lost", (0, 0),
                  (kernels_of(report)[None], lost(report)))
    results.tell(f"PyTorch {mode}: device memory live at exit, all of the process's libraries",
                 device_memory(report))


def allocator_seen(report):
    allocations, taken = function_totals(report, "cudaMalloc")
    frees, given = function_totals(report, "cudaFree")
    return allocations, frees, taken - given


def test_expandable(machine, results):
    """Memory through cuMemCreate and cuMemMap alone."""
    report, status = machine.watch(machine.python("loop.py", "--steps", "20"),
                                   PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True")
    memory = machine.said[0]["memory"]
    results.check("PyTorch with expandable segments: exit status, "
                  "physical memory and mapped ranges (reserved bytes)",
                  (0, memory["reserved_bytes.all.current"], memory["reserved_bytes.all.current"]),
                  (status, device_memory(report).get("physical"),
                   sum(p["memory"]["mapped"]["live_bytes"] for p in report["processes"])))


def test_reconcile(machine, results):
    """What NVML says that the process uses, and what is not explained by its allocations."""
    program = subprocess.Popen([machine.gpuprobe, "--json", "--display-interval",
                                "2", "--metrics-addr", "none",
                                "--", *machine.python("loop.py", "--steps", "20", "--hold", "15")],
                               stdout=subprocess.PIPE, text=True)
    report, pid, held = {}, None, 0
    for line in program.stdout:
        if line.startswith('{"schema"'):
            report = json.loads(line)
            held += pid is not None
            if held == 3:  # by then NVML has been asked since the program came to rest
                break
        elif line.startswith("{"):
            pid = json.loads(line)["pid"]
    used = subprocess.run(["nvidia-smi", "--query-compute-apps=pid,used_memory",
                           "--format=csv,noheader,nounits"],
                          stdout=subprocess.PIPE, text=True).stdout.split()
    program.terminate()
    program.wait()
    process = next((p for p in report.get("processes", []) if p["pid"] == pid), None)
    gpu = process["gpus"][0] if process and process.get("gpus") else {}
    results.check("PyTorch: memory NVML says it uses, MiB (nvidia-smi's for the process)",
                  int(used[-1]) if used else None, (gpu.get("used_bytes") or 0) >> 20)
    results.tell("PyTorch: NVML's figure, tracked, untracked bytes (context, code, libraries)", gpu)
