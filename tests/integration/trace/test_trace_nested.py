# SPDX-License-Identifier: BSD-2-Clause
"""Which layer's calls are shown, and calls within calls."""
import pytest

from lib import paths, trace
from lib.script import script

ONE_OF_EACH = script("""
    need(runtime.cudaSetDevice(0))
    memory = made(runtime.cudaMalloc, 4096)
    need(runtime.cudaFree(memory))
    own = made(driver.cuMemAlloc_v2, 512)
    need(driver.cuMemFree_v2(own))
""")


def memory_events(result):
    return [line["event"] for line in result.lines]


@pytest.mark.parametrize("api, expected", [
    ("both", ["cudaMalloc", "cudaFree", "cuMemAlloc_v2", "cuMemFree_v2"]),
    ("runtime", ["cudaMalloc", "cudaFree"]),
    ("driver", ["cuMemAlloc_v2", "cuMemFree_v2", "cuMemAlloc_v2", "cuMemFree_v2"])])
def test_api(tracer_by, api, expected):
    names = "cudaMalloc,cudaFree,cuMemAlloc_v2,cuMemFree_v2"
    result = tracer_by.run(*ONE_OF_EACH, args=["-e", names, "--api", api])
    assert memory_events(result) == expected
    layers = {"cudaMalloc": "runtime", "cudaFree": "runtime", "cuMemAlloc_v2": "driver",
              "cuMemFree_v2": "driver"}
    assert [line["layer"] for line in result.lines] == [layers[event] for event in expected]


def test_both_is_the_default(tracer):
    names = "cudaMalloc,cudaFree,cuMemAlloc_v2,cuMemFree_v2"
    assert memory_events(tracer.run(*ONE_OF_EACH, args=["-e", names])) == \
        ["cudaMalloc", "cudaFree", "cuMemAlloc_v2", "cuMemFree_v2"]


def test_nested(tracer_by):
    """The driver's call within the runtime's comes after it, one level deeper,
    and lies within its time."""
    names = "cudaMalloc,cudaFree,cuMemAlloc_v2,cuMemFree_v2"
    result = tracer_by.run(*ONE_OF_EACH, args=["-e", names, "--nested"])
    assert memory_events(result) == ["cudaMalloc", "cuMemAlloc_v2", "cudaFree", "cuMemFree_v2",
                                     "cuMemAlloc_v2", "cuMemFree_v2"]
    assert [line.get("depth", 0) for line in result.lines] == [0, 1, 0, 1, 0, 0]
    for outer, inner in (result.lines[0:2], result.lines[2:4]):
        assert outer["time"] <= inner["time"]
        assert inner["time"] + inner["duration"] <= outer["time"] + outer["duration"]


def test_nested_is_indented(tracer):
    names = "cudaMalloc,cudaFree,cuMemAlloc_v2,cuMemFree_v2"
    result = tracer.run(*ONE_OF_EACH, args=["-e", names, "--nested", "-o", "event"], form="table",
                        columns=None)
    lines = [line.rstrip() for line in result.text.splitlines() if line.strip().startswith("cu")]
    indent = [len(line) - len(line.lstrip()) for line in lines]
    assert [line.strip() for line in lines] == ["cudaMalloc", "cuMemAlloc_v2", "cudaFree",
                                                "cuMemFree_v2", "cuMemAlloc_v2", "cuMemFree_v2"]
    assert indent[0] == indent[2] == indent[4] == indent[5] and indent[1] == indent[3] > indent[0]


def test_nested_counts(tracer_by):
    """Every call of both layers, by the truth's numbers."""
    result = tracer_by.run(paths.workload("traced"), "--threads", 4, "--rounds", 100, "--fail", 3,
                           args=["-e", "all", "--nested"], columns="time,event,tid,duration,result")
    truth = result.truth.data
    expected = {name: counts["calls"] for layer in ("runtime", "driver")
                for name, counts in truth[layer].items()}
    assert result.lost == 0
    assert dict(result.counts) == expected
    assert trace.in_order(result.lines)


def test_nested_failures(tracer_by):
    """A driver failure that the runtime passes on is on both lines,
    with each layer's name for it."""
    result = tracer_by.run(*script("""
        need(runtime.cudaSetDevice(0))
        word = out()
        assert runtime.cudaMalloc(ref(word), 1 << 50) == 2
    """), args=["-e", "cudaMalloc,cuMemAlloc_v2", "--nested", "--failed"])
    assert [(line["event"], line["result"]) for line in result.lines] == \
        [("cudaMalloc", "cudaErrorMemoryAllocation"), ("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY")]


def test_a_driver_call_in_a_runtime_call_that_is_not_traced(tracer_by):
    result = tracer_by.run(*ONE_OF_EACH, args=["-e", "cuMemAlloc_v2"])
    assert memory_events(result) == ["cuMemAlloc_v2"] * 2
