# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe's report says of a process, in the form in which cases say what they expect."""


def tallies(process, symbol):
    """What was counted of a function: (kind, flags, device) -> [calls, bytes]."""
    found = {}
    for f in process["functions"]:
        if f["function"] == symbol and f["calls"]:
            key = f["kind"], tuple(sorted(f["flags"])), f["device"]
            assert key not in found, f"{key} is listed twice"
            found[key] = [f["calls"], f["bytes"]]
    return found


def expected_tallies(listed):
    return {(t["kind"], tuple(t["flags"]), t["device"]): [t["calls"], t["bytes"]] for t in listed}


def of_kinds(found, kinds):
    """Only what the case is about: what is set up for it is of other kinds."""
    return {kind: found.get(kind, [0, 0]) for kind in kinds}


def in_flight(process, _):
    return {c["kind"]: [c["in_flight"]["calls"], c["in_flight"]["bytes"]] for c in process["copies"]
            if c["mode"] == "async" and c["in_flight"]["calls"]}


def live(process, expected):
    kinds = {kind for _, kind in expected.values()}
    return {a["address"]: [a["bytes"], a["kind"]] for a in process["memory"]["live"]
            if a["kind"] in kinds}


def totals_of(process):
    return {kind: totals for kind, totals in process["memory"].items()
            if isinstance(totals, dict) and "live_allocations" in totals}


def memory(process, expected):
    """What lives by kind: [allocations, bytes]."""
    return of_kinds({kind: [totals["live_allocations"], totals["live_bytes"]]
                     for kind, totals in totals_of(process).items()}, expected)


def freed(process, expected):
    """Frees by kind: [known, of unknown addresses]."""
    return of_kinds({kind: [totals["frees"] - totals["unknown_frees"], totals["unknown_frees"]]
                     for kind, totals in totals_of(process).items()}, expected)


def launches(process, expected):
    return {k["name"]: k["launches"] for k in process["kernels"] if k["name"] in expected}


def objects(process, expected):
    """By kind: [created, destroyed by a known handle, living]."""
    found = process["objects"]
    return {kind: [found[kind][part] for part in ("created", "destroyed", "live")]
            if kind in found else None for kind in expected}


def pools(process, expected):
    """By handle: [used, reserved] bytes."""
    return {pool["handle"]: [pool["used_bytes"], pool["reserved_bytes"]]
            for pool in process["memory"]["pools"] if pool["handle"] in expected}


def captured(process, expected):
    return {k["name"]: k["captured"] for k in process["kernels"] if k["name"] in expected}


def shapes(process, expected):
    """Of kernels that were launched once: grid, block, shared memory and stream."""
    return {k["name"]: {**k["shape"]["latest"], "samples": k["shape"]["samples"]}
            for k in process["kernels"] if k["name"] in expected}


def graphs(process, _):
    return {"launches": process["graph_launches"], "kernels": process["graph_kernels"],
            "of_unknown_size": process["graph_launches_of_unknown_size"]}


VIEWS = {"captured": captured, "shapes": shapes, "graphs": graphs, "objects": objects,
         "in_flight": in_flight, "live": live, "launches": launches, "memory": memory,
         "freed": freed, "pools": pools}


def differences(row, expected, process):
    """[(what, passed, decoded)] where the report says something else than what was passed."""
    found = []

    def compare(what, passed, decoded):
        if passed != decoded:
            found.append((what, passed, decoded))

    compare("counted", expected_tallies(expected["tallies"]), tallies(process, row.symbol))
    for symbol, listed in expected.get("others", {}).items():
        compare(f"counted of {symbol}", expected_tallies(listed), tallies(process, symbol))
    for part in expected.keys() - {"tallies", "others"}:
        compare(part, expected[part], VIEWS[part](process, expected[part]))
    compare("errors", [], [(e["function"], e["error"]) for e in process["errors"]])
    return found
