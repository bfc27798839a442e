# SPDX-License-Identifier: BSD-2-Clause
"""
A process whose memory does not answer: one of its pages maps a file that a silent program serves
(FUSE). A process that reads it waits in the kernel and cannot be killed: that may be a child of
gpuprobe's, never gpuprobe.
"""
import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lib import leftovers, paths
from lib.fuse import Served
from lib.marked import ends_soon
from lib.probe import Background, descendants, wait_until
from lib.scrape import Endpoint
from lib.trace import wait_for_lines

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="there is no /dev/fuse")

WARNING = "its memory does not answer: gpuprobe reads no names from it"
LATE = "its memory answers late: gpuprobe reads no names from it"
PAGES = 101

# A driver without any kernels: what is launched is not looked at.
DRIVER = """
int cuInit(unsigned int flags) { return (int)flags; }
int cuMemAlloc_v2(void **pointer, unsigned long size) { return !pointer || !size; }
int cuLaunchKernel(void *f, unsigned int gx, unsigned int gy, unsigned int gz,
                   unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
                   void *stream, void **parameters, void **extra)
{
	return f && gx && gy && gz && bx && by && bz &&
	       !shared && !stream && !parameters && !extra ? 0 : 1;
}
"""

# Maps a file, and launches addresses of it as often as it is told to;
# the file is closed and never touched.
LAUNCHES = """
import ctypes, os, sys
libc, driver = ctypes.CDLL(None, use_errno=True), ctypes.CDLL(sys.argv[1])
libc.mmap.restype = ctypes.c_void_p
file = os.open(sys.argv[2], os.O_RDONLY)
page = libc.mmap(None, ctypes.c_size_t(4096 * int(sys.argv[3])), 1, 2, file, ctypes.c_long(0))
assert page != ctypes.c_void_p(-1).value
print("READY", flush=True)
for line in sys.stdin:
    for number in range(int(line)):
        handle = ctypes.c_void_p(page + 4096 * (number + 1))
        assert driver.cuLaunchKernel(handle, 1, 1, 1, 1, 1, 1, 0, None, None, None) == 0
    print("DONE", flush=True)
"""


@pytest.fixture
def driver(tmp_path):
    source, library = tmp_path / "driver.c", tmp_path / "libcuda.so.1"
    source.write_text(DRIVER)
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library,
                    source], check=True)
    return library


def readers():
    """Of any gpuprobe."""
    found = set()
    for pid in leftovers.processes():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text() == "gpuprobe-reader\n":
                found.add(pid)
    return found


def assert_holds_nothing(probe):
    """Its readers, even one that waits for ever, hold nothing of gpuprobe's but a socket,
    and have no more permissions than gpuprobe."""
    own = [pid for pid in descendants(probe.pid) if pid in readers()]
    assert len(own) > 1
    status = Path(f"/proc/{probe.pid}/status").read_text()
    for pid in own:
        proc = Path(f"/proc/{pid}")
        assert "anon_inode:" not in proc.joinpath("maps").read_text()
        assert [os.readlink(fd).partition(":")[0]
                for fd in proc.joinpath("fd").iterdir()] in (["socket"], [])
        for line in ("CapEff", "CapPrm", "Seccomp", "NoNewPrivs"):
            assert [word for word in status.splitlines() if word.startswith(f"{line}:")] == \
                [word for word in proc.joinpath("status").read_text().splitlines()
                 if word.startswith(f"{line}:")]
    assert "anon_inode:bpf-map" in Path(f"/proc/{probe.pid}/maps").read_text()


@pytest.fixture
def no_reader_left(tmp_path):
    """Of those that wait some may be there for as long as the file is silent, and no longer."""
    yield
    ends_soon(f"{tmp_path}/truth", timeout=60)


class Silent:
    """A program whose handles lie in a file that is silent from the first launch on,
    and an ordinary one."""

    def __init__(self, ends, tmp_path, driver):
        directory = tmp_path / "served"
        directory.mkdir()
        self.served = Served(directory, "page", bytes(4096 * PAGES))
        self.process = ends.enter_context(Background(paths.PYTHON, "-c", LAUNCHES, driver,
                                                     self.served.path, str(PAGES)))
        self.honest = ends.enter_context(
            Background(paths.workload("idle-holder"), "--bytes", "4096", "--launch", "2",
                       "--then-launch", "4", "--seconds", "60"))
        assert self.process.stdout.readline() == "READY\n"
        assert self.honest.stdout.readline() == "READY\n"

    @property
    def pids(self):
        """Other programs of the machine may have handles that lead to wrong names,
        after which gpuprobe reads none."""
        return ["-p", self.process.pid, "-p", self.honest.pid]

    def launch(self, count):
        self.served.fall_silent()
        assert self.process.tell(count) == "DONE"


def is_well(endpoint):
    return endpoint.request("/healthz")[0] == 200


def assert_seldom_asked(silent, probe, begin):
    """Once a minute: gpuprobe waits no longer for the other handles, nor where it ends."""
    assert 1 <= silent.served.asked_by(probe.pid) <= 1 + (time.monotonic() - begin) // 60


@pytest.mark.waits("for ten reports, and for what stays silent")
def test_monitor(gpuprobe, tmp_path, driver, nothing_left, no_reader_left):
    endpoint = Endpoint()
    # Waiters for the file end when it goes: the context of the file is left first,
    # that of the process that maps it last.
    with contextlib.ExitStack() as ends:
        silent = Silent(ends, tmp_path, driver)
        probe = ends.enter_context(gpuprobe.start(base=["--json", *endpoint.option],
                                                  args=silent.pids))
        ends.enter_context(silent.served)
        probe.report()
        assert is_well(endpoint)
        begin = time.monotonic()
        silent.launch(100)
        for _ in range(10):
            now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
            probe.wait_for(lambda report, now=now: report["boot_ns"] > now)
            assert is_well(endpoint)
        assert silent.honest.tell("go") == "DONE"
        probe.wait_for(lambda report: any(p["pid"] == silent.honest.pid and p["launches"] == 4
                                          for p in report["processes"]))
        silent.launch(100)
        assert is_well(endpoint)
        assert_holds_nothing(probe)
        result = probe.stop(signal.SIGTERM)
        assert_seldom_asked(silent, probe, begin)
    assert result.status == 0
    assert result.process_of(silent.process.pid)["launches"] == 200
    assert result.process_of(silent.honest.pid)["launches"] == 4
    # Nobody's are without names but its own.
    assert all(kernel["name"] for kernel in result.process_of(silent.honest.pid)["kernels"])
    assert result.stderr.count(WARNING) == 1
    assert f"process {silent.process.pid}: {WARNING}" in result.stderr


def test_trace(tracer, tmp_path, driver, nothing_left, no_reader_left):
    with contextlib.ExitStack() as ends:
        silent = Silent(ends, tmp_path, driver)
        probe, path = tracer.start(args=silent.pids)
        ends.enter_context(probe)
        ends.enter_context(silent.served)
        probe.wait_until_watching()
        begin = time.monotonic()
        silent.launch(3)
        assert silent.honest.tell("go") == "DONE"
        lines = wait_for_lines(path, 7)
        # Lines come without the name if the reader waits for a CPU for too long: it asks then.
        wait_until(lambda: silent.served.asked_by(probe.pid), "nobody has asked for the handle")
        result = probe.stop(signal.SIGTERM)
        assert_seldom_asked(silent, probe, begin)
    assert result.status == 0
    assert sum(line["pid"] == silent.process.pid for line in lines) == 3
    assert result.stderr.count(WARNING) == 1


def test_late_answers(gpuprobe, tmp_path, driver, nothing_left, no_reader_left):
    """Each answer comes before gpuprobe would give up waiting:
    it waits for a few of them, not for all."""
    with contextlib.ExitStack() as ends:
        silent = Silent(ends, tmp_path, driver)
        probe = ends.enter_context(gpuprobe.start(base=["--json"], args=silent.pids))
        ends.enter_context(silent.served)
        probe.report()
        silent.served.late = 0.06  # far from the 0.2 s after which an answer has not come at all
        assert silent.process.tell(100) == "DONE"
        assert silent.honest.tell("go") == "DONE"
        probe.wait_for(lambda report: any(p["pid"] == silent.honest.pid and p["launches"] == 4
                                          for p in report["processes"]))
        result = probe.stop(signal.SIGTERM)
        # Seven make 0.4 s; each of 100 would be waited for.
        assert 1 <= silent.served.asked_by(probe.pid) <= 10
    assert result.status == 0
    assert result.process_of(silent.process.pid)["launches"] == 100
    assert all(kernel["name"] for kernel in result.process_of(silent.honest.pid)["kernels"])
    assert result.stderr.count(LATE) == 1
    assert f"process {silent.process.pid}: {LATE}" in result.stderr
