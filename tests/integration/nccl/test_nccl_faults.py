# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl` of jobs of which one rank misbehaves: which rank it is, and how."""
import signal
import subprocess

import pytest

from lib import paths
from lib.nccl import Watched, blamed
from lib.probe import descendants, environment, send
from lib.variants import some_of

pytestmark = pytest.mark.usefixtures("nothing_left")

# What `ranks --fault` does to a rank, and the cause that is told.
DIFFERENT = {"skip": "skipped", "extra": "inserted", "order": "swapped", "size": "different",
             "type": "different", "op": "different", "root": "different",
             "function": "different"}
# A rank that never comes, and a word of its stack; None: it has none.
MISSING = {"host": "stuck_in_host_code", "stopped": None, "dead": None, "exception": None}
STEPS = ("--steps", 60, "--at", 20)


def check_rank_that_differs(fault, rank, ranks):
    with Watched("--interval", 0, ranks=("--ranks", ranks, *STEPS, "--fault", fault, "--rank",
                                         rank)) as watched:
        watched.finish()
    found = watched.findings("nccl-mismatch")
    assert found, (watched.last, watched.stderr)
    assert (found[-1]["cause"], blamed(found[-1])) == (DIFFERENT[fault], [rank])
    assert found[-1]["sequence"] == 62


@pytest.mark.parametrize("fault", some_of(DIFFERENT, "skip", "type"))
def test_rank_that_differs(fault):
    check_rank_that_differs(fault, 2, 4)


@pytest.mark.parametrize("rank", some_of((0, 1), 0))
def test_one_of_two_that_differs(rank):
    """It is the one that differs from earlier steps."""
    check_rank_that_differs("skip", rank, 2)


@pytest.mark.waits("a hang of a second, by blocked ranks")
@pytest.mark.parametrize("what", some_of((*MISSING, "host group", "dead split", "host pipeline"),
                                         "host", "dead"))
def test_rank_that_never_comes(what):
    fault, _, shape = what.partition(" ")
    shape = shape or "ddp"
    with Watched("--interval", 0, "--hang", "1s",
                 ranks=("--ranks", 3, "--steps", 1000, "--at", 20, "--fault", fault, "--rank", 1,
                        "--shape", shape, "--block")) as watched:
        found = watched.wait_for("nccl-hang")
        watched.end()
    assert blamed(found) == [1]
    assert found["cause"] == ("peer-missing" if shape == "pipeline" else "rank-missing")
    rank = found["ranks"][0]
    if MISSING[fault]:
        assert MISSING[fault] in rank["where"]
    assert rank["state"] == ("dead" if fault in ("dead", "exception") else "live")


@pytest.mark.slow
def test_rank_that_is_late():
    with Watched("--interval", 0, ranks=("--ranks", 3, "--steps", 120, "--fault", "slow", "--rank",
                                         2, "--slow", 0.05, "--block")) as watched:
        watched.finish()
    found = watched.findings("nccl-straggler")
    assert found and 2 in blamed(found[-1])


def test_error():
    with Watched("--interval", 0, ranks=("--ranks", 2, *STEPS, "--fault", "error", "--rank", 1)) \
            as watched:
        watched.finish()
    found = watched.findings("nccl-error")
    assert found and blamed(found[0]) == [1] and found[0]["error"] == 4
    # A call that failed is none: the ranks agree.
    assert [finding for finding in watched.last["findings"]
            if finding["id"] == "nccl-mismatch"] == []


@pytest.mark.waits("a hang of a second, by blocked ranks")
def test_text_names_the_rank():
    with subprocess.Popen(
            [paths.GPUPROBE, "nccl", "--interval", "0", "--hang", "1s", "--duration", "20", "--",
             paths.SIM / "ranks", "--ranks", "2", "--steps", "100", "--at", "3", "--fault", "host",
             "--block"], env=environment(CUDA_SIM_CLOCK="kernel=1us"), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            text = ""
            while "rank 0 is in" not in text:
                line = process.stdout.readline()
                assert line, process.stderr.read()
                text += line
        finally:
            for pid in [*descendants(process.pid), process.pid]:
                send(pid, signal.SIGKILL)
    assert "critical  nccl-hang: comm 0x" in text
    assert "    1 of 2 ranks has been in it for " in text
    assert " never came: its last was 9" in text
    assert "stuck_in_host_code (ranks.c:" in text
