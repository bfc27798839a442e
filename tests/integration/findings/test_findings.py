# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe diagnose on a program for each finding, on their repaired twins,
and on programs that are healthy."""
import re
import subprocess

import pytest

from lib import faultruns, paths
from lib.faultruns import Verdict
from lib.faults import FAULTS
from lib.probe import Probe, environment
from lib.profile_runs import DIAGNOSE, Scenario, by_scenario

ALONE = pytest.mark.alone("how soon a thread resumes depends on the load")


def group(fault):
    """Tests that run together stay on one worker; so do those that take all of a CPU,
    which run one after the other."""
    kind = "spin" if fault.spins else "run by their course" if fault.course else "run"
    return pytest.mark.xdist_group(
        f"faults that {kind}{f' apart as {fault.title}' if fault.apart else ''}")


PROGRAMS = [pytest.param(fault, fixed, id=f"{fault.title}{' repaired' if fixed else ''}",
                         marks=[group(fault), *([ALONE] if fault.alone else [])])
            for fault in FAULTS for fixed in (False, True)]


def listed():
    """The kinds in --list: id -> severity, and thresholds as a person would write them,
    2 % for 2.0 %."""
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--list"], text=True, capture_output=True,
                          check=True)
    kinds = {}
    for line in done.stdout.splitlines()[1:]:
        if not line.startswith(" "):
            kind, severity = line.split()[:2]
            kinds[kind] = severity, {}
            continue
        name, value = re.fullmatch(r" +(\w+) +(.*?)  .*", line).groups()
        kinds[kind][1][name] = re.sub(r"\.(\d*?)0+(?!\d)", lambda m: f".{m[1]}" if m[1] else "",
                                      value)
    return kinds


def test_each_finding_has_a_pair():
    """Those of NCCL are in nccl/test_nccl_findings.py, those of GPU times in
    test_gpu_time_findings.py, and no program makes a GPU fail: see test_xids.py."""
    elsewhere = {"xid", "no-overlap", "small-kernels", "launch-latency"}
    assert {fault.id for fault in FAULTS} == {kind for kind in listed()
                                              if not kind.startswith("nccl-")} - elsewhere


def test_documented():
    """docs/findings.md has each finding, its severity and its thresholds."""
    text = (paths.ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[([a-z-]+)\]\(#\1\) \| (.*) \|$", text, re.M))
    assert set(rows) == set(listed()) == set(re.findall(r"^### (.*)$", text, re.M))
    for kind, (severity, thresholds) in listed().items():
        assert rows[kind].startswith(f"{severity} | ")
        for name, value in thresholds.items():
            assert re.search(rf"{name} [≥≤<] {re.escape(value)}(?![.,]?\d)",
                             rows[kind]), (kind, name, value)


def test_help_of_the_programs():
    """`faults --help` has the environment and options that each is run with here."""
    lines = subprocess.run([paths.workload("faults"), "--help"], text=True, capture_output=True,
                           check=True).stdout.splitlines()
    told = dict(zip((line.split()[0] for line in lines[::2] if line), lines[1::2]))
    for fault in FAULTS:
        env, _, command = told[fault.id].partition(" gpuprobe diagnose ")
        told_env = dict(word.split("=", 1) for word in env.split())
        given = fault.environment(False)
        assert ("LD_LIBRARY_PATH" in told_env) == ("LD_LIBRARY_PATH" in given)
        assert ({**told_env, "LD_LIBRARY_PATH": given.get("LD_LIBRARY_PATH")}
                == {"LD_LIBRARY_PATH": None, **given})
        options = [*fault.options, *(faultruns.COURSE if fault.course else [])]
        arguments = ["--seconds", str(fault.seconds)] if fault.course else []
        assert command.split() == [*options, "--", "faults", fault.id, *arguments]


@pytest.fixture(scope="session")
def verdicts():
    return faultruns.Verdicts(FAULTS)


@pytest.mark.parametrize("fault, fixed", PROGRAMS)
def test_pair(verdicts, fault, fixed):
    """The fault is found, at its true cost, without false findings; its repaired twin has none."""
    verdict = verdicts[fault, fixed]
    assert verdict.good, str(verdict)


def test_table_sums_up():
    """What tests/findings.py closes with: a fault found beside a false alarm, and one missed."""
    def said(kind):
        return {"id": kind, "cost_seconds": 1, "numbers": {}, "evidence": ""}

    first, second = FAULTS[:2]
    verdicts = [Verdict(first, False, [said(first.id)], cost_ns=1e9, truth_ns=1e9),
                Verdict(first, True, [said("oom")]), Verdict(second, False), Verdict(second, True)]
    lines = faultruns.table(verdicts).splitlines()
    assert lines[2:] == [f"| {first.title} | 1000.0 ms | 1000.0 ms |  | oom |",
                         f"| {second.title} | MISSED |  |  | no findings |", "",
                         "1 hit, 1 missed, 1 false"]
    assert [verdict.good for verdict in verdicts] == [True, False, False, True]


HEALTHY = {
    "vector addition": (["cuda_events_test"], {}),
    "vector addition, slowly": (["cuda_events_test", "--pause", "20"], {"CUDA_SIM_ASYNC": "2ms"}),
    "training loop": (["training", "--seconds", "2"], {"CUDA_SIM_ASYNC": "8ms"}),
}
FOR_LONG = ["cuda_events_test", "--iterations", "40"]


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    """By program what was found of it."""
    programs = {**HEALTHY, "for long": (FOR_LONG, {})}
    scenarios = {name: Scenario([paths.workload(program), *arguments], env)
                 for name, ((program, *arguments), env) in programs.items()}
    runs = by_scenario(Probe(tmp_path_factory.mktemp("healthy")), scenarios, base=DIAGNOSE,
                       at_once=len(scenarios))
    return {name: [finding for finding in runs.result.final["findings"]
                   if finding["pid"] in (None, runs.pid(name))] for name in scenarios}


@pytest.mark.parametrize("program", HEALTHY)
def test_healthy(findings, program):
    assert findings[program] == []


def test_vector_addition_for_long(findings):
    """It copies pageable memory and allocates for each addition: three additions are no fault,
    many have true findings."""
    found = {finding["id"] for finding in findings["for long"]}
    assert "pageable-copies" in found
    assert found <= {"pageable-copies", "alloc-churn"}


def test_healthy_in_words():
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--", paths.workload("training"),
                           "--seconds", "1"], env=environment(CUDA_SIM_ASYNC="8ms"),
                          text=True, capture_output=True, timeout=60, check=True)
    assert "no findings" in done.stdout.splitlines()
