# SPDX-License-Identifier: BSD-2-Clause
"""
Finds the jobs of the static checks that need not run again: they passed, and their command, tool,
settings and all files that the tool read are the same to the byte. A stamp is the digest of all
these. Those of the jobs that have passed are kept in BUILD/static.txt and, for a fresh clone, in
tests/static/passed.txt, which `make static-record` writes.

A file is what it contains, never when it was written. The headers that a source reads are found
here by their `#include` lines, whatever the preprocessor's conditions are: a header too many is no
harm, and a thousand runs of the compiler take half a minute. The compiler says once for each header
of the system what that one reads.
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
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(<[^>\n]+>|"[^"\n]+"|\w+)', re.M)
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
def directives(path):
    """
    What follows `#include` in a file: names with their brackets or quotes, or a macro.
    """
    return tuple(INCLUDE.findall((ROOT / path).read_text(encoding="utf-8", errors="replace")))


@lru_cache(maxsize=None)
def resolve(name, folders):
    """The first of the folders that has the file, as a path; empty for a header of the system."""
    found = (os.path.normpath(f"{folder}/{name}") for folder in folders)
    return next((path for path in found if (ROOT / path).is_file()), "")


@lru_cache(maxsize=None)
def read_by_system(name, options):
    """The files that a header of the system reads, itself included; none if it is not there."""
    told = subprocess.run(["clang", *options, "-M", "-x", "c", "-"], cwd=ROOT, text=True,
                          input=f"#include {name}\n", stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    names = re.split(r"(?<!\\)\s+", told.stdout.replace("\\\n", " ").partition(": ")[2].strip())
    return tuple(name.replace("\\ ", " ") for name in names if name)


def options_of(words):
    """
    Of a compiler's words those that say which headers it reads: (folders of -I, the options for
    headers of the system).
    """
    folders = tuple(from_root(word)[2:] for word in words if word.startswith("-I"))
    target = tuple(word for at, word in enumerate(words)
                   if "-target" in words[max(at - 1, 0):at + 1])
    defined = tuple(word for word in words if word.startswith("-D"))
    outside = tuple(f"-I{folder}" for folder in folders if folder.startswith("/"))
    return folders, (*defined, *target, *outside)


def read_by(words):
    """
    The files that a compiler with these words reads, its source the last of them. Empty if an
    `#include` has no name.
    """
    folders, system = options_of(tuple(words))
    inside = tuple(folder for folder in folders if not folder.startswith("/"))
    found, left = {}, [words[-1]]
    while left:
        path = left.pop()
        for name in directives(path) if path not in found else ():
            if name[0] not in '<"':
                return []
            here = (os.path.dirname(path),) if name[0] == '"' else ()
            own = resolve(name[1:-1], here + inside)
            if own:
                left.append(own)
            else:
                found.update(dict.fromkeys(read_by_system(name, system)))
        found[path] = None
    return list(found)


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
        files = list(self.files) or (read_by(self.compiler) if self.compiler else [])
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
