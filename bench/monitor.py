#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the monitor costs: its own CPU and memory, idle and under launches, its
start and end, the kernel memory of its maps, and the time it adds to calls.
Writes docs/performance.md.

A call is measured without a probe, with an empty session probe on the same
functions, and with the monitor, in turn (A B C A B C), each time as the 10th
percentile of short stretches (bench/calls.c); given are median, minimum and
maximum of the rounds. Absolute numbers of a shared machine are worth less than
their ratios.
"""
import argparse
import datetime
import json
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


def calls(build, kind, chunks=4000):
    """Nanoseconds of one call, or pair."""
    done = subprocess.run([f"{build}/bench/calls", kind, str(chunks)], stdout=subprocess.PIPE, check=True, text=True)
    return float(done.stdout.split()[0])


# What bench/calls.c calls. A launch's return is looked at once in 64 launches, so its floor is an entry.
KINDS = {
    "launch": ("a launch", "entry", ["cuLaunchKernel"]),
    "allocation": ("an allocation and its free", "both", ["cuMemAlloc_v2", "cuMemFree_v2"]),
    "copy": ("a copy of 64 bytes from pageable memory", "both", ["cuMemcpyHtoD_v2"]),
    "wait": ("a wait for an idle stream", "both", ["cuStreamSynchronize"]),
}


def cost_of_calls(build, kind, rounds):
    """[without, with an empty probe, with the monitor], each a list of nanoseconds."""
    _, where, functions = KINDS[kind]
    library = f"{build}/sim/libcuda.so.1"
    plain, empty, probed = [], [], []
    for _ in range(rounds):
        plain.append(calls(build, kind))
        floor = subprocess.Popen([f"{build}/bench/empty", library, where, *functions],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        floor.stdout.readline()
        empty.append(calls(build, kind))
        floor.communicate()
        process = start([f"{build}/gpuprobe", "--metrics-addr", "none", "--libcuda-path", library])
        probed.append(calls(build, kind))
        stop(process)
    return plain, empty, probed


def lives(build, links, rounds):
    """
    Seconds from exec to the first report, which comes when all probes are in, the CPU's share in them, seconds
    from SIGINT to the end; and the number of probes.
    """
    starts, cpu, ends = [], [], []
    command = [f"{build}/gpuprobe", "--json", "--metrics-addr", "none", "--display-interval", "0.01",
               "--libcuda-path", f"{build}/sim/libcuda.so.1", "--libcudart-path", f"{build}/sim/libcudart.so.13"]
    for _ in range(rounds):
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "GPUPROBE_LINKS": links})
        report = json.loads(process.stdout.readline())
        starts.append(time.monotonic() - began)
        cpu.append(cpu_seconds(process.pid))
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait()
        ends.append(time.monotonic() - began)
    return starts, cpu, ends, sum(report["probes_attached"].values())


def map_bytes(pid):
    """Kernel memory of the process's BPF maps."""
    total = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{fd}") as file:
            found = re.search(r"^map_type:.*^memlock:\s*(\d+)", file.read(), re.M | re.S)
        total += int(found.group(1)) if found else 0
    return total


def kernel_memory(build):
    """Bytes of the maps of an idle monitor, and of one that watches a mix of all calls by 64 threads."""
    process = start([f"{build}/gpuprobe", "--metrics-addr", "none", "--libcuda-path", f"{build}/sim/libcuda.so.1"])
    idle_bytes = map_bytes(process.pid)
    workload = subprocess.Popen([f"{build}/sim/mix", "--seconds", "5", "--calm"], stdout=subprocess.DEVNULL)
    time.sleep(4)
    busy_bytes = map_bytes(process.pid)
    workload.wait()
    stop(process)
    return idle_bytes, busy_bytes


def spread(values, form="{:.0f}"):
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def processor():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return found.group(1) if found else platform.machine()


def other_sections(path):
    """What bench/trace.py and bench/stacks.py wrote stays."""
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        found = re.search(r"\n<!-- bench/\w+.py -->\n.*", file.read(), re.S)
    return found.group(0) if found else ""


NOTES = """
Launches are counted in the kernel, so gpuprobe's own work does not depend on
their rate. What a launch pays is the trap of one uprobe and a look-up in a hash
map (`bpf/launch.h`); its shape and result are looked at once in 64 launches.

## Memory of the maps

Since Linux 6.1 the maps take memory as entries come. What is there from the
start is 16 bytes for each entry that there may be: 17 MB each for allocations and
for address ranges (`--max-allocations`, 1,048,576), 4 MB each for counters and
objects; and whole, the processes (3 MB), the held ones (5 MB) and the ring (1 MB).
Older kernels hold all entries from the start, some 340 MB with the defaults: 117
MB of allocations, 109 MB of ranges, 22 MB of streams (`--max-inflight`), 12 MB of
shapes (`--max-kernels`). Counters and objects have a quarter of the room there.
"""


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
    idle_maps, busy_maps = kernel_memory(options.build)
    page = f"""# Performance

Written by `bench/monitor.py` on {datetime.date.today()}: Linux {platform.release()},
{os.cpu_count()} CPUs ({processor()}), simulated CUDA libraries, load {os.getloadavg()[0]:.1f} at the start.

| what | measured | bar |
|---|---|---|
| CPU of gpuprobe, no CUDA process, {options.seconds:.0f} s | {idle_share:.3%} of one CPU | < 0.5 % |
| resident memory of gpuprobe, no CUDA process | {idle_memory / 1e6:.1f} MB | < 20 MB |
| CPU of gpuprobe while one thread launches {reached:,.0f} kernels/s | {share:.3%} of one CPU | < 1 % |
| resident memory meanwhile | {memory / 1e6:.1f} MB | |
| kernel memory of its maps, no CUDA process | {idle_maps / 1e6:.1f} MB | |
| while 64 threads mix all kinds of calls | {busy_maps / 1e6:.1f} MB | |

## Start and end

From exec until all probes are in, and from SIGINT to the end, in seconds. What
else the machine has to do makes them longer, but not the CPU time of the start.

| links | probes | start | CPU time of it | end |
|---|---|---|---|---|
"""
    for links in ("session", "multi", "perf"):
        starts, cpu, ends, sites = lives(options.build, links, options.rounds)
        page += f"| {links} | {sites} | {spread(starts, '{:.2f}')} | {spread(cpu, '{:.2f}')} | " \
                f"{spread(ends, '{:.2f}')} |\n"
    page += """
## Calls

Nanoseconds of a call of the simulated driver: alone, with a session probe that
does nothing, and with the monitor, every section on.

| what | alone | empty probe | monitor | monitor / empty probe |
|---|---|---|---|---|
"""
    for kind, (name, _, _) in KINDS.items():
        plain, empty, probed = cost_of_calls(options.build, kind, options.rounds)
        ratios = [b / a for a, b in zip(empty, probed)]
        page += f"| {name} | {spread(plain)} | {spread(empty)} | {spread(probed)} | {spread(ratios, '{:.2f}')} |\n"
    page += NOTES + other_sections(options.output)
    with open(options.output, "w") as file:
        file.write(page)
    print(page)


if __name__ == "__main__":
    main()
