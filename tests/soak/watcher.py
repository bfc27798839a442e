# SPDX-License-Identifier: BSD-2-Clause
"""The gpuprobes of a soak, which run beside its load: their output,
their ends and their resources."""
import json
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from figures import Figures

PATIENCE = 60 # seconds


class Watcher:
    """A gpuprobe of this name that runs beside the load; the library `preload` reports its heap."""

    def __init__(self, name, argv, env, preload):
        heap = Path(preload).with_name(f"{name}.heap")
        env = {**env, "LD_PRELOAD": str(preload), "SOAK_HEAP": str(heap)}
        self.name = name
        self.lines = []
        self._errors = []
        self.process = subprocess.Popen(list(map(str, argv)), env=env,
                                        text=True, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.figures = Figures(name, self.process.pid, heap)
        self._readers = [threading.Thread(target=self._read, args=(pipe, take), daemon=True)
                         for pipe, take in ((self.process.stdout, self.take_line),
                                            (self.process.stderr, self._errors.append))]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(pipe, take):
        for line in pipe:
            take(line)

    def take_line(self, line):
        """Called by a thread, for each line of stdout."""

    @property
    def stderr(self):
        return "".join(self._errors)

    def wait_for(self, condition, what):
        """Waits until it is so; a gpuprobe that has ended meanwhile, or takes too long,
        is an error. what() says what is missing."""
        end = time.monotonic() + PATIENCE
        while not condition():
            status = self.process.poll()
            if status is not None or time.monotonic() > end:
                raise RuntimeError(
                    f"{self.name}: {what()} did not come; status {status}: {self.stderr[-2000:]}")
            time.sleep(0.1)

    def stop(self):
        """Interrupts it; its exit status."""
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return status


class Monitor(Watcher):
    """Its reports go to the ledger."""

    def __init__(self, argv, env, preload, ledger):
        self.ledger = ledger
        self.reports = 0
        self.last = None
        self.lock = threading.Lock()
        super().__init__("monitor", argv, env, preload)

    def take_line(self, line):
        report = json.loads(line)
        with self.lock:
            self.ledger.take(report)
            self.last = report
            self.reports += 1

    def wait_until_attached(self):
        self.wait_for(lambda: self.reports > 0, lambda: "the first report")

    def _what_is_missing(self):
        with self.lock:
            there = [f"{p['comm']} {p['pid']}" for p in self.last["processes"] if not p["ended"]]
            lost = {reason: count for reason, count in self.last["lost"].items() if count}
        return (f"the end of {self.ledger.missing()} (shown as running: {there}; lost: {lost}; "
                f"{self.reports} reports)")

    def wait_until_told(self):
        """Waits for the ends of all processes that have written a truth,
        and for a report after that."""
        self.wait_for(lambda: not self.ledger.missing(), self._what_is_missing)
        seen = self.reports
        self.wait_for(lambda: self.reports > seen + 1, lambda: "a report")


class Tracer(Watcher):
    """Counts what it has written."""

    def __init__(self, argv, env, preload):
        super().__init__("tracer", argv, env, preload)

    def wait_until_attached(self):
        self.wait_for(lambda: "the probes are in" in self.stderr, lambda: "word of its probes")

    def written(self):
        """Calls written and calls lost, by its last line."""
        found = re.search(r"written ([\d,]+) calls?, lost ([\d,]+)", self.stderr)
        return tuple(int(number.replace(",", "")) for number in found.groups()) if found else None
