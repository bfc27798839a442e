# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl` of communicators that are made in other ways than by ncclCommInitRank
(programs/nccl_calls.py)."""
import sys

import pytest

from lib import paths
from lib.nccl import Watched, blamed

pytestmark = pytest.mark.usefixtures("nothing_left", "no_memory_left")
PROGRAM = paths.ROOT / "tests/integration/programs/nccl_calls.py"


@pytest.fixture
def no_memory_left(tmp_path, monkeypatch):
    """Ranks that have met leave no file of shared memory, however they end."""
    monkeypatch.setenv("CUDA_SIM_NCCL_DIRECTORY", str(tmp_path))
    yield
    assert not list(tmp_path.iterdir())


def watch(what, *options):
    return Watched("--interval", 0, *options, program=sys.executable, ranks=(PROGRAM, what),
                   settings={"CUDA_SIM_DIRECTORY": paths.SIM, "LD_LIBRARY_PATH": paths.SIM,
                             "CUDA_SIM_DEVICES": 2})


def run(what):
    with watch(what) as watched:
        assert watched.finish() == 0, watched.stderr
    assert watched.lines == ["done\n"]
    assert watched.last["findings"] == []
    return watched.last


def test_name():
    """It is the program's, and hostile."""
    comm, = run("named")["communicators"]
    assert (comm["name"], comm["size"], comm["sequence"]) == ("tensor\x1b[31m parallel", 1, 1)


def test_split_in_a_group():
    comms = run("split_in_group")["communicators"]
    assert [(comm["size"], comm["sequence"], comm["ranks"][0]["rank"]) for comm in comms] == \
        [(1, 0, 0), (1, 3, 0)]


@pytest.mark.plain("the first reading of memory takes too long with sanitizers")
def test_all_devices_at_once():
    comm, = run("init_all")["communicators"]
    assert [(rank["rank"], rank["gpu"], rank["sequence"]) for rank in comm["ranks"]] == \
        [(0, 0, 3), (1, 1, 3)]


def test_nonblocking():
    comm, = run("nonblocking")["communicators"]
    assert [(rank["state"], rank["sequence"]) for rank in comm["ranks"]] == [("dead", 1)]


def test_more_than_fits():
    """Each process has a share of the memory; what does not fit is counted."""
    report = run("many")
    assert 20 < len(report["communicators"]) < 500
    assert report["lost"]["no_room"] > 1000


@pytest.mark.waits("a hang of a second, by blocked ranks")
def test_lock_of_the_interpreter():
    with watch("gil", "--hang", "1s") as watched:
        found = watched.wait_for("nccl-hang")
        watched.end()
    assert (found["cause"], blamed(found)) == ("rank-missing", [1])
    rank, = found["ranks"]
    assert "gil (nccl_calls.py:" in rank["where"]
    assert rank["waits"].startswith("waits for Python's lock (GIL), held by thread ")
