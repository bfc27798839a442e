# SPDX-License-Identifier: BSD-2-Clause
"""Every row of the API table that does something: what gpuprobe decoded is what was passed.

Each row's function is called in a process of its own with values that no other row has (decode/). The
cases come from the table: a row that no rule can drive fails the test, and so does a row that is excused
without need.
"""
import json
import os
import signal

import pytest

from decode import compare, structures, table
from lib import exact, paths

CALLER = paths.TESTS / "decode" / "caller.py"
BASE = ["--json", "--display-interval", "0", "--metrics-addr", "none", "--check-launches", "--top", "0"]
LIBRARIES = {("driver", 1): paths.LIBCUDA, ("runtime", 13): paths.LIBCUDART}

# Rows that cannot be driven: symbol -> why.
EXCUSED = {}


def watched(layer, major):
    """The rows of a library that have an operation, by symbol."""
    return {symbol: row for symbol, row in table.in_library(layer, major).items() if row.operation != "-"}


def drive(probe, layer, major, rows):
    """Drives the rows under gpuprobe: (what the caller told, the processes by pid, the report)."""
    results = probe.directory / "results"
    library = LIBRARIES[layer, major]
    try:
        run = probe.run(paths.PYTHON, CALLER, library, layer, major, results, *rows, base=BASE,
                        args=["--api", layer, "--max-processes", 4096], env={"CUDA_SIM_DEVICES": 3})
    finally:
        told = [json.loads(line) for line in results.read_text().splitlines()] if results.exists() else []
        for one in told:
            os.kill(one["pid"], signal.SIGKILL)
    return told, {p["pid"]: p for p in run.final["processes"]}, run.final


def show(row, what, passed, decoded):
    return f"{row}: {what}\n    passed  {passed}\n    decoded {decoded}"


def check(rows, told, processes):
    """A line for each difference."""
    wrong = []
    by_name = {str(row): row for row in rows.values()}
    for one in told:
        row = by_name[one["row"]]
        if "expected" not in one:
            wrong.append(f"{row}: {one.get('failed', 'no rule drives it')}")
        elif one["pid"] not in processes:
            wrong.append(f"{row}: gpuprobe did not see the process")
        else:
            found = compare.differences(row, one["expected"], processes[one["pid"]])
            wrong += [show(row, *difference) for difference in found]
    return wrong


def check_library(probe, layer, major):
    rows = {symbol: row for symbol, row in watched(layer, major).items() if symbol not in EXCUSED}
    told, processes, report = drive(probe, layer, major, rows)
    wrong = check(rows, told, processes)
    assert not wrong, f"{len(wrong)} of {len(rows)} rows:\n" + "\n".join(wrong)
    assert len(told) == len(rows)
    assert exact.lost(report) == {}


def test_structures():
    """The structures that the cases pass are laid out as a compiler lays out NVIDIA's."""
    assert structures.check() == []


@pytest.mark.parametrize("layer, major", LIBRARIES)
def test_every_row(gpuprobe, layer, major):
    check_library(gpuprobe, layer, major)
