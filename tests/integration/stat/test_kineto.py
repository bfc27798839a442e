# SPDX-License-Identifier: BSD-2-Clause
"""
gpuprobe stat -p PID --kineto: a running program's own profiler records, and gpuprobe shows the GPU
times of its trace. The programs stand in for PyTorch (programs/kineto_client.py). Each test has a
network namespace of its own, because there is one daemon in each.
"""
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lib import folders, paths
from lib.probe import Background, descendants, environment, wait_until, wait_until_watching

CLIENT = paths.TESTS / "programs/kineto_client.py"
NOBODY = 65534
LABEL = "vectorized_elementwise_kernel<4, Add<float>>"
sys.path.insert(0, str(CLIENT.parent))

BIND = """
import socket, sys
holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
holder.bind("\\0dynolog\\0")
print("BOUND", flush=True)
sys.stdin.read()
"""


class Clients:
    """Programs in one network namespace."""

    def __init__(self, stack):
        self._stack, self._first = stack, None

    def enter(self, process):
        return self._stack.enter_context(process)

    def start_in_namespace(self, *command, **env):
        entry = (["nsenter", f"--net=/proc/{self._first.pid}/ns/net"] if self._first else
                 ["unshare", "--net"])
        process = self.enter(Background(*entry, paths.PYTHON, *command, env=env))
        self._first = self._first or process
        return process

    def start(self, mode, *options, **env):
        env = {"KINETO_USE_DAEMON": 1, "CUDA_SIM_DIRECTORY": paths.SIM, "TMPDIR": None, **env}
        process = self.start_in_namespace(CLIENT, mode, *options, **env)
        assert process.stdout.readline() == "READY\n"
        return process


@pytest.fixture
def clients():
    with contextlib.ExitStack() as stack:
        yield Clients(stack)


def command(processes, *options):
    pids = [word for process in processes for word in ("-p", str(process.pid))]
    return [str(paths.GPUPROBE), "stat", *pids, *options]


def stat(processes, *options):
    return subprocess.run(command(processes, "--kineto=100ms", *options), env=environment(),
                          text=True, capture_output=True, timeout=120, check=False)


def configuration(client):
    return json.loads(client.stdout.readline())


def files_of(path):
    return [name for name in (path, f"{path}.tmp") if os.path.lexists(name)]


def expect_sum(total, count, ns):
    assert (total["count"], total["without_time"], total["total_ns"]) == (count, 0, count * ns)
    assert {total["min_ns"], total["mean_ns"], total["max_ns"]} == {ns}


def expect_good(times, size):
    """What the trace of the client's mode "good" has."""
    assert times["failure"] is None
    own = times["own_profiler"]
    assert own == {"name": "kineto", "asked_ns": 100_000_000, "complete": True,
                   "trace_bytes": size, "overhead_ns": 1_750_000, "note": None}
    kernels = {each["name"]: each for each in times["kernels"]}
    assert len(kernels) == 3
    expect_sum(kernels['gemm "quoted"'], 20, 5_500)
    expect_sum(kernels["in_a_graph"], 10, 700)
    expect_sum(next(one for name, one in kernels.items() if "vectorized" in name), 30, 20_001)
    expect_sum(times["graph_kernels"], 10, 700)
    copies = {each["kind"]: each for each in times["copies"]}
    expect_sum(copies["H2D"], 1, 2_500)
    expect_sum(copies["D2H"], 1, 1_250)
    expect_sum(copies["D2D"], 1, 999)
    assert [copies[kind]["bytes"] for kind in ("H2D", "D2H", "D2D")] == [3000, 1500, 64]
    expect_sum(times["sets"], 1, 2_000)
    busy = {each["device"]: each["busy_ns"] for each in times["devices"]}
    assert busy == {0: 30 * 20_001 + 20 * 5_500 + 2_500 + 1_250 + 999 + 2_000, 1: 10 * 700}
    assert times["callers"] is None
    assert {each["idle_before_call_ns"] for each in times["devices"]} == {None}


def expect_many_names(times):
    """4096 kernels have a name, the others are one sum."""
    assert len(times["kernels"]) == 4096
    assert {each["count"] for each in times["kernels"]} == {1}
    expect_sum(times["unlisted_kernels"], 5000 - 4096, 1_000)
    expect_sum(times["all_kernels"], 5000, 1_000)


def test_times(clients):
    """Those that are asked, one of them twice, and one that is not; another user's processes."""
    user = ("--user", NOBODY)
    good, names = clients.start("good", *user, "--cuda"), clients.start("names", *user, "--cuda")
    other = clients.start("good", *user)
    done = stat([good, names, good], "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    times = {each["pid"]: each["gpu_times"] for each in report["processes"]}
    asked = configuration(good)
    path = asked.pop("ACTIVITIES_LOG_FILE")
    assert re.fullmatch(r"/tmp/gpuprobe-[0-9a-f]{32}\.trace", path)
    assert asked == {"ACTIVITIES_DURATION_MSECS": "100", "ACTIVITIES_WARMUP_PERIOD_SECS": "1",
                     "ACTIVITY_TYPES": "kernel,gpu_memcpy,gpu_memset,overhead"}
    import kineto_client  # pylint: disable=import-outside-toplevel,import-error
    expect_good(times[good.pid], len("".join(kineto_client.trace("good"))))
    expect_many_names(times[names.pid])
    assert report["gpu_times_lost"] == {"records": 0, "names": 0}
    assert json.loads(good.tell("?"))["configurations"] == 1
    told = json.loads(other.tell("?"))
    assert told["configurations"] == 0
    assert told["answers"] > 0
    assert files_of(path) + files_of(configuration(names)["ACTIVITIES_LOG_FILE"]) == []


def sections(report):
    """The text about each process."""
    parts = re.split(r"^process (\d+)", report, flags=re.M)
    return {int(pid): re.sub(r"\s+", " ", text) for pid, text in zip(parts[1::2], parts[2::2])}


FAILURES = {
    "half": r"about the trace: gpuprobe read 9\.8 KiB of it, and its end is missing",
    "damaged": r"about the trace: it is damaged at byte \d+; what comes before counts",
    "empty": r"no GPU times: cannot read its trace \S+: it is empty, or no trace of Kineto's",
    "fifo": r"no GPU times: cannot read its trace \S+: it is no regular file",
    "link": r"no GPU times: cannot read its trace \S+: it is a symbolic link",
    "folder": r"cannot read its trace \S+: it is no regular file; delete it, which gpuprobe cannot",
    "dies": "no GPU times: the process ended before its trace was complete",
}


def test_failures_and_text(clients):
    """Each has a line; none keeps the others from their times, and no file stays but a folder."""
    user = ("--user", NOBODY, "--cuda")
    failing = {mode: clients.start(mode, *user) for mode in FAILURES}
    good, silent = clients.start("good", *user), clients.start("good", "--user", NOBODY)
    done = stat([*failing.values(), good, silent])
    assert done.returncode == 0
    texts = sections(done.stdout)
    for mode, client in failing.items():
        assert re.search(FAILURES[mode], texts[client.pid]), (mode, texts[client.pid])
        path = configuration(client)["ACTIVITIES_LOG_FILE"]
        assert files_of(path) == ([path] if mode == "folder" else []), mode
        if mode == "folder":
            os.rmdir(path)
    assert f"600 us 82.9 % 30 20.0 us 20.0 us 20.0 us - {LABEL}" in texts[good.pid]
    assert ("from the program's own profiler (Kineto), asked for 100 ms; its cost is in all times: "
            "CUPTI held threads up for 1.8 ms, by its own account; the trace had" in
            texts[good.pid])
    assert "without a GPU time" not in texts[good.pid]
    assert (": its profiler saw 64 pieces of work on a GPU; no CUDA call was seen since attach" in
            texts[silent.pid])
    assert len([line for line in done.stderr.splitlines() if "no GPU times" in line]) == 5


def test_stopped_before_the_end(clients):
    """What is pending is said, with what may be left. SIGKILL frees the daemon's name."""
    user = ("--user", NOBODY, "--cuda")
    silent, nothing, busy = (clients.start(mode, *user) for mode in ("silent", "nothing", "busy"))
    with Background(*command([silent, nothing, busy], "--kineto"),
                    stderr=subprocess.DEVNULL) as running:
        asked = configuration(nothing)
        assert asked["ACTIVITIES_DURATION_MSECS"] == "2000"
        running.send_signal(signal.SIGINT)
        texts = sections(running.stdout.read())
        assert running.wait(60) == 0
    pending = "no GPU times: its profiler has not asked for requests yet"
    assert pending in texts[silent.pid]
    assert pending in texts[busy.pid]
    assert (f"its profiler has been asked, and has not finished; it may still write "
            f"{asked['ACTIVITIES_LOG_FILE']}: delete that" in texts[nothing.pid])
    assert json.loads(busy.tell("?"))["configurations"] == 0

    with Background(*command([silent], "--kineto"), stderr=subprocess.DEVNULL) as running:
        wait_until_watching(running)
        running.kill()
        running.wait(60)

    def is_free():
        holder = clients.start_in_namespace("-c", BIND)
        return holder.stdout.readline() == "BOUND\n"

    wait_until(is_free, "the daemon's name stayed")


def refusal(processes):
    done = stat(processes)
    assert (done.returncode, done.stdout) == (1, "")
    line, = done.stderr.splitlines()
    return line


def test_refusals(clients, tmp_path):
    client = clients.start("silent")
    other = clients.start("silent", "--user", NOBODY)
    assert (f"process {client.pid} was not started with KINETO_USE_DAEMON=1, so its profiler takes "
            "no requests: start the program with this variable" not in refusal([client, other]))
    assert f"processes {client.pid} and {other.pid} belong to different users" in refusal(
        [client, other])
    plain = clients.start("silent", KINETO_USE_DAEMON=None)
    assert (f"process {plain.pid} was not started with KINETO_USE_DAEMON=1, so its profiler takes "
            "no requests: start the program with this variable" in refusal([client, plain]))
    socket = clients.start("silent", KINETO_IPC_SOCKET_DIR=tmp_path)
    assert "start it without KINETO_IPC_SOCKET_DIR" in refusal([socket])
    folder = clients.start("silent", KINETO_ONDEMAND_TRACE_DIR=tmp_path / "none")
    assert (f"process {folder.pid} has no folder for its trace that it may write to" in
            refusal([folder]))
    holder = clients.start_in_namespace("-c", BIND)
    assert holder.stdout.readline() == "BOUND\n"
    assert (f"process {client.pid}: another daemon (dynolog, or gpuprobe) takes requests for its "
            f"profiler: use that (dyno gputrace --pids {client.pid}), or stop it" in
            refusal([client]))


@pytest.mark.plain("the sanitizers' libraries are not for a setuid program")
def test_setuid(clients):
    """A setuid gpuprobe does not let its caller have other users' programs do something."""
    client = clients.start("silent")
    with folders.private(gpuprobe=True) as directory:
        program = directory / "gpuprobe"
        program.chmod(0o4755)
        done = subprocess.run(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
                               "--clear-groups", program, *command([client], "--kineto")[1:]],
                              env=environment(), text=True, capture_output=True, timeout=120,
                              check=False)
    assert done.returncode == 1
    assert (f"process {client.pid} belongs to another user: only that user and root may ask its "
            "profiler" in done.stderr)


def test_folders(clients, tmp_path):
    """KINETO_ONDEMAND_TRACE_DIR is taken; a root directory of its own is not left."""
    traces = tmp_path / "traces"
    traces.mkdir()
    client = clients.start("good", KINETO_ONDEMAND_TRACE_DIR=traces)
    assert stat([client]).returncode == 0
    assert Path(configuration(client)["ACTIVITIES_LOG_FILE"]).parent == traces
    assert list(traces.iterdir()) == []


def test_container(clients):
    """A process in namespaces of its own has another pid and another file system."""
    inside = "mount -t tmpfs -o mode=1777 none /mnt && exec \"$0\" \"$@\""
    shell = clients.enter(Background(
        "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", inside,
        paths.PYTHON, CLIENT, "good", "--cuda", "--user", NOBODY,
        env={"KINETO_USE_DAEMON": 1, "CUDA_SIM_DIRECTORY": paths.SIM,
             "KINETO_ONDEMAND_TRACE_DIR": "/mnt"}))
    assert shell.stdout.readline() == "READY\n"
    pid, = descendants(shell.pid)
    done = subprocess.run([paths.GPUPROBE, "stat", "-p", str(pid), "--kineto=1s"],
                          env=environment(), text=True, capture_output=True, timeout=120,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert LABEL in sections(done.stdout)[pid]
    assert configuration(shell)["ACTIVITIES_LOG_FILE"].startswith("/mnt/gpuprobe-")
    assert os.listdir(Path("/proc", str(pid), "root") / "mnt") == []


@pytest.mark.slow
def test_silence(clients):
    """A process that never asks, and one whose profiler is in use, are given up."""
    silent, busy = clients.start("silent", "--cuda"), clients.start("busy", "--cuda")
    texts = sections(stat([silent, busy]).stdout)
    assert "its profiler did not take requests within 15 s" in texts[silent.pid]
    assert "its profiler was in use for all of 15 s" in texts[busy.pid]


@pytest.mark.slow
@pytest.mark.plain("it reads a gibibyte, with sanitizers for longer than gpuprobe waits")
def test_huge_file(clients):
    """No more than a gibibyte of a file is read, and what it has counts."""
    huge = clients.start("huge", "--cuda")
    text = sections(stat([huge]).stdout)[huge.pid]
    assert LABEL in text
    assert "about the trace: gpuprobe read 1.0 GiB of it, and its end is missing" in text
    assert files_of(configuration(huge)["ACTIVITIES_LOG_FILE"]) == []
