#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: inference as a CUDA graph, captured once and launched for each batch;
results are read every ten batches."""
import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, BATCH = 32, 4096, 2048
STEPS_PER_RESULT = 10


def network():
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
    return nn.Sequential(*layers).to("cuda", torch.bfloat16).eval()


def capture(model, batch):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model(batch)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = model(batch).amax()
    return graph, result


@torch.no_grad()
def infer(loop):
    batch = torch.zeros(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)
    graph, result = capture(network(), batch)
    inputs = torch.randn(4, BATCH, WIDTH, dtype=torch.bfloat16).pin_memory()
    step = 0
    while True:
        batch.copy_(inputs[step % len(inputs)], non_blocking=True)
        graph.replay()
        step += 1
        if step % STEPS_PER_RESULT == 0:
            result.item()
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    infer(loop)
    loop.finish()


if __name__ == "__main__":
    main()
