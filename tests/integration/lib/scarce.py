# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe with a failing allocation (programs/scarce.c), and the permitted outcomes."""
import re
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from lib import exact, paths
from lib.probe import Result, environment
from lib.script import PROGRAMS

# If libbpf's own feature detection fails it goes on without the features, and the verifier then
# takes long to reject the programs.
SECONDS = 120
# Libraries that end the program or crash if one of their allocations fails
# (docs/engineering/reliability.md).
OTHERS = ("/libdw", "/libseccomp")
OOM_REPORT = re.compile(r"\[\d\d:\d\d:\d\d\] OUT OF MEMORY: |    ")


def build(directory):
    """
    The library to preload; None if gpuprobe has its own allocation functions, as with a sanitizer.
    """
    if b"__asan_init" in paths.GPUPROBE.read_bytes():
        return None
    library = directory / "scarce.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", library,
                    PROGRAMS / "scarce.c"], check=True)
    return library


@dataclass
class Trial:
    """One run: the failure, whether it happened, and the outcome."""
    failure: dict
    hit: str  # the call stack, for addr2line
    result: Result | None  # None if it did not end
    mark: str

    def __str__(self):
        told = (f"status {self.result.status}, {self.result.stderr!r}"
                if self.result else "did not end")
        return f"{self.failure}: {told}\n{self.hit}"


class Scenario:
    """
    A command line of gpuprobe, run short of memory. `words` are options; `command` is COMMAND.
    """

    def __init__(self, library, directory, words, command, links=None):
        self.library = library
        self.directory = directory
        self.words = [str(word) for word in words]
        self.command = [str(word) for word in command]
        self.links = links
        self.runs = 0

    def _run(self, **scarce):
        """(Result or None, the mark of its processes)"""
        self.runs += 1
        truth = self.directory / f"truth{self.runs}"
        truth.mkdir()
        mark = uuid.uuid4().hex
        env = environment(GPUPROBE_LINKS=self.links, CUDA_SIM_TRUTH=f"{truth}/%p.%u.json",
                          MARK=mark, LD_PRELOAD=self.library, **scarce)
        argv = [str(paths.GPUPROBE), *self.words, "--", *self.command]
        process = subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace")
        try:
            stdout, stderr = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return None, mark
        return Result(process.returncode, stdout, stderr, truth), mark

    def stacks(self):
        """(the call stacks that allocate in a run without failures, the number of allocations)"""
        path = self.directory / "stacks"
        path.unlink(missing_ok=True)
        result, _ = self._run(SCARCE_LIST=path)
        assert result.status == 0, result.stderr
        *stacks, total = path.read_text().split("\n")[:-1]
        return stacks, int(total.split()[1])

    def fail(self, **failure):
        """Runs it with these SCARCE_... variables. Returns a Trial."""
        hit = self.directory / f"hit{self.runs}"
        result, mark = self._run(SCARCE_HIT=hit, **failure)
        return Trial(failure, hit.read_text() if hit.exists() else "", result, mark)


def is_exact(result):
    """Whether the final report is correct."""
    try:
        exact.check(result)
    except (AssertionError, IndexError, KeyError, ValueError):  # ValueError: a truncated report
        return False
    return True


def is_told(result):
    """Whether any output says that something is wrong."""
    if result.stderr:
        return True
    reports = result.reports
    return bool(reports) and (bool(exact.lost(reports[-1])) or
                              any(process["since_attach"] for process in reports[-1]["processes"]))


def faults(trial):
    """What is wrong with the outcome of a trial; None if nothing is."""
    result = trial.result
    if result is None:
        return "it did not end"
    if result.status and any(name in trial.hit for name in OTHERS):
        return None
    if result.status not in (0, 1, 2):
        return f"it ended with {result.status}"
    # COMMAND may run out of device memory, which gpuprobe reports in lines of their own.
    lines = [line for line in result.stderr.splitlines() if not OOM_REPORT.match(line)]
    if any(not line.startswith("gpuprobe: ") for line in lines) or len(lines) > 20:
        return "it says what is not its own words, or too much"
    if result.status:
        return None if lines else "it failed without a word"
    if result.stdout.startswith('{"schema"') or '\n{"schema"' in result.stdout:
        return (None if is_exact(result) or is_told(result)
                else "what it shows is wrong, and it does not say so")
    return None


def place(hit):
    """gpuprobe's functions in a stack, for the message of a failure."""
    hit = hit.split("\n\n")[0]
    offsets = [line.split("(+")[1].split(")")[0] for line in hit.splitlines()
               if Path(line.split("(")[0]).name == "gpuprobe" and "(+" in line]
    if not offsets:
        return hit
    done = subprocess.run(["addr2line", "-fpe", paths.GPUPROBE,
                           *[hex(int(offset, 16) - 1) for offset in offsets]],
                          capture_output=True, text=True, check=False)
    return done.stdout or hit
