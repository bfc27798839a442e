# SPDX-License-Identifier: BSD-2-Clause
"""The cost to each process when one of two PyTorch processes is watched,
and the effect of a pass-through libcuda on the probes."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from beside import watching

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
from lib import shim, text  # noqa: E402

ROUNDS = 8
# For each line on its input it prints the nanoseconds that launching a small kernel took:
# the least of 200 launches among 250.
LAUNCHES = """
import sys, time, torch
x = torch.zeros(64, device="cuda")
y = torch.empty_like(x)
def measure():
    times = []
    for _ in range(200):
        torch.cuda.synchronize()
        begin = time.perf_counter_ns()
        for _ in range(250):
            torch.neg(x, out=y)
        times.append((time.perf_counter_ns() - begin) / 250)
    return min(times)
measure()
print("READY", flush=True)
for _ in sys.stdin:
    print(measure(), flush=True)
"""
# Calls of the driver alone, so many of each.
DRIVER = """
import ctypes
driver = ctypes.CDLL("libcuda.so.1")
def need(result):
    assert result == 0, result
context, device, module, function = (ctypes.c_void_p(), ctypes.c_int(), ctypes.c_void_p(),
                                     ctypes.c_void_p())
need(driver.cuInit(0))
need(driver.cuDeviceGet(ctypes.byref(device), 0))
need(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
need(driver.cuCtxSetCurrent(context))
ptx = b".version 7.0\\n.target sm_70\\n.address_size 64\\n.visible .entry spin()\\n{\\nret;\\n}\\n"
need(driver.cuModuleLoadData(ctypes.byref(module), ptx))
need(driver.cuModuleGetFunction(ctypes.byref(function), module, b"spin"))
memory = [ctypes.c_uint64() for _ in range(50)]
for address in memory:
    need(driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(4096)))
    need(driver.cuMemcpyHtoD_v2(address, bytes(100), ctypes.c_size_t(100)))
    for _ in range(3):
        need(driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, None, None))
    need(driver.cuCtxSynchronize())
for address in memory[:40]:
    need(driver.cuMemFree_v2(address))
"""
CALLED = {"launches": 150, "cuMemAlloc_v2": 50, "cuMemcpyHtoD_v2": 50, "cuCtxSynchronize": 50,
          "cuMemFree_v2": 40}
SUM = ("import torch; x = torch.arange(1000, device='cuda', dtype=torch.float64); "
       "print(int(x.sum().item()))")


def begin():
    process = subprocess.Popen([sys.executable, "-c", LAUNCHES], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


def measure(process):
    process.stdin.write("go\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def interval(values):
    """The median, the least and the most."""
    ordered = sorted(values)
    return (f"{statistics.median(ordered):.0f} ns ({ordered[0]:.0f} to {ordered[-1]:.0f}, "
            f"{len(ordered)} rounds)")


def changed(process):
    """The files of which the process's code is not what they have."""
    return sorted({Path(path).name for path, *_ in text.differences(process.pid)})


def test_one_of_two(machine, results):
    watched, other = begin(), begin()
    more = {watched: [], other: []}
    found = {watched: [], other: []}
    for _ in range(ROUNDS):
        alone = {process: measure(process) for process in more}
        with watching(machine, "-p", str(watched.pid)):
            for process in more:
                more[process].append(measure(process) - alone[process])
                found[process] = changed(process)
    for process in more:
        process.stdin.close()
        process.wait(60)
    results.check("-p of one of two PyTorch processes: files of the other whose code was changed",
                  [], found[other])
    results.check("the same: libcuda of the one that is watched was", True,
                  "libcuda.so" in " ".join(found[watched]))
    results.check("both ended well", (0, 0), (watched.returncode, other.returncode))
    results.tell("a launch of the one that is watched: more than without", interval(more[watched]))
    results.tell("a launch of the other: more than without", interval(more[other]))


def driver_library():
    cache = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return next(os.path.realpath(line.split("=> ")[1]) for line in cache.splitlines()
                if "libcuda.so.1 " in line)


def test_calls_through(machine, results, form):
    """Each call through a shim and the driver is one."""
    with tempfile.TemporaryDirectory() as name:
        library = shim.make(Path(name) / "libcuda.so.1", driver_library(), form)
        done = subprocess.run([machine.gpuprobe, "--json", "--display-interval", "0",
                               "--metrics-addr", "none", "--", sys.executable, "-c", DRIVER],
                              env={**os.environ, "LD_LIBRARY_PATH": name}, capture_output=True,
                              text=True, timeout=180, check=False)
        last = (json.loads(done.stdout.splitlines()[-1])["processes"][0]
                if done.returncode == 0 else {"functions": []})
    calls = {function["function"]: function["calls"] for function in last["functions"]}
    found = {name: last["launches"] if name == "launches" else calls.get(name) for name in CALLED
             if last["functions"]}
    results.check(f"calls of the driver through a libcuda.so.1 in front that {form}s there", CALLED,
                  found)
    results.check("the same: named in the report",
                  {"library": str(library), "in_front_of": driver_library()}, last.get("shim"))


def test_pass_through(machine, results):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shim.make(folder / "libcuda.so.1", driver_library())
        environment = {**os.environ,
                       "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
        for how, before in (("alone", []),
                            ("as COMMAND", [machine.gpuprobe, "--metrics-addr", "none", "--"])):
            done = subprocess.run([*before, sys.executable, "-c", SUM], env=environment,
                                  capture_output=True, text=True, timeout=180, check=False)
            results.check(
                f"PyTorch over a pass-through libcuda.so.1, {how}: exit status, right sum",
                (0, True), (done.returncode, "499500\n" in done.stdout))
        with watching(machine):
            done = subprocess.run([sys.executable, "-c", SUM], env=environment, capture_output=True,
                                  text=True, timeout=180, check=False)
        results.check("the same beside a gpuprobe of the machine", (0, "499500\n"),
                      (done.returncode, done.stdout))


def test_confined(machine, results):
    test_one_of_two(machine, results)
    test_pass_through(machine, results)
    for form in shim.FORMS:
        test_calls_through(machine, results, form)
