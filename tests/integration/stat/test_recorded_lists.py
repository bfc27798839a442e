# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe top -i FILE` and `gpuprobe ps -i FILE`: the readings of a recording as lists."""
import json
import re

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import Probe, wait_until
from lib.tmux import terminal


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(a recording, its readings with a process that lives, as times since it began in ms)"""
    directory = tmp_path_factory.mktemp("lists")
    file = directory / "run.rec"
    Probe(directory).run(paths.workload("launch"), "--seconds", 1.5, "--rate", 1000,
                         args=["--max-overhead", "off"],
                         base=["record", "-o", str(file), "--interval", "0.2"])
    reports = [json.loads(line) for line in
               run("-i", file, "--json", "--interval", "0.01").stdout.splitlines()]
    began = json.loads(run("stat", "-i", file, "--json").stdout)["began_ns"]
    return file, [(report["boot_ns"] - began) // 10 ** 6 + 1 for report in reports
                  if report["processes"] and not report["processes"][0]["ended"]]


def show(*args):
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words, told", [
    (("stat", "--tensors"), "has no tensors: they are recorded by gpuprobe record "
     "--tensors"),
    (("memleak", "--tensors"), "has no tensors"), (("--tensors",), "has no tensors"),
    (("flame", "--by", "bytes", "--tensors"), "has no tensors"),
    (("diagnose", "--getters"), "has no calls of getters")])
def test_what_was_not_recorded_is_no_zero(recorded, words, told):
    fails(run(*words, "-i", recorded[0]), 1, told)


def test_recorded_tensors(tmp_path):
    file = tmp_path / "run.rec"
    Probe(tmp_path).run(paths.workload("tensors"), 30, 20,
                        base=["record", "-o", str(file), "--tensors"])
    assert "29.3 KiB in 30 tensors leaked" in show("memleak", "--tensors", "-i", file)
    [process] = json.loads(show("stat", "--json", "--tensors", "-i", file))["processes"]
    assert process["tensors"]["live"] == 30


def test_top_prints_each_reading(recorded):
    file, alive = recorded
    pages = show("top", "-i", file).strip().split("\n\n")
    assert len(pages) > len(alive) > 2
    assert sum(" launch --seconds" in page for page in pages) >= len(alive)
    assert " ended " in pages[-1] and "every " in pages[-1]
    assert show("top", "-b", "-i", file) == show("top", "-i", file)
    some = show("top", "-i", file, "--interval", "0.7").strip().split("\n\n")
    assert 1 < len(some) < len(pages)
    assert len(show("top", "-i", file, "-n", "2").strip().split("\n\n")) == 2


def lines_of(screen):
    """What is above the last line."""
    return [line.rstrip() for line in screen.rstrip().splitlines()[:-1] if line.strip()]


def pages_of(*args):
    """By number, the lines of each reading as -b prints them."""
    pages = show("top", "-b", *args).strip("\n").split("\n\n")
    return {number: [line.rstrip() for line in page.splitlines()]
            for number, page in enumerate(pages, 1)}


@pytest.mark.parametrize("part", [False, True])
def test_top_goes_through_the_readings_on_a_terminal(recorded, tmp_path, part):
    """Forth and back, each is as -b prints it. As wide as what goes to no terminal."""
    file, alive = recorded
    args = ["-i", file] + (["--from", f"{alive[0]}ms", "--to", f"{alive[-1]}ms"] if part else [])
    pages = pages_of(*args)
    last = max(pages)
    with terminal(tmp_path, paths.GPUPROBE, "top", *args, width=160) as screen:
        def shows(number):
            def is_shown():
                shown = screen.screen()
                return (f"reading {number} of {last}, " in shown and "h help" in shown and
                        lines_of(shown) == pages[number])

            wait_until(is_shown, lambda: f"not {pages[number]}:\n{screen.screen()}")

        if part:
            screen.wait_for("the difference of two readings")
        screen.keys("Home")  # a key takes the message away
        shows(1)
        for number in range(2, last + 1):
            screen.keys("Right")
            shows(number)
        screen.keys("Right", "Home")
        shows(1)
        screen.keys("Left", "End")
        shows(last)
        screen.keys("Left")
        shows(last - 1)
        screen.keys("Enter")
        screen.wait_for("q back", "a recording has no threads", f"reading {last - 1} of")
        screen.keys("[")
        screen.wait_for("q back", "process ", f"reading {last - 2} of")
        screen.keys("q")
        shows(last - 2)
        # Plays to the end, and stays there.
        screen.keys("Space")
        shows(last)
        screen.keys("q")
        shown = screen.wait_for("status 0")
        assert ("the difference of two readings" in shown) == part


def test_top_has_rates(recorded):
    """Launches a second between two readings, whatever was before."""
    file, alive = recorded
    for begin in ([], ["--from", f"{alive[0]}ms"]):
        page = show("top", "-i", file, "--to", f"{alive[-1]}ms", *begin).strip().split("\n\n")[-1]
        [row] = [line for line in page.splitlines() if " launch --seconds" in line]
        # PID USER GPU MEMORY GROWTH/s LAUNCH/s
        rate = re.split(" {2,}", row.strip())[4].replace(",", "")
        assert 100 < int(rate) < 3000, row


def test_ps(recorded):
    file, alive = recorded
    listed = json.loads(show("ps", "-i", file, "--json", "--to", f"{alive[-1]}ms"))
    [process] = listed["processes"]
    assert process["comm"] == "launch" and "--rate" in process["command"]
    assert process["state"] is None and process["libraries"] is None
    assert any("a recording" in note for note in listed["notes"])
    text = show("ps", "-i", file, "--tree", "--to", f"{alive[-1]}ms")
    assert "--rate" in text and "a recording: what the threads did" in text
    assert not json.loads(show("ps", "-i", file, "--json"))["processes"]  # it has ended


def test_mistakes(recorded, tmp_path):
    file, _ = recorded
    fails(run("ps", "-i", file, "-p", "1"), 2, "-i", "--pid")
    fails(run("top", "-i", file, "--comm", "x"), 2, "-i", "filter")
    fails(run("ps", "--to", "3s"), 2, "-i FILE")
    (tmp_path / "text").write_text("x" * 3000)
    for command in ("ps", "top"):
        fails(run(command, "-i", tmp_path / "text"), 1, "text", "no recording")
