#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Checks the sources without running them (gcc has, when it built them), and closes with `N passed, N failed`.

usage: tests/static/run.py BUILD [--only CHECK,...] [--states N] -- FLAG...

FLAGs are the compiler's for src/, warnings included; BUILD has what is generated. A check is one of those
below over all the files that it is for, and passes if its tool has nothing to say of any. What the tools are
told to leave out, and why, is in .clang-tidy, tests/static/cppcheck.txt and here. `make format` makes the
sources what the check `format` wants. clang's analyzer follows the ways through a function until it has seen
so many states: of loops with branches there is no end.
"""
import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C_FOLDERS = ("src", "api", "tests/unit", "sim", "bench", "examples")

# Of warnings that only clang has.
CLANG_LEAVES = [
    "-Wno-missing-field-initializers",  # gcc's form of it lets a struct in a table end early where names begin it
    "-Wno-gnu-variable-sized-type-not-at-end",  # records with what follows them, in tests
    "-Wno-unknown-attributes",  # gcc's noipa, optimize
]
# The analyzer knows nothing of what helpers do, vmlinux.h's guard is bpftool's, and branches that do the same stand
# for operations that do.
BPF_TIDY_LEAVES = "-clang-analyzer-*,-bugprone-reserved-identifier,-cert-dcl*,-bugprone-branch-clone"
# Variables that a script has from one that it reads, or for one: each file is looked at by itself.
SHELL_LEAVES = "SC2034,SC2154"
# A test's program takes all of its module of declarations.
PYTHON_LEAVES = "star import|import \\*"


def sources(*folders, suffixes=(".c",)):
    """The files below these folders with these suffixes, as paths from the root."""
    found = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    return sorted(str(path.relative_to(ROOT)) for path in found)


class Flags:
    """How each folder is compiled, as the Makefiles do it."""

    def __init__(self, build, flags, states):
        self.build = build
        self.flags = flags
        self.states = states

    def of(self, path):
        if path.startswith("src/") or path.startswith("api/"):
            return self.flags
        if path.startswith("tests/unit/"):
            return [*self.flags, "-Itests/unit", "-Wno-format-nonliteral"]
        if path.startswith("bench/"):
            return [*self.flags, "-Isim/include"]
        simulated = [flag for flag in self.flags if not flag.startswith(("-I", "-D"))]
        return [*simulated, *(["-D_GNU_SOURCE", "-DSIMULATED"] if path.startswith("examples/") else []),
                *(["-DCUDART_VERSION=12080"] if path.startswith("sim/tests12/") else []), "-Isim/include", "-Isim"]


def c_files():
    """All but BPF programs and what is not for this machine: real CUDA's compiler makes it."""
    return [path for path in sources(*C_FOLDERS) if not path.endswith(".bpf.c")]


def clang_jobs(flags):
    return [["clang", "-fsyntax-only", *flags.of(path), *CLANG_LEAVES, path] for path in c_files()]


def skeleton_leaves(path):
    """bpftool's skeletons keep memory where there is no more of it."""
    return ["--checks=-clang-analyzer-unix.Malloc"] if ".skel.h" in (ROOT / path).read_text(encoding="utf-8") else []


def tidy_jobs(flags):
    """What is installed. The model of uthash is found before the real one."""
    plain = [flag for flag in flags.flags if not flag.startswith("-W")]
    plain += ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={flags.states}"]
    # The longest first: the last one would hold up the end.
    largest = sorted(sources("src", "api"), key=lambda path: -(ROOT / path).stat().st_size)
    return [["clang-tidy", "--quiet", *skeleton_leaves(path), path, "--", "-Itests/static", *plain] for path in largest]


def bpf_jobs(flags):
    multiarch = subprocess.run(["gcc", "-print-multiarch"], text=True, capture_output=True, check=True).stdout.strip()
    options = ["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-D__TARGET_ARCH_x86", "-Iinclude", "-Ibpf", "-Ibench",
               f"-I/usr/include/{multiarch}", "-Wno-gnu-variable-sized-type-not-at-end"]
    jobs = []
    for path in sources("bpf") + ["bench/usual.bpf.c"]:
        if path.endswith(".bpf.c"):
            jobs.append(["clang", "-fsyntax-only", "-Wall", "-Wextra", "-Wundef", "-Wvla", "-Werror",
                         *options, path])
            jobs.append(["clang-tidy", "--quiet", f"--checks={BPF_TIDY_LEAVES}", path, "--", *options])
    return jobs


def cppcheck_jobs(flags):
    # Without what is generated, whose megabytes of text it would take a minute to read.
    defines = [flag for flag in flags.flags if flag[:2] in ("-I", "-D") and flag != f"-I{flags.build}"]
    return [["cppcheck", "--quiet", f"-j{os.cpu_count()}", "--std=c11", "--error-exitcode=1", "--library=posix,gnu",
             "--enable=warning,performance,portability", "--suppressions-list=tests/static/cppcheck.txt",
             "--template={file}:{line}: {severity}: {message} [{id}]", "-Itests/static",
             "-DLIBBPF_OPTS(type, name, ...)=struct type name = {0}", *defines, "src", "api"]]


def shell_jobs(flags):
    scripts = sources(".ci", "api", "bench", "deploy", "sim", "tests", suffixes=(".sh",)) + [".ci/run"]
    return [["shellcheck", "--severity=warning", f"--exclude={SHELL_LEAVES}", path] for path in scripts] + [["bash", "-n", path] for path in scripts]


def python_jobs(flags):
    programs = sources("bench", "deploy", "tests", suffixes=(".py",))
    # grep leaves nothing where there is nothing else.
    return [["bash", "-c", f"/usr/bin/python3 -m pyflakes \"$@\" | grep -vE '{PYTHON_LEAVES}' || true", "-", *programs]]


def man_jobs(flags):
    return [["groff", "-man", "-Tutf8", "-ww", "-z", path] for path in sources("man", suffixes=(".8",))]


def format_jobs(flags):
    files = sources("src", "api", "bpf", "include", "sim", "bench", "examples", "tests", suffixes=(".c", ".h"))
    return [["clang-format", "--dry-run", "--Werror", *files[at:at + 20]] for at in range(0, len(files), 20)]


# clang-tidy first: it takes longest.
CHECKS = {"clang-tidy": tidy_jobs, "clang": clang_jobs, "bpf": bpf_jobs, "cppcheck": cppcheck_jobs,
          "shell": shell_jobs, "python": python_jobs, "man": man_jobs, "format": format_jobs}


def run(command):
    """(passed, what it says): groff and others tell of faults with a status of 0."""
    done = subprocess.run(command, cwd=ROOT, text=True, errors="replace", stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    said = done.stdout + (done.stderr if done.returncode or command[0] == "groff" else "")
    return done.returncode == 0 and not said.strip(), said


def check(name, flags, pool):
    """Runs it over its files; whether all passed."""
    begin = time.monotonic()
    jobs = CHECKS[name](flags)
    bad = 0
    for job, (passed, said) in zip(jobs, pool.map(run, jobs)):
        if not passed:
            bad += 1
            print(said.strip() or f"failed: {' '.join(job)}", flush=True)
    print(f"{name}: {'failed' if bad or not jobs else 'passed'} ({time.monotonic() - begin:.1f} s)", flush=True)
    return jobs and not bad


def split(words):
    """The words before and after `--`."""
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1:]


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--states", type=int, default=225000)  # clang's own
    words, flags = split(sys.argv[1:])
    arguments = parser.parse_args(words)
    chosen = arguments.only.split(",") if arguments.only else list(CHECKS)
    flags = Flags(arguments.build, flags, arguments.states)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        passed = sum(1 for name in chosen if check(name, flags, pool))
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 1 if passed < len(chosen) else 0


if __name__ == "__main__":
    sys.exit(main())
