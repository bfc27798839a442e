#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: inference on four streams in turn; a stream's result is read when its turn
has come again."""
import torch
from torch import nn

from steady import Loop

STREAMS, LAYERS, WIDTH, BATCH = 4, 24, 4096, 1024


class Lane:
    """A stream with a batch in it."""

    def __init__(self):
        self.stream, self.done = torch.cuda.Stream(), torch.cuda.Event()
        self.given = torch.randn(BATCH, WIDTH, dtype=torch.bfloat16).pin_memory()
        self.result = torch.empty(BATCH, dtype=torch.bfloat16).pin_memory()
        self.is_under_way = False

    def submit(self, model):
        with torch.cuda.stream(self.stream):
            batch = self.given.to("cuda", non_blocking=True)
            self.result.copy_(model(batch).amax(1), non_blocking=True)
            self.done.record()
        self.is_under_way = True

    def take(self):
        """The result, when it is there."""
        if self.is_under_way:
            self.done.synchronize()
        return self.result


@torch.no_grad()
def infer(loop):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
    model = nn.Sequential(*layers).to("cuda", torch.bfloat16).eval()
    torch.cuda.synchronize()
    lanes = [Lane() for _ in range(STREAMS)]
    best = 0.0
    while True:
        for lane in lanes:
            best = max(best, float(lane.take()[0]))
            lane.submit(model)
        if loop.done():
            return best


def main():
    loop = Loop(__doc__)
    infer(loop)
    loop.finish()


if __name__ == "__main__":
    main()
