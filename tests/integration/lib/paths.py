# SPDX-License-Identifier: BSD-2-Clause
"""Where the things under test are. GPUPROBE_BUILD names another build directory,
GPUPROBE_PROGRAM another gpuprobe."""
import os
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parents[1]
BUILD = Path(os.environ.get("GPUPROBE_BUILD", ROOT / "build")).resolve()
GPUPROBE = Path(os.environ.get("GPUPROBE_PROGRAM", BUILD / "gpuprobe")).resolve()
SIM = BUILD / "sim"
LIBCUDA = SIM / "libcuda.so.1"
LIBCUDART = SIM / "libcudart.so.13"
# Debian's python, whichever comes first in PATH.
PYTHON = "/usr/bin/python3"


def workload(name):
    """The path of a workload of sim/workloads."""
    return str(SIM / name)
