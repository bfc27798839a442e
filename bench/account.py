#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the account of a run costs, which `stat` and `diagnose` keep: the time it adds to calls, beside a
session probe that does nothing and beside the monitor, and gpuprobe's own CPU at many calls a second. Writes a
section of docs/performance.md.

What is compared runs in turn (A B C A B C), see bench/monitor.py and bench/calls.c.
"""
import argparse
import datetime
import os
import platform
import subprocess
import time

from monitor import calls, launch_workload, processor, resident_bytes, share_of_cpu, spread, start, stop
from stacks import replace_section

BEGIN, END = "<!-- bench/account.py -->", "<!-- end of bench/account.py -->"
KINDS = {
    "launch": ("a launch", ["cuLaunchKernel"]),
    "allocation": ("an allocation and its free", ["cuMemAlloc_v2", "cuMemFree_v2"]),
    "copy": ("a copy of 64 bytes from pageable memory", ["cuMemcpyHtoD_v2"]),
    "wait": ("a wait for an idle stream", ["cuStreamSynchronize"]),
}
COMMANDS = {"monitor": ["--metrics-addr", "none"], "stat": ["stat"], "diagnose": ["diagnose", "--stack", "off"]}
CHUNKS = 1000  # of 500 calls
BAR_RATIO, BAR_CPU = 1.25, 0.02


def attached(command):
    """The verifier takes longer over an account than `start` waits for on a busy machine."""
    process = start(command)
    time.sleep(3)
    return process


def cost(build, kind, rounds):
    """{what: [nanoseconds]} of a call: alone, with an empty probe, and with each command."""
    library = f"{build}/sim/libcuda.so.1"
    sums = {what: [] for what in ("alone", "empty", *COMMANDS)}
    for _ in range(rounds):
        sums["alone"].append(calls(build, kind, CHUNKS))
        with subprocess.Popen([f"{build}/bench/empty", library, "both", *KINDS[kind][1]], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as floor:
            floor.stdout.readline()
            sums["empty"].append(calls(build, kind, CHUNKS))
            floor.communicate()
        for command, words in COMMANDS.items():
            process = attached([f"{build}/gpuprobe", *words, "--libcuda-path", library])
            sums[command].append(calls(build, kind, CHUNKS))
            stop(process)
    return sums


def cost_table(build, rounds):
    text = "| what | alone | empty probe | " + " | ".join(COMMANDS) + " | stat / empty probe | of the least |\n" + \
           "|---" * (len(COMMANDS) + 5) + "|\n"
    for kind, (name, _) in KINDS.items():
        sums = cost(build, kind, rounds)
        ratios = [a / b for a, b in zip(sums["stat"], sums["empty"])]
        cells = [spread(sums[what]) for what in ("alone", "empty", *COMMANDS)]
        text += f"| {name} | {' | '.join(cells)} | {spread(ratios, '{:.2f}')} | " \
                f"{min(sums['stat']) / min(sums['empty']):.2f} |\n"
    return text


def under_launches(build, rate, seconds):
    """gpuprobe's own share of a CPU while one thread launches, its memory, and the rate that was reached."""
    process = attached([f"{build}/gpuprobe", "stat", "--interval", "1", "--libcuda-path", f"{build}/sim/libcuda.so.1"])
    launches = int(rate * (seconds + 2))
    with subprocess.Popen(launch_workload(f"{build}/sim", launches, rate), stdout=subprocess.DEVNULL) as workload:
        began = time.monotonic()
        time.sleep(1)
        share = share_of_cpu(process.pid, seconds)
        workload.wait()
        reached = launches / (time.monotonic() - began)
    memory = resident_bytes(process.pid)
    stop(process)
    return share, memory, reached


def section(build, options):
    shares = [under_launches(build, options.rate, options.seconds) for _ in range(3)]
    share, memory, reached = sorted(shares)[1]
    return f"""{BEGIN}
## The account of a run

Written by `bench/account.py` on {datetime.date.today()}: Linux {platform.release()}, {os.cpu_count()} CPUs
({processor()}), simulated CUDA libraries, load {os.getloadavg()[0]:.1f} at the start. Nanoseconds of a call of the simulated
driver: alone, with a session probe that does nothing, with the monitor, and with `stat` and `diagnose`, stacks off;
{options.rounds} rounds, what is compared in turn (bar: {BAR_RATIO} of an empty probe). Of a launch the monitor looks at
one return in 64, an account at each: so its empty probe runs at both ends. The last column has the least of all rounds,
which knows least of what else the machine does.

{cost_table(build, options.rounds)}
What every call of `stat` pays: two readings of the clock (some 30 ns each), its function's histogram, two atomic
additions, and its thread's own counters, to which nobody else writes. Copies pay for the look at the host's
mapping, at their size and at what was copied before; allocations for their record, as in the monitor, and for their size.

| what | measured | bar |
|---|---|---|
| CPU of `stat --interval 1` while one thread launches {reached:,.0f} kernels/s | {share:.3%} of one CPU | < {BAR_CPU:.0%} |
| its resident memory meanwhile | {memory / 1e6:.1f} MB | |
{END}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rate", type=int, default=500000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--output", default="docs/performance.md")
    options = parser.parse_args()
    text = section(options.build, options)
    replace_section(options.output, text, BEGIN, END)
    print(text)


if __name__ == "__main__":
    main()
