# SPDX-License-Identifier: BSD-2-Clause
"""Programs none of whose calls succeeds, for lack of a driver or a device:
gpuprobe says that and why, and nothing else."""
import shutil

import pytest

from lib import paths
from lib.probe import EXACT, Probe
from lib.profile_runs import DIAGNOSE, STAT, Scenario, by_scenario

# A program that looks at nothing and goes on.
IGNORANT = """
start = driver.cuInit(0)
for _ in range(200):
    assert driver.cuMemAlloc_v2(ref(out()), 4096)
    driver.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, None, None)
"""
ONLY_ASKS = "assert runtime.cudaGetDeviceCount(ref(out()))"
ONLY_STARTS = "assert driver.cuInit(0)"
RUNTIME_ALONE = """
import cuda
cuda.SIM = {directory!r}
for _ in range(200):
    assert runtime.cudaMalloc(ref(out()), 4096) == 35
    assert runtime.cudaMemset(0, 0, 1) == 35
"""
TRIES_AGAIN = """
assert driver.cuInit(0) == 100
start()
need(driver.cuMemAlloc_v2(ref(out()), 4096))
"""
WRONG_ARGUMENTS = """
assert driver.cuInit(0) == 0
for _ in range(3):
    assert driver.cuMemAlloc_v2(ref(out()), 4096) == 201
"""


def failing(code, which="*"):
    return {"CUDA_SIM_FAIL": f"cuInit:{which}={code}"}


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A runtime without a driver."""
    path = tmp_path_factory.mktemp("runtime")
    shutil.copy(paths.LIBCUDART, path / "libcudart.so.13")
    return path


@pytest.fixture(scope="module")
def scenarios(directory):
    return {
        "stub": Scenario(IGNORANT, failing(34)),
        "no device": Scenario(IGNORANT, failing(100)),
        "not ready": Scenario(IGNORANT, failing(802)),
        "mismatch": Scenario(IGNORANT, failing(803)),
        "only asks": Scenario(ONLY_ASKS, failing(100)),
        "only starts": Scenario(ONLY_STARTS, failing(100)),
        "no driver": Scenario(RUNTIME_ALONE.format(directory=str(directory))),
        "tries again": Scenario(TRIES_AGAIN, failing(100, 1)),
        "wrong arguments": Scenario(WRONG_ARGUMENTS),
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory, scenarios):
    """By program what diagnose found of it."""
    runs = by_scenario(Probe(tmp_path_factory.mktemp("unavailable")), scenarios, base=DIAGNOSE)
    return {name: [finding for finding in runs.result.final["findings"]
                   if finding["pid"] == runs.pid(name)] for name in scenarios}


# What the evidence names: the subject, and words of the cause.
TOLD = {
    "stub": ("cuInit: CUDA_ERROR_STUB_LIBRARY", "stub"),
    "no device": ("cuInit: CUDA_ERROR_NO_DEVICE", "the driver sees no device"),
    "not ready": ("cuInit: CUDA_ERROR_SYSTEM_NOT_READY", "fabric"),
    "mismatch": ("cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "different versions"),
    "only asks": ("cudaGetDeviceCount: cudaErrorNoDevice", "1 call failed and none succeeded"),
    "only starts": ("cuInit: CUDA_ERROR_NO_DEVICE", "1 call failed and none succeeded"),
    "no driver": ("cudaMalloc: cudaErrorInsufficientDriver", "there is no driver"),
}


@pytest.mark.parametrize("program", TOLD)
def test_told_alone(found, program):
    """It is the only finding: storms of failures and unchecked errors come from
    failed calls alone."""
    [finding] = found[program]
    subject, words = TOLD[program]
    assert (finding["id"], finding["severity"],
            finding["subject"]) == ("cuda-unavailable", "critical", subject)
    assert words in finding["evidence"]


@pytest.mark.parametrize("program", ["tries again", "wrong arguments"])
def test_not_told(found, program):
    """A call that succeeded had a driver; errors of another sort do not speak of one."""
    assert "cuda-unavailable" not in {finding["id"] for finding in found[program]}


@pytest.mark.parametrize("base", [STAT, EXACT], ids=["stat", "monitor"])
def test_other_commands(tmp_path, scenarios, base):
    """They do not probe cuInit, and tell it by what failed after it."""
    runs = by_scenario(Probe(tmp_path), {"no driver": scenarios["no driver"]}, base=base)
    [finding] = [finding for finding in runs.result.final["findings"]
                 if finding["pid"] == runs.pid("no driver")]
    assert (finding["id"], finding["subject"]) == ("cuda-unavailable",
                                                   "cudaMalloc: cudaErrorInsufficientDriver")
