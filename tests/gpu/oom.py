# SPDX-License-Identifier: BSD-2-Clause
"""
Out-of-memory reports of a real PyTorch: each case of programs/oom.py runs out of memory in a known
way, and the report must name that cause.

tests/gpu/run.py --only oom. By hand, oom.py GPUPROBE [PYTHON] prints the expected and the found
cause of each case.
"""
import os
import pathlib
import re
import subprocess
import sys

PROGRAM = pathlib.Path(__file__).parent / "programs" / "oom.py"
CAUSES = {
    "large": r"one large request",
    "leak": r"a leak[:,]",
    "fragmentation": r"fragmentation: ",
    "neighbour": r"process \d+ holds|processes that gpuprobe does not watch hold",
    "many": r"\d+ other processes hold",
    "limit": r"a limit inside PyTorch",
    "own": r"this process holds",
    "none": r"^$",
}
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
# case of the program, its arguments, environment, cause
CASES = (
    ("large", "200", {}, "large"),
    ("large", "60", {}, "large"),
    ("large", "200", EXPANDABLE, "large"),
    ("large_in_thread", "200", {}, "large"),
    ("leak", "20", {}, "leak"),
    ("leak", "100", {}, "leak"),
    ("leak", "20", EXPANDABLE, "leak"),
    ("leak_closure", "50", {}, "leak"),
    ("leak_graph", "20", {}, "leak"),
    ("fragments", "512", {}, "fragmentation"),
    ("fragments", "256", {}, "fragmentation"),
    ("neighbour", "70", {}, "neighbour"),
    ("neighbour", "50", {}, "neighbour"),
    ("neighbour", "60", EXPANDABLE, "neighbour"),
    ("many", "40", {}, "many"),
    ("fraction", "0.001", {}, "limit"),
    ("fraction", "0.1", {}, "limit"),
    ("fraction", "0.1", EXPANDABLE, "limit"),
    ("own", "70", {}, "own"),
    ("retries", "60", {}, "none"),
)


def cause_of(gpuprobe, python, case, argument, changes):
    """The cause that gpuprobe finds, and what it and the program printed to standard error."""
    try:
        done = subprocess.run(
            [gpuprobe, "memleak", "60", "--", python, PROGRAM, case, argument], text=True,
            env=dict(os.environ, **changes), capture_output=True, timeout=180, check=False)
    except subprocess.TimeoutExpired as error:
        return "it does not end", str(error)
    if done.returncode:
        return f"the program ended with {done.returncode}", done.stderr
    found = re.search(r"likely cause: (.*)", done.stderr)
    return found[1] if found else "", done.stderr


def run_cases(gpuprobe, python):
    """Yields case, expected cause, found one, whether they agree, and the output."""
    for case, argument, changes, cause in CASES:
        found, said = cause_of(gpuprobe, python, case, argument, changes)
        name = f"{case} {argument}{' expandable' if changes else ''}"
        yield name, cause, found, bool(re.search(CAUSES[cause], found)), said


def test_oom(machine, results):
    for name, cause, found, agrees, said in run_cases(machine.gpuprobe, sys.executable):
        results.check(f"out of memory, {name}: cause", cause, cause if agrees else found or "none")
        if not agrees:
            results.keep(f"Out of memory: {name}", said[-3000:])


def main():
    good = True
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    for name, cause, found, agrees, said in run_cases(sys.argv[1], python):
        print(f"{'ok' if agrees else 'NOT OK'}\t{name}\texpected {cause}\tfound {found or 'none'}",
              flush=True)
        if not agrees:
            print(said, flush=True)
        good = good and agrees
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
