# SPDX-License-Identifier: BSD-2-Clause
"""A training loop whose memory and launches are made at known lines.

    stacks.py STEPS [PAUSE] [--leak]

Each step launches one kernel at each line marked LAUNCH. With --leak a tensor of
32 MiB is put into a list and forgotten each step, at the line marked LEAK: larger
than all that PyTorch's allocator could cut it from. Tells `ready` after three steps.
"""
import argparse
import time

import torch

HELD = []


class Layer(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(size, device="cuda"))  # WEIGHT

    def forward(self, values):
        scaled = values * self.weight  # LAUNCH
        return self.squash(scaled)

    def squash(self, values):
        return torch.tanh(  # LAUNCH
            values)


def forget():
    HELD.append(torch.empty(32 << 20, dtype=torch.uint8, device="cuda"))  # LEAK


def train(model, values, leak):
    out = model(values)
    out.sin_()  # LAUNCH
    [out.neg_() for _ in range(1)]  # LAUNCH
    if leak:
        forget()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("steps", type=int)
    parser.add_argument("pause", type=float, nargs="?", default=0)
    parser.add_argument("--leak", action="store_true")
    options = parser.parse_args()
    values = torch.rand(3 << 20, device="cuda")  # VALUES
    model = Layer(values.numel())
    torch.cuda.synchronize()
    with torch.no_grad():
        for step in range(options.steps):
            train(model, values, options.leak)
            if step == 3:
                print("ready", flush=True)
            time.sleep(options.pause)
    torch.cuda.synchronize()  # WAIT
    print(options.steps, flush=True)


main()
