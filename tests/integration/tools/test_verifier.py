# SPDX-License-Identifier: BSD-2-Clause
"""
How much the kernel's verifier goes through when gpuprobe starts: most of what a start costs, and its limit is a million
instructions. A function that it goes through at each call, instead of once, is several times over these numbers.
"""
import re
import subprocess

import pytest

from lib import paths

MOST = {"monitor": 180_000, "stat": 240_000, "trace": 50_000}


@pytest.mark.plain("the verifier looks at the same programs")
@pytest.mark.parametrize("command", MOST)
def test_start(command):
    said = subprocess.run([paths.ROOT / "tests" / "verifier" / "table.py", "--functions", "0", paths.BUILD, command], text=True,
                          capture_output=True, timeout=60, check=True).stdout
    gone = {name: int(number.replace(",", "")) for number, name in re.findall(r"^ *([\d,]+)  (\w+)$", said, re.M)}
    assert {"process_exit", "mapping_exit"} <= gone.keys() if command != "trace" else "trace_session" in gone
    assert sum(gone.values()) <= MOST[command]
