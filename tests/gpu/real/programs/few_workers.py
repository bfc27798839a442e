#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training on pictures that a DataLoader prepares with a single worker,
which cannot keep up with the GPU.

Repaired: with twelve.
"""
import torch
from torch.utils.data import DataLoader

from images import BATCH, Pictures, learn, network
from steady import Loop


def train(loop):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    workers = 12 if loop.repaired else 1
    loader = DataLoader(Pictures(), BATCH, num_workers=workers, pin_memory=True, prefetch_factor=4)
    for step, (images, labels) in enumerate(loader):  # FAULT
        images = images.to("cuda", non_blocking=True, memory_format=torch.channels_last)
        loss = learn(model, optimizer, images, labels.to("cuda", non_blocking=True))
        if step % 50 == 49:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
        if loop.done():
            break
    torch.cuda.synchronize()


def main():
    loop = Loop(__doc__)
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
