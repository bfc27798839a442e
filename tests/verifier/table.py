#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Counts the instructions that the kernel's verifier goes through when gpuprobe starts, by BPF program
and function: the cost of its start. A function with a higher count than it has instructions is
verified at each call: see CONTRIBUTING.md.

usage: tests/verifier/table.py [--functions N] [--keep DIRECTORY] BUILD [COMMAND WORD...]

COMMAND is gpuprobe's [stat]; `monitor` is none. --keep leaves the logs there. As root.
"""
import argparse
import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROCESSED = re.compile(r"^processed (\d+) insns", re.M)
FUNCTION = re.compile(r"^func#\d+ @(\d+)")
SOURCE = re.compile(r"^; .* @ (\S+):(\d+)")
STEP = re.compile(r"^(?:from \d+ to \d+: )?(\d+): \([0-9a-f]{2}\)")


def logs(build, words, directory):
    """The verifier's log of each program that `gpuprobe WORD... -- true` loads,
    by the program's name."""
    preloaded = Path(directory) / "log.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", preloaded, HERE / "log.c", "-ldl"],
                   check=True)
    subprocess.run([build / "gpuprobe", *words, "--", "true"], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "LD_PRELOAD": str(preloaded),
                                                   "VERIFIER_LOGS": str(directory)})
    return {path.stem: path for path in sorted(Path(directory).glob("*.log"))}


def functions(path):
    """From a program's log: where each function begins in the sources, [(place,
    instructions gone through, instructions)]."""
    begins, places = [], {}
    gone, own = collections.Counter(), collections.defaultdict(set)
    place = ""
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            if found := FUNCTION.match(line):
                begins.append(int(found[1]))
            elif found := SOURCE.match(line):
                place = f"{found[1]}:{found[2]}"
            elif found := STEP.match(line):
                at = int(found[1])
                begin = begins[bisect.bisect_right(begins, at) - 1]
                gone[begin] += 1
                own[begin].add(at)
                places.setdefault(begin, place)
    return [(places[begin], gone[begin], len(own[begin])) for begin in gone]


def show(path, most):
    """The program's sum, and the functions that most of it is."""
    total = PROCESSED.findall(path.read_text(encoding="utf-8", errors="replace"))
    print(f"{int(total[-1]):>9,}  {path.stem}" if total else f"        ?  {path.stem}")
    for place, gone, own in sorted(functions(path), key=lambda function: -function[1])[:most]:
        print(f"{gone:>9,}    of {own:,} instructions at {place}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("build", type=lambda name: Path(name).resolve())
    parser.add_argument("--functions", type=int, default=10)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    read = parser.parse_args()
    words = ["--metrics-addr", "none"] if read.words == ["monitor"] else read.words or ["stat"]
    with tempfile.TemporaryDirectory() as directory:
        for path in logs(read.build, words, read.keep or directory).values():
            show(path, read.functions)


if __name__ == "__main__":
    sys.exit(main())
