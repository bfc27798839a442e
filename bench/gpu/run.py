#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe costs real programs on this machine's GPU, see bench/gpu.sh.

Seven loops run in a process each (loops.c, torch_loops.py), which do a block of steps when they are
told to. A round is: a block of each loop without gpuprobe, then one with the monitor attached to
them all; a block without, one with `stat`; and so on with `trace` and with stacks. So each block
with gpuprobe has one without before and after it, in the same process, of the same number of steps;
what is given is its time over their mean, and of all rounds the mean with its 95 % confidence
interval. Writes a page of Markdown and, beside it, all blocks and results as JSON, which
`bench/bench.py --take FILE --only gpu` puts into docs/performance.md. The page names a loop or a
way to watch that fails, and the others go on.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parent.parent))
from bench import processor, replace, show_section  # noqa: E402
from intervals import interval, pairs  # noqa: E402
from programs import Failed, end_all, programs, start_all  # noqa: E402
from sections import gpu as section  # noqa: E402
from watchers import Broken, watchers  # noqa: E402

WRITING_SECONDS = 5  # left for the end
# How much longer a round's blocks take than asked, at first: warm-ups, waits, the cost of probes
STRETCH = 1.3
STARTS_STRETCH = 1.1  # the same of gpuprobe's starts and ends
PLANNED_SHARE = 0.96  # of the time that is left
LEAST_BLOCK = 0.02
FAILURES = 2  # a way to watch that failed so often is left out
BAR_LAUNCH_BOUND, BAR_GPU_BOUND = 0.03, 0.003
BAR_LOOPS, BAR_TOOL = ("launch", "torch_training", "torch_busy"), "monitor"


class OutOfTime(Exception):
    """The limit of the whole run has come."""


def gpuprobe_of(options):
    """The portable one, where there is a GPU: the other's libraries may be missing there."""
    names = ["gpuprobe"] if options.simulate else ["portable/gpuprobe", "gpuprobe"]
    found = [path for path in (f"{options.build}/{name}" for name in names) if os.path.exists(path)]
    return (os.path.abspath(found[0]) if found
            else sys.exit(f"{options.build} has no gpuprobe: make portable"))


class Run:
    """What is measured by what, and all that was measured."""

    def __init__(self, options, work):
        self.options, self.began, self.load = (options, time.monotonic(),
                                               round(os.getloadavg()[0], 2))
        self.deadline = self.began + options.limit - WRITING_SECONDS
        self.gpuprobe = gpuprobe_of(options)
        self.sim = os.path.abspath(f"{options.build}/sim") if options.simulate else None
        self.work = work
        self.programs = programs(work, self.sim, options.python)
        self.watchers = watchers(self.gpuprobe, work)
        if options.bars:
            self.programs = {key: self.programs[key] for key in BAR_LOOPS}
            self.watchers = {BAR_TOOL: self.watchers[BAR_TOOL]}
        self.blocks = {key: [] for key in self.programs}  # [(tool or None, seconds of a step)]
        self.seen = {}  # (loop, tool): [{"calls", "launches", "waits_ns", "steps", "seconds"}]
        self.steps = {}  # by loop: seconds of a step when it was tried
        self.rounds = 0
        self.block_seconds = None  # of a loop of weight 1, in the latest round
        self.starting, self.stretch = 0, STRETCH  # seconds of a round's starts and ends
        self.told = []  # what went wrong

    def working(self):
        return {key: program for key, program in self.programs.items() if not program.failed}

    def watching(self):
        return {key: watcher for key, watcher in self.watchers.items()
                if watcher.failures < FAILURES}

    def note(self, what):
        self.told.append(what)
        print(what, file=sys.stderr, flush=True)


# --- measuring ---

def run_blocks(run, tool):
    """A block of each loop: {pid: (key, steps, seconds)}, what they did under this tool."""
    done = {}
    for key, program in run.working().items():
        try:
            seconds = program.block(run.block_seconds)
        except (Failed, ValueError) as error:
            program.failed = str(error)
            run.note(f"{key}: {error}")
            continue
        run.blocks[key].append((tool, seconds / program.steps))
        steps = program.steps + program.warm_up
        done[program.process.pid] = (key, steps, seconds * steps / program.steps)
    return done


def watched(run, tool, work):
    """Runs `work` with a tool attached to all loops; returns what work returned and
    what the tool saw."""
    watcher, done = run.watchers[tool], {}
    try:
        watcher.start([program.process.pid for program in run.working().values()])
        done = work()
        return done, watcher.stop()
    except (Broken, OSError, ValueError, KeyError) as error:
        watcher.failures += 1
        watcher.error = str(error)
        run.note(f"{watcher.title}: {error}")
        return done, {}
    finally:
        watcher.end()


def visit(run, tool):
    done, seen = watched(run, tool, lambda: run_blocks(run, tool))
    for pid, (key, steps, seconds) in done.items():
        if pid in seen:
            run.seen.setdefault((key, tool), []).append({**seen[pid], "steps": steps,
                                                         "seconds": seconds})


def prepare(run):
    """Starts the loops, and finds out how long their steps and gpuprobe's starts and ends take."""
    start_all(run.programs, run.work, run.sim)
    for key, program in run.programs.items():
        try:
            if not program.failed:
                run.steps[key] = program.find_step()
        except (Failed, ValueError) as error:
            program.failed = str(error)
        if program.failed:
            run.note(f"{key}: {program.failed}")
    began = time.monotonic()
    for tool in run.watchers:
        watched(run, tool, dict)
    run.starting = time.monotonic() - began
    print(f"prepared in {time.monotonic() - run.began:.0f} s", file=sys.stderr, flush=True)


def asked_of_visit(run):
    """Seconds that a block of each loop should take, at a block of 1 s."""
    return sum(program.weight for program in run.working().values())


def set_blocks(run):
    """As long as asked for, or as the time that is left allows for the rounds that are."""
    options, left = run.options, PLANNED_SHARE * (run.deadline - time.monotonic())
    rounds = options.rounds - run.rounds
    visits = rounds * 2 * len(run.watching()) + 1
    fits = (left - STARTS_STRETCH * rounds * run.starting) / max(
        1, visits * asked_of_visit(run) * run.stretch)
    run.block_seconds = max(LEAST_BLOCK, min(options.seconds, fits))
    for key, program in run.working().items():
        program.set_block(run.block_seconds, run.steps[key])


def one_round(run):
    set_blocks(run)
    began, tools = time.monotonic(), list(run.watching())
    for tool in tools:
        run_blocks(run, None)
        visit(run, tool)
    run.rounds += 1
    took = time.monotonic() - began
    asked = run.block_seconds * 2 * len(tools) * asked_of_visit(run)
    if asked:
        run.stretch = max(STRETCH, (took - run.starting) / asked)
    print(f"round {run.rounds}: {took:.1f} s, "
          f"{run.starting:.1f} s of them gpuprobe's starts and ends; blocks of "
          f"{run.block_seconds:.2f} s", file=sys.stderr, flush=True)


def measure(run):
    while run.rounds < run.options.rounds and run.working() and run.watching():
        if time.monotonic() + run.starting > run.deadline:
            raise OutOfTime
        one_round(run)
    run_blocks(run, None)


# --- what it comes to ---

def per_step(run, key, tool, what):
    """[amount per step of each block] as the tool counted."""
    return [seen[what] / seen["steps"] for seen in run.seen.get((key, tool), [])]


def results_of_loop(run, key, program):
    plain = [seconds for tool, seconds in run.blocks[key] if tool is None]
    found = {"title": program.title, "failed": program.failed, "steps": program.steps,
             "weight": program.weight, "blocks": run.blocks[key],
             "plain_step_seconds": interval(plain), "slowdown": {}, "added_ns": {}}
    for tool in run.watchers:
        beside = pairs(run.blocks[key], tool)
        found["slowdown"][tool] = interval([seconds / alone - 1 for seconds, alone in beside])
        found["added_ns"][tool] = interval([(seconds - alone) * 1e9 for seconds, alone in beside])
    for name in ("calls", "launches"):
        for tool in run.watchers.keys() - {"trace"}:
            found.setdefault(f"{name}_per_step", {})[tool] = interval(
                per_step(run, key, tool, name))
    calls = found["calls_per_step"]["monitor"] or found["calls_per_step"].get("stat")
    found["calls_per_second"] = (calls["mean"] / found["plain_step_seconds"]["mean"]
                                 if calls and plain else None)
    found["wait_share"] = interval([seen["waits_ns"] / 1e9 / seen["seconds"]
                                    for seen in run.seen.get((key, "stat"), [])])
    return found


def calls_times_cost(loops, tool):
    """For the GPU-bound loop: calls of a step x cost of a launch / time of a step;
    also with the cost's upper bound."""
    cost, loop = loops["launch"]["added_ns"][tool], loops["torch_busy"]
    calls = loop["calls_per_step"].get(tool) or loop["calls_per_step"]["monitor"]
    if not cost or not calls or not loop["plain_step_seconds"]:
        return None
    share = calls["mean"] / (loop["plain_step_seconds"]["mean"] * 1e9)
    return {"share": share * cost["mean"],
            "high": None if cost["high"] is None else share * cost["high"]}


def bars(loops, shares):
    """[(what, bar, measured or None, met or None)]: of the monitor."""
    launch_bound, gpu_bound = (loops[key]["slowdown"]["monitor"]
                               for key in ("torch_training", "torch_busy"))
    high = launch_bound and launch_bound["high"]
    low = gpu_bound and gpu_bound["low"]
    share = shares["monitor"] and shares["monitor"]["high"]
    return [{"what": "launch-bound PyTorch loop, monitor, upper end of the 95 % interval",
             "bar": BAR_LAUNCH_BOUND,
             "measured": high, "met": None if high is None else high <= BAR_LAUNCH_BOUND},
            {"what": "GPU-bound PyTorch loop, monitor: the interval contains 0", "bar": 0.0,
             "measured": [low, gpu_bound["high"]] if low is not None else None,
             "met": None if low is None else low <= 0 <= gpu_bound["high"]},
            {"what": "GPU-bound PyTorch loop, monitor: calls x calibrated cost, by its upper end",
             "bar": BAR_GPU_BOUND, "measured": share,
             "met": None if share is None else share <= BAR_GPU_BOUND}]


def said_by(*command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              timeout=10).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def versions(run):
    smi = said_by("nvidia-smi", "--query-gpu=name,driver_version",
                  "--format=csv,noheader").splitlines()
    torch = next((program.ready for program in run.programs.values() if "torch" in program.ready),
                 {})
    nvcc = re.search(r"release ([\d.]+)", said_by("nvcc", "--version")
                     or said_by("/usr/local/cuda/bin/nvcc", "--version"))
    name, _, driver = smi[0].partition(", ") if smi else ("no GPU", "", "")
    return {"gpu": name, "gpus": len(smi), "driver": driver, "nvcc": nvcc[1] if nvcc else None,
            "torch": torch.get("torch"), "torch_cuda": torch.get("cuda"),
            "python": torch.get("python"), "gpuprobe": said_by(run.gpuprobe, "--version"),
            "simulated": bool(run.sim)}


def results(run):
    loops = {key: results_of_loop(run, key, program) for key, program in run.programs.items()}
    shares = {tool: calls_times_cost(loops, tool) for tool in run.watchers}
    tools = {key: {"title": watcher.title, "failed": watcher.error, "lost": watcher.lost,
                   "start_seconds": interval(watcher.starts),
                   "stop_seconds": interval(watcher.stops)}
             for key, watcher in run.watchers.items()}
    return {"versions": versions(run), "rounds": run.rounds, "block_seconds": run.block_seconds,
            "tools": tools, "loops": loops, "calls_times_cost": shares, "bars": bars(loops, shares),
            "told": run.told}


def write(run):
    """The page, and the JSON as bench.py --take wants it."""
    found = results(run)
    kept = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "kernel": platform.release(), "cpu": processor(), "cpus": os.cpu_count(),
            "load": run.load, "load_at_end": round(os.getloadavg()[0], 2),
            "command": shlex.join(["bench/gpu.sh", *sys.argv[1:]]), "quick": False,
            "rounds": run.rounds, "seconds": round(time.monotonic() - run.began, 1),
            "result": found}
    output = pathlib.Path(run.options.output)
    replace(output.with_suffix(".json"), json.dumps({"gpu": kept}, indent=1) + "\n")
    text = show_section(section, kept).lstrip()
    replace(output, text)
    print(text)
    return found


# --- the whole ---

def out_of_time(_number, _frame):
    raise OutOfTime


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     prog="bench/gpu.sh")
    parser.add_argument("--build", default="build", help="where gpuprobe is [build]")
    parser.add_argument("--output", default="gpu-performance.md",
                        help="the page; the JSON is put beside it [%(default)s]")
    parser.add_argument("--rounds", type=int, default=10,
                        help="blocks with each way to watch [%(default)s]")
    parser.add_argument("--seconds", type=float,
                        help="of a block [at most 0.3, as the limit allows]")
    parser.add_argument("--limit", type=float,
                        help="seconds for all of it [240; with --seconds 3600]")
    parser.add_argument("--bars", action="store_true",
                        help="only the loops and the tool that the bars are of, so that "
                        "the time goes into more rounds")
    parser.add_argument("--python", default=sys.executable,
                        help="the Python that has PyTorch [%(default)s]")
    parser.add_argument("--simulate", action="store_true",
                        help="without a GPU, to try this script: the simulated CUDA "
                        "libraries of the build, and PyTorch, where there is one, on the CPU")
    options = parser.parse_args(argv)
    options.limit = options.limit or (3600 if options.seconds else 240)
    options.seconds = options.seconds or 0.3
    return options


def main(argv=None):
    options = options_of(argv)
    work = tempfile.mkdtemp(prefix="gpuprobe-bench-")
    run = Run(options, work)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.signal(signal.SIGTERM, out_of_time)
    signal.setitimer(signal.ITIMER_REAL, options.limit - WRITING_SECONDS)
    try:
        prepare(run)
        measure(run)
    except (OutOfTime, KeyboardInterrupt):
        run.note(f"out of time after {run.rounds} rounds")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        found = write(run)
        end_all(run.programs)
        shutil.rmtree(work, ignore_errors=True)
    failed = [key for key, loop in found["loops"].items() if loop["failed"]]
    failed += [key for key, tool in found["tools"].items() if tool["failed"]]
    return 1 if failed or run.rounds < options.rounds else 0


if __name__ == "__main__":
    sys.exit(main())
