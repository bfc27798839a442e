#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch training in the ways people run it, to be watched: eager, compiled, as CUDA graphs.

Each step copies a batch from pinned memory and one from pageable memory, trains
an MLP, and reads the loss back. Prints one JSON object: PyTorch's memory
statistics at the end, and with --profile what its profiler saw in the steps:
kernels that ran, launch calls, copies and sets with their bytes. --keep FILE
keeps the profiler's trace. --hold S keeps everything for S seconds more, after
a line READY.
"""
import argparse
import collections
import json
import os
import tempfile
import time

import torch


def build(width):
    layers = []
    for _ in range(4):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).cuda()


class Eager:
    """One training step after another, as most programs do."""

    def __init__(self, options):
        self.model = build(options.width)
        if options.mode == "compile":
            self.model = torch.compile(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-4)
        self.pinned = torch.randn(256, options.width).pin_memory()
        self.pageable = torch.randn(256, options.width)

    def step(self):
        batch = self.pinned.to("cuda", non_blocking=True)
        target = self.pageable.to("cuda")
        self.optimizer.zero_grad(set_to_none=True)
        loss = (self.model(batch) - target).square().mean()
        loss.backward()
        self.optimizer.step()
        loss.item()


class Graph:
    """The forward pass captured once, then replayed at each step."""

    def __init__(self, options):
        self.model = build(options.width)
        self.batch = torch.zeros(256, options.width, device="cuda")
        self.pinned = torch.randn(256, options.width).pin_memory()
        side = torch.cuda.Stream()
        with torch.cuda.stream(side), torch.no_grad():
            for _ in range(3):
                self.model(self.batch)
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph), torch.no_grad():
            self.output = self.model(self.batch)

    def step(self):
        self.batch.copy_(self.pinned, non_blocking=True)
        self.graph.replay()


def run(work, steps):
    for _ in range(steps):
        work.step()
    torch.cuda.synchronize()


def seen_by_profiler(profile, keep):
    """From its trace: what ran on the GPU, and which calls launched it."""
    path = keep or os.path.join(tempfile.mkdtemp(), "trace.json")
    profile.export_chrome_trace(path)
    with open(path) as file:
        events = json.load(file)["traceEvents"]
    if not keep:
        os.unlink(path)
    kernels, calls, copies = 0, collections.Counter(), collections.defaultdict(lambda: [0, 0])
    for event in events:
        category, name = event.get("cat"), event.get("name", "")
        if category == "kernel":
            kernels += 1
        elif category in ("gpu_memcpy", "gpu_memset"):
            copies[name][0] += 1
            copies[name][1] += event["args"]["bytes"]
        elif (category in ("cuda_runtime", "cuda_driver")
              and ("LaunchKernel" in name or "GraphLaunch" in name)):
            calls[name] += 1
    return {"kernels": kernels, "launch_calls": dict(calls), "copies": dict(copies)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["eager", "compile", "graph"], default="eager")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--hold", type=float, default=0)
    options = parser.parse_args()

    torch.manual_seed(1)
    work = Graph(options) if options.mode == "graph" else Eager(options)
    run(work, 10)
    result = {"torch": torch.__version__, "cuda": torch.version.cuda, "pid": os.getpid()}
    if options.profile:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            run(work, options.steps)
        result["profile"] = seen_by_profiler(profile, options.keep)
    else:
        run(work, options.steps)
    stats = torch.cuda.memory_stats()
    result["memory"] = {key: stats[key] for key in ("reserved_bytes.all.current",
                                                    "num_device_alloc", "num_device_free")
                        if key in stats}
    print(json.dumps(result), flush=True)
    if options.hold:
        print("READY", flush=True)
        time.sleep(options.hold)


if __name__ == "__main__":
    main()
