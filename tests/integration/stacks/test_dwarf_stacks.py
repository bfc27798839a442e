# SPDX-License-Identifier: BSD-2-Clause
"""--stack dwarf: programs that know their own stacks (programs/known_stacks.h), built in many ways.

Each stack that fits into what is copied is exactly right, from the CUDA function to the thread's
beginning; of one that does not the innermost frames are right, and it says that it is truncated.
"""
import time

import pytest

from lib import stacks
from lib.probe import wait_for_file


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    return stacks.Builder(tmp_path_factory.mktemp("known"))


def watch(gpuprobe, program, truth, size):
    """(what the program knows, the call sites that gpuprobe tells of)"""
    question = truth.with_name("question")
    # The launch that fails does so in the runtime alone.
    args = ["--api", "both", "--stack", "dwarf", "--stack-size", str(size), "--min-wait", "1ns"]
    with gpuprobe.start(*program.command(truth), args=args, env={"QUESTION": question}) as running:
        for _ in range(program.questions):
            answer(running, question)
        result = running.finish()
    assert result.status == 0
    processes = {process["pid"]: process for report in result.reports
                 for process in report["processes"]}
    # A launch that fails is there a second time, as a failure.
    sites = [site for process in processes.values() for site in process["call_sites"]["calls"]
             if site["kind"] != "launch"]
    return stacks.read_truth(truth), sites


def answer(running, question):
    """When the program asks, a report that is begun later has to be there before it goes on."""
    wait_for_file(question)
    asked = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    running.wait_for(lambda report: report["boot_ns"] > asked)
    question.unlink()


@pytest.mark.parametrize("source,variant", [
    *(("known_stacks.c", variant) for variant in stacks.VARIANTS),
    *(("known_stacks.cc", variant) for variant in stacks.VARIANTS[::2]),
], ids=lambda value: getattr(value, "name", value))
def test_every_stack_is_right(gpuprobe, tmp_path, builder, source, variant):
    """Allocations, failures and waits; 120 and 300 frames deep, from signals, threads,
    a child, plugins."""
    program = builder.get(source, variant)
    known, sites = watch(gpuprobe, program, tmp_path / "truth", 32)
    assert max(call.bytes for call in known) + stacks.MARGIN <= 32 * 1024
    stacks.check_all(program, known, sites, 32 * 1024)


@pytest.mark.parametrize("size", [8, 16])
def test_deeper_than_what_is_copied(gpuprobe, tmp_path, builder, size):
    program = builder.get("known_stacks.c", stacks.VARIANTS[0])
    known, sites = watch(gpuprobe, program, tmp_path / "truth", size)
    assert any(call.bytes > size * 1024 for call in known)
    stacks.check_all(program, known, sites, size * 1024)
