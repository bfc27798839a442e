# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe, or its target, in a time namespace: a clock far ahead of the kernel's, or behind."""
import dataclasses
import time

import pytest

from lib import paths, trace
from lib.probe import Background
from lib.script import script
from test_copies import Copies, issued_ns, wait_for_in_flight
from test_trace_calls import CHOSEN, check

COPY = "one = stream()\nstep()\ncopy(one, 4000)\n"


@pytest.fixture(params=[1_000_000, pytest.param(-300, marks=pytest.mark.slow)],
                ids=["ahead", "behind"])
def ahead(request):
    """Seconds by which a time namespace's clocks are ahead of the kernel's;
    they cannot be before its start."""
    if request.param + time.clock_gettime(time.CLOCK_BOOTTIME) < 0:
        pytest.skip("the machine has only just been started")
    return request.param


def in_namespace(ahead, *before):
    """The first words of a command that is to run with its clocks so far ahead."""
    return ["unshare", "--time", f"--boottime={ahead}", f"--monotonic={ahead}", *before, "--"]


@pytest.fixture
def inside(ahead, tmp_path, monkeypatch):
    """All gpuprobes of the test are in the namespace, and COMMAND with them.
    Before Linux 6.2 only COMMAND is."""
    program = tmp_path / "gpuprobe"
    program.write_text(f'#!/bin/sh\nexec {" ".join(in_namespace(ahead))} {paths.GPUPROBE} "$@"\n',
                       encoding="ascii")
    program.chmod(0o755)
    monkeypatch.setattr(paths, "GPUPROBE", program)
    return ahead


def by_kernels_clock(log, ahead):
    """The log of the workload `traced`, whose own clock is so many seconds ahead."""
    shift = ahead * 1_000_000_000
    return {tid: [dataclasses.replace(call, before=call.before - shift, after=call.after - shift)
                  for call in calls] for tid, calls in log.items()}


def test_trace_inside(inside, tracer):
    """Each call is told, with the kernel's time of it."""
    result, log = tracer.traced("--threads", 2, "--rounds", 20)
    check(result, by_kernels_clock(log, inside), CHOSEN["runtime"])


def test_trace_of_a_program_inside(ahead, tracer):
    path = tracer.probe.directory / "log"
    result = tracer.run(*in_namespace(ahead, "--fork"), paths.workload("traced"), "--rounds", 20,
                        "--log", path)
    check(result, by_kernels_clock(trace.read_log(path), ahead), CHOSEN["runtime"])


@pytest.mark.slow
def test_relative_times_begin_with_the_trace(inside, tracer):
    """The first call is so long after the beginning as gpuprobe itself has run, at most."""
    before = time.monotonic()
    result = tracer.run(paths.workload("traced"), "--rounds", 1, form="tsv", columns=None)
    first = float(result.text.splitlines()[1].split("\t")[0])
    assert 0 <= first <= 1000 * (time.monotonic() - before)


def assert_age(probe):
    """Of a copy in flight, by the test's own clock, which is the kernel's."""
    with Copies(probe, COPY) as steps:
        steps.running.wait_for(lambda report: report["processes"])
        before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        steps.go_on()
        wait_for_in_flight(steps.running, {"H2D": (1, 4000)})
        # A report in whose middle it was issued has its age as nothing.
        report = wait_for_in_flight(steps.running, {"H2D": (1, 4000)})
        assert (before <= issued_ns(report) <= report["boot_ns"]
                <= time.clock_gettime_ns(time.CLOCK_BOOTTIME))
        assert report["processes"][0]["since_attach"] is False
        steps.go_on()
        steps.finish()


@pytest.mark.usefixtures("inside")
def test_ages_inside(gpuprobe):
    assert_age(gpuprobe)


def launched(report, pid):
    """The process, once all its launches are in the report."""
    return next((p for p in report["processes"] if p["pid"] == pid and p["launches"] == 3), None)


def holder(*before):
    """A process that has called CUDA and is about to launch."""
    program = Background(*before, paths.workload("idle-holder"), "--then-launch", "3", "--seconds",
                         "3600")
    assert program.stdout.readline() == "READY\n"
    return program


def assert_marks(probe, *before):
    """Which of two processes is marked as older than the watching: the one that is."""
    with holder(*before) as older, probe.start(args=["--libcuda-path", paths.LIBCUDA]) as running:
        running.report()
        with holder(*before) as newer:
            older.tell("go")
            newer.tell("go")
            for program, since_attach in (older, True), (newer, False):
                process = running.find(lambda report, pid=program.pid: launched(report, pid))
                assert process["since_attach"] is since_attach


@pytest.mark.usefixtures("inside")
def test_since_attach_inside(gpuprobe):
    assert_marks(gpuprobe)


@pytest.mark.slow
def test_since_attach_of_programs_inside(ahead, gpuprobe):
    assert_marks(gpuprobe, *in_namespace(ahead))


def test_memleak_inside(inside, gpuprobe):
    """Allocations older than the given age are shown, with age and stack;
    those younger than an hour are left out."""
    held = script(
        "start()\naddress = made(driver.cuMemAlloc_v2, 4096)\nimport time\ntime.sleep(3600)")
    began = time.monotonic()
    for older, shown in ("100ms", True), ("60m", False):
        key = "bytes" if shown else "left_out_bytes"
        with gpuprobe.start(*held, base=["memleak", "--json"], interval=None,
                            args=["-a", "-o", older, 0.1]) as running:
            report = running.wait_for(
                lambda report: report["processes"] and report["processes"][0][key] == 4096)
        ages = [one["age_ns"] for site in report["processes"][0]["sites"] for one in site["live"]]
        assert len(ages) == shown, (inside, report)
        assert all(100_000_000 <= age <= 1e9 * (time.monotonic() - began) for age in ages)


def test_stacks_inside(inside, tracer):
    """Whose process it was is known by when that began, as BPF and as /proc tells it."""
    result = tracer.run(paths.workload("traced"), "--rounds", 3,
                        args=["-e", "cudaMalloc", "--stack"])
    assert len(result.lines) >= 3, inside
    for line in result.lines:
        assert any("traced" in frame for frame in line["stack"]), line
