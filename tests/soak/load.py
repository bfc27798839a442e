# SPDX-License-Identifier: BSD-2-Clause
"""The soak's load: rounds of simulated CUDA programs that start, work, die and end,
in random order."""
import os
import random
import resource
import signal
import subprocess
import time
from dataclasses import dataclass, field

AT_A_TIME = 4
PATIENCE = 60  # seconds, for a program that is to end by itself
# Those that can fail without the programs giving up.
FAILING = ("cuMemAlloc_v2", "cuMemFree_v2", "cuMemFreeAsync", "cuMemCreate", "cuMemUnmap",
           "cuMemcpyHtoDAsync_v2", "cuMemsetD8_v2", "cuLaunchKernel", "cuLaunchKernelEx",
           "cuGraphLaunch", "cuStreamCreate", "cuEventDestroy_v2", "cuStreamSynchronize",
           "cuCtxDestroy_v2", "cuModuleUnload", "cudaMalloc", "cuGraphInstantiateWithFlags")
SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGABRT, signal.SIGBUS)


@dataclass
class Program:
    """A program to run, and after how many seconds it is killed, by which signal."""
    argv: list
    env: dict = field(default_factory=dict)
    kill_after: float = None
    signal: int = None
    process: subprocess.Popen = None
    began: float = 0.0


def _layer(numbers):
    return ["--api", numbers.choice(("runtime", "driver"))]


def _mix(numbers):
    env = {"CUDA_SIM_DEVICES": "3", "CUDA_SIM_ASYNC": "50us"}
    if numbers.random() < 0.5:
        env["CUDA_SIM_FAIL"] = ",".join(f"{function}:%{numbers.randrange(3, 20)}"
                                        for function in numbers.sample(FAILING, 5))
    return Program(["mix", "--seed", numbers.randrange(1 << 20), "--threads", 6, "--seconds", 1,
                    "--children", 2], env)


def _launch(numbers):
    function = numbers.choice(("kernel", "ex", "cooperative", "graph"))
    return Program(["launch", "--function", function, "--threads", numbers.randrange(1, 5),
                    "--kernels", numbers.randrange(1, 20), "--launches", numbers.randrange(1, 3000),
                    *(_layer(numbers) if function == "kernel" else [])])


def _memory(numbers):
    return Program(["memory", "--kind",
                    numbers.choice(("device", "managed", "host", "pool", "pitch")), "--threads",
                    numbers.randrange(1, 4), "--pairs", numbers.randrange(1, 500), "--keep",
                    numbers.randrange(0, 50), "--random-sizes"])


def _doomed(numbers):
    """Killed at a random moment: nobody knows how far it came, and nothing of it may stay."""
    return Program(["memory", "--pairs", 10000000, "--keep",
                    1, "--threads", numbers.randrange(1, 4)],
                   kill_after=numbers.uniform(0.005, 0.3), signal=numbers.choice(SIGNALS))


def deck(numbers):
    """A round's programs: the same kinds each time, so that rounds compare,
    in an order of their own."""
    programs = [
        _mix(numbers), _mix(numbers),
        Program(["forker", "--processes", 20, "--short-lived", 1, "--launches", 5, "--pairs", 5]),
        Program(["forker", "--processes", 20, "--short-lived", 5, "--launches", 3, "--pairs", 3,
                 *_layer(numbers)]), Program(["forker", "--processes", 8, "--launches", 20]),
        Program(["forker", "--processes", 3, "--exec", "--launches", 20]),
        Program(["copy", "--count", 2, "--threads", 2, *_layer(numbers)]),
        Program(["copy", "--count", 1, "--in-flight", numbers.randrange(1, 30), "--wait",
                 numbers.choice(("stream", "context", "event", "query"))]),
        Program(["modules", "--rounds", numbers.randrange(1, 30), *_layer(numbers)]),
        Program(["traced", "--threads", 3, "--rounds", 30, "--fail", 5]),
        Program(["training", "--seconds", "0.5"]), Program(["dlopener", "--calls", 50]),
        Program(["static_runtime", "--launches", 50]), *(_launch(numbers) for _ in range(4)),
        *(_memory(numbers) for _ in range(4)), *(_doomed(numbers) for _ in range(6)),
    ]
    numbers.shuffle(programs)
    return programs


def _no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Load:
    """Runs rounds of the programs in a directory; truth files go to another one."""

    def __init__(self, sim, truths, seed):
        self.sim = sim
        self.truths = truths
        self.numbers = random.Random(seed)
        self.killed = set()  # pids, of those that wrote no truth
        self.wrong = []      # programs that ended as they should not

    def _start(self, program):
        argv = [str(self.sim / program.argv[0]), *map(str, program.argv[1:])]
        env = {**os.environ, "CUDA_SIM_TRUTH": f"{self.truths}/%p.%u.json",
               "LD_LIBRARY_PATH": str(self.sim), **program.env}
        program.process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, preexec_fn=_no_core)
        program.began = time.monotonic()

    def _has_ended(self, program):
        status = program.process.poll()
        age = time.monotonic() - program.began
        if status is None and program.kill_after is not None and age >= program.kill_after:
            self.killed.add(program.process.pid)
            program.process.send_signal(program.signal)
            status = program.process.wait(PATIENCE)
        if status is None and age > PATIENCE:
            program.process.kill()
            status = program.process.wait(PATIENCE)
            self.wrong.append(f"{program.argv}: did not end within {PATIENCE} s")
        if status is None:
            return False
        expected = -program.signal if program.signal else 0
        if status != expected:
            self.wrong.append(f"{program.argv} {program.env}: ended with {status}: "
                              f"{program.process.stderr.read()}")
        program.process.stderr.close()
        return True

    def round(self):
        """Runs one round to its end."""
        waiting, running = deck(self.numbers), []
        while waiting or running:
            while waiting and len(running) < AT_A_TIME:
                running.append(waiting.pop())
                self._start(running[-1])
            time.sleep(0.005 if any(program.signal for program in running) else 0.02)
            running = [program for program in running if not self._has_ended(program)]
