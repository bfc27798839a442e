# SPDX-License-Identifier: BSD-2-Clause
"""The start of a program by parts, and copies straight from mapped files,
against the simulator's truth."""
import pytest

from lib.probe import Probe
from lib.profile_runs import DIAGNOSE, Programs, by_scenario

PROGRAMS = Programs()
LATENCY = {
    "CUDA_SIM_LATENCY":
        "cuDevicePrimaryCtxRetain=200ms,cuModuleLoadData=150ms,cuMemcpyHtoD_v2=100ms,cuInit=50ms"}

COMMON = """
time.sleep(0.2)
context = start()
_, kernels = module(*[f"kernel_{n}" for n in range(12)])
stream = made(driver.cuStreamCreate, 1)
memory = made(driver.cuMemAlloc_v2, 8 << 20)
weights = ctypes.create_string_buffer(8 << 20)
def steps(count):
    for _ in range(count):
        for kernel in kernels:
            need(launch(kernel, stream))
        need(driver.cuStreamSynchronize(stream))
        time.sleep(0.01)
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    return by_scenario(Probe(tmp_path_factory.mktemp("start")), PROGRAMS.scenarios, prelude=COMMON,
                       base=DIAGNOSE, at_once=4)


@pytest.fixture
def ran(watched, request):
    return watched[request.node.name]


def check_moments(start):
    assert start["from_begin"]
    moments = [start[name] for name in ("begin_ns", "called_ns", "launched_ns", "steady_ns")]
    assert moments == sorted(moments)
    for name, moment in (("to_launch", "launched_ns"), ("to_steady", "steady_ns")):
        assert sum(start[name].values()) == pytest.approx(start[moment] - start["begin_ns"],
                                                          abs=5e6)


@PROGRAMS.of_test("""
module("other"), module("another")
for _ in range(3):
    need(driver.cuMemcpyHtoD_v2(memory, weights, 8 << 20))
steps(150)
""", LATENCY)
def test_parts(ran):
    """Each part is as long as the simulator measured, and a loop that follows is none of it."""
    start, truth = ran.process["start"], ran.truth
    check_moments(start)
    parts = start["to_launch"]
    assert parts["before_cuda_ns"] >= 190e6
    assert parts["driver_ns"] == pytest.approx(truth.ns("cuInit"), rel=0.1, abs=5e6)
    assert parts["context_ns"] == pytest.approx(truth.ns("cuDevicePrimaryCtxRetain"), rel=0.1,
                                                abs=5e6)
    assert parts["modules_ns"] == pytest.approx(truth.ns("cuModuleLoadData"), rel=0.1, abs=5e6)
    assert parts["copies_ns"] == pytest.approx(truth.ns("cuMemcpyHtoD_v2"), rel=0.1, abs=5e6)
    assert start["loads"] == 3
    assert start["uploads"]["bytes"] == 24 << 20 and start["uploads"]["calls"] == 3


@PROGRAMS.of_test("""
steps(150)
for name in ("other", "another"):
    module(name)
    steps(20)
""", LATENCY)
def test_loads_in_the_middle(ran):
    """They are none of the start."""
    start = ran.process["start"]
    check_moments(start)
    assert (start["loads"] == 1
            and start["to_steady"]["modules_ns"] <= ran.truth.ns("cuModuleLoadData") - 300e6)
    assert sum(thread["implicit"]["load"]["calls"] + thread["pending"]["load"]["calls"]
               for thread in ran.process["threads"]) == 0  # a wait came before each
    assert [step["excess"] for step in ran.process["steps"]["slowest"]
            if step["excess_ns"] > 140e6].count("other") >= 2


FILE = """
import mmap, tempfile
file = tempfile.TemporaryFile(dir=".")
file.truncate(8 << 20)
mapped = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE)
address = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
shared = mmap.mmap(-1, 8 << 20)
shared_address = ctypes.addressof(ctypes.c_char.from_buffer(shared))
"""


@PROGRAMS.of_test(FILE + """
for _ in range(4):
    need(driver.cuMemcpyHtoD_v2(memory, address, 4 << 20))
need(driver.cuMemcpyHtoD_v2(memory, address, 4096))
need(driver.cuMemcpyHtoD_v2(memory, shared_address, 8 << 20))
need(driver.cuMemcpyHtoD_v2(memory, weights, 8 << 20))
steps(20)
""", LATENCY)
def test_mapped_files(ran):
    """Large copies of the file alone: not those of shared memory, or of the program's own."""
    [copies] = ran.process["mapped_file_copies"]
    assert copies["calls"] == 4 and copies["bytes"] == 16 << 20
    assert 380e6 < copies["ns"] < 600e6
