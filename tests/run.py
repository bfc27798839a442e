#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs all tests of a build and closes with `N passed, N failed`.

The unit tests (cmocka), as they are built and under sanitizers (BUILD/sanitized), the simulated CUDA's own checks, the
integration tests (pytest, which need root) with a gpuprobe under sanitizers or, those that it would change, with the
plain one; beside them, one after another and at low priority, the old kernel's suite, the static checks and the fuzz
targets; then the soak. With --full the tests marked slow, the integration tests with both, unit tests and some of those
under valgrind (BUILD/valgrind), and longer runs of the others. Exits with 1 if any failed. --only runs these steps, one
after another. A program that ends without a word about its tests counts as one that failed, and so does a step that
breaks off; the others run nevertheless.

steps: STEPS
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNIT_SECONDS = 900  # under valgrind a minute becomes many
INTEGRATION_SECONDS = 7200
# Tests wait more than they compute; with more at a time they would hold up each other's watched programs.
WORKERS = 2
# Steps that are commands which close with `N passed, N failed`: (command, seconds at most).
COMMANDS = {
    # Beside the others the emulation is slower.
    "kernel": (["env", "GUEST_SECONDS=1200", "tests/kernel/run.sh", "{build}"], 1500),
    "static": (["make", "static", "BUILD={build}", "STATIC_STATES={states}"], 1200),
    "fuzz": (["make", "fuzz", "BUILD={build}", "FUZZ_SECONDS={fuzz}"], 14400),
    "soak": (["make", "soak", "BUILD={build}", "SOAK_SECONDS={soak}"], 3600),
}
# The order. What runs beside the first, one after another, and what by itself; the last with --full alone.
BESIDE = ["kernel", "static", "fuzz"]
TOGETHER = ["unit", "sanitized", "sim", "integration", "integration-plain"]
ALONE = ["alone", "soak"]
FULL_ONLY = ["valgrind-unit", "valgrind", "alone-sanitized"]
# With 40,000 states clang's analyzer reaches as many branches as with its own 225,000, in a quarter of the time; with
# 20,000 it misses 1 %.
SHORT = {"fuzz": 20, "soak": 60, "states": 40000}
FULL = {"fuzz": 300, "soak": 1800, "states": 225000}
# Not under valgrind: the children of test_nvml end with NVML open; there is no vDSO for test_native_frames;
# test_text_stream has an allocator of its own; alarms and times bound the others. In some that run single tests are
# skipped (tests/unit/no_valgrind.h).
VALGRIND_LEAVES = {"test_nvml", "test_native_frames", "test_text_stream", "test_kernel_name",
                   "test_python_code_fuzz", "test_python_offsets", "test_kernels_hostile", "test_elf_file_hostile",
                   "test_findings_hostile", "test_model_hostile", "test_http", "test_http_clients",
                   "test_http_requests", "test_trace_stream"}
VALGRIND = ROOT / "tests" / "valgrind"
AROUND_VALGRIND = ["unshare", "--mount", VALGRIND / "around.sh"]
SANITIZERS = {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
              "UBSAN_OPTIONS": "print_stacktrace=1"}


class Sums:
    """Passed, failed and skipped tests, as they are told."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, name, passed, failed, skipped=0, seconds=0.0):
        self.passed += passed
        self.failed += failed
        self.skipped += skipped
        more = f", {skipped} skipped" if skipped else ""
        print(f"{name}: {passed} passed, {failed} failed{more} ({seconds:.1f} s)", flush=True)


def capture(command, seconds, env=None):
    """Runs it with these variables set besides; (status, output), with a status of None where it took too long."""
    try:
        done = subprocess.run(command, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=seconds, cwd=ROOT, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        return None, output.decode(errors="replace") + f"\nstopped after {seconds} s\n"


def run_unit(sums, program, name, before=(), env=None):
    begin = time.monotonic()
    status, output = capture([*before, program], UNIT_SECONDS, env)
    passed = sum(map(int, re.findall(r"^\[  PASSED  \] (\d+) test", output, re.M)))
    failed = sum(map(int, re.findall(r"^\[  FAILED  \] (\d+) test\(s\), listed", output, re.M)))
    skipped = sum(map(int, re.findall(r"^\[  SKIPPED \] (\d+) test\(s\), listed", output, re.M)))
    if not failed and (status != 0 or not passed):
        failed = 1
    if failed:
        print(output)
    sums.add(f"{name} {program.name}", passed, failed, skipped, time.monotonic() - begin)


def run_units(sums, build, name, before=(), env=None, leaves=()):
    for program in sorted((build / "tests").glob("test_*")):
        if program.name not in leaves:
            run_unit(sums, program, name, before, env)


def run_check(sums, name, command):
    """A check that counts as one test."""
    begin = time.monotonic()
    status, output = capture(command, UNIT_SECONDS)
    if status != 0:
        print(output)
    sums.add(name, int(status == 0), int(status != 0), seconds=time.monotonic() - begin)


def run_sim(sums, build):
    sim = build / "sim"
    libraries = [sim / name for name in ("libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1")]
    run_check(sums, "sim prologues", [ROOT / "sim" / "check-prologues.sh", *libraries])
    run_check(sums, "sim selftest", [sim / "selftest"])


def add_results(sums, name, results, status, seconds):
    """What pytest has written; without a failure there, one for an end that was none."""
    passed = failed = skipped = 0
    if results.exists():
        for suite in xml.etree.ElementTree.parse(results).getroot().iter("testsuite"):
            bad = int(suite.get("failures")) + int(suite.get("errors"))
            skipped += int(suite.get("skipped"))
            failed += bad
            passed += int(suite.get("tests")) - bad - int(suite.get("skipped"))
    if not failed and (status != 0 or not passed):
        failed = 1
    sums.add(name, passed, failed, skipped, seconds)


def run_integration(sums, name, build, program, marks, options=(), tests=("tests/integration",), before=()):
    """The integration tests among these that have these marks, with this gpuprobe."""
    begin = time.monotonic()
    env = {**os.environ, "GPUPROBE_BUILD": str(build), "GPUPROBE_PROGRAM": str(program), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as directory:
        results = Path(directory) / "results.xml"
        command = [*before, "/usr/bin/python3", "-m", "pytest", "-q", "--durations=40", f"--junitxml={results}",
                   *options, "-m", marks, *tests]
        try:
            status = subprocess.run(command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL,
                                    timeout=INTEGRATION_SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            status = None
        add_results(sums, name, results, status, time.monotonic() - begin)


def filled(command, build, lengths):
    return [word.format(build=build, **lengths) for word in command]


def add_closing(sums, name, status, output, seconds):
    """What it says in its last line, `N passed, N failed`."""
    print(output)
    closing = re.findall(r"^(\d+) passed, (\d+) failed$", output, re.M)
    passed, failed = map(int, closing[-1]) if closing else (0, 0)
    if not failed and (status != 0 or not passed):
        failed = 1
    sums.add(name, passed, failed, seconds=seconds)


def run_command(name, build, lengths, before=()):
    """What add_closing takes for a step that is a command."""
    begin = time.monotonic()
    command, seconds = COMMANDS[name]
    status, output = capture([*before, *filled(command, build, lengths)], seconds)
    return name, status, output, time.monotonic() - begin


class Beside:
    """Commands beside the tests, one after another: what those leave of the CPUs is enough for them."""

    def __init__(self, build, lengths):
        self.results = []
        self.thread = threading.Thread(target=self._run, args=(build, lengths), daemon=True)
        self.thread.start()

    def _run(self, build, lengths):
        for name in BESIDE:
            # The times of the others are not to depend on it.
            self.results.append(run_command(name, build, lengths, ["nice", "-n", "10"]))

    def finish(self, sums):
        self.thread.join()
        for result in self.results:
            add_closing(sums, *result)


def run_valgrind_units(sums, build):
    with tempfile.TemporaryDirectory() as reports:
        # Which the wrapper of the integration tests has by conftest.py.
        run_units(sums, build / "valgrind", "valgrind", [*AROUND_VALGRIND, VALGRIND / "run.sh"],
                  {"GPUPROBE_REPORTS": reports, "GPUPROBE_BUILD": str(build)}, VALGRIND_LEAVES)
        for report in sorted(Path(reports).iterdir()):
            print(report.read_text(errors="replace"), end="")


def run_valgrind(sums, build):
    lines = (VALGRIND / "tests.txt").read_text(encoding="utf-8").splitlines()
    run_integration(sums, "integration, valgrind", build, VALGRIND / "run.sh", "not alone",
                    tests=[f"tests/integration/{line}" for line in lines if line and not line.startswith("#")],
                    before=AROUND_VALGRIND)


def steps_of(build, full):
    """The steps by name: functions of the sums. With `full` each has the long tests, too."""
    plain, sanitized = build / "gpuprobe", build / "sanitized" / "gpuprobe"
    lengths = FULL if full else SHORT
    chosen = "" if full else " and not slow"
    two = ["-n", str(WORKERS), "--dist", "loadgroup"]

    def integration(name, program, marks, options=()):
        return lambda sums: run_integration(sums, f"integration, {name}", build, program, marks + chosen, options)

    steps = {
        "unit": lambda sums: run_units(sums, build, "unit"),
        "sanitized": lambda sums: run_units(sums, build / "sanitized", "sanitized", env=SANITIZERS),
        "sim": lambda sums: run_sim(sums, build),
        "integration": integration("sanitized", sanitized, "not alone and not plain", two),
        "integration-plain": integration("plain", plain, "not alone" + ("" if full else " and plain"), two),
        "alone": integration("alone", plain, "alone"),
        "alone-sanitized": integration("alone, sanitized", sanitized, "alone and not plain"),
        "valgrind-unit": lambda sums: run_valgrind_units(sums, build),
        "valgrind": lambda sums: run_valgrind(sums, build),
    }
    for name in COMMANDS:
        steps[name] = lambda sums, name=name: add_closing(sums, *run_command(name, build, lengths))
    return steps


def run_step(sums, name, step):
    """One that breaks off is one that failed, and the next is begun."""
    try:
        step(sums)
    except Exception:  # pylint: disable=broad-except
        traceback.print_exc()
        sums.add(name, 0, 1)


def run_all(sums, build, full):
    """All steps, those of BESIDE beside the others; with `full` the long ones, too."""
    steps = steps_of(build, full)
    beside = Beside(build, FULL if full else SHORT)
    for name in TOGETHER:
        run_step(sums, name, steps[name])
    run_step(sums, "beside", beside.finish)
    for name in ALONE + (FULL_ONLY if full else []):
        run_step(sums, name, steps[name])


def read_arguments(arguments):
    parser = argparse.ArgumentParser(usage="tests/run.py [--full] [--only STEP,...] BUILD",
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description=__doc__.replace("STEPS", ", ".join(steps_of(Path(), True))))
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    parser.add_argument("build", type=lambda name: Path(name).resolve())
    read = parser.parse_args(arguments)
    for name in read.only:
        if name not in steps_of(read.build, read.full):
            parser.error(f"there is no step {name}")
    return read


def main(arguments):
    read = read_arguments(arguments)
    if os.geteuid() != 0:
        sys.exit("the tests need root: sudo make test")
    sums = Sums()
    if read.only:
        for name in read.only:
            run_step(sums, name, steps_of(read.build, read.full)[name])
    else:
        run_all(sums, read.build, read.full)
    if sums.skipped:
        print(f"{sums.skipped} skipped")
    print(f"{sums.passed} passed, {sums.failed} failed")
    return 1 if sums.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
