#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A case study: steps of many small operations, launched one by one,
or as a CUDA graph captured once. See case.py."""
import torch

import case

VALUES = 16384
OPERATIONS = 50  # of a step, each a kernel


def operations(values):
    for _ in range(OPERATIONS // 2):
        values.mul_(1.0009765625)
        values.tanh_()


def make():
    values = torch.randn(VALUES, device="cuda")
    return lambda: operations(values)


def make_captured():
    values = torch.randn(VALUES, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        operations(values)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        operations(values)
    return graph.replay


if __name__ == "__main__":
    with torch.no_grad():
        case.main({"before": make, "after": make_captured})
