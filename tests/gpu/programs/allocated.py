#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Works with tensors, stops now and then, and says what memory_stats() has of them.

usage: allocated.py eager|compiled|threads TENSORS STOPS WARM_UP

WARM_UP pieces of work come before the first stop, then TENSORS allocations with STOPS stops, the
last one at their end. At each stop it prints a line of JSON and waits for a line on its input. It
stops in the middle of a step as well as after it. If WARM_UP is 0, no tensor is made before.
"""
import collections
import concurrent.futures
import gc
import json
import random
import sys

import torch
from torch import nn

WIDTH, LAYERS = 256, 8
THREADS = 4
EVERY = 7  # pieces of work between two looks at the count: odd, so both halves of a step come up
KEYS = {"allocations": "allocation.all.allocated", "frees": "allocation.all.freed",
        "allocated_bytes": "requested_bytes.all.allocated",
        "requested": "requested_bytes.all.current", "allocated": "allocated_bytes.all.current",
        "active": "active_bytes.all.current", "reserved": "reserved_bytes.all.current",
        "inactive_split": "inactive_split_bytes.all.current"}


def stats():
    now = torch.cuda.memory_stats()
    return {name: now.get(key, 0) for name, key in KEYS.items()}


def network():
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)]
    return nn.Sequential(*layers).cuda()


def training(kept, compiled):
    """Batches vary, except those of the compiled network: each size would be compiled again."""
    network_itself = network()
    optimizer = torch.optim.AdamW(network_itself.parameters())
    model = torch.compile(network_itself) if compiled else network_itself
    while True:
        size = 256 if compiled else random.randrange(16, 1024)
        data = torch.randn(size, WIDTH, device="cuda")
        loss = model(data).square().mean()
        yield
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        kept.append(torch.empty(random.randrange(1, 1 << 20), device="cuda"))
        del data, loss
        yield


def inference(kept):
    """Threads with a stream each. Some results are used on another stream, too."""
    model = network().eval()
    streams = [torch.cuda.Stream() for _ in range(THREADS)]

    def answer(stream, other, size):
        with torch.cuda.stream(stream), torch.no_grad():
            for number in range(5):
                result = model(torch.randn(size + number, WIDTH, device="cuda"))
                if number == 0:
                    result.record_stream(other)
                kept.append(result)

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        while True:
            sizes = [random.randrange(1, 2048) for _ in streams]
            list(pool.map(answer, streams, streams[1:] + streams[:1], sizes))
            torch.cuda.synchronize()
            yield


WORK = {"eager": lambda kept: training(kept, False), "compiled": lambda kept: training(kept, True),
        "threads": inference}


def stop():
    """The counts of now, after whoever reads them has answered."""
    torch.cuda.synchronize()
    gc.collect()
    now = stats()
    print(json.dumps(now), flush=True)
    sys.stdin.readline()
    return now


def main():
    mode, (tensors, stops, warm_up) = sys.argv[1], map(int, sys.argv[2:])
    random.seed(1)
    kept = collections.deque(maxlen=64)
    work = WORK[mode](kept)
    torch.cuda.init()
    torch.cuda.synchronize()
    for _ in range(2 * warm_up):
        next(work)
    kept.clear()
    began = stop()["allocations"]
    for number in range(1, stops + 1):
        while stats()["allocations"] - began < tensors * number // stops:
            for _ in range(EVERY):
                next(work)
        stop()


main()
