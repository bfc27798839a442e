# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe record --ring`: what happened last is in memory, and in a file when it matters."""
import json
import os
import re
import signal
import time

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import Probe, wait_until
from lib.script import PROGRAMS

LAUNCH = paths.workload("launch")
READINGS = ("--interval", "0.1", "--max-overhead", "off")
SUMMARY = ("--level", "summary", *READINGS)
CALLS = ("--level", "calls", *READINGS)


def start(directory, *command, args=(), env=None):
    return Probe(directory).start(*command, interval=None, args=args, env=env,
                                  base=["record", "-o", str(directory / "run.rec"), "--ring",
                                        "1s", "--ring-files", "3"])


def shown(*args):
    done = run(*args)
    assert done.returncode == 0 and "no end" not in done.stderr, done.stderr
    return done.stdout


def launches(file):
    report = json.loads(shown("stat", "-i", file, "--json"))
    return sum(kernel["launches"] for process in report["processes"]
               for kernel in process["kernels"])


def written(directory):
    return [file for file in sorted(directory.glob("run.rec.*")) if file.stat().st_size]


@pytest.mark.parametrize("level", [SUMMARY, CALLS])
def test_at_a_signal_and_at_the_end(tmp_path, level):
    with start(tmp_path, LAUNCH, "--seconds", 3, "--rate", 1000, args=level) as running:
        running.wait_until_watching()
        time.sleep(1)
        running.process.send_signal(signal.SIGUSR1)
        wait_until(lambda: written(tmp_path), "a file at SIGUSR1")
        result = running.finish()
    assert result.status == 0
    first, last = written(tmp_path)[0], written(tmp_path)[-1]
    assert f"wrote {first}: the last" in result.stderr and "(SIGUSR1)" in result.stderr
    assert f"wrote {last}: the last" in result.stderr and "(the end)" in result.stderr
    assert len(list(tmp_path.glob("run.rec.*"))) == len(written(tmp_path))  # no empty ones
    assert launches(first) < launches(last) >= 3000
    assert json.loads(shown("stat", "-i", last, "--json"))["final"]
    if level == SUMMARY:
        return
    lines = [json.loads(line) for line in shown("trace", "-i", last, "--json").splitlines()]
    calls = [line for line in lines if "event" in line]
    watched = int(re.search(r"watched (\d+) calls and \d+ readings, lost 0", result.stderr)[1])
    assert 0 < len(calls) < watched  # the last second or so


@pytest.mark.parametrize("level", [SUMMARY, CALLS, ("--level", "calls", "--no-readings")])
def test_out_of_memory(tmp_path, level):
    """An allocation that fails for good. The program lives on until there is a file."""
    stop = tmp_path / "stop"
    program = ["sh", "-c", f'while [ ! -e {stop} ]; do sleep 0.1; done | "$@"', "sh",
               "/usr/bin/python3", PROGRAMS / "oom.py", "large"]
    with start(tmp_path, *program, args=level,
               env={"CUDA_SIM_MEMORY": "1G", "LD_LIBRARY_PATH": paths.SIM,
                    "CUDA_SIM_DIRECTORY": paths.SIM}) as running:
        wait_until(lambda: "(out of memory" in running.stderr, lambda: running.stderr)
        stop.touch()
        stderr = running.finish().stderr
    assert re.search(r"wrote \S*run.rec.\d: the last .*\(out of memory, process \d+ \(python3\)",
                     stderr), stderr
    # The finding "oom" makes one more if there is time for it.
    assert "(the end)" in stderr and len(written(tmp_path)) in (2, 3)


def test_the_oldest_file_is_replaced(tmp_path):
    """Four files in three places, and one that a user put there is no other's."""
    for number in (1, 2, 3):
        file = tmp_path / f"run.rec.{number}"
        file.write_text(f"old {number}")
        os.utime(file, (1000 - number, 1000 - number))
    with start(tmp_path, LAUNCH, "--seconds", 1.5, "--rate", 1000, args=SUMMARY) as running:
        running.wait_until_watching()
        running.process.send_signal(signal.SIGUSR1)
        result = running.finish()
    assert result.status == 0
    assert "run.rec.3: the last" in result.stderr.split("(SIGUSR1)")[0]
    assert "run.rec.2: the last" in result.stderr
    assert (tmp_path / "run.rec.1").read_text() == "old 1"


def test_mistakes(tmp_path):
    (tmp_path / "link.1").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "directory.1").mkdir()
    record = ("record", "-o", tmp_path / "x")
    fails(run(*record, "--ring", "0.1s", "--", "true"), 2, "--ring", "1s to 24h")
    fails(run(*record, "--ring-files", "2", "--", "true"), 2, "--ring-files", "--ring")
    fails(run(*record, "--ring", "10m", "--max-size", "2G", "--", "true"), 2, "--max-size", "1G")
    fails(run("record", "-o", tmp_path / "link", "--ring", "1s", "--", "true"), 1, "link.1")
    fails(run("record", "-o", tmp_path / "directory", "--ring", "1s", "--", "true"), 1,
          "directory.1")
    assert not (tmp_path / "elsewhere").exists()
