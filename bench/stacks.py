#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What stacks cost: the time that each way of taking them adds to an allocation, a wait and a
launch in the monitor, and the memory that they hold for 100,000 live allocations. Writes a
section of docs/performance.md.

What is compared runs in turn (A B C A B C), see bench/monitor.py and bench/calls.c.
"""
import argparse
import datetime
import os
import platform
import re
import subprocess
import time

from monitor import calls, map_bytes, processor, resident_bytes, spread, start, stop

BEGIN, END = "<!-- bench/stacks.py -->", "<!-- end of bench/stacks.py -->"
MODES = ("off", "fp", "auto", "dwarf")
# Of bench/calls.c.
KINDS = {
    "allocation": "an allocation and its free",
    "deep": "the same below 30 frames",
    "wait": "a wait, however short",
    "launch": "a launch",
}
LIVE = 100_000
CHUNKS = 800  # of 500 calls
BAR_BYTES = 64  # of kernel memory for a live allocation beyond its record


def monitor(build, mode, *more):
    return start([f"{build}/gpuprobe", "--metrics-addr", "none", "--libcuda-path", f"{build}/sim/libcuda.so.1",
                  "--stack", mode, *more])


def cost(build, kind, rounds):
    """{mode: [nanoseconds]} of a call under the monitor, and alone."""
    sums = {mode: [] for mode in ("alone", *MODES)}
    for _ in range(rounds):
        sums["alone"].append(calls(build, kind, CHUNKS))
        for mode in MODES:
            process = monitor(build, mode, *(["--min-wait", "1ns"] if mode != "off" else []))
            sums[mode].append(calls(build, kind, CHUNKS))
            stop(process)
    return sums


def memory(build, mode):
    """(kernel memory, resident memory) that 100,000 live allocations of one site add, in bytes."""
    process = monitor(build, mode)
    maps, resident = map_bytes(process.pid), resident_bytes(process.pid)
    with subprocess.Popen([f"{build}/sim/memory", "--threads", "1", "--pairs", "1", "--keep", str(LIVE), "--api",
                           "driver", "--hold", "6"], stdout=subprocess.DEVNULL) as workload:
        time.sleep(4)
        added = map_bytes(process.pid) - maps, resident_bytes(process.pid) - resident
        workload.kill()
    stop(process)
    return added


def cost_table(build, rounds):
    text = "| what | alone | " + " | ".join(MODES) + " | fp less off | fp / off |\n" + "|---" * (len(MODES) + 4) + "|\n"
    for kind, name in KINDS.items():
        sums = cost(build, kind, rounds)
        added = [fp - off for fp, off in zip(sums["fp"], sums["off"])]
        ratios = [fp / off for fp, off in zip(sums["fp"], sums["off"])]
        cells = [spread(sums[mode]) for mode in ("alone", *MODES)]
        text += f"| {name} | {' | '.join(cells)} | {spread(added)} | {spread(ratios, '{:.2f}')} |\n"
    return text


def memory_table(build):
    text = "| `--stack` | kernel memory | for each allocation | more than off | gpuprobe's own memory |\n|---|---|---|---|---|\n"
    base = None
    for mode in MODES:
        maps, resident = memory(build, mode)
        base = maps if base is None else base
        text += f"| {mode} | {maps / 1e6:.1f} MB | {maps / LIVE:.0f} B | {(maps - base) / LIVE:.1f} B | " \
                f"{resident / 1e6:.1f} MB |\n"
    return text


def section(build, rounds):
    return f"""{BEGIN}
## Stacks

Written by `bench/stacks.py` on {datetime.date.today()}: Linux {platform.release()}, {os.cpu_count()} CPUs
({processor()}), simulated CUDA libraries, load {os.getloadavg()[0]:.1f} at the start. The monitor with `--stack MODE`:
nanoseconds of a call; {rounds} rounds, what is compared in turn. An allocation has its stack taken each time, a
launch at first sight and then one in 64 at a place.

{cost_table(build, rounds)}
What {LIVE:,} live allocations of one call site add to the memory of the maps and of gpuprobe (bar: at most
{BAR_BYTES} bytes of kernel memory each beyond the record; the stack's id, 8 bytes of it, is there in every mode, and
a stack is kept once, however many allocations it has):

{memory_table(build)}{END}
"""


def replace_section(path, text, begin=BEGIN, end=END):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    found = re.compile(re.escape(begin) + ".*?" + re.escape(end) + "\n", re.S)
    page = found.sub(lambda _: text, page) if found.search(page) else page + "\n" + text
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", default="docs/performance.md")
    options = parser.parse_args()
    text = section(options.build, options.rounds)
    replace_section(options.output, text)
    print(text)


if __name__ == "__main__":
    main()
