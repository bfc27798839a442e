# SPDX-License-Identifier: BSD-2-Clause
"""The monitor's numbers by call site add up to those without sites, in every unwinding mode."""
import re
from collections import Counter

import pytest

from lib.paths import workload
from test_mix import BEARABLE, check_mix

MODES = ("fp", "auto", "dwarf")
# The counts at sites, and the sums of functions that they equal; without those flagged as not
# executed, as another reference alone, or as ends of what the function had made.
ENDS = {"with_context", "replaced", "ended"}
SUMMED = {"allocation": (("calls", "bytes"), ENDS | {"captured", "reference"}),
          "wait": (("calls", "ns"), ENDS | {"captured"})}


def sums(sites, kind, key, value="calls"):
    total = Counter()
    for site in sites:
        if site["kind"] == kind:
            total[key(site)] += site[value]
    return total


def function_sums(process, names, value, apart):
    """What was counted of these functions."""
    total = Counter()
    for function in process["functions"]:
        name = re.sub(r"_pt[sd][sz]$", "", function["function"])
        if name in names and not apart & set(function["flags"]):
            total[name] += function[value]
    return total


def check_process(process):
    """Sites against the sums of the same report."""
    sites = process["call_sites"]["calls"]
    launches = {kernel["name"]: kernel["launches"] for kernel in process["kernels"]
                if kernel["launches"]}
    assert sums(sites, "launch", lambda site: site["kernel"]) == launches
    assert sums(sites, "failure", lambda site: (site["function"], site["code"])) == \
        sums([{"kind": "failure", **error} for error in process["errors"]], "failure",
             lambda error: (error["function"], error["code"]), "count")
    for kind, (values, apart) in SUMMED.items():
        for value in values:
            seen = sums(sites, kind, lambda site: site["function"], value)
            assert seen == function_sums(process, set(seen), value, apart)
    live = process["call_sites"]["live_memory"]
    assert sum(site["count"] for site in live) == process["memory"]["live_at_exit_allocations"]
    assert sum(site["bytes"] for site in live) == process["memory"]["live_at_exit_bytes"]


@pytest.mark.parametrize("mode", MODES)
def test_all_kinds_of_calls(gpuprobe_by, mode):
    """By 64 threads, some of which fail or end in the middle: all counts are as without stacks."""
    more = ["--stack", mode, "--min-wait", "1ns", "--stack-sample", 4]
    # So many stacks at once that some are not told: their calls count all the same.
    result = check_mix(gpuprobe_by, seed=7, seconds=3, more=more,
                       bearable=BEARABLE | {"stack_ring_full"})
    for process in result.processes:
        check_process(process)


def test_reports_between(gpuprobe):
    """Each reading merges map entries of sites with several ids for one stack;
    the sums stay complete."""
    # The workload's output must not come in the middle of a report,
    # which is longer than a pipe takes at once.
    mix = [workload("mix"), "--children", 0, "--threads", 16, "--seconds", 3, "--actions", 20_000,
           "--seed", 3]
    result = gpuprobe.run("sh", "-c", 'exec "$@" >&2', "sh", *mix, args=[
        "--stack", "dwarf", "--min-wait", "1ns", "--check-launches", "--display-interval", "0.2"])
    assert len(result.reports) > 1  # how many depends on the machine
    check_process(result.process)
    assert result.final["stacks"]["unwound"] > 2 * result.final["stacks"]["kept"]
