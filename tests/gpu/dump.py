# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe dump` of programs that were stuck before it came, on the real libraries: the call, the
line, and how long it takes. Programs that hang the GPU's queue or wait for something else:
programs/stuck.cu with either runtime, and PyTorch."""
import concurrent.futures
import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

from machine import PROGRAMS

sys.path.insert(0, os.path.join(os.path.dirname(PROGRAMS), "../integration"))
from lib.dump import Dump, Ready, stopped  # noqa: E402  pylint: disable=wrong-import-position

SCHEDULES = {1: "spin", 2: "yield", 4: "block"}
AT_ONCE = 4


@dataclass(frozen=True)
class Way:
    """How a program is stuck; `calls` are the CUDA functions that its threads are in,
    by the function that says READY."""
    name: str
    calls: dict
    flags: int = 0
    threads: int = 1
    by: str = None
    settles: float = 1  # seconds between what a thread says and its being stuck
    kill: bool = False  # it cannot be let go
    stop: bool = False  # by SIGSTOP, too

    @property
    def title(self):
        return self.name + (f", {SCHEDULES[self.flags]}"
                            if self.flags else "") + (", stopped" if self.stop else "")


C = [*(Way(name, {function: call}, flags) for flags in SCHEDULES
       for name, function, call in (("stream", "wait_for_stream", "cudaStreamSynchronize"),
                                    ("event", "wait_for_event", "cudaEventSynchronize"),
                                    ("device", "wait_for_device", "cudaDeviceSynchronize"))),
     Way("copy", {"copy_back": "cudaMemcpy"}), Way("launch", {"fill_queue": "cudaLaunchKernel"}),
     # Neither cudaMalloc nor cudaHostAlloc waits for a kernel: cudaFree does.
     Way("free", {"free_memory": "cudaFree"}), Way("load", {"load_module": "cudaLibraryGetGlobal"}),
     Way("deadlock", {"wait_with_lock": "cudaStreamSynchronize", "on_host": None}, threads=2),
     Way("child", {"wait_for_child": None}),
     Way("stream", {"wait_for_stream": "cudaStreamSynchronize"}, stop=True)]
PYTORCH = [
    Way("item", {"wait_for_item": "cudaStreamSynchronize"}),
    Way("stream", {"wait_for_stream": "cudaStreamSynchronize"}),
    Way("event", {"wait_for_event": "cudaEventSynchronize"}),
    Way("device", {"wait_for_device": "cudaDeviceSynchronize"}),
    Way("copy", {"copy_back": "cudaMemcpyAsync"}),
    Way("launch", {"fill_queue": "cudaLaunchKernel"}),
    Way("late", {"load_late": "cuModuleLoadData"}), Way("free", {"give_back": "cudaFree"}),
    Way("backward", {"backward": "cudaDeviceSynchronize", "wait_in_backward": None}, threads=2),
    Way("gil", {"hold_gil": "cudaStreamSynchronize", "want_gil": None}, threads=2),
    Way("child", {"wait_for_child": None}), Way("loader", {"wait_for_loader": None}, kill=True),
    Way("rank", {"wait_for_rank": None}, by="ncclCommInitRankConfig", settles=10, kill=True)]
COLLECTIVE = Way("collective", {"wait_for_collective": "cudaStreamSynchronize"})


@contextlib.contextmanager
def stuck(command, way):
    """A program that is stuck, and its threads that said so."""
    with subprocess.Popen([*command, way.name, str(way.flags)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as program:
        try:
            ready = []
            while len(ready) < way.threads:
                words = program.stdout.readline().split()
                if words[:1] != ["READY"]:
                    raise RuntimeError(f"{way.title}: it said {words}")
                ready.append(Ready(int(words[1]), words[2], int(words[3])))
            time.sleep(way.settles)
            yield program, ready
        finally:
            if program.poll() is None:
                program.kill()


def take(machine, pid, *options):
    """The Dump, and the seconds it took until its threads were taken and in all."""
    began = time.monotonic()
    ran = subprocess.run([machine.gpuprobe, "dump", "-p", str(pid), "--json", *options],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                         check=False)
    whole = time.monotonic() - began
    if ran.returncode:
        raise RuntimeError(f"gpuprobe dump: {ran.stderr}")
    found = Dump(ran.stdout)
    return found, found.data["taken_ns"] / 1e9, whole


def seen(process, ready, file):
    """What the dump says of a thread: its call, and whether its line is right or which it has."""
    thread = process.threads[ready.tid]
    own = thread.own(file)
    line = own and (own[0].rpartition(".")[2].partition("(")[0], own[1])
    return thread, "right" if line == (ready.function, ready.line) else line


def ended(program, way):
    """How the program ended, let go."""
    if way.kill:
        program.kill()
        program.communicate(timeout=30)
        return None
    said, _ = program.communicate("go\n", timeout=60)
    return program.returncode, said.split()


def one(machine, command, file, way):
    """(what was to be seen, what was, details) of one way to be stuck."""
    with stuck(command, way) as (program, ready):
        with stopped(program) if way.stop else contextlib.nullcontext():
            dumped, taken, whole = take(machine, program.pid)
            _, taken_again, again = take(machine, program.pid)
        process, found, details = dumped.processes[program.pid], [], []
        for each in sorted(ready, key=lambda each: each.function):
            thread, line = seen(process, each, file)
            found.append((each.function, thread.call, thread.by, line,
                          "stopped" if thread.state == "stopped" else ""))
            details.append({"state": thread.state, "waits": thread.data["waits"],
                            "cut": thread.data["stack"] and {
                                key: thread.data["stack"][key] for key in ("broken", "truncated")
                                if thread.data["stack"].get(key)}})
        wanted = [(function, call, way.by, "right", "stopped" if way.stop else "")
                  for function, call in sorted(way.calls.items())]
        end = ended(program, way)
    return ([*wanted, None if way.kill else (0, ["right"])], [*found, end],
            {"threads": details, "count": len(process.threads), "taken": round(taken, 3),
             "whole": round(whole, 3), "taken again": round(taken_again, 3),
             "again": round(again, 3)})


def compare(machine, results, title, command, file, ways):
    """All of these ways, some at once: the seconds are not judged then."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [(way, pool.submit(one, machine, command, file, way)) for way in ways]
        for way, run in runs:
            try:
                wanted, found, details = run.result()
            # If one breaks off that is a failure; the others are run.
            except Exception as error:  # pylint: disable=broad-except
                results.check(f"dump, {title}, {way.title}: ran", "yes", repr(error)[:400])
                continue
            results.check(f"dump, {title}, {way.title}: call and line of each stuck thread, "
                          "the program's end", wanted, found)
            results.tell(f"dump, {title}, {way.title}: how", json.dumps(details))


def build(machine, runtime):
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    program = f"{machine.work}/stuck_{runtime}"
    subprocess.run([nvcc, "-g", "-O2", "--cudart", runtime, "-o", program, f"{PROGRAMS}/stuck.cu"],
                   check=True)
    return program


def time_pytorch(machine, results):
    """Alone on the machine: the first dump of a PyTorch process, before any symbols are cached,
    and later ones."""
    with stuck([sys.executable, f"{PROGRAMS}/stuck.py"], PYTORCH[0]) as (program, _):
        runs = [take(machine, program.pid) for _ in range(6)]
        text = subprocess.run([machine.gpuprobe, "dump", "-p", str(program.pid)],
                              stdout=subprocess.PIPE, text=True, check=False).stdout
    results.keep("`gpuprobe dump -p PID` of PyTorch in `loss.item()`", text)
    results.tell("dump of PyTorch: threads; seconds until all were taken, and until the end, "
                 "first and later", {"threads": len(runs[0][0].processes[program.pid].threads),
                                     "taken": [round(run[1], 3) for run in runs],
                                     "whole": [round(run[2], 3) for run in runs]})
    results.check(
        "dump of PyTorch: taken within 0.3 s, whole within 2 s the first time, within 0.5 s later",
        (True, True, True), (max(run[1] for run in runs) <= 0.3, runs[0][2] <= 2,
                             sorted(run[2] for run in runs[1:])[2] <= 0.5))


def test_earlier_call(machine, results):
    """The other commands begin with such a look."""
    with stuck([sys.executable, f"{PROGRAMS}/stuck.py"], PYTORCH[0]) as (program, _):
        watched = {command: subprocess.Popen(
            [machine.gpuprobe, command, "-p", str(program.pid), "--duration", "2"], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for command in ("stat", "trace")}
        said = {command: process.communicate(timeout=60)[0] for command, process in watched.items()}
    for command, text in said.items():
        results.keep(
            f"`gpuprobe {command} -p PID --duration 2` of PyTorch that was in `loss.item()` before",
            text)
    results.check(
        "stat and trace of a process that was in a call before: it is in progress, it has a line",
        [True, True],
        ["in progress: 1 cuStreamSynchronize since before attach" in said["stat"],
         "cudaStreamSynchronize" in said["trace"] and "<began before attach>" in said["trace"]])


def test_dump(machine, results):
    for part in (time_pytorch, test_earlier_call):
        try:
            part(machine, results)
        except Exception as error:
            results.check(f"{part.__name__}: ran", "yes", repr(error)[:400])
    for runtime in ("shared", "static"):
        compare(machine, results, f"C, {runtime} runtime", [build(machine, runtime)], "stuck.cu", C)
    compare(machine, results, "PyTorch", [sys.executable, f"{PROGRAMS}/stuck.py"], "stuck.py",
            PYTORCH)


def test_dump_collective(machine, results):
    """On two GPUs."""
    compare(machine, results, "NCCL, two GPUs", [sys.executable, f"{PROGRAMS}/stuck.py"],
            "stuck.py", [COLLECTIVE])
