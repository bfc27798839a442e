# SPDX-License-Identifier: BSD-2-Clause
"""Processes that share memory without being threads: their GPU resources are one account,
that of the lender."""
import subprocess

import pytest

from lib import small_cuda
from lib.probe import Background, wait_until
from lib.script import PROGRAMS

pytestmark = pytest.mark.usefixtures("nothing_left")

WAYS = ("child", "nested", "first", "sibling", "spawned")


@pytest.fixture(scope="module", name="program")
def built(tmp_path_factory):
    program = tmp_path_factory.mktemp("shared") / "shared_memory"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-o", program, PROGRAMS / "shared_memory.c"],
                   check=True)
    return program


@pytest.fixture
def driver(tmp_path):
    return small_cuda.compile(tmp_path / "libcuda.so.1")


def check(process, launches):
    memory = process["memory"]["device"]
    assert (memory["allocations"], memory["frees"], memory["unknown_frees"]) == (10, 5, 0)
    assert (memory["live_allocations"], memory["live_bytes"]) == (5, 500)
    assert process["launches"] == launches


@pytest.mark.parametrize("how", WAYS)
def test_command(gpuprobe_by, program, driver, how):
    """All calls are counted, to one process, from the child's first call on."""
    result = gpuprobe_by.run(program, driver, how)
    check(result.process, 11 if how == "spawned" else 10)
    assert not result.process["since_attach"]


def test_given_process(gpuprobe_by, program, driver):
    """
    With -p, too. The calls of a child that begins under it are counted once all processes have the
    probes; it is marked, since it may have called before.
    """
    with Background(program, driver, "child", "waits") as opened:
        assert opened.stdout.readline() == "READY\n"
        with gpuprobe_by.start(args=["-p", opened.pid, "-v"]) as running:
            running.wait_until_watching()
            assert opened.tell("go") == "ready"
            if gpuprobe_by.links == "session":
                wait_until(lambda: "for all processes of the machine\n" in running.stderr,
                           lambda: running.stderr)
            assert opened.tell("go") == "DONE"
            print("go", file=opened.stdin, flush=True)
            result = running.finish()
    process = result.last_seen(opened.pid)
    check(process, 10)
    assert process["since_attach"]


def test_the_lender_ends_first(gpuprobe, program, driver):
    """The memory lives as long as somebody has it: what the child frees is freed."""
    with gpuprobe.start(libraries=[driver]) as running:
        running.wait_until_watching()
        with Background(program, driver, "outlives", "waits") as opened:
            def wait_for(condition):
                return running.find(lambda report: next((p for p in report["processes"] if p["pid"]
                                                         == opened.pid and condition(p)), None))
            assert opened.stdout.readline() == "READY\n"
            assert opened.tell("go") == "ready"
            assert opened.wait(60) == 0
            assert opened.tell("go") == "DONE"
            found = wait_for(lambda p: p["memory"]["device"]["frees"] == 5)
            assert not found["ended"] and not found["since_attach"]
            assert found["memory"]["device"]["live_bytes"] == 500
            print("go", file=opened.stdin, flush=True)
            assert wait_for(lambda p: p["ended"])["memory"]["device"]["unknown_frees"] == 0
        running.stop()
