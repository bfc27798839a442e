# SPDX-License-Identifier: BSD-2-Clause
"""
No memory: allocations of gpuprobe fail, one by one. It ends with a message, or goes on and says
what it lacks. A run allocates some thousand times, from some hundred call stacks.
"""
import random

import pytest

from lib import scarce
from lib.marked import ends_soon
from lib.paths import PYTHON, workload

pytestmark = [pytest.mark.usefixtures("nothing_left"),
              pytest.mark.plain("sanitizers have allocation functions of their own")]

NONE = ["--metrics-addr", "none"]
ASK = ('import urllib.request, sys; urllib.request.urlopen(sys.argv[1] + "/metrics", '
       'timeout=60).read()')
SCENARIOS = {
    "reports": ([*NONE, "--json", "--display-interval", 0.05],
                [workload("memory"), "--pairs", 20, "--keep", 3]),
    "launches": ([*NONE, "--json", "--display-interval", 0],
                 [workload("launch"), "--launches", 50]),
    "metrics": (["--metrics-addr", "127.0.0.1:PORT", "-q"],
                ["sh", "-c", '"$0" --hold 0.3 & sleep 0.1; '
                 f'{PYTHON} -c \'{ASK}\' http://127.0.0.1:PORT 2>&1; wait', workload("launch")]),
    "trace": (["trace", "-O", "/dev/null", "--stack"], [workload("traced"), "--rounds", 5]),
    "timeline": (["trace", "--format", "perfetto", "-o", "/dev/null"],
                 [workload("traced"), "--rounds", 5]),
    "record": (["record", "-o", "/dev/null", "--stack"], [workload("traced"), "--rounds", 5]),
    "stat": (["stat", "--json", "-O", "/dev/null"], [workload("launch"), "--launches", 50]),
    "diagnose": (["diagnose", "-O", "/dev/null"], [workload("demo"), "--seconds", 0.2]),
    "nccl": (["nccl", "-O", "/dev/null"], [workload("ranks"), "--ranks", 2, "--steps", 5]),
    "account": (["account"], [workload("memory"), "--pairs", 20, "--keep", 3]),
    "memleak": (["memleak"], [workload("memory"), "--pairs", 20, "--keep", 3]),
    "flame": (["flame", "--by", "launches", "--folded", "-o", "/dev/null"],
              [workload("launch"), "--launches", 50]),
}
MODES = {"one": {}, "all_after_it": {"SCARCE_FROM": 1}}


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """programs/scarce.c"""
    built = scarce.build(tmp_path_factory.mktemp("scarce"))
    if not built:
        pytest.skip("this build has allocation functions of its own")
    return built


@pytest.fixture
def scenario(library, tmp_path, free_port):
    def make(name, links=None):
        words, command = SCENARIOS[name]
        at = [str(word).replace("PORT", str(free_port)) for word in (*words, "--", *command)]
        split = at.index("--")
        return scarce.Scenario(library, tmp_path, at[:split], at[split + 1:], links)
    return make


def check(trials):
    """None of them did wrong, those that were to fail did, and no process of any is left."""
    wrong = [f"{why}: {trial}\n{scarce.place(trial.hit)}" for trial in trials
             if (why := scarce.faults(trial))]
    assert not wrong, f"{len(wrong)} of {len(trials)}:\n" + "\n".join(wrong[:20])
    for trial in trials:
        ends_soon(trial.mark)
    # Which allocations there are depends on what the machine does meanwhile.
    assert sum(bool(trial.hit) for trial in trials) >= len(trials) / 3


def some(things, number):
    """The same ones in each run, from all over."""
    return random.Random(number).sample(things, min(number, len(things)))


def show(name, tried, stacks, total):
    print(f"{name}: {tried} of {len(stacks)} places that allocate, {total} allocations in a run")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SCENARIOS)
def test_some_places(scenario, name, mode):
    run = scenario(name)
    stacks, total = run.stacks()
    trials = []
    # Not each place that allocated in one run does so in another.
    for stack in some(stacks, 12):
        trials.append(run.fail(SCARCE_STACK=stack, **MODES[mode]))
        if sum(bool(trial.hit) for trial in trials) == 4:
            break
    check(trials)
    show(name, len(trials), stacks, total)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_place(scenario, name, mode):
    """Each call stack that allocates, the first time."""
    run = scenario(name)
    stacks, total = run.stacks()
    check([run.fail(SCARCE_STACK=stack, **MODES[mode]) for stack in stacks])
    show(name, len(stacks), stacks, total)


@pytest.mark.slow
@pytest.mark.parametrize("links", ["multi", "perf"])
def test_each_place_with_other_links(scenario, links, missing_links):
    if links in missing_links:
        pytest.skip(f"this kernel has no {links} links")
    run = scenario("launches", links)
    stacks, total = run.stacks()
    check([run.fail(SCARCE_STACK=stack) for stack in stacks])
    show("launches", len(stacks), stacks, total)


@pytest.mark.slow
def test_later_allocations(scenario):
    """Not only the first at a place: one in 20 of all that there are in a run."""
    run = scenario("launches")
    stacks, total = run.stacks()
    check([run.fail(SCARCE_NUMBER=number) for number in range(1, total, 20)])
