# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe with an allocation that fails (programs/scarce.c), and what is allowed to come of it."""
import subprocess
import uuid
from dataclasses import dataclass
from pathlib import Path

from lib import exact, paths
from lib.probe import Result, environment
from lib.script import PROGRAMS

# Where libbpf's own look at the kernel fails it does without,
# and the verifier then takes long to refuse.
SECONDS = 120
# Libraries that end the program by themselves, or crash, where an allocation of theirs fails
# (docs/engineering/reliability.md).
OTHERS = ("/libdw", "/libseccomp")


def build(directory):
    """The library to preload; None where gpuprobe has allocation functions of its own,
    as with a sanitizer."""
    if b"__asan_init" in paths.GPUPROBE.read_bytes():
        return None
    library = directory / "scarce.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", library,
                    PROGRAMS / "scarce.c"], check=True)
    return library


@dataclass
class Trial:
    """One run: with which failure, whether that came about, and what became of it."""
    failure: dict
    hit: str  # the call stack, for addr2line
    result: Result | None  # None where it did not end
    mark: str

    def __str__(self):
        told = (f"status {self.result.status}, {self.result.stderr!r}"
                if self.result else "did not end")
        return f"{self.failure}: {told}\n{self.hit}"


class Scenario:
    """A command line of gpuprobe in want of memory. `words` are options;
    `command` is what it runs."""

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
        """Runs it with SCARCE_... as told; a Trial."""
        hit = self.directory / f"hit{self.runs}"
        result, mark = self._run(SCARCE_HIT=hit, **failure)
        return Trial(failure, hit.read_text() if hit.exists() else "", result, mark)


def is_exact(result):
    """Whether the final report tells what happened."""
    try:
        exact.check(result)
    except (AssertionError, IndexError, KeyError, ValueError):  # the last: a report that breaks off
        return False
    return True


def is_told(result):
    """Whether anything says that not all is right."""
    if result.stderr:
        return True
    reports = result.reports
    return bool(reports) and (bool(exact.lost(reports[-1])) or
                              any(process["since_attach"] for process in reports[-1]["processes"]))


def faults(trial):
    """What is wrong with what became of a trial; None where nothing is."""
    result = trial.result
    if result is None:
        return "it did not end"
    if result.status and any(name in trial.hit for name in OTHERS):
        return None
    if result.status not in (0, 1, 2):
        return f"it ended with {result.status}"
    lines = result.stderr.splitlines()
    if any(not line.startswith("gpuprobe: ") for line in lines) or len(lines) > 20:
        return "it says what is not its own words, or too much"
    if result.status:
        return None if lines else "it failed without a word"
    if result.stdout.startswith('{"schema"') or '\n{"schema"' in result.stdout:
        return (None if is_exact(result) or is_told(result)
                else "what it shows is wrong, and it does not say so")
    return None


def place(hit):
    """The functions of gpuprobe in a stack, for the message of a failure."""
    hit = hit.split("\n\n")[0]
    offsets = [line.split("(+")[1].split(")")[0] for line in hit.splitlines()
               if Path(line.split("(")[0]).name == "gpuprobe" and "(+" in line]
    if not offsets:
        return hit
    done = subprocess.run(["addr2line", "-fpe", paths.GPUPROBE,
                           *[hex(int(offset, 16) - 1) for offset in offsets]],
                          capture_output=True, text=True, check=False)
    return done.stdout or hit
