#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Says which lines of src/ and api/ the tests run, by folder.

usage: tests/coverage.py BUILD COVERAGE [FILE...]

COVERAGE has gpuprobe and the unit tests built so that they count. All unit tests are run, then the
integration tests of FILEs, by default all but those marked slow. A table tells what the unit tests
alone run and what all do; pages and COVERAGE/uncovered.txt tell it by line. Tests that fail are
shown and change nothing here.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COUNTED = ["src", "api"]
# As tests/run.py runs them: two at a time, and by themselves those that cannot bear a neighbour.
RUNS = [(["-n", "2", "--dist", "loadgroup"], "not slow and not alone"), ([], "not slow and alone")]
NO_TEST = 5  # pytest's status where no test has these marks


def prepare(coverage):
    """
    Discards the counts of an earlier run. Each program is run once so that all of its objects have
    counts, even zero ones. The counts can then be written by any user: gpuprobe may run as any, and
    as root cannot write others' files.
    """
    for old in coverage.rglob("*.gcda"):
        old.unlink()
    subprocess.run([coverage / "gpuprobe", "--version"], stdout=subprocess.DEVNULL, check=True)
    tables = [f"api/{name}.tsv" for name in ("functions", "errors", "enums")]
    subprocess.run([coverage / "api" / "generate", *tables, coverage / "api" / "tables.c"],
                   cwd=ROOT, check=True)
    for notes in (coverage / "tests").rglob("*.gcno"):
        notes.with_suffix(".gcda").touch()
    for counts in coverage.rglob("*.gcda"):
        counts.chmod(0o666)


def run_unit_test(program):
    done = subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", cwd=ROOT,
                          check=False)
    if done.returncode:
        print(f"{done.stdout}{program.name} failed", flush=True)


def run_unit_tests(coverage):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(run_unit_test, sorted((coverage / "tests").glob("test_*"))))


def run_integration_tests(build, coverage, files):
    env = {**os.environ, "GPUPROBE_BUILD": str(build),
           "GPUPROBE_PROGRAM": str(coverage / "gpuprobe"), "PYTHONDONTWRITEBYTECODE": "1"}
    for options, marks in RUNS:
        done = subprocess.run(["/usr/bin/python3", "-m", "pytest", "-q",
                               "--tb=short", *options, "-m", marks, *files],
                              env=env, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, NO_TEST):
            print("integration tests failed", flush=True)


def collect(coverage, name):
    """What has been counted so far, in a file."""
    counts = coverage / f"{name}.info"
    folders = [option for folder in ("obj", "api") for option in ("--directory", coverage / folder)]
    wanted = [f"{ROOT}/{folder}/*" for folder in COUNTED]
    subprocess.run(["lcov", "--quiet", "--capture", *folders, "--base-directory",
                    ROOT, "--no-external", "--output-file", counts],
                   cwd=ROOT, check=True)
    subprocess.run(["lcov", "--quiet", "--extract", counts, *wanted, "--output-file", counts],
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


def by_folder(found):
    """{folder: (lines run, lines)}, with `all`."""
    folders = defaultdict(lambda: (0, 0))
    for source, lines in found.items():
        for folder in (str(Path(source).parent), "all"):
            run, total = folders[folder]
            folders[folder] = (run + sum(1 for times in lines.values() if times),
                               total + len(lines))
    return folders


def show(by_units, by_all):
    print("| folder | lines | run by unit tests | run by all tests |\n|---|---:|---:|---:|")
    for folder in sorted(by_all, key=lambda name: (name == "all", name)):
        shares = [f"{run} ({100 * run / total:.1f} %)"
                  for run, total in (by_units[folder], by_all[folder])]
        print(f"| {folder} | {by_all[folder][1]} | {shares[0]} | {shares[1]} |")


def write_uncovered(found, path):
    """Each line that was not run, with its text, by file."""
    with path.open("w", encoding="utf-8") as out:
        for source, lines in sorted(found.items()):
            missed = sorted(number for number, times in lines.items() if not times)
            if not missed:
                continue
            text = (ROOT / source).read_text(encoding="utf-8").splitlines()
            out.write(f"{source}: {len(missed)} of {len(lines)} lines\n")
            out.writelines(f"{number:6}  {text[number - 1]}\n" for number in missed)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        sys.exit("the tests need root: sudo make coverage")
    build, coverage = (Path(argument).resolve() for argument in arguments[:2])
    prepare(coverage)
    run_unit_tests(coverage)
    by_units = by_folder(lines_of(collect(coverage, "unit")))
    run_integration_tests(build, coverage, arguments[2:] or ["tests/integration"])
    counts = collect(coverage, "all")
    found = lines_of(counts)
    write_uncovered(found, coverage / "uncovered.txt")
    subprocess.run(["genhtml", "--quiet", "--prefix", ROOT, "--output-directory",
                    coverage / "pages", counts], check=True)
    show(by_units, by_folder(found))


if __name__ == "__main__":
    main(sys.argv[1:])
