#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A case study: training with a scratch buffer of 1 GiB that is made in each step, or once.
See case.py.

With PYTORCH_NO_CUDA_MEMORY_CACHING=1 what is made is allocated by cudaMalloc, the
activations and gradients of each step too.
"""
import torch

import case

BUFFER = 1 << 30
WIDTH = 1024


def make(keep):
    model = torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(4)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    batch = torch.randn(WIDTH, WIDTH, device="cuda")
    kept = torch.empty(BUFFER // 4, device="cuda") if keep else None

    def step():
        scratch = kept if keep else torch.empty(BUFFER // 4, device="cuda")
        scratch.zero_()
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).square().mean() + scratch[0]
        loss.backward()
        optimizer.step()
        loss.item()

    return step


if __name__ == "__main__":
    case.main({"before": lambda: make(False), "after": lambda: make(True)})
