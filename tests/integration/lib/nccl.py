# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe nccl` beside ranks of the simulated libnccl (sim/workloads/ranks.c), and their truth:
how it is run, and what it must count."""
import collections
import json
import os
import signal
import subprocess
import tempfile
import threading

from lib import paths
from lib.probe import descendants, environment, send, wait_until

COLLECTIVES = {"AllReduce": "all_reduce", "Broadcast": "broadcast", "Reduce": "reduce",
               "AllGather": "all_gather", "ReduceScatter": "reduce_scatter",
               "AlltoAll": "all_to_all", "Gather": "gather", "Scatter": "scatter"}
TYPE_BYTES = {7: 4, 9: 2, 6: 2}


class Watched:
    """A run of gpuprobe nccl --json, or of another command; what it and the ranks print."""

    def __init__(self, *arguments, ranks=(), settings=None, program=None, command="nccl"):
        self.lines, self.known, self.rest = [], [], ""
        # Not on the ranks' standard output: their lines would come between.
        self.file = tempfile.NamedTemporaryFile("r", encoding="utf-8")
        program = ["--", program or paths.SIM / "ranks", *map(str, ranks)] if ranks else []
        self.process = subprocess.Popen(
            [paths.GPUPROBE, command, "--json", "-O", self.file.name, *map(str, arguments),
             *program],
            env=environment(**{"CUDA_SIM_CLOCK": "kernel=1us", **(settings or {})}), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.stderr = ""
        self.readers = [threading.Thread(target=self.read), threading.Thread(target=self.read_err)]
        for reader in self.readers:
            reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def read_err(self):
        for line in self.process.stderr:
            self.stderr += line

    @property
    def reports(self):
        """All so far; the last line may be half written."""
        *lines, self.rest = (self.rest + self.file.read()).split("\n")
        self.known += map(json.loads, lines)
        return self.known

    @property
    def last(self):
        reports = self.reports
        assert reports, self.stderr
        return reports[-1]

    def findings(self, kind):
        return [finding for report in self.reports for finding in report["findings"]
                if finding["id"] == kind]

    def wait_for(self, kind, timeout=60):
        """The first finding of this kind."""
        wait_until(lambda: self.findings(kind) or self.process.poll() is not None,
                   lambda: f"no {kind}: {self.reports[-1:]}", timeout)
        found = self.findings(kind)
        assert found, (self.reports[-1:], self.stderr)
        return found[0]

    def finish(self, timeout=60):
        status = self.process.wait(timeout)
        for reader in self.readers:
            reader.join(timeout)
        return status

    def end(self):
        """Kills the ranks, which may hang, and lets gpuprobe end."""
        for pid in descendants(self.process.pid):
            with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                if comm.read().strip() != "gpuprobe":
                    send(pid, signal.SIGKILL)
        return self.finish()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for pid in [*descendants(self.process.pid), self.process.pid]:
            send(pid, signal.SIGKILL)
        self.finish()


def blamed(finding):
    return [rank["rank"] for rank in finding["ranks"]]


def counted(report):
    """By pid: what each rank of it has called, as (collectives, captured, sends, receives)."""
    found = collections.defaultdict(list)
    for comm in report["communicators"]:
        for rank in comm["ranks"]:
            found[rank["pid"]].append((rank["sequence"], rank["captured"], rank["sends"],
                                       rank["receives"]))
    return {pid: sorted(ranks) for pid, ranks in found.items()}


def true_counts(directory):
    """The same from the truth files in it."""
    found = collections.defaultdict(dict)
    for name in os.listdir(directory):
        inside = None
        with open(directory / name, encoding="utf-8") as file:
            for line in file:
                words = line.split()
                pid, phase, function, comm = int(words[1]), words[3], words[4], words[5]
                captured, result = words[13] == "1", int(words[14])
                if phase == "e" and function.startswith("Comm") and comm != "0" and not result \
                        and ("Init" in function or function == "CommSplit"):
                    found[pid].setdefault(comm, [0, 0, 0, 0])
                if phase == "b" and function == "Bcast":
                    inside = "Bcast"
                if phase == "e" and function in COLLECTIVES and not result and comm != "0":
                    found[pid][comm][1 if captured else 0] += 1
                if phase == "e" and function in ("Send", "Recv") and not result:
                    found[pid][comm][2 if function == "Send" else 3] += 1
        assert inside in (None, "Bcast")
    return {pid: sorted(map(tuple, comms.values())) for pid, comms in found.items()}


def true_hashes(directory):
    """Of communicators made from an id: (hash, rank, size, pid)."""
    found = set()
    for name in os.listdir(directory):
        with open(directory / name, encoding="utf-8") as file:
            for line in file:
                words = line.split()
                if words[3] == "b" and words[4].startswith("CommInitRank"):
                    found.add((f"0x{words[6]}", int(words[7]), int(words[8]), int(words[1])))
    return sorted(found)
