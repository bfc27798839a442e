# SPDX-License-Identifier: BSD-2-Clause
"""
Compares everything comparable of a process in a report with its truth file, family by family.

seen() and true() build the same dictionaries from the two: {family: {what: number}}. difference()
lists the differences, so that a failure says which family is wrong and by how much.
"""
from collections import Counter

from lib import api as table
from lib import exact
from lib.truth import ADDRESS_KINDS, CALLERS

# Differences of one family that are listed individually.
LISTED = 12
# Operations whose individual calls are counted by function.
TALLIED = ("alloc", "free", "copy", "set", "wait", "query", "graph_launch")

# Rows for side effects of a call or for copies counted a second time, not for calls of that
# function.
APART = {"replaced", "with_context", "ended", "covered"}
WENT_UNSEEN = 2  # limit for one process and one kind
FEW_COPIES = 100  # limit for one process: copies whose sides may be unknown for a moment
# Operations for which --api auto also probes the runtime.
AUTO = ("alloc", "free", "device")


def _by_function_seen(process, checked):
    """(symbol, field) -> number, over all devices."""
    sums = Counter()
    for row in process["functions"]:
        function = table.functions()[row["function"]]
        if (APART & set(row["flags"])
                or function.operation not in TALLIED + (("launch",) if checked else ())):
            continue
        for field in ("calls", "failures"):
            sums[row["function"], field] += row[field]
        if function.operation in ("copy", "set"):
            sums[row["function"], "bytes"] += row["bytes"]
    return dict(+sums)


def _own(counts, nested):
    """The calls of a driver function that the program itself made."""
    own = {field: counts[field] - nested[field]
           for field in ("calls", "failures", "not_ready", "bytes", "nulls", "abandoned")}
    errors = Counter(counts["errors"])
    errors.subtract(nested["errors"])
    return own | {"errors": dict(+errors)}


def _counted(truth, api):
    """(function, counts) of the calls that gpuprobe counts as the program's own, by layer."""
    for layer in ("driver", "runtime"):
        for symbol, counts in truth.data[layer].items():
            function = table.functions().get(symbol)
            if not function or function.operation in ("-", "ask"):
                continue
            outermost = api == "both" or (api == "auto" and function.operation in AUTO)
            if (api == "both" and function.operation in ("context", "get_kernel")
                    and function.kind != "reset"):
                yield function, counts  # none of the runtime's functions is the same act
                continue
            if layer == "driver" and outermost:
                yield function, _own(counts, counts["nested"])
            elif outermost or layer == ("runtime" if api == "runtime" else "driver"):
                yield function, counts


def _by_function_true(truth, api, checked):
    sums = Counter()
    for function, counts in _counted(truth, api):
        if function.operation not in TALLIED + (("launch",) if checked else ()):
            continue
        sums[function.symbol, "calls"] = counts["calls"] - counts["failures"]
        if function.operation == "free":
            sums[function.symbol, "calls"] -= counts["nulls"]
        sums[function.symbol, "failures"] = counts["failures"]
        if function.operation in ("copy", "set"):
            sums[function.symbol, "bytes"] = counts["bytes"]
    return dict(+sums)


def _launches_seen(process):
    """Executed and captured launches, by kernel."""
    sums = Counter()
    for kernel in process["kernels"]:
        sums[kernel["name"]] += kernel["launches"] + kernel["captured"]
    return dict(sums)


def _launches_true(truth, api):
    """By kernel. A launch counts from its entry, so also one that never returned."""
    sums = {name: sum(callers[c]["launches"] + callers[c]["abandoned"] for c in CALLERS[api])
            for name, callers in truth.data["kernels"].items()}
    return {name: count for name, count in sums.items() if count}


def _errors_true(truth, api, checked):
    """(layer, function, code) -> count."""
    sums = Counter()
    for function, counts in _counted(truth, api):
        if function.operation == "launch" and not checked:
            continue
        for code, count in counts["errors"].items():
            sums[function.layer, function.base, int(code)] += count
    return dict(+sums)


def _errors_seen(process, checked):
    return {key: count for key, count in exact.errors(process).items()
            if checked or table.functions()[key[1]].operation != "launch"}


def _waits_seen(process):
    return {w["in"]: w["calls"] for w in process["waits"]
            if w["calls"] and w["in"] in ("stream", "event", "device")}


def _waits_true(truth, api):
    sums = Counter()
    for function, counts in _counted(truth, api):
        if function.operation == "wait":
            kind = "device" if function.kind == "context" else function.kind
            sums[kind] += counts["calls"] - counts["failures"]
    return dict(+sums)


def _queries_seen(process):
    return {q["of"]: (q["calls"], q["not_ready"]) for q in process["queries"] if q["calls"]}


def _queries_true(truth, api):
    sums = {}
    for function, counts in _counted(truth, api):
        if function.operation == "query":
            calls, not_ready = sums.get(function.kind, (0, 0))
            sums[function.kind] = (calls + counts["calls"] - counts["failures"],
                                   not_ready + counts["not_ready"])
    return {kind: value for kind, value in sums.items() if value[0]}


def _memory_true(truth, api):
    """A zero-byte allocation succeeds and counts, though nothing is live afterwards."""
    numbers = truth.memory()
    if "imported" in numbers:
        numbers["imported"]["live_bytes"] = 0  # no call reveals its size
    for function, counts in _counted(truth, api):
        if function.operation == "alloc" and counts["nulls"]:
            numbers.setdefault(function.kind, Counter())["allocations"] += counts["nulls"]
    return _flat(numbers)


def _captured_seen(process):
    sums = Counter(launches=process["captured"]["launches"],
                   graph_launches=process["captured"]["graph_launches"])
    for row in process["copies"]:
        what = "sets" if row["kind"] == "set" else "copies"
        for field in ("calls", "bytes"):
            sums[f"{what}_{field}"] += row["captured"][field]
    return dict(+sums)


def _captured_true(truth):
    captured = truth.data["captured"]
    return {what: captured[what] for what in captured
            if captured[what] and what not in ("allocations", "frees")}


def _graphs_seen(process):
    return {"launches": process["graph_launches"], "kernels": process["graph_kernels"],
            "of unknown size": process["graph_launches_of_unknown_size"]}


def _graphs_true(truth, api):
    return {"launches": truth.graph_launches(api), "kernels": truth.data["graphs"]["kernels"],
            "of unknown size": 0}


def _flat(numbers):
    """{kind: {field: number}} -> {(kind, field): number}, without zeros."""
    return {(kind, field): n for kind, fields in numbers.items() for field, n in fields.items()
            if n}


def _devices_seen(process):
    sums = Counter()
    for device in process["devices"]:
        place = "none" if device["device"] is None else str(device["device"])
        sums[place, "launches"] = device["launches"]
        sums[place, "copies"] = device["copies"]
        sums[place, "copy_bytes"] = device["copy_bytes"]
    return dict(+sums)


def _devices_true(truth):
    sums = Counter()
    for place, device in truth.data["devices"].items():
        sums[place, "launches"] = device["launches"] + device["abandoned"] - device["captured"]
        sums[place, "copies"] = sum(
            device[f"{what}_calls"] - device[f"{what}_failures"] - device[f"{what}_captured"]
            for what in ("copies", "sets"))
        sums[place, "copy_bytes"] = device["copies_bytes"] + device["sets_bytes"]
    return dict(+sums)


def _copies_seen(process):
    """Executed copies by mode, copies and sets separately."""
    sums = Counter()
    for row in process["copies"]:
        what = "set" if row["kind"] == "set" else "copy"
        sums[what, row["mode"], "calls"] += row["calls"]
        sums[what, row["mode"], "bytes"] += row["bytes"]
    return dict(+sums)


def _copies_true(truth, api):
    sums = Counter()
    for (kind, mode), (calls, size) in truth.copies(api).items():
        what = "set" if kind == "set" else "copy"
        sums[what, mode, "calls"] += calls
        sums[what, mode, "bytes"] += size
    return dict(+sums)


def _sides_seen(process):
    """
    Copies by the memory on either side; between devices counts as device memory. Excludes batches.
    """
    sums = Counter()
    for row in process["functions"]:
        if table.functions()[row["function"]].operation != "copy" or "Batch" in row["function"]:
            continue
        if APART & set(row["flags"]) or "captured" in row["flags"] or not row["calls"]:
            continue
        direction = "D2D" if row["kind"] == "P2P" else row["kind"]
        sides = [side for side in ("pinned", "pageable")
                 if side in row["flags"] and direction in ("H2D", "D2H")]
        for field in ("calls", "bytes"):
            sums[direction, field] += row[field]
            for side in sides:
                sums[direction, side, field] += row[field]
    return dict(+sums)


def _sides_true(truth):
    sums = Counter()
    for books, sign in (("copy_sides", 1), ("batch_sides", -1)):
        for direction, sides in truth.data[books].items():
            parts = sides if direction in ("H2D", "D2H") else {None: sides}
            for side, counts in parts.items():
                for field in ("calls", "bytes"):
                    sums[direction, field] += sign * counts[field]
                    if side in ("pinned", "pageable"):
                        sums[direction, side, field] += sign * counts[field]
    return dict(+sums)


OBJECT_FIELDS = ("created", "destroyed", "with_context", "live")


def _objects_seen(process):
    return _flat({kind: {field: numbers[field] for field in OBJECT_FIELDS}
                  for kind, numbers in process["objects"].items()})


def _objects_true(truth):
    """Contexts of all kinds, including a device's primary one."""
    kinds = {}
    for kind, numbers in truth.data["objects"].items():
        kind = "context" if kind in ("primary_context", "green_context") else kind
        kinds.setdefault(kind, Counter()).update({field: numbers[field] for field in OBJECT_FIELDS})
    return _flat(kinds)


def seen(process, checked=False):
    """The numbers that gpuprobe shows for the process."""
    return {
        "memory": _flat(exact.memory(process)),
        "with_context": {kind: what for kind, what in exact.with_context(process).items()
                         if kind != "imported"},
        "ranges": exact.ranges(process),
        "pools": {device: used for device, (used, _) in exact.pools(process).items() if used},
        "live": {address: what for address, what in exact.live(process).items()
                 if what[1] in ADDRESS_KINDS},
        "launches": _launches_seen(process),
        "captured": _captured_seen(process),
        "graphs": _graphs_seen(process),
        "copies": _copies_seen(process),
        "sides": _sides_seen(process),
        "objects": _objects_seen(process),
        "waits": _waits_seen(process),
        "queries": _queries_seen(process),
        "errors": _errors_seen(process, checked),
        "functions": _by_function_seen(process, checked),
        "devices": _devices_seen(process),
    }


def true(truth, api="auto", checked=False):
    """The true numbers, in the same form."""
    return {
        "memory": _memory_true(truth, api),
        "with_context": {kind: what for kind, what in truth.with_context().items()
                         if kind != "imported"},
        "ranges": truth.ranges(),
        "pools": {device: used for device, (used, _) in truth.pools().items() if used},
        "live": truth.live(),
        "launches": _launches_true(truth, api),
        "captured": _captured_true(truth),
        "graphs": _graphs_true(truth, api),
        "copies": _copies_true(truth, api),
        "sides": _sides_true(truth),
        "objects": _objects_true(truth),
        "waits": _waits_true(truth, api),
        "queries": _queries_true(truth, api),
        "errors": _errors_true(truth, api, checked),
        "functions": _by_function_true(truth, api, checked),
        "devices": _devices_true(truth),
    }


def pageable_copies(process, truth):
    """Calls with a side in pageable memory: (shown as such, true)."""
    return tuple(sum(sides.get((direction, "pageable", "calls"), 0) for direction in ("H2D", "D2H"))
                 for sides in (_sides_seen(process), _sides_true(truth)))


def _went_unseen(memory, shown, happened):
    """
    Memory allocated in a context while another thread destroyed the context, and whose handle was
    reused, may be counted as replaced instead (docs/limits.md).
    """
    missing = (happened or (0, 0))[0] - (shown or (0, 0))[0]
    return 0 < missing <= min(WENT_UNSEEN, memory.get("replaced", 0))


def _is_bearable(family, what, shown, happened, truth):
    """
    Known inaccuracies. gpuprobe counts a failed or unfinished launch into a capture as captured,
    because it looks at the entry; the truth does not. The memory at an address outside all
    allocations is unknown while the process's mappings are being changed, and with it a copy's
    side. If the changing thread is preempted, that lasts for a time slice or more, in which other
    threads may make all of their copies.
    """
    shown, happened = shown or 0, happened or 0
    failed = sum(device["failed"] + device["abandoned"]
                 for device in truth.data["devices"].values())
    if family == "captured" and what == "launches":
        return 0 <= shown - happened <= failed
    if family == "graphs" and what in ("kernels", "of unknown size") and (
            "cuGraphNodeSetEnabled" in truth.data["driver"]
            or any(f["abandoned"] for f in truth.data["driver"].values())):
        return (shown <= happened
                if what == "kernels" else shown <= 10 + truth.data["graphs"]["launches"] // 3)
    if family == "devices" and what[1] == "launches":
        device = truth.data["devices"].get(what[0])
        return bool(device) and 0 <= happened - shown <= device["failed"] + device["abandoned"]
    if family == "sides" and "pinned" not in what:
        most = FEW_COPIES + sum(side["calls"]
                                for side in truth.data["copy_sides"]["H2D"].values()) // 10
        if what[-1] == "bytes":
            most *= 1 << 14
        return 0 <= (shown - happened if what[0] == "unknown" else happened - shown) <= most
    return False


def differences(process, truth, api="auto", checked=False):
    """Lines `family: what: seen N, true M`, a few for each family; none if all numbers match."""
    here, there = seen(process, checked), true(truth, api, checked)
    if api == "both":  # the truth only has those of the driver's calls
        del there["devices"], there["sides"], there["objects"]
    lines = []
    for family in there:
        keys = sorted(here[family].keys() | there[family].keys(), key=str)
        wrong = [f"{family}: {key}: seen {here[family].get(key)}, true {there[family].get(key)}"
                 for key in keys if here[family].get(key) != there[family].get(key)
                 and not (_went_unseen(process["memory"].get(key, {}), here[family].get(key),
                                       there[family].get(key)) if family == "with_context"
                          else _is_bearable(family, key, here[family].get(key),
                                            there[family].get(key), truth))]
        lines += wrong[:LISTED] + ([f"{family}: {len(wrong) - LISTED} more"]
                                   if len(wrong) > LISTED else [])
    return lines
