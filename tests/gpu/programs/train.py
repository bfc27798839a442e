#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A PyTorch training loop to be watched: an MLP of 8 layers with Adam.

Prints one JSON object. With --profile it runs under PyTorch's own profiler
and adds the launch calls that the profiler saw in the steps, which is what
gpuprobe's count is compared with.
"""
import argparse
import collections
import json

import torch


def build(width):
    layers = []
    for _ in range(8):
        layers += [torch.nn.Linear(width, width), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers).cuda()


def train(model, optimizer, batch, steps):
    for _ in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()


def launch_calls(profile):
    """Launch calls by name, as the profiler's rows have them."""
    calls = collections.Counter()
    for row in profile.key_averages():
        name = row.key
        if name in ("cudaLaunchKernel", "cudaLaunchKernelExC") or name.startswith("cuLaunchKernel"):
            calls[name] += row.count
    return dict(calls)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()

    torch.manual_seed(1)
    model = build(options.width)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    batch = torch.randn(256, options.width, device="cuda")
    train(model, optimizer, batch, options.warmup)
    result = {"steps": options.steps, "torch": torch.__version__, "cuda": torch.version.cuda,
              "device": torch.cuda.get_device_name()}
    if options.profile:
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            train(model, optimizer, batch, options.steps)
        result["launch_calls"] = launch_calls(profile)
    else:
        train(model, optimizer, batch, options.steps)
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
