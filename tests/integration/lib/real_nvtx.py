# SPDX-License-Identifier: BSD-2-Clause
"""The program of NVTX ranges (sim/workloads/nvtx.c) with NVIDIA's header, if the machine has it."""
import subprocess
from pathlib import Path

import pytest

from lib import paths

HEADER = Path("/usr/local/cuda/include/nvtx3/nvToolsExtPayload.h")
NEEDED = pytest.mark.skipif(not HEADER.exists(), reason="the machine has no header of NVTX")


def build(program):
    sim = paths.ROOT / "sim"
    subprocess.run(["cc", "-O1", "-std=gnu11", "-DREAL_NVTX", f"-I{sim}/include",
                    f"-isystem{HEADER.parents[1]}", sim / "workloads/nvtx.c",
                    sim / "workloads/common.c", "-o", program, f"-L{paths.SIM}", "-lcudart",
                    "-lcuda", "-pthread", "-ldl"], check=True, timeout=120)
    return program
