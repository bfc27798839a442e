# SPDX-License-Identifier: BSD-2-Clause
"""
Every command with random settings, most of them far too small, beside programs that change all the
time: entries that were evicted or have ended are not used again. Numbers are not checked;
sanitizers see the use of freed memory, without them it is a crash.
"""
import random
import shlex
import subprocess
import threading
import time
import urllib.request

import pytest

from lib import paths
from lib.paths import workload
from lib.probe import environment
from test_stack_modes import FRAMES, PATHS, build

QUICK = (15, 39)  # of the seven by which stacks were found that had been freed
SEEDS = [*QUICK, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40)
                   if seed not in QUICK)]
ROOM = {"--max-processes": (1, 3, 8, 64), "--max-allocations": (1, 50, 1000),
        "--max-kernels": (1, 4, 64), "--max-inflight": (1, 4)}
STORAGE = {"--stack-storage-size": (1, 2, 8, 64)}
STACKS = {**STORAGE, "--stack-sample": (1, 4, 64)}
MODES = ("fp", "auto", "dwarf")
INTERVALS = (0.05, 0.2, 1)


def some(rng, options):
    """About half of the options, each with one of its values."""
    return [word for name, values in options.items() if rng.random() < 0.6
            for word in (name, rng.choice(values))]


def maybe_stacks(rng, options):
    return ["--stack", rng.choice(MODES), *some(rng, options)] if rng.random() < 0.7 else []


def monitor(rng, port):
    return ["--display-interval", rng.choice(INTERVALS), "--metrics-addr", f"127.0.0.1:{port}",
            *some(rng, ROOM), *maybe_stacks(rng, {**STACKS, "--min-wait": ("1ns", "100us")}),
            *some(rng, {"--top": (1, 5, 0), "--metrics-kernels": (1, 100), "--max-overhead": (2,),
                        "--web": ("local", "all", "off")}),
            *rng.choice(([], ["--nccl"])), *rng.choice(([], ["--json"]))]


def diagnose(rng, _):
    return ["diagnose", "--interval", rng.choice(INTERVALS), *some(rng, ROOM),
            *maybe_stacks(rng, STACKS), *rng.choice(([], ["--json"], ["--window", "3s"]))]


def memleak(rng, _):
    room = {name: ROOM[name] for name in ("--max-processes", "--max-allocations")}
    return ["memleak", *rng.choice(([], ["-a"], ["--json"])), "-o", 0, "-T", rng.choice((0, 3)),
            *some(rng, room), "--stack", rng.choice(MODES), *some(rng, STORAGE),
            rng.choice(INTERVALS)]


def stat(rng, _):
    return ["stat", "--interval", rng.choice(INTERVALS), *some(rng, ROOM),
            *maybe_stacks(rng, STACKS)]


def flame(rng, _):
    by = rng.choice(("bytes", "live-bytes", "launches", "wait-time", "failures"))
    return ["flame", "--by", by, "--stack", rng.choice(MODES),
            *some(rng, STACKS if by == "launches" else STORAGE)]


def trace(rng, _):
    return ["trace", "--format", rng.choice(("table", "json", "tsv")), *maybe_stacks(rng, STORAGE)]


def nccl(rng, _):
    return ["nccl", "--interval", rng.choice((0, *INTERVALS)), *rng.choice(([], ["--json"])),
            "--hang", rng.choice(("100ms", "10s"))]


def account(rng, _):
    return ["account", "--interval", rng.choice(INTERVALS), "--by",
            rng.choice(("job", "user", "image", "process")),
            *rng.choice(([], ["--json"], ["--csv"]))]


def record(rng, _):
    level = rng.choice([(), ("--no-readings",), ("--level", "summary")])
    return ["record", "-o", "/dev/null", *level, *maybe_stacks(rng, STORAGE)]


COMMANDS = (monitor, monitor, diagnose, diagnose, memleak, memleak, stat, flame, trace, record,
            nccl, account)


def workloads(rng, many_stacks):
    """Three programs at a time, six times."""
    kinds = ("device", "managed", "host", "pool", "pitch")
    choices = (
        lambda: (workload("mix"), "--seed", rng.randrange(1000), "--threads",
                 rng.choice((1, 4, 16)), "--seconds", 1, "--children", rng.choice((0, 2, 5))),
        lambda: (workload("modules"), "--rounds", rng.choice((5, 50, 300)), "--kernels",
                 rng.choice((2, 8)), "--launches", 3, "--api", rng.choice(("runtime", "driver"))),
        lambda: (workload("memory"), "--threads", 4, "--pairs", 2000, "--keep",
                 rng.choice((0, 50, 500)), "--random-sizes", "--kind", rng.choice(kinds)),
        lambda: (workload("forker"), "--processes", rng.choice((3, 12)),
                 "--pairs", 50, "--short-lived", 20),
        lambda: (workload("forker"), "--processes", 6, "--exec"),
        lambda: (many_stacks, 8, 4, 100),
        lambda: (many_stacks, 10, 1, 0),
    )
    return [[rng.choice(choices)() for _ in range(3)] for _ in range(6)]


def script_of(rounds, failed):
    """A shell's; the file is there if a program did not end as it should."""
    lines = []
    for commands in rounds:
        lines += [f"({shlex.join(map(str, command))} || touch {failed}) > /dev/null 2>&1 &"
                  for command in commands]
        lines.append("wait")
    return "\n".join(lines)


def scrape_until(stop, port):
    while not stop.is_set():
        for page in ("metrics", "healthz", ""):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}",
                                            timeout=30) as answer:
                    answer.read()
            except OSError:  # not there yet, or any more
                pass
        time.sleep(0.1)


@pytest.fixture(scope="module")
def many_stacks(tmp_path_factory):
    return build(tmp_path_factory.mktemp("paths"), PATHS, *FRAMES)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_settings(many_stacks, free_port, tmp_path, seed):
    rng, stop, failed = random.Random(seed), threading.Event(), tmp_path / "failed"
    args = [str(word) for word in rng.choice(COMMANDS)(rng, free_port)]
    script = script_of(workloads(rng, many_stacks), failed)
    reader = threading.Thread(target=scrape_until, args=[stop, free_port])
    reader.start()
    try:
        with open(tmp_path / "output", "wb") as output:
            done = subprocess.run([paths.GPUPROBE, *args, "--", "sh", "-c", script],
                                  env=environment(), stdout=output,
                                  stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    finally:
        stop.set()
        reader.join()
    assert done.returncode == 0, (args, done.stderr[-2000:])
    assert not failed.exists()
