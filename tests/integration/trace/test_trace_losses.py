# SPDX-License-Identifier: BSD-2-Clause
"""Written and lost calls together are exactly the calls made;
a loss is reported where it happened."""
import json
import os
import re
import shutil
import time

import pytest

from lib import paths, progress, trace
from lib.probe import Background

TRACED = paths.workload("traced")
FUNCTIONS = "cuMemAlloc_v2,cuMemcpyHtoD_v2,cuLaunchKernel,cuMemFree_v2"


def count_lines(path):
    """(lines of calls, calls that lines report lost, whether the starts are in order),
    without holding all in memory."""
    calls = lost = last = 0
    ordered = True
    with open(path, encoding="utf-8") as file:
        for line in file:
            parsed = json.loads(line)
            if parsed.get("line") == "in_progress":
                continue
            if "event" in parsed:
                calls += 1
                ordered = ordered and parsed["time"] >= last
                last = parsed["time"]
            else:
                lost += parsed.get("lost", 0)
    return calls, lost, ordered


def called(result):
    """Calls of FUNCTIONS by the truth."""
    counts = result.truth.data["driver"]
    return sum(counts[name]["calls"] for name in FUNCTIONS.split(","))


def test_a_small_ring(tracer_by):
    """A page or two: most is lost, and all of it counted."""
    result = tracer_by.run(TRACED, "--api", "driver", "--threads", 8, "--rounds", 2000,
                           args=["-e", FUNCTIONS, "--buffer", "64K"], columns="time,event,tid")
    assert result.lost > 0
    assert len(result.lines) + result.lost == called(result) == 8 * 2000 * 4
    assert trace.in_order(result.lines)
    assert re.search(rf"\b{result.lost}\b lost|lost \b{result.lost}\b",
                     result.stderr.replace(",", ""))


def test_losses_are_lines_of_the_table(tracer):
    result = tracer.run(TRACED, "--api", "driver", "--threads", 8, "--rounds", 2000,
                        args=["-e", FUNCTIONS, "--buffer", "64K"], form="table", columns=None)
    told = [int(number.replace(",", ""))
            for number in re.findall(r"^--- lost ([\d,]+) events? ", result.text, re.M)]
    lines = [line for line in result.text.splitlines()
             if " cu" in line and not line.startswith("TIME") and "<in progress>" not in line]
    assert told and len(lines) + sum(told) == called(result)


def test_strict(tracer_by):
    """The exit status tells of losses only where it is asked for."""
    command = TRACED, "--api", "driver", "--threads", 8, "--rounds", 1000
    arguments = ["-e", FUNCTIONS, "--buffer", "64K"]
    assert tracer_by.run(*command, args=arguments).lost > 0
    strict = tracer_by.run(*command, args=[*arguments, "--strict"], status=None)
    assert strict.lost > 0 and strict.status == 3
    whole = tracer_by.run(TRACED, "--rounds", 10, args=["--strict"], status=None)
    assert whole.lost == 0 and whole.status == 0


def test_strict_keeps_the_status_of_a_command_that_failed(tracer):
    result = tracer.run("sh", "-c", "exit 7", args=["--strict"], status=None)
    assert result.status == 7


@pytest.mark.parametrize("size", ["664K", "1M", "16M", "67108864"])
def test_sizes(tracer, size):
    result = tracer.run(TRACED, "--api", "driver", "--threads", 4, "--rounds", 3000,
                        args=["-e", FUNCTIONS, "--buffer", size], columns="time,event")
    assert len(result.lines) + result.lost == called(result)


@pytest.mark.parametrize("size", ["0", "-1", "lots", "1K", "100T"])
def test_sizes_that_are_wrong(tracer, size):
    result = tracer.run("true", args=["--buffer", size], status=None)
    assert result.status not in (0, None) and "--buffer" in result.stderr


def run_million(tracer, form, columns):
    """A million calls by 16 threads; (the result, the path of the lines)."""
    path, base = tracer.base(form, columns)
    result = tracer.probe.run(TRACED, "--api", "driver", "--threads", 16, "--rounds", 15625,
                              base=base, args=["-e", FUNCTIONS], timeout=300)
    return result, path


def test_a_million_in_json(tracer_by):
    result, path = run_million(tracer_by, "json", "time,tid,event,size,duration,result")
    calls, lost, ordered = count_lines(path)
    os.unlink(path)
    assert calls + lost == called(result) == 1_000_000
    assert ordered


def test_a_million_in_tsv(tracer_by):
    result, path = run_million(tracer_by, "tsv", "time,tid,event,size,duration,result")
    calls = lost = last = 0
    with open(path, encoding="utf-8") as lines:
        head = next(lines).rstrip("\n").split("\t")
        for line in lines:
            if line.startswith("#"):
                _, what, count = line.split()[:3]
                lost += int(count) if what == "lost" else 0
                continue
            fields = dict(zip(head, line.rstrip("\n").split("\t"), strict=True))
            # A thread that lacks a CPU in a call for a second has another line when it returns.
            if fields["result"].startswith("<in progress>"):
                continue
            assert int(fields["time"]) >= last
            last = int(fields["time"])
            calls += 1
    os.unlink(path)
    assert calls + lost == called(result) == 1_000_000


def test_many_threads_of_a_stopped_reader(tracer_by):
    """While gpuprobe stands still the ring fills; losses meanwhile are counted, and it goes on."""
    running, path = tracer_by.start(TRACED, "--api", "driver", "--threads", 4, "--rounds", 40000,
                                    args=["-e", FUNCTIONS, "--buffer", "1M"],
                                    columns="time,pid,event")
    with running:
        program = trace.wait_for_lines(path, 1000)[0]["pid"]
        with progress.standing_still(running.pid):
            progress.wait_until_ran(program, 0.2)  # many times what the ring has room for
        result = trace.Traced(running.finish(120), path)
    assert result.lost > 0
    assert len(result.lines) + result.lost == called(result)
    assert trace.in_order(result.lines)


def test_thread_that_could_not_be_told(tracer, tmp_path):
    """Its call in progress is not attributed to the previous thread of that number,
    and counts as lost in the end."""
    for name in ("first", "second"):
        shutil.copy(paths.SIM / "launch", tmp_path / name)
    # Smaller records, of programs that start, take the room left in the ring when an
    # event finds none.
    fill = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done"
    with Background(
            "sh", "-c",
            f"cd '{tmp_path}'; read line; ./first --launches 20000 >/dev/null; {fill}; echo done; "
            "CUDA_SIM_LATENCY=cuLaunchKernel=600s exec ./second --launches 1 >/dev/null",
            env={"LD_LIBRARY_PATH": str(paths.SIM)}) as parent:
        running, path = tracer.start(
            args=["-e", "cuLaunchKernel", "--buffer", "64K", "-p", parent.pid],
            libraries=[paths.LIBCUDA, paths.LIBCUDART], columns="time,process,event")
        with running:
            running.wait_until_watching()
            with progress.standing_still(running.pid):
                assert parent.tell("go") == "done"
                progress.wait_until_in_slow_call(parent.pid)
            time.sleep(2)  # from one on it could be shown to be in progress
            running.stop()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    calls = [line for line in lines if "event" in line]
    assert {(line["process"], line.get("line")) for line in calls} == {("first", None)}
    assert len(calls) + sum(line.get("lost", 0) for line in lines) == 20001
