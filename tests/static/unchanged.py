# SPDX-License-Identifier: BSD-2-Clause
"""
Finds the jobs of the static checks that need not run again: they passed, and their command, tool,
settings and all files that the tool read are the same to the byte. A stamp is the digest of all
these. Those of the jobs that have passed are kept in BUILD/static.txt and, for a fresh clone, in
tests/static/passed.txt, which `make static-record` writes.

A file is what it contains, never when it was written. The compiler is asked each time for the files
that it reads, headers of the system included.
"""
import contextlib
import hashlib
import os
import re
import subprocess
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "static" / "passed.txt"
# What decides what the tools say, besides the files that they read.
SETTINGS = ("tests/static/run.py", "tests/static/unchanged.py", "tests/static/cppcheck.txt",
            ".clang-tidy", ".clang-format")
HEADING = ("# Stamps of the checks that have passed (tests/static/unchanged.py). "
           "`make static-record` writes them.\n")


@lru_cache(maxsize=None)
def digest(path):
    """What a file contains; empty where there is none."""
    try:
        return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
    except OSError:
        return ""


@lru_cache(maxsize=None)
def version(tool):
    return subprocess.run([tool, "--version"], text=True, capture_output=True, check=False).stdout


@lru_cache(maxsize=None)
def settings():
    return tuple(digest(path) for path in SETTINGS)


def from_root(word):
    """The same in each clone."""
    return word.replace(f"{ROOT}{os.sep}", "")


@lru_cache(maxsize=None)
def read_by(words):
    """The files that a compiler with these words reads, by `-M`; empty where it cannot tell."""
    told = subprocess.run([*words, "-M"], cwd=ROOT, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    names = re.split(r"(?<!\\)\s+", told.stdout.replace("\\\n", " ").partition(": ")[2].strip())
    return [name.replace("\\ ", " ") for name in names] if told.returncode == 0 else []


class Job:
    """
    A command of a check. `files` are all that its tool reads, or `compiler` is the command of a
    compiler that reads the same. A job with neither always runs.
    """

    def __init__(self, command, files=(), compiler=()):
        self.command = [str(word) for word in command]
        self.files = files
        self.compiler = compiler

    def stamp(self):
        """Of the job as it is now; empty where it is not known what it reads."""
        files = list(self.files) or (read_by(tuple(self.compiler)) if self.compiler else [])
        if not files:
            return ""
        words = [version(self.command[0]), *settings(), *map(from_root, self.command)]
        read = [word for path in files for word in (from_root(path), digest(path))]
        return hashlib.sha256("\0".join(words + read).encode()).hexdigest()[:32]


def stamps_in(path):
    """Those of a file; none where there is no such file."""
    with contextlib.suppress(OSError):
        return {line for line in path.read_text(encoding="utf-8").splitlines()
                if not line.startswith("#")}
    return set()


class Stamps:
    """The stamps of a build and those recorded; with `fresh` neither, so that all jobs run."""

    def __init__(self, build, fresh):
        self.path = Path(build) / "static.txt"
        self.kept = set() if fresh else stamps_in(self.path)
        self.recorded = set() if fresh else stamps_in(RECORD)
        self.passed = set()

    def hold(self, stamp):
        """Whether a job with this stamp has passed."""
        return stamp in self.kept or stamp in self.recorded

    def keep(self, stamp):
        self.passed.add(stamp)

    def write(self, record):
        """Keeps the jobs that passed in the build; with `record` also in tests/static/passed.txt,
        and only those."""
        with contextlib.suppress(OSError):  # another user's build
            self.path.write_text("".join(f"{stamp}\n" for stamp in sorted(self.kept | self.passed)),
                                 encoding="utf-8")
        if record:
            RECORD.write_text(HEADING + "".join(f"{stamp}\n" for stamp in sorted(self.passed)),
                              encoding="utf-8")
