#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training that gives all cached memory back to the driver after each step,
to be safe from a lack of memory.

Repaired: it does not.
"""
import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, BATCH = 24, 1024, 8192


def train(loop):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers).to("cuda", torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        if not loop.repaired:
            torch.cuda.empty_cache()  # FAULT
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
