# SPDX-License-Identifier: BSD-2-Clause
"""
Which jobs of the static checks would say the same again: those that passed and whose command, tool, settings and all
files that the tool read are the same to the byte. A stamp is a file in BUILD/static for each command that has passed.

A file is what it contains, never when it was written. What a compiler reads is asked of the compiler, headers of the
system included. A header that is new or gone makes all stamps void, since it may be found before another one.
"""
import contextlib
import hashlib
import json
import re
import subprocess
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# What decides what the tools say, besides the files that they read.
SETTINGS = ("tests/static/run.py", "tests/static/unchanged.py", "tests/static/cppcheck.txt",
            ".clang-tidy", ".clang-format")


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


def headers():
    """All headers of the sources, by name."""
    return sorted(str(path.relative_to(ROOT)) for folder in ("api", "bench", "bpf", "include", "sim", "src", "tests")
                  for path in (ROOT / folder).rglob("*.h"))


@lru_cache(maxsize=None)
def read_by(words):
    """The files that a compiler with these words reads, by `-M`; empty where it cannot tell."""
    told = subprocess.run([*words, "-M"], cwd=ROOT, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    names = re.split(r"(?<!\\)\s+", told.stdout.replace("\\\n", " ").partition(": ")[2].strip())
    return [name.replace("\\ ", " ") for name in names] if told.returncode == 0 else []


class Job:
    """
    A command of a check. `files` are all that its tool reads, or `compiler` the words of a compiler that reads the
    same. A job with neither always runs.
    """

    def __init__(self, command, files=(), compiler=()):
        self.command = [str(word) for word in command]
        self.files = files
        self.compiler = compiler

    def reads(self):
        return list(self.files) or (read_by(tuple(self.compiler)) if self.compiler else [])


class Stamps:
    """Those of a build."""

    def __init__(self, build):
        self.folder = Path(build) / "static"
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = [digest(path) for path in SETTINGS] + headers()

    def _path(self, job):
        return self.folder / (hashlib.sha256("\0".join(job.command).encode()).hexdigest()[:32] + ".json")

    def _stamp(self, job, files):
        """Of the job as it is now, if these are the files that it reads."""
        parts = [version(job.command[0]), *self.settings, *files, *(digest(path) for path in files)]
        return {"digest": hashlib.sha256("\0".join(parts).encode()).hexdigest(), "files": files}

    def now(self, job):
        """The stamp to keep if it passes; None where it is not known what it reads. To be asked before it runs."""
        files = job.reads()
        return self._stamp(job, files) if files else None

    def hold(self, job):
        """Whether it has passed as it is now."""
        try:
            kept = json.loads(self._path(job).read_text(encoding="utf-8"))
            return kept == self._stamp(job, kept["files"])
        except (OSError, ValueError, KeyError):
            return False

    def keep(self, job, stamp):
        if stamp:
            with contextlib.suppress(OSError):  # another user's build
                self._path(job).write_text(json.dumps(stamp), encoding="utf-8")
