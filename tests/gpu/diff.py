# SPDX-License-Identifier: BSD-2-Clause
"""
`gpuprobe diff` as a gate: three PyTorch programs (programs/regressions.py), 31 equal runs of each,
and 20 runs with one thing worse. How many equal runs it calls worse, and which changes it finds;
beside that a gate by the clock, which calls a run worse if its mean step takes 5 % longer.

The first run of a program is what the others are compared with. Four runs share the GPU at a time,
under one gpuprobe, and disturb one another's clock, so gpuprobe judges by counts and memory. Each
program takes about three minutes: --only diff_cnn, for example.
"""
import json
import os
import subprocess

from programs.regressions import CHANGES

EQUAL_RUNS = 31  # with the first one
SIDE_BY_SIDE = 4
SECONDS = 7  # a step must be found, and 2 s of steady time follow
BY_CLOCK = 1.05
WORSE = 4  # exit status


def only_of(report, pid):
    """The report with one of its processes."""
    return {**report,
            "processes": [process for process in report["processes"] if process["pid"] == pid],
            "findings": [finding for finding in report["findings"]
                         if finding["pid"] in (pid, None)]}


def run_together(machine, program, ways, number):
    """[{way, pid, step, file}] of runs beside one another."""
    path = f"{machine.work}/{program}-{number}.json"
    ran = subprocess.run([machine.gpuprobe, "stat", "-q", "--json", "--max-overhead", "off", "-O",
                          path, "--", *machine.python("regressions.py", program, str(SECONDS),
                                                      *ways)],
                         stdout=subprocess.PIPE, timeout=180, check=True)
    runs = json.loads(ran.stdout.decode().splitlines()[-1])
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    os.remove(path)
    for run in runs:
        run["file"] = f"{machine.work}/{program}-{number}-{run['pid']}.json"
        with open(run["file"], "w", encoding="utf-8") as file:
            json.dump(only_of(report, run["pid"]), file)
    return runs


def run_all(machine, program):
    ways = ["same"] * EQUAL_RUNS + list(CHANGES[program])
    return [run for number in range(0, len(ways), SIDE_BY_SIDE)
            for run in run_together(machine, program, ways[number:number + SIDE_BY_SIDE], number)]


def compare(machine, first, run):
    """(exit status, text)"""
    ran = subprocess.run([machine.gpuprobe, "diff", first["file"], run["file"], "--fail-on",
                          "worse"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return ran.returncode, ran.stdout.decode().replace(machine.work + "/", "")


def row_of(text):
    """The first row that is worse, or what else it said."""
    lines = [line for line in text.splitlines() if line.startswith("!")]
    return " ".join((lines or text.splitlines() or [""])[0].split())


def test_diff(machine, results, program):
    first, *others = run_all(machine, program)
    false, false_by_clock, unsure, found, found_by_clock = [], 0, [], [], []
    for run in others:
        status, text = compare(machine, first, run)
        slower = run["step"] > BY_CLOCK * first["step"]
        if run["way"] == "same":
            false += [row_of(text)] if status == WORSE else []
            unsure += [row_of(text)] if status not in (0, WORSE) else []
            false_by_clock += slower
            continue
        found += [run["way"]] if status == WORSE else []
        found_by_clock += [run["way"]] if slower else []
        results.tell(f"diff, {program}, {run['way']}: {first['step']:.2f} -> {run['step']:.2f} ms",
                     row_of(text))
        results.keep(f"gpuprobe diff: {program}, {run['way']}", text)
    results.check(f"diff, {program}: {EQUAL_RUNS - 1} equal runs called worse", [], false)
    results.check(f"diff, {program}: equal runs that it could not judge", [], unsure)
    results.check(f"diff, {program}: changes found", list(CHANGES[program]), found)
    results.tell(f"diff, {program}: equal runs that take 5 % longer by the clock", false_by_clock)
    results.tell(f"diff, {program}: changes that take 5 % longer by the clock", found_by_clock)


DIFF_TESTS = {
    f"diff_{program}": lambda machine, results, program=program: test_diff(machine, results,
                                                                          program)
    for program in CHANGES
}
