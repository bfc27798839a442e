# SPDX-License-Identifier: BSD-2-Clause
"""
Twelve kinds of leaks in PyTorch programs (programs/leaks.py), and eight sound programs: which line
`gpuprobe memleak` calls growing within 60 s after it attached to all twenty.
"""
import contextlib
import json
import os
import re
import select
import subprocess
import time

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs/leaks.py")
LEAKS = ("list", "graph", "closure", "cache", "cpp", "hidden", "pinned", "graph pool", "traceback",
         "cycle", "retain_graph", "hooks")
SOUND = ("training", "warm-up", "batch sizes", "streams", "bounded cache", "accumulation",
         "evaluation", "checkpoints")
WATCH = 60  # seconds
START = 90  # seconds in which all twenty must be ready


def lines_of():
    """{leak: the lines of the source that make what it keeps}."""
    lines = {}
    with open(SOURCE, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if found := re.search(r"# LEAK (.+)$", line):
                lines.setdefault(found[1], set()).add(number)
    return lines


def line_in_program(site):
    """The innermost line of the program in the site's stack; None of none."""
    for frame in site["stack"]["frames"]:
        if frame.get("file") and os.path.basename(frame["file"]) == "leaks.py":
            return frame["line"]
    return None


def growing(process):
    """
    The lines of sites that grow, those of tensors first, of pinned memory last; a site without a
    line is None.
    """
    tensors = process.get("tensors")
    sites = [*(tensors["by_site"]["sites"] if tensors else ()), *process["sites"],
             *process["pinned"]["sites"]]
    return [line_in_program(site) for site in sites
            if site["growth"]["verdict"] == "growing" or site["leak"]]


def wait_until_ready(programs):
    """Names of those that did not start."""
    end, waiting = time.monotonic() + START, dict(programs)
    while waiting and time.monotonic() < end:
        for name, program in list(waiting.items()):
            if select.select([program.stdout], [], [], 0.1)[0]:
                program.stdout.readline()
                del waiting[name]
    return list(waiting)


def watch(machine, programs):
    """{name: process of the last report, None if it has none}."""
    pids = [option for program in programs.values() if program.poll() is None
            for option in ("-p", str(program.pid))]
    ran = subprocess.run([machine.gpuprobe, "memleak", "--json", "--top", "0", "--duration",
                          str(WATCH), *pids, "10"], stdout=subprocess.PIPE, text=True,
                         timeout=WATCH + 60)
    last = {}
    for line in ran.stdout.splitlines():
        for process in json.loads(line)["processes"] if line.startswith('{"schema"') else ():
            last[process["pid"]] = process
    return {name: last.get(program.pid) for name, program in programs.items()}


def test_leaks(machine, results):
    lines, found = lines_of(), {}
    with contextlib.ExitStack() as stack:
        programs = {name: stack.enter_context(subprocess.Popen(
            machine.python("leaks.py", name, str(WATCH + 40)), stdout=subprocess.PIPE))
            for name in (*LEAKS, *SOUND)}
        results.check("leaks: programs that did not start", [], wait_until_ready(programs))
        for name, process in watch(machine, programs).items():
            found[name] = growing(process) if process else None
        for program in programs.values():
            program.kill()
    for name in LEAKS:
        results.tell(f"leak, {name}: lines {sorted(lines[name])}, growing", found[name])
    results.check("leaks: kinds whose first growing site is a line that leaks", list(LEAKS),
                  [name for name in LEAKS if found[name] and found[name][0] in lines[name]])
    results.check("leaks: sound programs in which something grows", {},
                  {name: found[name] for name in SOUND if found[name] or found[name] is None})
