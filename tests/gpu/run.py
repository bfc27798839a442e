#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe on a real GPU, compared with what is known to be true.

    tests/gpu/run.py --build build --output docs/gpu-results.md

Needs a build of gpuprobe (make portable will do) and of the workloads
(make sim), made on any machine, and here an NVIDIA driver, nvcc and PyTorch.
Runs the C workloads on the real libraries, a program with a static runtime and
a PyTorch training loop, prints each comparison, and writes them all to a page.
Ends with "N passed, N failed".
"""
import argparse
import collections
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Results:
    def __init__(self):
        self.rows = []

    def check(self, what, expected, seen):
        good = expected == seen
        self.rows.append((what, expected, seen, good))
        print(f"{'ok' if good else 'FAILED'}: {what}: expected {shown(expected)}, gpuprobe {shown(seen)}", flush=True)

    def failed(self):
        return sum(not good for *_, good in self.rows)


class Machine:
    """Where the pieces are, and how to run them."""

    def __init__(self, options):
        self.gpuprobe = next(path for path in (f"{options.build}/portable/gpuprobe", f"{options.build}/gpuprobe")
                             if os.path.exists(path))
        self.sim = f"{options.build}/sim"
        self.work = tempfile.mkdtemp(prefix="gpuprobe-gpu-")
        self.real = f"{self.work}/real"  # the workloads without the simulated libraries beside them
        os.mkdir(self.real)
        for name in ("launch", "memory", "copy", "modules", "demo"):
            shutil.copy(f"{self.sim}/{name}", self.real)

    def watch(self, command, *arguments, links=None):
        """The last report of gpuprobe, and COMMAND's exit status."""
        environment = dict(os.environ, **({"GPUPROBE_LINKS": links} if links else {}))
        ran = subprocess.run([self.gpuprobe, "--json", "--display-interval", "0", "--metrics-addr", "none",
                              "--top", "0", *arguments, "--", *command],
                             env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        lines = [line for line in ran.stdout.decode().splitlines() if line.startswith('{"schema"')]
        if not lines:
            sys.exit(f"{' '.join(command)}: no report: {ran.stderr.decode()}")
        return json.loads(lines[-1]), ran.returncode

    def truth(self, command):
        """What the same workload does on the simulator, by its truth file."""
        path = f"{self.work}/truth.json"
        environment = dict(os.environ, CUDA_SIM_TRUTH=path, LD_LIBRARY_PATH=self.sim)
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        with open(path) as file:
            return json.load(file)


def kernels_of(report):
    total = collections.Counter()
    for process in report["processes"]:
        for kernel in process.get("kernels", []):
            total[kernel["name"]] += kernel["launches"]
    return total


def launches_of(report):
    return sum(kernels_of(report).values())


def lost(report):
    return sum(report["lost"].values())


def memory_of(report, kind):
    total = collections.Counter()
    for process in report["processes"]:
        total.update({key: value for key, value in process["memory"][kind].items()
                      if key in ("allocations", "frees", "live_bytes", "live_allocations")})
    return dict(total)


def copies_of(report):
    total = {}
    for process in report["processes"]:
        for copy in process.get("copies", []):
            total[f"{copy['kind']} {copy['mode']}"] = (copy["calls"], copy["bytes"])
    return total


def errors_of(report):
    return {f"{error['function']}: {error['error']}": error["count"]
            for process in report["processes"] for error in process.get("errors", [])}


def test_workloads(machine, results):
    for api in ("runtime", "driver"):
        for function in ("kernel", "ex", "cooperative"):
            report, status = machine.watch([f"{machine.real}/launch", "--threads", "4", "--launches", "2500",
                                            "--kernels", "3", "--api", api, "--function", function])
            results.check(f"launch, {api} API, {function}, 4 threads: exit status, launches, kernels, lost",
                          (0, 10000, 3, 0), (status, launches_of(report), len(kernels_of(report)), lost(report)))
        report, status = machine.watch([f"{machine.real}/launch", "--launches", "1000", "--api", api,
                                        "--function", "graph"])
        results.check(f"launch, {api} API, graph: exit status, graph launches",
                      (0, 1000), (status, sum(p["graph_launches"] for p in report["processes"])))
        for kind in ("device", "managed", "host", "pool"):
            report, status = machine.watch([f"{machine.real}/memory", "--threads", "4", "--pairs", "100", "--keep", "2",
                                            "--size", "4096", "--kind", kind, "--api", api])
            results.check(f"memory, {api} API, {kind}: exit status, totals",
                          (0, {"allocations": 408, "frees": 400, "live_bytes": 8 * 4096, "live_allocations": 8}),
                          (status, memory_of(report, kind)))
        truth = machine.truth([f"{machine.sim}/modules", "--rounds", "20", "--api", api])
        report, status = machine.watch([f"{machine.real}/modules", "--rounds", "20", "--api", api])
        expected = {name: launches["driver"]["launches"] + launches["driver_from_runtime"]["launches"]
                    for name, launches in truth["kernels"].items()}
        results.check(f"modules, {api} API: exit status, launches of {len(expected)} kernels by name",
                      (0, expected), (status, dict(kernels_of(report))))
        truth = machine.truth([f"{machine.sim}/copy", "--count", "3", "--api", api])
        report, status = machine.watch([f"{machine.real}/copy", "--count", "3", "--api", api])
        results.check(f"copy, {api} API: exit status, calls and bytes by kind", (0, truth_copies(truth)),
                      (status, copies_of(report)))


def truth_copies(truth):
    """The copies that reached the driver, by kind and mode, as gpuprobe counts them."""
    total = {}
    for layer in ("driver", "driver_from_runtime"):
        for kind, modes in truth["copies"][layer].items():
            for mode, copies in modes.items():
                if copies["calls"]:
                    calls, size = total.get(f"{kind} {mode}", (0, 0))
                    total[f"{kind} {mode}"] = (calls + copies["calls"], size + copies["bytes"])
    return total


def test_static_runtime(machine, results):
    program = f"{machine.work}/static_runtime"
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    subprocess.run([nvcc, "--cudart", "static", "-o", program, f"{HERE}/programs/static_runtime.cu"], check=True)
    report, status = machine.watch([program])
    results.check("static runtime: exit status, kernels", (0, {"void add_one<float>(float*, int)": 1000,
                                                               "scale(float*, int, float)": 1000}),
                  (status, dict(kernels_of(report))))
    results.check("static runtime: device memory",
                  {"allocations": 3, "frees": 2, "live_bytes": 4096, "live_allocations": 1}, memory_of(report, "device"))
    results.check("static runtime: errors, under the runtime's name",
                  {"cudaMalloc: cudaErrorMemoryAllocation": 1}, errors_of(report))


def train(*arguments):
    return [sys.executable, f"{HERE}/programs/train.py", *arguments]


def test_pytorch(machine, results):
    profile = json.loads(subprocess.run(train("--profile"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        check=True).stdout)
    profiled = profile["launch_calls"]
    none, _ = machine.watch(train("--steps", "0"))
    for label, arguments, links in (("", [], None), (", uprobe_multi", [], "multi"), (", tracefs", [], "perf"),
                                    (", --api both", ["--api", "both"], None),
                                    (", --check-launches", ["--check-launches"], None)):
        report, status = machine.watch(train("--steps", "100"), *arguments, links=links)
        results.check(f"PyTorch, 100 steps less 0 steps{label}: exit status, launches (profiler: {profiled})",
                      (0, sum(profiled.values())), (status, launches_of(report) - launches_of(none)))
        results.check(f"PyTorch{label}: launches without a name, lost", (0, 0),
                      (kernels_of(report)[None], lost(report)))
    return profile


def test_late_attach(machine, results):
    """A program that was there before: named all the same, and marked."""
    program = subprocess.Popen(train("--steps", "1000000"), stdout=subprocess.DEVNULL)
    time.sleep(15)
    ran = subprocess.run([machine.gpuprobe, "--json", "--display-interval", "0", "--metrics-addr", "none",
                          "-p", str(program.pid), "--duration", "3"], stdout=subprocess.PIPE, timeout=60)
    running = program.poll() is None
    program.kill()
    report = json.loads(ran.stdout.decode().splitlines()[-1])
    results.check("attached to a running PyTorch: it runs on, is `since attach`, launches seen, without a name",
                  (True, True, True, 0), (running, report["processes"][0]["since_attach"], launches_of(report) > 1000,
                                          kernels_of(report)[None]))


def shown(value):
    text = json.dumps(value, sort_keys=True) if isinstance(value, (dict, tuple)) else str(value)
    return text if len(text) <= 160 else text[:157] + "..."


def page(results, machine, profile):
    def output(*command):
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()

    device = output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()[0]
    lines = ["# On a real GPU", "",
             f"Written by `tests/gpu/run.py` on {datetime.date.today()}: {device} (name, driver), "
             f"CUDA {profile['cuda']}, PyTorch {profile['torch']}, Linux {platform.release()}, "
             f"{output(machine.gpuprobe, '--version')}.", "",
             f"{len(results.rows) - results.failed()} passed, {results.failed()} failed", "",
             "Launch calls of PyTorch's own profiler are its rows `cudaLaunchKernel`, `cudaLaunchKernelExC` and",
             "`cuLaunchKernel*` over 100 training steps; gpuprobe's are those of a run of 100 steps less those of a run",
             "of 0 steps. Workloads that the simulator can run are compared with its truth file for the same run.", "",
             "| what | expected | gpuprobe | |", "|---|---|---|---|"]
    for what, expected, seen, good in results.rows:
        lines.append(f"| {what} | `{shown(expected)}` | `{shown(seen)}` | {'ok' if good else 'FAILED'} |".replace("\n", " "))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--output", default="docs/gpu-results.md")
    options = parser.parse_args()
    machine, results = Machine(options), Results()

    test_workloads(machine, results)
    test_static_runtime(machine, results)
    profile = test_pytorch(machine, results)
    test_late_attach(machine, results)
    with open(options.output, "w") as file:
        file.write(page(results, machine, profile))
    shutil.rmtree(machine.work)
    print(f"{len(results.rows) - results.failed()} passed, {results.failed()} failed")
    return 1 if results.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
