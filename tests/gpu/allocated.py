# SPDX-License-Identifier: BSD-2-Clause
"""
Allocated, active and unused bytes of a real PyTorch's tensors by `gpuprobe memleak`, beside
memory_stats(), while the program (programs/allocated.py) stands still; and over a million
allocations, whose counts and requested bytes must be equal.

Several programs run at a time: no time is judged.
"""
import concurrent.futures
import json
import os
import queue
import statistics
import subprocess
import threading
import time

TENSORS = 100_000  # of each case
STOPS = 8
WARM_UP = 30  # steps before gpuprobe attaches in the middle
AT_A_TIME = 6
CASE_SECONDS = 95  # a case that takes longer has failed; two rounds of cases
SETTLE_SECONDS = 15
BAR = 0.02
CASES = [(mode, expandable, middle) for mode in ("compiled", "threads", "eager")
         for expandable in (False, True) for middle in (False, True)]
JUDGED = ("requested", "allocated", "active", "holes")
# Told alone: PyTorch counts unused pieces of split blocks, gpuprobe what segments with tensors have
# unused.
FIGURES = (*JUDGED, "inactive split")


def label_of(mode, expandable, middle):
    return (f"{mode}{', expandable segments' if expandable else ''}"
            f"{', attached in the middle' if middle else ''}")


class Reports:
    """gpuprobe's tensors of a process, read all the time so that gpuprobe never waits."""

    def __init__(self, gpuprobe, pid):
        self.pid, self.lines = pid, queue.SimpleQueue()
        self.process = subprocess.Popen(
            [gpuprobe, "memleak", "--json", "-q", "-o", "0", "--top", "1", "-p", str(pid), "0.5"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def next(self, seconds):
        """The tensors in the next report; None if it has none. Raises queue.Empty."""
        report = json.loads(self.lines.get(timeout=max(seconds, 0.001)))
        return next((process["tensors"] for process in report["processes"]
                     if process["pid"] == self.pid), None)

    def after(self, allocations):
        """
        The report after the first one with as many allocations: it began when the program
        stood still. The latest one if none comes.
        """
        tensors, end = None, time.monotonic() + SETTLE_SECONDS
        try:
            while not tensors or tensors["allocations"] < allocations:
                tensors = self.next(end - time.monotonic()) or tensors
            return self.next(SETTLE_SECONDS) or tensors
        except queue.Empty:
            return tensors

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)


def differences(said, before, tensors):
    """{figure: (memory_stats(), gpuprobe)}. In the middle only what was requested since:
    gpuprobe knows no segment from before, nor where new tensors are in them."""
    found = {"requested": (said["requested"] - before["requested"], tensors["live_bytes"])}
    if before["reserved"]:
        return found
    segments = tensors["segments"]
    return found | {"allocated": (said["allocated"], segments["tensor_bytes"]),
                    "active": (said["active"], segments["tensor_bytes"]),
                    "holes": (said["reserved"] - said["allocated"], segments["unused_bytes"]),
                    "inactive split": (said["inactive_split"], segments["pinned_bytes"])}


def converse(gpuprobe, program):
    """[what memory_stats() says at a stop, the first one before all], [gpuprobe's tensors]."""
    said, seen = [json.loads(program.stdout.readline())], []
    with Reports(gpuprobe, program.pid) as reports:
        reports.next(60)  # the probes are in
        for _ in range(STOPS):
            program.stdin.write("\n")
            program.stdin.flush()
            said.append(json.loads(program.stdout.readline()))
            seen.append(reports.after(said[-1]["allocations"] - said[0]["allocations"]))
    return said, seen


def run_case(machine, case):
    """What converse returns, or the error as text."""
    mode, expandable, middle = case
    changes = {"TORCHINDUCTOR_COMPILE_THREADS": "1"}
    if expandable:
        changes["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    program = subprocess.Popen(
        machine.python("allocated.py", mode, str(TENSORS), str(STOPS),
                       str(WARM_UP if middle else 0)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=dict(os.environ, **changes))
    alarm = threading.Timer(CASE_SECONDS, program.kill)
    alarm.start()
    try:
        return converse(machine.gpuprobe, program)
    except (OSError, ValueError, queue.Empty) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        alarm.cancel()
        program.kill()
        program.wait()


def check_exact(results, label, said, tensors):
    """Returns how many allocations the case made."""
    before, after = said[0], said[-1]
    made = after["allocations"] - before["allocations"]
    seen = (None,) * 4
    if tensors:
        seen = (tensors["allocations"], tensors["allocated_bytes"],
                tensors["frees"] + tensors["unknown_frees"], tensors["untracked"])
    results.check(f"allocated, {label}: allocations, requested bytes, frees (memory_stats), lost",
                  (made, after["allocated_bytes"] - before["allocated_bytes"],
                   after["frees"] - before["frees"], 0), seen)
    return made


def errors_of(said, seen):
    """{figure: [relative error at each stop]}. A figure of 0 has none."""
    errors = {}
    for now, tensors in zip(said[1:], seen):
        for figure, (true, ours) in differences(now, said[0], tensors).items() if tensors else ():
            if true > 0:
                errors.setdefault(figure, []).append(abs(ours - true) / true)
    return errors


def medians(errors):
    return {figure: f"{statistics.median(errors[figure]) * 100:.2f} %"
            for figure in FIGURES if errors.get(figure)}


def test_allocated(machine, results):
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        found = list(pool.map(lambda case: run_case(machine, case), CASES))
    made, all_errors = 0, {figure: [] for figure in FIGURES}
    for case, outcome in zip(CASES, found):
        label = label_of(*case)
        if isinstance(outcome, str):
            results.check(f"allocated, {label}: ran to its end", "yes", outcome)
            continue
        made += check_exact(results, label, outcome[0], outcome[1][-1])
        errors = errors_of(*outcome)
        results.tell(f"allocated, {label}: median error over {STOPS} stops", medians(errors))
        for figure, values in errors.items():
            all_errors[figure] += values
    results.check("allocated: at least 1,000,000 allocations in all", True, made >= 1_000_000)
    results.tell("allocated: allocations in all; median error of all stops",
                 (made, medians(all_errors)))
    results.check(f"allocated: figures whose median error is more than {BAR * 100:g} %, or unknown",
                  [], [figure for figure in JUDGED
                       if not all_errors[figure] or statistics.median(all_errors[figure]) > BAR])
