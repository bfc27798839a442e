# SPDX-License-Identifier: BSD-2-Clause
"""
The report of --memleak, --cudatrace and --bandwidth-util keeps its form byte for byte, since
scripts read it: compared with commands/golden/seed-*.txt, where what differs between runs is
masked.
GOLDEN=write writes these files anew.
"""
import os
import re
from pathlib import Path

import pytest

from lib.paths import workload
from lib.probe import SECTIONS

GOLDEN = Path(__file__).parent / "golden"
OFF = ["--display-interval", "0", "--metrics-addr", "none"]

# Kernels are launched, memory is copied, an allocation is not freed, and a free fails.
WORKLOADS = ("launch --launches 7 --kernels 2", "copy --count 3",
             "memory --pairs 2 --keep 1 --size 4096", "memory --pairs 3 --fail-frees 1")
PROGRAMS = "".join(f"{workload(words)} >&2; " for words in WORKLOADS)

MASKS = [
    # The container of a process is unknown if it has ended too soon.
    (r" +container \S+\n", ""),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE TIME"),
    (r"at \d\d:\d\d:\d\d", "at TIME"),
    (r"process \d+", "process PID"),
    (r"parent \d+", "parent PID"),
    (r"0x[0-9a-f]{6,}", "ADDRESS"),
    (r"\d+\.\d+", "N.N"),
]


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return text


@pytest.mark.parametrize("options", [*([option] for option in SECTIONS), SECTIONS],
                         ids=["memleak", "cudatrace", "bandwidth-util", "all"])
def test_form(gpuprobe, options, request):
    path = GOLDEN / f"seed-{request.node.callspec.id}.txt"
    text = masked(gpuprobe.run("sh", "-c", PROGRAMS, base=OFF, args=options).stdout)
    if os.environ.get("GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
