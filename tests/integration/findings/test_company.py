# SPDX-License-Identifier: BSD-2-Clause
"""The effect of other processes on a verdict: they use the same GPU,
or come late to collective operations."""
import pytest

from lib import paths
from lib.check import holder
from lib.probe import Probe
from lib.profile_runs import DIAGNOSE, Scenario, by_scenario
from lib.undisturbed import undisturbed

STEPS = paths.workload("steps")
# The GPU works for 2 ms of a step of 22 ms and more, or nearly always.
IDLE = [STEPS, "--steps", 350, "--idle", 0.02, "--wait", "stream", "--blocking"]
BUSY = [STEPS, "--steps", 400, "--launches", 100, "--wait", "stream", "--blocking"]
CLOCK = {"CUDA_SIM_CLOCK": "kernel=200us"}
NVML = {"LD_LIBRARY_PATH": paths.SIM}
WAITS = pytest.mark.waits("its programs sleep, for eight seconds")

COLLECTIVE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
# Each step has a collective operation. It lasts until the other rank has come, which is late.
RANK = f"""
start()
need(driver.cuCtxSetFlags(4))  # waits sleep
_, (work, collective) = module("work", {COLLECTIVE!r})
stream = made(driver.cuStreamCreate, 1)
for _ in range(400):
    time.sleep(LATE)
    need(launch(work, stream))
    need(launch(collective, stream))
    need(driver.cuStreamSynchronize(stream))
"""


def rank(late, collective):
    return Scenario(f"LATE = {late}\n" + RANK,
                    {"CUDA_SIM_CLOCK": f"kernel=20us,kernel:{COLLECTIVE}={collective}"})


def watched(directory, **scenarios):
    return by_scenario(Probe(directory), scenarios, base=DIAGNOSE, env=NVML, at_once=2)


@pytest.fixture(scope="module")
def sharing(tmp_path_factory):
    return watched(tmp_path_factory.mktemp("sharing"), idle=Scenario(IDLE, CLOCK),
                   busy=Scenario(BUSY, CLOCK))


@pytest.fixture(scope="module")
def ranks(tmp_path_factory):
    return watched(tmp_path_factory.mktemp("ranks"), late=rank(0.02, "20us"),
                   waiting=rank(0.0001, "20ms"))


def finding_of(runs, name):
    pid = runs.pid(name)
    return next((f for f in runs.result.final["findings"]
                 if f["pid"] == pid and f["id"] == "host-bound"), None)


@WAITS
def test_a_gpu_is_idle_where_nobody_uses_it(sharing):
    """What one has nothing to do for is no idle time while another keeps the GPU busy."""
    verdict, other = (sharing[name].process["verdict"] for name in ("idle", "busy"))
    assert verdict["kind"] == "host-bound"
    assert verdict["beside"] == {"pid": sharing.pid("busy"), "comm": "steps"}
    assert verdict["unfed_proved"] > 0.5
    busy_ns = ((1 - other["unfed_proved"]) * other["window_ns"]
               + max(0, other["from_ns"] - verdict["from_ns"]))
    assert verdict["idle_proved"] == pytest.approx(
        max(0, verdict["unfed_proved"] - busy_ns / verdict["window_ns"]), abs=0.01)
    assert verdict["idle_proved"] < verdict["unfed_proved"] - 0.2
    assert verdict["waits_for"] is None
    finding = finding_of(sharing, "idle")
    assert "nothing to do for the program" in finding["evidence"]
    assert finding["numbers"]["unfed_proved"]["value"] == pytest.approx(
        verdict["unfed_proved"], abs=0.05)


@WAITS
def test_who_keeps_it_busy(sharing):
    verdict = sharing["busy"].process["verdict"]
    assert verdict["kind"] == "GPU-bound"
    assert verdict["beside"] == {"pid": sharing.pid("idle"), "comm": "steps"}
    assert finding_of(sharing, "busy") is None


@WAITS
def test_a_late_rank_is_named(ranks):
    verdict = ranks["waiting"].process["verdict"]
    assert (verdict["kind"], verdict["in_collectives"]) == ("waiting for others", True)
    assert verdict["waits_for"]["pid"] == ranks.pid("late")
    assert finding_of(ranks, "waiting") is None


@WAITS
def test_the_late_rank_has_the_finding(ranks):
    verdict = ranks["late"].process["verdict"]
    assert (verdict["kind"], verdict["waits_for"]) == ("host-bound", None)
    assert finding_of(ranks, "late")


@WAITS
def test_nobody_knows_what_strangers_do(gpuprobe):
    """A process that is not watched has the GPU, too."""
    with holder() as stranger:
        text = gpuprobe.run(*undisturbed(*IDLE), base=["diagnose"], env=CLOCK | NVML).stdout
        verdict = gpuprobe.run(*undisturbed(*IDLE), base=DIAGNOSE,
                               env=CLOCK | NVML).process["verdict"]
    assert verdict["beside"] == {"pid": stranger.pid, "comm": None}
    assert verdict["idle_proved"] is None and verdict["unfed_proved"] > 0.5
    head = " ".join(text.split())
    assert "the program gives the GPU too little to do (host-bound): nothing for at least" in head
    assert f"process {stranger.pid} has memory on the GPU, too" in head
