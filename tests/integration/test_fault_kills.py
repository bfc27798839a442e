# SPDX-License-Identifier: BSD-2-Clause
"""
Signals at any moment: gpuprobe killed under load, either side stopped and continued, a target killed in a call.
The target's result is right, and no probe stays in it.
"""
import os
import random
import signal
import time

import pytest

from lib import exact, leftovers, paths, trace
from lib.probe import Background
from lib.steady import Steady, build

ALONE = pytest.mark.alone("a gpuprobe beside it would leave its own probes in the program")
QUIET = ["--metrics-addr", "none"]
# What is killed: the ways to watch one process, and all.
WAYS = [
    lambda pid: [*QUIET, "--display-interval", "0.05", "-p", pid],
    lambda pid: [*QUIET, "--display-interval", "0.05", "--libcuda-path", f"/proc/{pid}/cwd/libcuda.so.1"],
    lambda pid: ["trace", "--buffer", "256K", "-O", "/dev/null", "-p", pid],
    lambda pid: ["trace", "--stack", "-O", "/dev/null", "-p", pid],
    lambda pid: ["stat", "-O", "/dev/null", "-p", pid],
    lambda pid: ["memleak", "-p", pid],
]


@pytest.fixture(autouse=True)
def nothing_left():
    """After each test no program, map, link or tracefs event of an ended gpuprobe stays."""
    leftovers.mount_tracefs()
    before = leftovers.left_over()
    yield
    leftovers.assert_none(before)


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """programs/steady.c"""
    return build(tmp_path_factory.mktemp("steady"))


def kill_at_random(probe, program, rounds):
    """So many kills of gpuprobe while the program is under load."""
    source = random.Random(rounds)
    seen = clean = 0
    before = leftovers.left_over()
    with Steady(program) as target:
        for number in range(rounds):
            way = WAYS[number % len(WAYS)]
            running = probe.start(base=[str(word) for word in way(target.pid)], interval=None)
            with running:
                time.sleep(source.uniform(0, 1.2))
                if number % 3 == 0:  # while it ends
                    running.process.send_signal(signal.SIGINT)
                    time.sleep(source.uniform(0, 0.15))
                seen += bool(target.changed_code())
                running.process.kill()
                running.process.wait()
            target.check_alive()
            clean += target.is_clean()
            if number % 20 == 19:
                leftovers.assert_none(before)
        assert target.finish() > rounds
    assert clean > rounds / 2, "other gpuprobes watch this machine"
    assert seen > rounds / 5, "the moments were too early to show anything"


@ALONE
def test_gpuprobe_killed_under_load(gpuprobe, program):
    kill_at_random(gpuprobe, program, int(os.environ.get("R", 100)))
