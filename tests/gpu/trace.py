# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe trace: the example program, and PyTorch's training loop compared with
its own profiler."""
import collections
import json
import os
import re
import subprocess

from pytorch import profile_of, train

STEPS = 100
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../examples/cuda_events_test.c")
# What the example does in its three additions, and one allocation that fails.
EXAMPLE_CALLS = {"cudaGetDevice": 1, "cudaSetDevice": 1, "cudaStreamCreate": 3,
                 "cudaLaunchKernel": 3, "cudaEventSynchronize": 3, "cudaStreamSynchronize": 3}


class Trace:
    """A run of gpuprobe trace: its lines, what it said at the end, COMMAND's status."""

    def __init__(self, machine, command, *arguments, links=None):
        path = f"{machine.work}/trace"
        environment = dict(os.environ, **({"GPUPROBE_LINKS": links} if links else {}))
        ran = subprocess.run([machine.gpuprobe, "trace", "-O", path, *arguments, "--", *command],
                             env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             timeout=300)
        self.status = ran.returncode
        said = re.search(r"(?:written|summed up) (\d+) calls?, lost (\d+)", ran.stderr.decode())
        self.written, self.lost = (int(said[1]), int(said[2])) if said else (None, None)
        with open(path) as file:
            self.text = file.read()

    def events(self):
        """The lines of --format json."""
        lines = [json.loads(line) for line in self.text.splitlines()]
        return [line for line in lines if line.get("line") != "start"]


def build_example(machine):
    path = f"{machine.work}/cuda_events_test"
    subprocess.run(["nvcc", "-x", "cu", "-cudart", "shared", "-o", path, EXAMPLE], check=True)
    return path


def is_end_of_driver(event):
    """The runtime lets its context go when the driver has gone already, at every program's end."""
    return event["result"] == "CUDA_ERROR_DEINITIALIZED"


def test_example(machine, results):
    command = [build_example(machine), "--fail"]
    for links in ("session", "multi", "perf"):
        trace = Trace(machine, command, "--format", "json", "-e", "all", links=links)
        events = trace.events()
        calls = collections.Counter(event["event"] for event in events)
        failed = [(event["event"], event["details"].get("size"), event["result"])
                  for event in events if event.get("failed") and not is_end_of_driver(event)]
        launched = {event["details"].get("kernel") for event in events
                    if event["event"] == "cudaLaunchKernel"}
        results.check(f"the example traced, {links} links: exit status, lines, lost",
                      (0, trace.written, 0), (trace.status, len(events), trace.lost))
        results.check(f"the example traced, {links} links: its calls", EXAMPLE_CALLS,
                      {name: calls[name] for name in EXAMPLE_CALLS})
        results.check(f"the example traced, {links} links: its kernel, its failures",
                      (["vadd"], [("cudaMalloc", 1 << 50, "cudaErrorMemoryAllocation")]),
                      (sorted(launched, key=str), failed))
    shown = Trace(machine, command, "-e",
                  "memory,launch,copy,sync,stream,event,cudaGetDevice,cudaSetDevice")
    results.keep(
        "`gpuprobe trace -- ./cuda_events_test --fail` (examples/cuda_events_test.c, nvcc)",
        shown.text)


def is_launch(event):
    return "grid" in event["details"]


def test_training(machine, results):
    profiled = profile_of(train(machine, "--profile"))["launch_calls"]
    none = Trace(machine, train(machine, "--steps", "0"), "--format", "json", "-e",
                 "launch,memory,copy,sync")
    for links in ("session", "multi", "perf"):
        trace = Trace(machine, train(machine, "--steps", str(STEPS)), "--format", "json",
                      "-e", "launch,memory,copy,sync", links=links)
        events = trace.events()
        launches = [event for event in events if is_launch(event)]
        before = sum(is_launch(event) for event in none.events())
        results.check(f"PyTorch traced, {links} links, {STEPS} steps less 0: exit status, launches "
                      f"(profiler: {profiled}), lost", (0, sum(profiled.values()), 0),
                      (trace.status, len(launches) - before, trace.lost))
        results.check(f"PyTorch traced, {links} links: lines written, launches without a name, "
                      "lines out of order",
                      (trace.written, 0, 0),
                      (len(events), sum(not event["details"].get("kernel") for event in launches),
                       sum(second["time"] < first["time"]
                           for first, second in zip(events, events[1:]))))
    summary = Trace(machine, train(machine, "--steps", str(STEPS)), "-c")
    results.check("PyTorch, trace -c: exit status, lost", (0, 0), (summary.status, summary.lost))
    results.keep("`gpuprobe trace -c -- python3 train.py`", summary.text)


def test_trace(machine, results):
    test_example(machine, results)
    test_training(machine, results)
