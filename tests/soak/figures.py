# SPDX-License-Identifier: BSD-2-Clause
"""What a running gpuprobe holds, and whether that is flat."""
import json
import os
import re
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
# BPF map types whose entries stay until they are deleted: plain and per CPU.
# Others forget the oldest by themselves.
ENTRIES = {1, 5}
# Some maps keep entries of ended processes, up to as many as there are processes whose
# stacks are known.
KEPT_OF_PROCESSES = {"code_maps": 1024, "python_targets": 1024}
WARM_UP = 0.2
SETTLING = 30  # seconds, that the ends of processes may take to be cleared away
# Memory fills up until so many processes have ended: caches are bounded,
# and 1,024 processes of stacks are known.
CACHES_FULL = 2000
FEWEST_BETWEEN = 1000 # processes, to judge memory by
REST_SECONDS = 125    # ended processes stay on the metrics page for two minutes


@dataclass
class Sample:
    """At a moment at which no watched process is there."""
    seconds: float     # since the beginning
    processes: int     # that have ended until then
    descriptors: int   # but for those of files whose symbols are known
    threads: int
    resident: int      # bytes that are not of files
    heap: int          # bytes of those that are in use
    map_bytes: int     # of the kernel, for BPF maps
    entries: dict      # by map

    def __str__(self):
        return (f"{self.seconds:.0f} s, {self.processes} processes: {self.resident >> 10} KiB, "
                f"{self.heap >> 10} of them in use, {self.descriptors} descriptors, "
                f"{self.threads} threads, {sum(self.entries.values())} entries of maps, "
                f"which take {self.map_bytes >> 10} KiB")


def _maps(pid):
    """map id -> its type and bytes, of the maps that a process holds."""
    found = {}
    for entry in Path(f"/proc/{pid}/fdinfo").iterdir():
        try:
            numbers = dict(re.findall(r"^(map_id|map_type|memlock):\s*(\d+)", entry.read_text(),
                                      re.MULTILINE))
        except FileNotFoundError:
            continue
        if "map_id" in numbers:
            found[int(numbers["map_id"])] = int(numbers["map_type"]), int(numbers["memlock"])
    return found


def _bpftool(*words):
    done = subprocess.run(["bpftool", "-j", *words], env={**os.environ, "PATH": PATH},
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout or "[]")


def _descriptors(pid):
    """Open descriptors, except the one of each file on disk:
    symbols of so many files are kept at hand."""
    links = []
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            links.append(os.readlink(entry.path))
        except FileNotFoundError:
            pass
    files = {link for link in links
             if link.startswith("/") and not link.startswith(("/proc/", "/sys/", "/dev/"))}
    return len(links) - len(files)


def _fewest_descriptors(pid):
    """Of a few looks: at any moment gpuprobe may have a file open that it is about to close."""
    counts = []
    for _ in range(5):
        counts.append(_descriptors(pid))
        time.sleep(0.02)
    return min(counts)


def _status(pid, name):
    return int(re.search(rf"^{name}:\s*(\d+)", Path(f"/proc/{pid}/status").read_text(),
                         re.MULTILINE)[1])


class Figures:
    """The samples of one gpuprobe; the file `heap` tells what of its heap is in use (heap.c)."""

    def __init__(self, name, pid, heap):
        self.name = name
        self.pid = pid
        self.heap = heap
        self.samples = []
        self.rests = []   # samples at moments at which nobody has ended lately
        self.numbers = {}

    def _name(self, number):
        if number not in self.numbers:
            self.numbers[number] = _bpftool("map", "show", "id", str(number))["name"]
        return self.numbers[number]

    def _entries(self, maps):
        return {self._name(number): len(_bpftool("map", "dump", "id", str(number)))
                for number, (kind, _) in maps.items() if kind in ENTRIES}

    def _owned(self, entries):
        """Entries of maps that are to have none of ended processes."""
        return sum(count for name, count in entries.items() if name not in KEPT_OF_PROCESSES)

    def _settled(self, maps):
        """The number of entries, once it is as low as ever,
        or after the time that this may take."""
        entries = self._entries(maps)
        fewest = min((self._owned(sample.entries) for sample in self.samples),
                     default=self._owned(entries))
        end = time.monotonic() + SETTLING
        while self._owned(entries) > fewest and time.monotonic() < end:
            time.sleep(1)
            entries = self._entries(maps)
        return entries

    def take(self, seconds, processes, rest=False):
        """Takes a sample, one of a rest if it is one."""
        maps = _maps(self.pid)
        entries = self._settled(maps)
        heap = int.from_bytes(self.heap.read_bytes(), "little")
        sample = Sample(seconds, processes, _fewest_descriptors(self.pid),
                        _status(self.pid, "Threads"), _status(self.pid, "RssAnon") * 1024, heap,
                        sum(size for _, size in maps.values()), entries)
        (self.rests if rest else self.samples).append(sample)

    def thirds(self, processes=0):
        """The first and the last third of the samples after the warm-up,
        and after so many processes."""
        rest = [sample for sample in self.samples[int(len(self.samples) * WARM_UP):]
                if sample.processes >= processes]
        count = max(1, len(rest) // 3)
        return rest[:count], rest[-count:]

    def grown(self):
        """Lines about descriptors, threads and entries that are more in the last third than they
        ever were in the first."""
        first, last = self.thirds()
        lines = []

        def compare(what, before, after):
            if max(after) > max(before):
                lines.append(
                    f"{what}: at most {max(before)} in the first third, {max(after)} in the last")

        compare("descriptors", [s.descriptors for s in first], [s.descriptors for s in last])
        compare("threads", [s.threads for s in first], [s.threads for s in last])
        for name in last[-1].entries:
            if name in KEPT_OF_PROCESSES:
                most = max(s.entries[name] for s in self.samples)
                if most > KEPT_OF_PROCESSES[name]:
                    lines.append(f"map {name}: {most} entries, {KEPT_OF_PROCESSES[name]} may stay")
            else:
                compare(f"entries of map {name}", [s.entries[name] for s in first],
                        [s.entries[name] for s in last])
        return lines

    def judges_memory(self):
        """Whether there were two rests, and enough processes between them."""
        return len(self.rests) > 1 and self.kept()[1] >= FEWEST_BETWEEN

    def resident(self):
        """The median of resident bytes in the first third with full caches and in the last."""
        return [statistics.median(sample.resident for sample in third)
                for third in self.thirds(CACHES_FULL)]

    def kept(self):
        """Bytes of the heap in use more at the last rest than at the first,
        and processes between them."""
        first, last = self.rests[0], self.rests[-1]
        return last.heap - first.heap, last.processes - first.processes
