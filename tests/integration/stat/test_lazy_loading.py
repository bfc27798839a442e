# SPDX-License-Identifier: BSD-2-Clause
"""First launches: gpuprobe says that one loads if it saw the load's call in it,
and of others that they were slow."""
import json
import re
import subprocess

import pytest

from lib.script import PROGRAMS

KERNELS = 16


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """programs/lazy.c, and its driver."""
    directory = tmp_path_factory.mktemp("lazy")
    source = PROGRAMS / "lazy.c"
    driver = directory / "libcuda.so.1"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-DDRIVER", "-o", driver, source,
                    "-Wl,-soname,libcuda.so.1"], check=True)
    subprocess.run(["gcc", "-O1", "-o", directory / "lazy", source, driver,
                    f"-Wl,-rpath,{directory}"], check=True)
    return directory / "lazy"


def implicit(process):
    return {cause: totals["calls"] for thread in process["threads"]
            for cause, totals in thread["implicit"].items() if totals["calls"]}


# Every launch after the first, in turn without and with a load; then only those without.
@pytest.mark.parametrize("step, seen",
                         [(1, {"load": KERNELS // 2, "first_launch": KERNELS // 2 - 1}),
                          (2, {"first_launch": KERNELS // 2 - 1})], ids=["loads", "no_load"])
def test_account(gpuprobe, program, tmp_path, step, seen):
    out = tmp_path / "out"
    gpuprobe.run(program, step, base=["stat", "--json"], args=["-O", out])
    [process] = json.loads(out.read_text())["processes"]
    assert implicit(process) == seen
    assert process["first_launches"]["calls"] == KERNELS // step


@pytest.mark.parametrize("command, options",
                         [(["stat"], []),
                          ([], ["--metrics-addr", "none", "--display-interval", "0"])],
                         ids=["stat", "monitor"])
@pytest.mark.parametrize("step, loads", [(1, KERNELS // 2), (2, 0)], ids=["loads", "no_load"])
def test_text(gpuprobe, program, command, options, step, loads):
    """The report calls it lazy loading if loads were seen, and says how many;
    else only how long first launches took."""
    result = gpuprobe.run(program, step, base=command, args=options)
    [line] = [line.strip() for line in (result.stdout + result.stderr).splitlines()
              if "first launches:" in line]
    assert re.search(rf"first launches: {KERNELS // step} took [\d.]+ \w+", line)
    told = re.findall(r"\(lazy loading: (\d+) loads inside launches in [\d.]+ \w+\)$", line)
    assert told == ([str(loads)] if loads else []) and ("lazy" in line) == bool(loads)


def test_finding(gpuprobe, program, tmp_path):
    """diagnose says that launches without a visible load were slow, and not that they loaded."""
    out = tmp_path / "out"
    gpuprobe.run(program, 2, base=["diagnose", "--json", "--threshold", "implicit-sync.calls=1"],
                 args=["-O", out])
    findings = json.loads(out.read_text())["findings"]
    [finding] = [finding for finding in findings if finding["id"] == "implicit-sync"]
    assert finding["subject"] == "slow first launches of kernels"
    assert "load" not in finding["evidence"]
