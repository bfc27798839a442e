#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Training that copies all its weights to the host in each step, and logs their mean and deviation.

Repaired: both are reckoned on the GPU each fiftieth step.
"""
import json
import os

import torch
from torch import nn

from steady import Loop

LAYERS, WIDTH, BATCH = 8, 2048, 1024
STEPS_PER_LINE = 50


def log_weights(log, model, step):
    line = {"step": step}
    for name, parameter in model.named_parameters():
        values = parameter.detach().cpu().numpy()  # FAULT
        line[name] = [float(values.mean()), float(values.std())]  # FAULT
    log.write(json.dumps(line) + "\n")


def log_weights_on_gpu(log, model, step):
    names, weights = zip(*((name, parameter.detach())
                           for name, parameter in model.named_parameters()))
    figures = torch.stack(
        [torch.stack([values.mean(), values.std()]) for values in weights]).tolist()
    log.write(json.dumps({"step": step, **dict(zip(names, figures))}) + "\n")


def train(loop, log):
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH), nn.GELU()]
    model = nn.Sequential(*layers).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    batch = torch.randn(BATCH, WIDTH, device="cuda")
    step = 0
    while True:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        if not loop.repaired:
            log_weights(log, model, step)
        elif step % STEPS_PER_LINE == 0:
            log_weights_on_gpu(log, model, step)
        step += 1
        if loop.done():
            return


def main():
    loop = Loop(__doc__)
    with open(os.devnull, "w") as log:
        train(loop, log)
    loop.finish()


if __name__ == "__main__":
    main()
