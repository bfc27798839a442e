#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Loops of PyTorch, on command: torch_loops.py operations|training|busy|allocation [--device cpu].

Prints a line of JSON when it is ready. For each line "STEPS WARM_UP" on its standard input it does
WARM_UP steps, then STEPS, and prints the seconds of the latter, the wait for the GPU at their end
included; at the input's end it ends. With --device cpu the same models, small, run without a GPU,
to try this script.

No graphs, no compiler: each operation is launched by itself, and each step makes the same calls.
The garbage collector runs between blocks, since it would come in some and not in others.
"""
import argparse
import gc
import json
import os
import platform
import sys
import time

import torch

OPERATIONS = 50  # of a step, each a kernel of a few microseconds
VALUES = 4096
LAYERS, WIDTH, BATCH = 8, 512, 256  # of the training that waits for Python to launch
# The training that waits for the GPU.
BUSY_LAYERS, BUSY_WIDTH, BUSY_INNER, BUSY_BATCH = 2, 4096, 16384, 8192
SMALL = 64  # of each of these without a GPU
BUFFERS, BUFFER_BYTES = 8, 64 << 10
FIRST_STEPS = 10  # state of the optimizer, workspaces, choice of algorithms


def operations(device):
    """Launches of the smallest operations and nothing else:
    the highest launch rate that PyTorch reaches."""
    values = torch.randn(VALUES, device=device)

    def step():
        with torch.no_grad():
            for _ in range(OPERATIONS // 2):
                values.mul_(1.0009765625)
                values.tanh_()
    return step


def training(device):
    """A small model in eager mode, which the GPU does faster than Python can launch it."""
    width, rows = (WIDTH, BATCH) if device == "cuda" else (SMALL, SMALL)
    layers = []
    for _ in range(LAYERS):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = torch.randn(rows, width, device=device)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(batch).square().mean().backward()
        optimizer.step()
    return step


def busy(device):
    """A large model in bfloat16: milliseconds of GPU time for some tens of launches. It reads its
    loss in each step, as programs do. The GPU therefore runs dry once a step, and the cost of
    launching shows."""
    width, inner, rows = ((BUSY_WIDTH, BUSY_INNER, BUSY_BATCH)
                          if device == "cuda" else (SMALL, SMALL, SMALL))
    layers = []
    for _ in range(BUSY_LAYERS):
        layers += [torch.nn.Linear(width, inner), torch.nn.GELU(), torch.nn.Linear(inner, width)]
    model = torch.nn.Sequential(*layers).to(device, torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(rows, width, device=device, dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        loss.item()
    return step


def allocation(device):
    """Tensors that come and go. The caller turns PyTorch's caching allocator off by
    the environment."""
    # Keeps the driver's block of small buffers.
    held = torch.empty(BUFFER_BYTES, dtype=torch.uint8, device=device)

    def step():
        tensors = [torch.empty_like(held) for _ in range(BUFFERS)]
        tensors.clear()
    return step


LOOPS = {"operations": operations, "training": training, "busy": busy, "allocation": allocation}


def run(step, steps, synchronize):
    synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    synchronize()
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loop", choices=LOOPS)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    options = parser.parse_args()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer
    torch.manual_seed(1)
    torch.set_num_threads(1)
    cuda = options.device == "cuda"
    synchronize = torch.cuda.synchronize if cuda else lambda: None
    step = LOOPS[options.loop](options.device)
    run(step, FIRST_STEPS, synchronize)
    gc.collect()
    gc.freeze()
    gc.disable()
    print(json.dumps({"python": platform.python_version(),
                      "torch": torch.__version__, "cuda": torch.version.cuda,
                      "gpu": torch.cuda.get_device_name() if cuda else "none"}),
          file=answers, flush=True)
    for line in sys.stdin:
        steps, warm_up = map(int, line.split())
        gc.collect()
        run(step, warm_up, synchronize)
        print(f"{run(step, steps, synchronize):.9f}", file=answers, flush=True)


if __name__ == "__main__":
    main()
