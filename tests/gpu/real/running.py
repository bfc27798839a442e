# SPDX-License-Identifier: BSD-2-Clause
"""A program of the corpus as a process: started and held, let go, watched, ended."""
import array
import contextlib
import csv
import json
import os
import re
import signal
import subprocess
import time

READY_SECONDS = 150  # importing, setting up, compiling
END_SECONDS = 25
MOST_SECONDS = 600  # of a steady loop, should nobody end it


class Failed(Exception):
    """This run gave no result; the others go on. Names what went wrong and the program's last line,
    but no folders."""

    def __init__(self, text):
        lines = text.splitlines() or [""]
        said = [lines[0].partition(": ")[0], lines[-1]] if len(lines) > 1 else lines
        super().__init__(re.sub(r"(?:/[\w.@+-]+)+/", "", ": ".join(said)))


def tail(path, size=1500):
    with open(path, "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - size))
        return file.read().decode(errors="replace").strip()


class Run:
    """One process. What it prints goes to a file: some print much."""

    def __init__(self, name, command, environment, work):
        self.name = name
        self.said, self.times_file = f"{work}/{name}.said", f"{work}/{name}.times"
        command = [*command, str(MOST_SECONDS), "--held", "--times", self.times_file]
        with open(self.said, "wb") as said:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT,
                env={**os.environ, **environment}, start_new_session=True)
        self.began = time.monotonic()
        self.went = None

    def is_ready(self):
        with open(self.said, "rb") as file:
            for line in file:
                if line == b"READY\n":
                    return True
        if self.process.poll() is not None:
            raise Failed(f"{self.name} ended with {self.process.returncode} before it was ready: "
                         f"{tail(self.said)}")
        if time.monotonic() - self.began > READY_SECONDS:
            raise Failed(f"{self.name} was not ready within {READY_SECONDS} s: {tail(self.said)}")
        return False

    def wait_until_ready(self):
        while not self.is_ready():
            time.sleep(0.1)

    def go(self):
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()
        self.went = time.monotonic_ns()

    def stop(self):
        """(what it told of its loop, the times of its steps in ns)."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"{self.name} did not end: {tail(self.said)}") from None
        last = tail(self.said).splitlines()[-1:]
        if status or not last or not last[0].startswith("{"):
            raise Failed(f"{self.name} ended with {status}: {tail(self.said)}")
        return json.loads(last[0]), self._times()

    def _times(self):
        times = array.array("q")
        with open(self.times_file, "rb") as file:
            times.frombytes(file.read())
        return list(times)

    def end(self):
        """Where something broke off: no process of it stays."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()


def step_seconds(told, times, begin, end):
    """Mean seconds of a unit of work over the steps that ended in a window;
    None for fewer than two steps."""
    ends = [at for at in times if begin <= at <= end]
    return (ends[-1] - ends[0]) / 1e9 / (len(ends) - 1) / told["units"] if len(ends) > 1 else None


def boot_offset():
    """What CLOCK_BOOTTIME is ahead of CLOCK_MONOTONIC."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()


def idle_times(path):
    """The rows of --idle-times: [[pid, device or None, begin, end]], in ns of CLOCK_BOOTTIME."""
    with open(path, encoding="utf-8", newline="") as file:
        return [[int(row["pid"]), int(row["device"]) if row["device"] else None,
                 int(row["begin_ns"]), int(row["end_ns"])] for row in csv.DictReader(file)]


def diagnose(gpuprobe, pid, seconds, output):
    """
    Watches a process for so long; returns the report as gpuprobe wrote it to the file `output`.
    `idle_times` in it has the output of --idle-times.
    """
    idle = f"{output}.idle"
    ran = subprocess.run([gpuprobe, "diagnose", "-q", "--json", "-O", output, "--top", "0",
                          "-p", str(pid), "--duration", str(seconds), "--idle-times", idle],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, timeout=seconds + 60, check=False)
    if ran.returncode:
        raise Failed(f"gpuprobe diagnose ended with {ran.returncode}: {ran.stderr[-1500:]}")
    with open(output, encoding="utf-8") as file:
        return {**json.loads(file.read().splitlines()[-1]), "idle_times": idle_times(idle)}
