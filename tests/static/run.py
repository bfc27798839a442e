#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the sources without running them (gcc did so when it built them).
Prints `ok CHECK` or `not ok CHECK` for each check and closes with `N passed, N failed`.

usage: tests/static/run.py BUILD [--only CHECK,...] [--states N] [--all] [--record]
                           [--database FILE] -- FLAG...

FLAGs are the compiler's for src/, warnings included; BUILD has what is generated. A check is one of
those below over all the files that it is for, and passes if its tool has nothing to say of any. A
file that passed, and that is unchanged with all that it includes, is not looked at again, except
with --all; --record keeps for fresh clones what has passed (tests/static/unchanged.py). The tools'
exceptions, and their reasons, are in .clang-tidy, tests/static/cppcheck.txt and here. `make format`
makes the sources what the check `format` wants. clang's analyzer follows the ways through a
function until it has seen so many states: of loops with branches there is no end. --database checks
nothing: it writes how each file is compiled, for clangd.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

sys.dont_write_bytecode = True

from unchanged import Job, Stamps  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
FORMATTED = ("src", "api", "completions", "bpf", "include", "inject", "sim", "bench", "examples",
             "tests")
C_FOLDERS = ("src", "api", "completions", "inject", "tests/unit", "sim", "bench", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)

# Of warnings that only clang has.
CLANG_LEAVES = [
    # gcc's form of it lets a struct in a table end early if names begin it.
    "-Wno-missing-field-initializers",
    "-Wno-gnu-variable-sized-type-not-at-end",  # records with what follows them, in tests
    "-Wno-unknown-attributes",  # gcc's noipa, optimize
]
# The analyzer does not know the effects of helpers, vmlinux.h's guard is bpftool's,
# and equal branches stand for different operations.
BPF_TIDY_LEAVES = (
    "-clang-analyzer-*,-bugprone-reserved-identifier,-cert-dcl*,-bugprone-branch-clone")
# Variables that a script has from one that it reads, or for one: each file is looked at by itself.
SHELL_LEAVES = "SC2034,SC2154"
# A test's program takes all of its module of declarations.
PYTHON_LEAVES = "star import|import \\*"
# Not text for people, the report with the units of its first days, powers of two without a
# fraction, and units that thresholds are given in.
AMOUNTS_LEAVES = ("src/output/json/", "src/output/metrics/", "src/output/trace/",
                  "src/output/stat/csv.c", "src/output/report/", "src/output/stat/copies.c",
                  "src/finding/threshold.c")


def sources(*folders, suffixes=(".c",)):
    """The files below these folders with these suffixes, as paths from the root."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*")
             if path.suffix in suffixes]
    return sorted(str(path.relative_to(ROOT)) for path in found)


class Flags:
    """How each folder is compiled, as the Makefiles do it."""

    def __init__(self, build, flags, states):
        self.build = build
        self.flags = flags
        self.states = states

    def of(self, path):
        if path.startswith(("src/", "api/", "completions/", "inject/")):
            return self.flags
        if path.startswith("tests/unit/inject/"):
            return [*self.flags, "-Iinject"]
        if path.startswith("tests/unit/bpf/"):
            return ["-Itests/unit/bpf/native", *self.flags, "-Ibpf", "-Itests/unit",
                    "-Wno-format-nonliteral"]
        if path.startswith("tests/unit/"):
            return [*self.flags, "-Ibpf", "-Itests/unit", "-Wno-format-nonliteral"]
        if path.startswith("bench/"):
            return [*self.flags, "-Isim/include"]
        simulated = [flag for flag in self.flags if not flag.startswith(("-I", "-D"))]
        return [*simulated,
                *(["-D_GNU_SOURCE", "-DSIMULATED"] if path.startswith("examples/") else []),
                *(["-DCUDART_VERSION=12080"] if path.startswith("sim/tests12/") else []),
                "-Isim/include", "-Isim"]


def c_files():
    """All but BPF programs and what is not for this machine: real CUDA's compiler makes it."""
    return [path for path in sources(*C_FOLDERS) if not path.endswith(".bpf.c")]


def is_tidied(path):
    """Whether clang-tidy looks at it: what is installed."""
    return path.startswith(("src/", "api/", "inject/"))


@lru_cache(maxsize=None)
def reads_other(path):
    """Whether it or a header reads code that clang-tidy does not report on:
    the real uthash, or generated code."""
    for name in INCLUDE.findall((ROOT / path).read_text(encoding="utf-8")):
        if name.startswith("gen/") or name in ("uthash.h", "utlist.h"):
            return True
        for folder in ("src", "include", Path(path).parent):
            if (ROOT / folder / name).is_file() and reads_other(f"{folder}/{name}"):
                return True
    return False


def clang_jobs(flags):
    """clang-tidy tells clang's warnings besides."""
    compilers = [("clang", *flags.of(path), *CLANG_LEAVES, path)
                 for path in c_files() if not is_tidied(path) or reads_other(path)]
    return [Job([*compiler, "-fsyntax-only"], compiler=compiler) for compiler in compilers]


def skeleton_leaves(path):
    """bpftool's skeletons keep memory where there is no more of it."""
    return (",-clang-analyzer-unix.Malloc"
            if ".skel.h" in (ROOT / path).read_text(encoding="utf-8") else "")


def tidy_job(path, checks, options):
    """clang's warnings, which are not among the checks of .clang-tidy, are those of the options."""
    return Job(["clang-tidy", "--quiet", f"--checks=clang-diagnostic-*{checks}", path, "--",
                *options], compiler=("clang", *options, path))


def tidy_jobs(flags):
    """The model of uthash is found before the real one."""
    options = ["-Itests/static", *flags.flags, *CLANG_LEAVES,
               "-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={flags.states}"]
    # The longest first: the last one would hold up the end.
    largest = sorted(filter(is_tidied, c_files()), key=lambda path: -(ROOT / path).stat().st_size)
    return [tidy_job(path, skeleton_leaves(path), options) for path in largest]


def bpf_options():
    multiarch = subprocess.run(["gcc", "-print-multiarch"], text=True, capture_output=True,
                               check=True).stdout.strip()
    return ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-D__TARGET_ARCH_x86", "-Iinclude", "-Ibpf",
            "-Ibench", f"-I/usr/include/{multiarch}", "-Wall", "-Wextra", "-Wundef", "-Wvla",
            "-Werror", "-Wno-gnu-variable-sized-type-not-at-end"]


def bpf_programs():
    return [path for path in sources("bpf") if path.endswith(".bpf.c")] + ["bench/usual.bpf.c"]


def bpf_jobs(flags):
    return [tidy_job(path, f",{BPF_TIDY_LEAVES}", bpf_options()) for path in bpf_programs()]


def cppcheck_jobs(flags):
    # Without what is generated, whose megabytes of text it would take a minute to read.
    defines = [flag for flag in flags.flags
               if flag[:2] in ("-I", "-D") and flag != f"-I{flags.build}"]
    command = ["cppcheck", "--quiet", f"-j{os.cpu_count()}", "--std=c11", "--error-exitcode=1",
               "--library=posix,gnu", "--enable=warning,performance,portability",
               "--suppressions-list=tests/static/cppcheck.txt",
               "--template={file}:{line}: {severity}: {message} [{id}]", "-Itests/static",
               "-DLIBBPF_OPTS(type, name, ...)=struct type name = {0}", *defines, "src", "api",
               "completions", "inject"]
    return [Job(command, files=sources("src", "api", "completions", "include", "inject",
                                       "tests/static", suffixes=(".c", ".h")))]


def shell_jobs(flags):
    scripts = sources(".ci", "api", "bench", "deploy", "sim", "tests",
                      suffixes=(".sh",)) + [".ci/run"]
    check = ["shellcheck", "--severity=warning", f"--exclude={SHELL_LEAVES}"]
    return ([Job([*check, path], files=[path]) for path in scripts]
            + [Job(["bash", "-n", path]) for path in scripts])


def python_jobs(flags):
    programs = sources("bench", "deploy", "tests", suffixes=(".py",))
    # grep leaves nothing where there is nothing else.
    command = f"/usr/bin/python3 -m pyflakes \"$@\" | grep -vE '{PYTHON_LEAVES}' || true"
    return [Job(["bash", "-c", command, "-", *programs], files=programs)]


def man_jobs(flags):
    return [Job(["groff", "-man", "-Tutf8", "-ww", "-z", path])
            for path in sources("man", suffixes=(".8",))]


def format_jobs(flags):
    files = sources(*FORMATTED, suffixes=(".c", ".h"))
    parts = [files[at:at + 20] for at in range(0, len(files), 20)]
    return [Job(["clang-format", "--dry-run", "--Werror", *part], files=part) for part in parts]


def columns_jobs(flags):
    code = sources(*FORMATTED, suffixes=(".c", ".h"))
    scripts = sources("api", "bench", "deploy", "examples", "sim", "tests",
                      suffixes=(".py", ".sh", ".mk"))
    return [Job(["/usr/bin/python3", "tests/static/columns.py", *code, *scripts, ".ci/run",
                 "Makefile"])]


def amounts_jobs(flags):
    files = [path for path in sources("src/output", "src/finding", suffixes=(".c", ".h"))
             if not path.startswith(AMOUNTS_LEAVES)]
    return [Job(["/usr/bin/python3", "tests/static/amounts.py", *files])]


def recorded_jobs(flags):
    files = [path for path in sources("src/record") if path.endswith("_fields.c")]
    return [Job(["/usr/bin/python3", "tests/static/recorded_fields.py", *files])]


# clang-tidy first: it takes longest.
CHECKS = {"clang-tidy": tidy_jobs, "clang": clang_jobs, "bpf": bpf_jobs, "cppcheck": cppcheck_jobs,
          "shell": shell_jobs, "python": python_jobs, "man": man_jobs, "format": format_jobs,
          "columns": columns_jobs, "amounts": amounts_jobs, "recorded": recorded_jobs}


def run(job, stamps):
    """(passed, its output, whether it was left out): groff and others report faults with
    a status of 0."""
    stamp = job.stamp()
    if stamp and stamps.hold(stamp):
        stamps.keep(stamp)
        return True, "", True
    done = subprocess.run(job.command, cwd=ROOT, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    said = done.stdout + (done.stderr if done.returncode or job.command[0] == "groff" else "")
    passed = done.returncode == 0 and not said.strip()
    if passed and stamp:
        stamps.keep(stamp)
    return passed, said, False


def check(name, flags, stamps, pool):
    """Runs it over its files; whether all passed."""
    begin = time.monotonic()
    jobs = CHECKS[name](flags)
    faults = []
    unchanged = 0
    for job, (passed, said, left_out) in zip(jobs, pool.map(lambda job: run(job, stamps), jobs)):
        unchanged += left_out
        if not passed:
            faults.append(said.strip() or f"failed: {' '.join(job.command)}")
    passed = jobs and not faults
    print(f"{'ok' if passed else 'not ok'} {name} ({time.monotonic() - begin:.1f} s): "
          f"{len(jobs)} jobs, "
          f"{unchanged} of them unchanged", flush=True)
    if not passed:
        print("\n".join(["# certain: what a tool says of a file", *faults]), flush=True)
    return passed


def write_database(flags, path):
    """How each file is compiled, as clangd reads it
    (https://clang.llvm.org/docs/JSONCompilationDatabase.html)."""
    commands = [(source, flags.of(source)) for source in c_files()]
    commands += [(source, bpf_options()) for source in bpf_programs()]
    entries = [{"directory": str(ROOT), "file": source,
                "arguments": ["clang", *options, "-c", source]} for source, options in commands]
    path.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")


def split(words):
    """The words before and after `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1:]


def main():
    usage = __doc__.split("usage: ")[1].split("\n\n")[0]
    parser = argparse.ArgumentParser(usage=" ".join(usage.split()))
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--states", type=int, default=225000)  # clang's own
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--database", type=Path)
    words, flags = split(sys.argv[1:])
    arguments = parser.parse_args(words)
    chosen = arguments.only.split(",") if arguments.only else list(CHECKS)
    flags = Flags(arguments.build, flags, arguments.states)
    if arguments.database:
        write_database(flags, arguments.database)
        return 0
    stamps = Stamps(ROOT / arguments.build, arguments.all)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = sum(1 for name in chosen if check(name, flags, stamps, pool))
    stamps.write(arguments.record and not arguments.only and passed == len(chosen))
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 1 if passed < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
