#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the fuzz targets of a build, two at a time. Prints `ok NAME` or `not ok NAME` for each and
closes with `N passed, N failed`.

usage: tests/fuzz/run.py [--seconds N] [--jobs N] [--results FILE] BUILD [TARGET...]

Each target reads its corpus first: the files of tests/fuzz/corpus, the seeds of tests/fuzz/seeds.py
and what earlier runs found worth keeping (BUILD/fuzz/corpus); then it makes inputs of its own for
so many seconds. One that ends gpuprobe's code, leaks, takes longer than 10 s or more than 2 GiB is
kept in BUILD/fuzz/found, and its path is printed; it belongs into tests/fuzz/corpus
with the repair.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INPUT_SECONDS = 10
MEMORY_MIB = 2048
LENGTH_MAX = 65536
GRACE_SECONDS = 120  # to read the corpus, and to write what was found, on a busy machine


def corpora(fuzz, target):
    kept = fuzz / "corpus" / target
    kept.mkdir(parents=True, exist_ok=True)
    more = [ROOT / "tests/fuzz/corpus" / target, fuzz / "seeds" / target]
    return [kept] + [folder for folder in more if folder.is_dir()]


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def why(log, status):
    for line in reversed(log.splitlines()):
        if "SUMMARY:" in line:
            return line.split("SUMMARY:")[1].strip()
    return f"ended with {status}"


def run(fuzz, target, seconds):
    """What became of a target: a dictionary."""
    found = fuzz / "found"
    found.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    command = [fuzz / f"fuzz_{target}", f"-max_total_time={seconds}", f"-timeout={INPUT_SECONDS}",
               "-print_final_stats=1", f"-rss_limit_mb={MEMORY_MIB}", f"-max_len={LENGTH_MAX}",
               f"-artifact_prefix={found}/{target}-", *corpora(fuzz, target)]
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=seconds + GRACE_SECONDS, cwd=ROOT,
                              check=False)
        status, log = done.returncode, done.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as late:
        status, log = None, (late.stdout or b"").decode(errors="replace")
    inputs = sorted(str(path) for path in set(found.iterdir()) - before
                    if path.name.startswith(f"{target}-"))
    runs = number(r"stat::number_of_executed_units:\s*(\d+)", log)
    # Of inputs none of its own: the code behind was not reached, or the corpus took all the time.
    passed = status == 0 and runs > 0
    return {"target": target, "passed": passed, "seconds": round(time.monotonic() - begin, 1),
            "executions": runs, "edges": number(r"cov: (\d+)", log),
            "features": number(r"ft: (\d+)", log), "inputs": inputs,
            "why": "" if passed else why(log, status), "log": log}


def show(result):
    state = "ok" if result["passed"] else "not ok"
    print(f"{state} {result['target']} ({result['seconds']} s): {result['executions']} inputs, "
          f"{result['edges']} edges, "
          f"{result['features']} features{result['why'] and ': ' + result['why']}", flush=True)
    if result["passed"]:
        return
    if result["inputs"]:
        print("# certain: an input that fails was kept")
    print(result["log"][-6000:])
    for path in result["inputs"]:
        print(f"kept: {path}", flush=True)


def add_up(path, results):
    """Adds to what earlier runs have done: seconds and inputs;
    edges and features are the latest."""
    sums = json.loads(path.read_text()) if path.exists() else {}
    for result in results:
        entry = sums.setdefault(result["target"], {"seconds": 0, "executions": 0})
        entry["seconds"] = round(entry["seconds"] + result["seconds"], 1)
        entry["executions"] += result["executions"]
        entry["edges"], entry["features"] = result["edges"], result["features"]
    path.write_text(json.dumps(sums, indent=1, sort_keys=True) + "\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results", type=Path)
    parser.add_argument("build", type=Path)
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    fuzz = options.build.resolve() / "fuzz"
    targets = options.targets or sorted(path.name[5:-2]
                                        for path in (ROOT / "tests/fuzz").glob("fuzz_*.c"))
    os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=1:detect_leaks=1")
    results = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda target: run(fuzz, target, options.seconds), targets):
            show(result)
            results.append(result)
    if options.results:
        add_up(options.results, results)
    failed = sum(not result["passed"] for result in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
