#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe costs real programs, by attaching and detaching it in turn.

    # as root, on a GPU, slice by slice; each adds to its file
    bench/gpu/price/run.py --output a.jsonl --only training --only decoding
    bench/gpu/price/run.py --output b.jsonl --only calls
    # the table of all slices, anywhere
    bench/gpu/price/run.py --merge a.jsonl b.jsonl > price.md

Needs Python, PyTorch and a build of gpuprobe (make portable will do). A slice takes at most --limit
seconds, which its programs share; each has a line in the file as soon as it is measured. Slices of
the same program add up, so a program gets its 60 pairs in one slice or in several.
"""
import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE), str(HERE.parent)]
import outcome  # noqa: E402  pylint: disable=wrong-import-position
import price_table  # noqa: E402  pylint: disable=wrong-import-position
from measured import Failed, KINDS, Program  # noqa: E402
from watchers import Broken, watchers  # noqa: E402
from windows import FIRST, SETTLING, bpf_runs, visit  # noqa: E402

OVERHEAD = 1.2  # seconds of a visit beside its windows: gpuprobe starts and ends
SETTLED = 2  # seconds of a program's steps that are not counted
FAILURES = 3  # visits that failed so often end a program's turn
SIM_LATENCY = "cuLaunchKernel=2us,cuStreamSynchronize=2us"  # about a real driver's
GROUPS = {"calls": [name for name, kind in KINDS.items() if kind.calls],
          "programs": [name for name, kind in KINDS.items() if not kind.calls]}


def operations():
    """{function: what it does}, of the table of the CUDA API."""
    with open(ROOT / "api/functions.tsv") as file:
        rows = csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t")
        return {row["symbol"]: row["operation"] for row in rows}


def gpuprobe_of(options):
    """A portable one first: the other's libraries may be missing here."""
    names = ["gpuprobe"] if options.simulate else ["portable/gpuprobe", "gpuprobe"]
    found = [path for path in (f"{options.build}/{name}" for name in names) if os.path.exists(path)]
    return (os.path.abspath(found[0]) if found
            else sys.exit(f"{options.build} has no gpuprobe: make portable"))


# --- a program's turn ---

def visits(program, watcher, options, deadline):
    """The visits that fit; failed ones are told."""
    done, failures, table = [], 0, operations()
    while len(done) < options.pairs and failures < FAILURES:
        seconds = options.window[len(done) % len(options.window)]
        if time.monotonic() + 2 * seconds + FIRST + SETTLING + OVERHEAD > deadline:
            break
        try:
            done.append(visit(program, watcher, seconds, table))
        except (Broken, OSError, ValueError, KeyError) as error:
            failures += 1
            print(f"{program.name}: {error}", file=sys.stderr, flush=True)
    return done


def bpf_of_step(program, watcher):
    """What the BPF programs do in a step."""
    try:
        found = bpf_runs(program, watcher)
    except (Broken, OSError, ValueError, KeyError) as error:
        print(f"{program.name}: {error}", file=sys.stderr, flush=True)
        return None
    if not found:
        return None
    steps = outcome.steps_in(program.times(), found["span"])
    return {key: found[key] / steps for key in ("runs", "ns")} if steps else None


def turn(name, options, work, deadline):
    """A program's line."""
    environment = {}
    if options.simulate:
        sim = os.path.abspath(f"{options.build}/sim")
        environment = {"LD_LIBRARY_PATH": sim, "CUDA_SIM_DIRECTORY": sim,
                       "CUDA_SIM_LATENCY": SIM_LATENCY}
    program = Program(name, work, options.python, options.simulate, environment)
    line = {"program": name, "pairs": [], "visits": 0, "bpf": None, "failed": None}
    try:
        program.start()
        time.sleep(SETTLED)
        watcher = watchers(gpuprobe_of(options), work)["monitor"]
        watcher.cpus = program.cpus and program.cpus[1]
        line["bpf"] = bpf_of_step(program, watcher)
        done = visits(program, watcher, options, deadline)
        times = program.times()
        line["visits"] = len(done)
        line["pairs"] = [one for one in (outcome.pair(times, each) for each in done) if one]
        line["lost"] = watcher.lost
        if not line["pairs"]:
            line["failed"] = "no visit had enough steps"
    except (Failed, OSError, ValueError) as error:
        line["failed"] = " ".join(str(error).split())
    finally:
        program.end()
    line["machine"] = about(options, program)
    return line


# --- the machine ---

def said_by(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=20, check=False).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def processor():
    with open("/proc/cpuinfo") as file:
        return next((line.split(":", 1)[1].strip() for line in file
                     if line.startswith("model name")), platform.machine())


def about(options, program):
    gpus = said_by("nvidia-smi", "--query-gpu=name,driver_version",
                   "--format=csv,noheader").splitlines()
    ready = program.ready[0] if program.ready else {}
    return {"date": datetime.date.today().isoformat(), "kernel": platform.release(),
            "gpu": ("simulated CUDA" if options.simulate
                    else f"{len(gpus)} x {gpus[0]}" if gpus else "no GPU"),
            "cpu": processor(), "cpus": os.cpu_count(), "pinned": bool(program.cpus),
            "torch": f"PyTorch {ready['torch']}" if "torch" in ready else "no PyTorch",
            "gpuprobe": said_by(gpuprobe_of(options), "--version").splitlines()[0]}


# --- the command line ---

def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--merge", nargs="+", metavar="FILE",
                        help="print the table of these slices, and measure nothing")
    parser.add_argument("--output", default="price.jsonl",
                        help="the slice, to which lines are added [%(default)s]")
    parser.add_argument("--only", action="append", choices=[*KINDS, *GROUPS],
                        help="this program alone (repeatable) [all]")
    parser.add_argument("--build", default=str(ROOT / "build"), help="[%(default)s]")
    parser.add_argument("--pairs", type=int, default=60, help="of a program [%(default)s]")
    parser.add_argument("--window", type=float, action="append",
                        help="seconds of a window, in turn (repeatable) [0.5, 1 and 2]")
    parser.add_argument("--limit", type=float, default=540,
                        help="seconds for all [%(default)s]")
    parser.add_argument("--python", default=sys.executable,
                        help="a Python with PyTorch [this one]")
    parser.add_argument("--simulate", action="store_true",
                        help="to try this script: the simulated CUDA of the build, PyTorch, where "
                        "there is one, on the CPU")
    options = parser.parse_args(argv)
    options.window = options.window or [0.5, 1.0, 2.0]
    return options


def measure(options):
    """Measures the programs in turn and adds their lines; returns those that failed."""
    names = [name for chosen in options.only or KINDS for name in GROUPS.get(chosen, [chosen])]
    began, failed = time.monotonic(), []
    work = tempfile.mkdtemp(prefix="gpuprobe-price-")
    try:
        for number, name in enumerate(names):
            left = began + options.limit - time.monotonic()
            line = turn(name, options, work, time.monotonic() + left / (len(names) - number))
            with open(options.output, "a") as file:
                file.write(json.dumps(line) + "\n")
            shown = line["failed"] or price_table.span(outcome.paced(line["pairs"]))
            print(f"{name}: {shown}, {len(line['pairs'])} pairs", flush=True)
            failed += [name] if line["failed"] else []
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return failed


def main(argv=None):
    options = options_of(argv)
    if options.merge:
        print(price_table.page(price_table.read(options.merge)), end="")
        return 0
    if os.geteuid():
        sys.exit("probes need root")
    return 1 if measure(options) else 0


if __name__ == "__main__":
    sys.exit(main())
