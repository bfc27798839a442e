# SPDX-License-Identifier: BSD-2-Clause
"""
The truth about a run from the simulated CUDA's truth files, in the form that reports are compared
in.

`api` is gpuprobe's --api. The driver sees all calls; the runtime sees the program's calls of the
runtime. With both, a driver call made by the runtime is part of the runtime's call. In auto mode
that holds for allocation and free, and for everything else only the driver counts.
"""
import json
from collections import Counter

from lib import api as table

MEMORY_KINDS = ("device", "managed", "pool", "host", "physical", "array", "imported", "registered")
# Kinds of device memory with addresses.
ADDRESS_KINDS = ("device", "managed", "pool")
# By --api: the callers in the truth file whose calls count.
CALLERS = {
    "auto": ("driver", "driver_from_runtime"),
    "driver": ("driver", "driver_from_runtime"),
    "runtime": ("runtime",),
    "both": ("driver", "runtime"),
}


class Truth:
    """One process's truth file."""

    def __init__(self, data):
        self.data = data
        self.pid = data["pid"]
        self.comm = data["comm"]

    @property
    def idle(self):
        """Whether the process had the libraries but made no call."""
        return not self.data["driver"] and not self.data["runtime"]

    def calls(self, function):
        """All calls of a function, whoever made them."""
        for layer in ("driver", "runtime"):
            if function in self.data[layer]:
                return self.data[layer][function]["calls"]
        return 0

    def ns(self, function):
        """Time inside all calls of a function."""
        return self.data[table.functions()[function].layer][function]["ns"]

    def launches(self, api="auto"):
        """Executed launch calls, by kernel name, including failed ones."""
        sums = {name: sum(callers[c]["launches"] - callers[c]["captured"] for c in CALLERS[api])
                for name, callers in self.data["kernels"].items()}
        return {name: count for name, count in sums.items() if count}

    def captured_launches(self, api="auto"):
        """Captured launch calls, by kernel name."""
        sums = {name: sum(callers[c]["captured"] for c in CALLERS[api])
                for name, callers in self.data["kernels"].items()}
        return {name: count for name, count in sums.items() if count}

    def failed_launches(self, api="auto"):
        return sum(callers[c]["failed"] for callers in self.data["kernels"].values()
                   for c in CALLERS[api])

    def copies(self, api="auto"):
        """(kind, mode) -> (calls, bytes) of executed copies, by their addresses."""
        sums = {}
        for caller in CALLERS[api]:
            for kind, modes in self.data["executed_copies"][caller].items():
                for mode, copies in modes.items():
                    calls, size = sums.get((kind, mode), (0, 0))
                    sums[kind, mode] = (calls + copies["calls"], size + copies["bytes"])
        return {key: value for key, value in sums.items() if value[0]}

    def sides(self):
        """
        The driver's copies by kind -> host side -> (calls, bytes), in the form of exact.sides.
        """
        kinds = {}
        for kind, told in self.data["copy_sides"].items():
            told = {"all": told} if "calls" in told else told
            found = {(side, field): counts[field] for side, counts in told.items()
                     for field in ("calls", "bytes") if counts[field]}
            if found:
                kinds[kind] = found
        return kinds

    def objects(self, *kinds):
        """kind -> created, destroyed, with_context, live; contexts of all sorts as one."""
        sums = {}
        for kind, told in self.data["objects"].items():
            kind = "context" if kind.endswith("context") else kind
            before = sums.get(kind, (0, 0, 0, 0))
            sums[kind] = tuple(b + told[field] for b, field in
                               zip(before, ("created", "destroyed", "with_context", "live")))
        return {kind: counts for kind, counts in sums.items()
                if any(counts) and (not kinds or kind in kinds)}

    def _counts(self, api, operations):
        """(layer, function row, counts) of the calls that count as the user's own."""
        for layer in ("driver", "runtime"):
            for symbol, counts in self.data[layer].items():
                function = table.functions().get(symbol)
                if not function or function.operation not in operations:
                    continue
                outermost = api == "both" or (api == "auto"
                                              and function.operation in ("alloc", "free"))
                if layer == "driver" and (api == "driver" or (api == "auto" and not outermost)):
                    yield function, counts
                elif layer == "driver" and outermost:
                    nested = counts["nested"]
                    errors = Counter(counts["errors"])
                    errors.subtract(nested["errors"])
                    yield function, {"calls": counts["calls"] - nested["calls"],
                                     "failures": counts["failures"] - nested["failures"],
                                     "errors": dict(+errors)}
                elif layer == "runtime" and (api == "runtime" or outermost):
                    yield function, counts

    def errors(self, api="auto", launches=False):
        """(layer, function, code) -> count. Includes launches only if each is checked."""
        operations = {f.operation for f in table.functions().values()} - {"-", "ask"}
        if not launches:
            operations -= {"launch"}
        sums = Counter()
        for function, counts in self._counts(api, operations):
            for code, count in counts["errors"].items():
                sums[function.layer, function.base, int(code)] += count
        return dict(+sums)

    def graph_launches(self, api="auto"):
        """Executed graph launches, including failed ones."""
        calls = sum(counts["calls"] for _, counts in self._counts(api, {"graph_launch"}))
        return calls - (self.data["captured"]["graph_launches"] if calls else 0)

    def graph_kernels(self, api="auto"):
        """Kernels that executed graphs ran."""
        return self.data["graphs"]["kernels"] if self.graph_launches(api) else 0

    def allocation_failures(self, api="auto"):
        return sum(counts["failures"] for _, counts in self._counts(api, {"alloc"}))

    def free_failures(self, api="auto"):
        return sum(counts["failures"] for _, counts in self._counts(api, {"free"}))

    def memory(self):
        """
        kind -> allocations, frees, bytes and number live at the end, as the driver knows them.
        """
        kinds = {}
        for kind in MEMORY_KINDS:
            memory = self.data["memory"][kind]
            if memory["allocations"]:
                kinds[kind] = {"allocations": memory["allocations"], "frees": memory["frees"],
                               "live_bytes": memory["live_bytes"],
                               "live_allocations": memory["live_count"]}
                if kind == "imported":
                    del kinds[kind]["live_bytes"]
        return kinds

    def live(self):
        """address -> (bytes, kind) of device memory with an address that was live at the end."""
        return {int(a["address"], 16): (a["size"], a["kind"]) for a in self.data["live"]
                if a["kind"] in ADDRESS_KINDS}

    def with_context(self):
        """
        kind -> (number, bytes) of memory that ended with its context; the size of imports is
        unknown.
        """
        return {kind: (memory["released_with_context"],
                       0 if kind == "imported" else memory["bytes_released_with_context"])
                for kind, memory in self.data["memory"].items()
                if kind in MEMORY_KINDS and memory["released_with_context"]}

    def ranges(self):
        """Bytes reserved and mapped at the end."""
        return {kind: self.data["virtual"][f"{kind}_bytes"] for kind in ("reserved", "mapped")}

    def pools(self):
        """device -> bytes used and reserved by its pools at the end."""
        sums = {}
        for pool in self.data["pools"]:
            used, reserved = sums.get(pool["device"], (0, 0))
            sums[pool["device"]] = used + pool["used_bytes"], reserved + pool["reserved_bytes"]
        return {device: amounts for device, amounts in sums.items() if any(amounts)}


def read_truths(directory):
    """
    The truth files of a directory, sorted by pid; those of one pid are in the order of their
    programs if their names tell it (%u).
    """
    paths = sorted(directory.glob("*.json"),
                   key=lambda path: [int(n) for n in path.stem.split(".") if n.isdigit()])
    return sorted((Truth(json.loads(path.read_text())) for path in paths),
                  key=lambda truth: truth.pid)
