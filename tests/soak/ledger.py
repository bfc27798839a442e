# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe's reports on ended processes against the processes' own, process by process."""
import json
from collections import Counter, defaultdict

from lib import mixtruth
from lib.truth import Truth


class Ledger:
    """Takes in reports; settle() compares when all processes have ended and have been shown."""

    def __init__(self, truths):
        self.directory = truths
        self.shown = defaultdict(dict)  # pid -> when it ended -> the process, as it was last shown
        self.sums = Counter()
        self.wrong = []

    def take(self, report):
        for process in report["processes"]:
            if process["ended"]:
                self.shown[process["pid"]][process["ended_ns"]] = process

    def _read_truths(self):
        """pid -> the truths of its programs, in their order;
        programs without calls are left out."""
        found = defaultdict(list)
        paths = sorted(self.directory.glob("*.json"),
                       key=lambda path: [int(n) for n in path.name.split(".")[:2]])
        for path in paths:
            truth = Truth(json.loads(path.read_text()))
            if not truth.idle:
                found[truth.pid].append(truth)
        return found, paths

    def missing(self):
        """The processes of which programs have written a truth and are not shown as ended yet."""
        truths, _ = self._read_truths()
        return [f"{programs[0].comm} {pid}" for pid, programs in truths.items()
                if len(programs) > len(self.shown.get(pid, ()))]

    def _compare(self, truth, process):
        name = f"{truth.comm} {truth.pid}"
        self.sums["processes"] += 1
        self.sums["launches"] += process["launches"]
        self.sums["true launches"] += sum(mixtruth.true(truth)["launches"].values())
        self.sums["calls"] += sum(counts["calls"] for counts in truth.data["driver"].values())
        told, true = mixtruth.pageable_copies(process, truth)
        self.sums["pageable copies told"] += told
        self.sums["pageable copies"] += true
        if process["since_attach"]:
            self.wrong.append(f"{name}: since attach")
        self.wrong += [f"{name}: {line}" for line in mixtruth.differences(process, truth)]

    def settle(self, killed):
        """Compares all that is there, and begins anew. Processes in `killed` wrote nothing.
        Returns the truths."""
        truths, paths = self._read_truths()
        for pid, programs in truths.items():
            shown = self.shown.pop(pid, {})
            if len(shown) != len(programs):
                self.wrong.append(
                    f"{programs[0].comm} {pid}: {len(shown)} programs shown, {len(programs)} were")
                continue
            for truth, ended in zip(programs, sorted(shown)):
                self._compare(truth, shown[ended])
        for pid, shown in self.shown.items():
            self.sums["killed"] += len(shown)
            if pid not in killed:
                self.wrong.append(
                    f"{[p['comm'] for p in shown.values()]} {pid}: nobody wrote a truth of it")
        self.shown.clear()
        for path in paths:
            path.unlink()
        return [truth for programs in truths.values() for truth in programs]
