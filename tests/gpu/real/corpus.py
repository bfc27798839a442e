# SPDX-License-Identifier: BSD-2-Clause
"""The programs of the corpus: what is wrong with each, and what gpuprobe is to say of it."""
import os
import re
from dataclasses import dataclass, field

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
MARK = re.compile(r"# FAULT\b")

HOST_BOUND, GPU_BOUND, IDLE = "host-bound", "gpu-bound", "idle"  # verdicts


@dataclass(frozen=True)
class Program:
    name: str
    title: str
    half: str  # "first": thresholds were fixed by these; "second": they were left alone
    verdict: str
    # Its number in the list; 0: a sound program. Two forms of a fault have one number.
    fault: int = 0
    file: str = None  # NAME.py
    arguments: tuple = ()
    modules: tuple = ()  # files beside it that are part of it
    # Kinds of reasons that are right for it, as report.py names them; none: any.
    reasons: tuple = ()
    environment: dict = field(default_factory=dict)
    cpus: float = None  # the CPUs that its cgroup allows it in the steady loop, repaired excepted
    gpus: int = 1
    # It loads busy.c itself, by steady.record_busy(). NCCL refuses connections in a process into
    # which the driver has injected a library.
    records_busy: bool = False

    @property
    def path(self):
        return os.path.join(PROGRAMS, self.file or f"{self.name}.py")

    def marked(self):
        """{(file, line)} of the lines that are at fault."""
        found = set()
        for name in (os.path.basename(self.path), *self.modules):
            with open(os.path.join(PROGRAMS, name), encoding="utf-8") as file:
                found |= {(name, number) for number, line in enumerate(file, 1)
                          if MARK.search(line)}
        return found


# Kinds of reasons.
ON_CPU, LOCK, GIL, QUEUE, DISK, THROTTLED = "on-cpu", "lock", "gil", "queue", "disk", "throttled"
LAUNCHES, ALLOCATION, MODULES, COPIES, WAITS = ("launches", "allocation", "modules", "copies",
                                                "waits")

FAULTS = [
    Program("preprocessing", "CPU preprocessing in the loop, a wait in each step",
            "first", HOST_BOUND, 1, modules=("images.py",), reasons=(ON_CPU,)),
    Program("preprocessing_no_wait", "the same without a wait",
            "first", HOST_BOUND, 1, file="preprocessing.py",
            arguments=("--no-wait",), modules=("images.py",), reasons=(ON_CPU,)),
    Program("few_workers", "too few loader workers", "first",
            HOST_BOUND, 2, modules=("images.py",), reasons=(QUEUE,)),
    Program("slow_storage", "slow storage", "second", HOST_BOUND, 3, reasons=(DISK,)),
    Program("held_lock", "a lock held by another thread", "first", HOST_BOUND, 4, reasons=(LOCK,)),
    Program("gil", "a Python thread that computes beside the submitting one",
            "second", HOST_BOUND, 5, reasons=(GIL,)),
    Program("item_each_step", "`.item()` and printing in each step", "first", HOST_BOUND, 6),
    Program("tensor_logging", "weights copied to the host and logged in each step",
            "second", HOST_BOUND, 7, reasons=(COPIES, ON_CPU)),
    Program("pageable", "copies from pageable memory", "first", HOST_BOUND, 8, reasons=(COPIES,)),
    Program("decoding", "batch-1 decoding by eager launches",
            "first", HOST_BOUND, 9, reasons=(LAUNCHES, ON_CPU)),
    Program("tiny_optimiser", "many tiny kernels of an optimizer",
            "second", HOST_BOUND, 10, reasons=(LAUNCHES, ON_CPU)),
    Program("uncached", "allocation in each step, the caching allocator off",
            "first", HOST_BOUND, 11, reasons=(ALLOCATION,)),
    Program("empty_cache", "`empty_cache()` in each step",
            "second", HOST_BOUND, 12, reasons=(ALLOCATION,)),
    Program("late_module", "modules compiled and loaded in the middle", "second", HOST_BOUND, 13,
            reasons=(MODULES, ON_CPU)),
    Program("throttled", "throttled by its cgroup", "second",
            HOST_BOUND, 14, reasons=(THROTTLED,), cpus=0.3),
]
SOUND = [
    Program("large_training", "training of a large model", "first", GPU_BOUND),
    Program("compiled", "training, compiled", "first", GPU_BOUND),
    Program("graphs", "inference by CUDA graphs", "second", GPU_BOUND),
    Program("idle_server", "a server without requests", "first", IDLE, modules=("server.py",)),
    Program("busy_server", "a server with many requests",
            "second", GPU_BOUND, modules=("server.py",)),
    Program("data_parallel", "data-parallel training on two GPUs", "second", GPU_BOUND, gpus=2,
            environment={"NCCL_SOCKET_IFNAME": "lo"}, records_busy=True),
    Program("jax_training", "training in JAX, compiled", "second", GPU_BOUND),
    Program("streams", "inference on several streams", "first", GPU_BOUND),
]
ALL = {program.name: program for program in [*FAULTS, *SOUND]}
HALVES = ("first", "second")


def chosen(words):
    """The programs of a list of names and halves, in the corpus's order; all of none."""
    for word in words:
        if word not in ALL and word not in HALVES:
            raise ValueError(f"{word} is neither a program of the corpus nor a half of it")
    return [program for program in ALL.values()
            if not words or program.name in words or program.half in words]
