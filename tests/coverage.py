#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Says which lines of src/ the tests run, by folder.

usage: tests/coverage.py BUILD COVERAGE [FILE...]

COVERAGE has gpuprobe and the unit tests built so that they count. All unit tests are run, and the integration tests of
FILEs, by default all but those marked slow; both count together. Their failures are shown and change nothing here.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def run_tests(build, coverage, files):
    for program in sorted((coverage / "tests").glob("test_*")):
        done = subprocess.run([program], stdin=subprocess.DEVNULL, capture_output=True, cwd=ROOT, check=False)
        if done.returncode:
            print(f"{program.name} failed")
    env = {**os.environ, "GPUPROBE_BUILD": str(build), "GPUPROBE_PROGRAM": str(coverage / "gpuprobe")}
    subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q", "-m", "not slow", *files], env=env, cwd=ROOT,
                   stdin=subprocess.DEVNULL, check=False)


def open_to_all(coverage):
    """gpuprobe may run as any user: counts are written where the objects are."""
    for folder in (path for path in coverage.rglob("*") if path.is_dir()):
        folder.chmod(0o777)


def collect(coverage):
    """The counts of all, and a page of each file."""
    counts = coverage / "counts.info"
    subprocess.run(["lcov", "--quiet", "--capture", "--directory", coverage / "obj", "--base-directory", ROOT,
                    "--output-file", counts], cwd=ROOT, check=True)
    subprocess.run(["lcov", "--quiet", "--extract", counts, f"{ROOT}/src/*", "--output-file", counts], check=True)
    subprocess.run(["genhtml", "--quiet", "--prefix", ROOT, "--output-directory", coverage / "pages", counts],
                   check=True)
    return counts


def lines_of(counts):
    """{source: {line: times run}}"""
    found = defaultdict(dict)
    source = None
    for line in counts.read_text(encoding="utf-8").splitlines():
        if line.startswith("SF:"):
            source = str(Path(line[3:]).relative_to(ROOT))
        elif match := re.match(r"DA:(\d+),(\d+)", line):
            found[source][int(match[1])] = int(match[2])
    return found


def show(found):
    """A table by folder."""
    folders = defaultdict(lambda: [0, 0])
    for source, lines in found.items():
        for folder in (str(Path(source).parent), "all"):
            folders[folder][0] += sum(1 for times in lines.values() if times)
            folders[folder][1] += len(lines)
    print("| folder | lines | run | share |\n|---|---:|---:|---:|")
    for folder, (run, lines) in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"| {folder} | {lines} | {run} | {100 * run / lines:.1f} % |")


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    build, coverage = (Path(argument).resolve() for argument in arguments[:2])
    for old in coverage.rglob("*.gcda"):
        old.unlink()
    open_to_all(coverage)
    run_tests(build, coverage, arguments[2:] or ["tests/integration"])
    show(lines_of(collect(coverage)))


if __name__ == "__main__":
    main(sys.argv[1:])
