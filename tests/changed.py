#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the tests of what the working tree changed since a commit, found from what they name.
Closes with `N passed, N failed`.

usage: tests/changed.py [--list] [--since COMMIT] BUILD

A unit test is run if it changed, if it is called as a unit that changed, or if it or a header of
its folder includes that unit's header; all of tests/unit/bpf if BPF code changed. An integration
test file is run if it changed, or if a word of its name is one of a changed unit's (`graph.bpf.h`:
test_graphs.py), with the gpuprobe under sanitizers. --list only tells which. What is found is no
more than a start: `make test` has all.
"""
import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

from runner import again  # noqa: E402
from runner.integration import Integration  # noqa: E402
from runner.process import ROOT  # noqa: E402
from runner.step import run_step  # noqa: E402
from runner.units import Units  # noqa: E402

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# Words of units that stand in many names and say nothing.
COMMON = {"text", "json", "list", "map", "option", "process", "proces", "processe", "thread",
          "call", "test", "file", "name", "of", "and"}


def changed(since):
    """The files that differ from the commit, new ones among them, as paths from the root."""
    differ = subprocess.run(["git", "diff", "--name-only", since], cwd=ROOT, text=True,
                            capture_output=True, check=True).stdout
    new = subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], cwd=ROOT, text=True,
                         capture_output=True, check=True).stdout
    return [Path(line) for line in differ.splitlines() + new.splitlines()]


def names_of(path):
    """The includes of a test and of the headers beside it that it includes."""
    found = set(INCLUDE.findall((ROOT / path).read_text(encoding="utf-8")))
    for header in list(found):
        beside = ROOT / "tests" / "unit" / header
        if not beside.is_file():
            beside = (ROOT / path).parent / header
        if beside.is_file():
            found |= set(INCLUDE.findall(beside.read_text(encoding="utf-8")))
    return found


def unit_tests(files):
    """The programs whose sources name what changed."""
    headers = {str(path.relative_to("src").with_suffix(".h")) for path in files
               if path.parts[0] == "src"}
    names = tuple(f"test_{path.stem}" for path in files if path.parts[0] == "src")
    bpf = any(path.parts[0] in ("bpf", "include") for path in files)
    for path in sorted((ROOT / "tests" / "unit").glob("*/test_*.c")):
        path = path.relative_to(ROOT)
        if (path in files or (bpf and path.parent.name == "bpf") or path.stem.startswith(names)
                or names_of(path) & headers):
            yield path.stem


def words(name):
    """The words of a file's name that tell files apart, without a plural's s."""
    return {word.removesuffix("s") for word in re.split(r"[_.]", name)} - COMMON


def integration_tests(files):
    """The test files that changed, or that are called as what changed."""
    units = set().union(*(words(path.name.split(".")[0]) for path in files
                          if path.parts[0] in ("src", "bpf")), set())
    for path in sorted((ROOT / "tests" / "integration").glob("*/test_*.py")):
        path = path.relative_to(ROOT)
        if path in files or words(path.stem[len("test_"):]) & units:
            yield str(path)


class Chosen(Units):
    """Those of the unit tests that have these names."""

    def __init__(self, folder, names):
        super().__init__("unit", folder)
        self.names = names

    def programs(self):
        return [path for path in super().programs() if path.name in self.names]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--since", default="HEAD")
    parser.add_argument("build", type=lambda name: Path(name).resolve())
    read = parser.parse_args()
    files = changed(read.since)
    units, files = list(unit_tests(files)), list(integration_tests(files))
    print("\n".join([*units, *files]) or "no test names what changed", flush=True)
    if read.list or not units + files:
        return 0
    steps = [Chosen(read.build / "tests", units)] if units else []
    if files:
        steps.append(Integration("changed", read.build, read.build / "sanitized" / "gpuprobe",
                                 "not slow and not plain", ["-n", "2", "--dist", "loadgroup"],
                                 files))
    parts = [run_step(step) for step in steps]
    return again.judge(parts, {step.name: step for step in steps}, read.build / "flaky.txt").close()


if __name__ == "__main__":
    sys.exit(main())
