# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe trace`: each call once, with its time, arguments and result, ordered by start."""
import pytest

from lib import paths, trace

# What the workload `traced` calls that the default selection has.
CHOSEN = {
    "runtime": {"cudaStreamCreateWithFlags", "cudaEventCreate", "cudaSetDevice", "cudaMalloc",
                "cudaMemcpy", "cudaMemset", "cudaLaunchKernel", "cudaEventRecord",
                "cudaMemcpyAsync", "cudaEventSynchronize", "cudaStreamSynchronize", "cudaFree"},
    "driver": {"cuCtxSetCurrent", "cuStreamCreate", "cuEventCreate", "cuMemAlloc_v2",
               "cuMemcpyHtoD_v2", "cuMemsetD8_v2", "cuLaunchKernel", "cuEventRecord",
               "cuMemcpyDtoHAsync_v2", "cuEventSynchronize", "cuStreamSynchronize", "cuMemFree_v2"},
}


def check(result, log, functions):
    """The lines of threads in the log are its calls; none was lost,
    and all are of chosen functions."""
    assert result.lost == 0
    assert trace.in_order(result.lines)
    trace.check_threads(result.lines, log, functions)
    others = {line["event"] for line in result.lines if line["tid"] not in log}
    # The first thread prepares the device.
    assert others <= {"cudaSetDevice", "cuCtxSetCurrent", "cudaLibraryLoadData",
                      "cudaLibraryGetKernel", "cuModuleLoadData", "cuModuleGetFunction",
                      "cuDevicePrimaryCtxRetain", "cuInit"}


@pytest.mark.parametrize("threads", [1, 16])
@pytest.mark.parametrize("api", ["runtime", "driver"])
def test_threads(tracer_by, api, threads):
    result, log = tracer_by.traced("--api", api, "--threads", threads, "--rounds", 1600 // threads,
                                   "--fail", 7)
    check(result, log, CHOSEN[api])
    assert len(log) == threads
    if api == "runtime":
        assert result.counts["cudaMalloc"] == 1600 + threads * len(range(0, 1600 // threads, 7))


@pytest.mark.parametrize("api", ["runtime", "driver"])
def test_failing_calls(tracer, api):
    """Without an address, and with the name of the error."""
    result, log = tracer.traced("--api", api, "--rounds", 20, "--fail", 1)
    check(result, log, CHOSEN[api])
    name, error = (("cudaMalloc", "cudaErrorMemoryAllocation") if api == "runtime"
                   else ("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY"))
    failed = [line for line in result.of(name) if line["size"] == 1 << 50]
    assert len(failed) == 20
    assert {line["result"] for line in failed} == {error}
    assert {line.get("ptr") for line in failed} == {None}


def test_kernels(tracer_by):
    """By name, dimensions, shared memory and stream."""
    result, log = tracer_by.traced("--rounds", 50, args=["-e", "launch"])
    assert set(result.events) == {"cudaLaunchKernel"}
    calls = [call for calls in log.values() for call in calls
             if call.function == "cudaLaunchKernel"]
    assert [line["kernel"] for line in result.lines] == [f"traced_{n % 4}" for n in range(50)]
    assert [line["grid"] for line in result.lines] == [[n + 1, 2, 3] for n in range(50)]
    assert [line["block"] for line in result.lines] == [[32, 1, 2]] * 50
    assert [line["shmem"] for line in result.lines] == [n + 1 for n in range(50)]
    assert [int(line["stream"], 16)
            for line in result.lines] == [call.values["stream"] for call in calls]


def test_kernels_of_unloaded_modules(tracer_by):
    """Handles come back under other names; each launch has the name that its handle had then."""
    result = tracer_by.run(paths.workload("modules"), "--rounds", 40, "--kernels", 5, "--launches",
                           3, args=["-e", "launch,cudaLibraryUnload,cuModuleUnload"])
    launches = [line for line in result.lines if "Launch" in line["event"]]
    shown = {}
    for line in launches:
        shown[line["kernel"]] = shown.get(line["kernel"], 0) + 1
    assert shown == result.truth.launches()


def test_everything(tracer_by):
    """With -e all every outermost call of both layers is there, with its truth's numbers."""
    result, _ = tracer_by.traced("--threads", 4, "--rounds", 50, "--fail", 5, args=["-e", "all"])
    truth = result.truth.data
    expected = {name: counts["calls"] for name, counts in truth["runtime"].items()}
    for name, counts in truth["driver"].items():
        own = counts["calls"] - counts["from_runtime"]
        if own:
            expected[name] = own
    assert dict(result.counts) == expected
    assert trace.in_order(result.lines)
    failures = {name: counts["failures"] for name, counts in truth["runtime"].items()
                if counts["failures"]}
    failed = [line["event"] for line in result.lines if line["result"] not in trace.SUCCESS]
    assert {name: failed.count(name) for name in set(failed)} == failures


@pytest.mark.plain("a reader with sanitizers does not keep up")
def test_mix(tracer_by):
    """Random calls of all kinds by many threads, none of which ends in a call,
    give the truth's numbers.

    The ring has room for all of them, so that a busy machine that delays the reader loses none.
    """
    result = tracer_by.run(paths.workload("mix"), "--seconds", 2,
                           "--threads", 16, "--calm", "--children", 0,
                           "--pause", 0, args=["-e", "all", "--api", "driver", "--buffer", "512M"],
                           columns="time,event,result")
    truth = result.truth.data["driver"]
    assert result.lost == 0
    assert dict(result.counts) == {name: counts["calls"] for name, counts in truth.items()}
    assert trace.in_order(result.lines)
