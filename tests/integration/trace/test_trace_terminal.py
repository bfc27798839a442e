# SPDX-License-Identifier: BSD-2-Clause
"""On a terminal: colour there only, lines as wide as it is, Ctrl-C from the keyboard."""
import re
import subprocess

import pytest

from lib import paths, terminal
from lib.probe import environment

TRACED = paths.workload("traced")
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(*args, columns=120, **more):
    return terminal.run(["trace", *args], columns, **more)


def test_colours():
    """A failure is coloured; take the colours away, and the table is the plain one."""
    status, shown = on_terminal("-e", "cudaMalloc", "--", TRACED, "--rounds", 3, "--fail", 1,
                                columns=160)
    assert status == 0
    failing = [line for line in shown.splitlines() if "cudaErrorMemoryAllocation" in line]
    assert len(failing) == 3 and all(ESCAPE.search(line) for line in failing)
    assert "\x1b" not in ESCAPE.sub("", shown)


def test_no_color():
    status, shown = on_terminal("-e", "cudaMalloc", "--", TRACED, "--rounds", 3, "--fail", 1,
                                NO_COLOR=1)
    assert status == 0 and "cudaErrorMemoryAllocation" in shown
    assert "\x1b" not in shown


def test_an_empty_no_color_means_nothing():
    _, shown = on_terminal("-e", "cudaMalloc", "--", TRACED, "--rounds", 3, "--fail", 1,
                           NO_COLOR="")
    assert "\x1b" in shown


def test_no_colour_in_a_file_or_pipe(tmp_path):
    on_terminal("-O", tmp_path / "trace", "-e", "cudaMalloc", "--", TRACED, "--rounds", 3, "--fail",
                1)
    assert "\x1b" not in (tmp_path / "trace").read_text()
    done = subprocess.run([paths.GPUPROBE, "trace", "-e", "cudaMalloc", "--", TRACED,
                           "--rounds", "3", "--fail", "1"], env=environment(TERM="xterm"),
                          capture_output=True, text=True, timeout=60, check=True)
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("columns, missing", [
    (50, {"PROCESS", "TID", "DETAILS", "RESULT"}),
    (60, {"PROCESS", "PID", "TID", "RESULT"}),
    (80, {"PROCESS", "PID", "TID", "RESULT"}),
    (100, {"PROCESS", "TID", "RESULT"}),
    (120, {"PROCESS"}),
    (200, set()),
])
def test_width(columns, missing):
    """No line is wider than the terminal, which shows what its reader misses most."""
    status, shown = on_terminal("-e", "cudaMemcpy,cudaLaunchKernel", "--", TRACED, "--rounds", 3,
                                columns=columns)
    lines = [line for line in ESCAPE.sub("", shown).splitlines()
             if "cuda" in line or "TIME" in line]
    assert status == 0 and len(lines) == 7
    assert max(map(len, lines)) <= columns
    headings = {"TIME(ms)", "PROCESS", "PID", "TID", "EVENT", "DETAILS", "DURATION", "RESULT"}
    assert set(lines[0].split()) == headings - missing
    assert all(line.endswith(" cudaSuccess") == ("RESULT" not in missing) for line in lines[1:])
    if "DETAILS" not in missing:
        assert all("size=" in line for line in lines[1:] if "cudaMemcpy" in line)


@pytest.mark.parametrize("columns", [80, 160])
def test_failures_stay(columns):
    """However narrow the terminal is, it shows the whole error."""
    status, shown = on_terminal("-e", "cudaMalloc", "--", TRACED, "--rounds", 3, "--fail", 1,
                                columns=columns)
    assert status == 0 and ESCAPE.sub("", shown).count("cudaErrorMemoryAllocation") == 3


def test_a_file_is_not_cut(tmp_path):
    name = "n" * 300
    on_terminal("-O", tmp_path / "trace", "--full-names", "-e", "launch", "--", TRACED,
                "--rounds", 1, "--name-prefix", name, columns=80)
    assert name in (tmp_path / "trace").read_text()


def test_interrupt_from_the_keyboard():
    """Ctrl-C goes to COMMAND as well; the trace ends whole, with its last line."""
    # By itself COMMAND would go on for half an hour.
    status, shown = on_terminal("-e", "cudaMemset", "--", TRACED, "--rounds", 100000, "--rate", 50,
                                columns=150, until="cudaMemset", key=b"\x03")
    assert status in (0, 130)
    lines = [line for line in ESCAPE.sub("", shown).splitlines() if "cudaMemset" in line]
    # The signal may come in the middle of the last.
    assert lines and all("cudaSuccess" in line for line in lines[:-1])
    assert "cudaSuccess" in lines[-1] or "<unfinished>" in lines[-1]


def test_command_has_the_terminal():
    """It is COMMAND's, too."""
    status, shown = on_terminal("-e", "launch", "--", "sh", "-c",
                                "test -t 0 && test -t 1 && echo have one")
    assert status == 0 and "have one" in shown
