#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs all tests of a build and closes with `N passed, N failed`.

usage: tests/run.py [--full] BUILD

The unit tests (cmocka), the simulated CUDA's own checks, the integration tests (pytest, which need
root) and those on an old kernel under emulation; with --full the tests marked slow, too. Exits with 1
if any failed.
A program that ends without a word about its tests counts as one that failed.
"""
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UNIT_SECONDS = 300
INTEGRATION_SECONDS = 3600
# Tests wait more than they compute; with more at a time they would hold up each other's watched programs.
WORKERS = 2
KERNEL_SECONDS = 1500
GUEST_SECONDS = 1200  # beside the other tests the emulation is slower


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


def capture(command, seconds):
    """Runs it; (status, output), with a status of None where it took too long."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=seconds, cwd=ROOT, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
        return None, output.decode(errors="replace") + f"\nstopped after {seconds} s\n"


def run_unit(sums, program):
    begin = time.monotonic()
    status, output = capture([program], UNIT_SECONDS)
    passed = sum(map(int, re.findall(r"^\[  PASSED  \] (\d+) test", output, re.M)))
    failed = sum(map(int, re.findall(r"^\[  FAILED  \] (\d+) test\(s\), listed", output, re.M)))
    skipped = sum(map(int, re.findall(r"^\[  SKIPPED \] (\d+) test\(s\), listed", output, re.M)))
    if not failed and (status != 0 or not passed):
        failed = 1
    if failed:
        print(output)
    sums.add(f"unit {program.name}", passed, failed, skipped, time.monotonic() - begin)


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


def run_integration(sums, name, build, marks, options=()):
    """The integration tests with these marks."""
    begin = time.monotonic()
    env = {**os.environ, "GPUPROBE_BUILD": str(build), "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.TemporaryDirectory() as directory:
        results = Path(directory) / "results.xml"
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "--durations=40", f"--junitxml={results}", *options,
                   "-m", marks, "tests/integration"]
        try:
            status = subprocess.run(command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL,
                                    timeout=INTEGRATION_SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            status = None
        add_results(sums, name, results, status, time.monotonic() - begin)


class KernelSuite:
    """The old kernel's tests, beside the others: their guest is apart, and takes one CPU for minutes."""

    def __init__(self, build):
        self.result = None
        self.seconds = 0.0
        self.thread = threading.Thread(target=self._run, args=(build,), daemon=True)
        self.thread.start()

    def _run(self, build):
        begin = time.monotonic()
        # What the others leave of the CPUs is enough for it, and their times are not to depend on it.
        self.result = capture(["env", f"GUEST_SECONDS={GUEST_SECONDS}", "nice", "-n", "10",
                               ROOT / "tests" / "kernel" / "run.sh", build], KERNEL_SECONDS)
        self.seconds = time.monotonic() - begin

    def finish(self):
        self.thread.join()
        return self.result


def end_kernel(sums, suite):
    status, output = suite.finish()
    print(output)
    closing = re.findall(r"^(\d+) passed, (\d+) failed$", output, re.M)
    passed, failed = map(int, closing[-1]) if closing else (0, 0)
    if not failed and (status != 0 or not passed):
        failed = 1
    sums.add("old kernel", passed, failed, seconds=suite.seconds)


def main(arguments):
    full = arguments[:1] == ["--full"]
    if len(arguments) != 1 + full:
        sys.exit(__doc__)
    if os.geteuid() != 0:
        sys.exit("the tests need root: sudo make test")
    build = Path(arguments[-1]).resolve()
    sums = Sums()
    kernel = KernelSuite(build)
    for program in sorted((build / "tests").glob("test_*")):
        run_unit(sums, program)
    run_sim(sums, build)
    chosen = "" if full else " and not slow"
    run_integration(sums, "integration", build, "not alone" + chosen, ["-n", str(WORKERS), "--dist", "loadgroup"])
    end_kernel(sums, kernel)
    run_integration(sums, "integration, alone", build, "alone" + chosen)
    if sums.skipped:
        print(f"{sums.skipped} skipped")
    print(f"{sums.passed} passed, {sums.failed} failed")
    return 1 if sums.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
