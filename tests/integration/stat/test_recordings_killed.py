# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of gpuprobes that were killed at any moment, and a recording of 10 GB."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import pytest

from lib import paths
from lib.cli import run
from lib.probe import Probe, environment, wait_until

KILLS = int(os.environ.get("GPUPROBE_KILLS", "200"))
SUMMARY = ("--level", "summary", "--interval", "0.1")
HEADER = 2000  # bytes, at most
MEMORY = 1 << 30  # of addresses, which the libraries take a part of


@pytest.mark.slow
@pytest.mark.parametrize("level, args", [("summary", SUMMARY), ("calls", ("--level", "calls"))])
def test_killed_at_any_moment(tmp_path, level, args):
    """What is there can be read, and the report says that the end is missing."""
    target = subprocess.Popen([paths.workload("launch"), "--seconds", "3600", "--rate", "2000"],
                              env=environment(), stdout=subprocess.DEVNULL)
    shown = 0
    try:
        for number in range(KILLS // 2):
            file = tmp_path / f"{number}.rec"
            probe = subprocess.Popen([paths.GPUPROBE, "record", "-q", "-o", file, *args, "-p",
                                      str(target.pid)], env=environment(),
                                     stderr=subprocess.DEVNULL)
            # Every other one while it starts, the others while it writes.
            if number % 2:
                wait_until(lambda: file.exists() and file.stat().st_size > HEADER,  # noqa: B023
                           "a part of the recording")
            time.sleep(random.uniform(0, 1))
            probe.send_signal(signal.SIGKILL)
            probe.wait()
            if not file.exists():
                continue
            show = ["stat", "--json"] if level == "summary" else ["trace", "--json"]
            done = run(show[0], "-i", file, *show[1:])
            if done.returncode:
                assert done.returncode == 1 and any(
                    word in done.stderr for word in ("is empty", "no readings", "damaged")), done
                continue
            assert "no end" in done.stderr, done.stderr
            for line in done.stdout.splitlines():
                json.loads(line)
            shown += 1
            file.unlink()
    finally:
        target.kill()
        target.wait()
    assert shown >= KILLS // 4


@pytest.mark.slow
def test_ten_gigabytes(tmp_path):
    """Most of it is a hole, which is damage; the rest is read in bounded memory."""
    file = tmp_path / "run.rec"
    Probe(tmp_path).run(paths.workload("launch"), "--launches", 3000,
                        base=["record", "-o", str(file), *SUMMARY, "--max-overhead", "off"])
    large = tmp_path / "large.rec"
    shutil.copy(file, large)
    os.truncate(large, 10 << 30)
    with open(large, "r+b") as out:
        out.seek(10 << 30)
        out.write(file.read_bytes()[-4096:])
    done = subprocess.run([paths.GPUPROBE, "stat", "-i", large, "--json"], text=True,
                          capture_output=True, check=False, env=environment(),
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS,
                                                                (MEMORY, MEMORY)))
    assert done.returncode == 0, done.stderr
    assert "damaged" in done.stderr
    [process] = json.loads(done.stdout)["processes"]
    assert sum(kernel["launches"] for kernel in process["kernels"]) == 3000
