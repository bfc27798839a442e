#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Work whose GPU times are known: by PyTorch's profiler, or by events around copies.

    gpu_times.py MODE [TRUTH.json]

With TRUTH.json PyTorch's profiler (or, for copies, CUDA events) measures and the result is written
there, by name of kernel: {"kernels": {NAME: [count, ns]}, "copies": {NAME: [count, ns]}}. Without
it the same work runs plainly. MODE: train, compile, graph (replays of 100 nodes), long_graph
(1,000), copies.
"""
import collections
import json
import sys

import torch
from torch import nn

STEPS = 40
REPLAYS = 30


def train(steps=STEPS, compiled=False):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.LayerNorm(2048),
                          nn.Linear(2048, 512)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    forward = torch.compile(model) if compiled else model
    batch = torch.randn(8192, 512, device="cuda")
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (forward(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
    loss.item()


def replay(nodes):
    data = torch.randn(1 << 20, device="cuda")
    data.mul_(1.0)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(nodes):
            data.mul_(1.0001)
    for _ in range(REPLAYS):
        graph.replay()
    torch.cuda.synchronize()


def copy():
    """64 copies of 64 MiB each way from pinned memory."""
    host = torch.empty(64 << 20, dtype=torch.uint8).pin_memory()
    device = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    for _ in range(64):
        device.copy_(host, non_blocking=True)
        host.copy_(device, non_blocking=True)
    torch.cuda.synchronize()


MODES = {
    "train": train,
    "compile": lambda: train(compiled=True),
    "graph": lambda: replay(100),
    "long_graph": lambda: replay(1000),
    "copies": copy,
}


def profiled(work):
    from torch.profiler import ProfilerActivity, profile  # pylint: disable=import-outside-toplevel
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        work()
    found = {"kernels": collections.defaultdict(lambda: [0, 0]),
             "copies": collections.defaultdict(lambda: [0, 0]),
             "sets": collections.defaultdict(lambda: [0, 0])}
    for event in profiler.profiler.kineto_results.events():
        if event.device_type() != torch.autograd.DeviceType.CUDA:
            continue
        kind = ("copies" if event.name().startswith("Memcpy")
                else "sets" if event.name().startswith("Memset") else "kernels")
        found[kind][event.name()][0] += 1
        found[kind][event.name()][1] += event.duration_ns()
    return found


def main():
    work = MODES[sys.argv[1]]
    torch.cuda.init()
    if len(sys.argv) < 3:
        return work()
    with open(sys.argv[2], "w") as file:
        json.dump(profiled(work), file)
    return None


if __name__ == "__main__":
    main()
