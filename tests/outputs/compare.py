#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Compares what two builds of gpuprobe print, in the forms that programs read.

    # as root: two programs; the simulated libraries and workloads are those of build/
    tests/outputs/compare.py OLD NEW

Runs a fixed set of programs under each, and compares JSON, CSV, the metrics page and the report of
--memleak, --cudatrace and --bandwidth-util. What a run differs in from the next (numbers,
addresses, times; the order of rows by time; how many rows are alike) is left out; keys, names,
labels, columns and words are not. Where NVML answers late on a busy machine, what it tells can be
missing: run it again. Ends with "N passed, N failed".
"""
import difflib
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SIM = ROOT / "build/sim"
ENVIRONMENT = {**os.environ, "CUDA_SIM_DIRECTORY": str(SIM), "LD_LIBRARY_PATH": str(SIM),
               "CUDA_SIM_MACHINE": "x", "TZ": "UTC"}
SHORT = [str(SIM / "demo"), "--seconds", "1"]
LEAK = [str(SIM / "memory"), "--pairs", "40", "--keep", "5", "--size", "64K"]
COPIES = [str(SIM / "copy")]
TRAINING = [str(SIM / "steps"), "--steps", "100", "--cpu", "0.002"]
FAULTY = [str(SIM / "faults"), "sync-after-every-launch", "--seconds", "2"]
RANKS = [str(SIM / "ranks"), "--ranks", "2", "--steps", "20"]
SECTIONS = ["--memleak", "--cudatrace", "--bandwidth-util"]
SEED = ["--metrics-addr", "none", "--display-interval", "0"]

RUNS = {
    "report": [*SECTIONS, *SEED, "--", *SHORT],
    "report, memleak": ["--memleak", *SEED, "--", *LEAK],
    "report, cudatrace": ["--cudatrace", *SEED, "--", *SHORT],
    "report, bandwidth-util": ["--bandwidth-util", *SEED, "--", *COPIES],
    "report, json": ["--json", *SEED, "--", *SHORT],
    "report, verdict": ["--verdict", "--json", *SEED, "--", *TRAINING],
    "stat, json": ["stat", "--json", "--", *TRAINING],
    "stat, csv": ["stat", "--csv", "--", *TRAINING],
    "diagnose, json": ["diagnose", "--json", "--", *FAULTY],
    "memleak, json": ["memleak", "--json", "--", *LEAK],
    "nccl, json": ["nccl", "--json", "--interval", "0", "--", *RANKS],
    "account, json": ["account", "--json", "--", *LEAK],
    "account, csv": ["account", "--csv", "--", *LEAK],
    "trace, json": ["trace", "--format", "json", "--", *LEAK],
    "trace, tsv": ["trace", "--format", "tsv", "--", *LEAK],
    "trace, schema": ["trace", "--json-schema"],
    "trace, summary": ["trace", "-c", "--", *LEAK],
    "flame": ["flame", "--by", "launches", "--folded", "--", *TRAINING],
    "check, json": ["check", "--json"],
    "ps, json": ["ps", "--json", "-p", str(os.getpid())],
    "dump, json": ["dump", "--json", "-p", str(os.getpid())],
    "bpftrace-script": ["bpftrace-script", "--standard-paths"],
}

# What each build makes of its own recordings.
RECORDINGS = {
    "one": ["record", "--level", "summary", "-q", "--max-overhead", "off", "--", *TRAINING],
    "other": ["record", "--level", "summary", "-q", "--max-overhead", "off", "--", *FAULTY],
    "calls": ["record", "-q", "--", *LEAK],
}
RECORDED = {
    "diff": ["diff", "one", "other"],
    "diff, json": ["diff", "--json", "one", "other"],
    "recorded stat, json": ["stat", "--json", "-i", "one"],
    "recorded trace, tsv": ["trace", "--format", "tsv", "-i", "calls"],
    "export": ["export", "-q", "-i", "calls", "--to", "chrome", "-o", "/dev/stdout"],
}


def merged(shapes):
    """Of objects one with the keys of all."""
    keys = {}
    for each in shapes:
        if not isinstance(each, dict):
            return sorted({json.dumps(each) for each in shapes})
        for key, value in each.items():
            keys.setdefault(key, []).append(value)
    return {key: merged(values) for key, values in sorted(keys.items())}


def shape(value):
    """JSON without its numbers and names; of a list the keys of its entries."""
    if isinstance(value, dict):
        return {key: shape(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [merged([shape(entry) for entry in value])]
    return "boolean" if isinstance(value, bool) else "value"


def without_numbers(text):
    text = re.sub(r"\d+-\d+-\d+[T ][\d:.]+Z?", "TIME", text)
    text = re.sub(r"0x[0-9a-f]+|\+0x[0-9a-f]+", "0x", text)
    text = re.sub(
        r"\b(under )?~?\d[\d,]*(\.\d+)? ?(ns|us|ms|s|B|KiB|MiB|GiB|B/s|kB/s|MB/s|GB/s|%)?(?=\W|$)",
        "N", text)
    return re.sub(r" +", " ", text).strip()


def value_of(line):
    """A line that is JSON, also one of a list; None if it is not."""
    try:
        return json.loads(line.rstrip(",")) if line.startswith("{") else None
    except json.JSONDecodeError:
        return None


def forms_of(output):
    lines = []
    for line in output.splitlines():
        if value_of(line):
            lines += json.dumps(shape(value_of(line)), indent=1).splitlines()
        elif " GPU " not in line:  # NVML answers in time, or does not
            lines.append(without_numbers(line))
    return lines


def said_by(program, arguments, folder=None):
    ran = subprocess.run([program, *arguments], env=ENVIRONMENT, capture_output=True,
                         timeout=120, check=False, cwd=folder)
    packed = ran.stdout[:2] == b"\x1f\x8b"
    text = (gzip.decompress(ran.stdout) if packed else ran.stdout).decode(errors="replace")
    return sorted({*forms_of(text), f"exit status {ran.returncode}",
                   *forms_of(ran.stderr.decode(errors="replace"))})


def said_of_recordings(program):
    """{what: lines} of RECORDED."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (command, *words) in RECORDINGS.items():
            subprocess.run([program, command, "-o", name, *words], env=ENVIRONMENT, check=True,
                           stdout=subprocess.DEVNULL, timeout=120, cwd=folder)
        return {what: said_by(program, run, folder) for what, run in RECORDED.items()}


def metrics_of(program):
    """The page while a program runs that waits."""
    command = [program, "--metrics-addr", "127.0.0.1:19407", "--display-interval", "0", "--", *LEAK,
               "--hold", "3"]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as running:
        time.sleep(2)
        with urllib.request.urlopen("http://127.0.0.1:19407/metrics", timeout=10) as page:
            text = page.read().decode()
        running.terminate()
    return sorted({line
                   if line.startswith("# ") else re.sub(r'="[^"]*"', "", line).rpartition(" ")[0]
                   for line in text.splitlines()})


def compare(what, old, new):
    if old == new:
        print(f"ok: {what}: {len(old)} lines")
        return True
    print(f"DIFFERENT: {what}")
    print("\n".join(list(difflib.unified_diff(old, new, "old", "new", lineterm="", n=1))[:40]))
    return False


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    old, new = (os.path.abspath(path) for path in sys.argv[1:])
    results = [compare(what, said_by(old, run), said_by(new, run)) for what, run in RUNS.items()]
    recorded = [said_of_recordings(program) for program in (old, new)]
    results += [compare(what, recorded[0][what], recorded[1][what]) for what in RECORDED]
    results.append(compare("metrics", metrics_of(old), metrics_of(new)))
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
