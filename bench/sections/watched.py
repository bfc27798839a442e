# SPDX-License-Identifier: BSD-2-Clause
"""The cost of a call by the way its process is watched: probes in that process alone,
links of their own in each of several, or one for all."""
import contextlib
import subprocess

from setup import differences, figure, in_turn, spread, stop, table, wait_for_lines

TITLE = "Who is watched"
ORDER = 36
KINDS = {"launch": "a launch, whose return is left out",
         "allocation": "an allocation and its free, which are followed"}
# The number of other processes of the library, each watched by links of its own;
# or one link for all.
MODES = {"own": ("links of its own", 0, True), "eight": ("the same in 8 processes", 7, True),
         "many": ("the same in 64", 63, True), "shared": ("one link for all", 0, False)}
IDLE = ("launch", 1, 3600)  # once a second


def command(setup, *program):
    return [setup.build / "gpuprobe", "--metrics-addr", "none", "--display-interval", "0", "-v",
            "--", setup.build / "bench/calls", *map(str, program)]


@contextlib.contextmanager
def others(setup, count):
    """So many processes of the library, each with a gpuprobe of its own."""
    with contextlib.ExitStack() as stack:
        started = [
            stack.enter_context(subprocess.Popen(command(setup, *IDLE), stdout=subprocess.DEVNULL,
                                                 stderr=subprocess.PIPE)) for _ in range(count)]
        for process in started:
            stack.callback(stop, process, 120)
        for process in started:
            wait_for_lines(process, [b"functions probed"])
        yield


def own(setup, kind):
    """Nanoseconds of a call of COMMAND."""
    milliseconds = 100 if setup.quick else 400
    done = subprocess.run(command(setup, kind, milliseconds), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=True)
    words = next(line.split() for line in done.stdout.splitlines() if line.count(".") >= 2)
    return float(words[0])


def beside(setup, kind):
    return setup.calls(kind, 100 if setup.quick else 400)


def measure(setup):
    rounds = 2 if setup.quick else 7
    result = {kind: {"alone": []} for kind in KINDS}
    for mode, (_, count, is_own) in MODES.items():
        alone = in_turn(rounds, {kind: lambda kind=kind: beside(setup, kind) for kind in KINDS})
        with contextlib.ExitStack() as stack:
            stack.enter_context(others(setup, count))
            if not is_own:
                stack.enter_context(setup.gpuprobe())
            runs = in_turn(rounds, {kind: lambda kind=kind: (own if is_own else beside)(setup, kind)
                                    for kind in KINDS})
            stranger = in_turn(rounds,
                               {kind: lambda kind=kind: beside(setup, kind) for kind in KINDS})
        for kind in KINDS:
            result[kind]["alone"] += alone[kind]
            result[kind][mode] = figure(differences(runs[kind], alone[kind]))
            result[kind][f"not {mode}"] = figure(differences(stranger[kind], alone[kind]))
    for kind in KINDS:
        result[kind]["alone"] = figure(result[kind]["alone"])
    return result


def show(result):
    rows = [[name, spread(result[kind]["alone"], "{:,.0f} ns"),
             *(spread(result[kind][mode], "{:+,.0f} ns") for mode in MODES)]
            for kind, name in KINDS.items()]
    rows += [[f"{name}, in a process that is not watched", "",
              *(spread(result[kind][f"not {mode}"], "{:+,.0f} ns") for mode in MODES)]
             for kind, name in KINDS.items()]
    return "Additional time, compared with no gpuprobe.\n\n" + \
        table(["what", "alone", *(name for name, _, _ in MODES.values())], rows)
