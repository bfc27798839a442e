#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""The soak: gpuprobe's monitor, with stacks and the metrics page, and its tracer watch programs
that start and end all the time. What they hold is to be flat, and what they tell to be the truth.

usage: soak.py BUILD SECONDS [SEED]

Between rounds of the load, when no watched program is there, it is noted what each gpuprobe holds.
Prints `ok NAME` or `not ok NAME` with what is wrong, closes with `N passed, N failed` and exits
with 1 if any failed. Runs in a pid namespace of its own (soak.mk), so that other programs'
processes are none of its business.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

from figures import CACHES_FULL, REST_SECONDS  # noqa: E402
from ledger import Ledger  # noqa: E402
from lib import exact, leftovers  # noqa: E402
from lib.probe import environment  # noqa: E402
from lib.scrape import Endpoint  # noqa: E402
from load import Load  # noqa: E402
from watcher import Monitor, Tracer  # noqa: E402

# Small tables: entries that are not released after a process are soon missing, and reported lost.
# Caches fill up soon, too.
MONITOR = ["--json", "--top", "0", "--display-interval", "1", "--stack", "auto",
           "--stack-storage-size", "4096", "--max-processes", "128", "--max-kernels", "4096",
           "--max-inflight", "2048", "--max-allocations", "16384"]
# No launches: it keeps 65,536 names of kernels, which takes longer to fill up than a soak lasts.
TRACER = ["-v", "-e", "copy,sync", "--api", "driver", "--stack", "fp", "--stack-storage-size",
          "256", "--format", "tsv", "-O", "/dev/null"]
# One in a thousand processes that die in calls has this loss, though each of its numbers is right:
# see docs/engineering/reliability.md.
BEARABLE = {"inflight_busy"}
BYTES_A_PROCESS = 100 # of the heap in use, at most
# what ended lately is kept for two minutes, and how much that is depends on the machine
RESIDENT_GROWTH = 1.3
# of the copies of pageable memory: those at a moment at which mappings change are unknown
PAGEABLE_TOLD = 0.9
SCRAPE_EVERY = 3      # rounds
TOLD_EVERY = 60       # seconds
SHOWN = 30


class Soak:
    """One soak, in a directory of its own."""

    def __init__(self, build, directory, seed):
        self.gpuprobe = directory / "gpuprobe"
        sim = directory / "sim"
        shutil.copy(build / "gpuprobe", self.gpuprobe)
        shutil.copytree(build / "sim", sim)
        preload = shutil.copy(build / "soak" / "heap.so", directory)
        truths = directory / "truth"
        truths.mkdir()
        self.load = Load(sim, truths, seed)
        self.ledger = Ledger(truths)
        self.endpoint = Endpoint()
        # What is not named is found when it is first used, and seen from then on.
        libraries = ["--libcuda-path", sim / "libcuda.so.1", "--libcudart-path",
                     sim / "libcudart.so.13", "--libcudart-path", sim / "static_runtime"]
        env = environment()
        self.monitor = Monitor([self.gpuprobe, *MONITOR, *self.endpoint.option, *libraries], env,
                               preload, self.ledger)
        self.tracer = Tracer([self.gpuprobe, "trace", *TRACER, *libraries], env, preload)
        self.watchers = [self.monitor, self.tracer]
        self.functions = self._traced_functions()
        self.traced = 0     # calls that the tracer is to have written
        self.pages = 0
        self.counters = {}
        self.wrong_pages = []
        self.passed = self.failed = 0

    def _traced_functions(self):
        done = subprocess.run([self.gpuprobe, "trace", *TRACER[1:5], "--list-functions"],
                              capture_output=True, text=True, check=True)
        return {line.split()[0] for line in done.stdout.splitlines()}

    def _scrape(self):
        """Reads the page strictly. What is of no one process must not go back."""
        page = self.endpoint.scrape(openmetrics=self.pages % 2 == 0, compressed=self.pages % 3 == 0)
        self.pages += 1
        for (name, labels), value in page.counters().items():
            if dict(labels).get("pid") is not None:
                continue
            if value < self.counters.get((name, labels), 0):
                self.wrong_pages.append(f"{name} {dict(labels)} went back to {value}")
            self.counters[name, labels] = value

    def round(self, began):
        """A round of the load, compared and measured."""
        self.load.round()
        self.monitor.wait_until_told()
        with self.monitor.lock:
            truths = self.ledger.settle(self.load.killed)
        self.load.killed.clear()
        for truth in truths:
            self.traced += sum(counts["calls"] + counts["abandoned"]
                               for name, counts in truth.data["driver"].items()
                               if name in self.functions)
        self._measure(began)

    def _ended(self):
        return self.ledger.sums["processes"] + self.ledger.sums["killed"]

    def _measure(self, began, rest=False):
        for watcher in self.watchers:
            watcher.figures.take(time.monotonic() - began, self._ended(), rest)

    def _rest(self, began):
        """Nothing runs until ended processes have left the metrics page:
        the resources in use then are not theirs."""
        time.sleep(REST_SECONDS)
        self._measure(began, rest=True)

    def run(self, seconds):
        for watcher in self.watchers:
            watcher.wait_until_attached()
        began = time.monotonic()
        rounds = told = 0
        while time.monotonic() - began < seconds:
            self.round(began)
            if rounds % SCRAPE_EVERY == 0:
                self._scrape()
            rounds += 1
            if time.monotonic() - began >= told:
                self._tell()
                told = time.monotonic() - began + TOLD_EVERY
            if not self.monitor.figures.rests and self._ended() >= CACHES_FULL:
                self._rest(began)
        if self.monitor.figures.rests:
            self._rest(began)

    def _tell(self):
        for watcher in self.watchers:
            print(f"# {watcher.name}: {watcher.figures.samples[-1]}", flush=True)

    def judge(self, name, wrong, good="", certain=""):
        """Prints and counts one result; `certain` says why a failure is not by chance."""
        if not wrong:
            self.passed += 1
            print(f"ok {name}{good and f' ({good})'}", flush=True)
            return
        self.failed += 1
        print(f"not ok {name}: {len(wrong)} differences")
        print("".join(f"# {line}\n" for line in wrong[:SHOWN])
              + (f"# certain: {certain}\n" if certain else ""),
              end="", flush=True)

    def judge_flatness(self):
        for watcher in self.watchers:
            last = watcher.figures.samples[-1]
            self.judge(f"{watcher.name} is flat", watcher.figures.grown(),
                       f"{last.descriptors} descriptors, {last.threads} threads, "
                       f"{sum(last.entries.values())} entries of maps")
            self._judge_memory(watcher)

    def _judge_memory(self, watcher):
        figures = watcher.figures
        if not figures.judges_memory():
            print(f"# memory of the {watcher.name}: {figures.samples[-1]}; "
                  "too few processes to judge")
            return
        first, last = figures.resident()
        told = f"{first / 1024:.0f} KiB in the first third, {last / 1024:.0f} in the last"
        self.judge(f"resident memory of the {watcher.name}",
                   [told] if last > RESIDENT_GROWTH * first else [], told)
        size, processes = figures.kept()
        each = size / processes
        told = f"{size} bytes more in use after {processes} processes, {each:.1f} each"
        self.judge(f"heap of the {watcher.name}", [told] if each > BYTES_A_PROCESS else [], told)

    def judge_ends(self, held, statuses):
        self.judge("both end well", [f"{watcher.name} ended with {status}: {watcher.stderr[-2000:]}"
                                     for watcher, status in zip(self.watchers, statuses) if status])
        end = time.monotonic() + 20
        left = held
        while left and time.monotonic() < end:
            time.sleep(0.2)
            left = {key: name for key, name in leftovers.all_objects().items() if key in held}
        self.judge("nothing is left in the kernel",
                   [f"{key}: {name}" for key, name in left.items()] if left else [])

    def judge_all(self):
        held = set().union(*(leftovers.objects_of(watcher.process.pid)
                             for watcher in self.watchers))
        self.judge_flatness()
        statuses = [watcher.stop() for watcher in self.watchers]
        sums = self.ledger.sums
        self.judge("programs of the load end as they should", self.load.wrong,
                   certain="harm to a program")
        self.judge(
            "each process's numbers are its truth's", self.ledger.wrong,
            f"{sums['processes']} processes, {sums['calls']} calls, {sums['launches']} launches; "
            f"{sums['killed']} more were killed at a random moment", "wrong counts")
        told = f"{sums['pageable copies told']} of {sums['pageable copies']}"
        self.judge("copies of pageable memory are told as such",
                   [told] if sums["pageable copies told"] < PAGEABLE_TOLD * sums["pageable copies"]
                   else [], told)
        lost = exact.lost(self.monitor.last)
        self.judge("the monitor has lost nothing",
                   [f"{reason}: {count}" for reason, count in lost.items()
                    if reason not in BEARABLE], certain="wrong counts")
        written = self.tracer.written()
        self.judge("the tracer has written each call", [f"{written}, {self.traced} were made"]
                   if written != (self.traced, 0) else [], f"{self.traced} calls", "wrong counts")
        self.judge("metrics pages are sound", self.wrong_pages, f"{self.pages} pages")
        self.judge_ends(held, statuses)

    def kill(self):
        """Where something went wrong half-way."""
        for watcher in self.watchers:
            if watcher.process.poll() is None:
                watcher.process.kill()


def main(arguments):
    if len(arguments) not in (2, 3):
        sys.exit(__doc__)
    build, seconds = Path(arguments[0]).resolve(), float(arguments[1])
    seed = int(arguments[2]) if len(arguments) == 3 else int.from_bytes(os.urandom(4), "little")
    print(f"# {seconds:.0f} s, seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="gpuprobe-soak-") as directory:
        soak = Soak(build, Path(directory), seed)
        try:
            soak.run(seconds)
            soak.judge_all()
        except (RuntimeError, AssertionError, OSError) as failure:
            soak.judge("the soak runs", [str(failure)])
        finally:
            soak.kill()
    print(f"{soak.passed} passed, {soak.failed} failed")
    return 1 if soak.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
