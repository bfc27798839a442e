# SPDX-License-Identifier: BSD-2-Clause
"""
For each finding a workload that has the fault, and its repaired twin without it
(sim/workloads/faults).

A row says how the pair is run, which other findings apply besides the fault's own, and the source
of the true cost: the simulator's truth file, or the workload's own measurement if that file does
not have it.
"""
from dataclasses import dataclass, field
from typing import Callable

from lib import paths

# Work on a stream takes 2 ms: a wait for a step is longer than the rules' limit for short waits.
ASYNC = "2ms"
TOLERANCE = 0.10


def within(found, truth):
    """Whether the number is right to within a tenth."""
    return abs(found - truth) <= TOLERANCE * truth


def time_in(*functions, layer="driver"):
    """The time inside these functions as measured by the simulator."""
    def told(truths, _):
        return sum(truth.data[layer].get(name, {"ns": 0})["ns"] for truth in truths
                   for name in functions)
    return told


def own(name):
    """A value measured by the workload."""
    def told(_, measured):
        return measured[name]
    return told


def failures(*functions, layer="driver"):
    def told(truths, _):
        return sum(truth.data[layer][name]["failures"] for truth in truths for name in functions)
    return told


@dataclass(frozen=True, eq=False)
class Fault:
    """A pair."""
    id: str
    cost: Callable = None            # (truths, measured) -> ns
    # Numbers of the evidence: name -> (truths, measured) -> value.
    numbers: dict = field(default_factory=dict)
    env: dict = field(default_factory=dict)
    fixed_env: dict = None           # environment of the twin if it differs
    options: tuple = ()              # options of diagnose
    # Follows a trend in running processes, so it needs reports meanwhile.
    course: bool = False
    seconds: float = 1.5
    arguments: tuple = ()
    companions: dict = field(default_factory=dict)  # other findings that apply -> why
    alone: bool = False              # runs without any other program on the machine
    apart: bool = False              # runs without any other program under the same gpuprobe
    spins: bool = False              # uses a whole CPU
    name: str = None                 # name in the table if an id has several pairs

    @property
    def title(self):
        return self.name or self.id

    def environment(self, fixed):
        env = self.fixed_env if fixed and self.fixed_env is not None else self.env
        return {"CUDA_SIM_ASYNC": ASYNC, **env}


def cuda_unavailable(truths, measured):
    """
    The runtime's calls, and the driver's startup inside allocations; inside other calls it is the
    same act.
    """
    return failures("cudaGetDeviceCount", "cudaMalloc", "cudaMalloc",
                    layer="runtime")(truths, measured)


FAULTS = [
    # The failure rate would also make this an error-storm if other errors did not exclude that.
    Fault("cuda-unavailable", numbers={"calls": cuda_unavailable}, fixed_env={},
          env={"CUDA_SIM_FAIL": "cuInit:*=100"}),
    Fault("alloc-churn", cost=time_in("cudaMalloc", "cudaFree", layer="runtime"),
          env={"CUDA_SIM_LATENCY": "cuMemAlloc_v2=412us,cuMemFree_v2=23us"}),
    Fault("leak-growing", numbers={"live_bytes": own("bytes")}, course=True, seconds=5,
          companions={"leak-at-exit": "what grew to the end is live at the end"}),
    Fault("leak-at-exit", numbers={"live_bytes": own("bytes")}),
    Fault("object-leak", numbers={"live": own("calls")}, course=True, seconds=5,
          options=("--threshold", "object-leak=100"),
          env={"CUDA_SIM_OBJECTS": "primary=527M,graph_exec=126K"}),
    # Launches are long, so that the probes take less than a tenth of their time.
    Fault("launch-bound", spins=True, cost=time_in("cuLaunchKernel"),
          options=("--threshold", "launch-bound.rate=1000/s"),
          env={"CUDA_SIM_LATENCY": "cuLaunchKernel=18us,cuGraphLaunch=18us"}),
    Fault("sync-after-every-launch", cost=time_in("cuStreamSynchronize"),
          env={"CUDA_SIM_ASYNC": "200us"}),
    Fault("sync-stall", cost=time_in("cuStreamSynchronize"), env={"CUDA_SIM_ASYNC": "200us"}),
    Fault("implicit-sync",
          cost=lambda truths, measured: time_in("cuMemsetD8_v2", "cuMemcpyDtoH_v2")(
              truths, measured) + time_in("cudaFree", layer="runtime")(truths, measured),
          env={"CUDA_SIM_LATENCY": "cuMemsetD8_v2=100us,cuMemcpyDtoH_v2=300us,cuMemFree_v2=200us"},
          fixed_env={}),
    Fault("small-copies", cost=time_in("cuMemcpyHtoDAsync_v2"),
          env={"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=60us"}),
    Fault("pageable-copies", cost=time_in("cuMemcpyHtoDAsync_v2"),
          env={"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=100us+0.1ns/B"}),
    Fault("redundant-copies", cost=own("cost_ns"),
          numbers={"to_device": lambda _, measured: measured["calls"] * 2 / 3,
                   "to_host": lambda _, measured: measured["calls"] / 3},
          # Long compared with entering the call, which the workload measures too.
          env={"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=500us,cuMemcpyDtoHAsync_v2=500us"}),
    Fault("unchecked-errors", numbers={"calls": failures("cuMemcpyHtoDAsync_v2")},
          env={"CUDA_SIM_FAIL": "cuMemcpyHtoDAsync_v2:%200=1"}),
    Fault("sticky-error", numbers={"calls": own("calls")}, fixed_env={},
          env={"CUDA_SIM_FAIL": "cuLaunchKernel:201+=700,cuMemFree_v2:*=700"}),
    Fault("error-storm", numbers={"calls": own("calls")}),
    # The simulated NVML has one device for all programs of a worker's machine; this one fills it.
    Fault("oom-near", course=True, apart=True, seconds=5,
          env={"CUDA_SIM_MEMORY": "3900M", "LD_LIBRARY_PATH": str(paths.SIM)},
          companions={"leak-growing": "that is how it uses the device up",
                      "leak-at-exit": "what grew to the end is live at the end"}),
    Fault("oom", numbers={"calls": own("calls")}, env={"CUDA_SIM_MEMORY": "1G"}),
    Fault("fragmentation", numbers={"unused": own("bytes")}, course=True, seconds=4),
    Fault("graph-recapture",
          cost=time_in("cuStreamBeginCapture_v2", "cuStreamEndCapture",
                       "cuGraphInstantiateWithFlags", "cuGraphExecDestroy", "cuGraphDestroy"),
          env={"CUDA_SIM_LATENCY": "cuGraphInstantiateWithFlags=300us,cuStreamEndCapture=50us,"
                                   "cuGraphExecDestroy=30us"}),
    Fault("cold-start", cost=time_in("cuLibraryLoadData"),
          env={"CUDA_SIM_LATENCY": "cuLibraryLoadData=200ms"},
          options=("--threshold", "cold-start=500ms"), seconds=2),
    Fault("mapped-file-copies", cost=time_in("cuMemcpyHtoDAsync_v2"),
          env={"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=100ms"},
          options=("--threshold", "mapped-file-copies=500ms")),
    Fault("idle-gaps", cost=own("cost_ns"), env={"CUDA_SIM_ASYNC": "100ms"}, seconds=2),
    # Only the second half is judged.
    Fault("host-bound", env={"CUDA_SIM_ASYNC": "60ms"}, seconds=4,
          options=("--threshold", "host-bound.window=1s")),
    Fault("driver-contention", cost=own("cost_ns"), numbers={"calls": own("calls")},
          # A thread that was held up should resume soon after it may, in relation to the load.
          env={"CUDA_SIM_LOCK": "cuLibraryLoadData", "CUDA_SIM_LATENCY": "cuLibraryLoadData=100ms"},
          seconds=3, alone=True),
    Fault("default-stream", cost=time_in("cuStreamSynchronize")),
    Fault("chatty-getters", spins=True, cost=time_in("cudaGetDevice", layer="runtime"),
          # As above.
          env={"CUDA_SIM_LATENCY": "cudaGetDevice=20us"},
          options=("--getters", "--threshold", "chatty-getters=5000/s")),
    # The second of two waits in a step returns at once: their mean must not be a short wait.
    Fault("device-imbalance", env={"CUDA_SIM_DEVICES": "2", "CUDA_SIM_ASYNC": "4ms"},
          numbers={"ratio": lambda *_: 1.5}),
    # Detected for no single process.
    Fault("device-imbalance", name="device-imbalance, by ranks", apart=True,
          env={"CUDA_SIM_DEVICES": "2", "CUDA_SIM_ASYNC": "4ms"},
          arguments=("--processes", "2"), numbers={"ratio": lambda *_: 1.5}),
    # The process ends while a thread is in the call.
    Fault("stuck", env={"CUDA_SIM_ASYNC": "300s"}, fixed_env={},
          options=("--threshold", "stuck=1s"), numbers={"lasted": own("cost_ns")}),
    *(Fault("missing-sync", name=f"missing-sync, {part}", arguments=("--part", part), seconds=1,
            numbers={"calls": own("calls")}) for part in ("free", "event", "stream", "exit")),
]
