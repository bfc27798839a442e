#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A well-written PyTorch training loop, to be watched: batches made by workers and pinned, copied
without waiting, bfloat16, a fused optimizer, the loss read now and then, a model large enough to
keep the GPU busy.

    healthy.py STEPS

Prints {"seconds": of the steps, "loss": the last one that was read, "workers": of the loader}.
"""
import json
import os
import sys
import time

import torch

WIDTH, DEPTH, BATCH = 4096, 8, 1024
STEPS_PER_LOSS = 20
WORKERS = 4


class Samples(torch.utils.data.Dataset):
    """Rows of a table that is there before: the loader is to be no bottleneck."""

    def __init__(self, steps):
        self.table = torch.randn(4 * BATCH, WIDTH)
        self.batches = steps

    def __len__(self):
        return self.batches

    def __getitem__(self, index):
        first = index % 4 * BATCH
        return self.table[first : first + BATCH].clone()


def build():
    layers = []
    for _ in range(DEPTH):
        layers += [torch.nn.Linear(WIDTH, WIDTH, device="cuda"), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


def train(model, optimizer, loader):
    loss, shown = None, None
    for step, batch in enumerate(loader):
        batch = batch.to("cuda", non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        if step % STEPS_PER_LOSS == STEPS_PER_LOSS - 1:
            shown = loss.item()
    torch.cuda.synchronize()
    return shown


def main():
    shared = os.statvfs("/dev/shm")
    # Batches of workers come through it: two for each are under way,
    # and as many may wait for the pinning.
    workers = WORKERS if shared.f_bavail * shared.f_frsize > 4 * WORKERS * BATCH * WIDTH * 4 else 0
    loader = torch.utils.data.DataLoader(Samples(int(sys.argv[1])), batch_size=None,
                                         num_workers=workers, pin_memory=True)
    torch.manual_seed(1)
    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    began = time.perf_counter()
    loss = train(model, optimizer, loader)
    print(json.dumps({"seconds": time.perf_counter() - began, "loss": loss, "workers": workers}),
          flush=True)


if __name__ == "__main__":
    main()
