# SPDX-License-Identifier: BSD-2-Clause
"""Which files are probed: each inode once, wherever it is seen from; and which pids are shown."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from lib import exact, folders, paths
from lib.inside import Inside
from lib.probe import SECTIONS, environment

pytestmark = pytest.mark.usefixtures("nothing_left")

NAMES = ("libcuda.so.1", "libcudart.so.13", "launch", "memory", "idle-holder")


@pytest.fixture
def private():
    """A directory with copies of the simulated libraries: files that gpuprobe has never met."""
    with folders.private("launch", "memory", "idle-holder") as directory:
        yield directory


class Holder:
    """A process that has allocated and waits; go() makes it launch.
    `before` are words before its path."""

    def __init__(self, directory, before=(), launches=4, env=None):
        self.process = subprocess.Popen(
            [*map(str, before), f"{directory}/idle-holder", "--bytes", "4096", "--launch",
             "2", "--then-launch", str(launches), "--seconds", "3600"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=environment(**(env or {})))
        assert self.process.stdout.readline() == "READY\n"
        self.each, self.launched = launches, 2

    @property
    def pid(self):
        """The holder's own pid, also behind an unshare(1) that waits for it."""
        pid = self.process.pid
        while children := Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = int(children[0])
        return pid

    def go(self):
        print("go", file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "DONE\n"
        self.launched += self.each

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def launches(report):
    return {p["pid"]: p["launches"] for p in report["processes"]}


def see(running, holder, timeout=60):
    """The holder's process in the first report that shows a launch of it;
    it launches until then."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        holder.go()
        for process in running.report()["processes"]:
            if process["pid"] == holder.pid and process["launches"]:
                return process
    raise AssertionError(f"no launch of process {holder.pid} was seen; stderr: {running.stderr}")


def watch(probe, *holders, args=(), rounds=1):
    """Watches the holders while each of them launches; the final report."""
    pids = [word for holder in holders for word in ("-p", holder.pid)]
    with probe.start(args=[*pids, *args]) as running:
        running.report()
        for _ in range(rounds):
            for holder in holders:
                holder.go()
        return running.stop().final


# --- one inode by two names ---

class Overlays:
    """A mount namespace with two overlay mounts, a and b, of one lower directory;
    inside() enters it."""

    def __init__(self, lower, place):
        self.place = place
        script = f"""
            mount --make-rprivate / && mount -t tmpfs tmpfs '{place}' && cd '{place}'
            for name in a b; do
                mkdir -p $name upper-$name work-$name
                upper='{place}/upper-'$name work='{place}/work-'$name
                mount -t overlay overlay -o 'lowerdir={lower},upperdir='$upper',workdir='$work $name
            done
            echo READY
            read line
        """
        self.process = subprocess.Popen(["unshare", "-m", "sh", "-ec", script], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == "READY\n", "overlay mounts failed"

    def inside(self):
        return ["nsenter", "-m", "-r", "-t", str(self.process.pid), "--"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        self.process.wait(60)
        self.process.stdout.close()


@pytest.fixture
def overlays(private, tmp_path):
    place = tmp_path / "overlays"
    place.mkdir()
    with Overlays(private, place) as mounts:
        yield mounts


def test_overlay_mounts_are_what_the_test_is_about(overlays):
    """By stat the two are two files; that is what makes it hard."""
    done = subprocess.run([*overlays.inside(), "stat", "-c", "%d %i",
                           overlays.place / "a/libcuda.so.1", overlays.place / "b/libcuda.so.1"],
                          capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first != second


def test_two_overlay_mounts_of_one_file(gpuprobe_by, overlays):
    """10 calls through one and 5 through the other count 10 and 5."""
    result = gpuprobe_by.run(*overlays.inside(), "sh", "-c",
                             '"$1/a/launch" --launches 10; "$1/b/launch" --launches 5',
                             "sh", overlays.place)
    exact.check(result)
    assert sorted(launches(result.final).values()) == [5, 10]


def test_two_overlay_mounts_of_running_processes(gpuprobe_by, overlays):
    with Holder(overlays.place / "a", overlays.inside()) as a, \
            Holder(overlays.place / "b", overlays.inside()) as b:
        assert launches(watch(gpuprobe_by, a, b, rounds=3)) == {a.pid: 12, b.pid: 12}


def test_two_overlay_mounts_as_options(overlays):
    """Also if gpuprobe itself is inside: two paths, one library.
    It watches a process without any."""
    def libraries(*options):
        done = subprocess.run([*overlays.inside(), paths.GPUPROBE, "--json",
                               "--display-interval", "0", "--duration", "0.1", "--metrics-addr",
                               "none", "-p", str(overlays.process.pid), *options],
                              capture_output=True, text=True, env=environment(), check=True)
        return int(done.stdout.split('"libraries":')[1].split(",")[0])

    a, b = (str(overlays.place / name / "libcuda.so.1") for name in "ab")
    one = libraries("--libcuda-path", a)
    assert libraries("--libcuda-path", a, "--libcuda-path", b) == one == libraries() + 1


def test_overlay_copied_up_is_another_file(gpuprobe, overlays):
    """A write through one mount makes a second file; calls through each are counted once."""
    subprocess.run([*overlays.inside(), "sh", "-c",
                    f"cd '{overlays.place}/b' && printf x >>libcuda.so.1"], check=True)
    result = gpuprobe.run(*overlays.inside(), "sh", "-c",
                          '"$1/a/launch" --launches 10; "$1/b/launch" --launches 5',
                          "sh", overlays.place)
    exact.check(result)
    assert sorted(launches(result.final).values()) == [5, 10]


def test_hard_and_symbolic_links_are_one_file(gpuprobe_by, private):
    other = private / "other"
    other.mkdir()
    os.link(private / "libcuda.so.1", other / "libcuda.so.1")
    os.symlink(private / "libcudart.so.13", other / "libcudart.so.13")
    shutil.copy(private / "launch", other)
    result = gpuprobe_by.run("sh", "-c",
                             '"$1/launch" --launches 10; "$1/other/launch" --launches 5', "sh",
                             private)
    exact.check(result)
    assert sorted(launches(result.final).values()) == [5, 10]


# --- files out of gpuprobe's own sight ---

def make_root(directory):
    """A root directory with a loader, a C library and the workloads of its own."""
    root = directory / "root"
    for name in ("proc", "opt/cuda", "lib64", "usr/lib"):
        (root / name).mkdir(parents=True)
    for name in NAMES:
        shutil.copy(paths.SIM / name, root / "opt/cuda")
    listed = subprocess.run(["ldd", paths.SIM / "idle-holder"], capture_output=True, text=True,
                            check=True).stdout
    for line in listed.splitlines():
        words = [word for word in line.split() if word.startswith("/")]
        if words and str(paths.SIM) not in words[0]:
            (root / words[0][1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(words[0], root / words[0][1:])
    return root


@pytest.fixture
def root():
    directory = Path(tempfile.mkdtemp(prefix="gpuprobe-test-"))
    yield make_root(directory)
    shutil.rmtree(directory)


def pivot(root):
    """Words that run a command with `root` as its root in a mount namespace of its own."""
    script = ('mount --make-rprivate / && mount --bind "$0" "$0" && mount -t proc '
              'proc "$0/proc" && cd "$0" && '
              'mkdir -p old && pivot_root . old && exec "$@"')
    return ["unshare", "-m", "sh", "-ec", script, str(root)]


def chroot(root):
    script = 'mount --make-rprivate / && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    return ["unshare", "-m", "sh", "-ec", script, str(root)]


@pytest.mark.parametrize("enter", [chroot, pivot])
def test_running_process_in_another_root(gpuprobe_by, root, enter):
    with Holder("/opt/cuda", enter(root)) as holder:
        final = watch(gpuprobe_by, holder)
        process, = final["processes"]
        assert (process["launches"], process["since_attach"]) == (4, True)
        assert process["memory"]["device"]["live_bytes"] == 0


@pytest.mark.parametrize("enter", [chroot, pivot])
def test_command_in_another_root(gpuprobe_by, root, enter):
    """COMMAND is exact also where its loader and its libraries are files of its own."""
    result = gpuprobe_by.run(*enter(root), "/opt/cuda/launch", "--launches", "7",
                             env={"CUDA_SIM_TRUTH": None})
    process = result.process
    assert (process["launches"], process["since_attach"]) == (7, False)
    assert [kernel["name"] for kernel in process["kernels"]] == ["kernel_0"]


def test_same_library_in_many_roots(gpuprobe, root):
    """Copies are files of their own, each probed once."""
    others = []
    for i in range(3):
        shutil.copytree(root, root.parent / f"root{i}", symlinks=True)
        others.append(root.parent / f"root{i}")
    with contextlib.ExitStack() as stack:
        holders = [stack.enter_context(Holder("/opt/cuda", pivot(place))) for place in others]
        final = watch(gpuprobe, *holders)
    assert launches(final) == {p["pid"]: 4 for p in final["processes"]}
    assert len(final["processes"]) == 3


# --- files that come and go ---

def test_library_deleted_while_mapped(gpuprobe_by, private):
    with Holder(private) as holder:
        for name in ("libcuda.so.1", "libcudart.so.13", "idle-holder"):
            (private / name).unlink()
        final = watch(gpuprobe_by, holder)
    process, = final["processes"]
    assert (process["launches"], process["since_attach"]) == (4, True)


def test_library_replaced_while_mapped(gpuprobe_by, private):
    """The old process keeps the old file, a new one gets the new: both are counted."""
    with Holder(private) as old:
        for name in ("libcuda.so.1", "libcudart.so.13"):
            shutil.copy(paths.SIM / name, private / "new")
            (private / "new").rename(private / name)
        with Holder(private) as new:
            assert launches(watch(gpuprobe_by, old, new)) == {old.pid: 4, new.pid: 4}


def test_library_replaced_while_watching(gpuprobe, private):
    """Also when it is replaced, again and again, under a gpuprobe that knows the old one."""
    with gpuprobe.start() as running:
        running.report()
        for _ in range(3):
            with Holder(private) as holder:
                if not see(running, holder)["since_attach"]:
                    running.wait_for(
                        lambda r, holder=holder: launches(r).get(holder.pid) == holder.launched)
            for name in ("libcuda.so.1", "libcudart.so.13"):
                shutil.copy(paths.SIM / name, private / "new")
                (private / "new").rename(private / name)
        running.stop()


# --- strangers ---

def test_stranger_with_an_unknown_library(gpuprobe_by, private):
    """It is not stopped, so its first calls may be missed, and the report says so."""
    with gpuprobe_by.start() as running:
        running.report()
        with Holder(private) as holder:
            assert see(running, holder)["since_attach"] is True
            # The library is known now: whoever comes next is exact.
            with Holder(private, launches=9) as second:
                pid = second.pid
                second.go()
                report = running.wait_for(lambda r: launches(r).get(pid, 0) >= 11)
                process, = [p for p in report["processes"] if p["pid"] == pid]
                assert (process["launches"], process["since_attach"]) == (11, False)
                assert process["memory"]["device"]["live_bytes"] == 4096
        running.stop()


def test_stranger_is_marked_in_the_text_report(gpuprobe, private):
    with Holder(private) as holder:
        pid = holder.pid
        base = [*SECTIONS, "--metrics-addr", "none"]
        with gpuprobe.start(args=["-p", pid], base=base) as running:
            running.line()
            holder.go()
            text = running.stop().stdout
    assert f"process {pid} (idle-holder) since attach" in text


def test_strangers_with_a_loader_of_their_own(gpuprobe_by, root):
    """As in containers: neither the loader nor the libraries were met before."""
    with gpuprobe_by.start() as running:
        running.report()
        for i in range(4):
            place = root.parent / f"root{i}"
            shutil.copytree(root, place, symlinks=True)
            with Holder("/opt/cuda", pivot(place)) as holder:
                see(running, holder)
        running.stop()


def test_strangers_that_bring_an_unknown_library_together(gpuprobe_by, private):
    """Whichever of them gpuprobe learns the file from: all that called it before are marked."""
    with gpuprobe_by.start(interval=0) as running:
        running.wait_until_watching()
        own = set()
        for i in range(5):
            place = private / f"round{i}"
            place.mkdir()
            for name in NAMES:
                shutil.copy(paths.SIM / name, place)
            together = [subprocess.Popen([place / "launch", "--launches", "40", "--rate",
                                          "100000", "--hold", "0.3"], stdout=subprocess.DEVNULL)
                        for _ in range(6)]
            own |= {process.pid for process in together}
            for process in together:
                process.wait()
        result = running.stop()
    wrong = [(p["pid"], p["launches"]) for p in result.processes
             if p["pid"] in own and p["launches"] != 40 and not p["since_attach"]]
    assert wrong == []


# --- pid namespaces ---

def test_process_in_a_pid_namespace_is_shown_with_the_outer_pid(gpuprobe_by, private):
    with Holder(private, ["unshare", "-pf", "--kill-child", "--mount-proc"]) as holder:
        assert (Path(f"/proc/{holder.pid}/status").read_text().split("NSpid:")[1].split()[:2]
                == [str(holder.pid), "1"])
        assert launches(watch(gpuprobe_by, holder)) == {holder.pid: 4}


def test_command_in_a_pid_namespace(gpuprobe_by, private):
    result = gpuprobe_by.run("unshare", "-pf", "--mount-proc", "sh", "-c",
                             '"$1" --launches 7; "$1" --launches 8', "sh", private / "launch")
    by_launches = {p["launches"]: p["pid"] for p in result.processes}
    assert set(by_launches) == {7, 8}
    # The truth files have the pids inside.
    assert not {t.pid for t in result.truths} & set(by_launches.values())
    assert not any(p["since_attach"] for p in result.processes)


@pytest.fixture
def inside(links, tmp_path):
    return Inside(links, tmp_path / "inside")


def test_gpuprobe_in_a_pid_namespace(inside, private):
    """It shows the pids of its own namespace."""
    result = inside.run("sh", "-c", '"$1" --launches 7; "$1" --launches 8', "sh",
                        private / "launch")
    exact.check(result)
    assert all(p["pid"] < 100 for p in result.processes)


def test_gpuprobe_in_a_pid_namespace_sees_nested_ones(inside, private):
    process = inside.run("unshare", "-pf", "--mount-proc", private / "launch", "--launches",
                         "7").process
    assert process["launches"] == 7
    assert 1 < process["pid"] < 100


def test_gpuprobe_in_a_pid_namespace_does_not_see_out(inside, private):
    """Processes outside the namespace are not shown, although the library's probes fire there."""
    with Holder(private) as holder:
        with inside.start("--libcuda-path", private / "libcuda.so.1") as running:
            running.report()
            holder.go()
            running.report()
            report = running.report()
    assert report["processes"] == []
