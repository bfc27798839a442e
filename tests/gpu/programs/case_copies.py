#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A case study: batches copied to the device from pageable memory,
or from pinned memory without waiting. See case.py."""
import torch

import case

VALUES = 32 << 20  # of a batch: 128 MiB
BATCHES = 2


def make(pinned):
    batches = [torch.randn(VALUES) for _ in range(BATCHES)]
    if pinned:
        batches = [batch.pin_memory() for batch in batches]
    total = torch.zeros((), device="cuda")
    state = {"step": 0}

    def step():
        state["step"] += 1
        batch = batches[state["step"] % BATCHES].to("cuda", non_blocking=pinned)
        total.add_(batch.square_().sum())

    return step


if __name__ == "__main__":
    with torch.no_grad():
        case.main({"before": lambda: make(False), "after": lambda: make(True)})
