# SPDX-License-Identifier: BSD-2-Clause
"""Findings point at the place in the program that has the fault, by the stacks that diagnose takes."""
import pytest

from lib import faultruns, paths

CASES = {
    "launch-bound": ({"CUDA_SIM_LATENCY": "cuLaunchKernel=15us"}, "launch_bound"),
    "sync-after-every-launch": ({"CUDA_SIM_ASYNC": "200us"}, "sync_after_every_launch"),
    "small-copies": ({"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=20us"}, "small_copies"),
    "pageable-copies": ({"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=100us+0.1ns/B"}, "pageable_copies"),
    "unchecked-errors": ({"CUDA_SIM_FAIL": "cuMemcpyHtoDAsync_v2:%200=1"}, "unchecked_errors"),
}


@pytest.mark.parametrize("fault", CASES)
def test_place(fault):
    env, function = CASES[fault]
    report = faultruns.diagnose(paths.workload("faults"), fault, "--seconds", "1", args=("--min-wait", "1ns"),
                                env={"CUDA_SIM_ASYNC": "2ms", **env})
    found = [finding for finding in report["findings"] if finding["id"] == fault]
    assert found, report["findings"]
    assert function in [frame["function"] for frame in found[0]["stack"]["frames"]]
