#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training on records at random places of a large file, read past the page cache,
as from a disk that is slow.

Repaired: the file is in the page cache. It is written to TMPDIR or /var/tmp,
where it is not there yet, and left there.
"""
import mmap
import os
import random

import torch
from torch import nn

from steady import Loop

VALUES, BATCH = 8192, 512
RECORD = 4 * VALUES
RECORDS = 16384  # 512 MiB


def table():
    """The path of the file of records."""
    path = os.path.join(os.environ.get("TMPDIR", "/var/tmp"), "gpuprobe-records")
    if not os.path.exists(path) or os.path.getsize(path) != RECORDS * RECORD:
        block = torch.randn(256, VALUES).numpy().tobytes()
        with open(f"{path}.{os.getpid()}", "wb") as file:
            for _ in range(RECORDS // 256):
                file.write(block)
            file.flush()
            os.fsync(file.fileno())
        os.rename(f"{path}.{os.getpid()}", path)
    return path


def read_batch(file, memory, numbers):
    """Records of the file into `memory`, one after another."""
    for place, number in enumerate(numbers):
        os.preadv(file, [memory[place * RECORD:(place + 1) * RECORD]], number * RECORD)  # FAULT


def train(loop):
    layers = [nn.Linear(VALUES, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(),
              nn.Linear(4096, 1)]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    file = os.open(table(), os.O_RDONLY | (0 if loop.repaired else os.O_DIRECT))
    memory = memoryview(mmap.mmap(-1, BATCH * RECORD))  # aligned to pages, as O_DIRECT wants it
    batch = torch.frombuffer(memory, dtype=torch.float32).view(BATCH, VALUES)
    chance = random.Random(1)
    while True:
        read_batch(file, memory, chance.sample(range(RECORDS), BATCH))
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch.cuda()).square().mean()
        loss.backward()
        optimizer.step()
        if loop.done():
            break
    print(f"loss {loss.item():.3f}")
    os.close(file)


def main():
    loop = Loop(__doc__)
    if loop.repaired:
        with open(table(), "rb") as file:  # once: then it is in the page cache
            while file.read(1 << 24):
                pass
    torch.set_float32_matmul_precision("high")
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
