#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What GPU times cost a program: bench/gpu/gpu_times.py [--build build] [--rounds 30].

As root, on a GPU. CUPTI can only be loaded at a program's start, so each loop (loops.c,
torch_loops.py) runs in several processes: alone, under `stat`, and under `stat --gpu-times`. They
take turns, a block of equal steps each, while the others wait for their turn. A figure is the mean
over the rounds of a block's time by that of the process alone, with its 95 % interval. Prints a
table.
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
from intervals import interval  # noqa: E402  pylint: disable=wrong-import-position
from programs import (Failed, Program, READY_SECONDS, SIM_LATENCY,  # noqa: E402
                      build_loops)  # pylint: disable=wrong-import-position

WAYS = {"stat": ["stat"], "stat --gpu-times": ["stat", "--gpu-times"],
        "stat --gpu-times=5%": ["stat", "--gpu-times=5%"]}
LOOPS = {"launches of an empty kernel": ("c", "launch"),
         "PyTorch, the smallest operations": ("torch", "operations"),
         "PyTorch, training, launch-bound": ("torch", "training"),
         "PyTorch, training, GPU-bound": ("torch", "busy")}
BLOCK_SECONDS = 0.2


def command_of(loop, options, work):
    where, kind = LOOPS[loop]
    if where == "c":
        return [f"{work}/loops", kind]
    return [options.python, f"{HERE}/torch_loops.py", kind,
            *(["--device", "cpu"] if options.simulate else [])]


def started(loop, options, work):
    """{way or None: its Program, ready}."""
    command, made = command_of(loop, options, work), {}
    sim = os.path.abspath(f"{options.build}/sim")
    environment = {"CUDA_SIM_LATENCY": SIM_LATENCY, "CUDA_SIM_DIRECTORY": sim,
                   "LD_LIBRARY_PATH": sim} if options.simulate else {}
    for way in (None, *options.ways):
        around = [] if way is None else [options.gpuprobe, *WAYS[way], "-q", "--"]
        made[way] = Program(loop, [*around, *command], 1, environment)
        made[way].start()
        made[way].wait_until_ready(time.monotonic() + READY_SECONDS)
    return made


def measured(made, options):
    """{way: [a block's time by that of the process alone]}."""
    step = made[None].find_step()
    ratios = {way: [] for way in made if way}
    for program in made.values():
        program.set_block(BLOCK_SECONDS, step)
        program.block(BLOCK_SECONDS)
    for _ in range(options.rounds):
        before = made[None].block(BLOCK_SECONDS)
        found = {way: program.block(BLOCK_SECONDS) for way, program in made.items() if way}
        alone = statistics.fmean([before, made[None].block(BLOCK_SECONDS)])
        for way, seconds in found.items():
            ratios[way].append(seconds / alone - 1)
    return step, ratios


def row(loop, options, work):
    made = {}
    try:
        made = started(loop, options, work)
        step, ratios = measured(made, options)
    except (Failed, OSError) as error:
        return f"| {loop} | not measured: {' '.join(str(error).split())} |"
    finally:
        for program in made.values():
            program.let_end()
        for program in made.values():
            program.end(time.monotonic() + 20)
    shown = []
    for way in options.ways:
        one = interval(ratios[way])
        shown.append(f"{100 * one['mean']:+.1f} % ({100 * one['low']:+.1f} to "
                     f"{100 * one['high']:+.1f})")
    return f"| {loop} | {step * 1e6:,.1f} | " + " | ".join(shown) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=f"{HERE}/../../build", help="[%(default)s]")
    parser.add_argument("--rounds", type=int, default=30, help="[%(default)s]")
    parser.add_argument("--only", action="append", choices=LOOPS, help="this loop alone")
    parser.add_argument("--way", action="append", choices=WAYS, dest="ways", help="[all]")
    parser.add_argument("--python", default=sys.executable, help="with PyTorch [this one]")
    parser.add_argument("--simulate", action="store_true", help="on the simulated CUDA")
    options = parser.parse_args()
    options.ways = options.ways or list(WAYS)
    names = ["gpuprobe"] if options.simulate else ["portable/gpuprobe", "gpuprobe"]
    options.gpuprobe = next(os.path.abspath(path) for path in
                            (f"{options.build}/{name}" for name in names) if os.path.exists(path))
    work = tempfile.mkdtemp(prefix="gpuprobe-times-")
    try:
        build_loops(work, os.path.abspath(f"{options.build}/sim") if options.simulate else None)
        print("| loop | us a step | " + " | ".join(options.ways) + " |")
        print("|---|---|" + "---|" * len(options.ways))
        for loop in options.only or LOOPS:
            print(row(loop, options, work), flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
