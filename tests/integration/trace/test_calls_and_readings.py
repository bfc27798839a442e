# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe record`: one file has calls and readings, both with the numbers of the run, and damage
to one costs nothing of the other."""
import json
import random
import struct
from collections import Counter

import pytest

from lib import paths, timeline, trace
from lib.cli import run
from lib.probe import Probe

FILE_HEAD = struct.Struct("<8sII32sII")
CHUNK = struct.Struct("<IHHIIQQQII")  # struct recording_chunk of src/record/file.h
RECORDS, CALLS = 1, 4  # CHUNK_RECORDS, CHUNK_CALLS
THREADS, ROUNDS = 4, 300


def chunks_of(data):
    """(where it begins, whether it has only calls, its length) of each chunk"""
    at, chunks = FILE_HEAD.size + FILE_HEAD.unpack_from(data)[2], []
    while len(data) - at >= CHUNK.size:
        _, kind, flags, _, size, *_ = CHUNK.unpack_from(data, at)
        if kind != RECORDS:
            break
        chunks.append((at, bool(flags & CALLS), CHUNK.size + size))
        at += CHUNK.size + size
    return chunks


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(the recording, the truth, the program's calls by thread)"""
    directory = tmp_path_factory.mktemp("both")
    file, log = directory / "run.rec", directory / "log"
    result = Probe(directory).run(
        paths.workload("traced"), "--threads", THREADS, "--rounds", ROUNDS, "--rate", 200, "--log",
        log, base=["record", "-o", str(file), "--interval", "0.1", "--max-overhead", "off"])
    assert ", lost 0" in result.stderr, result.stderr
    return file, result.truth, trace.read_log(log)


def shown(*args):
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def lines_of(file):
    return [line for line in map(json.loads, shown("trace", "-i", file, "--json").splitlines())
            if "event" in line]


def stat(file, *args):
    return json.loads(shown("stat", "-i", file, "--json", *args))


def launches(report):
    return sum(kernel["launches"] for process in report["processes"]
               for kernel in process["kernels"])


def test_both_have_the_numbers_of_the_run(recorded):
    """Two probes are on each function: none of them misses a call, or sees one twice."""
    file, truth, log = recorded
    lines = lines_of(file)
    assert trace.in_order(lines)
    called = Counter(call.function for calls in log.values() for call in calls)
    seen = Counter(line["event"] for line in lines)
    del called["cudaSetDevice"]  # the first one is before the log
    assert {name: seen[name] for name in called if seen[name]} == {
        name: count for name, count in called.items() if seen[name]}
    assert {"cudaMalloc", "cudaLaunchKernel"} < set(seen) and len(lines) > THREADS * ROUNDS
    report = stat(file)
    [process] = report["processes"]
    assert report["final"] and not any(report["lost"].values())
    assert {kernel["name"]: kernel["launches"] for kernel in process["kernels"]} == truth.launches()
    assert launches(report) == sum(seen[name] for name in seen if "LaunchKernel" in name)


def test_a_part(recorded):
    """What happened in two parts is what happened in the whole."""
    file, _, _ = recorded
    whole = launches(stat(file))
    early, late = launches(stat(file, "--to", "0.5s")), launches(stat(file, "--from", "0.5s"))
    assert early + late == whole and late


def test_every_command(recorded, tmp_path):
    file, _, _ = recorded
    for args in (["diagnose"], ["memleak"], ["flame", "--by", "launches"], ["top"], [], ["--json"],
                 ["trace"]):
        assert "traced" in shown(*args, "-i", file), args
    assert "no process" in shown("ps", "-i", file)
    assert shown("diff", file, file).count("steps of") == 2
    drawn = tmp_path / "run.json"
    shown("export", "-q", "-i", file, "--to", "chrome", "-o", drawn)
    assert len(timeline.read_chrome(drawn).of("cudaLaunchKernel")) == sum(
        line["event"] == "cudaLaunchKernel" for line in lines_of(file))


def test_damage_to_one_is_none_of_the_other(recorded, tmp_path):
    """A part of calls costs no reading. What is left of calls is right, and in order."""
    file, _, _ = recorded
    data, report, lines = file.read_bytes(), stat(file), shown("trace", "-i", file, "--json")
    whole, damaged = lines.splitlines(), tmp_path / "damaged.rec"
    chunks = chunks_of(data)
    assert sum(calls for _, calls, _ in chunks) > 3 and not all(calls for _, calls, _ in chunks)
    for at, calls, size in chunks:
        broken = bytearray(data)
        broken[at + CHUNK.size + (size - CHUNK.size) // 2] ^= 0x40
        damaged.write_bytes(broken)
        if calls:
            done = run("stat", "-i", damaged, "--json")
            assert json.loads(done.stdout) == report and "damaged" not in done.stderr
        else:
            assert launches(stat(damaged)) <= launches(report)
        done = run("trace", "-i", damaged, "--json")
        left = iter(whole)
        assert all(line in left for line in done.stdout.splitlines())
        assert "damaged" in done.stderr
        assert calls or len(done.stdout.splitlines()) == len(whole)


def test_cut_anywhere(recorded, tmp_path):
    """As if gpuprobe had been killed there."""
    file, _, _ = recorded
    data, whole = file.read_bytes(), shown("trace", "-i", file, "--json")
    cut = tmp_path / "cut.rec"
    total = launches(stat(file))
    first = chunks_of(data)[0]
    for _ in range(20):
        cut.write_bytes(data[:random.randrange(first[0] + first[2], len(data))])
        done = run("trace", "-i", cut, "--json")
        assert done.returncode == 0 and "no end" in done.stderr
        assert whole.startswith(done.stdout)
        assert launches(stat(cut)) <= total
