# SPDX-License-Identifier: BSD-2-Clause
"""Compares a process of a JSON report with its truth, number by number."""

import re
from collections import Counter

MEMORY_FIELDS = ("allocations", "frees", "live_bytes", "live_allocations")


def launches(process):
    """Launches by full kernel name."""
    counts = {}
    for kernel in process["kernels"]:
        assert kernel["name"] not in counts, f"{kernel['name']} is listed twice"
        counts[kernel["name"]] = kernel["launches"]
    assert process["launches"] == sum(counts.values())
    return {name: count for name, count in counts.items() if count}


def captured_launches(process):
    """Launches captured into graphs, by full kernel name."""
    counts = {k["name"]: k["captured"] for k in process["kernels"] if k["captured"]}
    assert process["captured"]["launches"] == sum(counts.values())
    return counts


def copies(process):
    """(kind, mode) -> (calls, bytes)."""
    return {(c["kind"], c["mode"]): (c["calls"], c["bytes"]) for c in process["copies"]
            if c["calls"]}


def as_executed(seen, true):
    """
    The copies seen, in the terms of the truth about executed copies: there only the functions for
    peers count as P2P, and a copy of unified addresses between devices is D2D.
    """
    told = dict(seen)
    for mode in ("sync", "async"):
        calls, size = told.pop(("P2P", mode), (0, 0))
        named = true.get(("P2P", mode), (0, 0))
        if calls < named[0] or size < named[1]:
            named = calls, size
        inside = told.get(("D2D", mode), (0, 0))
        told["P2P", mode] = named
        told["D2D", mode] = inside[0] + calls - named[0], inside[1] + size - named[1]
    return {key: value for key, value in told.items() if value[0]}


def sides(process):
    """
    Copies by kind -> host side -> (calls, bytes), in the form of the truth's `copy_sides`. Excludes
    batches.
    """
    kinds = {}
    for c in process["copies"]:
        if c["kind"] == "set":
            continue
        found = kinds.setdefault("D2D" if c["kind"] == "P2P" else c["kind"], Counter())
        rest = c["calls"], c["bytes"]
        for side in ("pinned", "pageable") if c["kind"] in ("H2D", "D2H") else ():
            found[side, "calls"] += c[side]["calls"]
            found[side, "bytes"] += c[side]["bytes"]
            rest = rest[0] - c[side]["calls"], rest[1] - c[side]["bytes"]
        found["managed" if c["kind"] in ("H2D", "D2H") else "all", "calls"] += rest[0]
        found["managed" if c["kind"] in ("H2D", "D2H") else "all", "bytes"] += rest[1]
    return {kind: dict(+found) for kind, found in kinds.items() if +found}


def objects(process):
    """kind -> created, destroyed, with_context, live."""
    return {kind: tuple(o[field] for field in ("created", "destroyed", "with_context", "live"))
            for kind, o in process["objects"].items()}


def in_flight(process):
    """kind -> (calls, bytes) of asynchronous copies that no wait has covered."""
    return {c["kind"]: (c["in_flight"]["calls"], c["in_flight"]["bytes"])
            for c in process["copies"] if c["mode"] == "async" and c["in_flight"]["calls"]}


def errors(process):
    """(layer, function, code) -> count."""
    counts = {}
    for error in process["errors"]:
        key = error["layer"], error["function"], error["code"]
        counts[key] = counts.get(key, 0) + error["count"]
    return counts


def memory(process):
    """kind -> allocations, frees, live bytes and number."""
    kinds = {kind: {field: totals[field] for field in MEMORY_FIELDS
                    # Few calls reveal the size of imported memory.
                    if (kind, field) != ("imported", "live_bytes")}
             for kind, totals in process["memory"].items()
             if isinstance(totals, dict) and kind not in ("reserved", "mapped")}
    return {kind: totals for kind, totals in kinds.items() if any(totals.values())}


def with_context(process):
    """kind -> (number, bytes) of memory that ended with its context."""
    return {kind: (totals["with_context"], totals["with_context_bytes"])
            for kind, totals in process["memory"].items()
            if isinstance(totals, dict) and totals["with_context"]}


def ranges(process):
    """Bytes of address ranges reserved and mapped."""
    return {kind: process["memory"][kind]["live_bytes"] for kind in ("reserved", "mapped")}


def pools(process):
    """device -> bytes used and reserved by its pools."""
    sums = {}
    for pool in process["memory"]["pools"]:
        used, reserved = sums.get(pool["device"], (0, 0))
        sums[pool["device"]] = used + pool["used_bytes"], reserved + pool["reserved_bytes"]
    return {device: amounts for device, amounts in sums.items() if any(amounts)}


def live(process):
    """address -> (bytes, kind), of memory that has an address. Complete only with --top 0."""
    listed = [a for a in process["memory"]["live"] if a["kind"] in ("device", "managed", "pool")]
    addresses = {int(a["address"], 16): (a["bytes"], a["kind"]) for a in listed}
    assert len(addresses) == len(listed), "an address is listed twice"
    return addresses


def memory_sum(process, field):
    return sum(totals[field] for totals in process["memory"].values() if isinstance(totals, dict))


def lost(report):
    """Losses by reason, with their counts."""
    return {reason: count for reason, count in report["lost"].items() if count}


def check_process(process, truth, api="auto", checked=False):
    """Checks everything in the truth file against a process of a final report with all sections."""
    seen = {
        "launches": launches(process), "captured_launches": captured_launches(process),
        "graph_launches": process["graph_launches"],
        # Programs that were watched from the start should have no graphs of unknown size.
        "graph_kernels": process["graph_kernels"],
        "unsized": process["graph_launches_of_unknown_size"],
        "copies": as_executed(copies(process), truth.copies(api)), "memory": memory(process),
        "ranges": ranges(process), "with_context": with_context(process),
        "allocation_failures": memory_sum(process, "allocation_failures"),
        "free_failures": memory_sum(process, "free_failures"),
        "errors": {key: count for key, count in errors(process).items()
                   if checked or "Launch" not in key[1]},
    }
    true = {
        "launches": truth.launches(api), "captured_launches": truth.captured_launches(api),
        "graph_launches": truth.graph_launches(api),
        "graph_kernels": truth.graph_kernels(api), "unsized": 0,
        "copies": truth.copies(api), "memory": truth.memory(), "ranges": truth.ranges(),
        "with_context": truth.with_context(), "allocation_failures": truth.allocation_failures(api),
        "free_failures": truth.free_failures(api), "errors": truth.errors(api, launches=checked),
    }
    assert seen == true
    assert not process["since_attach"]


def lost_with_strangers(result, *pids):
    """
    lost() for a gpuprobe -v that watched the whole machine: other programs may have files that get
    no probes, which it reports with their process. None of our processes has such a file.
    """
    told = [line for line in result.stderr.splitlines() if "functions probed" not in line
            and any(re.search(rf"\bprocess {pid}\b", line) for pid in pids)]
    assert not told
    return {reason: count for reason, count in lost(result.final).items()
            if reason != "library_skipped"}


def check(result, api="auto", checked=False, strangers=False):
    """
    Checks every process, as last shown, against its truth file, and that nothing was lost. With
    `strangers`, gpuprobe -v watched the whole machine.
    """
    pids = [truth.pid for truth in result.truths]
    assert (lost_with_strangers(result, *pids) if strangers else lost(result.final)) == {}
    assert result.truths, f"no truth file was written; stderr: {result.stderr}"
    for truth in result.truths:
        if truth.idle:
            assert truth.pid not in [p["pid"] for p in result.final["processes"]]
            continue
        process = result.last_seen(truth.pid)
        assert process["ended"]
        check_process(process, truth, api, checked)
