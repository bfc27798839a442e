# SPDX-License-Identifier: BSD-2-Clause
"""The whole truth of a random run: all families mixed by 64 threads, calls that fail, threads and
processes that die in the middle of calls. Every number of every process is what it was."""
import random

import pytest

from lib import exact, mixtruth
from lib.paths import workload

pytestmark = pytest.mark.alone(
    "a busy CPU holds threads up between a call and its probe, see docs/limits.md")

# Functions some of whose calls are made to fail, without those that the workload needs.
FAILING = """
    cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocManaged cuMemHostAlloc cuMemAllocHost_v2
    cuMemAllocAsync cuMemAllocFromPoolAsync_ptsz cuMemFree_v2 cuMemFreeHost cuMemFreeAsync
    cuMemHostRegister_v2 cuMemHostUnregister cuArrayCreate_v2 cuArray3DCreate_v2 cuArrayDestroy
    cuMemPoolCreate cuMemPoolDestroy cuMemPoolTrimTo cuMemAddressReserve cuMemAddressFree
    cuMemCreate cuMemMap cuMemUnmap cuMemRelease cuMemRetainAllocationHandle cuIpcOpenMemHandle_v2
    cuIpcCloseMemHandle
    cudaMalloc cudaMallocManaged cudaMallocPitch cudaHostAlloc cudaMallocAsync cudaFree cudaFreeHost
    cudaFreeAsync cuMemcpy cuMemcpyAsync cuMemcpyHtoD_v2 cuMemcpyDtoH_v2 cuMemcpyDtoD_v2
    cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoDAsync_v2_ptsz cuMemcpy2D_v2
    cuMemcpy2DAsync_v2 cuMemcpy3D_v2 cuMemcpy3DAsync_v2 cuMemcpyPeer cuMemcpyBatchAsync_v2
    cuMemcpyHtoA_v2 cuMemcpyAtoHAsync_v2 cudaMemcpy cudaMemcpyAsync cudaMemcpy2D
    cuMemsetD8_v2 cuMemsetD32Async cuMemsetD2D16_v2 cudaMemset cudaMemset2DAsync
    cuLaunchKernel cuLaunchKernelEx cuLaunchCooperativeKernel_ptsz cudaLaunchKernel
    cudaLaunchKernelExC
    cuStreamCreate cuStreamDestroy_v2 cuStreamSynchronize cuStreamQuery cuEventCreate
    cuEventDestroy_v2 cuEventRecord cuEventQuery cuEventSynchronize cuCtxSynchronize
    cuStreamWaitEvent cudaStreamCreate cudaEventRecord cudaDeviceSynchronize cudaSetDevice
    cuCtxSetCurrent cuCtxCreate_v2 cuCtxCreate_v4 cuCtxDestroy_v2
    cuCtxPopCurrent_v2 cuDevicePrimaryCtxRetain cuDevicePrimaryCtxReset_v2 cudaDeviceReset
    cuModuleLoadData cuModuleUnload cuModuleGetFunction cuLibraryLoadData cuLibraryUnload
    cuLibraryGetKernel cuStreamBeginCapture_v2 cuStreamEndCapture cuGraphCreate cuGraphDestroy
    cuGraphAddKernelNode_v2 cuGraphInstantiateWithFlags cuGraphInstantiateWithParams cuGraphLaunch
    cuGraphLaunch_ptsz cuGraphExecDestroy cudaGraphLaunch cudaGraphInstantiate cudaStreamEndCapture
""".split()

# Threads may find a stream's record in use by another one: then its copies in flight are unknown,
# and nothing else.
BEARABLE = {"inflight_busy"}


def failures(seed):
    """A third of the functions, each of which fails in its own rhythm."""
    numbers = random.Random(seed)
    chosen = numbers.sample(FAILING, len(FAILING) // 3)
    return ",".join(f"{function}:%{numbers.randrange(3, 40)}" for function in chosen)


def unbalanced(process):
    """Kinds of memory whose counts do not add up to what is live."""
    for kind, memory in process["memory"].items():
        if not isinstance(memory, dict) or "allocations" not in memory or kind == "unknown":
            continue
        live = memory["allocations"] - sum(
            memory[part] for part in ("never_live", "replaced", "frees", "with_context"))
        if live != memory["live_allocations"]:
            yield f"{kind}: {live} allocations should be live by {memory}"


def check_mix(gpuprobe, seed, api="auto", seconds=10, more=(), bearable=BEARABLE, mix=(), env=None):
    """Runs the workload and compares each of its processes; returns the result.
    With odd seeds every launch is checked."""
    checked = seed % 2 == 1
    args = ["--api", api, "--top", "0", *(["--check-launches"] if checked else []), *more]
    result = gpuprobe.run(workload("mix"), "--seed", seed, "--seconds", seconds, *mix, args=args,
                          env={"CUDA_SIM_DEVICES": 3, "CUDA_SIM_ASYNC": "50us",
                               "CUDA_SIM_FAIL": failures(seed), **(env or {})})
    assert result.final["lost"].keys() >= bearable
    assert exact.lost(result.final).keys() <= bearable
    wrong = []
    for truth in result.truths:
        process = result.process_of(truth.pid)
        assert process["ended"] and not process["since_attach"]
        wrong += [f"{truth.comm} {truth.pid}: {line}"
                  for line in (*mixtruth.differences(process, truth, api, checked),
                               *unbalanced(process))]
    assert not wrong, f"{len(wrong)} numbers differ:\n" + "\n".join(wrong[:100])
    assert len(result.truths) >= 5 and result.truths[0].calls("cuMemAlloc_v2")
    return result


@pytest.mark.parametrize("seed", [1, 2])
def test_seeds(gpuprobe, seed):
    check_mix(gpuprobe, seed)


def test_each_path(gpuprobe_by):
    check_mix(gpuprobe_by, 7, seconds=4)


def test_both_layers(gpuprobe):
    check_mix(gpuprobe, 5, api="both", seconds=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_many_seeds(gpuprobe, seed):
    check_mix(gpuprobe, seed, api=("auto", "both", "driver")[seed % 3])
