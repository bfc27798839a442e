# SPDX-License-Identifier: BSD-2-Clause
"""Running gpuprobe on this machine's GPUs, and keeping what was compared with what."""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")


def shown(value):
    text = json.dumps(value, sort_keys=True) if isinstance(value, (dict, tuple)) else str(value)
    return text if len(text) <= 160 else text[:157] + "..."


class Results:
    def __init__(self):
        self.rows = []
        self.texts = []  # titles and what gpuprobe printed
        self.studies = None  # see cases.py

    def check(self, what, expected, seen):
        good = expected == seen
        self.rows.append((what, expected, seen, good))
        print(f"{'ok' if good else 'FAILED'}: {what}: expected {shown(expected)}, "
              f"gpuprobe {shown(seen)}", flush=True)

    def tell(self, what, seen):
        """A figure with nothing to compare it with."""
        self.rows.append((what, "", seen, None))
        print(f"told: {what}: {shown(seen)}", flush=True)

    def keep(self, title, text):
        """What gpuprobe printed, as it is, except for where this checkout is."""
        self.texts.append((title, text.replace(PROGRAMS + "/", "")))

    def failed(self):
        return sum(good is False for *_, good in self.rows)

    def passed(self):
        return sum(good is True for *_, good in self.rows)


class Machine:
    """Where the pieces are, and how to run them."""

    def __init__(self, options):
        self.gpuprobe = next(path for path in (f"{options.build}/portable/gpuprobe",
                                               f"{options.build}/gpuprobe") if os.path.exists(path))
        self.sim = f"{options.build}/sim"
        self.work = tempfile.mkdtemp(prefix="gpuprobe-gpu-")
        self.real = f"{self.work}/real"  # the workloads without the simulated libraries beside them
        self.said = []
        os.mkdir(self.real)
        for name in ("launch", "memory", "copy", "modules", "demo"):
            shutil.copy(f"{self.sim}/{name}", self.real)

    def watch(self, command, *arguments, links=None, **variables):
        """The last report of gpuprobe, and COMMAND's exit status. Its JSON output is in `said`."""
        environment = dict(os.environ, **({"GPUPROBE_LINKS": links} if links else {}), **variables)
        ran = subprocess.run([self.gpuprobe, "--json", "--display-interval", "0", "--metrics-addr",
                              "none", "--top", "0", *arguments, "--", *command], env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        if ran.returncode:
            print(ran.stderr.decode()[-2000:], file=sys.stderr)
        lines = [line for line in ran.stdout.decode().splitlines() if line.startswith('{"schema"')]
        if not lines:
            sys.exit(f"{' '.join(command)}: no report: {ran.stderr.decode()}")
        self.said = [json.loads(line) for line in ran.stdout.decode().splitlines()
                     if line.startswith("{") and line not in lines]
        return json.loads(lines[-1]), ran.returncode

    @staticmethod
    def python(program, *arguments):
        return [sys.executable, f"{PROGRAMS}/{program}", *arguments]

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


def total_of(report, key):
    return sum(process.get(key) or 0 for process in report["processes"])


def function_totals(report, *names):
    """(calls, bytes) of these functions in all processes, failed calls left out."""
    found = [function for process in report["processes"] for function in process["functions"]
             if function["function"] in names]
    return (sum(function["calls"] for function in found),
            sum(function["bytes"] for function in found))


def device_memory(report):
    """Live bytes on devices by kind, those that are not 0."""
    total = collections.Counter()
    for process in report["processes"]:
        for kind in ("device", "managed", "pool", "array", "physical"):
            total[kind] += process["memory"][kind]["live_bytes"]
    return {kind: size for kind, size in total.items() if size}
