# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe trace --nvtx: a program's NVTX ranges and marks among its calls, and in timelines."""
import json
import subprocess
from collections import Counter

import pytest

from lib import paths, real_nvtx
from lib.probe import environment
from lib.timeline import read_chrome, read_perfetto

NVTX = paths.workload("nvtx")


def trace(*arguments, command=(NVTX,), **env):
    env = {"CUDA_SIM_DIRECTORY": paths.SIM, "LD_LIBRARY_PATH": paths.SIM,
           "NVTX_INJECTION64_PATH": None, **env}
    done = subprocess.run([paths.GPUPROBE, "trace", "--nvtx", *map(str, arguments), "--",
                           *map(str, command)], env=environment(**env), text=True,
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done


def run(*args):
    env = {"CUDA_SIM_DIRECTORY": paths.SIM, "LD_LIBRARY_PATH": paths.SIM}
    return subprocess.run([paths.GPUPROBE, *map(str, args)], env=environment(**env), text=True,
                          capture_output=True, timeout=120, check=True)


def lines(*arguments, command=(NVTX,)):
    text = trace("--json", "--timestamps", "ns", *arguments, command=command).stdout
    return [json.loads(line) for line in text.splitlines()[1:]]


def pairs(ranges):
    """Each range of a thread as (its beginning, its end): they end in the reverse order."""
    stack, found = [], []
    for line in ranges:
        if line["event"] == "nvtxRangePush":
            stack.append(line)
        elif line["event"] == "nvtxRangePop":
            found.append((stack.pop(), line))
    assert not stack
    return found


def expect_pair(begin, end):
    assert begin["details"] == end["details"] and begin["tid"] == end["tid"]
    assert (begin["duration"], begin["result"], end["result"]) == (None, None, None)
    assert end["time"] - begin["time"] == end["duration"]


@pytest.mark.parametrize("links", ["", pytest.param("perf", marks=pytest.mark.slow)])
def test_lines(links, monkeypatch):
    if links:
        monkeypatch.setenv("GPUPROBE_LINKS", links)
    everything = lines(command=(NVTX, "--steps", 6, "--launches", 2, "--deep", 34, "--marks", 3))
    ranges = [line for line in everything if line.get("line") == "range"]
    nested = pairs(ranges)
    for begin, end in nested:
        expect_pair(begin, end)
    assert Counter(end["details"]["name"] for _, end in nested) == {
        "step": 6, "compute": 6, "w?de": 1, "deep": 32}
    assert {end["details"].get("domain") for _, end in nested
            if end["details"]["name"] == "compute"} == {"model"}
    for begin, end in nested:
        if end["details"]["name"] == "compute":
            within = [line["event"] for line in everything
                      if begin["time"] < line["time"] < end["time"]]
            assert within == ["cuLaunchKernel"] * 2 + ["cuStreamSynchronize"]
    expect_others(ranges)
    assert [line["lost_ranges"] for line in everything if line.get("line") == "lost"] == [2]


def expect_others(ranges):
    """Ranges with ids, of which another thread ends one; and marks."""
    by_event = {event: [line for line in ranges if line["event"] == event]
                for event in ("nvtxRangeStart", "nvtxRangeEnd", "nvtxMark")}
    for begin, end in zip(by_event["nvtxRangeStart"], by_event["nvtxRangeEnd"]):
        assert begin["details"] == end["details"]
        assert end["time"] - begin["time"] == end["duration"]
    here, across = by_event["nvtxRangeEnd"]
    assert (here["details"]["name"], across["details"]["name"]) == ("here", "across")
    assert here["tid"] == here["pid"] != across["tid"]
    assert [line["details"] for line in by_event["nvtxMark"]] == [
        {"name": "mark"}, {"name": "mark", "domain": "model"}] * 3


COLLECTIVE = "communicator=281474976710655, bytes=4096, operation={}, root=-1"


def expect_payloads(everything, count):
    """Also a payload of the end alone ends a range, and takes the place of the other one."""
    told = [(line["event"], line["details"]["name"], line["details"].get("payload"))
            for line in everything if line["details"].get("domain") == "NCCL"]
    assert told == [
        ("nvtxRangePush", "ncclAllReduce", COLLECTIVE.format("Max")),
        ("nvtxRangePop", "ncclAllReduce", COLLECTIVE.format(7)),
        ("nvtxRangePush", "collective", COLLECTIVE.format(7)),
        ("nvtxRangePop", "collective", COLLECTIVE.format(7))] * count + [
        ("nvtxRangePush", "ncclAllReduce", "0.5"), ("nvtxRangePop", "ncclAllReduce", "0.5")]


def test_payloads():
    expect_payloads(lines(command=(NVTX, "--payloads", 40)), 40)


@real_nvtx.NEEDED
def test_nvidias_header(tmp_path):
    program = real_nvtx.build(tmp_path / "nvtx")
    everything = lines(command=(program, "--payloads", 3, "--marks", 1))
    expect_payloads([line for line in everything if line["event"] != "nvtxMark"], 3)
    assert [line["details"] for line in everything if line["event"] == "nvtxMark"] == [
        {"name": "mark"}, {"name": "mark", "domain": "model"}]


def test_table_and_selection():
    done = trace("-e", "sync", command=(NVTX, "--steps", 2))
    assert 'nvtxRangePop ' in done.stdout and 'name="compute" domain="model"' in done.stdout
    assert "cuLaunchKernel" not in done.stdout and "cuStreamSynchronize" in done.stdout
    done = trace("--format", "tsv", "-o", "event,details,duration,result",
                 command=(NVTX, "--steps", 1))
    assert 'nvtxRangePush\tname="step"\t-\t<range>\n' in done.stdout


def expect_drawn(timeline):
    """Steps with computing within, on the tracks of their domains; ranges with ids overlap."""
    by_name = {name: [each for each in timeline.ranges if each.name == name]
               for name in ("step", "compute", "here", "across", "open", "open too")}
    assert (len(by_name["step"]), len(by_name["compute"])) == (3, 3)
    for step, compute in zip(*(sorted(by_name[name], key=lambda each: each.start)
                               for name in ("step", "compute"))):
        assert step.start < compute.start < compute.end < step.end
        assert compute.track == f"NVTX model (thread {step.pid})"
        assert step.track == f"NVTX (thread {step.pid})"
    assert by_name["here"][0].track == by_name["across"][0].track == "NVTX ranges with ids"
    assert by_name["here"][0].start < by_name["across"][0].start < by_name["here"][0].end
    told = [each.args.get("payload") for each in timeline.ranges
            if each.track == f"NVTX NCCL (thread {each.pid})"]
    assert sorted(told) == ["0.5"] + [COLLECTIVE.format(7)] * 2
    for name in ("open", "open too"):
        each, = by_name[name]
        assert each.args == {"unfinished": "it had not ended while it was watched"}
    marks = [mark for mark in timeline.marks if mark.category == "nvtx"]
    assert [mark.args for mark in marks] == [{}, {"note": "model"}]


@pytest.mark.parametrize("form, read", [("perfetto", read_perfetto), ("chrome", read_chrome)])
def test_timelines(tmp_path, form, read):
    path = tmp_path / "timeline.gz"
    trace("--format", form, "-O", path,
          command=(NVTX, "--steps", 3, "--marks", 1, "--payloads", 1, "--unended"))
    expect_drawn(read(path))


def test_recording(tmp_path):
    """Its lines are those of trace, -e and --failed leave them alone, and export draws them."""
    file, drawn = tmp_path / "run.rec", tmp_path / "run.pftrace"
    command = (NVTX, "--steps", 3, "--marks", 1, "--payloads", 1, "--unended")
    run("record", "--nvtx", "-O", file, "--", *command)
    shown = [json.loads(line) for line in
             run("trace", "-i", file, "--json", "-e", "sync").stdout.splitlines()[1:]]
    ranges = [line for line in shown if line.get("line") == "range"]
    assert Counter(line["event"] for line in ranges) == {
        "nvtxRangePush": 11, "nvtxRangePop": 10, "nvtxRangeStart": 3, "nvtxRangeEnd": 2,
        "nvtxMark": 2}
    assert {line["event"] for line in shown} - {line["event"] for line in ranges} == {
        "cuStreamSynchronize"}
    assert [line["details"].get("domain") for line in ranges][:4] == [None, "model", "model", None]
    run("export", "-i", file, "--to", "perfetto", "-o", drawn)
    expect_drawn(read_perfetto(drawn))
    kineto = tmp_path / "run.json"
    run("export", "-i", file, "--to", "kineto", "-o", kineto)
    names = Counter(event["name"] for event in json.loads(kineto.read_text())["traceEvents"]
                    if event.get("cat") == "user_annotation")
    assert (names["step"], names["compute"], names["here"]) == (3, 3, 0)


def test_no_library():
    done = trace(NVTX_INJECTION64_PATH="/nowhere")
    assert "no NVTX ranges: NVTX_INJECTION64_PATH is set already" in done.stderr
    assert "nvtxRange" not in done.stdout and "cuLaunchKernel" in done.stdout
