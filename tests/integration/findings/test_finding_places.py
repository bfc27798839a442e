# SPDX-License-Identifier: BSD-2-Clause
"""Findings point at the place in the program that has the fault;
the link speeds that they compare with come from NVML."""
import pytest

from lib import faultruns, paths
from lib.probe import Probe
from lib.profile_runs import DIAGNOSE, Scenario, by_scenario
from lib.undisturbed import SLEEPS, SPINS, undisturbed

CASES = {
    "launch-bound": ({"CUDA_SIM_LATENCY": "cuLaunchKernel=5us", "CUDA_SIM_ASYNC": "500us"},
                     "launch_bound"),
    "sync-after-every-launch": ({"CUDA_SIM_ASYNC": "200us"}, "sync_after_every_launch"),
    "small-copies": ({"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=20us"}, "small_copies"),
    "pageable-copies": ({"CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=100us+0.1ns/B"},
                        "pageable_copies"),
    "unchecked-errors": ({"CUDA_SIM_FAIL": "cuMemcpyHtoDAsync_v2:%200=1"}, "unchecked_errors"),
}

# What a busy machine reaches.
THRESHOLDS = ("--threshold", "launch-bound.rate=1000/s")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    scenarios = {fault: Scenario(undisturbed(paths.workload("faults"), fault, "--seconds", "1",
                                             priority=SPINS if fault == "launch-bound" else SLEEPS),
                                 {"CUDA_SIM_ASYNC": "2ms", **env})
                 for fault, (env, _) in CASES.items()}
    return by_scenario(Probe(tmp_path_factory.mktemp("places")), scenarios, base=DIAGNOSE,
                       args=THRESHOLDS, at_once=len(scenarios))


@pytest.mark.parametrize("fault", CASES)
def test_place(runs, fault):
    function = CASES[fault][1]
    own = [finding for finding in runs.result.final["findings"]
           if finding["pid"] == runs.pid(fault)]
    found = [finding for finding in own if finding["id"] == fault]
    assert found, own
    assert function in [frame["function"] for frame in found[0]["stack"]["frames"]]


@pytest.mark.waits("for copies, three seconds")
def test_link():
    """Nothing of the process is pinned in that direction, so the GPU's link speed counts:
    PCIe 5.0 with 16 lanes."""
    reports = faultruns.diagnose(paths.workload("faults"), "pageable-copies", "--seconds", "3",
                                 env={"CUDA_SIM_ASYNC": "2ms", "LD_LIBRARY_PATH": str(paths.SIM),
                                      "CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=100us+0.1ns/B"})
    finding, = reports[-1]["findings"]
    rate = 16 * 32e9 / 8 * 128 / 130
    assert finding["numbers"]["to_device_reference"]["value"] == pytest.approx(rate, rel=1e-6)
    seconds = finding["numbers"]["bytes"]["value"] / (0.8 * rate)
    assert finding["saving_seconds"] == pytest.approx(finding["cost_seconds"] - seconds, rel=1e-3)
