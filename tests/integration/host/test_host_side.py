# SPDX-License-Identifier: BSD-2-Clause
"""
The reasons that gpuprobe diagnose gives for threads that submit work, and for those they wait for,
against the program's own account of its time. Threads are followed from two seconds after their
first call on.
"""
import bisect
import json
import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from lib import paths
from lib.fuse import Served
from lib.probe import Background, environment, wait_until_watching
from lib.script import PROGRAMS, script
from lib.undisturbed import SPINS, undisturbed

STEPS = PROGRAMS / "host_steps.py"
MARGIN = 0.05  # s, for what begins and ends while gpuprobe finds the thread
CLOCK = "kernel=20us"
WAITS = pytest.mark.waits("its program sleeps, for seconds")


def diagnose(*args, env=None):
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--max-overhead", "off", *map(str, args)],
                          text=True, capture_output=True, timeout=120, check=False,
                          env=environment(CUDA_SIM_DIRECTORY=paths.SIM, CUDA_SIM_CLOCK=CLOCK,
                                          **(env or {})))
    assert done.returncode == 0, done.stderr
    return done


def line_of(text):
    """Where the program has that text."""
    lines = STEPS.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def place(told):
    """Function and line of the innermost frame of the program itself;
    two None where the stack has none."""
    frames = (told["stack"] or {"frames": []})["frames"]
    return next(((frame["function"], frame.get("line")) for frame in frames
                 if frame.get("file") == str(STEPS)), (None, None))


def hops_of(reason):
    """Whom it waits for, whom that one waits for, and so on."""
    while reason:
        reason = reason.get("held_by") or reason.get("fed_by")
        if reason:
            yield reason


def spinning(*command):
    return undisturbed(*command, priority=SPINS)


def first_of(reasons):
    """Programs that are not this test's may have the CPU, also when a wait for the GPU is over."""
    return next((reason for reason in reasons
                 if reason["kind"] not in ("preempted", "waits")), None)


def knows(report, seconds, steps):
    """Whether the reasons cover so much time, and it is known what the threads do that the first
    is about, and where the last of them does it. With `steps`, the first must also be known by
    step, and the steady time: without it, the reasons cover the start as well."""
    reasons = [reason for process in report["processes"] for reason in process["reasons"]]
    first = first_of(reasons)
    hops = list(hops_of(first))
    return (sum(reason["seconds"] for reason in reasons) >= seconds
            and (not steps or (first and first["step_seconds"] is not None
                               and any(process["steady"] for process in report["processes"])))
            and all(hop.get("kind") for hop in hops)
            and all(place(hop)[0] for hop in hops[-1:]))


def last_report(words, env, look):
    """The final report of gpuprobe diagnose --json, after a look at each before it."""
    with subprocess.Popen([paths.GPUPROBE, "diagnose", "--json", "--max-overhead", "off",
                           *map(str, words)], text=True, stdout=subprocess.PIPE,
                          env=environment(CUDA_SIM_DIRECTORY=paths.SIM, CUDA_SIM_CLOCK=CLOCK,
                                          **env)) as probe:
        for line in probe.stdout:
            report = json.loads(line)
            look(report)
    assert probe.returncode == 0 and report["final"]
    return report


class Steps:
    """A run of host_steps.py: its own account, and gpuprobe's reasons."""

    def __init__(self, way, seconds, *args, env=None, prefix=undisturbed, steps=False):
        with tempfile.TemporaryDirectory() as directory:
            told, enough = Path(directory) / "told", Path(directory) / "enough"
            # On a busy machine gpuprobe follows late: the program goes on until it knows enough.
            self.report = last_report(
                ["--interval", 0.5, *args, "--", "sh", "-c", 'exec "$@" >"$0"', told,
                 *prefix(paths.PYTHON, STEPS, way, seconds)],
                {"HOST_ENOUGH": enough, **(env or {})},
                lambda report: knows(report, 0.5 * (seconds - 2), steps) and enough.touch())
            self.own = json.loads(told.read_text())
        self.process = next(p for p in self.report["processes"] if p["pid"] == self.own["main"])
        self.reasons = self.process["reasons"]
        self.seconds = sum(reason["seconds"] for reason in self.reasons)
        self.first = first_of(self.reasons)

    def of(self, kind):
        return [reason for reason in self.reasons if reason["kind"] == kind]

    def spent(self, kind):
        return sum(reason["seconds"] for reason in self.of(kind))

    def share_at(self, function, kind):
        """Of the time of a kind, that with the function as the program's own."""
        found = sum(reason["seconds"] for reason in self.of(kind) if place(reason)[0] == function)
        return found / self.spent(kind)

    def within(self, which):
        """Seconds by the program's log in the time that the reasons cover.
        1: CPU, 2: normalise, 3: waits."""
        log = self.own["log"]
        first = bisect.bisect([entry[0] for entry in log], log[-1][0] - self.seconds)
        return log[-1][which] - log[min(first, len(log) - 1)][which]


def check_reasons(run):
    """Holds for all reasons: most of the time is known by its stack, shares refer to all of it,
    and nothing was lost."""
    assert run.report["host"] == {"follows": True, "threads_not_followed": 0}
    assert run.report["lost"]["host_map_full"] == 0
    assert sum(r["seconds"] for r in run.reasons if r["stack"]) >= 0.9 * run.seconds
    assert sum(r["share"] for r in run.reasons) == pytest.approx(1, abs=1e-6)
    log = run.own["log"]
    assert 0 < run.seconds <= 1.02 * (log[-1][0] - log[0][0]) + MARGIN


def test_computing(nothing_left):
    run = Steps("compute", 5, prefix=spinning)
    check_reasons(run)
    first = run.first
    assert (first["kind"], first["what"]) == ("on-cpu", "on the CPU")
    assert place(first) in [
        ("normalise", line_of(text))
        for text in ("total += math.sqrt(number)", "for number in range(count)")]
    # By its own clock of the thread: calls, which probes make dearer, are none of it.
    normalising = run.spent("on-cpu") * run.share_at("normalise", "on-cpu")
    assert 0.85 * run.within(2) <= normalising <= 1.15 * run.within(2)
    own = [frame["function"] for frame in first["stack"]["frames"]
           if frame.get("file") == str(STEPS)]
    assert own == ["normalise", "main", "<module>"]
    assert sum(r["times"] for r in run.of("on-cpu")) == pytest.approx(
        99 * run.spent("on-cpu"), rel=0.1)
    [finding] = [f for f in run.report["findings"] if f["id"] == "host-bound"] or [None]
    # Other programs of a busy machine may keep it waiting for a CPU for longer than it computes.
    assert finding is None or finding["stack"] == run.reasons[0]["stack"]


@WAITS
def test_sleeping(nothing_left):
    run = Steps("sleep", 5)
    check_reasons(run)
    assert run.first["kind"] == "sleep"
    assert place(run.first) == ("rest", line_of("time.sleep(0.01)"))
    assert run.spent("sleep") <= 1.02 * run.within(3) + MARGIN
    assert run.spent("sleep") + run.spent("preempted") >= 0.95 * run.within(3) - MARGIN


def test_the_start_is_left_out(nothing_left):
    run = Steps("start", 6, steps=True)
    assert run.process["steps"]
    # The thread was followed for four seconds of the start, which are none of the steady time.
    assert run.first["kind"] == "sleep"
    assert place(run.first)[0] == "rest"
    log = run.own["log"]
    assert run.seconds <= 1.02 * (log[-1][0] - log[0][0]) + MARGIN
    prepared = sum(r["seconds"] for r in run.reasons if place(r)[0] == "prepare")
    assert prepared <= 0.02 * run.seconds
    # By its own account: a sleep of 10 ms takes longer on a busy machine, also for want of a CPU.
    ends = [entry[0] for entry in log if entry[0] > log[-1][0] - run.seconds]
    assert run.first["calls"] == pytest.approx(len(ends), rel=0.1)
    assert run.spent("sleep") <= 1.02 * run.within(3) + MARGIN
    assert run.spent("sleep") + run.spent("preempted") >= 0.95 * run.within(3) - MARGIN
    # Of the usual step, which is the median, or the mean where steps are uneven.
    steps = [end - begin for begin, end in zip(ends, ends[1:])]
    usual = sorted((statistics.median(steps), statistics.mean(steps)))
    share = run.spent("sleep") / run.seconds
    assert 0.9 * share * usual[0] <= run.first["step_seconds"] <= 1.1 * share * usual[1]


@WAITS
def test_a_lock(nothing_left):
    run = Steps("lock", 5)
    check_reasons(run)
    first = run.first
    assert (first["kind"], place(first)[0]) == ("lock", "take")
    assert run.spent("lock") <= 1.02 * run.within(3) + MARGIN
    # Who has the lock sleeps in hold().
    holder = first["held_by"]
    assert (holder["tid"], holder.get("kind")) == (run.own["other"], "sleep"), run.seconds
    assert place(holder) == ("hold", line_of("time.sleep(0.02)"))
    assert holder["share"] > 0.4


def test_the_interpreters_lock(nothing_left):
    # With a priority of its own the one that spins would keep the CPU, too.
    run = Steps("gil", 5, prefix=lambda *command: list(map(str, command)))
    check_reasons(run)
    first = run.first
    assert (first["kind"], place(first)[0]) == ("gil", "launch")
    assert (first["held_by"]["tid"], first["held_by"]["kind"]) == (run.own["other"], "on-cpu")
    assert place(first["held_by"])[0] == "hog"
    # Each time that the loop releases the lock it waits for 5 ms, while a launch of the simulator
    # takes no time.
    assert run.spent("gil") > 0.3 * (run.seconds - run.spent("preempted"))


@pytest.fixture(name="slow_file")
def slow_file_():
    """A file of a file system that takes 20 ms for each reading."""
    if not os.path.exists("/dev/fuse"):
        pytest.skip("there is no /dev/fuse")
    directory = Path(f"/tmp/gpuprobe-slow-{os.getpid()}")
    directory.mkdir()
    try:
        with Served(directory, "records", bytes(4096)) as served:
            served.late = 0.02
            yield served.path
    finally:
        directory.rmdir()


# What the worker does, as gpuprobe tells it, and where. Who computes may have to wait for a CPU.
WORKERS = {"queue": (("on-cpu", "preempted"), "transform"), "loader": (("disk",), "load"),
           "idle": (("sleep",), "dawdle")}


@pytest.mark.parametrize("way", [pytest.param(way, marks=[] if way == "queue" else WAITS)
                                 for way in WORKERS])
def test_a_queue_that_a_process_feeds(way, slow_file, nothing_left):
    """Its queue has a thread of its own in the worker,
    which waits for the one that makes the batches."""
    run = Steps(way, 5, prefix=spinning if way == "queue" else undisturbed,
                env={"HOST_FILE": str(slow_file)})
    check_reasons(run)
    first = run.first
    assert (first["kind"], place(first)[0]) == ("queue", "fetch")
    assert run.spent("queue") <= 1.02 * run.within(3) + MARGIN
    hops = list(hops_of(first))
    assert "fed_by" in first and hops[0]["pid"] == run.own["worker"]
    kinds, function = WORKERS[way]
    assert hops[-1]["pid"] == run.own["worker"] and hops[-1].get("kind") in kinds, \
        (run.seconds, hops)
    assert place(hops[-1])[0].startswith(function)
    assert hops[-1].get("file", "").endswith("/records") == (way == "loader")


@WAITS
def test_slow_files(slow_file, nothing_left):
    run = Steps("read", 5, env={"HOST_FILE": str(slow_file)})
    check_reasons(run)
    first = run.first
    assert first["kind"] == "disk"
    assert place(first)[0] == "load"
    assert first["file"].endswith("/records")
    assert run.spent("disk") <= 1.02 * run.within(3) + MARGIN


def test_threads_that_wait_for_each_other(nothing_left):
    """Both submit: what the one does is the reason, not that the other waits for it."""
    run = Steps("team", 5, prefix=spinning)
    assert run.first["kind"] == "on-cpu"
    assert place(run.first)[0] == "normalise"
    assert run.spent("lock") < 0.1 * run.seconds


@pytest.mark.waits("its launches sleep: three seconds of CPU time take ten times as long")
def test_launches(nothing_left):
    run = Steps("launch", 3, env={"CUDA_SIM_LATENCY": "cuLaunchKernel=200us"})
    check_reasons(run)
    in_calls = next(f["total_ns"] for f in run.process["functions"]
                    if f["function"] == "cuLaunchKernel") / 1e9
    log = run.own["log"]
    followed = min(1, run.seconds / (log[-1][0] - log[0][0]))
    expected = in_calls * followed
    assert run.spent("launches") <= 1.15 * expected + MARGIN
    assert run.spent("launches") + run.spent("preempted") >= 0.85 * expected - MARGIN
    assert run.first["kind"] == "launches"
    assert place(run.first)[0] == "launch"


def test_a_rival(nothing_left):
    """Another program of the same CPU has it half of the time: both run before other programs,
    which would be among the rivals otherwise, and more than are listed."""
    def pinned(*command):
        return ["taskset", "-c", str(max(os.sched_getaffinity(0))), *spinning(*command)]

    with subprocess.Popen(pinned("sh", "-c", "while :; do :; done")) as rival:
        try:
            run = Steps("compute", 3, prefix=pinned)
        finally:
            rival.send_signal(signal.SIGKILL)
    [preempted] = run.of("preempted")
    assert preempted["share"] > 0.2
    assert rival.pid in [other["pid"] for other in preempted["rivals"]]
    assert place(preempted)[0] == "normalise"


@contextmanager
def limited_group(quota_us, period_us=100000):
    """A control group with so much CPU time a period: the file to write a pid to;
    skips if there is no such controller."""
    for root, limit, weight, most in (
            (Path("/sys/fs/cgroup"), "cpu.max", "cpu.weight", 10000),
            (Path("/sys/fs/cgroup/cpu"), "cpu.cfs_quota_us", "cpu.shares", 262144)):
        group = root / f"gpuprobe-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if not (group / limit).exists():
                continue
            (group / limit).write_text(
                f"{quota_us} {period_us}" if limit == "cpu.max" else str(quota_us),
                encoding="ascii")
            # Else other programs of a busy machine keep it from using up its time.
            (group / weight).write_text(str(most), encoding="ascii")
            yield group / "cgroup.procs"
            return
        finally:
            group.rmdir()
    pytest.skip("no control group with a limit of CPU time can be made here")


@pytest.mark.waits("its limit keeps it from the CPU for four fifths of the time")
def test_a_limited_control_group(nothing_left):
    def limited(*command):
        return ["sh", "-c", f'echo $$ > {members}; exec "$@"', "sh", *map(str, command)]

    with limited_group(20000) as members:
        run = Steps("compute", 1.2, prefix=limited)
    first = run.first
    assert (first["kind"], first["what"]) == ("throttled", "throttled by its cgroup")
    # At whichever line it comes back from the kernel; Linux 6.18 stops threads there.
    assert place(first)[0] in ("normalise", "launch", "note", "spent", "main")
    # Other programs may have the CPU when the limit would let it run.
    assert first["seconds"] + run.spent("preempted") > run.spent("on-cpu")


def test_off(nothing_left):
    run = Steps("compute", 0.3, "--host", "off", prefix=spinning)
    assert run.reasons == [] and "host" not in run.report


def test_rate(nothing_left):
    run = Steps("compute", 4, "--host-rate", 499, prefix=spinning)
    assert run.seconds >= 1
    assert sum(r["times"] for r in run.of("on-cpu")) == pytest.approx(
        499 * run.spent("on-cpu"), rel=0.1)


@WAITS
def test_without_stacks(nothing_left):
    """The kinds are there, the lines are not."""
    run = Steps("sleep", 4, "--stack", "off")
    assert run.spent("sleep") > 0.3 * run.seconds
    assert all(reason["stack"] is None for reason in run.reasons)


def test_what_is_lacking():
    """Too few descriptors for following threads: the rest goes on, and why is told."""
    for number in range(80, 200, 8):
        def limit(most=number):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

        done = subprocess.run([paths.GPUPROBE, "diagnose", "--json", "--duration", "0.1"],
                              env=environment(), text=True, capture_output=True, timeout=60,
                              check=False, preexec_fn=limit)
        if done.returncode == 0 and not json.loads(done.stdout)["host"]["follows"]:
            break
    else:
        raise AssertionError("no number of descriptors is enough for counting alone")
    lack = json.loads(done.stdout)["host"]["lack"]
    assert lack and (f"cannot follow threads between CUDA calls, so no reasons are given: {lack}"
                     in done.stderr)


@WAITS
def test_hostile_names(nothing_left):
    """A thread that others wait for names itself what a terminal would act on."""
    done = diagnose("--", *undisturbed(paths.PYTHON, STEPS, "lock", 5),
                    env={"HOST_COMM": "a\x1b[31m\nb"})
    text = done.stdout[done.stdout.index("waiting for a lock"):]
    assert "held by a\\x1b[31m\\nb (" in text
    assert "\x1b" not in done.stdout


def knows_who_holds(report):
    """Whether the stack of the thread that has the first lock is known."""
    locks = [reason for process in report["processes"] for reason in process["reasons"]
             if reason["kind"] == "lock"]
    return locks and (locks[0].get("held_by") or {}).get("stack")


@pytest.fixture(scope="module", params=["-fno-omit-frame-pointer", "-fomit-frame-pointer"])
def native(request, tmp_path_factory):
    """host_steps.c, and its reasons and own account."""
    directory = tmp_path_factory.mktemp("host")
    program = directory / "host_steps"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-g", request.param, "-pthread",
                    f"-I{paths.ROOT}/sim/include", "-o", program, PROGRAMS / "host_steps.c",
                    f"-L{paths.SIM}", "-l:libcuda.so.1", f"-Wl,-rpath,{paths.SIM}"], check=True)
    told, enough = directory / "told", directory / "enough"
    report = last_report(["--interval", 0.5, "--", "sh", "-c", 'exec "$@" >"$0"', told,
                          *spinning(program, 7)], {"HOST_ENOUGH": enough},
                         lambda report: knows_who_holds(report) and enough.touch())
    words = told.read_text(encoding="ascii").split()
    [process] = report["processes"]
    return process["reasons"], dict(zip(words[::2], map(float, words[1::2])))


def native_frame(told):
    """The innermost of the program itself; one without names where the stack has none."""
    return next((frame for frame in told["stack"]["frames"] if frame.get("object") == "host_steps"),
                {"function": None, "line": None})


def test_native_lines(native):
    reasons, own = native
    source = (PROGRAMS / "host_steps.c").read_text(encoding="utf-8").splitlines()
    cpu = [reason for reason in reasons if reason["kind"] == "on-cpu" and reason["stack"]]
    computed = sum(r["seconds"] for r in cpu if native_frame(r)["function"] == "normalise")
    assert native_frame(cpu[0])["function"] == "normalise"
    assert source[native_frame(cpu[0])["line"] - 1].strip().startswith(("sum +=", "for ("))
    assert computed / sum(r["seconds"] for r in cpu) == pytest.approx(
        own["computed"] / own["cpu"], abs=0.15)
    locks = [reason for reason in reasons if reason["kind"] == "lock"]
    assert native_frame(locks[0])["function"] == "take"
    assert source[native_frame(locks[0])["line"] - 1].strip() in (
        "pthread_mutex_lock(&lock);", "waited += now(CLOCK_MONOTONIC) - began;")
    assert sum(lock["seconds"] for lock in locks) <= 1.02 * own["waited"] + MARGIN
    assert "hold" in [frame["function"] for frame in locks[0]["held_by"]["stack"]["frames"]]


@WAITS
def test_in_words(nothing_left):
    """The reasons are in the finding, which names the thread and says what helps
    against the first."""
    text = diagnose("--", *spinning(paths.PYTHON, STEPS, "sleep", 8),
                    env={"LD_LIBRARY_PATH": paths.SIM}).stdout
    told = next(json.loads(line) for line in text.splitlines() if line.startswith('{"main"'))
    head, _, findings = text.partition("\nfindings: ")
    title = re.search(r"^critical  host-bound: the GPU waits for thread (\d+) \(MainThread\), "
                      r"up to ([\d.]+) of [\d.]+ ms a step$", findings, re.M)
    assert int(title[1]) == told["main"]
    assert "host_steps.py:" not in head
    reasons = findings[title.end():]
    sleep = re.search(r"^ +([\d.]+) ms +[\d.]+ %  sleeping +rest \(host_steps.py:\d+\) < ",
                      reasons, re.M)
    # Without the statement that sleeps, launches and the wait for them remain.
    saving = re.search(r"saving: about [\d.]+ s \(([\d.]+) of [\d.]+ ms a step\), if ", reasons)
    assert float(sleep[1]) <= float(saving[1]) <= float(title[2])
    assert ("\n    Wait for the event itself instead of sleeping (--explain host-bound).\n"
            in reasons)


SERVER = """
import asyncio
async def answer(reader, writer):
    while await reader.read(10):
        for _ in range(15):
            need(launch(kernel))
        need(driver.cuCtxSynchronize())
        writer.write(b"done")
        await writer.drain()
async def serve():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print("PORT", server.sockets[0].getsockname()[1], flush=True)
    await asyncio.sleep(10)
start()
_, [kernel] = module("token")
asyncio.run(serve())
os._exit(0)
"""


# In poll(2), of which gpuprobe sees no descriptor: it asks /proc.
PLAIN_SERVER = """
import socketserver, threading
class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.settimeout(60)
        while self.request.recv(10):
            for _ in range(15):
                need(launch(kernel))
            need(driver.cuCtxSynchronize())
            self.request.send(b"done")
start()
_, [kernel] = module("token")
server = socketserver.TCPServer(("127.0.0.1", 0), Answer)
print("PORT", server.server_address[1], flush=True)
threading.Timer(10, server.shutdown).start()
server.serve_forever()
os._exit(0)
"""


def ask(port, until):
    """A client of few requests, which is no part of the program."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        while time.monotonic() < until:
            time.sleep(0.2)
            connection.send(b"please")
            connection.recv(10)


@WAITS
@pytest.mark.parametrize("server", [SERVER, pytest.param(PLAIN_SERVER, marks=pytest.mark.slow)],
                         ids=["epoll", "poll"])
def test_a_server_waits_for_requests(server, nothing_left):
    """That its GPU is idle is nobody's fault."""
    with subprocess.Popen([paths.GPUPROBE, "diagnose", "--json", "--", *script(server)], text=True,
                          stdout=subprocess.PIPE, env=environment(CUDA_SIM_CLOCK=CLOCK)) as probe:
        port = next(int(line.split()[1]) for line in probe.stdout if line.startswith("PORT"))
        client = threading.Thread(target=ask, args=(port, time.monotonic() + 9))
        client.start()
        report = json.loads(next(line for line in probe.stdout if line.startswith('{"schema"')))
        client.join()
    assert probe.returncode == 0
    process, = report["processes"]
    assert (process["verdict"]["kind"], process["verdict"]["for_requests"]) == ("no work", True)
    assert process["verdict"]["launches"] > 200
    assert report["findings"] == []


@pytest.mark.waits("for batches, nine seconds")
@pytest.mark.parametrize("way", ["recv", *(pytest.param(way, marks=pytest.mark.slow)
                                           for way in ("epoll", "poll"))])
def test_a_program_that_listens_and_waits_for_an_answer(way, nothing_left):
    """It is no idle server: its batches come late."""
    done = diagnose("--json", "--", paths.PYTHON, PROGRAMS / "remote_data.py", 9, way)
    report = json.loads(next(line for line in done.stdout.splitlines()
                             if line.startswith('{"schema"')))
    process, = report["processes"]
    assert process["verdict"]["kind"] == "host-bound"
    first = next(r for r in process["reasons"] if r["kind"] != "preempted")
    frames = [frame["function"] for frame in first["stack"]["frames"]]
    assert first["kind"] == "queue" and "fetch" in frames
    assert "host-bound" in [finding["id"] for finding in report["findings"]]


@WAITS
@pytest.mark.parametrize("share,kind", [(0.3, "GPU-bound"), (0.7, "no work")])
def test_a_program_that_is_stopped(share, kind, nothing_left):
    """Inside of a wait, mostly: that is no wait for the GPU."""
    seconds = 10
    # Ahead of others, but not by `undisturbed`: it never sleeps for long.
    with Background("nice", "-n", "-15", paths.SIM / "steps", "--steps", "100000", "--cpu", "0",
                    "--wait", "stream", "--blocking",
                    env={"CUDA_SIM_CLOCK": "kernel=500us"}) as program:
        time.sleep(0.5)
        with Background(paths.GPUPROBE, "diagnose", "--json", "-p", program.pid) as probe:
            wait_until_watching(probe)
            began = time.monotonic()
            time.sleep(0.25 * seconds)
            program.send_signal(signal.SIGSTOP)
            at = time.monotonic()
            time.sleep(share * seconds)
            program.send_signal(signal.SIGCONT)
            # However late this test was with its signals.
            stopped = time.monotonic() - at
            time.sleep((0.75 - share) * seconds)
            probe.send_signal(signal.SIGINT)
            share = stopped / (time.monotonic() - began)
            seconds = stopped / share
            report = json.loads(probe.communicate(timeout=60)[0].splitlines()[-1])
    verdict = report["processes"][0]["verdict"]
    assert (verdict["kind"], verdict.get("for_requests")) == (
        kind, False if kind == "no work" else None)
    # Covers what its threads were seen to do; on a busy machine that begins up to the whole run
    # before the verdict's window.
    assert share - 0.1 <= verdict["stopped"] <= share * seconds / (verdict["window_ns"] / 1e9) + 0.1
    assert verdict["held_by_gpu"] < 1.05 - verdict["stopped"], verdict
    assert report["findings"] == []
