# SPDX-License-Identifier: BSD-2-Clause
"""What an ended gpuprobe may have left in the kernel: programs, maps, links, tracefs events.

Other gpuprobes may run on the machine, so an object counts as left over when it has one of our
names and no living process holds it by a descriptor.
"""
import contextlib
import functools
import json
import os
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

# As the kernel cuts them, to 15 characters.
PROGRAMS = {"call_session", "call_entry", "call_return", "loader_entry", "process_fork", "process_exit",
            "process_exec", "identity_of_map", "identity_of_mappings", "empty", "trace_session", "trace_entry",
            "trace_return", "trace_exit", "trace_exec", "calls_in_progre", "trial", "reading"}
MAPS = {"in_progress", "free_threads", "process_numbers", "traced_threads", "kernels_seen",
        "watched", "process_of", "free_slots", "tallies", "gpuprobe.rodata", "gpuprobe.bss", "identity_tgid", "trial"}
TRACEFS = Path("/sys/kernel/tracing")


@functools.lru_cache(maxsize=1)
def tracefs_answers():
    """
    Whether the kernel's list of uprobe events can be read. A kernel that has faulted with the lock of
    that list held never answers again until it is booted anew; who asks it cannot even be killed.
    """
    mount_tracefs()
    if not (TRACEFS / "uprobe_events").exists():
        return True
    asking = subprocess.Popen(["cat", TRACEFS / "uprobe_events"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    try:
        asking.wait(10)
    except subprocess.TimeoutExpired:
        return False
    return True


def bpftool(kind):
    """It gives up where an object goes away while it asks for it: then it is asked again."""
    env = {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
    for _ in range(10):
        done = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True, env=env, check=False)
        if not done.returncode:
            return json.loads(done.stdout or "[]")
        time.sleep(0.1)
    raise RuntimeError(f"bpftool {kind} show: {done.returncode}: {done.stdout[-500:]}{done.stderr}")


def all_objects():
    """(kind, id) -> name of every BPF object that gpuprobe may have made."""
    programs = {p["id"]: p.get("name", "") for p in bpftool("prog")}
    found = {("prog", i): name for i, name in programs.items() if name in PROGRAMS}
    found |= {("map", m["id"]): m["name"] for m in bpftool("map") if m.get("name") in MAPS}
    found |= {("link", link["id"]): programs[link["prog_id"]] for link in bpftool("link")
              if programs.get(link.get("prog_id")) in PROGRAMS}
    return found


def objects_of(pid):
    """(kind, id) of the BPF objects that a process holds by its descriptors."""
    held = set()
    with contextlib.suppress(OSError):
        for entry in os.scandir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError):
                text = Path(entry.path).read_text()
                held |= {(kind, int(number)) for kind, number in
                         re.findall(r"^(prog|map|link)_id:\s*(\d+)", text, re.MULTILINE)}
    return held


def processes():
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def events():
    """The pids whose gpuprobe has events in tracefs, with the number of their sites."""
    if not tracefs_answers():
        return {}
    try:
        text = (TRACEFS / "uprobe_events").read_text()
    except OSError:
        return {}
    return Counter(int(pid) for pid in re.findall(r"^[pr]\d*:gpuprobe_(\d+)_\d+_\d+/", text, re.MULTILINE))


def present():
    """All of gpuprobe's that is in the kernel, also what a living one holds."""
    return {**all_objects(), **{("event", pid): f"{sites} sites" for pid, sites in events().items()}}


def left_over(found=None):
    """What of `found`, or of all that is present, no living process holds."""
    found = dict(present() if found is None else found)
    living = processes()
    for pid in living:
        found.pop(("event", pid), None)
        for held in objects_of(pid):
            found.pop(held, None)
    return found


def watchers():
    """The processes that hold a program of gpuprobe: whoever watches now."""
    programs = {key for key in all_objects() if key[0] == "prog"}
    return [pid for pid in processes() if not programs.isdisjoint(objects_of(pid))]


def assert_none(before=(), timeout=60):
    """
    Fails if anything of an ended gpuprobe stays for longer than the kernel takes to clear away, but for
    what was there `before`. With 90 links, of a neighbour that was killed, that is half a minute on a busy machine.
    """
    end = time.monotonic() + timeout
    left = {key: name for key, name in present().items() if key not in before}
    # Who holds what takes looking through all processes' descriptors: only where there is something.
    left = left_over(left) if left else left
    while left and time.monotonic() < end:
        time.sleep(0.05)
        now = present()
        left = {key: name for key, name in left.items() if key in now}
    left = left_over(left) if left else left
    assert not left, f"left in the kernel: {left}"


def mount_tracefs():
    """So that a test sees the events that it looks for; a kernel without tracefs has none."""
    if TRACEFS.is_dir() and not (TRACEFS / "uprobe_events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", str(TRACEFS)], check=True)
