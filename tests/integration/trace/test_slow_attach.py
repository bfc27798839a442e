# SPDX-License-Identifier: BSD-2-Clause
"""COMMAND is held while its probes are attached, however long that takes on a busy machine."""
import shutil
import subprocess

import pytest

from lib import paths
from lib.script import PROGRAMS

pytestmark = pytest.mark.usefixtures("nothing_left")
STALL = 5  # s: the longest hold while gpuprobe waits for whoever reads its output


@pytest.mark.slow
def test_nothing_is_missed(tracer, tmp_path):
    """The libraries are new files, whose probes take longer than a stall may."""
    for library in (paths.LIBCUDA, paths.LIBCUDART):
        shutil.copy(library, tmp_path)
    slow, asked = tmp_path / "slow_attach.so", tmp_path / "asked"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", slow,
                    PROGRAMS / "slow_attach.c"], check=True)
    result = tracer.run(
        "sh", "-c", f'touch "{asked}"; LD_LIBRARY_PATH="{tmp_path}" exec "$0" "$@"',
        paths.SIM / "launch", "--launches", 20, "--api", "driver", args=["-e", "cuLaunchKernel"],
        env={"LD_PRELOAD": slow, "SLOW_ATTACH": asked, "SLOW_SECONDS": STALL + 2})
    assert result.status == 0 and "missing" not in result.stderr, result.stderr
    assert len(result.of("cuLaunchKernel")) == 20
