# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl --join`: reports of several nodes, and the rank of all of them that is missing."""
import copy
import json
import socket
import subprocess

import pytest

from lib import paths
from lib.nccl import Watched
from lib.probe import environment

pytestmark = pytest.mark.usefixtures("nothing_left")


def join(*arguments):
    return subprocess.run([paths.GPUPROBE, "nccl", "--join", *map(str, arguments)],
                          env=environment(), text=True, capture_output=True, check=False,
                          timeout=60)


@pytest.fixture(scope="module", name="report")
def report_of_a_hang():
    """Rank 3 of 4 is stopped; a report as of when that is found."""
    with Watched("--interval", 0, "--hang", "100ms",
                 ranks=("--ranks", 4, "--steps", 60, "--block", "--fault", "stopped", "--rank", 3,
                        "--at", 20)) as watched:
        watched.wait_for("nccl-hang")
        report = next(report for report in watched.reports if report["findings"])
        watched.end()
    return report


@pytest.fixture(name="halves")
def halves_of_report(report, tmp_path):
    """What two nodes with half of the ranks each would have seen; ten older lines before it."""
    for number, name in enumerate(("a.json", "b.json")):
        half = copy.deepcopy(report)
        half["host"] = f"node-{name[0]}"
        for comm in half["communicators"]:
            comm["ranks"] = [rank for rank in comm["ranks"] if rank["rank"] // 2 == number]
        older = dict(half, communicators=[])
        (tmp_path / name).write_text("".join(json.dumps(line) + "\n"
                                             for line in [older] * 10 + [half]))
    return tmp_path / "a.json", tmp_path / "b.json"


def test_report_names_its_host(report):
    assert report["host"] == socket.gethostname()


def test_missing_rank_of_another_node(report, halves):
    pid, = (rank["pid"] for rank in report["communicators"][0]["ranks"] if rank["rank"] == 3)
    done = join("--hang", "100ms", *halves)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 ranks, 4 seen on 2 nodes" in done.stdout
    assert f"rank 3 (node-b, pid {pid}, " in done.stdout
    assert "rank 2 (" not in done.stdout


def test_as_json(report, halves, tmp_path):
    """Options may come between the files."""
    done = join(halves[0], "--json", halves[1], "--hang=100ms", "-O", tmp_path / "out")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    joined = json.loads((tmp_path / "out").read_text())
    comm, = joined["communicators"]
    assert (comm["hash"], comm["size"], comm["seen"], comm["nodes"]) == (
        report["communicators"][0]["hash"], 4, 4, 2)
    assert [rank["rank"] for rank in comm["behind"]] == [3]


def test_files_of_one_host_have_their_paths(halves):
    for half in halves:
        half.write_text(half.read_text().replace("node-a", "node-b"))
    done = join("--hang", "100ms", *halves)
    assert f"rank 3 ({halves[1]}, pid " in done.stdout


def test_bad_files_cost_a_line_each(halves, tmp_path):
    bad = {"text": "no JSON", "other": '{"steps": 3}', "cut": halves[0].read_text()[:-20],
           "empty": ""}
    for name, text in bad.items():
        (tmp_path / name).write_text(text)
    names = [*bad, "absent"]
    done = join("--hang", "100ms", *halves, *(tmp_path / name for name in names))
    assert done.returncode == 1
    assert "rank 3 (node-b, pid " in done.stdout
    *lines, last = done.stderr.splitlines()
    assert len(lines) == len(names), done.stderr
    for name in names:
        assert sum(str(tmp_path / name) in line for line in lines) == 1, done.stderr
    assert "5 of 7 files left out" in last


@pytest.mark.parametrize("arguments, text", [
    ((), "--join: which files?"),
    (("-p", "1", "x"), "--join reads files"),
    (("x", "--duration", "1"), "--join reads files"),
])
def test_wrong_command_lines(arguments, text):
    done = join(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert text in done.stderr
