# SPDX-License-Identifier: BSD-2-Clause
"""
Trains a small network, and says what PyTorch's own statistics of its memory are.

usage: tensors.py STEPS [WARM]

With WARM steps first, it prints them, and goes on when it reads a line. Prints the differences of
memory_stats() over STEPS as JSON, and waits for a line before it ends.
"""
import gc
import json
import sys

import torch

STEPS = int(sys.argv[1])
WARM = int(sys.argv[2]) if len(sys.argv) > 2 else 0
KEYS = {"allocations": "allocation.all.allocated", "frees": "allocation.all.freed",
        "allocated_bytes": "requested_bytes.all.allocated",
        "freed_bytes": "requested_bytes.all.freed", "live": "allocation.all.current",
        "live_bytes": "requested_bytes.all.current", "active_bytes": "allocated_bytes.all.current",
        "reserved_bytes": "reserved_bytes.all.current"}
leaked = []


def stats():
    torch.cuda.synchronize()
    gc.collect()
    now = torch.cuda.memory_stats()
    return {name: now.get(key, 0) for name, key in KEYS.items()}


def step(model, optimizer):
    data = torch.randn(64, 512, device="cuda")
    loss = model(data).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    leak(data)


def leak(data):
    """A tensor of 100 KiB a step stays."""
    leaked.append(torch.empty(25600, device="cuda"))


def main():
    before = stats() if not WARM else None
    model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU(),
                                torch.nn.Linear(512, 512)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(WARM):
        step(model, optimizer)
    if WARM:
        before = stats()
        print("READY", flush=True)
        sys.stdin.readline()
    for _ in range(STEPS):
        step(model, optimizer)
    after = stats()
    print(json.dumps({"difference": {name: after[name] - before[name] for name in KEYS},
                      "now": after}), flush=True)
    sys.stdin.readline()


main()
