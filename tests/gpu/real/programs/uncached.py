#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Inference without PyTorch's cache of GPU memory, as after a hunt for a memory error:
each tensor is a cudaMalloc and a cudaFree.

Repaired: with it.
"""
import os
import sys

if "--repaired" not in sys.argv:
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
import torch  # noqa: E402
from torch import nn  # noqa: E402

from steady import Loop  # noqa: E402

LAYERS, WIDTH, BATCH = 16, 1024, 8192


@torch.no_grad()
def infer(loop):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers).to("cuda", torch.bfloat16).eval()
    batch = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)
    while True:
        result = model(batch).amax()  # FAULT
        result.item()
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    infer(loop)
    loop.finish()


if __name__ == "__main__":
    main()
