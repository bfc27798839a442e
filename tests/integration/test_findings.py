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


def listed_ids():
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--list"], text=True, capture_output=True, check=True)
    return set(re.findall(r"^([a-z]+(?:-[a-z]+)*)\b", done.stdout, re.M))


def test_each_finding_has_a_pair():
    assert {fault.id for fault in FAULTS} == listed_ids()


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
    (["cuda_events_test", "--iterations", "20"], {}),
    (["cuda_events_test", "--iterations", "20", "--pause", "20"], {"CUDA_SIM_ASYNC": "2ms"}),
    (["training", "--seconds", "2"], {"CUDA_SIM_ASYNC": "8ms"}),
], ids=["vector addition", "vector addition, slowly", "training loop"])
def test_healthy(command, env):
    program, *arguments = command
    assert faultruns.findings_of(faultruns.diagnose(paths.workload(program), *arguments, env=env)) == []


def test_healthy_in_words():
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--", paths.workload("training"), "--seconds", "1"],
                          env=environment(CUDA_SIM_ASYNC="8ms"), text=True, capture_output=True, timeout=60,
                          check=True)
    assert "no findings" in done.stdout.splitlines()
