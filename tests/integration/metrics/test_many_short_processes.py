# SPDX-License-Identifier: BSD-2-Clause
"""2,000 short processes: the page's size with each --metrics-by, and sums that never go back."""
import contextlib
import os
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from lib import folders
from lib.probe import environment, wait_until
from lib.scrape import OPENMETRICS, Endpoint, Page

pytestmark = [pytest.mark.slow,
              pytest.mark.plain("sanitizers make each process slow, and the size is the same")]

GROUPS, PROCESSES, LAUNCHES, PAIRS = 10, 200, 5, 3
SIZE_MAX = 2_000_000
# Series of each process, for two minutes: what 16 MiB of ended processes have on the page
# (docs/limits.md).
SIZE_MAX_BY_PROCESS = 8_000_000
FREEZER = Path("/sys/fs/cgroup/freezer")
# No other test's program has this name.
COMM = f"forker-{os.getpid()}"
ARGUMENTS = ["--processes", PROCESSES, "--short-lived", 1, "--launches", LAUNCHES, "--pairs", PAIRS,
             "--keep", 0]


@contextlib.contextmanager
def control_groups(names):
    """Control groups of these paths below one of the test's own."""
    top = FREEZER / f"gpuprobe-test-{uuid.uuid4().hex}"
    if not (FREEZER / "cgroup.procs").exists():
        pytest.skip("there are no control groups of version 1")
    for name in names:
        (top / name).mkdir(parents=True)
    try:
        yield [top / name for name in names]
    finally:
        wait_until(lambda: not any(group.exists() and group.read_text("utf-8").strip()
                                   for group in top.rglob("cgroup.procs")), "processes are left")
        for folder, _, _ in os.walk(top, topdown=False):
            os.rmdir(folder)


@contextlib.contextmanager
def commands(by, folder):
    """The commands that run the forker, one for each group."""
    forker = [folder / COMM, *ARGUMENTS]
    forker[0].symlink_to("forker")
    if by == "user":
        yield [["setpriv", f"--reuid={54000 + i}", "--clear-groups", *forker]
               for i in range(GROUPS)]
        return
    names = ([f"slurm/uid_0/job_{70000 + i}/step_0" for i in range(GROUPS)] if by == "job" else
             [f"docker/{i:064x}" for i in range(GROUPS)])
    with control_groups(names) as groups:
        yield [["sh", "-c", 'echo $$ > "$0"/cgroup.procs && exec "$@"', group, *forker]
               for group in groups]


class Pages:
    """The pages so far: the largest one, and that no counter goes back."""

    def __init__(self, endpoint):
        self.endpoint = endpoint
        self.counters = {}
        self.largest = self.count = 0
        self.last = None

    def take(self):
        status, _, body = self.endpoint.request("/metrics", headers={"Accept": OPENMETRICS})
        assert status == 200
        self.largest = max(self.largest, len(body))
        self.last = Page(body.decode(), True)
        now = self.last.counters()
        back = {key: (self.counters[key], value) for key, value in now.items()
                if value < self.counters.get(key, 0)}
        assert not back
        self.counters.update(now)
        self.count += 1

    def lost(self):
        """
        What was lost, but for ended processes that no report has shown, because there is none, and
        libraries of other users' programs.
        """
        return {labels["reason"]: value for labels, value in
                self.last.find("gpuprobe_events_lost_total")
                if value and labels["reason"] not in ("ended_forgotten", "library_skipped")}


def run_all(words, pages):
    """Runs the commands, two at a time, and takes pages meanwhile."""
    waiting, running = list(words), []
    while waiting or running:
        while waiting and len(running) < 2:
            running.append(subprocess.Popen([str(word) for word in waiting.pop()],
                                            stdout=subprocess.DEVNULL,
                                            env=environment(CUDA_SIM_TRUTH=None)))
        pages.take()
        for program in [program for program in running if program.poll() is not None]:
            assert program.returncode == 0
            running.remove(program)
        time.sleep(0.2)


@pytest.mark.parametrize("by", ["container", "user", "job", "process"])
def test_many_short_processes(gpuprobe, by):
    endpoint = Endpoint()
    with folders.private("forker") as folder, commands(by, folder) as words, gpuprobe.start(
            libraries=[folder / name for name in folders.LIBRARIES],
            base=["--json", "--display-interval", "0"],
            args=[*endpoint.option, "--metrics-by", by, "--comm", COMM]) as running:
        running.wait_until_watching()
        pages = Pages(endpoint)
        run_all(words, pages)
        pages.take()
        print(f"by {by}: the largest of {pages.count} pages had {pages.largest} bytes")
        assert pages.lost() == {}
        assert pages.largest <= (SIZE_MAX_BY_PROCESS if by == "process" else SIZE_MAX)
        for series, each in (("kernel_launches", LAUNCHES), ("allocations", PAIRS),
                             ("frees", PAIRS)):
            # Series of processes leave the page, and those that pages showed are in the counters.
            values = {labels: value for (name, labels), value in pages.counters.items()
                      if name == f"gpuprobe_{series}_total"}
            assert sum(values.values()) == GROUPS * PROCESSES * each
            # Some end before their control group is read.
            known = [value for labels, value in values.items()
                     if not labels & {("container_id", "unknown"), ("slurm_job_id", "unknown")}]
            assert max(known) <= PROCESSES * each
            assert by == "process" or len(known) == GROUPS
            assert by not in ("user", "process") or len(known) == len(values)
        running.stop()
