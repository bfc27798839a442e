# SPDX-License-Identifier: BSD-2-Clause
"""Stacks of PyTorch's calls, down to the Python line: who holds memory, who launches which kernel,
a leak that was planted in a process that ran before."""
import os
import re
import subprocess
import sys
import time

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs/stacks.py")
STEPS = 300


def lines_marked(word):
    """Numbers of the program's lines with this mark."""
    with open(PROGRAM) as file:
        return [number for number, line in enumerate(file, 1)
                if line.rstrip().endswith(f"# {word}")]


def gpuprobe(machine, *arguments, timeout=200):
    ran = subprocess.run([machine.gpuprobe, *map(str, arguments)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=timeout)
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()


def folded(text):
    """[(frames, weight)] of flame --folded."""
    stacks = []
    for line in text.splitlines():
        frames, weight = line.rsplit(" ", 1)
        stacks.append((frames.split(";"), int(weight)))
    return stacks


def innermost_line(frames):
    """The line of the program's innermost frame in a stack."""
    lines = [int(found[1])
             for found in (re.search(r"\(stacks\.py:(\d+)\)", frame) for frame in frames) if found]
    return lines[-1] if lines else None


def by_line(stacks):
    sums = {}
    for frames, weight in stacks:
        line = innermost_line(frames)
        sums[line] = sums.get(line, 0) + weight
    return sums


def shortened(frames):
    """Python's frames, outermost first, and what was called or launched at the end."""
    python = [frame for frame in frames[:-1] if re.search(r"\.py:\d+\)", frame)]
    return f"{'; '.join(python)}; {len(frames) - len(python) - 1} native frames; {frames[-1]}"


def largest(stacks, count):
    return "\n".join(f"{weight:>14,}  {shortened(frames)}" for frames, weight in
                     sorted(stacks, key=lambda stack: -stack[1])[:count])


def test_launch_lines(machine, results):
    """Each marked line launches one kernel a step."""
    for mode, sample in (("fp", 1), ("auto", 1), ("fp", 64)):
        status, text, said = gpuprobe(machine, "flame", "--by", "launches", "--folded", "--stack",
                                      mode, "--stack-sample", sample, "--", sys.executable, PROGRAM,
                                      STEPS)
        # The program prints as well.
        stacks = folded("\n".join(line for line in text.splitlines() if ";" in line))
        sums = by_line(stacks)
        wanted = {line: STEPS for line in lines_marked("LAUNCH")}
        results.check(f"launches by line, --stack {mode}, 1 in {sample}: exit status, "
                      "launches of each marked line",
                      (0, wanted), (status, {line: sums.get(line, 0) for line in wanted}))
        if sample == 64:
            results.keep(
                "`gpuprobe flame --by launches --folded -- python3 stacks.py`: the five largest",
                largest(stacks, 5) + "\n" + said)


def test_live_memory(machine, results):
    for mode in ("fp", "dwarf"):
        path = f"{machine.work}/live"
        status, _, said = gpuprobe(machine, "flame", "--by", "bytes", "--folded", "-o", path,
                                   "--stack", mode, "--", sys.executable, PROGRAM, 20)
        with open(path) as file:
            stacks = folded(file.read())
        sums = by_line(stacks)
        wanted = {lines_marked("VALUES")[0]: 3 << 22, lines_marked("WEIGHT")[0]: 3 << 22}
        results.check(
            f"bytes allocated by line, --stack {mode}: exit status, the two largest tensors",
            (0, wanted), (status, {line: sums.get(line, 0) for line in wanted}))
        results.keep(f"`gpuprobe flame --by bytes --folded --stack {mode} -- python3 stacks.py "
                     "20`: the three largest", largest(stacks, 3) + "\n" + said)


def test_leak(machine, results):
    """In a process that runs already."""
    program = subprocess.Popen([sys.executable, PROGRAM, "100000", "0.25", "--leak"],
                               stdout=subprocess.PIPE)
    program.stdout.readline()
    began = time.monotonic()
    watching = subprocess.Popen([machine.gpuprobe, "memleak", "-p", str(program.pid), "1", "60"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line, found, text = lines_marked("LEAK")[0], None, ""
    head = ""
    for raw in watching.stdout:
        row = raw.decode()
        text += row
        if not row.startswith(" " * 12):  # of a site the first line, or the report's
            head = row
        if "<< growing" in head and f"(stacks.py:{line})" in row:
            found = time.monotonic() - began
            break
    watching.send_signal(2)
    rest, said = watching.communicate()
    program.kill()
    program.wait()
    results.check("a leak planted in a list, the process ran before: named by its line within 60 s",
                  True, found is not None and found < 60)
    results.tell("seconds until the leak was named", f"{found:.0f}" if found else "never")
    reports = (text + rest.decode()).split("\n[")
    results.keep("`gpuprobe memleak -p PID 1`: the last report", "[" + reports[-1] + said.decode())


def test_stacks(machine, results):
    test_launch_lines(machine, results)
    test_live_memory(machine, results)
    test_leak(machine, results)
