# SPDX-License-Identifier: BSD-2-Clause
"""What a launch costs a program that has work of its own: between two launches it works in memory,
so that the caches have no room for what probes need. The cost with warm caches stands beside it."""
from setup import figure, ratios, spread, table

TITLE = "A launch in a program that does other work"
ORDER = 15
WORK = (0, 512, 4096)  # KiB between two launches
TOOLS = {
    "alone": "no probe",
    "entry": "an empty probe at the entry",
    "session": "an empty session probe, entry and return",
    "monitor": "`gpuprobe`",
    "stat": "`gpuprobe stat`",
    "diagnose": "`gpuprobe diagnose`",
}
BETWEEN = (("monitor", "entry"), ("stat", "session"), ("diagnose", "session"))


def tool(setup, name):
    if name in ("entry", "session"):
        return setup.empty("entry" if name == "entry" else "both", ["cuLaunchKernel"])
    if name == "alone":
        return setup.empty("entry", [])
    return setup.gpuprobe(*([] if name == "monitor" else [name]))


def measure(setup):
    found = {str(work): {name: [] for name in TOOLS} for work in WORK}
    for _ in range(setup.rounds):
        for name in TOOLS:
            with tool(setup, name):
                for work in WORK:
                    _, middle, _, _ = setup.numbers("-w", work, "launch", 400)
                    found[str(work)][name].append(middle)
    return {work: {"ns": {name: figure([value - alone for value, alone in zip(values, of["alone"])])
                          for name, values in of.items() if name != "alone"},
                   "ratios": {f"{one} {other}": figure(ratios(
                       [a - b for a, b in zip(of[one], of["alone"])],
                       [a - b for a, b in zip(of[other], of["alone"])])) for one, other in BETWEEN}}
            for work, of in found.items()}


def show(result):
    rows = [[f"{TOOLS[name]}", *[spread(result[str(work)]["ns"][name]) for work in WORK]]
            for name in TOOLS if name != "alone"]
    rows += [[f"{TOOLS[one]}, of {TOOLS[other]}",
              *[spread(result[str(work)]["ratios"][f"{one} {other}"], "{:.2f}") for work in WORK]]
             for one, other in BETWEEN]
    return f"""Nanoseconds that a launch takes more than unprobed, and the ratio of the time that
gpuprobe adds to the time that an empty probe adds. A program that uses 4 MiB of memory between
launches resembles PyTorch programs: there a launch pays 4 to 5 us with `stat` and `diagnose` on the
machine with an H100. Most of that is the kernel's own work for a trap at the entry and a system
call at the return.

{table(["", *(f"{work} KiB between" if work else "nothing between" for work in WORK)], rows)}
"""
