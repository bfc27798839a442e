#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training of a small network in a container that has too little CPU: the runner moves it into a
cgroup of its own when its steady loop begins, and not where it is repaired.
"""
import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, BATCH = 16, 1024, 1024


def train(loop):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    total = 0.0
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = (model(batch) - batch).square().mean()  # FAULT
        loss.backward()  # FAULT
        optimizer.step()  # FAULT
        total += loss.item()
        if loop.done():
            return total


def main():
    loop = Loop(__doc__)
    torch.set_float32_matmul_precision("high")
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
