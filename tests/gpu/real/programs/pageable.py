#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inference on pictures that are copied to the GPU from ordinary memory, 192 MiB in each step.

Repaired: the memory is pinned, and a copy is not waited for.
"""
import torch
from torch import nn

from steady import Loop

BATCH, SIDE, BATCHES = 256, 512, 4


def network():
    layers = [nn.Conv2d(3, 32, 8, stride=8), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=4), nn.ReLU(),
              nn.Flatten(), nn.Linear(64 * 16 * 16, 10)]
    return nn.Sequential(*layers).to("cuda", torch.bfloat16).eval()


@torch.no_grad()
def classify(loop):
    model = network()
    pictures = [torch.randint(0, 256, (BATCH, 3, SIDE, SIDE), dtype=torch.uint8)
                for _ in range(BATCHES)]
    if loop.repaired:
        pictures = [batch.pin_memory() for batch in pictures]
    counts = torch.zeros(10, device="cuda", dtype=torch.int64)
    step = 0
    while True:
        batch = pictures[step % BATCHES].to("cuda", non_blocking=loop.repaired)  # FAULT
        classes = model(batch.to(torch.bfloat16) / 255).argmax(1)
        counts += torch.bincount(classes, minlength=10)
        step += 1
        if loop.done():
            print(counts.tolist())
            return


def main():
    loop = Loop(__doc__)
    classify(loop)
    loop.finish()


if __name__ == "__main__":
    main()
