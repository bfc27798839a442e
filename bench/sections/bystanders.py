# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe costs programs that have nothing to do with CUDA: a system call, a mapping of code,
a program's start."""
import contextlib
import subprocess

from setup import differences, figure, in_turn, spread, table

TITLE = "Bystanders"
ORDER = 35
ACTS = {"call": ("a system call (getppid)", 300_000, 1, "{:+,.0f} ns"),
        "map": ("code mapped and unmapped", 20_000, 1, "{:+,.0f} ns"),
        "run": ("a program started, to its end", 200, 1e3, "{:+,.0f} us")}
SLEEPER = ["sleep", "600"]  # who is watched makes no difference to the others
MODES = {"machine": "the monitor, of the whole machine", "process": "the monitor, `-p PID`",
         "command": "the monitor, `-- COMMAND`",
         "stacks": "`memleak` of the whole machine, which takes stacks"}


@contextlib.contextmanager
def watching(setup, mode):
    """gpuprobe at work in this way, or not at all."""
    with contextlib.ExitStack() as stack:
        if mode == "process":
            process = stack.enter_context(subprocess.Popen(SLEEPER))
            stack.callback(process.kill)
            stack.enter_context(setup.gpuprobe("-p", process.pid))
        elif mode == "command":
            stack.enter_context(setup.gpuprobe("--display-interval", "0", program=SLEEPER))
        elif mode:
            stack.enter_context(setup.gpuprobe(*(["memleak", "60"] if mode == "stacks" else [])))
        yield


def act(setup, mode, what):
    """Nanoseconds for each one."""
    number = ACTS[what][1] // (10 if setup.quick else 1)
    with watching(setup, mode):
        return float(subprocess.run([setup.build / "bench/bystander", what, str(number)],
                                    capture_output=True, text=True, check=True).stdout)


def measure(setup):
    rounds = 2 if setup.quick else 9
    result = {}
    for what in ACTS:
        runs = in_turn(rounds,
                       {mode: lambda mode=mode: act(setup, mode, what) for mode in (None, *MODES)})
        result[what] = {"alone": figure(runs[None]),
                        **{mode: figure(differences(runs[mode], runs[None])) for mode in MODES}}
    return result


def show(result):
    rows = []
    for what, (name, _, unit, form) in ACTS.items():
        scaled = {mode: {key: found[key] / unit for key in ("median", "min", "max")}
                  for mode, found in result[what].items()}
        rows.append([name, spread(scaled["alone"], form.replace("+", "")),
                     *(spread(scaled[mode], form) for mode in MODES)])
    return ("Additional time with gpuprobe running, for programs that have nothing to do with "
            "CUDA.\n\n" + table(["what", "alone", *MODES.values()], rows))
