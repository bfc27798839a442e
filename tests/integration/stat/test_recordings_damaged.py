# SPDX-License-Identifier: BSD-2-Clause
"""A damaged part of a recording of readings costs the time up to the next whole reading, and the
warning names that time."""
import json
import re
import signal
import struct
import subprocess
from collections import namedtuple

import pytest

from lib import paths
from lib.cli import run
from lib.probe import environment, wait_until

FILE_HEAD = struct.Struct("<8sII32sII")
CHUNK = struct.Struct("<IHHIIQQQII")  # struct recording_chunk of src/record/file.h
WHOLE = 1  # CHUNK_KEYFRAME
READINGS = 1  # CHUNK_RECORDS
ROUNDING = 0.11  # seconds: two times of a warning
TAKES = pytest.mark.waits("for readings, one each 0.1 s")
SPAN = re.compile(r"damaged: readings from (\d+\.\d) s to (?:(\d+\.\d) s|the end) are missing")

Part = namedtuple("Part", "at whole first last size")


def parts_of(data):
    at, parts = FILE_HEAD.size + FILE_HEAD.unpack_from(data)[2], []
    while len(data) - at >= CHUNK.size:
        _, kind, flags, _, size, first, last, *_ = CHUNK.unpack_from(data, at)
        if kind != READINGS:
            break
        parts.append(Part(at, bool(flags & WHOLE), first, last, CHUNK.size + size))
        at += CHUNK.size + size
    return parts


def has_whole_readings(file, count):
    return file.exists() and file.stat().st_size > FILE_HEAD.size and sum(
        part.whole for part in parts_of(file.read_bytes())) >= count


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A loop, until there are several whole readings."""
    file = tmp_path_factory.mktemp("recording") / "run.rec"
    target = subprocess.Popen([paths.workload("launch"), "--seconds", "3600", "--rate", "1000",
                               "--kernels", "200", "--threads", "4"], env=environment(),
                              stdout=subprocess.DEVNULL)
    try:
        with subprocess.Popen([paths.GPUPROBE, "record", "-q", "-o", file, "--level", "summary",
                               "--interval", "0.1", "--max-overhead", "off", "-p",
                               str(target.pid)], env=environment()) as probe:
            wait_until(lambda: has_whole_readings(file, 3), "whole readings")
            probe.send_signal(signal.SIGINT)
            assert probe.wait() == 0
    finally:
        target.kill()
        target.wait()
    data = file.read_bytes()
    return data, parts_of(data)


def shown(directory, data, *args):
    file = directory / "run.rec"
    file.write_bytes(data)
    done = run("stat", "-i", file, "--json", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1:]


def launches(report):
    return sum(kernel["launches"] for process in report["processes"]
               for kernel in process["kernels"])


def next_whole(parts, index):
    return next((i for i in range(index + 1, len(parts)) if parts[i].whole), None)


def kinds_of(parts):
    """The first part, those beside whole readings, and the last ones."""
    whole = [i for i, part in enumerate(parts) if part.whole]
    return sorted({0, 1, len(parts) - 2, len(parts) - 1,
                   *(i + step for i in whole for step in (-1, 0, 1) if 0 <= i + step < len(parts))})


def beginning(directory, data, parts):
    """What times are counted from, as exactly as a warning tells it."""
    _, said = shown(directory, flipped(data, parts[3].at + CHUNK.size + 4))
    return parts[2].last - float(SPAN.search(said)[1]) * 1e9


@TAKES
def test_damage_costs_the_time_to_the_next_whole_reading(recording, tmp_path):
    data, parts = recording
    began = beginning(tmp_path, data, parts)
    for index in kinds_of(parts):
        part, after = parts[index], next_whole(parts, index)
        for at in (part.at + 8, part.at + CHUNK.size + 4):
            report, said = shown(tmp_path, flipped(data, at))
            [(begin, end)] = SPAN.findall(said)
            expected = (parts[index - 1].last - began) / 1e9 if index else 0
            assert float(begin) == pytest.approx(max(0, expected), abs=ROUNDING)
            if after is None:
                assert (end, report["boot_ns"]) == ("", parts[index - 1].last)
            else:
                expected = (parts[after].first - began) / 1e9
                assert float(end) == pytest.approx(expected, abs=ROUNDING)
                assert report["boot_ns"] == parts[-1].last


@TAKES
def test_from_a_damaged_whole_reading(recording, tmp_path):
    """Without it, what happened since the reading before it is shown: not since the beginning."""
    data, parts = recording
    began = beginning(tmp_path, data, parts)
    whole = next_whole(parts, 0)
    middle = (parts[whole].last + parts[next_whole(parts, whole)].first) / 2
    earlier = launches(shown(tmp_path, data[:parts[whole].at])[0])
    total = launches(shown(tmp_path, data)[0])
    damaged, said = shown(tmp_path, flipped(data, parts[whole].at + CHUNK.size + 4), "--from",
                          f"{(middle - began) / 1e9:.2f}s")
    assert 0 < earlier < total and launches(damaged) == total - earlier
    assert len(SPAN.findall(said)) == 1
