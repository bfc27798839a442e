#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs each command of gpuprobe beside a real PyTorch training and keeps what it prints.

    tests/gpu/examples.py --build build --output docs/examples

Writes a file a command, and a README.md that lists them. They are to be read by eye: does a tired
person find the answer? Nothing is compared.
"""
import argparse
import datetime
import os
import subprocess
import sys
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
TRAINING = [sys.executable, f"{PROGRAMS}/training.py"]

# name, arguments; PID is the training's. Those with COMMAND start one of their own.
EXAMPLES = [
    ("check", ["check", "-p", "PID"]),
    ("ps", ["ps"]),
    ("ps-tree", ["ps", "--tree"]),
    ("monitor", ["-p", "PID", "--duration", "10", "--metrics-addr", "none"]),
    ("monitor-verdict", ["-p", "PID", "--verdict", "--duration", "10", "--metrics-addr", "none"]),
    ("monitor-all-processes", ["--duration", "6", "--metrics-addr", "none"]),
    ("top", ["top", "-b", "-n", "3"]),
    ("diagnose", ["diagnose", "-p", "PID", "--duration", "10"]),
    ("stat", ["stat", "-p", "PID", "--duration", "5"]),
    ("memleak", ["memleak", "-p", "PID", "--window", "8s", "--duration", "11", "10", "1"]),
    ("memleak-auto", ["memleak", "-p", "PID", "--stack", "auto", "--window", "8s", "--duration",
                      "11", "10", "1"]),
    ("memleak-all-frames", ["memleak", "-p", "PID", "--all-frames", "--duration", "3", "2", "1"]),
    ("dump", ["dump", "-p", "PID"]),
    ("flame", ["flame", "--by", "launches", "-p", "PID", "--duration", "3", "--folded"]),
    ("trace", ["trace", "-p", "PID", "--count", "40"]),
    ("trace-stack", ["trace", "-e", "memory,sync", "--stack", "-p", "PID", "--count", "6"]),
    ("trace-summary", ["trace", "-c", "-p", "PID", "--duration", "3"]),
]
COMMANDS = [
    ("diagnose-command", ["diagnose", "--", *TRAINING, "8"]),
    ("memleak-command", ["memleak", "--stack", "auto", "--", *TRAINING, "8"]),
]
LINES, COLUMNS = 400, 400


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode().strip()


def run(gpuprobe, arguments):
    """What it printed, both outputs together, and how long it took."""
    begin = time.monotonic()
    ran = subprocess.run([gpuprobe, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=120, check=False)
    lines = ran.stdout.decode(errors="replace").splitlines()
    if len(lines) > LINES:
        lines = lines[:LINES] + [f"... {len(lines) - LINES} more lines"]
    return "\n".join(lines) + "\n", time.monotonic() - begin


def without_places(text):
    """Without the paths of this checkout and of its Python. Long lines (folded stacks) are cut."""
    for place, told in ((PROGRAMS + "/", ""), (sys.executable, "python3"), (sys.prefix, "/venv")):
        text = text.replace(place, told)
    return "".join(line[:COLUMNS].rstrip("\n") + "\n" for line in text.splitlines(True))


def keep(folder, name, gpuprobe, arguments, rows):
    text, seconds = run(gpuprobe, arguments)
    told = " ".join(["gpuprobe", *arguments]).replace(f"{PROGRAMS}/", "").replace(
        sys.executable, "python3")
    with open(f"{folder}/{name}.txt", "w") as file:
        file.write(f"$ sudo {told}\n{without_places(text)}")
    rows.append((name, told, text.count("\n"), seconds))
    print(f"{name}: {text.count(chr(10))} lines in {seconds:.1f} s", flush=True)


def page(rows):
    gpu = output("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    versions = output(sys.executable, "-c",
                      "import torch; print(f'CUDA {torch.version.cuda}, PyTorch "
                      "{torch.__version__}')")
    lines = ["# Every command beside a real training", "",
             f"Written by `tests/gpu/examples.py` on {datetime.date.today()}: "
             f"{gpu.splitlines()[0]} (name, driver), {versions}.", "",
             "The program is `tests/gpu/programs/training.py`: a PyTorch training whose batches",
             "are augmented in the loop, and which keeps tensors that it never drops.", "",
             "[new-user.md](new-user.md) tells how long a new user takes for each symptom.", "",
             "| command | lines | seconds |", "|---|---|---|"]
    lines += [f"| [`{told}`]({name}.txt) | {count} | {seconds:.1f} |"
              for name, told, count, seconds in rows]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--output", default="docs/examples")
    parser.add_argument("--only", action="append", help="this example alone (repeatable)")
    options = parser.parse_args()
    gpuprobe, rows = f"{options.build}/gpuprobe", []
    os.makedirs(options.output, exist_ok=True)
    chosen = [name for name, _ in EXAMPLES + COMMANDS if not options.only or name in options.only]
    with subprocess.Popen([*TRAINING, "600"], stdout=subprocess.DEVNULL) as training:
        time.sleep(12)
        for name, arguments in EXAMPLES:
            if name in chosen:
                keep(options.output, name, gpuprobe,
                     [str(training.pid) if word == "PID" else word for word in arguments], rows)
        training.kill()
    for name, arguments in COMMANDS:
        if name in chosen:
            keep(options.output, name, gpuprobe, arguments, rows)
    with open(f"{options.output}/README.md", "w") as file:
        file.write(page(rows))


if __name__ == "__main__":
    main()
