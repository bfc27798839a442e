# SPDX-License-Identifier: BSD-2-Clause
"""
The number of instructions that the kernel's verifier goes through when gpuprobe starts: most of the
cost of a start, with a limit of a million. A function that it verifies at each call, instead of
once, is several times over these numbers.
"""
import re
import subprocess

import pytest

from lib import paths

MOST = {"monitor": 110_000, "stat": 140_000, "trace": 35_000}


@pytest.mark.plain("the verifier looks at the same programs")
@pytest.mark.parametrize("command", MOST)
def test_start(command):
    said = subprocess.run([paths.ROOT / "tests" / "verifier" / "table.py",
                           "--functions", "0", paths.BUILD, command],
                          text=True, capture_output=True, timeout=60, check=True).stdout
    gone = {name: int(number.replace(",", ""))
            for number, name in re.findall(r"^ *([\d,]+)  (\w+)$", said, re.M)}
    assert ({"process_exit", "mapping_exit"} <= gone.keys()
            if command != "trace" else "trace_session" in gone)
    assert sum(gone.values()) <= MOST[command]
