# SPDX-License-Identifier: BSD-2-Clause
"""`stat -i FILE --from T --to T` and the like: what happened between two readings. The totals of
two parts of a recording are those of the whole."""
import json

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import Probe


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A recording of processes that do everything, and some of which end."""
    directory = tmp_path_factory.mktemp("mixed")
    file = directory / "run.rec"
    Probe(directory).run(paths.workload("mix"), "--threads", 6, "--children", 3, "--seconds", 2.5,
                         "--calm", "--seed", 3, args=["--max-overhead", "off"],
                         base=["record", "-o", str(file), "--level", "summary", "--interval",
                               "0.2"])
    return file


@pytest.fixture(scope="module")
def moments(mixed):
    """Of two readings in the middle: --from takes the latest one up to that time."""
    began = stat(mixed)["began_ns"]
    done = run("-i", mixed, "--json", "--interval", "0.01")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    worked = [report["boot_ns"] for report in reports
              if sum(process["launches"] for process in report["processes"])]
    return [f"{(worked[len(worked) * part // 3] - began) // 10 ** 6 + 1}ms" for part in (1, 2)]


def stat(file, *args):
    done = run("stat", "-i", file, "--json", *args)
    assert done.returncode == 0, done.stderr
    assert ("--from: the difference" in done.stderr) == ("--from" in args)
    return json.loads(done.stdout)


def kinds(process):
    return [(kind, memory) for kind, memory in process["memory"].items()
            if isinstance(memory, dict)]


def totals(report):
    """{(process, what, which): a count that only grows}"""
    found = {}
    for process in report["processes"]:
        who = process["pid"], process["start_ns"]
        for name in ("launches", "graph_launches", "graph_kernels"):
            found[who, name, ""] = process[name]
        for kernel in process["kernels"]:
            found[who, "kernel", kernel["name"]] = kernel["launches"]
        for function in process["functions"]:
            for name in ("calls", "total_ns"):
                found[who, name, function["function"]] = function[name]
        for kind, memory in kinds(process):
            for name in ("allocations", "allocation_ns", "frees", "free_failures"):
                found[who, kind, name] = memory[name]
        for copies in process["copies"]:
            for name in ("calls", "bytes", "ns"):
                found[who, copies["kind"] + copies["mode"], name] = copies[name]
        for size in process["graph_sizes"]:
            found[who, "graphs", size["kernels"]] = size["launches"]
        for time in ("launch", "wait"):
            found[who, "time", time] = process["all_threads"]["time"][time]["calls"]
    return found


def test_parts_are_the_whole(mixed, moments):
    """At a moment and from it on; and one part of the other, in the middle."""
    first, second = moments
    whole = totals(stat(mixed))
    early, late = totals(stat(mixed, "--to", first)), totals(stat(mixed, "--from", first))
    middle, last = (totals(stat(mixed, "--from", first, "--to", second)),
                    totals(stat(mixed, "--from", second)))
    assert sum(early.values()) and sum(late.values()) and sum(middle.values())
    for key, count in whole.items():
        assert early.get(key, 0) + late.get(key, 0) == count, key
        assert early.get(key, 0) + middle.get(key, 0) + last.get(key, 0) == count, key
    assert not set(late) - set(whole)


def test_live_memory_is_that_of_the_end(mixed, moments):
    def live(report):
        return {(p["pid"], kind): memory["live_bytes"]
                for p in report["processes"] for kind, memory in kinds(p)}

    first, second = moments
    until, part = stat(mixed, "--to", second), stat(mixed, "--from", first, "--to", second)
    assert live(part).items() <= live(until).items() and any(live(part).values())
    assert part["boot_ns"] == until["boot_ns"]
    assert any(process["since_attach"] for process in part["processes"])
    assert not any(process["since_attach"] for process in until["processes"])


def test_each_command(mixed, moments):
    for command in (["diagnose"], ["memleak"], ["stat"], ["stat", "--csv"], [], ["memleak", "-v"],
                    ["--cudatrace"], ["flame", "--by", "launches"]):
        done = run(*command, "-i", mixed, "--from", moments[0], "--to", moments[1])
        assert done.returncode == 0 and done.stdout, done.stderr


def test_times_shrink(mixed, moments):
    whole, part = stat(mixed), stat(mixed, "--from", moments[1])
    watched = part["boot_ns"] - part["began_ns"]
    assert 0 < watched < whole["boot_ns"] - whole["began_ns"]
    for process in part["processes"]:
        for function in process["functions"]:
            assert function["average_ns"] <= function["max_ns"] <= function["total_ns"] or \
                function["calls"] == 0, function
            assert function["p50_ns"] <= function["max_ns"]
        threads = process["all_threads"]
        assert threads["wall_ns"] <= 1.5 * threads["count"] * watched
        assert not process["since_attach"] or process["start"]["launched_ns"] == 0


def test_mistakes(mixed):
    fails(run("stat", "-i", mixed, "--from", "3m"), 1, "no reading after --from")
    fails(run("stat", "-i", mixed, "--from", "2s", "--to", "1s"), 2, "--from is later than --to")
    fails(run("memleak", "--from", "2s", "--", "true"), 2, "-i FILE")
