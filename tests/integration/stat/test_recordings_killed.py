# SPDX-License-Identifier: BSD-2-Clause
"""Recordings of gpuprobes that were killed at any moment, and a recording of 10 GB."""
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from lib import paths
from lib.cli import run
from lib.probe import Probe, environment, wait_until

KILLS = int(os.environ.get("GPUPROBE_KILLS", "200"))
READINGS = ("--interval", "0.1")
SUMMARY = ("--level", "summary", *READINGS)
HEADER = 2000  # bytes, at most
FILE_HEAD = struct.Struct("<8sII32sII")
CHUNK = struct.Struct("<IHHIIQQQII")  # struct recording_chunk of src/record/file.h
ATTACHES = 300  # seconds: a dozen gpuprobes that attach wait for one another in the kernel
MEMORY = 1 << 30  # of addresses, which the libraries take a part of


def chunks_of(data):
    """The bodies of the whole chunks, and the bytes behind them: read by other code than
    gpuprobe's."""
    at, bodies = FILE_HEAD.size + FILE_HEAD.unpack_from(data)[2], []
    while len(data) - at >= CHUNK.size:
        head = CHUNK.unpack_from(data, at)
        assert head[-1] == zlib.crc32(data[at:at + CHUNK.size - 4])
        assert head[7] == len(bodies), "a chunk is missing"
        body = data[at + CHUNK.size:at + CHUNK.size + head[4]]
        if len(body) < head[4]:
            break
        assert head[8] == zlib.crc32(body)
        bodies.append(zlib.decompress(body))
        at += CHUNK.size + head[4]
    return bodies, data[at:]


def check_what_is_left(before, after, said):
    """Nothing that was in the file is lost, and what is not whole is one chunk."""
    assert after.startswith(before)
    _, rest = chunks_of(after)
    assert said.count("the recording is damaged") == bool(rest), (said, len(rest))


def shown_by(command, file):
    """What the command warns of; "" if there is nothing to show yet."""
    done = run(command, "-i", file, "--json")
    if done.returncode:
        assert done.returncode == 1 and any(
            word in done.stderr for word in ("is empty", "no readings", "damaged")), done
        return ""
    assert "no end" in done.stderr, done.stderr
    for line in done.stdout.splitlines():
        json.loads(line)
    return done.stderr


def start(file, target, args):
    with open(file.with_suffix(".said"), "wb") as said:
        return subprocess.Popen([paths.GPUPROBE, "record", "-q", "-o", file, *args, "-p",
                                 str(target.pid)], env=environment(), stderr=said)


def wait_for_a_part(file, probe):
    def is_there():
        assert probe.poll() is None, file.with_suffix(".said").read_text()
        return file.exists() and file.stat().st_size > HEADER
    wait_until(is_there, lambda: f"no part of {file}: {file.with_suffix('.said').read_text()}"
               + Path(f"/proc/{probe.pid}/stack").read_text(), ATTACHES)


@pytest.mark.slow
@pytest.mark.parametrize("level, args", [("summary", SUMMARY), ("calls", READINGS)])
def test_killed_at_any_moment(tmp_path, level, args):
    """A kill costs one chunk: all that was written before can be read, and the report says that
    the end is missing."""
    target = subprocess.Popen([paths.workload("launch"), "--seconds", "3600", "--rate", "2000"],
                              env=environment(), stdout=subprocess.DEVNULL)
    shown = 0
    try:
        for number in range(KILLS // 2):
            file = tmp_path / f"{number}.rec"
            probe = start(file, target, args)
            # Every other one while it starts, the others while it writes.
            if number % 2:
                wait_for_a_part(file, probe)
            time.sleep(random.uniform(0, 1))
            before = file.read_bytes() if number % 2 else b""
            time.sleep(random.uniform(0, 0.05))
            probe.send_signal(signal.SIGKILL)
            probe.wait()
            if not file.exists():
                continue
            said = shown_by("stat", file)
            if said and level == "calls":
                said = shown_by("trace", file)
            if said:
                check_what_is_left(before, file.read_bytes(), said)
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
