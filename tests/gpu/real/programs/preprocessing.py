#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training on pictures that are augmented in the loop itself, on the CPU,
while the GPU has nothing to do.

The loss is read in each step; with --no-wait never, and the batches are copied from pinned memory
without waiting. Repaired: workers of a DataLoader make the batches ahead.
"""
import torch

from images import BATCH, Pictures, learn, network
from steady import Loop

WORKERS = 12


def batches_in_loop(pictures, pinned):
    """One batch after another, each made when it is needed."""
    first = 0
    while True:
        rows = [pictures[index] for index in range(first, first + BATCH)]  # FAULT
        images = torch.stack([image for image, _ in rows])  # FAULT
        labels = torch.tensor([label for _, label in rows])
        yield (images.pin_memory(), labels.pin_memory()) if pinned else (images, labels)
        first += BATCH


def train(loop, no_wait):
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    pictures = Pictures()
    if loop.repaired:
        batches = torch.utils.data.DataLoader(pictures, BATCH, num_workers=WORKERS, pin_memory=True,
                                              prefetch_factor=4)
    else:
        batches = batches_in_loop(pictures, pinned=no_wait)
    total = 0.0
    for images, labels in batches:
        images = images.to("cuda", non_blocking=True, memory_format=torch.channels_last)
        loss = learn(model, optimizer, images, labels.to("cuda", non_blocking=True))
        if not no_wait:
            total += loss.item()
        if loop.done():
            break
    torch.cuda.synchronize()


def main():
    loop = Loop(__doc__, arguments=[("--no-wait", {"action": "store_true"})])
    train(loop, loop.options.no_wait)
    loop.finish()


if __name__ == "__main__":
    main()
