# SPDX-License-Identifier: BSD-2-Clause
"""COMMAND is held while its probes are attached, however long that takes on a busy machine."""
import os
import re
import shutil
import signal
import subprocess

import pytest

from lib import paths
from lib.probe import wait_for_file
from lib.script import PROGRAMS, script

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


LEAVES = script("""
    import subprocess
    touch(f"{sys.argv[1]}/ready")
    wait_for(f"{sys.argv[1]}/go")
    subprocess.run(sys.argv[2:], check=True)
    touch(f"{sys.argv[1]}/left")
    wait_for(f"{sys.argv[1]}/end")
""")


@pytest.mark.waits("a hold is over after five seconds")
def test_a_program_that_was_let_go_and_ended_is_named(gpuprobe, tmp_path):
    """While gpuprobe stands still nothing is held for longer than that. A program may then make all
    its calls without probes: the recording is empty, and gpuprobe says why."""
    file = tmp_path / "run.rec"
    with gpuprobe.start(*LEAVES, tmp_path, paths.SIM / "launch", "--launches", 20,
                        base=["record", "-o", str(file)], interval=None) as running:
        wait_for_file(tmp_path / "ready")
        os.kill(running.pid, signal.SIGSTOP)
        (tmp_path / "go").touch()
        wait_for_file(tmp_path / "left")
        os.kill(running.pid, signal.SIGCONT)
        (tmp_path / "end").touch()
        result = running.finish()
    assert result.status == 0
    # With some kinds of links, the libraries have probes already.
    assert "recorded 0 calls" not in result.stderr or re.search(
        r"process \d+( \(launch\))?: calls before \S+ ms may be missing: one of its libraries had "
        "no probes yet", result.stderr), result.stderr
