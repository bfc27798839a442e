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


def in_flight(process):
    return {c["kind"]: [c["in_flight"]["calls"], c["in_flight"]["bytes"]] for c in process["copies"]
            if c["mode"] == "async" and c["in_flight"]["calls"]}


def live(process):
    return {a["address"]: [a["bytes"], a["kind"]] for a in process["memory"]["live"]}


def launches(process):
    return {k["name"]: k["launches"] for k in process["kernels"]}


def memory(process):
    """What lives by kind: [allocations, bytes]."""
    return {kind: [totals["live_allocations"], totals["live_bytes"]] for kind, totals in process["memory"].items()
            if isinstance(totals, dict) and totals["live_allocations"]}


def freed(process):
    """Frees by kind: [known, of unknown addresses]."""
    return {kind: [totals["frees"] - totals["unknown_frees"], totals["unknown_frees"]]
            for kind, totals in process["memory"].items() if isinstance(totals, dict) and totals["frees"]}


VIEWS = {"in_flight": in_flight, "live": live, "launches": launches, "memory": memory, "freed": freed}


def differences(row, expected, process):
    """[(what, passed, decoded)] where the report says something else than what was passed."""
    found = []

    def compare(what, passed, decoded):
        if passed != decoded:
            found.append((what, passed, decoded))

    compare("counted", expected_tallies(expected["tallies"]), tallies(process, row.symbol))
    for part, passed in expected.items():
        if part in VIEWS:
            compare(part, passed, VIEWS[part](process))
    for symbol, listed in expected.get("others", {}).items():
        compare(f"counted of {symbol}", expected_tallies(listed), tallies(process, symbol))
    compare("errors", [], [(e["function"], e["error"]) for e in process["errors"]])
    return found
