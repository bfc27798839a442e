# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe releases files that are not mapped any more: their file system can be unmounted,
and they count as new when they come back."""
import contextlib
import os
import re
import shutil
import subprocess
import time

import pytest

from lib import folders, paths
from lib.probe import Background, Probe, wait_until

pytestmark = pytest.mark.usefixtures("nothing_left")

LET_GO_S = 3  # so long nobody must have had it mapped
FILES = (*folders.LIBRARIES, "idle-holder")
# By sessions; by links for entries and returns; with links of each family,
# and the file open for them.
GPUPROBES = ((None, ()), ("multi", ()), (None, ("--max-overhead", "5")))


def umount(place):
    """Whether it went; if not, since somebody has it."""
    done = subprocess.run(["umount", place], capture_output=True, text=True, check=False)
    assert not done.returncode or "busy" in done.stderr, done.stderr
    return not done.returncode


@pytest.fixture
def mounts(tmp_path):
    """File systems of their own with the libraries and a program."""
    places = [tmp_path / name for name in ("left", "held")]
    for number, place in enumerate(places):
        place.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
        # gpuprobe shows inode numbers: no file of these has the number of another,
        # or of one of another user's tests.
        for name in range(8 * (os.getpid() % 1000) + number * 4):
            (place / f"{name}").touch()
        for name in FILES:
            shutil.copy(paths.SIM / name, place)
    yield places
    for place in places:
        if place.is_mount():
            subprocess.run(["umount", "-l", place], check=True)


class Holder(Background):
    """A process that maps the libraries of a place, and launches twice for each
    line that it gets."""

    def __init__(self, place):
        super().__init__(place / "idle-holder", "--bytes", "4096", "--launch", "1", "--then-launch",
                         "2", "--seconds", "3600")
        assert self.stdout.readline() == "READY\n"

    def go(self):
        assert self.tell("go") == "DONE"


def entry_of(pid):
    return lambda report: next((p for p in report["processes"]
                                if p["pid"] == pid and p["launches"]), None)


def see(running, holder):
    """Launches until a report of each gpuprobe shows it; returns how often it launched."""
    rounds = 0
    for one in running:
        end = time.monotonic() + 60
        found = None
        while not found:
            assert time.monotonic() < end, one.stderr
            holder.go()
            rounds += 1
            found = entry_of(holder.pid)(one.report())
    return rounds


def has_grown(report, launches, expected):
    """By exactly so many launches; by about as many if another test launches so often that this
    gpuprobe samples."""
    sampled = "sampling" in report and report["sampling"]["families"]["launch"]["sampled"]
    return launches > 0 if sampled else launches == expected


def let_go(running, place):
    """The place's libraries whose probes each gpuprobe has removed because they were unmapped,
    by its next report."""
    names = set(folders.LIBRARIES)
    for one in running:
        one.report()
        told = set(re.findall(r"inode (\d+): nobody maps it any more", one.stderr))
        names = {name for name in names if str((place / name).stat().st_ino) in told}
    return names


@pytest.mark.waits("until files have been unmapped for some seconds")
def test_let_go_when_nobody_maps_them(tmp_path, mounts):
    """Only then, with each kind of links that can; a file that stays mapped is counted to
    the last call."""
    left, held = mounts
    with contextlib.ExitStack() as stack:
        again = stack.enter_context(folders.private("idle-holder"))
        running = []
        for i, (links, args) in enumerate(GPUPROBES):
            directory = tmp_path / str(i)
            directory.mkdir()
            running.append(stack.enter_context(Probe(directory, links).start(
                args=("-vv", *args), interval=0.5, env={"GPUPROBE_UNUSED_SECONDS": LET_GO_S})))
        for one in running:
            one.wait_until_watching()
        holder = stack.enter_context(Holder(held))
        see(running, holder)
        for place in (left, again):
            with Holder(place) as other:
                see(running, other)
                assert not let_go(running, place)
                mapped = time.monotonic()
            wait_until(lambda place=place: let_go(running, place), "no library was let go")
            assert time.monotonic() - mapped >= LET_GO_S
            wait_until(lambda place=place: let_go(running, place) == set(folders.LIBRARIES),
                       "one was not let go", 120)
        wait_until(lambda: umount(left), "it is still busy")
        assert not let_go(running, held) and not umount(held)
        # Not a report that waits since before its last launches.
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        before = [one.find(lambda r: entry_of(holder.pid)(r) if r["boot_ns"] > now else None)
                  for one in running]
        for _ in range(5):
            holder.go()
        for one, process in zip(running, before):
            one.wait_for(lambda r: has_grown(
                r, entry_of(holder.pid)(r)["launches"] - process["launches"], 10))
        with Holder(again) as other:
            see(running, other)
            for one in running:
                assert one.find(entry_of(other.pid))["since_attach"] is True
        for one in running:
            assert one.stop().status == 0
