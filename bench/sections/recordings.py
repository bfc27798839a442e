# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe record`: how large files are, by level and program; the CPU time of gpuprobe for a
summary beside the monitor, and for all calls, with and without readings, beside `trace` into a
file, in turn; and what a launch costs the program."""
import re
import subprocess
import tempfile
import time
from pathlib import Path

from setup import (differences, figure, in_turn, ratios, share_of_cpu, spread, table,
                   verdict)

TITLE = "Recordings"
ORDER = 46
NOBODY = ("--comm", "no-such-program")  # there are other users' programs on the machine
BARS = {"training": 20e6, "launch": 16, "cpu": 0.005, "calls": 1.0}
NOTHING = "nothing, while others' programs come and go"
TRAINING = "a training of 200 kernels at 50 call sites"
RATE = 20_000  # launches a second
# {way: gpuprobe's words, without the file; None: no gpuprobe}
PRICES = {
    "no probe": None,
    "`record --no-readings`": ("record", "-q", "--no-readings"),
    "`record --max-overhead off`": ("record", "-q", "--max-overhead", "off"),
}
# {what: (gpuprobe's workload, what it has calls of)}
CALLS = {
    "launches, 1 thread": ("launch", "--launches", 300_000, "--kernels", 8),
    "launches, 64 threads": ("launch", "--threads", 64, "--launches", 5000, "--kernels", 8),
    "allocations of random sizes and frees, 1 thread":
        ("memory", "--pairs", 100_000, "--size", "16M", "--random-sizes"),
    "allocations of random sizes and frees, 64 threads":
        ("memory", "--threads", 64, "--pairs", 2000, "--size", "16M", "--random-sizes"),
}


def record(setup, file, *words):
    """gpuprobe's messages."""
    done = subprocess.run([setup.build / "gpuprobe", "record", "-o", file, *map(str, words)],
                          check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr


def summary(setup, folder, seconds, *words):
    """Bytes of a summary of so many seconds, and what that is in an hour."""
    file = folder / f"{time.monotonic_ns()}.rec"
    record(setup, file, "--level", "summary", *words)
    size = file.stat().st_size
    return {"seconds": seconds, "bytes": size, "hour": size / seconds * 3600}


def start_idle(setup, folder, seconds):
    """A summary without a process. It takes long, so others run beside."""
    file = folder / "idle.rec"
    return file, subprocess.Popen([*setup.command("record", "-q", "-o", file, "--level", "summary",
                                                  "--duration", seconds, *NOBODY)])


def idle(started, seconds):
    file, process = started
    assert process.wait() == 0
    size = file.stat().st_size
    return {"seconds": seconds, "bytes": size, "hour": size / seconds * 3600}


def bytes_of_calls(setup, folder, quick, name):
    """Of a call in a recording of all calls."""
    workload, *words = CALLS[name]
    if quick:
        words = [max(1, word // 10) if isinstance(word, int) and word >= 1000 else word
                 for word in words]
    file = folder / "calls.rec"
    said = record(setup, file, "--no-readings", "--buffer", "256M", "-e", "launch,memory", "--",
                  setup.sim / workload, *words)
    calls, lost = map(int, re.search(r"recorded (\d+) calls in .*, lost (\d+)", said).groups())
    if not calls:
        raise RuntimeError(f"{name}: {said}")
    return {"calls": calls, "lost": lost, "bytes": file.stat().st_size,
            "each": file.stat().st_size / calls}


def cpu_of(setup, program, seconds, *words):
    """The share of a core that gpuprobe takes while the program runs."""
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as target:
        try:
            with setup.gpuprobe(*words, "-p", target.pid) as process:
                time.sleep(2)  # steps and threads are found
                return share_of_cpu(process.pid, seconds)
        finally:
            target.kill()


def compare(setup, program, seconds, ways):
    return {name: figure(values) for name, values in in_turn(
        setup.rounds, {name: lambda words=words: cpu_of(setup, program, seconds, *words)
                       for name, words in ways.items()}).items()}


def price_of(setup, folder, words):
    """Nanoseconds of a launch."""
    milliseconds = 200 if setup.quick else 1000
    if not words:
        return setup.calls("launch", milliseconds)
    with setup.gpuprobe(*words, "--comm", "calls", "-o", folder / "price.rec"):
        return setup.calls("launch", milliseconds)


def prices(setup, folder):
    return {way: figure(values) for way, values in in_turn(
        setup.rounds, {way: lambda words=words: price_of(setup, folder, words)
                       for way, words in PRICES.items()}).items()}


def costs(setup, folder, seconds):
    training = [setup.build / "bench/sites", "3600"]
    launches = [setup.build / "bench/calls", "launch", str(RATE), "3600"]
    return {
        "summary": compare(setup, training, seconds, {
            "monitor": ("--display-interval", "0", "--interval", "1"),
            "verdict": ("--verdict", "--interval", "1"),
            "summary": ("record", "--level", "summary", "--max-overhead", "off", "-o",
                        folder / "cpu.rec")}),
        "calls": compare(setup, launches, seconds, {
            "trace": ("trace", "-O", folder / "cpu.txt"),
            "record": ("record", "--no-readings", "-o", folder / "cpu.rec"),
            "both": ("record", "-o", folder / "cpu.rec")}),
    }


def measure(setup):
    long, some = (10, 5) if setup.quick else (600, 90)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = start_idle(setup, folder, long)
        try:
            sites = [setup.build / "bench/sites", some]
            sizes = {what: summary(setup, folder, some, "--max-overhead", "off", *words, "--",
                                   *sites)
                     for what, words in ((TRAINING, ()),
                                         (f"{TRAINING}, with stacks", ("--stack", "fp")))}
            calls = {name: bytes_of_calls(setup, folder, setup.quick, name) for name in CALLS}
            cost = costs(setup, folder, 3 if setup.quick else 10)
            return {"sizes": {NOTHING: idle(started, long), **sizes},
                    "calls": calls, "costs": cost, "prices": prices(setup, folder)}
        finally:
            started[1].kill()


def show_readings(result):
    """Older results lack this."""
    if "prices" not in result:
        return ""
    return f"""`record` with readings: {spread(result["costs"]["calls"]["both"], "{:.1%}")}.

A launch of one thread, in ns of its processor time, while no probe is taken out. By default
`--max-overhead` takes those of readings out for a part of the time:

""" + table(["gpuprobe", "a launch, ns"],
            [[way, spread(found)] for way, found in result["prices"].items()])


def show(result):
    sizes, calls, cost = result["sizes"], result["calls"], result["costs"]
    rows = [[name, f"{found['seconds']} s", f"{found['bytes'] / 1e3:,.0f} kB",
             f"{found['hour'] / 1e6:.2f} MB",
             "" if name == NOTHING else
             verdict(found["hour"] / 1e6, BARS["training"] / 1e6, "{:.0f} MB")]
            for name, found in sizes.items()]
    each = [[name, f"{found['calls']:,}", found["lost"], f"{found['each']:.1f}",
             verdict(found["each"], BARS["launch"], "{:.0f}") if "launch" in name else ""]
            for name, found in calls.items()]
    summaries, all_calls = cost["summary"], cost["calls"]
    more = figure(differences(summaries["summary"]["runs"], summaries["monitor"]["runs"]))
    ratio = figure(ratios(all_calls["record"]["runs"], all_calls["trace"]["runs"]))
    names = {"monitor": "the monitor", "verdict": "the monitor with `--verdict`",
             "summary": "`record --level summary`"}
    return """`record --level summary`, a reading each second. An idle node takes 1 MB an hour at
most, as `slow_idle_recording` of `tests/kernel/suite.sh` shows; this machine is not idle.

""" + table(["what is recorded", "for", "file", "an hour", "bar"], rows) + """
`record --level calls --no-readings`. The bar is for launches.

""" + table(["what is recorded", "calls", "lost", "bytes a call", "bar"], each) + f"""
CPU time of gpuprobe, while {TRAINING} runs, with a report
or a reading each second:

""" + table(["gpuprobe", "share of a core"],
            [[names[name], spread(found, "{:.2%}")] for name, found in summaries.items()]) + f"""
A summary takes {spread(more, "{:+.2%}")} of a core more than the monitor: bar
{verdict(more["median"], BARS["cpu"], "{:.1%}")}.

The same while one thread makes up to {RATE:,} launches a second: `trace` into a file
{spread(all_calls["trace"], "{:.1%}")}, `record --no-readings`
{spread(all_calls["record"], "{:.1%}")}. The ratio is {spread(ratio, "{:.2f}")}: bar
{verdict(ratio["median"], BARS["calls"])}.
""" + show_readings(result)
