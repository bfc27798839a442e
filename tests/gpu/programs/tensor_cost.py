#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes and frees tensors 30 Python frames deep, on command; each answer is a line of JSON.

  run tensors|training STEPS    steps, after an eighth as many: seconds and tensors of them
  record all|alloc|off          PyTorch's own recorder: stacks of allocations and frees, of
                                allocations alone, or none
"""
import gc
import json
import sys
import time

import torch

DEPTH = 30
SIZES = [1000, 300_000, 5_000, 70_000]  # of both pools of the allocator
ENTRIES = 100_000
LAYERS, WIDTH, BATCH = 8, 128, 64  # small: Python is slower than the GPU


def deep(work, frames=DEPTH - 1):
    if frames:
        return deep(work, frames - 1)
    return work()


def make_tensors():
    for size in SIZES * 8:
        torch.empty(size, device="cuda")  # freed at once


def training():
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(BATCH, WIDTH, device="cuda")

    def step():
        model(batch).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return step


def made():
    return torch.cuda.memory_stats().get("allocation.all.allocated", 0)


def run(step, steps):
    def many(count):
        for _ in range(count):
            step()
        torch.cuda.synchronize()

    gc.collect()
    deep(lambda: many(max(steps // 8, 1)))
    before, began = made(), time.perf_counter()
    deep(lambda: many(steps))
    seconds = time.perf_counter() - began
    return {"seconds": seconds, "tensors": made() - before}


def record(what):
    if what == "off":
        torch.cuda.memory._record_memory_history(enabled=None)
    else:
        torch.cuda.memory._record_memory_history(context=what, stacks="python",
                                                 max_entries=ENTRIES)
    return {"recorder": what}


def main():
    torch.cuda.init()
    steps = {"tensors": make_tensors, "training": training()}
    for step in steps.values():
        run(step, 50)
    gc.collect()
    gc.freeze()
    gc.disable()
    print(json.dumps({"torch": torch.__version__, "gpu": torch.cuda.get_device_name()}), flush=True)
    for line in sys.stdin:
        word, *rest = line.split()
        answer = run(steps[rest[0]], int(rest[1])) if word == "run" else record(rest[0])
        print(json.dumps(answer), flush=True)


main()
