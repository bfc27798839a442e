# SPDX-License-Identifier: BSD-2-Clause
"""The overhead governor: a loop of simulated launches of 2.5 us, alone, with the whole monitor, and
held to a budget by --max-overhead; how much longer a launch takes, and how close the reported
number of launches is to the true one."""
import json
import os
import subprocess

from setup import figure, in_turn, ratios, spread, table

TITLE = "The overhead governor"
ORDER = 65
LATENCY = "cuLaunchKernel=2500ns"
BUDGETS = (5, 20)  # percent
WITHIN = 0.25	   # of the budget
COUNTS_WITHIN = 0.05


def launch(setup, words, seconds):
    """A loop of launches for so long, under gpuprobe if there are words: CPU nanoseconds a launch,
    launches reported by launches made, and the share of the time in which they were watched."""
    loop = [str(setup.build / "bench/calls"), "launch", "0", str(seconds)]
    if words is None:
        command = loop
    else:
        command = setup.command("--metrics-addr", "none", "--json", "--display-interval", "0",
                                *words) + ["--", *loop]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, "CUDA_SIM_LATENCY": LATENCY})
    lines = done.stdout.splitlines()
    made, _, cpu = next(map(float, line.split()) for line in lines if not line.startswith("{"))
    if words is None:
        return {"ns": cpu / made * 1e9}
    report = next(json.loads(line) for line in lines if line.startswith("{"))
    share = report["sampling"]["families"]["launch"]["share"] if "sampling" in report else 1
    return {"ns": cpu / made * 1e9, "told": report["totals"]["launches"] / made, "share": share}


def measure(setup):
    rounds, seconds = (1, 4) if setup.quick else (3, 8)
    runs = in_turn(rounds, {
        "alone": lambda: launch(setup, None, seconds / 2),
        "monitor": lambda: launch(setup, [], seconds / 2),
        **{str(budget): lambda budget=budget: launch(setup, ["--max-overhead", budget], seconds)
           for budget in BUDGETS},
    })
    alone = [run["ns"] for run in runs["alone"]]
    return {
        "seconds": seconds,
        "alone": figure(alone),
        "held": {
            name: {
                "ns": figure([run["ns"] for run in of]),
                "slower": figure([ratio - 1 for ratio in ratios([run["ns"] for run in of], alone)]),
                "told": figure([run["told"] for run in of]),
                "share": figure([run["share"] for run in of]),
            } for name, of in runs.items() if name != "alone"
        },
    }


def judge(value, wanted, within):
    return f"{wanted:.0%} ± {100 * within:g}%: " + (
        "met" if abs(value - wanted) <= within else f"missed, {value:.1%}")


def row(name, found):
    slower, told = found["slower"]["median"], found["told"]["median"]
    budget = "" if name == "monitor" else judge(slower, float(name) / 100,
                                                WITHIN * float(name) / 100)
    return ["the monitor" if name == "monitor" else f"`--max-overhead {name}`", spread(found["ns"]),
            spread(found["slower"], "{:.1%}"), budget, spread(found["share"], "{:.0%}"),
            spread(found["told"], "{:.3f}"), judge(told, 1, COUNTS_WITHIN)]


def show(result):
    return (
        f"One thread launches for {result['seconds']} s. A launch of the simulated driver takes "
        f"{spread(result['alone'])} ns of CPU time alone. "
        "The slowdown is that of the thread's CPU time. It includes the "
        "first second, in which all calls are watched and gpuprobe finds out the rate.\n\n"
        + table(["", "ns a launch", "slower", "budget", "watched", "reported / launched", "bar"],
                [row(name, found) for name, found in result["held"].items()]))
