# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe diagnose on a program for each finding, on their repaired twins, and on programs that are healthy."""
import re
import subprocess

import pytest

from lib import faultruns, paths
from lib.faults import FAULTS
from lib.probe import environment

PROGRAMS = [(fault, fixed) for fault in FAULTS for fixed in (False, True)]


@pytest.fixture(scope="module")
def verdicts(request):
    """What came of all pairs, by title and whether it is the twin. Two programs run at a time."""
    found = faultruns.run_all()
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print(f"\n{faultruns.table(found)}")
    return {(verdict.fault.title, verdict.fixed): verdict for verdict in found}


def listed():
    """What --list says: id -> its severity, and its thresholds as a person would write them, 2 % for 2.0 %."""
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--list"], text=True, capture_output=True, check=True)
    kinds = {}
    for line in done.stdout.splitlines()[1:]:
        if not line.startswith(" "):
            kind, severity = line.split()[:2]
            kinds[kind] = severity, {}
            continue
        name, value = re.fullmatch(r" +(\w+) +(.*?)  .*", line).groups()
        kinds[kind][1][name] = re.sub(r"\.(\d*?)0+(?!\d)", lambda m: f".{m[1]}" if m[1] else "", value)
    return kinds


def test_each_finding_has_a_pair():
    assert {fault.id for fault in FAULTS} == set(listed())


def test_documented():
    """docs/findings.md has each finding, its severity and its thresholds."""
    text = (paths.ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[([a-z-]+)\]\(#\1\) \| (.*) \|$", text, re.M))
    assert set(rows) == set(listed()) == set(re.findall(r"^### (.*)$", text, re.M))
    for kind, (severity, thresholds) in listed().items():
        assert rows[kind].startswith(f"{severity} | ")
        for name, value in thresholds.items():
            assert re.search(rf"{name} [≥≤<] {re.escape(value)}(?![.,]?\d)", rows[kind]), (kind, name, value)


@pytest.mark.parametrize("fault, fixed", PROGRAMS,
                         ids=[f"{fault.title}{' repaired' if fixed else ''}" for fault, fixed in PROGRAMS])
def test_pair(verdicts, fault, fixed):
    verdict = verdicts[fault.title, fixed]
    assert verdict.good, str(verdict)


def test_table_is_complete(verdicts):
    """All hit, none missed, no false alarm: in the words of the table."""
    last = faultruns.table(list(verdicts.values())).splitlines()[-1]
    assert last == f"{len(FAULTS)} hit, 0 missed, 0 false"


@pytest.mark.parametrize("command, env", [
    (["cuda_events_test"], {}),
    (["cuda_events_test", "--pause", "20"], {"CUDA_SIM_ASYNC": "2ms"}),
    (["training", "--seconds", "2"], {"CUDA_SIM_ASYNC": "8ms"}),
], ids=["vector addition", "vector addition, slowly", "training loop"])
def test_healthy(command, env):
    program, *arguments = command
    assert faultruns.findings_of(faultruns.diagnose(paths.workload(program), *arguments, env=env)) == []


def test_vector_addition_for_long():
    """It copies pageable memory and allocates for each addition: with three of them no fault, with many true findings."""
    reports = faultruns.diagnose(paths.workload("cuda_events_test"), "--iterations", 40)
    found = {finding["id"] for finding in reports[-1]["findings"]}
    assert "pageable-copies" in found
    assert found <= {"pageable-copies", "alloc-churn"}


def test_healthy_in_words():
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--", paths.workload("training"), "--seconds", "1"],
                          env=environment(CUDA_SIM_ASYNC="8ms"), text=True, capture_output=True, timeout=60,
                          check=True)
    assert "no findings" in done.stdout.splitlines()
