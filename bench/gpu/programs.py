# SPDX-License-Identifier: BSD-2-Clause
"""The programs that are measured: built, started, told to do a block of their steps."""
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
READY_SECONDS = 90  # importing PyTorch and setting up a GPU
END_SECONDS = 3
WARM_UP, FIRST_WARM_UP = 1 / 8, 1 / 2  # of a block's steps, before its clock starts
PROBING_SECONDS = 0.06  # a block this long tells how many steps fill one
MOST_STEPS = 50_000_000


class Failed(Exception):
    """A program that cannot be measured any more; the others are."""


class Program:
    """A loop in a process of its own, see loops.c and torch_loops.py."""

    def __init__(self, title, command, weight, environment=None):
        self.title, self.command, self.environment = title, command, environment or {}
        self.weight, self.warm_up_share = weight, WARM_UP  # of the time of a block, of its steps
        self.process = self.answers = self.errors = self.failed = None
        self.ready = {}  # what it said of itself
        self.steps = self.warm_up = 0
        self.cpus = None  # to run on; None: any

    def start(self):
        self.errors = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True,
                                        env={**os.environ, **self.environment})
        if self.cpus:
            os.sched_setaffinity(self.process.pid, self.cpus)
        self.answers = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(line)
        self.answers.put("")

    def _answer(self, seconds):
        try:
            line = self.answers.get(timeout=max(seconds, 0.001))
        except queue.Empty:
            raise self._failure(f"no answer within {seconds:.0f} s") from None
        if not line:
            raise self._failure("it ended")
        return line

    def _failure(self, what):
        self.process.kill()
        self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip()[-800:]
        return Failed(f"{what}: {said}" if said else what)

    def wait_until_ready(self, deadline):
        self.ready = json.loads(self._answer(deadline - time.monotonic()))

    def run(self, steps, warm_up, limit):
        """Seconds that `steps` took."""
        try:
            self.process.stdin.write(f"{steps} {warm_up}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self._failure("it ended") from None
        return float(self._answer(limit))

    def find_step(self):
        """Seconds of a step, without a probe."""
        steps, seconds = 1, self.run(1, 1, READY_SECONDS)
        while seconds < PROBING_SECONDS and steps < MOST_STEPS:
            steps = max(steps * 2, int(steps * PROBING_SECONDS * 1.2 / max(seconds, 1e-6)))
            steps = min(steps, MOST_STEPS)
            seconds = self.run(steps, 1, READY_SECONDS)
        return seconds / steps

    def set_block(self, seconds, step):
        self.steps = max(1, round(seconds * self.weight / step))
        self.warm_up = max(1, round(self.steps * self.warm_up_share))

    def block(self, seconds):
        """Seconds of a block that should take about so many."""
        return self.run(self.steps, self.warm_up, 10 + 20 * seconds * self.weight)

    def let_end(self):
        if self.process and self.process.poll() is None:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass

    def end(self, deadline):
        if self.process:
            try:
                self.process.wait(max(0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


# --- building ---

def compiler():
    """nvcc, with the shared runtime, whose calls are probed too."""
    return shutil.which("nvcc") or next(filter(os.path.exists, ["/usr/local/cuda/bin/nvcc"]), None)


def build_loops(work, sim):
    """The C program; for the simulated CUDA if `sim` is given."""
    path, source = f"{work}/loops", f"{HERE}/loops.c"
    if sim:
        command = ["cc", "-O2", "-D_GNU_SOURCE", f"-I{HERE}/../../sim/include", "-o", path, source,
                   f"-L{sim}", f"-Wl,-rpath,{sim}", "-lcudart", "-lcuda"]
    elif compiler():
        libraries = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(compiler()))),
                                 "lib64")
        command = [compiler(), "-x", "cu", "-O2", "-cudart", "shared", "-Xlinker",
                   f"-rpath={libraries}", "-o", path, source]
    else:
        raise Failed("no nvcc")
    built = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           timeout=90)
    if built.returncode:
        raise Failed(f"{' '.join(command)}: {built.stdout.strip()[-800:]}")
    return path


# Key, title, kind, weight. The first has a long warm-up, after which CPU and GPU run at their
# clocks; the GPU-bound one comes last.
C_LOOPS = [("launch", "launches of an empty kernel", "launch", 0.5),
           ("sync", "a launch and the wait for it", "sync", 0.5),
           ("allocation", "8 cudaMalloc of 64 KiB, 8 cudaFree", "allocation", 0.5)]
TORCH_LOOPS = [
    ("torch_allocation", "PyTorch, 8 tensors of 64 KiB, caching allocator off", "allocation", 0.5),
    ("torch_operations", "PyTorch, nothing but the smallest operations", "operations", 0.75),
    ("torch_training", "PyTorch, launch-bound: training of a small model", "training", 2.25),
    ("torch_busy", "PyTorch, GPU-bound: training of a large model", "busy", 2)]
# About a real driver's.
SIM_LATENCY = "cuLaunchKernel=2us,cuStreamSynchronize=2us,cuMemAlloc_v2=2us,cuMemFree_v2=2us"
NO_CACHING = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}


def programs(work, sim, python):
    """{key: Program}, not started. What a program lacks is found when it is."""
    simulated = {"CUDA_SIM_LATENCY": SIM_LATENCY} if sim else None
    found = {key: Program(title, [f"{work}/loops", kind], weight, simulated)
             for key, title, kind, weight in C_LOOPS}
    found["launch"].warm_up_share = FIRST_WARM_UP
    for key, title, kind, weight in TORCH_LOOPS:
        found[key] = Program(title, [python, f"{HERE}/torch_loops.py", kind,
                                     *(["--device", "cpu"] if sim else [])],
                             weight, NO_CACHING if kind == "allocation" else None)
    return found


def give_cpus(found):
    """Two cores for each (PyTorch's backward pass has a thread) if two are left for gpuprobe:
    steps vary less then."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2 * len(found) + 2:
        return
    for number, program in enumerate(found.values()):
        program.cpus = cpus[2 * number:2 * number + 2]


def start_all(found, work, sim):
    """Starts those that can be; PyTorch is imported while the compiler runs."""
    give_cpus(found)
    for key, program in found.items():
        if key.startswith("torch_"):
            program.start()
    try:
        build_loops(work, sim)
        for key, _, _, _ in C_LOOPS:
            if key in found:
                found[key].start()
    except (Failed, OSError, subprocess.TimeoutExpired) as error:
        for key, _, _, _ in C_LOOPS:
            if key in found:
                found[key].failed = f"not built: {error}"
    deadline = time.monotonic() + READY_SECONDS
    for program in found.values():
        if program.failed:
            continue
        try:
            program.wait_until_ready(deadline)
        except (Failed, ValueError) as error:
            program.failed = f"did not start: {error}"


def end_all(found):
    for program in found.values():
        program.let_end()
    deadline = time.monotonic() + END_SECONDS
    for program in found.values():
        program.end(deadline)
