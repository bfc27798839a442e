# SPDX-License-Identifier: BSD-2-Clause
"""What PyTorch's programs of the case studies share: each has one loop, written in two ways,
with a fault (before) and without (after).

    PROGRAM before|after|both STEPS ROUNDS [--profile]

prints {"before": [seconds of each round], "after": [...]}; `both` alternates. With --profile it
runs under PyTorch's profiler and adds what that saw from the first step to the last, those that
warm up as well.
"""
import argparse
import json
import time

import torch

from loop import seen_by_profiler

WARM_UP = 3  # steps before the first round of each way


def a_round(step, steps):
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return time.perf_counter() - began


def run(makers, options):
    steps = {way: make() for way, make in makers.items() if options.way in (way, "both")}
    seconds = {way: [] for way in makers}
    for step in steps.values():
        a_round(step, WARM_UP)
    for _ in range(options.rounds):
        for way, step in steps.items():
            seconds[way].append(a_round(step, options.steps))
    return seconds


def main(makers):
    """`makers`: by way a function that makes what the loop needs and returns its step."""
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=[*makers, "both"])
    parser.add_argument("steps", type=int)
    parser.add_argument("rounds", type=int)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(1)
    if options.profile:
        torch.zeros(1, device="cuda")  # the device is set up before
        activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        with torch.profiler.profile(activities=activities) as profile:
            seconds = run(makers, options)
        seconds["profile"] = seen_by_profiler(profile)
    else:
        seconds = run(makers, options)
    print(json.dumps(seconds), flush=True)
