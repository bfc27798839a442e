# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe decodes the passed arguments of every row of the API table that has an effect.

Each row's function is called in a process of its own with values that no other row has (decode/).
The cases come from the table: a row that no rule can drive fails the test, and so does a row that
is excused without need (decode/excuses.py).
"""
import contextlib
import json
import os
import signal

import pytest
from conftest import LINKS

from decode import compare, excuses, structures, table
from lib import exact, paths

CALLER = paths.TESTS / "decode" / "caller.py"
BASE = ["--json", "--display-interval", "0", "--metrics-addr", "none", "--check-launches", "--top",
        "0"]
# (layer, soname major) -> library
LIBRARIES = {("driver", 1): paths.LIBCUDA, ("runtime", 13): paths.LIBCUDART,
             ("runtime", 12): paths.SIM / "libcudart.so.12"}
NOT_SUPPORTED = 801
MAY_BE_UNKNOWN = 5  # rows of copies
# What lives in a context is known only where the driver is watched.
BY_BOTH = {"cudaDeviceReset", "cudaThreadExit"}


def rows_of(layer, major):
    """The rows that are driven in this library, by symbol:
    those whose operation no newer form has."""
    newer = [m for other, m in LIBRARIES if other == layer and m > major]
    elsewhere = {row for m in newer for row in table.in_library(layer, m).values()}
    return {symbol: row for symbol, row in table.in_library(layer, major).items()
            if row.operation != "-" and row not in elsewhere}


def drive(probe, layer, major, mode, rows, api=None):
    """Drives the rows under gpuprobe: (what the caller told, the processes by pid, the report)."""
    results = probe.directory / f"results{probe.runs}"
    try:
        run = probe.run(paths.PYTHON, CALLER, LIBRARIES[layer, major], layer, major, mode, results,
                        *rows, base=BASE, args=["--api", api or layer, "--max-processes", 4096],
                        env={"CUDA_SIM_DEVICES": 3})
    finally:
        told = [json.loads(line)
                for line in results.read_text().splitlines()] if results.exists() else []
        for one in told:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one["pid"], signal.SIGKILL)
    return told, {p["pid"]: p for p in run.processes}, run.final


def show(row, what, passed, decoded):
    return f"{row}: {what}\n    passed  {passed}\n    decoded {decoded}"


def check_one(row, told, processes):
    """A line for each difference."""
    if "expected" not in told:
        return [f"{row}: {told.get('failed', 'no rule drives it')}"]
    if told["pid"] not in processes:
        return [f"{row}: gpuprobe did not see the process"]
    found = compare.differences(row, told["expected"], processes[told["pid"]])
    return [show(row, *difference) for difference in found]


def differing(probe, layer, major, rows, api):
    """(lines of rows that differ, by symbol; what was lost)"""
    told, processes, report = drive(probe, layer, major, "drive", rows, api)
    assert [one["symbol"] for one in told] == list(rows)
    wrong = {one["symbol"]: check_one(rows[one["symbol"]], one, processes) for one in told}
    return {symbol: lines for symbol, lines in wrong.items() if lines}, exact.lost(report)


def check(probe, layer, major, rows, api=None):
    wrong, lost = differing(probe, layer, major, rows, api)
    again = {symbol: rows[symbol] for symbol in wrong if rows[symbol].operation == "copy"}
    # A busy kernel does not always answer what an address is (bpf/copy/sides.bpf.h):
    # then it is unknown.
    if again and len(again) <= MAY_BE_UNKNOWN:
        second, _ = differing(probe, layer, major, again, api)
        wrong = {symbol: lines for symbol, lines in wrong.items()
                 if symbol in second or symbol not in again}
    lines = [line for found in wrong.values() for line in found]
    assert not lines, f"{len(lines)} differences in {len(rows)} rows:\n" + "\n".join(lines)
    assert lost == {}


def test_structures():
    """The structures that the cases pass are laid out as a compiler lays out NVIDIA's."""
    assert structures.check() == []


def test_rows():
    """Each row with an operation is driven in a library or excused."""
    driven = {row for library in LIBRARIES for row in rows_of(*library).values()}
    left = [str(row) for row in table.rows() if row.operation != "-" and row not in driven
            and not excuses.reason(row)]
    assert left == []


def drivable(layer, major):
    return {s: row for s, row in rows_of(layer, major).items() if not excuses.reason(row)}


@pytest.mark.parametrize("layer, major", LIBRARIES)
def test_every_row(gpuprobe, layer, major):
    check(gpuprobe, layer, major,
          {s: row for s, row in drivable(layer, major).items() if s not in BY_BOTH})


@pytest.mark.parametrize("major", [major for layer, major in LIBRARIES if layer == "runtime"])
def test_rows_by_both_layers(gpuprobe, major):
    rows = {s: row for s, row in drivable("runtime", major).items() if s in BY_BOTH}
    check(gpuprobe, "runtime", major, rows, "both")


@pytest.mark.parametrize("links", [kind for kind in LINKS if kind != "session"], indirect=True)
@pytest.mark.parametrize("layer, major",
                         [library for library in LIBRARIES if library != ("runtime", 12)])
def test_every_place(gpuprobe_by, layer, major):
    """With the other links a row for each combination of operation, kind, flags and places."""
    alike = {row.shape: (s, row) for s, row in drivable(layer, major).items() if s not in BY_BOTH}
    check(gpuprobe_by, layer, major, dict(alike.values()))


@pytest.mark.parametrize("layer, major", LIBRARIES)
def test_excuses(gpuprobe, layer, major):
    """What is excused for not being simulated is exported and answers 801, whatever it is given."""
    rows = {s: row for s, row in rows_of(layer, major).items()
            if excuses.reason(row) == "not simulated"}
    told, _, _ = drive(gpuprobe, layer, major, "ask", rows)
    assert {one["symbol"]: one["code"] for one in told} == dict.fromkeys(rows, NOT_SUPPORTED)


def test_excuses_are_of_rows():
    symbols = {row.symbol for row in table.rows() if row.operation != "-"}
    assert excuses.NOT_SIMULATED <= symbols
