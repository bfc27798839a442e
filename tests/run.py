#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs all tests of a build and closes with `N passed, N failed`.

The integration tests (pytest, which need root) with a gpuprobe under sanitizers or, where that
would change the test, with the plain one; beside them, one after another and at low priority, the
old kernel's suite, the static checks, the unit tests (cmocka), as they are built and under
sanitizers (BUILD/sanitized), the simulated CUDA's own checks and, at the lowest, the fuzz targets;
then the tests that bear no neighbour. --full adds the tests marked slow, runs the integration tests
with both gpuprobes, unit tests and some others under valgrind (BUILD/valgrind), and makes the long
parts longer.

A failure that may be by chance is tried once more at the end, alone (tests/runner/again.py). --only
runs the steps that it names, one after another; --match leaves of the integration tests those that
match (pytest -k). Exits with 1 if any test failed. A step that breaks off counts as
one that failed.

steps: STEPS
"""
import argparse
import os
import resource
import sys
import threading
import time
from pathlib import Path

sys.dont_write_bytecode = True

from runner import again, timing  # noqa: E402
from runner.checks import Checks  # noqa: E402
from runner.commands import Command  # noqa: E402
from runner.integration import Integration  # noqa: E402
from runner.process import FIRST, ROOT  # noqa: E402
from runner.step import run_step  # noqa: E402
from runner.units import Units  # noqa: E402

VALGRIND = ROOT / "tests" / "valgrind"
AROUND_VALGRIND = ["unshare", "--mount", VALGRIND / "around.sh"]
# The order: what takes the CPU that others leave idle, at low priority; beside the others, first
# what hardly needs a CPU, then what has one test at a time; one after another; before all other
# programs of the machine, no test beside them; from the end of the first on, at the lowest
# priority; and what only --full has.
BESIDE = ["kernel", "static", "unit", "sanitized", "sim"]
WAITING = ["waits", "integration-plain", "soak"]
TOGETHER = ["deploy", "integration"]
ALONE = ["alone"]
LEAST = ["fuzz"]
FULL_ONLY = ["valgrind-unit", "valgrind", "alone-sanitized"]
# The kernel's tests are patterns of a shell: in SHORT, all but slow_*.
SHORT = {"kernel": "[!s]* s[!l]*", "static": [], "fuzz": 6, "fuzz_jobs": 1, "soak": 60}
FULL = {"kernel": "*", "static": ["STATIC_STATES=225000", "STATIC_FLAGS=--all"], "fuzz": 300,
        "fuzz_jobs": 2, "soak": 1800}
LOW, LOWEST = 5, 19
DESCRIPTORS = 4096  # of one process, at most: a test has a thousand clients
# Integration tests wait more than they compute; with three workers all the time they hold up each
# other's watched programs: each time some fail by chance.
TWO_WORKERS = ["-n", "2", "--dist", "loadgroup"]
ONE_WORKER = ["-n", "1", "--dist", "loadgroup"]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1"}
# Not under valgrind: the children of test_nvml end with NVML open; there is no vDSO for
# test_native_frames; test_text_stream has an allocator of its own; alarms and times bound the
# others. In some that run single tests are skipped (tests/unit/no_valgrind.h).
VALGRIND_LEAVES = {"test_nvml", "test_native_frames", "test_text_stream", "test_kernel_name",
                   "test_python_code_fuzz", "test_python_offsets", "test_kernels_hostile",
                   "test_proc_maps_hostile",
                   "test_elf_file_hostile", "test_findings_hostile", "test_model_hostile",
                   "test_http", "test_http_clients", "test_http_requests", "test_trace_stream"}


def sim_checks(build):
    sim = build / "sim"
    libraries = [sim / name for name in ("libcuda.so.1", "libcudart.so.13", "libnvidia-ml.so.1")]
    return Checks("sim", {"prologues": [ROOT / "sim" / "check-prologues.sh", *libraries],
                          "selftest": [sim / "selftest"]})


def command_steps(build, lengths):
    """The parts that are commands. Beside the others the kernel's emulation is slower
    than by itself."""
    fuzz = ["tests/fuzz/run.py", "--seconds", str(lengths["fuzz"]),
            "--jobs", str(lengths["fuzz_jobs"]), build]
    static = ["make", "static", f"BUILD={build}", *lengths["static"]]
    kernel = ["GUEST_SECONDS=600", "tests/kernel/run.sh", build]
    return [Command("kernel", ["env", f"KERNEL_TESTS={lengths['kernel']}", *kernel], 4800,
                    ["env", "KERNEL_TESTS={test}", *kernel]),
            Command("static", static, 3000, [*static, "STATIC_ONLY={test}"]),
            Command("fuzz", fuzz, 14400, [*fuzz, "{test}"]),
            Command("soak", ["make", "soak", f"BUILD={build}",
                             f"SOAK_SECONDS={lengths['soak']}"], 3600)]


def valgrind_tests():
    lines = (VALGRIND / "tests.txt").read_text(encoding="utf-8").splitlines()
    return [f"tests/integration/{line}" for line in lines if line and not line.startswith("#")]


def integration_steps(build, full, match):
    """The integration tests by gpuprobe and marks. `full` adds the slow ones,
    and runs all of them with both gpuprobes."""
    selected = ["-k", match] if match else []
    plain, sanitized = build / "gpuprobe", build / "sanitized" / "gpuprobe"
    chosen = "" if full else " and not slow"
    some = "not alone" + ("" if full else " and plain")

    def step(name, program, marks, options=(), before=()):
        return Integration(name, build, program, marks + chosen, [*options, *selected],
                           before=before)

    return {"integration": step("sanitized", sanitized,
                                "not alone and not waits and not plain", TWO_WORKERS),
            "waits": step("waits", sanitized, "waits and not alone and not plain", TWO_WORKERS),
            "integration-plain": step("plain", plain, some, ONE_WORKER),
            "alone": step("alone", plain, "alone", before=FIRST),
            "alone-sanitized": step("alone, sanitized", sanitized,
                                    "alone and not plain", before=FIRST),
            "deploy": Integration("deploy", build, plain,
                                  "slow or not slow" if full else "not slow", selected,
                                  folder="tests/deploy"),
            "valgrind": Integration("valgrind", build, VALGRIND / "run.sh", "not alone",
                                    tests=valgrind_tests(), before=AROUND_VALGRIND)}


def steps_of(build, full, match=""):
    """The steps by name: things with `name`, run(), which returns tests, and again(test)."""
    steps = {"unit": Units("unit", build / "tests"),
             "sanitized": Units("sanitized", build / "sanitized" / "tests", env=SANITIZERS),
             "sim": sim_checks(build),
             "valgrind-unit": Units("valgrind", build / "valgrind" / "tests",
                                    [*AROUND_VALGRIND, VALGRIND / "unit.sh"],
                                    {"GPUPROBE_BUILD": str(build)}, VALGRIND_LEAVES, workers=1),
             **integration_steps(build, full, match)}
    for command in command_steps(build, FULL if full else SHORT):
        steps[command.name] = command
    return steps


class Beside:
    """Steps beside others, one after another, in a thread with its own priority,
    which all processes that it starts inherit; they begin when those of `before` have ended."""

    def __init__(self, steps, nice, before=None):
        self.parts = []
        self.thread = threading.Thread(target=self._run, args=(steps, nice, before), daemon=True)
        self.thread.start()

    def _run(self, steps, nice, before):
        if before:
            before.thread.join()
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)
        for step in steps:
            self.parts.append(run_step(step))

    def finish(self):
        self.thread.join()
        return self.parts


def run_all(steps, full):
    """All steps in their order; the parts."""
    beside = Beside([steps[name] for name in BESIDE], LOW)
    least = Beside([steps[name] for name in LEAST], LOWEST, beside)
    waiting = Beside([steps[name] for name in WAITING], 0)
    parts = [run_step(steps[name]) for name in TOGETHER]
    parts += waiting.finish() + beside.finish()
    parts += [run_step(steps[name]) for name in ALONE]
    parts += least.finish()
    return parts + [run_step(steps[name]) for name in (FULL_ONLY if full else [])]


def read_arguments(arguments):
    parser = argparse.ArgumentParser(
        usage="tests/run.py [--full] [--only STEP,...] [--match WORDS] BUILD",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.replace("STEPS", ", ".join(steps_of(Path(), True))))
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    parser.add_argument("--match", default="")
    parser.add_argument("--began", type=int, help="when the build began, in seconds since 1970")
    parser.add_argument("build", type=lambda name: Path(name).resolve())
    read = parser.parse_args(arguments)
    for name in read.only:
        if name not in steps_of(read.build, read.full):
            parser.error(f"there is no step {name}")
    return read


def may_raise_limits():
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))
    except (OSError, ValueError):
        return False
    return True


def main(arguments):
    read = read_arguments(arguments)
    if os.geteuid() != 0:
        sys.exit("the tests need root: sudo make test")
    if 0 <= resource.getrlimit(resource.RLIMIT_NOFILE)[1] < DESCRIPTORS and not may_raise_limits():
        sys.exit(f"the tests need {DESCRIPTORS} descriptors, "
                 "and root may not raise the limit here: ulimit -Hn is too low")
    if read.full:
        os.environ.setdefault("GPUPROBE_TEST_QUARANTINE_MB", "256")  # AddressSanitizer's default
    began = time.time()
    steps = steps_of(read.build, read.full, read.match)
    parts = [run_step(steps[name])
             for name in read.only] if read.only else run_all(steps, read.full)
    verdict = again.judge(parts, {step.name: step for step in steps.values()},
                          read.build / "flaky.txt")
    timing.show(parts, began - (read.began or began), time.time() - began, read.build / "times.tsv")
    return verdict.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
