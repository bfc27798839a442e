#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training that prints the norm of each layer's gradient and weights in each step:
a wait for the GPU each.

Repaired: the norm of them all stays on the GPU, and is printed each hundredth step.
"""
import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, BATCH = 24, 1024, 512
STEPS_PER_LINE = 100


def show_norms(model, step):
    for name, parameter in model.named_parameters():
        gradient = parameter.grad.norm().item()  # FAULT
        weight = parameter.detach().norm().item()  # FAULT
        print(f"step {step} {name}: gradient {gradient:.4g}, weight {weight:.4g}")  # FAULT


def train(loop):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.ReLU()]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    norms = torch.zeros((), device="cuda")
    step = 0
    while True:
        optimizer.zero_grad(set_to_none=True)
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        if not loop.repaired:
            show_norms(model, step)
        else:
            norms += torch.stack(
                torch._foreach_norm([parameter.grad for parameter in model.parameters()])).norm()
            if step % STEPS_PER_LINE == STEPS_PER_LINE - 1:
                print(f"step {step}: norm of the gradients {norms.item() / STEPS_PER_LINE:.4g}")
                norms.zero_()
        optimizer.step()
        step += 1
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    torch.set_float32_matmul_precision("high")
    train(loop)
    loop.finish()


if __name__ == "__main__":
    main()
