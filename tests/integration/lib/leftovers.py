# SPDX-License-Identifier: BSD-2-Clause
"""
Finds what an ended gpuprobe may have left in the kernel: programs, maps, links, tracefs events.

Other gpuprobes may run on the machine, so an object counts as left over if it has one of our names
and no living process holds it by a descriptor.
"""
import contextlib
import functools
import os
import re
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from lib import bpf_names

TRACEFS = Path("/sys/kernel/tracing")


@functools.lru_cache(maxsize=1)
def tracefs_answers():
    """
    Whether the kernel's list of uprobe events can be read. A kernel that has faulted while holding
    the lock of that list never answers until reboot, and its readers cannot even be killed.
    """
    mount_tracefs()
    if not (TRACEFS / "uprobe_events").exists():
        return True
    asking = subprocess.Popen(["cat", TRACEFS / "uprobe_events"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        asking.wait(60)
    except subprocess.TimeoutExpired:
        return False
    return True


def bpftool(kind):
    """
    Runs bpftool, again if it fails because an object, such as another gpuprobe's, vanished
    meanwhile.
    """
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(RuntimeError):
            return bpf_names.bpftool(kind, "show")
        time.sleep(0.05)
    return bpf_names.bpftool(kind, "show")


def all_objects():
    """(kind, id) -> name of every BPF object that gpuprobe may have made."""
    programs = {program["id"]: program["name"] for program in bpftool("prog")
                if bpf_names.is_program(program)}
    found = {("prog", number): name for number, name in programs.items()}
    found |= {("map", entry["id"]): entry["name"] for entry in bpftool("map")
              if bpf_names.is_map(entry)}
    found |= {("link", link["id"]): programs[link["prog_id"]] for link in bpftool("link")
              if link.get("prog_id") in programs}
    return found


def is_zombie(pid):
    """Whether the first thread of a process has ended; others of it may live."""
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"


def objects_in(directory):
    """The BPF objects of a thread, whose descriptors all threads of its process share."""
    held = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(directory):
            with contextlib.suppress(OSError):
                text = Path(entry.path).read_text()
                held |= {(kind, int(number)) for kind, number in
                         re.findall(r"^(prog|map|link)_id:\s*(\d+)", text, re.MULTILINE)}
    return held


def objects_of(pid):
    """
    (kind, id) of the BPF objects that a process holds by its descriptors. An ending process may
    hold them only in its last thread, after its first one has released them.
    """
    held = set()
    with contextlib.suppress(OSError):
        tasks = os.listdir(f"/proc/{pid}/task")
        for task in tasks if is_zombie(pid) else tasks[:1]:
            held |= objects_in(f"/proc/{pid}/task/{task}/fdinfo")
    return held


def processes():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


class Group(NamedTuple):
    """The tracefs events of one gpuprobe, from their names (src/probe/tracefs.h)."""
    owner: int
    guard: int
    namespace: int  # pid namespace of its pids
    born_ms: int    # since boot


def events():
    """All groups with the number of their sites."""
    if not tracefs_answers():
        return {}
    try:
        text = (TRACEFS / "uprobe_events").read_text()
    except OSError:
        return {}
    return Counter(Group(*map(int, numbers)) for numbers in
                   re.findall(r"^[pr]\d*:gpuprobe_(\d+)_(\d+)_(\d+)_(\d+)/", text, re.MULTILINE))


def namespace_of(pid):
    """The number of a process's pid namespace; None if it has ended."""
    with contextlib.suppress(OSError):
        return int(re.search(r"\d+", os.readlink(f"/proc/{pid}/ns/pid"))[0])
    return None


def events_of(pid):
    """The groups of the gpuprobe that is or was this process of our pid namespace."""
    own = namespace_of("self")
    return [group for group in events() if (group.owner, group.namespace) == (pid, own)]


def is_owner(pid, group):
    """
    Whether the process, by the pid in its own pid namespace, is the gpuprobe that made the events:
    a later process with the same pid started later.
    """
    if namespace_of(pid) != group.namespace:
        return False
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    inner = int(re.search(r"^NSpid:.*?(\d+)$", status, re.MULTILINE)[1])
    threads, start_ms = int(rest[16]), int(rest[18]) * 1000 // os.sysconf("SC_CLK_TCK")
    has_ended = state == "Z" and threads == 1
    return inner == group.owner and not has_ended and start_ms <= group.born_ms


def present():
    """All of gpuprobe's objects in the kernel, including those held by a living one."""
    return {**all_objects(),
            **{("event", group): f"{sites} sites" for group, sites in events().items()}}


def left_over(found=None):
    """The part of `found`, or of everything present, that no living process holds."""
    found = dict(present() if found is None else found)
    for pid in processes():
        for kind, group in list(found):
            if kind == "event" and is_owner(pid, group):
                del found[kind, group]
        for held in objects_of(pid):
            found.pop(held, None)
    return found


def watchers():
    """The processes that hold a program of gpuprobe and so are watching now."""
    programs = {key for key in all_objects() if key[0] == "prog"}
    return [pid for pid in processes() if not programs.isdisjoint(objects_of(pid))]


def assert_none(before=(), timeout=120):
    """
    Fails if anything of an ended gpuprobe stays for longer than the kernel needs to clean up,
    except what was there `before`. With 90 links of a killed gpuprobe that takes half a minute on a
    busy machine.
    """
    end = time.monotonic() + timeout
    left = {key: name for key, name in present().items() if key not in before}
    # Finding holders means reading all processes' descriptors: done only if something is present.
    left = left_over(left) if left else left
    while left and time.monotonic() < end:
        time.sleep(0.2)
        now = present()
        # A starting gpuprobe creates its objects before its descriptors.
        left = left_over({key: name for key, name in left.items() if key in now})
    assert not left, f"left in the kernel: {left}"


def mount_tracefs():
    """Mounts tracefs, so that a test sees its events; a kernel without tracefs has none."""
    if TRACEFS.is_dir() and not (TRACEFS / "uprobe_events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", str(TRACEFS)], check=True)
