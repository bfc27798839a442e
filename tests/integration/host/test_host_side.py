# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe diagnose says of the threads that submit work: against the program's own account of its time."""
import bisect
import json
import os
import resource
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from lib import paths
from lib.probe import environment
from lib.script import PROGRAMS
from lib.undisturbed import undisturbed

STEPS = PROGRAMS / "host_steps.py"
MARGIN = 0.05  # s, for what begins and ends while gpuprobe finds the thread


def diagnose(*args, env=None):
    done = subprocess.run([paths.GPUPROBE, "diagnose", *map(str, args)], text=True, capture_output=True, timeout=120, check=False,
                          env=environment(CUDA_SIM_DIRECTORY=paths.SIM, **(env or {})))
    assert done.returncode == 0, done.stderr
    return done


class Steps:
    """A run of host_steps.py: its own account, and gpuprobe's of its main thread."""

    def __init__(self, way, seconds, *args, env=None):
        done = diagnose("--json", *args, "--", *undisturbed(paths.PYTHON, STEPS, way, seconds), env=env)
        lines = done.stdout.splitlines()
        self.own = json.loads(next(line for line in lines if line.startswith('{"main"')))
        self.report = json.loads(next(line for line in lines if line.startswith('{"schema"')))
        self.process = next(p for p in self.report["processes"] if p["pid"] == self.own["main"])
        self.host = self.process.get("host")
        self.thread = self.thread_of(self.own["main"]) if self.host else None

    def thread_of(self, tid):
        return next(thread for thread in self.host["threads"] if thread["tid"] == tid)

    def ns(self, kind, thread=None):
        """All time of a kind, in whatever call."""
        times = (thread or self.thread)["kinds"].get(kind, {})
        return sum(value for key, value in times.items() if key != "times")

    def reasons(self, kind, thread=None):
        return [reason for reason in (thread or self.thread)["reasons"] if reason["kind"] == kind]

    def first(self, kind, thread=None):
        return self.reasons(kind, thread)[0]

    def share_of(self, function, kind, thread=None):
        """Of the time of a kind, that with the function as the user's own."""
        reasons = self.reasons(kind, thread)
        found = sum(r["ns"] for r in reasons if (r["line"] or {}).get("function") == function)
        return found / sum(r["ns"] for r in reasons)

    def within(self, which):
        """What the program's log has of it in the time in which the thread was followed: seconds. 1: CPU, 2: normalise, 3: waits."""
        log, end = self.own["log"], self.process["ended_ns"] / 1e9
        first = bisect.bisect([entry[0] for entry in log], end - self.thread["watched_ns"] / 1e9)
        return log[-1][which] - log[min(first, len(log) - 1)][which]


def line_of(text):
    """Where the program has that text."""
    lines = STEPS.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def check_account(run):
    """What holds of all: its kinds make up the time, and most of that is known."""
    thread = run.thread
    assert thread["submits"] and run.report["host"] == {
        "follows": True, "since_ns": run.report["host"]["since_ns"], "not_followed": 0}
    assert sum(run.ns(kind) for kind in thread["kinds"]) == pytest.approx(thread["watched_ns"], rel=0.01)
    assert run.host["known_share"] >= 0.9
    assert run.report["lost"]["host_map_full"] == 0
    # The kernel counts the same, but for a wake-up of an idle CPU, which it counts as the thread's.
    wakings = sum(kind["times"] for kind in thread["kinds"].values())
    assert run.within(1) - MARGIN - 30e-6 * wakings <= run.ns("cpu") / 1e9 <= 1.05 * run.own["log"][-1][1] + MARGIN


def test_computing(nothing_left):
    run = Steps("compute", 3)
    check_account(run)
    first = run.first("cpu")
    assert (first["line"]["function"], Path(first["line"]["file"])) == ("normalise", STEPS)
    assert first["line"]["line"] == line_of("total += math.sqrt(number)")
    assert run.share_of("normalise", "cpu") == pytest.approx(run.within(2) / run.within(1), abs=0.15)
    assert [frame["function"] for frame in first["stack"]["frames"]][:3] == ["normalise", "main", "<module>"]
    assert run.host["reasons"][0]["line"]["function"] == "normalise" or run.host["reasons"][0]["kind"] == "preempted"
    assert run.thread["samples"] == pytest.approx(99 * run.ns("cpu") / 1e9, rel=0.1)


def test_sleeping(nothing_left):
    run = Steps("sleep", 3)
    check_account(run)
    assert run.share_of("rest", "sleep") > 0.95
    assert run.first("sleep")["line"]["line"] == line_of("time.sleep(0.01)")
    # A sleep is over before the thread runs again.
    assert run.ns("sleep") / 1e9 <= 1.02 * run.within(3) + MARGIN
    assert (run.ns("sleep") + run.ns("preempted")) / 1e9 >= 0.95 * run.within(3) - MARGIN


def test_a_lock(nothing_left):
    run = Steps("lock", 4)
    check_account(run)
    other = run.own["other"]
    assert run.share_of("take", "lock") > 0.9
    reason = next(reason for reason in run.host["reasons"] if reason["kind"] == "lock")
    assert (reason["line"]["function"], reason["waker"]["tid"], reason["waker"]["followed"]) == ("take", other, True)
    assert run.ns("lock") / 1e9 <= 1.02 * run.within(3) + MARGIN
    assert (run.ns("lock") + run.ns("preempted") + run.ns("gil")) / 1e9 >= 0.9 * run.within(3) - MARGIN
    # Who has the lock sleeps in hold().
    holder = run.thread_of(other)
    assert not holder["submits"]
    assert run.first("sleep", holder)["line"]["function"] == "hold"
    assert run.first("sleep", holder)["line"]["line"] == line_of("time.sleep(0.02)")


def test_the_interpreters_lock(nothing_left):
    run = Steps("gil", 4)
    check_account(run)
    hog = run.thread_of(run.own["other"])
    # Each time that the loop gives the lock away it waits for 5 ms, and a launch of the simulator takes none.
    assert run.ns("gil") > 0.3 * (run.thread["watched_ns"] - run.ns("preempted"))
    assert run.thread["wakers"]["gil"][0]["tid"] == hog["tid"]
    assert run.thread["wakers"]["gil"][0]["ns"] > 0.8 * run.ns("gil")
    assert run.share_of("hog", "cpu", hog) > 0.9
    assert run.ns("lock") < 0.05 * run.thread["watched_ns"]


def test_a_queue_fed_by_a_process(nothing_left):
    run = Steps("queue", 4)
    check_account(run)
    assert run.share_of("fetch", "queue") > 0.9
    assert run.ns("queue") / 1e9 <= 1.02 * run.within(3) + MARGIN
    worker = run.own["worker"]
    assert run.thread["wakers"]["queue"][0]["pid"] == worker
    # Its queue has a thread of its own, which waits for the one that computes.
    computes = run.thread_of(worker)
    assert not computes["submits"] and computes["pid"] == worker
    assert sum(r["ns"] for r in run.reasons("cpu", computes) if r["line"]["function"].startswith("transform")) > \
        0.8 * run.ns("cpu", computes)


def test_launches(nothing_left):
    run = Steps("launch", 2, env={"CUDA_SIM_LATENCY": "cuLaunchKernel=200us"})
    check_account(run)
    launches = sum(times.get("launch", 0) for times in run.thread["kinds"].values()) / 1e9
    in_calls = next(f["total_ns"] for f in run.process["functions"] if f["function"] == "cuLaunchKernel") / 1e9
    log = run.own["log"]
    followed = (log[-1][0] - log[0][0]) and min(1, run.thread["watched_ns"] / 1e9 / (log[-1][0] - log[0][0]))
    assert launches == pytest.approx(in_calls * followed, rel=0.15, abs=MARGIN)
    # The simulator sleeps so long.
    first = max((r for r in run.thread["reasons"] if r["call_class"] == "launch"), key=lambda r: r["ns"])
    assert first["kind"] == "sleep"
    assert "launch" in [frame["function"] for frame in first["stack"]["frames"]]


@contextmanager
def limited_group(quota_us, period_us=100000):
    """A control group that has so much CPU time a period: what to write a pid to; skips where there is none to be had."""
    for root, limit in (Path("/sys/fs/cgroup"), "cpu.max"), (Path("/sys/fs/cgroup/cpu"), "cpu.cfs_quota_us"):
        group = root / f"gpuprobe-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if not (group / limit).exists():
                continue
            (group / limit).write_text(f"{quota_us} {period_us}" if limit == "cpu.max" else str(quota_us), encoding="ascii")
            yield group / "cgroup.procs"
            return
        finally:
            group.rmdir()
    pytest.skip("no control group with a limit of CPU time can be made here")


def test_a_limited_control_group(nothing_left):
    with limited_group(20000) as members:
        command = ["sh", "-c", f'echo $$ > {members}; exec "$@"', "sh", paths.PYTHON, STEPS, "compute", "0.8"]
        report = json.loads(next(line for line in diagnose("--json", "--", *command).stdout.splitlines()
                                 if line.startswith('{"schema"')))
    [process] = [p for p in report["processes"] if "host" in p]
    [thread] = [t for t in process["host"]["threads"] if t["submits"]]
    throttled = sum(value for key, value in thread["kinds"]["throttled"].items() if key != "times")
    limit = process["host"]["cpu_limit"]
    assert limit["throttled_periods"] > 5
    # cpu.stat has the throttled time of each CPU; the thread may have to wait for a CPU after that.
    assert throttled > 0.5 * min(limit["throttled_ns"], thread["watched_ns"])
    assert throttled > thread["kinds"]["cpu"]["outside"]
    assert any(reason["kind"] == "throttled" for reason in process["host"]["reasons"][:2])


def test_off(nothing_left):
    run = Steps("compute", 0.3, "--host", "off")
    assert run.host is None and "host" not in run.report


def test_rate(nothing_left):
    run = Steps("compute", 1, "--host-rate", 499)
    assert run.thread["samples"] == pytest.approx(499 * run.ns("cpu") / 1e9, rel=0.1)


def test_without_stacks(nothing_left):
    """The kinds are there, the lines are not."""
    run = Steps("sleep", 1.5, "--stack", "off")
    assert run.ns("sleep") > 0.3 * run.thread["watched_ns"]
    assert all(reason["line"] is None for reason in run.thread["reasons"])


def test_what_is_lacking():
    """Too few descriptors for following threads: the rest goes on, and why is told."""
    for number in range(80, 200, 8):
        def limit(most=number):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        done = subprocess.run([paths.GPUPROBE, "diagnose", "--json", "--duration", "0.1"], env=environment(), text=True,
                              capture_output=True, timeout=60, check=False, preexec_fn=limit)
        if done.returncode == 0 and not json.loads(done.stdout)["host"]["follows"]:
            break
    else:
        raise AssertionError("no number of descriptors is enough for counting alone")
    lack = json.loads(done.stdout)["host"]["lack"]
    assert lack and f"what the program's threads do between their calls is not known: {lack}" in done.stderr


def test_hostile_names(nothing_left):
    """A thread that others wait for names itself what a terminal would act on."""
    done = diagnose("--", *undisturbed(paths.PYTHON, STEPS, "lock", 4), env={"HOST_COMM": "a\x1b[31m\nb"})
    text = done.stdout[done.stdout.index("waits for a lock"):]
    assert "until a\\x1b[31m\\nb (" in text
    assert "\x1b" not in done.stdout


@pytest.fixture(scope="module", params=["-fno-omit-frame-pointer", "-fomit-frame-pointer"])
def native(request, tmp_path_factory):
    """host_steps.c, and its report and own account."""
    directory = tmp_path_factory.mktemp("host")
    program = directory / "host_steps"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-g", request.param, "-pthread", f"-I{paths.ROOT}/sim/include", "-o", program,
                    PROGRAMS / "host_steps.c", f"-L{paths.SIM}", "-l:libcuda.so.1", f"-Wl,-rpath,{paths.SIM}"], check=True)
    lines = diagnose("--json", "--", *undisturbed(program, 4)).stdout.splitlines()
    report = json.loads(next(line for line in lines if line.startswith('{"schema"')))
    words = next(line for line in lines if line.startswith("cpu ")).split()
    [process] = report["processes"]
    return process, dict(zip(words[::2], map(float, words[1::2])))


def test_native_lines(native):
    process, own = native
    host = process["host"]
    [thread] = [t for t in host["threads"] if t["submits"]]
    source = (PROGRAMS / "host_steps.c").read_text(encoding="utf-8").splitlines()
    cpu = [r for r in thread["reasons"] if r["kind"] == "cpu" and r["call_class"] == "outside"]
    computed = sum(r["ns"] for r in cpu if r["line"] and r["line"]["function"] == "normalise")
    assert cpu[0]["line"]["function"] == "normalise"
    assert source[cpu[0]["line"]["line"] - 1].strip().startswith(("sum +=", "for ("))
    assert computed / thread["kinds"]["cpu"]["outside"] == pytest.approx(own["computed"] / own["cpu"], abs=0.15)
    locks = [r for r in thread["reasons"] if r["kind"] == "lock"]
    assert locks[0]["line"]["function"] == "take"
    assert source[locks[0]["line"]["line"] - 1].strip() in ("pthread_mutex_lock(&lock);", "waited += now(CLOCK_MONOTONIC) - began;")
    assert thread["kinds"]["lock"]["outside"] / 1e9 <= 1.02 * own["waited"] + MARGIN
    other = next(t for t in host["threads"] if t["tid"] == locks[0]["waker"]["tid"])
    assert not other["submits"]
    assert any(frame["function"] == "hold" for r in other["reasons"][:3] if r["stack"] for frame in r["stack"]["frames"])
