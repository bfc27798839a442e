#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training of a deep network of small layers, with an optimizer that updates one parameter after
another: some thousand tiny kernels in each step.

Repaired: the optimizer is fused.
"""
import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, BATCH = 64, 256, 256


def train(loop):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH), nn.GELU()]
    model = nn.Sequential(*layers).cuda()
    if loop.repaired:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    else:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=False)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()  # FAULT
        if loop.done():
            return loss.item()


def main():
    loop = Loop(__doc__)
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
