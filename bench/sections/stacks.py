# SPDX-License-Identifier: BSD-2-Clause
"""The cost of stacks in the monitor: the time that each unwinding mode adds to calls,
and the memory that stacks take for 100,000 live allocations."""
import subprocess
import time

from setup import differences, figure, map_bytes, ratios, resident_bytes, spread, table

TITLE = "Stacks"
ORDER = 60
MODES = ("off", "fp", "auto", "dwarf")
# Of bench/calls.c.
KINDS = {
    "allocation": "an allocation and its free",
    "deep": "the same below 30 frames",
    "wait": "a wait, however short",
    "launch": "a launch",
}
LIVE = 100_000
MILLISECONDS = 200
BAR_BYTES = 64  # of kernel memory for a live allocation beyond its record


def cost(setup, rounds, modes):
    """{kind: {mode: [nanoseconds]}} of a call under the monitor, and alone."""
    found = {kind: {mode: [] for mode in ("alone", *modes)} for kind in KINDS}
    for _ in range(rounds):
        for kind in KINDS:
            found[kind]["alone"].append(setup.calls(kind, MILLISECONDS))
        for mode in modes:
            with setup.gpuprobe("--stack", mode, *(["--min-wait", "1ns"] if mode != "off" else [])):
                for kind in KINDS:
                    found[kind][mode].append(setup.calls(kind, MILLISECONDS))
    return found


def memory(setup, mode):
    """Kernel and resident memory that LIVE allocations of one site add, in bytes."""
    with setup.gpuprobe("--stack", mode) as process:
        maps, resident = map_bytes(process.pid), resident_bytes(process.pid)
        with subprocess.Popen([setup.sim / "memory", "--threads", "1", "--pairs", "1",
                               "--keep", str(LIVE), "--api", "driver", "--hold", "4"],
                              stdout=subprocess.DEVNULL) as workload:
            time.sleep(2)
            added = {"maps": map_bytes(process.pid) - maps,
                     "resident": resident_bytes(process.pid) - resident}
            workload.kill()
        return added


def measure(setup):
    rounds = 1 if setup.quick else 3
    modes = MODES[:2] if setup.quick else MODES
    found = cost(setup, rounds, modes)
    return {
        "cost": {kind: {**{mode: figure(values) for mode, values in of.items()},
                        "fp - off": figure(differences(of["fp"], of["off"])),
                        "fp / off": figure(ratios(of["fp"], of["off"]))}
                 for kind, of in found.items()},
        "memory": {mode: memory(setup, mode) for mode in modes},
    }


def memory_row(mode, added, base):
    return [mode, f"{added['maps'] / 1e6:.1f} MB", f"{added['maps'] / LIVE:.0f} B",
            f"{(added['maps'] - base['maps']) / LIVE:.1f} B", f"{added['resident'] / 1e6:.1f} MB"]


def show(result):
    modes = list(result["memory"])
    return """The monitor with `--stack MODE`: nanoseconds of a call. Every allocation has its stack
taken; a launch only the first time at a call site, then one in 64.

""" + table(["what", "alone", *modes, "fp - off", "fp / off"], [
        [KINDS[kind], *(spread(of[mode]) for mode in ("alone", *modes, "fp - off")),
         spread(of["fp / off"], "{:.2f}")]
        for kind, of in result["cost"].items()]) + f"""
Memory that {LIVE:,} live allocations of one call site add to the maps and to gpuprobe. The bar is
at most {BAR_BYTES} bytes of kernel memory each beyond the record. The record has the stack's id (8
bytes) in every mode. A stack is kept once, however many allocations it has.

""" + table(["`--stack`", "kernel memory", "for each allocation", "more than off",
             "gpuprobe's own memory"],
            [memory_row(mode, added, result["memory"]["off"])
             for mode, added in result["memory"].items()])
