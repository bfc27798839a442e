# SPDX-License-Identifier: BSD-2-Clause
"""Which calls are shown: --failed, --min-duration, --count, --duration, --comm,
--uid, --cgroup, -p."""
import contextlib
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from lib import paths, trace
from lib.probe import Background
from lib.script import script

TRACED = paths.workload("traced")
CGROUPS = next((Path(at) for at in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
                if os.path.exists(f"{at}/cgroup.procs")), None)


def test_failed(tracer_by):
    result, log = tracer_by.traced("--threads", 4, "--rounds", 100, "--fail", 9, args=["--failed"])
    failed = sum(call.result != 0 for calls in log.values() for call in calls)
    assert failed == 4 * 12
    assert result.events == ["cudaMalloc"] * failed
    assert {line["size"] for line in result.lines} == {1 << 50}


def test_not_ready_is_no_failure(tracer):
    """600 is an answer: work that has not finished."""
    result = tracer.run(*script("""
        need(runtime.cudaSetDevice(0))
        stream = made(runtime.cudaStreamCreate)
        memory = made(runtime.cudaMalloc, 4096)
        host = ctypes.create_string_buffer(4096)
        need(runtime.cudaMemcpyAsync(memory, host, 4096, 1, stream))
        assert runtime.cudaStreamQuery(stream) == 600
        assert runtime.cudaMalloc(ref(out()), 1 << 50) == 2
    """), args=["-e", "all", "--failed", "--api", "runtime"], env={"CUDA_SIM_ASYNC": "600s"})
    assert result.events == ["cudaMalloc"]
    shown = tracer.run(*script("""
        stream = made(runtime.cudaStreamCreate)
        memory = made(runtime.cudaMalloc, 4096)
        need(runtime.cudaMemcpyAsync(memory, ctypes.create_string_buffer(4096), 4096, 1, stream))
        assert runtime.cudaStreamQuery(stream) == 600
    """), args=["-e", "cudaStreamQuery"], env={"CUDA_SIM_ASYNC": "600s"})
    assert [line["result"] for line in shown.lines] == ["cudaErrorNotReady"]


def call_of(line, calls):
    """Which of the calls the line is of."""
    call, = [call for call in calls if call.before <= line["time"] <= call.after]
    assert call.function == line["event"]
    return call


def test_min_duration(tracer_by):
    """Calls that take 20 ms among such that take microseconds, more where the machine is busy."""
    result, log = tracer_by.traced(
        "--rounds", 10, args=["--min-duration", "10ms"],
        env={"CUDA_SIM_LATENCY": "cudaStreamSynchronize=20ms,cudaMemset=2ms"})
    calls = [call for calls in log.values() for call in calls]
    assert len(calls) > 100
    shown = [call_of(line, calls) for line in result.lines]
    assert all(call.after - call.before >= line["duration"] >= 10_000_000
               for line, call in zip(result.lines, shown))
    assert [call for call in shown if call.function == "cudaStreamSynchronize"] == \
        [call for call in calls if call.function == "cudaStreamSynchronize"]


@pytest.mark.parametrize("text, ns",
                         [("1500us", 1_500_000), ("0.0015s", 1_500_000), ("1500000ns", 1_500_000)])
def test_min_duration_units(tracer, text, ns):
    result, _ = tracer.traced("--rounds", 5,
                              args=["--min-duration", text, "-e", "cudaMemset,cudaFree"],
                              env={"CUDA_SIM_LATENCY": "cudaMemset=2ms,cudaFree=1ms"})
    assert result.events.count("cudaMemset") == 5
    # On a busy machine a cudaFree may take as long.
    assert all(line["duration"] >= ns for line in result.lines)


def test_count(tracer_by):
    """Ends after so many lines; COMMAND goes on or is ended, but the lines are those."""
    result = tracer_by.run(TRACED, "--rounds", 1000, args=["--count", 17, "-e", "copy"],
                           status=None)
    assert len(result.lines) == 17
    assert result.events == (["cudaMemcpy", "cudaMemset", "cudaMemcpyAsync"] * 6)[:17]


def test_duration(tracer_by):
    """It ends by itself, not before its time, while the program goes on for a minute."""
    began = time.monotonic()
    with Background(TRACED, "--rounds", 3000, "--rate", 50) as caller:
        result = tracer_by.run(args=["--duration", 2, "-e", "cudaMemset", "-p", caller.pid])
        assert caller.poll() is None
    assert time.monotonic() - began >= 2
    assert result.lines and set(result.events) == {"cudaMemset"}


def test_process(tracer_by):
    """Of two that call, the one that was asked for."""
    with Background(TRACED, "--rounds", 100000, "--rate", 50) as other, \
            Background(TRACED, "--rounds", 100000, "--rate", 50) as one:
        result = tracer_by.run(args=["-p", one.pid, "--count", 500])
        assert other.poll() is None
    assert [line["pid"] for line in result.lines] == [one.pid] * 500


def test_two_processes(tracer):
    with Background(TRACED, "--rounds", 100000, "--rate", 50), \
            Background(TRACED, "--rounds", 100000, "--rate", 50) as one, \
            Background(TRACED, "--rounds", 100000, "--rate", 50) as two:
        running, path = tracer.start(args=["-p", one.pid, "-p", two.pid])
        with running:
            trace.wait_for(path,
                           lambda lines: {line.get("pid") for line in lines} >= {one.pid, two.pid})
            result = trace.Traced(running.stop(), path)
    assert {line["pid"] for line in result.lines} == {one.pid, two.pid}


def test_a_process_that_is_none(tracer):
    result = tracer.run(args=["-p", "4194304"], status=None)
    assert result.status not in (0, None) and "4194304" in result.stderr


def two_programs(tracer, tmp_path, *args):
    """Runs the workload under two names; the processes that lines came from."""
    renamed = tmp_path / "elsewhere"
    shutil.copy(TRACED, renamed)
    command = ["sh", "-c", '"$0" --rounds 20 & "$1" --rounds 20; wait', TRACED, renamed]
    result = tracer.run(*command, args=["--api", "runtime", *args],
                        env={"LD_LIBRARY_PATH": paths.SIM})
    return {line["process"] for line in result.lines}, result


def test_comm(tracer_by, tmp_path):
    assert two_programs(tracer_by, tmp_path)[0] == {"traced", "elsewhere"}
    assert two_programs(tracer_by, tmp_path, "--comm", "elsewhere")[0] == {"elsewhere"}
    assert two_programs(tracer_by, tmp_path, "--comm", "else")[0] == set()


def test_uid(tracer_by, tmp_path):
    """The real user's number."""
    command = script("""
        need(runtime.cudaSetDevice(0))
        for user in (0, 12345):
            if not os.fork():
                os.setuid(user)
                os.execv(sys.executable, [sys.executable, "-c",
                         "import ctypes; ctypes.CDLL(%r).cudaSetDevice(0)"
                         % (SIM + "/libcudart.so.13")])
            os.wait()
    """)
    every = tracer_by.run(*command, args=["-e", "cudaSetDevice"], columns="time,uid,event")
    assert [line["uid"] for line in every.lines] == [0, 0, 12345]
    one = tracer_by.run(*command, args=["-e", "cudaSetDevice", "--uid", 12345],
                        columns="time,uid,event")
    assert [line["uid"] for line in one.lines] == [12345]


@pytest.fixture
def cgroup():
    """A cgroup of our own, with one below it."""
    if not CGROUPS:
        pytest.skip("no cgroups of version 2 are mounted")
    made = CGROUPS / f"gpuprobe-test-{os.getpid()}"
    below = made / "below"
    try:
        below.mkdir(parents=True)
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error}")
    yield made
    for directory in (below, made):
        for _ in range(100):
            with contextlib.suppress(OSError):
                directory.rmdir()
                break
            time.sleep(0.05)


def in_cgroup(directory, rounds):
    """The workload in a cgroup, where it stays until it is killed."""
    return Background("sh", "-c", f'echo $$ > {directory}/cgroup.procs && exec "$@"', "sh", TRACED,
                      "--rounds", rounds, "--hold", 600)


def test_cgroup(tracer_by, cgroup):
    """Those in it and below; the column names it."""
    running, path = tracer_by.start(args=["--cgroup", cgroup, "-e", "cudaMemset"],
                                    columns="time,pid,cgroup,event",
                                    libraries=[paths.LIBCUDART, paths.LIBCUDA])
    with running:
        running.wait_until_watching()
        with in_cgroup(cgroup, 11):
            trace.wait_for_lines(path, 11)
        subprocess.run([TRACED, "--rounds", "5"], check=True)
        with in_cgroup(cgroup / "below", 7):
            trace.wait_for_lines(path, 18)
        result = trace.Traced(running.stop(), path)
    groups = [line["cgroup"] for line in result.lines]
    assert len(groups) == 18
    assert groups == [f"/{cgroup.name}"] * 11 + [f"/{cgroup.name}/below"] * 7


def test_a_cgroup_that_is_none(tracer):
    result = tracer.run("true", args=["--cgroup", "/sys/fs/cgroup/no-such-group"], status=None)
    assert result.status not in (0, None) and "no-such-group" in result.stderr


def test_filters_together(tracer, tmp_path):
    found, result = two_programs(tracer, tmp_path, "--comm", "traced", "-e", "cudaFree", "--count",
                                 "5")
    assert found == {"traced"} and result.events == ["cudaFree"] * 5
