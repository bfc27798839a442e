# SPDX-License-Identifier: BSD-2-Clause
"""
The timeline of `gpuprobe trace --format chrome` beside the trace of PyTorch's profiler, of one run:
in each thread the same launches, by kernel, in the same order.
"""
import collections
import gzip
import json
import os
import subprocess

STEPS = 50


def bare(name):
    """A kernel's own name: "void at::native::fill<4>(int)" and "fill" are the same."""
    kept, depth = [], 0
    for part in name.replace("(anonymous namespace)::", ""):
        depth += part == "<"
        if part == "(" and not depth:
            break
        if not depth:
            kept.append(part)
        depth -= part == ">"
    return "".join(kept).split("::")[-1].split(" ")[-1]


def of_profiler(path):
    """{thread: kernels in the order of their launches}"""
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    kernels = {event["args"]["correlation"]: bare(event["name"]) for event in events
               if event.get("cat") == "kernel"}
    launches = collections.defaultdict(list)
    for event in sorted((event for event in events if "ts" in event), key=lambda e: e["ts"]):
        if event.get("cat") in ("cuda_runtime", "cuda_driver"):
            kernel = kernels.get(event["args"].get("correlation"))
            if kernel:
                launches[event["tid"]].append(kernel)
    return launches


def of_gpuprobe(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    launches = collections.defaultdict(list)
    for event in sorted((event for event in events if "ts" in event), key=lambda e: e["ts"]):
        if event.get("cat") == "launch" and event["args"].get("kernel"):
            launches[event["tid"]].append(bare(event["args"]["kernel"]))
    return launches


def holds(whole, part):
    """Whether the list `part` is in one piece in the list `whole`."""
    return "\n" + "\n".join(part) + "\n" in "\n" + "\n".join(whole) + "\n"


def test_timeline(machine, results):
    for mode in ("eager", "compile"):
        ours, theirs = f"{machine.work}/ours.json.gz", f"{machine.work}/theirs.json"
        ran = subprocess.run(
            [machine.gpuprobe, "trace", "--format", "chrome", "-O", ours, "--",
             *machine.python("loop.py", "--mode", mode, "--steps", str(STEPS), "--profile",
                             "--keep", theirs)], stdout=subprocess.DEVNULL, timeout=240)
        seen, true = of_gpuprobe(ours), of_profiler(theirs)
        results.tell(f"timeline, {mode}: launches that the profiler saw, by thread; kernels; bytes",
                     (sorted(map(len, true.values())),
                      len({kernel for thread in true.values() for kernel in thread}),
                      os.path.getsize(ours)))
        results.check(f"timeline, {mode}: exit status, threads whose launches are in PyTorch's "
                      "order", (0, len(true)),
                      (ran.returncode, sum(holds(seen[thread], kernels)
                                           for thread, kernels in true.items())))
