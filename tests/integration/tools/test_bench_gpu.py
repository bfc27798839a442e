# SPDX-License-Identifier: BSD-2-Clause
"""bench/gpu.sh, which seldom runs on a GPU: its statistics, and all of it except PyTorch on the
simulated CUDA."""
import json
import random
import subprocess
import sys

import pytest

from lib import paths

BENCH = paths.ROOT / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "gpu")]
from intervals import interval, pairs  # noqa: E402
from sections import gpu  # noqa: E402


def test_interval_of_known_numbers():
    found = interval([1, 2, 3, 4, 5])
    assert (found["mean"], found["n"], found["least"], found["most"]) == (3, 5, 1, 5)
    assert found["high"] - 3 == pytest.approx(2.776 * 2.5 ** 0.5 / 5 ** 0.5)
    assert 3 - found["low"] == pytest.approx(found["high"] - 3)
    assert interval([1])["low"] is None
    assert interval([]) is None


def test_interval_contains_the_truth_in_19_of_20_runs():
    numbers = random.Random(1)
    runs = [interval([numbers.gauss(0.03, 0.01) for _ in range(10)]) for _ in range(4000)]
    share = sum(run["low"] <= 0.03 <= run["high"] for run in runs) / len(runs)
    assert 0.94 < share < 0.96


def test_pairs_know_nothing_of_a_steady_drift():
    tools = [None, "monitor", None, "stat", None, "monitor", None]
    blocks = [(tool, (10 + i) * {None: 1, "monitor": 1.03, "stat": 2}[tool])
              for i, tool in enumerate(tools)]
    assert [these / those
            for these, those in pairs(blocks, "monitor")] == pytest.approx([1.03, 1.03])
    assert [these / those for these, those in pairs(blocks, "stat")] == pytest.approx([2])
    # A block without its neighbours, since the tool before failed, is compared with what there is.
    assert pairs([("monitor", 5), ("stat", 6), (None, 4)], "stat") == [(6, 4)]
    assert not pairs([("monitor", 5), ("stat", 6), (None, 4)], "monitor")


def measured(tmp_path, build, *arguments):
    """Its exit status, its section of results and its page; no PyTorch."""
    page = tmp_path / "gpu.md"
    done = subprocess.run([BENCH / "gpu.sh", "--simulate", "--build",
                           build, "--output", page, "--seconds", "0.02",
                           "--limit", "600", "--python", "/bin/false", *arguments],
                          capture_output=True, check=False)
    return (done.returncode, json.loads(page.with_suffix(".json").read_text())["gpu"],
            page.read_text())


@pytest.mark.waits("for probes that come and go, thirteen times")
def test_simulated(tmp_path):
    status, kept, page = measured(tmp_path, paths.BUILD, "--rounds", "2")
    result = kept["result"]
    assert status == 1, "PyTorch failed, and that is told"
    assert (result["rounds"], {tool: of["failed"] for tool, of in result["tools"].items()}) == (
        2, {"monitor": None, "stat": None, "trace": None, "stacks": None})
    assert result["loops"]["torch_training"]["failed"]
    for tool in ("monitor", "stat", "stacks"):
        launches = {key: result["loops"][key]["launches_per_step"][tool]
                    for key in ("launch", "sync", "allocation")}
        # All of each block were seen: its probes were in before, and out after it.
        assert {key: (seen["least"], seen["most"], seen["n"])
                for key, seen in launches.items()} == {"launch": (1, 1, 2), "sync": (1, 1, 2),
                                                       "allocation": (0, 0, 2)}
        calls = {key: result["loops"][key]["calls_per_step"][tool]["mean"] for key in launches}
        # On a busy machine blocks have few steps, among which the call that ends a block counts.
        assert 1 <= calls["launch"] < 1.5
        assert calls["sync"] == pytest.approx(2, abs=0.5)
        assert calls["allocation"] == pytest.approx(16, abs=0.5)
    for tool in result["tools"]:
        assert result["loops"]["launch"]["added_ns"][tool]["n"] == 2
        assert result["tools"][tool]["lost"] == 0
    assert gpu.show(result) in page


def test_a_part_that_fails(tmp_path):
    """The loops are there, and why nothing watched them is told."""
    build = tmp_path / "build"
    build.mkdir()
    (build / "sim").symlink_to(paths.SIM)
    (build / "gpuprobe").write_text("#!/bin/sh\necho it is broken >&2\nexit 3\n")
    (build / "gpuprobe").chmod(0o755)
    status, kept, page = measured(tmp_path, build, "--rounds", "2")
    assert status == 1
    assert "ended with status 3: it is broken" in page
    assert kept["result"]["loops"]["launch"]["plain_step_seconds"]["mean"] > 0
    assert {bar["met"] for bar in kept["result"]["bars"]} == {None}
