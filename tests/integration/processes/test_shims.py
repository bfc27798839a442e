# SPDX-License-Identifier: BSD-2-Clause
"""A library in front of libcuda: each call counts once, for the function called first,
in every family and in the trace."""
import pytest

from lib import exact, shim, steady
from lib.check import Check, holder
from lib.paths import LIBCUDA, workload
from lib.probe import EXACT, TEXT, environment
from lib.profile_runs import Scenario, by_scenario
from lib.steady import Steady

RENAMED = {"cuLaunchKernel": "cuLaunchKernel_ptsz",
           "cuMemcpyHtoDAsync_v2": "cuMemcpyHtoDAsync_v2_ptsz",
           "cuMemFreeAsync": "cuMemFreeAsync_ptsz",
           "cuStreamSynchronize": "cuStreamSynchronize_ptsz"}
KINDS = {"jumps": {"form": "jump"}, "calls": {"form": "call"},
         "other names": {"form": "jump", "renamed": RENAMED}}


@pytest.fixture(scope="module", params=KINDS)
def shimmed(request, tmp_path_factory):
    """The environment of programs that get a shim."""
    library = shim.make(tmp_path_factory.mktemp("shim") / "libcuda.so.1", LIBCUDA,
                        **KINDS[request.param])
    return {"LD_LIBRARY_PATH": f"{library.parent}:{LIBCUDA.parent}", "CUDA_SIM_DEVICES": "2"}


def library_of(shimmed):
    return f"{shimmed['LD_LIBRARY_PATH'].split(':')[0]}/libcuda.so.1"


def counts(process):
    return (exact.launches(process), exact.copies(process), exact.memory(process),
            exact.objects(process), exact.errors(process))


def truths(truth):
    return (truth.launches(), truth.copies(), truth.memory(), truth.objects(), truth.errors())


PROGRAMS = ("launch", "memory", "copy", "training")


@pytest.fixture(scope="module")
def known():
    """What tests of this module have run and others look at, too."""
    return {}


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_call_once(gpuprobe_by, shimmed, known, program):
    """All programs under one gpuprobe."""
    key = gpuprobe_by.links, library_of(shimmed)
    if key not in known:
        known[key] = by_scenario(gpuprobe_by,
                                 {name: Scenario([workload(name)]) for name in PROGRAMS},
                                 base=EXACT, env=shimmed)
    process, truth, _ = known[key][program]
    assert counts(process) == truths(truth)
    assert process["shim"] == {"library": library_of(shimmed), "in_front_of": str(LIBCUDA)}


@pytest.mark.parametrize("program", ["memory", "launch"])
def test_traced_once(tracer_by, shimmed, known, program):
    """As many lines as without the shim, of the functions that the program called."""
    devices = {"CUDA_SIM_DEVICES": shimmed["CUDA_SIM_DEVICES"]}
    key = "traced", tracer_by.links, program
    if key not in known:
        known[key] = tracer_by.run(workload(program), args=["-e", "all"], env=devices).counts
    traced = tracer_by.run(workload(program), args=["-e", "all"], env=shimmed)
    assert traced.counts == known[key] and traced.lost == 0
    assert not [line for line in traced.lines if line.get("unfinished")]


def test_without_returns(gpuprobe_by, shimmed, known):
    """No record of a call in progress: the outer one is known by its return address."""
    for program in "launch", "memory":
        key = "without returns", gpuprobe_by.links, program
        if key not in known:
            known[key] = gpuprobe_by.run(workload(program), args=["--no-return-probes"],
                                         env={"CUDA_SIM_DEVICES": "2"}).process
        process = gpuprobe_by.run(workload(program), args=["--no-return-probes"],
                                  env=shimmed).process
        assert process["launches"] == known[key]["launches"]
        assert process.get("unfollowed") == known[key].get("unfollowed")


def test_report_and_check(gpuprobe, shimmed):
    text = gpuprobe.run(workload("launch"), env=shimmed,
                        base=TEXT).stdout
    assert (f"{library_of(shimmed)} stands in front of {LIBCUDA}: "
            "a call through both is counted once" in text)
    background = holder(env=environment(**shimmed))
    with background:
        line = Check("-p", background.pid).one("shim")
        background.kill()
    assert (line["state"] == "ok" and library_of(shimmed) in line["text"]
            and str(LIBCUDA) in line["text"])


@pytest.fixture(name="beside")
def programs_beside(tmp_path):
    """Two programs under load with libraries of their own, of which one has a shim in front."""
    plain, shimmed_one = tmp_path / "plain", tmp_path / "shimmed"
    for folder in (plain, shimmed_one):
        folder.mkdir()
        steady.build(folder)
    front = tmp_path / "front"
    front.mkdir()
    shim.make(front / "libcuda.so.1", shimmed_one / "libcuda.so.1")
    with Steady(plain / "steady") as one, \
            Steady(shimmed_one / "steady", env=environment(LD_LIBRARY_PATH=str(front))) as other:
        yield one, other


def counted(process):
    """(launches, allocations): each round of the program has one of both."""
    return process["launches"], sum(entry["calls"] for entry in process["functions"]
                                    if entry["function"] == "cuMemAlloc_v2")


def have_launched(programs, launches):
    """Whether a report shows so many launches of each of the programs."""
    return lambda report: all(any(process["pid"] == program.pid and process["launches"] > launches
                                  for process in report["processes"]) for program in programs)


def test_attached_late(gpuprobe_by, beside):
    """
    Four threads are in the middle of it, and a program without a shim is watched beside it.
    Double counting would double the numbers, once all probes are in.
    """
    with gpuprobe_by.start(
            args=[word for program in beside for word in ("-p", str(program.pid))]) as running:
        first = running.wait_for(have_launched(beside, 500))
        before = {process["pid"]: counted(process) for process in first["processes"]}
        running.wait_for(have_launched(beside,
                                       max(launches for launches, _ in before.values()) + 2000))
        for program in beside:
            program.finish()
        result = running.finish()
    for program, has_shim in zip(beside, (False, True)):
        last = result.last_seen(program.pid)
        launches, allocations = (now - then
                                 for now, then in zip(counted(last), before[program.pid]))
        assert allocations < 1.5 * launches < 2.25 * allocations
        assert ("shim" in last) is has_shim
