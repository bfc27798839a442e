# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe beside the measured programs: started and live, stopped, what it saw of each."""
import json
import os
import re
import signal
import subprocess
import time

LIVE_SECONDS = 15  # until the probes are in
SETTLED_SECONDS = 0.2  # no further link came for so long: that was the last
UNSURE_SECONDS = 2  # the same where -v did not tell of the driver
DRIVER = re.compile(r"libcuda\.so\S*( \(process \d+\))?: \d+ functions probed")  # of -v
STOP_SECONDS = 15


class Broken(Exception):
    """gpuprobe did not start, did not stop, or said nothing."""


class Watcher:
    """One of gpuprobe's ways to watch."""

    def __init__(self, gpuprobe, title, arguments, work, reports=True):
        self.title, self.arguments, self.reports = title, arguments, reports
        self.gpuprobe, self.work = gpuprobe, work
        self.process = self.error = self.live = None  # live: when its last probe came in
        self.cpus = None  # to run on; None: any
        self.starts, self.stops, self.lost, self.failures = [], [], 0, 0

    def start(self, pids):
        """Returns when its probes are in."""
        command = [self.gpuprobe, *self.arguments, "-v"]
        for pid in pids:
            command += ["-p", str(pid)]
        began = time.monotonic()
        with open(f"{self.work}/said", "w") as said, open(f"{self.work}/error", "w") as error:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said,
                                            stderr=error)
        if self.cpus:
            os.sched_setaffinity(self.process.pid, self.cpus)
        self._wait_until_live(began)
        self.starts.append(time.monotonic() - began)

    def _wait_until_live(self, began):
        """Whether the driver's probes, which come first, are in,
        and no other library's have followed for a while."""
        driver, links, since = False, 0, began
        while not links or time.monotonic() - since < (SETTLED_SECONDS
                                                       if driver else UNSURE_SECONDS):
            if self.process.poll() is not None:
                raise Broken(
                    f"it ended with status {self.process.returncode}: {self._text('error')[-800:]}")
            if time.monotonic() - began > LIVE_SECONDS:
                raise Broken(f"no probes within {LIVE_SECONDS} s: {self._text('error')[-800:]}")
            driver = driver or bool(DRIVER.search(self._text("error")))
            found = links_of(self.process.pid)
            if found != links:
                links, since = found, time.monotonic()
            time.sleep(0.01)
        self.live = since

    def stop(self):
        """What the tool saw: {pid: {"calls", "launches", "waits_ns"}},
        {} for a tool that makes no report."""
        process, self.process = self.process, None
        began = time.monotonic()
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            status = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Broken(f"did not end within {STOP_SECONDS} s") from None
        self.stops.append(time.monotonic() - began)
        if status:
            raise Broken(f"it ended with status {status}: {self._text('error')[-800:]}")
        return self._seen() if self.reports else self._traced()

    def end(self):
        """Where something broke off: no gpuprobe stays."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _text(self, name):
        with open(f"{self.work}/{name}", errors="replace") as file:
            return file.read()

    def _seen(self):
        lines = [line for line in self._text("said").splitlines() if line.startswith('{"schema"')]
        if not lines:
            raise Broken(f"no report: {self._text('error')[-800:]}")
        report = json.loads(lines[-1])
        self.lost += sum(report.get("lost", {}).values())
        return {process["pid"]: seen_of(process) for process in report["processes"]}

    def _traced(self):
        said = re.search(r"written \d+ calls?, lost (\d+)", self._text("error"))
        self.lost += int(said[1]) if said else 0
        return {}


def seen_of(process):
    """The monitor counts all launches apart; its launch functions only have the calls whose return
    it looked at, one in 256. An account has all calls."""
    account = process.get("all_threads")
    calls = sum(function["calls"] for function in process["functions"]
                if "sampled" not in function.get("flags", []))
    functions = {}
    for function in process["functions"]:
        name = function["function"]
        functions[name] = functions.get(name, 0) + function["calls"]
    return {"calls": calls if account else calls + process["launches"],
            "launches": process["launches"], "functions": functions,
            "waits_ns": account["time"]["wait"]["ns"] if account else None}


def links_of(pid):
    """How many BPF links a process holds."""
    count = 0
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            try:
                with open(f"/proc/{pid}/fdinfo/{fd}") as file:
                    count += "link_type:" in file.read()
            except OSError:  # closed meanwhile
                pass
    except FileNotFoundError:
        pass
    return count


def watchers(gpuprobe, work):
    """{key: Watcher}."""
    monitor = ["--json", "--display-interval", "0", "--metrics-addr", "none", "--top", "0"]
    return {"monitor": Watcher(gpuprobe, "gpuprobe", monitor, work),
            "stat": Watcher(gpuprobe, "gpuprobe stat", ["stat", "--json", "--top", "0"], work),
            "trace": Watcher(gpuprobe, "gpuprobe trace -O FILE",
                             ["trace", "-O", f"{work}/trace"], work, reports=False),
            "stacks": Watcher(gpuprobe, "gpuprobe --stack fp", [*monitor, "--stack", "fp"], work)}
