# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe snapshot: what its file says of programs/tensors.py, and what that program counted."""
import json
import pickle
import signal
import subprocess

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import environment, wait_until_watching
from stacks.test_tensors import Running, program


def start(pid, file, *args):
    return subprocess.Popen([paths.GPUPROBE, "snapshot", "-v", "-p", str(pid), "-o", file, *args],
                            stderr=subprocess.PIPE, text=True, env=environment())


def stop(probe):
    probe.send_signal(signal.SIGINT)
    return probe.communicate(timeout=60)[1]


def sums(segments):
    return {key: sum(segment[key] for segment in segments)
            for key in ("total_size", "allocated_size", "requested_size")}


def test_sums_are_those_of_the_allocator(tmp_path):
    file = tmp_path / "memory.pickle"
    with Running() as running:
        probe = start(running.process.pid, file)
        wait_until_watching(probe)
        running.do("make 3000 1000")
        running.do("make 20 3000000")
        running.do("churn 50 700")
        truth = running.do("drop 700")
        told = stop(probe)
    assert probe.returncode == 0, told
    memory = pickle.loads(file.read_bytes())
    assert list(memory) == ["segments", "device_traces", "allocator_settings",
                            "external_annotations", "gpuprobe"]
    assert sums(memory["segments"]) == {"total_size": truth["segment_bytes"],
                                        "allocated_size": truth["rounded_bytes"],
                                        "requested_size": truth["live_bytes"]}
    assert len(memory["segments"]) == truth["segments"]
    live = [block for segment in memory["segments"] for block in segment["blocks"]
            if block["state"] == "active_allocated"]
    assert len(live) == truth["live"]
    assert {block["frames"][0]["name"] for block in live} == {"keep"}
    assert memory["gpuprobe"]["overlapping"] == memory["gpuprobe"]["segments_not_seen"] == 0
    check_events(memory, truth)


def replayed(events):
    """What is live after the events, by address; a free frees what is there."""
    live, freeing = {}, None
    for event in events:
        if event["action"] == "alloc":
            assert event["addr"] not in live
            live[event["addr"]] = event
        elif event["action"] == "free_requested":
            freeing = live.pop(event["addr"])
            assert event["size"] == freeing["size"]
        elif event["action"] == "free_completed":
            assert event["addr"] == freeing["addr"]
    return live


def check_events(memory, truth):
    """Each allocation and free, in order: played again, they give the blocks at the end."""
    (events,) = memory["device_traces"]
    kinds = [event["action"] for event in events]
    assert kinds.count("alloc") == truth["allocations"]
    assert kinds.count("free_requested") == kinds.count("free_completed") == truth["frees"]
    assert kinds.count("segment_alloc") == truth["segments"]
    assert sum(event["size"] for event in events if event["action"] == "alloc") == truth["bytes"]
    assert [event["time_us"] for event in events] == sorted(event["time_us"] for event in events)
    assert {event["frames"][0]["name"] for event in events if event["action"] == "alloc"} == {
        "keep", "churn"}
    live = replayed(events)
    assert {(address, event["size"]) for address, event in live.items()} == {
        (block["address"], block["requested_size"]) for segment in memory["segments"]
        for block in segment["blocks"] if block["state"] == "active_allocated"}
    assert memory["gpuprobe"]["events_overwritten"] == memory["gpuprobe"]["events_lost"] == 0


@pytest.mark.parametrize("most", [100, 0])
def test_the_latest_events(tmp_path, most):
    file = tmp_path / "memory.pickle"
    with Running() as running:
        probe = start(running.process.pid, file, "--max-events", str(most))
        wait_until_watching(probe)
        running.do("churn 300 700")
        running.do("make 10 1000")
        told = stop(probe)
    assert probe.returncode == 0, told
    memory = pickle.loads(file.read_bytes())
    (events,) = memory["device_traces"]
    kinds = [event["action"] for event in events if not event["action"].startswith("segment")]
    assert kinds == (["alloc", "free_requested", "free_completed"] * 45 + ["alloc"] * 10
                     if most else [])
    assert memory["gpuprobe"]["events_overwritten"] == (510 if most else 0)


def test_segments_that_were_given_back(tmp_path):
    """Each has its allocation and its free, with its address and size; memory that is not of the
    framework's allocator has none."""
    file = tmp_path / "memory.pickle"
    with Running() as running:
        probe = start(running.process.pid, file)
        wait_until_watching(probe)
        made = running.do("make 20 30000000")
        running.do("drop 15")
        left = running.do("empty")
        told = stop(probe)
    assert probe.returncode == 0, told
    memory = pickle.loads(file.read_bytes())
    (events,) = memory["device_traces"]
    alive, gone = {}, 0
    for event in events:
        if event["action"] == "segment_alloc":
            alive[event["addr"]] = event["size"]
        elif event["action"] == "segment_free":
            assert alive.pop(event["addr"]) == event["size"]
            gone += 1
    assert gone == made["segments"] - left["segments"] > 5
    assert alive == {segment["address"]: segment["total_size"] for segment in memory["segments"]}
    assert [event["time_us"] for event in events] == sorted(event["time_us"] for event in events)


def test_expandable_segments(tmp_path):
    """Mappings of one are one segment, with its holes."""
    file = tmp_path / "memory.pickle"
    done = subprocess.run([paths.GPUPROBE, "snapshot", "-o", file, "--", *program()], text=True,
                          input="make 30 3000000\nmake 9 1000\ndrop 25\n", capture_output=True,
                          check=False, timeout=60,
                          env=environment(LD_LIBRARY_PATH=paths.SIM,
                                          PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"))
    assert done.returncode == 0, done.stderr
    truth = json.loads(done.stdout.splitlines()[-1])
    segments = pickle.loads(file.read_bytes())["segments"]
    assert sums(segments) == {"total_size": truth["segment_bytes"],
                              "allocated_size": truth["rounded_bytes"],
                              "requested_size": truth["live_bytes"]}
    assert {segment["is_expandable"] for segment in segments} == {True}
    assert not any("gpuprobe" in segment for segment in segments)


def test_segments_from_before_the_attach(tmp_path):
    """Their tensors get segments that are marked and have no holes."""
    file = tmp_path / "memory.pickle"
    with Running() as running:
        running.do("make 10 1000")
        probe = start(running.process.pid, file)
        wait_until_watching(probe)
        running.do("make 10 1000")
        told = stop(probe)
    assert probe.returncode == 0, told
    memory = pickle.loads(file.read_bytes())
    marked = [segment for segment in memory["segments"] if "gpuprobe" in segment]
    assert len(marked) == memory["gpuprobe"]["segments_not_seen"] > 0
    assert sums(marked) == {"total_size": 10240, "allocated_size": 10240, "requested_size": 10000}


def test_no_tensor(tmp_path):
    """The file of an earlier run stays."""
    file = tmp_path / "memory.pickle"
    file.write_text("before")
    with Running() as running:
        probe = start(running.process.pid, file)
        wait_until_watching(probe)
        told = stop(probe)
    assert probe.returncode == 1
    assert "no tensor was made while gpuprobe watched" in told
    assert file.read_text() == "before"


def test_command(tmp_path):
    """It has ended: what was live at its end is in the file."""
    file = tmp_path / "memory.pickle"
    done = subprocess.run([paths.GPUPROBE, "snapshot", "-o", file, "--", *program()], text=True,
                          input="make 100 5000\n", capture_output=True, check=False, timeout=60,
                          env=environment(LD_LIBRARY_PATH=paths.SIM))
    assert done.returncode == 0, done.stderr
    truth = json.loads(done.stdout.splitlines()[-1])
    assert sums(pickle.loads(file.read_bytes())["segments"]) == {
        "total_size": truth["segment_bytes"], "allocated_size": truth["rounded_bytes"],
        "requested_size": truth["live_bytes"]}


@pytest.mark.parametrize("args", [(), ("-p", "1"), ("-o", "f"), ("--", "true"),
                                  ("-p", "1", "-p", "2", "-o", "f")])
def test_one_process_and_a_file(args):
    fails(run("snapshot", *args), 2,
          "give a file and one process or COMMAND: -o FILE.pickle -p PID")
