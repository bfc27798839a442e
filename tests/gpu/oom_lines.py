# SPDX-License-Identifier: BSD-2-Clause
"""
The top lines of an out-of-memory report and PyTorch's own snapshot: programs/oom_lines.py runs out
of memory, and writes its snapshot at the failure. The first three lines of both must be the same,
in order, with the same bytes. A report lists call sites, by whole stack; in this program a line has
one.

tests/gpu/run.py --only oom_lines; a case takes less than two minutes. By hand, oom_lines.py
GPUPROBE [PYTHON] prints both.
"""
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).parent / "programs" / "oom_lines.py"
CASES = ("lists", "threads", "train")
LINES = 3
# Amounts in a report have three digits.
BAR = 0.01
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SITE = re.compile(r"^ {8}(?:about )?([\d.,]+) (bytes|KiB|MiB|GiB|TiB) in [\d.,]+ ?[kMG]? "
                  r"(?:tensor|allocation)s?  (.*)$")
PLACE = re.compile(r"([^\s(/]+):(\d+)\)?")


def lines_of_report(text):
    """[("FILE:LINE", bytes)] of the call sites of the first report in gpuprobe's standard error,
    as it lists them; the place is None if the report has none."""
    first = text.partition("OUT OF MEMORY")[2].partition("OUT OF MEMORY")[0]
    lines = []
    for found in filter(None, map(SITE.match, first.splitlines())):
        place = PLACE.search(found[3])
        size = float(found[1].replace(",", "")) * UNITS[found[2]]
        lines.append((f"{place[1]}:{place[2]}" if place else None, size))
    return lines


def lines_of_snapshot(snapshot, file):
    """[("FILE:LINE", bytes)] of the requested bytes of live blocks by their innermost line in that
    file, the most first; None for blocks that have no such line."""
    sums = {}
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] != "active_allocated":
                continue
            line = next((f"{file}:{frame['line']}" for frame in block.get("frames", ())
                         if os.path.basename(frame["filename"]) == file), None)
            size = block.get("requested_size", block["size"])
            sums[line] = sums.get(line, 0) + size
    return sorted(sums.items(), key=lambda item: -item[1])


def differences(report, snapshot):
    """What differs in the first lines, a text each. Lines of equal size may come in any order."""
    found = []
    true = dict(snapshot)
    for rank in range(min(LINES, len(snapshot))):
        line, size = report[rank] if rank < len(report) else (None, 0)
        if rank >= len(report):
            found.append(f"line {rank + 1} is missing: {snapshot[rank][0]}")
        elif line not in true:
            found.append(f"line {rank + 1}: {line} holds nothing in PyTorch's snapshot")
        elif abs(size - true[line]) > BAR * true[line]:
            found.append(f"{line}: {size:.0f} bytes, {true[line]} in PyTorch's snapshot")
        elif abs(true[line] - snapshot[rank][1]) > BAR * true[line]:
            found.append(f"line {rank + 1}: {line}, {snapshot[rank][0]} in PyTorch's snapshot")
    return found


def run_case(gpuprobe, python, case):
    """(lines of the report, those of the snapshot, what gpuprobe and the program printed)"""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "snapshot.pickle")
        try:
            done = subprocess.run([gpuprobe, "memleak", "60", "--", python, PROGRAM, case, file],
                                  text=True, capture_output=True, timeout=120, check=False)
        except subprocess.TimeoutExpired as error:
            return [], [], f"it does not end: {error}"
        if not os.path.exists(file):
            return lines_of_report(done.stderr), [], done.stderr
        with open(file, "rb") as opened:
            snapshot = pickle.load(opened)
    return lines_of_report(done.stderr), lines_of_snapshot(snapshot, PROGRAM.name), done.stderr


def test_oom_lines(machine, results):
    for case in CASES:
        report, snapshot, said = run_case(machine.gpuprobe, sys.executable, case)
        wrong = differences(report, snapshot) if snapshot else ["PyTorch made no snapshot"]
        results.tell(f"out of memory, {case}: lines of the report", report)
        results.tell(f"out of memory, {case}: lines of PyTorch's snapshot", snapshot[:LINES])
        results.check(f"out of memory, {case}: differences from PyTorch's snapshot in the first "
                      f"{LINES} lines", [], wrong)
        if wrong:
            results.keep(f"Out of memory: {case}", said[-3000:])


def main():
    good = True
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    for case in CASES:
        report, snapshot, said = run_case(sys.argv[1], python, case)
        wrong = differences(report, snapshot) if snapshot else ["PyTorch made no snapshot"]
        print(f"{'NOT OK' if wrong else 'ok'}\t{case}\t{report}\t{snapshot[:LINES]}", flush=True)
        if wrong:
            print("\n".join(wrong), said, sep="\n", flush=True)
        good = good and not wrong
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
