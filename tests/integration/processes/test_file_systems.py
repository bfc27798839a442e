# SPDX-License-Identifier: BSD-2-Clause
"""
Two paths to a library on each kind of file system: the inode that the kernel probes decides whether
they are one file, which already has probes, whatever numbers stat(2) and /proc/PID/maps show.
"""
import contextlib
import os
import shutil
import subprocess

import pytest

from lib import small_cuda
from lib.probe import Background, Probe, wait_until
from lib.script import PROGRAMS

NAME = "libcuda.so.1"


class Place(contextlib.ExitStack):
    """A directory where file systems are mounted until the end."""

    def __init__(self, directory, library):
        super().__init__()
        self.directory, self.library = directory, library

    def run(self, *words, cwd=None):
        """Runs a tool; a test is skipped where that is not there, or the kernel cannot do it."""
        words = [str(word) for word in words]
        if not shutil.which(words[0]):
            pytest.skip(f"{words[0]} is not installed")
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd)
        if done.returncode:
            pytest.skip(f"{' '.join(words)}: {done.stderr.strip()}")

    def folder(self, name):
        path = self.directory / name
        path.mkdir()
        return path

    def mount(self, *words, name):
        """The directory where it is mounted."""
        point = self.folder(name)
        self.run("mount", *words, point)
        self.callback(subprocess.run, ["umount", "-l", str(point)], check=True)
        return point

    def formatted(self, kind, size, *options):
        """A new file system of that kind."""
        image = self.directory / f"{kind}.img"
        with open(image, "wb") as file:
            file.truncate(size)
        self.run(f"mkfs.{kind}", *options, image)
        return self.mount("-t", kind, "-o", "loop", image, name=kind)

    def overlay(self, lower, name):
        options = [f"lowerdir={lower}"] + [f"{part}dir={self.folder(name + part)}"
                                           for part in ("upper", "work")]
        return self.mount("-t", "overlay", "overlay", "-o", ",".join(options), name=name)

    def copy(self, folder):
        return shutil.copy(self.library, folder / NAME)


def btrfs_snapshot(place):
    point = place.formatted("btrfs", 200 << 20)
    place.run("btrfs", "subvolume", "create", point / "first")
    first = place.copy(point / "first")
    os.sync()
    place.run("btrfs", "subvolume", "snapshot", point / "first", point / "second")
    return first, point / "second" / NAME


def btrfs_subvolumes(place):
    point = place.formatted("btrfs", 200 << 20)
    for name in ("first", "second"):
        place.run("btrfs", "subvolume", "create", point / name)
    return [place.copy(point / name) for name in ("first", "second")]


def btrfs_reflink(place):
    first = place.copy(place.formatted("btrfs", 200 << 20))
    place.run("cp", "--reflink=always", "-p", first, place.directory / "btrfs" / "libcuda.so.2")
    return first, place.directory / "btrfs" / "libcuda.so.2"


def xfs_reflink(place):
    first = place.copy(place.formatted("xfs", 320 << 20))
    place.run("cp", "--reflink=always", "-p", first, place.directory / "xfs" / "libcuda.so.2")
    return first, place.directory / "xfs" / "libcuda.so.2"


def overlay_and_lower(place):
    lower = place.copy(place.folder("lower"))
    return place.overlay(place.directory / "lower", "over") / NAME, lower


def lower_and_overlay(place):
    return reversed(overlay_and_lower(place))


def two_overlays(place):
    place.copy(place.folder("lower"))
    return [place.overlay(place.directory / "lower", name) / NAME for name in ("one", "two")]


def overlay_copied_up(place):
    lower = place.copy(place.folder("lower"))
    upper = place.overlay(place.directory / "lower", "over") / NAME
    os.utime(upper)
    return lower, upper


def overlay_of_snapshots(place):
    first, second = btrfs_snapshot(place)
    return [place.overlay(os.path.dirname(path), name) / NAME
            for path, name in ((first, "one"), (second, "two"))]


def squashfs(place):
    place.copy(place.folder("source"))
    place.run("mksquashfs", place.directory / "source", place.directory / "image", "-quiet",
              "-no-progress")
    point = place.mount("-t", "squashfs", "-o", "loop", place.directory / "image", name="squashfs")
    return point / NAME, place.overlay(point, "over") / NAME


def bound_file(place):
    first = place.copy(place.folder("first"))
    second = place.folder("second") / NAME
    second.touch()
    place.run("mount", "--bind", first, second)
    place.callback(subprocess.run, ["umount", "-l", str(second)], check=True)
    return first, second


def hard_link(place):
    first = place.copy(place.folder("first"))
    os.link(first, place.folder("second") / NAME)
    return first, place.directory / "second" / NAME


def two_tmpfs(place):
    return [place.copy(place.mount("-t", "tmpfs", "tmpfs", name=name)) for name in ("one", "two")]


def two_ext4(place):
    first = place.copy(place.formatted("ext4", 16 << 20, "-q"))
    shutil.copy(place.directory / "ext4.img", place.directory / "copy.img")
    os.sync()
    place.run("cp", place.directory / "ext4.img", place.directory / "copy.img")
    second = place.mount("-t", "ext4", "-o", "loop,ro,noload", place.directory / "copy.img",
                         name="copy")
    return first, second / NAME


def in_memory(place):
    paths = []
    for _ in range(2):
        fd = os.memfd_create(NAME)
        place.callback(os.close, fd)
        os.write(fd, place.library.read_bytes())
        paths.append(f"/proc/{os.getpid()}/fd/{fd}")
    return paths


def replaced(place):
    """The second takes the first one's path once that is in use."""
    return place.copy(place.folder("first")), None


# What makes the two paths, and whether they are one file to the kernel.
KINDS = {btrfs_snapshot: False, btrfs_subvolumes: False, btrfs_reflink: False, xfs_reflink: False,
         overlay_and_lower: True, lower_and_overlay: True, two_overlays: True,
         overlay_copied_up: False, overlay_of_snapshots: False, squashfs: True, bound_file: True,
         hard_link: True, two_tmpfs: False, two_ext4: False, in_memory: False, replaced: False}


class Opened(Background):
    """programs/opened.c, which has opened the library at the path."""

    def __init__(self, program, path):
        super().__init__(program, path, "plain", "waits")
        assert self.stdout.readline() == "READY\n"
        assert self.tell("open") == "OPENED"


def calls(process):
    """Not launches: strangers may have filled the table of kernels."""
    counts = {entry["function"]: entry["calls"] for entry in process["functions"]}
    return counts.get("cuMemAlloc_v2", 0), counts.get("cuMemFree_v2", 0)


def seen(running, program, late=None):
    """The process once all its calls are counted; with `late`, only if it is marked accordingly as
    one that was there before its probes."""
    return running.find(lambda report: next((p for p in report["processes"]
                                             if p["pid"] == program.pid and calls(p) >= (10, 9)
                                             and late in (None, p["since_attach"])), None))


@pytest.fixture(scope="module", name="program")
def built(tmp_path_factory):
    program = tmp_path_factory.mktemp("opened") / "opened"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-pthread", "-o", program, PROGRAMS / "opened.c"],
                   check=True)
    return program


@pytest.fixture(scope="module")
def watching(tmp_path_factory):
    """One gpuprobe for the whole table: it watches the whole machine."""
    with Probe(tmp_path_factory.mktemp("watching")).start(args=["-v"]) as running:
        running.wait_until_watching()
        yield running
        running.stop()


@pytest.fixture
def place(tmp_path):
    library = small_cuda.compile(tmp_path / "made.so")
    with Place(tmp_path, library) as made:
        yield made


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_two_paths(watching, program, place, make):
    """
    Each process is counted once. If the file is the same the second finds its probes there and is
    not marked; else it gets probes of its own and is marked.
    """
    first_path, second_path = make(place)
    with Opened(program, first_path) as first:
        wait_until(lambda: f"(process {first.pid}): 4 functions probed" in watching.stderr,
                   lambda: watching.stderr)
        if not second_path:
            second_path = first_path
            os.rename(shutil.copy(place.library, place.directory / "new"), first_path)
        with Opened(program, second_path) as second:
            if not KINDS[make]:
                wait_until(lambda: f"(process {second.pid}): 4 functions probed" in watching.stderr,
                           lambda: watching.stderr)
            for opened in (first, second):
                assert opened.tell("call") == "DONE"
                # A busy gpuprobe looks at the process again a little later, and marks it then.
                process = seen(watching, opened, late=opened is first or not KINDS[make])
                assert calls(process) == (10, 9)
    assert (f"(process {second.pid}): 4 functions probed" in watching.stderr) != KINDS[make]


def detached(place):
    """A bind mount of a file alone, and of its directory."""
    source = place.copy(place.folder("source"))
    alone = place.folder("alone") / NAME
    alone.touch()
    place.run("mount", "--bind", source, alone)
    place.run("mount", "--bind", place.directory / "source", place.folder("whole"))
    return [(alone, alone), (place.directory / "whole" / NAME, place.directory / "whole")]


@pytest.mark.parametrize("how, whom", [("alone", "process"), ("whole", "process"),
                                       ("tmpfs", "process"), ("alone", "machine")])
def test_detached_mount(gpuprobe, program, place, how, whom):
    """The library's mount is in no namespace any more, so that maps shows its path without it:
    the process is still watched."""
    if how == "tmpfs":
        path = place.folder("tmpfs") / NAME
        place.run("mount", "-t", "tmpfs", "tmpfs", path.parent)
        place.copy(path.parent)
        point = path.parent
    else:
        (alone, whole) = detached(place)
        path, point = alone if how == "alone" else whole
        place.callback(subprocess.run,
                       ["umount", "-l", str((whole if how == "alone" else alone)[1])], check=True)
    with Opened(program, path) as opened:
        subprocess.run(["umount", "-l", point], check=True)
        args = ["-p", opened.pid] if whom == "process" else []
        with gpuprobe.start(args=args) as running:
            running.report()
            assert opened.tell("call") == "DONE"
            process = seen(running, opened)
            assert calls(process) == (10, 9) and process["since_attach"]
            running.stop()
