# SPDX-License-Identifier: BSD-2-Clause
"""Failures: exact by function and code, under the outermost name."""
import re

import pytest

from lib import exact
from lib.probe import TEXT
from lib.script import script

FAULTS = {"CUDA_SIM_FAIL":
              "cuMemAlloc_v2:%3,cuMemFree_v2:2,cuStreamSynchronize:2=719,cuMemcpyHtoD_v2:1=700,"
              "cudaMalloc:5=46,cuEventRecord:1=400,cuModuleUnload:1=201"}
PROGRAM = script("""
    start()
    host = ctypes.create_string_buffer(100)
    for _ in range(7):
        address = out()
        if not driver.cuMemAlloc_v2(ref(address), 100):
            driver.cuMemFree_v2(address.value)
            driver.cuMemcpyHtoD_v2(address.value, host, 100)
        if not runtime.cudaMalloc(ref(address), 100):
            runtime.cudaFree(address.value)
    for _ in range(3):
        driver.cuStreamSynchronize(0)
        runtime.cudaStreamSynchronize(0)
    event = made(driver.cuEventCreate, 0)
    driver.cuEventRecord(event, 0)
    loaded, (kernel,) = module("kernel")
    driver.cuModuleUnload(loaded)
    assert driver.cuModuleGetFunction(ref(out()), loaded, b"none") == 500
    assert runtime.cudaFree(0x1234) == 1
    assert driver.cuMemFree_v2(0x1234) == 1
    assert launch(kernel, threads=0) == 1
    assert runtime.cudaStreamQuery(0x1234) == 400
""")


@pytest.mark.parametrize("api", ["auto", "driver", "runtime", "both"])
def test_by_layer(gpuprobe, api):
    result = gpuprobe.run(*PROGRAM, args=["--api", api, "--check-launches"], env=FAULTS)
    expected = result.truth.errors(api, launches=True)
    assert exact.errors(result.process) == expected and len(expected) >= 4
    assert exact.lost(result.final) == {}
    counts = [error["count"] for error in result.process["errors"]]
    assert counts == sorted(counts, reverse=True)


def test_on_each_path(gpuprobe_by):
    result = gpuprobe_by.run(*PROGRAM, args=["--check-launches"], env=FAULTS)
    assert exact.errors(result.process) == result.truth.errors("auto", launches=True)


def test_names_and_codes(gpuprobe):
    result = gpuprobe.run(*PROGRAM, env=FAULTS)
    names = {(e["function"], e["code"]): (e["layer"], e["error"]) for e in result.process["errors"]}
    # The runtime's name for what the runtime was asked for, whose codes are its own.
    assert names["cudaMalloc", 2] == ("runtime", "cudaErrorMemoryAllocation")
    assert names["cudaMalloc", 46] == ("runtime", "cudaErrorDevicesUnavailable")
    assert names["cudaFree", 1] == ("runtime", "cudaErrorInvalidValue")
    assert names["cuMemAlloc_v2", 2] == ("driver", "CUDA_ERROR_OUT_OF_MEMORY")
    assert names["cuMemcpyHtoD_v2", 700] == ("driver", "CUDA_ERROR_ILLEGAL_ADDRESS")
    assert names["cuStreamSynchronize", 719] == ("driver", "CUDA_ERROR_LAUNCH_FAILED")
    assert names["cuModuleGetFunction", 500] == ("driver", "CUDA_ERROR_NOT_FOUND")


def test_a_code_without_a_name(gpuprobe):
    program = script("""
        start()
        assert driver.cuMemAlloc_v2(ref(out()), 100) == 31337
        assert driver.cuMemFree_v2(0x10) == -5
    """)
    faults = {"CUDA_SIM_FAIL": "cuMemAlloc_v2:1=31337,cuMemFree_v2:1=-5"}
    result = gpuprobe.run(*program, env=faults)
    assert {(e["function"], e["error"], e["code"]) for e in result.process["errors"]} == \
        {("cuMemAlloc_v2", None, 31337), ("cuMemFree_v2", None, -5)}
    result = gpuprobe.run(*program, env=faults, base=TEXT)
    assert re.search(r"^        cuMemAlloc: unknown error \(31337\) x 1, at \d\d:\d\d:\d\d$",
                     result.stdout, re.M)


def test_errors_are_shown_with_every_section(gpuprobe):
    """Of what is attached, and of nothing else."""
    for section, function in (("--memleak", "cuMemAlloc_v2"),
                              ("--cudatrace", "cuModuleGetFunction"),
                              ("--bandwidth-util", "cuMemcpyHtoD_v2")):
        result = gpuprobe.run(*PROGRAM, args=[section], env=FAULTS)
        functions = {error["function"] for error in result.process["errors"]}
        assert function in functions
        assert not functions & (
            {"cuMemAlloc_v2", "cuModuleGetFunction", "cuMemcpyHtoD_v2"} - {function})


def test_first_and_latest_time(gpuprobe):
    result = gpuprobe.run(*script("""
        start()
        boot_ns = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        for _ in range(3):
            before = boot_ns()
            assert driver.cuMemFree_v2(0x10)
            print("FAILED", before, boot_ns(), flush=True)
    """))
    error, = result.process["errors"]
    failed = [[int(word) for word in line.split()[1:]] for line in result.stdout.splitlines()
              if line.startswith("FAILED ")]
    assert failed[0][0] <= error["first_ns"] <= failed[0][1]
    assert failed[2][0] <= error["last_ns"] <= failed[2][1]
    assert (
        result.process["start_ns"] < error["first_ns"] < error["last_ns"] < result.final["boot_ns"])


STICKY = script("""
    start()
    device = made(driver.cuMemAlloc_v2, 4096)
    host = made(driver.cuMemHostAlloc, 4096, 0)
    print("BEGAN", time.clock_gettime_ns(time.CLOCK_BOOTTIME), flush=True)
    assert driver.cuMemcpyHtoD_v2(device, host, 100) == 700
    for _ in range(5):
        assert driver.cuStreamSynchronize(0) == 700
    for _ in range(6):
        assert driver.cuMemcpyHtoD_v2(device, host, 100) == 700
""")


def test_an_error_that_lasts(gpuprobe_by):
    result = gpuprobe_by.run(
        *STICKY, env={"CUDA_SIM_FAIL": "cuMemcpyHtoD_v2:*=700,cuStreamSynchronize:*=700"})
    exact.check(result)
    sticky = result.process["sticky_error"]
    assert (sticky["code"], sticky["error"]) == (700, "cudaErrorIllegalAddress")
    assert (sticky["later_same"], sticky["later_others"]) == (11, 0)
    began, = [int(line.split()[1]) for line in result.stdout.splitlines()
              if line.startswith("BEGAN ")]
    assert began <= sticky["since_ns"] <= min(e["first_ns"] for e in result.process["errors"])
    result = gpuprobe_by.run(*STICKY, base=TEXT, env={
        "CUDA_SIM_FAIL": "cuMemcpyHtoD_v2:*=700,cuStreamSynchronize:*=700"})
    assert re.search(r"^        cudaErrorIllegalAddress \(700\) since \d\d:\d\d:\d\d: "
                     r"every later call fails \(11 of 11\)$", result.stdout, re.M)


def test_an_error_that_lasts_but_for_some_calls(gpuprobe):
    """Calls that succeed all the same, or fail otherwise, are told."""
    result = gpuprobe.run(*script("""
        start()
        device = made(driver.cuMemAlloc_v2, 4096)
        host = made(driver.cuMemHostAlloc, 4096, 0)
        for n in range(4):
            assert driver.cuMemcpyHtoD_v2(device, host, 100) == (719 if n else 717)
        need(driver.cuStreamSynchronize(0))
        assert driver.cuMemFree_v2(0x10)
    """), env={"CUDA_SIM_FAIL": "cuMemcpyHtoD_v2:1=717,cuMemcpyHtoD_v2:2=719,"
                             "cuMemcpyHtoD_v2:3=719,cuMemcpyHtoD_v2:4=719"})
    sticky = result.process["sticky_error"]
    assert (sticky["code"], sticky["later_same"], sticky["later_others"]) == (717, 0, 5)


def test_errors_that_pass(gpuprobe):
    """Of these the process recovers; a query's "not yet" is none at all."""
    result = gpuprobe.run(*script("""
        start()
        stream = made(driver.cuStreamCreate, 1)
        assert driver.cuMemAlloc_v2(ref(out()), 1 << 50) == 2
        need(driver.cuMemsetD8Async(made(driver.cuMemAlloc_v2, 4096), 0, 4096, stream))
        assert driver.cuStreamQuery(stream) == 600
    """), env={"CUDA_SIM_ASYNC": "600s"})
    exact.check(result)
    assert [e["code"] for e in result.process["errors"]] == [2]
    assert result.process["sticky_error"] is None
