# SPDX-License-Identifier: BSD-2-Clause
"""Threads that switch stacks inside calls: they live, their calls are counted,
and calls that can be followed are."""
import pytest

from lib import steady
from lib.certain import Harm

pytestmark = pytest.mark.usefixtures("nothing_left")

SLEEPS = {"CUDA_SIM_LATENCY": "cuMemAlloc_v2=100us,cuCtxSynchronize=100us"}


@pytest.fixture(scope="module")
def switching(tmp_path_factory):
    """
    programs/switching.c, hidden from any gpuprobe that watches the whole machine: that may attach
    in the middle of a call, and its return probe and the one already there are then of two stacks.
    """
    return steady.build_apart(tmp_path_factory.mktemp("switching"), "switching")


def run(gpuprobe, program, *words, env=None):
    """The final report on the program, which must end well.
    Without session links returns are not followed."""
    args = () if gpuprobe.links in (None, "session") else ("--no-return-probes",)
    result = gpuprobe.run(program, *words, args=args, env=env or SLEEPS,
                          libraries=[program.parent / steady.NAME], status=None)
    if result.status:
        raise Harm(f"{words} ended with {result.status}: {result.stderr}")
    return result.processes[0]


def calls(process, function, followed=None):
    """How often it was called; of those whose return was followed, or not."""
    return sum(entry["calls"] for entry in process["functions"] if entry["function"] == function and
               followed in (None, "unfollowed" not in entry["flags"]))


COROUTINES = [("coroutines", 2, 4096), ("downwards", 2, 4096), ("coroutines", 3, 0),
              ("downwards", 4, 0), ("coroutines", 5, 64)]


@pytest.mark.parametrize("how", COROUTINES, ids=lambda how: "-".join(map(str, how)))
def test_coroutines(gpuprobe_by, switching, how):
    """Each call is counted once; links that can skip a return follow the calls of one
    stack at a time."""
    process = run(gpuprobe_by, switching, *map(str, how))
    for function in ("cuMemAlloc_v2", "cuCtxSynchronize", "cuMemFree_v2"):
        assert calls(process, function) == 5 * how[1], function
    followed = calls(process, "cuCtxSynchronize", followed=True)
    assert followed > 0 if gpuprobe_by.links == "session" else followed == 0
    assert process["unfollowed"]["calls"] > 0


@pytest.mark.parametrize("where", ["above", "below"])
def test_handlers_on_an_alternate_stack(gpuprobe_by, switching, where):
    process = run(gpuprobe_by, switching, "signal", where)
    assert (calls(process, "cuMemAlloc_v2") == calls(process, "cuMemFree_v2")
            == calls(process, "cuCtxSynchronize") == 10)
    assert calls(process, "cuCtxSynchronize", followed=True) == (
        10 if gpuprobe_by.links == "session" else 0)
    assert process["unfollowed"]["allocations"] == process["unfollowed"]["frees"] == 10


@pytest.mark.parametrize("how", [("away", "above"), ("away", "below"), ("left",)], ids="-".join)
def test_a_call_that_was_left_on_another_stack_stops_nobody(gpuprobe, switching, how):
    """Later calls are followed: the other stack is gone, or no signal is handled on it."""
    process = run(gpuprobe, switching, *how)
    assert calls(process, "cuMemAlloc_v2",
                 followed=True) == calls(process, "cuMemFree_v2", followed=True) == 20
    assert "unfollowed" not in process


def test_cancelled_in_a_call(gpuprobe_by, switching):
    """Without return probes the stack can be unwound, so the thread's clean-up handler runs."""
    result = gpuprobe_by.run(switching, "cancel", args=("--no-return-probes",), env=SLEEPS,
                             libraries=[switching.parent / steady.NAME])
    assert calls(result.processes[0], "cuCtxSynchronize", followed=False) == 1


def test_a_program_that_can_switch_stacks(gpuprobe_by, tmp_path):
    """Links that cannot leave a return out follow none of such a program, and say so."""
    result = gpuprobe_by.run(steady.build(tmp_path, "switching"), "stays")
    process = result.processes[0]
    follows = gpuprobe_by.links == "session"
    assert calls(process, "cuMemAlloc_v2",
                 followed=follows) == calls(process, "cuMemAlloc_v2") == 20
    assert ("may switch stacks inside a call" in result.stderr) == (not follows)


def test_traced(tracer_by, switching):
    """Lines of calls that are not followed say so, and a call's inner calls are not taken for
    separate ones."""
    args = () if tracer_by.links == "session" else ("--no-return-probes",)
    traced = tracer_by.run(switching, "coroutines", "3", "64",
                           args=("-e", "cuMemAlloc_v2,cuCtxSynchronize", *args), env=SLEEPS,
                           libraries=[switching.parent / steady.NAME])
    lines = traced.lines
    unfollowed = [line for line in lines if line.get("line") == "not_followed"]
    assert len(lines) == 30
    assert len(unfollowed) == 30 if args else 0 < len(unfollowed) < 30
    assert all(line["result"] is None and line["duration"] is None for line in unfollowed)
    assert f"the return of {len(unfollowed)} was not followed" in traced.result.stderr


@pytest.mark.parametrize("options", [("--check-launches",)])
def test_options_that_need_returns(gpuprobe, options):
    result = gpuprobe.run(args=("--no-return-probes", *options), status=2)
    assert "do not go together" in result.stderr


@pytest.mark.parametrize("options", [("--failed",), ("--min-duration", "1ms"), ("--entry-return",)],
                         ids=lambda options: options[0])
def test_options_of_the_tracer_that_need_returns(tracer, options):
    result = tracer.run(args=("--no-return-probes", *options), status=2)
    assert "do not go together" in result.stderr
