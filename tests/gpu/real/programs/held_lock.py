#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training from a replay buffer whose lock another thread holds for long,
while it compresses a snapshot.

Repaired: the snapshot is copied under the lock, and compressed without it.
"""
import threading
import time
import zlib

import torch
from torch import nn

from steady import Loop

ROWS, WIDTH, BATCH = 4096, 512, 1024


class Replay:
    """Rows that one thread samples, and another one saves now and then."""

    def __init__(self):
        self.lock = threading.Lock()
        self.rows = torch.randn(ROWS, WIDTH)

    def sample(self):
        with self.lock:  # FAULT
            return self.rows[torch.randint(0, ROWS, (BATCH,))]

    def save_holding(self):
        with self.lock:
            return len(zlib.compress(self.rows.numpy(), 1))  # FAULT

    def save(self):
        with self.lock:
            rows = self.rows.clone()
        return len(zlib.compress(rows.numpy(), 1))


def save_again_and_again(loop, save):
    loop.going.wait()
    while not loop.over.is_set():
        save()
        time.sleep(0.002)


def train(loop, replay):
    layers = []
    for _ in range(6):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    total = 0.0
    while True:
        batch = replay.sample().cuda()
        optimizer.zero_grad(set_to_none=True)
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        total += loss.item()
        if loop.done():
            return total


def main():
    loop = Loop(__doc__)
    torch.set_num_threads(1)
    replay = Replay()
    saver = threading.Thread(target=save_again_and_again, name="saver",
                             args=(loop, replay.save if loop.repaired else replay.save_holding))
    saver.start()
    train(loop, replay)
    saver.join()
    loop.finish()


if __name__ == "__main__":
    main()
