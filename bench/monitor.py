#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the monitor costs: its own CPU and memory, idle and under launches, and
the time it adds to a launch. Writes docs/performance.md.

Ratios are taken in one run, probed and unprobed in turn (A B A B), and given
as median with minimum and maximum; absolute numbers of a shared machine are
printed beside them and are worth less.
"""
import argparse
import datetime
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * PAGE


def start(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(2)  # attached, and start-up over
    if process.poll() is not None:
        sys.exit(f"{' '.join(command)}: {process.stderr.read().decode()}")
    return process


def stop(process):
    process.send_signal(signal.SIGINT)
    process.wait(20)


def share_of_cpu(pid, seconds):
    before, began = cpu_seconds(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(pid) - before) / (time.monotonic() - began)


def idle(gpuprobe, seconds):
    process = start([gpuprobe, "--metrics-addr", "none"])
    share, memory = share_of_cpu(process.pid, seconds), resident_bytes(process.pid)
    stop(process)
    return share, memory


def launch_workload(sim, launches, rate=None):
    command = [f"{sim}/launch", "--threads", "1", "--launches", str(launches), "--kernels", "8", "--api", "driver"]
    return command + (["--rate", str(rate)] if rate else [])


def under_launches(gpuprobe, sim, rate, seconds):
    """gpuprobe's own share of a CPU while one thread launches at `rate`, and the rate that was reached."""
    process = start([gpuprobe, "--metrics-addr", "none", "--libcuda-path", f"{sim}/libcuda.so.1"])
    launches = int(rate * (seconds + 2))
    workload = subprocess.Popen(launch_workload(sim, launches, rate), stdout=subprocess.DEVNULL)
    began = time.monotonic()
    time.sleep(1)
    share = share_of_cpu(process.pid, seconds)
    workload.wait()
    reached = launches / (time.monotonic() - began)
    memory = resident_bytes(process.pid)
    stop(process)
    return share, memory, reached


def seconds_of(command):
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began


def cost_of_a_launch(gpuprobe, sim, launches, rounds):
    """Nanoseconds a launch takes without and with the monitor, in turn."""
    plain, probed = [], []
    command, nothing = launch_workload(sim, launches), launch_workload(sim, 1)
    for _ in range(rounds):
        plain.append((seconds_of(command) - seconds_of(nothing)) / launches * 1e9)
        process = start([gpuprobe, "--metrics-addr", "none", "--libcuda-path", f"{sim}/libcuda.so.1"])
        probed.append((seconds_of(command) - seconds_of(nothing)) / launches * 1e9)
        stop(process)
    return plain, probed


def spread(values, form="{:.0f}"):
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def processor():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return found.group(1) if found else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--rate", type=int, default=500000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output", default="docs/performance.md")
    options = parser.parse_args()
    gpuprobe, sim = f"{options.build}/gpuprobe", f"{options.build}/sim"

    idle_share, idle_memory = idle(gpuprobe, options.seconds)
    share, memory, reached = under_launches(gpuprobe, sim, options.rate, options.seconds)
    plain, probed = cost_of_a_launch(gpuprobe, sim, 2000000, options.rounds)
    added = [b - a for a, b in zip(plain, probed)]
    page = f"""# Performance

Written by `bench/monitor.py` on {datetime.date.today()}: Linux {platform.release()},
{os.cpu_count()} CPUs ({processor()}), simulated CUDA libraries.

| what | measured | bar |
|---|---|---|
| CPU of gpuprobe, no CUDA process, {options.seconds:.0f} s | {idle_share:.3%} of one CPU | < 0.5 % |
| resident memory of gpuprobe, no CUDA process | {idle_memory / 1e6:.1f} MB | < 20 MB |
| CPU of gpuprobe while one thread launches {reached:,.0f} kernels/s | {share:.3%} of one CPU | < 1 % |
| resident memory meanwhile | {memory / 1e6:.1f} MB | |
| a simulated launch without gpuprobe, ns | {spread(plain)} | |
| with the monitor, every section on, ns | {spread(probed)} | |
| added to a launch, ns | {spread(added)} | |

Launches are counted in the kernel, so gpuprobe's own work does not depend on
their rate. What a launch pays is the trap of one uprobe and a
look-up in a hash map (`bpf/launch.h`).
"""
    with open(options.output, "w") as file:
        file.write(page)
    print(page)


if __name__ == "__main__":
    main()
