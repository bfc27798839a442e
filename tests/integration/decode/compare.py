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
    return {a["address"]: [a["bytes"], a["kind"]] for a in process["memory"]["live"] if a["kind"] in kinds}


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
    """By kind: [made, ended, live]; what else a case needs to make is its own affair."""
    return {kind: [o["created"], o["destroyed"], o["live"]] for kind, o in process["objects"].items()
            if kind in expected}


VIEWS = {"objects": objects, "in_flight": in_flight, "live": live, "launches": launches, "memory": memory,
         "freed": freed}


def differences(row, expected, process):
    """[(what, passed, decoded)] where the report says something else than what was passed."""
    found = []

    def compare(what, passed, decoded):
        if passed != decoded:
            found.append((what, passed, decoded))

    compare("counted", expected_tallies(expected["tallies"]), tallies(process, row.symbol))
    for symbol, listed in expected.get("others", {}).items():
        compare(f"counted of {symbol}", expected_tallies(listed), tallies(process, symbol))
    for part, passed in expected.items():
        if part in VIEWS:
            compare(part, passed, VIEWS[part](process, passed))
    compare("errors", [], [(e["function"], e["error"]) for e in process["errors"]])
    return found
