# SPDX-License-Identifier: BSD-2-Clause
"""Where the things under test are. GPUPROBE_BUILD names another build directory."""
import functools
import os
import subprocess
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parents[1]
BUILD = Path(os.environ.get("GPUPROBE_BUILD", ROOT / "build")).resolve()
GPUPROBE = BUILD / "gpuprobe"
SIM = BUILD / "sim"
LIBCUDA = SIM / "libcuda.so.1"
LIBCUDART = SIM / "libcudart.so.13"
# Debian's, whatever python comes first in PATH.
PYTHON = "/usr/bin/python3"


def workload(name):
    """The path of a workload of sim/workloads."""
    return str(SIM / name)


@functools.cache
def exports(library):
    """The functions and data that a library exports, without their versions."""
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}
