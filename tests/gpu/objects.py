#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Objects on a real GPU: bytes each as gpuprobe estimates them against what the GPU lost, and sound
programs, which must have no finding.

    sudo tests/gpu/objects.py build/gpuprobe [docs/memory.md]

Prints a table, and puts it between the marks of the page. Exits with 1 if an estimate is wrong by
more than a tenth, or a sound program has a finding. It takes some three minutes, and wants the GPU
alone: the truth is the free memory of the device. tests/gpu/run.py --only objects does the same.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "objects.py")
# Enough that a step of 2 MiB, as NVML counts, is less than a thirtieth of all.
COUNTS = {"stream": 400, "event": 20000, "graph_exec": 2000, "module": 8000}
HANDLES = {"cublas": 64, "cudnn": 64}
SECONDS = 24
STEP = 2 << 20
TOLERANCE = 0.1
MARKS = re.compile(r"(<!-- objects: begin -->\n).*(<!-- objects: end -->)", re.DOTALL)


def run(gpuprobe, command, *program):
    done = subprocess.run([gpuprobe, *command, "--", sys.executable, PROGRAM,
                           *map(str, program)], stdout=subprocess.PIPE, timeout=300, check=True)
    return done.stdout.decode().splitlines()


def truth_of(lines):
    return next(json.loads(line) for line in lines if line.startswith('{"made"'))


def estimate(gpuprobe, kind):
    """(truth, estimate or None, error) in bytes each, and the most that were live at a line."""
    lines = run(gpuprobe, ["memleak", "--json", "--window", "10s"], kind, "leak",
                {**COUNTS, **HANDLES}[kind], SECONDS)
    truth = truth_of(lines)
    reports = [json.loads(line) for line in lines if line.startswith('{"schema"')]
    sites = [site for process in reports[-1]["processes"] for site in process["objects"]
             if site["kind"] == kind and "each" in site]
    each = sites[0]["each"] if sites else {"bytes": None, "error": None}
    live = max((site["live"] for report in reports for process in report["processes"]
                for site in process["objects"] if site["kind"] == kind), default=0)
    return truth["bytes"] / truth["made"], each["bytes"], each["error"], live


def is_right(kind, truth, found, error):
    if found is None:
        return False
    # An object that costs less than a step of all together costs nothing that NVML could show.
    if truth * COUNTS[kind] <= STEP:
        return found <= error or found * COUNTS[kind] <= 2 * STEP
    return abs(found - truth) <= TOLERANCE * truth


def findings(gpuprobe, kind, pattern):
    with tempfile.NamedTemporaryFile() as page:
        run(gpuprobe, ["diagnose", "--json", "--output", page.name, "--window", "10s",
                       "--threshold", "object-leak=200"], kind, pattern, COUNTS[kind] // 4, SECONDS)
        report = json.loads(open(page.name, encoding="utf-8").read().splitlines()[-1])
    return [found["id"] for found in report["findings"] if found["id"] == "object-leak"]


def estimates(gpuprobe):
    """Yields kind, truth, estimate, its error, and whether that is right. One after the other."""
    for kind in COUNTS:
        truth, found, error, _ = estimate(gpuprobe, kind)
        yield kind, truth, found, error, is_right(kind, truth, found, error)


def sound_programs(gpuprobe):
    """Yields kind, pattern, and what was found. All at a time: no estimate is judged."""
    cases = [(kind, pattern) for kind in COUNTS for pattern in ("each", "pool", "cache")]
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        found = pool.map(lambda case: findings(gpuprobe, *case), cases)
        for (kind, pattern), ids in zip(cases, found):
            yield kind, pattern, ids


def text_of(found, error):
    return "unknown" if found is None else f"{found:,.0f} ± {error:,.0f}"


def test_objects(machine, results):
    for kind, truth, found, error, right in estimates(machine.gpuprobe):
        expected = f"{truth:,.0f}"
        results.check(f"objects, {kind}: bytes each", expected,
                      expected if right else text_of(found, error))
        results.tell(f"objects, {kind}: estimate", text_of(found, error))
    for kind, pattern, ids in sound_programs(machine.gpuprobe):
        results.check(f"objects, {kind}, {pattern}: findings", [], ids)


def test_handles(machine, results):
    """Handles of libraries: how many there are, and what each holds beside allocations."""
    for kind, count in HANDLES.items():
        truth, found, error, live = estimate(machine.gpuprobe, kind)
        results.check(f"handles, {kind}: live at the line that makes them", count, live)
        results.tell(f"handles, {kind}: bytes each by the device's free memory, estimate",
                     (round(truth), text_of(found, error)))


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    gpuprobe, bad = sys.argv[1], 0
    rows = ["| object | made | bytes each by the device's free memory | estimated | |",
            "|---|---|---|---|---|"]
    for kind, truth, found, error, right in estimates(gpuprobe):
        bad += not right
        rows.append(f"| {kind} | {COUNTS[kind]:,} | {truth:,.0f} | {text_of(found, error)} | "
                    f"{'ok' if right else 'FAILED'} |")
    for kind, pattern, ids in sound_programs(gpuprobe):
        bad += bool(ids)
        rows.append(f"| {kind}, {pattern} | {COUNTS[kind] // 4:,} | no finding | "
                    f"{', '.join(ids) or 'no finding'} | {'FAILED' if ids else 'ok'} |")
    table = "\n".join(rows) + "\n"
    print(table)
    if len(sys.argv) == 3:
        with open(sys.argv[2], encoding="utf-8") as page:
            text = page.read()
        with open(sys.argv[2], "w", encoding="utf-8") as page:
            page.write(MARKS.sub(lambda found: found[1] + table + found[2], text))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
