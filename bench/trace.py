#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the tracer costs and bears: the time it adds to calls, the calls a second that it
takes in without loss, and the lines a second of its table beside those of bpftrace.
Writes a section of docs/performance.md.

The caller (bench/calls.c) has one core, gpuprobe or bpftrace another. What is compared runs
in turn (A B C A B C); given are median, minimum and maximum of the rounds. Each round adds
up: lines written and calls lost are the calls that were made, or the benchmark fails.
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
import tempfile
import time

FAMILIES = "launch,copy"
# What bench/calls.c calls, and the function behind it.
KINDS = {"launch": ("a launch", "cuLaunchKernel"), "copy": ("a copy of 64 bytes", "cuMemcpyHtoD_v2")}
# Calls a second that must be borne without loss.
BARS = {"json": 800_000, "tsv": 1_000_000}
COLUMNS = "time,process,pid,tid,event,details,duration,result"
BEGIN, END = "<!-- bench/trace.py -->", "<!-- end of bench/trace.py -->"


class Machine:
    """Where the programs are, and the cores for the caller and for the reader."""

    def __init__(self, build, directory):
        self.build = build
        self.library = f"{build}/sim/libcuda.so.1"
        self.file = f"{directory}/trace"
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) < 2:
            sys.exit("two cores are needed: one calls and one reads")
        self.reader, self.caller = cores[:2]

    def caller_command(self, *arguments):
        return ["taskset", "-c", str(self.caller), f"{self.build}/bench/calls", *map(str, arguments)]

    def call(self, *arguments):
        """Runs bench/calls.c to its end; the numbers that it prints."""
        return numbers(subprocess.run(self.caller_command(*arguments), stdout=subprocess.PIPE, check=True,
                                      text=True).stdout)

    def command(self, form, file=None):
        return [f"{self.build}/gpuprobe", "trace", "-e", FAMILIES, "--format", form, "-O", file or self.file]

    def trace(self, form, *arguments, file=None, more=()):
        """The same under gpuprobe trace: (the numbers, the calls that were lost, CPU seconds of all together)."""
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(["taskset", "-c", str(self.reader), *self.command(form, file), *more, "--",
                                        *self.caller_command(*arguments)], text=True, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=said)
            out = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            said.seek(0)
            if status:
                sys.exit(f"status {status}: {said.read()}")
            return numbers(out), lost_in(said.read()), usage.ru_utime + usage.ru_stime


def numbers(text):
    return [float(word) for word in text.split()]


def lost_in(said):
    """The calls that the last line of a trace says were lost."""
    return int(re.findall(r"written \d+ calls?, lost (\d+)", said)[-1])


def lines_of(form, path):
    """Lines of calls in the file."""
    with open(path, "rb") as file:
        if form == "json":
            return sum(1 for line in file if b'"event"' in line)
        return sum(1 for line in file if not line.startswith(b"#")) - 1  # the head


# --- what a call pays ---

def cost(machine, kind, rounds, chunks):
    """Nanoseconds of a call: [(name, values)], A B C D in turn."""
    sums = {"alone": [], "empty": [], "json": [], "tsv": []}
    for _ in range(rounds):
        sums["alone"].append(machine.call(kind, chunks)[0])
        floor = subprocess.Popen([f"{machine.build}/bench/empty", machine.library, "both", KINDS[kind][1]],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        floor.stdout.readline()
        sums["empty"].append(machine.call(kind, chunks)[0])
        floor.communicate()
        for form in ("json", "tsv"):
            sums[form].append(machine.trace(form, kind, chunks)[0][0])
    return sums


# --- what is borne without loss ---

def bear(machine, form, kind, rate, seconds):
    """(calls a second, lost, megabytes, the reader's CPU ns a call) of a run at `rate`, 0: as fast as it can."""
    (_, _, idle), _, start = machine.trace(form, kind, 1, 0.01)  # loading and attaching
    (calls, took, own), lost, used = machine.trace(form, kind, rate, seconds)
    lines = lines_of(form, machine.file)
    if lines + lost != calls:
        sys.exit(f"{form}, {kind}: {lines} lines and {lost} lost are not the {calls:.0f} calls")
    return calls / took, lost, os.path.getsize(machine.file) / 1e6, (used - own - start + idle) / calls * 1e9


# --- lines of the table ---

def table_lines(machine, kind, seconds):
    """Lines a second of the table to /dev/null while the caller calls as fast as it can."""
    (calls, took, _), lost, _ = machine.trace("table", kind, 0, seconds, file="/dev/null", more=["-o", COLUMNS])
    return (calls - lost) / took, lost


def bpftrace_script(machine):
    with open("bench/bpftrace_table.bt", encoding="utf-8") as file:
        return file.read().replace('"LIBCUDA"', f'"{os.path.realpath(machine.library)}"')


def bpftrace_lines(machine, kind, seconds, script):
    """
    Lines a second that bpftrace prints meanwhile; those that it prints after the caller's end, from
    its buffers, count too.
    """
    with open(machine.file, "wb") as out:
        process = subprocess.Popen(["taskset", "-c", str(machine.reader), "bpftrace", script],
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        time.sleep(5)  # its probes are in
        _, took, _ = machine.call(kind, 0, seconds)
        process.send_signal(signal.SIGINT)
        process.wait(120)
    with open(machine.file, encoding="utf-8", errors="replace") as file:
        text = file.read()
    lines = sum(KINDS[kind][1] in line for line in text.splitlines())
    if not lines:
        sys.exit(f"bpftrace printed nothing: {text[:500]}")
    return lines / took, sum(map(int, re.findall(r"Lost (\d+) events", text)))


# --- the page ---

def spread(values, form="{:,.0f}"):
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{form.format(middle)} ({form.format(low)} to {form.format(high)})"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return found.group(1) if found else platform.machine()


def cost_section(machine, options):
    text = """
Nanoseconds of a call of the simulated driver: alone, with a session probe that does
nothing on entry and return, and traced into a file. The bar is 1.25 times the empty probe.

| what | alone | empty probe | `json` | `tsv` | `json` / empty | `tsv` / empty |
|---|---|---|---|---|---|---|
"""
    for kind, (name, _) in KINDS.items():
        sums = cost(machine, kind, options.rounds, options.chunks)
        ratios = {form: [b / a for a, b in zip(sums["empty"], sums[form])] for form in ("json", "tsv")}
        text += f"| {name} | " + " | ".join(spread(values) for values in sums.values()) + " | " + \
            " | ".join(spread(values, "{:.2f}") for values in ratios.values()) + " |\n"
    return text


def bear_section(machine, options):
    text = f"""
One thread calls for {options.seconds:g} s at a rate or as fast as it can, into a file. Lines and
lost calls together are the calls that were made, in each round. A caller that does not
reach the rate is held up by the probe, not by the reader, whose CPU time a call (loading
and attaching apart) tells what it could take in.

| what | format | asked | calls/s | lost | of calls | reader, ns a call | file |
|---|---|---|---|---|---|---|---|
"""
    for kind, (name, _) in KINDS.items():
        for form, bar in BARS.items():
            for rate in (bar, 0):
                runs = [bear(machine, form, kind, rate, options.seconds) for _ in range(options.rounds)]
                rates, lost, sizes, costs = zip(*runs)
                shares = [b / (a * options.seconds) for a, b in zip(rates, lost)]
                text += f"| {name} | `{form}` | {f'{rate:,}/s' if rate else 'all it can'} | {spread(rates)} | " \
                        f"{spread(lost)} | {spread(shares, '{:.2%}')} | {spread(costs)} | " \
                        f"{statistics.median(sizes):,.0f} MB |\n"
    return text


def table_section(machine, options):
    script = f"{machine.file}.bt"
    with open(script, "w", encoding="utf-8") as file:
        file.write(bpftrace_script(machine))
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(table_lines(machine, "launch", options.seconds))
        theirs.append(bpftrace_lines(machine, "launch", options.seconds, script))
    ratios = [a[0] / b[0] for a, b in zip(ours, theirs)]
    command = " ".join(machine.command("table", "/dev/null") + ["-o", COLUMNS])
    return f"""
Lines of the table a second while one thread launches as fast as it can. gpuprobe
writes to /dev/null; of bpftrace the lines that it printed count, not those that it lost.
Each is as fast as the caller with its probes, or slower. The bar is ten times bpftrace's.

| what | lines/s | lost |
|---|---|---|
| `{command}` | {spread([rate for rate, _ in ours])} | {spread([lost for _, lost in ours])} |
| `bpftrace bench/bpftrace_table.bt` | {spread([rate for rate, _ in theirs])} | {spread([lost for _, lost in theirs])} |
| ratio | {spread(ratios, '{:.1f}')} | |
"""


def put_section(path, section):
    """Replaces the section between the marks, or adds it at the end."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    section = f"{BEGIN}\n{section}{END}\n"
    if BEGIN in text:
        text = text[:text.index(BEGIN)] + section + text[text.index(END) + len(END) + 1:]
    else:
        text = text.rstrip("\n") + "\n\n" + section
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--chunks", type=int, default=1000, help="stretches of 500 calls a measured cost")
    parser.add_argument("--parts", default="cost,bear,table", help="which of them to measure")
    parser.add_argument("--directory", help="for the files that are written [the system's temporary one]")
    parser.add_argument("--output", default="docs/performance.md")
    options = parser.parse_args()
    sections = {"cost": cost_section, "bear": bear_section, "table": table_section}
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        machine = Machine(options.build, directory)
        section = f"""## The tracer

Written by `bench/trace.py` on {datetime.date.today()}: Linux {platform.release()}, {os.cpu_count()} CPUs
({processor()}), simulated CUDA libraries, load {load:.1f} at the start. The caller and
the reader have a core each. `gpuprobe trace -e {FAMILIES} -O FILE -- COMMAND`, COMMAND being
`bench/calls`; {options.rounds} rounds, what is compared in turn.
"""
        for part in options.parts.split(","):
            section += sections[part](machine, options)
    put_section(options.output, section)
    print(section)


if __name__ == "__main__":
    main()
