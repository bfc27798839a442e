#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a tensor costs while gpuprobe memleak takes its Python stack, beside PyTorch's own recorder.

    tests/gpu/tensor_cost.py --build build [--output tensor-cost.json]

One process (programs/tensor_cost.py) works 30 Python frames deep, in turn without a tool, with the
recorder (stacks="python"; of allocations and frees, its default, and of allocations alone), and
with gpuprobe. Costs are the time of a tensor beyond that in the blocks without a tool before and
after. The bar: gpuprobe costs at most 1.5 times what the recorder costs by default. Exit status 0
if it is met over at least 15 rounds.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../bench/gpu"))

from intervals import interval, pairs  # noqa: E402
from watchers import Broken, Watcher  # noqa: E402

LOOPS = ("tensors", "training")
TOOLS = {"all": "recorder", "alloc": "recorder, allocations alone", "gpuprobe": "gpuprobe"}
ROUNDS, MOST_ROUNDS = 15, 40
BLOCK_SECONDS = 0.15
BAR = 1.5


class TensorWatcher(Watcher):
    """gpuprobe memleak; stop() returns how many tensors it counted and how many it lost."""

    def _traced(self):
        lines = [line for line in self._text("said").splitlines() if line.startswith('{"schema"')]
        found = [process["tensors"] for line in lines[-1:]
                 for process in json.loads(line)["processes"] if process.get("tensors")]
        if not found:
            raise Broken(f"no tensors in its last report: {self._text('error')[-800:]}")
        return {"made": sum(tensors["allocations"] for tensors in found),
                "lost": sum(tensors["untracked"] for tensors in found)}


class Program:
    """The measured process."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, os.path.join(HERE, "programs/tensor_cost.py")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ready = json.loads(self.process.stdout.readline())
        self.steps = {loop: self.steps_of_block(loop) for loop in LOOPS}

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def steps_of_block(self, loop):
        took = self.ask(f"run {loop} 100")["seconds"] / 100
        return max(int(BLOCK_SECONDS / took), 1)

    def blocks(self):
        """{loop: (seconds of a tensor, tensors)}."""
        found = {}
        for loop in LOOPS:
            said = self.ask(f"run {loop} {self.steps[loop]}")
            found[loop] = said["seconds"] / said["tensors"], said["tensors"]
        return found


def with_recorder(program, what):
    program.ask(f"record {what}")
    found = program.blocks()
    program.ask("record off")
    return found


def with_gpuprobe(program, watcher):
    """Blocks of which gpuprobe missed tensors are no measurement."""
    watcher.start([program.process.pid])
    found = program.blocks()
    seen = watcher.stop()
    made = sum(tensors for _, tensors in found.values())
    if seen["made"] < made or seen["lost"]:
        raise Broken(f"it counted {seen['made']} of {made} tensors and lost {seen['lost']}")
    return found


def measure(program, watcher, limit):
    """{loop: [(tool or None, seconds of a tensor)]}, and how many rounds there are."""
    blocks, began, rounds, longest = {loop: [] for loop in LOOPS}, time.monotonic(), 0, 0

    def keep(tool, found):
        for loop in LOOPS:
            blocks[loop].append((tool, found[loop][0]))

    while rounds < MOST_ROUNDS and time.monotonic() - began + longest < limit:
        start = time.monotonic()
        for tool in TOOLS:
            keep(None, program.blocks())
            keep(tool, with_gpuprobe(program, watcher) if tool == "gpuprobe"
                 else with_recorder(program, tool))
        rounds += 1
        longest = max(longest, time.monotonic() - start)
    keep(None, program.blocks())
    return blocks, rounds


def costs_of(blocks):
    """{tool: [ns of a tensor beyond nothing, by round]}."""
    return {tool: [(seconds - beside) * 1e9 for seconds, beside in pairs(blocks, tool)]
            for tool in TOOLS}


def ratio_of(costs, recorder):
    """Means by each other; the interval is that of the ratios by round."""
    mine, its = interval(costs["gpuprobe"]), interval(costs[recorder])
    rounds = [ours / theirs for ours, theirs in zip(costs["gpuprobe"], costs[recorder])
              if theirs > 0]
    by_round = interval(rounds) or {"low": None, "high": None}
    return {"ratio": mine["mean"] / its["mean"] if its["mean"] > 0 else None,
            "low": by_round["low"], "high": by_round["high"], "rounds": len(rounds)}


def shown(value, digits=0):
    return "unknown" if value is None else f"{value:,.{digits}f}"


def show(loop, found):
    plain = found["nothing"]
    print(f"{loop}: {shown(plain['mean'])} ns a tensor without a tool")
    for tool, title in TOOLS.items():
        cost = found["cost"][tool]
        print(f"    {title}: + {shown(cost['mean'])} ns ({shown(cost['low'])} to "
              f"{shown(cost['high'])}, {cost['n']} rounds)")
    for recorder, ratio in found["ratio"].items():
        print(f"    gpuprobe by {TOOLS[recorder]}: {shown(ratio['ratio'], 2)} "
              f"({shown(ratio['low'], 2)} to {shown(ratio['high'], 2)})")


def results_of(blocks):
    costs = costs_of(blocks)
    return {"nothing": interval([seconds * 1e9 for tool, seconds in blocks if tool is None]),
            "cost": {tool: interval(values) for tool, values in costs.items()},
            "ratio": {recorder: ratio_of(costs, recorder) for recorder in ("all", "alloc")}}


def options_of():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--output", help="a file for all figures, as JSON")
    parser.add_argument("--limit", type=float, default=120, help="seconds of rounds [120]")
    parser.add_argument("--python", default=sys.executable, help="the Python that has PyTorch")
    return parser.parse_args()


def main():
    options = options_of()
    gpuprobe = next(path for path in (f"{options.build}/portable/gpuprobe",
                                      f"{options.build}/gpuprobe") if os.path.exists(path))
    with tempfile.TemporaryDirectory() as work:
        watcher = TensorWatcher(gpuprobe, "gpuprobe memleak",
                                ["memleak", "--json", "--top", "1", "--stack", "python"],
                                work, reports=False)
        program = Program(options.python)
        try:
            blocks, rounds = measure(program, watcher, options.limit)
        finally:
            watcher.end()
            program.process.kill()
            program.process.wait()
    found = {loop: results_of(blocks[loop]) for loop in LOOPS}
    print(f"{program.ready}, {rounds} rounds, 30 Python frames deep")
    for loop in LOOPS:
        show(loop, found[loop])
    if options.output:
        with open(options.output, "w") as file:
            json.dump({"ready": program.ready, "rounds": rounds, "loops": found,
                       "blocks": blocks}, file)
    ratio = found["tensors"]["ratio"]["all"]["ratio"]
    met = rounds >= ROUNDS and ratio is not None and ratio <= BAR
    print(f"bar, loop of tensors: {shown(ratio, 2)} of at most {BAR}: "
          f"{'met' if met else 'NOT met'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
