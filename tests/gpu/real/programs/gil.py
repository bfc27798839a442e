#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training while a Python thread of the same process counts words: each operation of PyTorch lets
the interpreter's lock go, and waits until the counting thread gives it back.

Repaired: the words are counted in a process of their own.
"""
import collections
import multiprocessing
import threading

import torch
from torch import nn

from steady import Loop

WIDTH, BATCH = 512, 512
TEXT = "the quick brown fox jumps over the lazy dog and runs away from it as fast as it can " * 200


def count_words(going, over):
    """Statistics of a text, again and again."""
    going.wait()
    counts = collections.Counter()
    while not over.is_set():  # FAULT
        for word in TEXT.split():  # FAULT
            word = word.strip().lower()  # FAULT
            if len(word) > 2:  # FAULT
                counts[word] += 1  # FAULT


def train(loop):
    layers = []
    for _ in range(6):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        if loop.done():
            return loss.item()


def main():
    loop = Loop(__doc__)
    if loop.repaired:
        context = multiprocessing.get_context("fork")  # before CUDA is there
        going, over = context.Event(), context.Event()
        counting = context.Process(target=count_words, args=(going, over), name="counter")
        counting.start()
        loop.at_begin = going.set
        train(loop)
        over.set()
    else:
        counting = threading.Thread(target=count_words, args=(loop.going, loop.over),
                                    name="counter")
        counting.start()
        train(loop)
    counting.join()
    loop.finish()


if __name__ == "__main__":
    main()
