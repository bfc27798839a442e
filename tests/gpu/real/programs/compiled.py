#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sound: training of a network that torch.compile has compiled, large enough for the GPU."""
import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, INNER, BATCH = 3, 4096, 8192, 8192
STEPS_PER_LINE = 20


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.first, self.second = (nn.LayerNorm(WIDTH), nn.Linear(WIDTH, INNER),
                                              nn.Linear(INNER, WIDTH))

    def forward(self, values):
        return values + self.second(nn.functional.gelu(self.first(self.norm(values))))


def train(loop):
    model = nn.Sequential(*(Block() for _ in range(LAYERS))).to("cuda", torch.bfloat16)
    model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)
    batch = torch.randn(BATCH, WIDTH, device="cuda", dtype=torch.bfloat16)
    step = 0
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).float().square().mean()
        loss.backward()
        optimizer.step()
        step += 1
        if step % STEPS_PER_LINE == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
