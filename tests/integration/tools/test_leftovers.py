# SPDX-License-Identifier: BSD-2-Clause
"""The check of other tests that an ended gpuprobe has left nothing in the kernel
(lib/leftovers.py)."""
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from lib import bpf_names, leftovers, paths
from lib.probe import wait_until

CONSTANTS = ".rodata.cst32"  # see bpf_names.is_map


@contextmanager
def held_by_nobody(name, kind, key, value):
    """A map that no process has open; yields its number and its file."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(["mount", "-t", "bpf", "bpf", directory], check=True)
        try:
            pin = Path(directory) / "map"
            bpf_names.bpftool("map", "create", pin, "type", kind, "key", key, "value", value,
                              "entries", 1, "name", name)
            yield bpf_names.bpftool("map", "show", "pinned", pin)["id"], pin
        finally:
            subprocess.run(["umount", directory], check=True)


@pytest.mark.parametrize("name", ["watched", "allocations", "duration_number"])
def test_a_map_that_is_left(name):
    """It also sees an object whose name the kernel has cut;
    one that only has the name does not count as gpuprobe's."""
    [(_, kind, key, value)] = [entry for entry in bpf_names.known()[1] if entry[0] == name]
    with held_by_nobody(name, kind, key, value) as (number, _):
        assert leftovers.left_over()["map", number] == name
    with held_by_nobody(name, kind, key, value + 8) as (number, _):
        assert ("map", number) not in leftovers.present()


@pytest.mark.parametrize("args", [["--metrics-addr", "none", "--stack", "auto"],
                                  ["trace", "--stack=auto", "-O", "/dev/null"], ["memleak"]],
                         ids=["monitor", "trace", "memleak"])
def test_all_that_gpuprobe_has_is_known(gpuprobe, sleeper, args):
    """Every program, map and link; and none of it is left over as long as it lives."""
    with gpuprobe.start(base=[*args, "-p", str(sleeper)], interval=None) as running:
        running.wait_until_watching()
        held = leftovers.objects_of(running.pid)
        names = {("map", entry["id"]): entry["name"] for entry in leftovers.bpftool("map")}
        unknown = held - leftovers.all_objects().keys()
        left = leftovers.left_over()
        held &= leftovers.objects_of(running.pid)  # not what it has only for a moment
        assert held.isdisjoint(left)
        assert len(held) > 20 and not {key: names.get(key) for key in held & unknown
                                       if names.get(key) != CONSTANTS}
        assert running.stop().status == 0


# Opens a pinned map (BPF_OBJ_GET), and its first thread ends (exit(2)).
FIRST_THREAD_ENDS = """
import ctypes, struct, sys, threading, time
path = ctypes.create_string_buffer(sys.argv[1].encode())
system = ctypes.CDLL(None).syscall
assert system(321, 7, struct.pack("QII", ctypes.addressof(path), 0, 0), 16) > 0
threading.Thread(target=time.sleep, args=(60,)).start()
system(60, 0)
"""


def test_held_by_the_last_thread():
    """Of a process that is a zombie to look at."""
    [(name, *shape)] = [entry for entry in bpf_names.known()[1] if entry[0] == "watched"]
    with held_by_nobody(name, *shape) as (number, pin):
        with subprocess.Popen([paths.PYTHON, "-c", FIRST_THREAD_ENDS, str(pin)]) as process:
            try:
                wait_until(lambda: leftovers.is_zombie(process.pid),
                           "the first thread does not end")
                assert ("map", number) in leftovers.present().keys() - leftovers.left_over().keys()
            finally:
                process.kill()
        assert ("map", number) in leftovers.left_over()


def test_whose_events_they_are():
    """Of the process that has the pid in that namespace, and had it when they were made."""
    pid, now = os.getpid(), int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000)
    own = leftovers.namespace_of("self")
    assert leftovers.is_owner(pid, leftovers.Group(pid, 1, own, now))
    assert not leftovers.is_owner(pid, leftovers.Group(pid, 1, own, 1))
    assert not leftovers.is_owner(pid, leftovers.Group(pid, 1, own + 1, now))
    assert not leftovers.is_owner(pid, leftovers.Group(1, pid, own, now))
    with subprocess.Popen(["unshare", "-pf", "--kill-child=KILL", "sleep", "60"]) as process:
        try:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            wait_until(children.read_text, "unshare starts nothing")
            [child] = map(int, children.read_text().split())
            now = int(time.clock_gettime(time.CLOCK_BOOTTIME) * 1000)
            assert leftovers.is_owner(child,
                                      leftovers.Group(1, 2, leftovers.namespace_of(child), now))
        finally:
            process.kill()
