# SPDX-License-Identifier: BSD-2-Clause
"""--stack dwarf: programs that know their own stacks (programs/known_stacks.h), built in many ways.

Each stack that fits into what is copied is exactly right, from the CUDA function to the thread's
beginning; of one that does not the innermost frames are right, and it says that it is truncated.
"""
from collections import defaultdict

import pytest

from lib import stacks


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    return stacks.Builder(tmp_path_factory.mktemp("known"))


def flame(gpuprobe, program, truth, *args):
    """(what the program knows, what gpuprobe wrote)"""
    truth.unlink(missing_ok=True)
    result = gpuprobe.run(*program.command(truth), args=["--folded", *args], base=["flame"])
    assert result.status == 0, result.stderr
    return stacks.read_truth(truth), stacks.read_folded(result.stdout)


def check_bytes(program, known, folded, stack_size):
    """Calls from one place are one stack: their numbers, which are bytes, add up."""
    places = defaultdict(list)
    for call in known:
        if call.event == "cudaMalloc":
            # What is cut off may be what tells two stacks apart, but no two here are so alike.
            places[str([frame[0] for frame in call.frames])].append(call)
    by_weight = {weight: labels for labels, weight in folded}
    assert len(by_weight) == len(folded) == len(places)
    for calls in places.values():
        weight = sum(call.number for call in calls)
        assert weight in by_weight, (weight, calls[0].frames[:4])
        stacks.check(program, calls[0], by_weight[weight], stack_size)


@pytest.mark.parametrize("variant", stacks.VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize("source", ["known_stacks.c", "known_stacks.cc"])
def test_allocations(gpuprobe, tmp_path, builder, source, variant):
    program = builder.get(source, variant)
    known, folded = flame(gpuprobe, program, tmp_path / "truth", "--by", "bytes", "--stack", "dwarf",
                          "--stack-size", "32")
    assert max(call.bytes for call in known) + stacks.MARGIN <= 32768
    check_bytes(program, known, folded, 32768)


@pytest.mark.parametrize("size", [8, 16])
def test_deeper_than_what_is_copied(gpuprobe, tmp_path, builder, size):
    program = builder.get("known_stacks.c", stacks.VARIANTS[0])
    known, folded = flame(gpuprobe, program, tmp_path / "truth", "--by", "bytes", "--stack", "dwarf",
                          "--stack-size", str(size))
    assert any(call.bytes > size * 1024 for call in known)
    check_bytes(program, known, folded, size * 1024)


def test_failures(gpuprobe, tmp_path, builder):
    """Each from a place of its own."""
    program = builder.get("known_stacks.c", stacks.VARIANTS[0])
    known, folded = flame(gpuprobe, program, tmp_path / "truth", "--by", "failures", "--stack", "dwarf",
                          "--stack-size", "32")
    failed = [call for call in known if call.event in ("cudaFree", "cudaLaunchKernel")]
    print(folded)
    assert len(failed) == len(folded) == 3
