# SPDX-License-Identifier: BSD-2-Clause
"""What the sections of the benchmark share: where the programs are, gpuprobe and empty probes for
the time of a with block, what bench/calls.c measures, CPU and memory of a process, figures of
several rounds and how they are shown."""
import contextlib
import os
import pathlib
import re
import select
import signal
import statistics
import subprocess
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
START_SECONDS = 30  # that a program may take until its probes are in


class Setup:
    """The setup of one run: build and sim (directories), libcuda and libcudart of the simulation,
    quick, rounds."""

    def __init__(self, build, quick=False, rounds=None):
        self.build = pathlib.Path(build)
        self.sim = self.build / "sim"
        self.libcuda = self.sim / "libcuda.so.1"
        self.libcudart = self.sim / "libcudart.so.13"
        self.quick = quick
        self.rounds = rounds or (2 if quick else 5)

    def command(self, *words, libraries=None):
        """gpuprobe's command line: `words`, and the libraries [libcuda of the simulation]."""
        line = [str(self.build / "gpuprobe"), *map(str, words)]
        for library in libraries or [self.libcuda]:
            line += ["--libcudart-path" if "cudart" in str(library) else "--libcuda-path",
                     str(library)]
        return line

    @contextlib.contextmanager
    def gpuprobe(self, *words, libraries=None, env=None, program=()):
        """gpuprobe, from when its probes are in until SIGINT; `words` begin with the command, none
        being the monitor; `program` is its COMMAND. Gives the process; after the block, of the
        tracer, with `events`, the calls it wrote, and `lost`."""
        libraries = libraries or [self.libcuda]
        if not words or str(words[0]).startswith("-"):
            words = ("--metrics-addr", "none", *words)
        command = [*self.command(*words, "-v", libraries=libraries),
                   *(["--", *map(str, program)] if program else [])]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env={**os.environ, **(env or {})})
        try:
            wait_for_lines(process, [f"{library}: ".encode() for library in libraries])
            time.sleep(0.3)  # the first look at all processes
            yield process
        finally:
            said = stop(process)
        counts = re.findall(r"written (\d+) calls?, lost (\d+)", said) or [(0, 0)]
        process.events, process.lost = map(int, counts[-1])

    @contextlib.contextmanager
    def empty(self, where, functions):
        """Empty session probes on the entries of the functions or on both ends ("entry", "both"),
        in the library that has them."""
        with contextlib.ExitStack() as stack:
            for library in (self.libcuda, self.libcudart):
                names = [name for name in functions
                         if name.startswith("cuda") == (library == self.libcudart)]
                if names:
                    process = stack.enter_context(subprocess.Popen(
                        [self.build / "bench/empty", library, where, *names], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE))
                    stack.callback(process.stdin.close)  # that ends it
                    process.stdout.readline()
            yield

    def calls(self, kind, milliseconds, threads=1):
        """Nanoseconds of one call, or pair, as bench/calls.c reports them. For one thread it is the
        10th percentile of short stretches, which other programs disturb least; for several the
        median, which includes their contention."""
        low, middle, _, _ = self.numbers("-t", threads, kind, milliseconds)
        return low if threads == 1 else middle

    def numbers(self, *arguments):
        """What bench/calls.c prints."""
        done = subprocess.run([self.build / "bench/calls", *map(str, arguments)],
                              stdout=subprocess.PIPE, check=True, text=True)
        return [float(word) for word in done.stdout.split()]


# --- programs and what they use ---

def wait_for_lines(process, beginnings):
    """Until lines of its stderr have had each of the beginnings in them."""
    said, end = b"", time.monotonic() + START_SECONDS
    while not all(beginning in said for beginning in beginnings):
        ready, _, _ = select.select([process.stderr], [], [], max(0, end - time.monotonic()))
        part = os.read(process.stderr.fileno(), 65536) if ready else b""
        if not part:
            process.kill()
            raise RuntimeError(
                f"{' '.join(map(str, process.args))} is not ready: {said.decode(errors='replace')}")
        said += part


def stop(process, seconds=20):
    """By SIGINT, which it must heed; what it has said on a stderr that is a pipe."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    return (said or b"").decode(errors="replace")


def cpu_seconds(pid):
    """In ticks of 10 ms, of all its threads, those that have ended too."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def cpu_nanoseconds(pid):
    """Exactly, of the threads that there are."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as file:
            total += int(file.read().split()[0])
    return total


def share_of_cpu(pid, seconds):
    """Of one core, over the next so many seconds."""
    before, began = cpu_nanoseconds(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_nanoseconds(pid) - before) / 1e9 / (time.monotonic() - began)


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * PAGE


def map_bytes(pid):
    """Kernel memory of the process's BPF maps."""
    total = 0
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as file:
            found = re.search(r"^map_type:.*^memlock:\s*(\d+)", file.read(), re.M | re.S)
        total += int(found.group(1)) if found else 0
    return total


# --- figures ---

def in_turn(rounds, measures):
    """Calls each of {name: function} in turn, A B C A B C: {name: [what it returned]}."""
    values = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            values[name].append(measure())
    return values


def ratios(these, those):
    """Of each round."""
    return [a / b for a, b in zip(these, those)]


def differences(these, those):
    return [a - b for a, b in zip(these, those)]


def figure(values):
    """What is kept of the values of several rounds."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values),
            "runs": list(values)}


def spread(kept, form="{:,.0f}"):
    """A figure as `median (min to max)`."""
    median, least, most = (form.format(kept[key]) for key in ("median", "min", "max"))
    return f"{median} ({least} to {most})"


def verdict(value, bar, form="{:.2f}"):
    """Whether a value is at most its bar, and if not by how much."""
    if value <= bar:
        return f"≤ {form.format(bar)}: met"
    return f"≤ {form.format(bar)}: missed by {form.format(value - bar)} ({(value - bar) / bar:.0%})"


def table(head, rows):
    """Of Markdown."""
    lines = ["| " + " | ".join(map(str, line)) + " |\n" for line in (head, *rows)]
    return lines[0] + "|---" * len(head) + "|\n" + "".join(lines[1:])
