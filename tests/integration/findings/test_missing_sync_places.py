# SPDX-License-Identifier: BSD-2-Clause
"""What NCCL takes down with work on it is its own affair; what the program does itself is found."""
import subprocess

import pytest

from lib import faultruns, paths
from lib.script import PROGRAMS


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nccl")
    common = ["gcc", "-std=gnu11", "-O2", "-g", "-fno-omit-frame-pointer",
              f"-I{paths.ROOT}/sim/include"]
    end = [f"-L{paths.SIM}", "-l:libcudart.so.13",
           f"-Wl,--enable-new-dtags,-rpath,{paths.SIM},-rpath,$ORIGIN", "-ldl"]
    subprocess.run([*common, "-fPIC", "-shared", "-Wl,-soname,libnccl.so.2", "-o",
                    folder / "libnccl.so.2", PROGRAMS / "nccl_stand_in.c", *end], check=True)
    subprocess.run([*common, "-o", folder / "tears_down", PROGRAMS / "tears_down.c", f"-L{folder}",
                    "-l:libnccl.so.2", *end], check=True)
    return folder / "tears_down"


def missing_sync(*command):
    findings = faultruns.diagnose(*command, env={"CUDA_SIM_ASYNC": "2ms"})[-1]["findings"]
    return [finding for finding in findings if finding["id"] == "missing-sync"]


def test_teardown_of_nccl(program):
    assert missing_sync(program) == []


def test_own_stream(program):
    finding, = missing_sync(program, "own")
    assert (finding["numbers"]["calls"]["value"] == finding["numbers"]["destroyed_busy"]["value"]
            == 1)
    assert "drop_own_stream" in [frame["function"] for frame in finding["stack"]["frames"]]
