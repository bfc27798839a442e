# SPDX-License-Identifier: BSD-2-Clause
"""The measured programs: what there are, and one of them at work on its own CPUs."""
import glob
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

import steps

HERE = os.path.dirname(os.path.abspath(__file__))
READY_SECONDS = 180  # importing PyTorch, setting up GPUs, compiling
END_SECONDS = 10  # torchrun ends its ranks
IDLE_SECONDS = 0.5  # so long CPUs are watched to find free ones


class Failed(Exception):
    """A program that cannot be measured; the others are."""


@dataclass(frozen=True)
class Kind:
    """A program. `bar`: the most that it may cost; None for loops of one kind of call."""
    title: str
    bar: float | None = None
    processes: int = 1  # one for each GPU
    cpus: int = 2  # PyTorch's backward pass has a thread of its own
    calls: bool = False


KINDS = {
    "training": Kind("training, launch-bound", 0.03),
    "compiled": Kind("training, compiled", 0.01),
    "decoding": Kind("decoding, eager", 0.03),
    "decoding_graph": Kind("decoding, CUDA graphs", 0.01),
    "inference": Kind("inference, 4 threads", 0.03, cpus=4),
    "parallel": Kind("training, data-parallel on 2 GPUs", 0.03, processes=2, cpus=6),
    "busy": Kind("training, GPU-bound", 0.005),
    "launch": Kind("launches of an empty kernel", cpus=1, calls=True),
    "wait": Kind("waits for an idle stream", cpus=1, calls=True),
    "copy": Kind("copies of 64 bytes to the GPU", cpus=1, calls=True),
    "allocation": Kind("allocations and frees", cpus=1, calls=True),
    "query": Kind("queries of a stream", cpus=1, calls=True),
}


def command(name, path, python, cpu):
    kind = KINDS[name]
    if kind.calls:
        return [python, f"{HERE}/call_programs.py", name, path]
    started = ([python, "-m", "torch.distributed.run", "--standalone",
                f"--nproc_per_node={kind.processes}"] if kind.processes > 1 else [python])
    return [*started, f"{HERE}/torch_programs.py", name, path,
            *(["--device", "cpu"] if cpu else [])]


# --- CPUs ---

def idle_ticks():
    """{CPU: ticks that it was idle}."""
    with open("/proc/stat") as file:
        lines = [line.split() for line in file if line.startswith("cpu") and line[3].isdigit()]
    return {int(line[0][3:]): int(line[4]) for line in lines}


def siblings(cpu):
    """The CPUs of one core, which slow each other down."""
    try:
        with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
            parts = [part.split("-") for part in file.read().strip().split(",")]
    except OSError:
        return {cpu}
    return {number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)}


def choose(order, of_one_core, count):
    """(CPUs for the program, CPUs for gpuprobe), or None for too few. `order`: all, the idlest
    first. The program has cores of its own where there are enough."""
    own, taken = [], set()
    for cpu in order:
        if len(own) < count and cpu not in taken:
            own.append(cpu)
            taken |= of_one_core(cpu)
    rest = [cpu for cpu in order if cpu not in taken]
    if len(own) == count and rest:
        return own, rest
    return (order[:count], order[count:]) if len(order) > count else None


def free_cpus(count):
    allowed, before = os.sched_getaffinity(0), idle_ticks()
    time.sleep(IDLE_SECONDS)
    after = idle_ticks()
    order = sorted(allowed, key=lambda cpu: before.get(cpu, 0) - after.get(cpu, 0))
    return choose(order, siblings, count)


# --- one at work ---

class Program:
    """A program of KINDS in its own processes, from start() to end()."""

    def __init__(self, name, work, python, cpu=False, environment=None):
        self.name, self.kind = name, KINDS[name]
        self.work = tempfile.mkdtemp(prefix=f"{name}-", dir=work)
        self.command = command(name, f"{self.work}/steps", python, cpu)
        self.environment = {**os.environ, **(environment or {})}
        self.process, self.ready, self.cpus = None, [], None

    def start(self):
        """Returns when all its processes run their steps; `ready` has what each said."""
        self.cpus = free_cpus(self.kind.cpus)
        lines = queue.SimpleQueue()
        with open(f"{self.work}/errors", "w") as errors:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=errors, text=True,
                                            env=self.environment, start_new_session=True)
        if self.cpus:
            os.sched_setaffinity(self.process.pid, self.cpus[0])
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        deadline = time.monotonic() + READY_SECONDS
        while len(self.ready) < self.kind.processes:
            try:
                line = lines.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                raise Failed(f"not ready within {READY_SECONDS} s: {self._said()}") from None
            if line is None:
                raise Failed(f"it ended: {self._said()}")
            if line.startswith("{"):
                self.ready.append(json.loads(line))

    def _read(self, lines):
        for line in self.process.stdout:
            lines.put(line)
        lines.put(None)

    def _said(self):
        with open(f"{self.work}/errors", errors="replace") as file:
            return file.read().strip()[-800:]

    def pids(self):
        return [ready["pid"] for ready in self.ready]

    def check(self):
        if self.process.poll() is not None:
            raise Failed(f"it ended with status {self.process.returncode}: {self._said()}")

    def times(self):
        """The Steps of each thread or process; waits for the latest ones."""
        time.sleep(2 * steps.WRITE_NS / 1e9)
        return [steps.read(path) for path in sorted(glob.glob(f"{self.work}/steps.*"))]

    def end(self):
        """Ends all its processes; torchrun's ranks are in sessions of their own."""
        if self.process:
            for pid in self.pids():
                kill(os.kill, pid, signal.SIGKILL)
            kill(os.kill, self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                kill(os.killpg, self.process.pid, signal.SIGKILL)
                self.process.wait()
            self.process.stdout.close()
        shutil.rmtree(self.work, ignore_errors=True)


def kill(by, number, what):
    """Sends a signal to what may have ended."""
    try:
        by(number, what)
    except ProcessLookupError:
        pass
