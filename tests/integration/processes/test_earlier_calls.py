# SPDX-License-Identifier: BSD-2-Clause
"""A call that began before attach is in progress, even while other threads of its process go
on making calls."""
import contextlib
import json
import os
import signal
from pathlib import Path

import pytest

from lib.dump import WAITS, Stuck
from lib.probe import Background, wait_until
from lib.script import script

# As a training job that hangs: one thread waits for ever, the watchdog goes on asking.
HANGS = """
import signal, threading
context = start()
stream, event = made(driver.cuStreamCreate, 0), made(driver.cuEventCreate, 0)
need(driver.cuEventRecord(event, stream))
def watch():
    need(driver.cuCtxSetCurrent(context))
    while True:
        need(driver.cuEventQuery(event))
        time.sleep(0.02)
threading.Thread(target=watch, daemon=True).start()
time.sleep(0.1)
need({call})
for line in sys.stdin:
    need({call})
    print("ANSWER", flush=True)
print("right", flush=True)
"""
CALLS = {
    "driver": ("driver.cuStreamSynchronize(stream)", "cuStreamSynchronize", "cuStreamSynchronize"),
    "runtime": ("runtime.cudaStreamSynchronize(stream)",
                "cuStreamSynchronize", "cuStreamSynchronize"),
    "allocation": ("runtime.cudaMalloc(ref(out()), 4096)", "cuMemAlloc_v2", "cudaMalloc"),
}


@contextlib.contextmanager
def hanging(tmp_path, call):
    """The process; `release` ends the hang and it goes on."""
    words, hangs, _ = CALLS[call]
    log = tmp_path / "hangs"
    log.touch()
    with Background(*script(HANGS.format(call=words)),
                    env={"CUDA_SIM_HANG": f"{hangs}=poll", "CUDA_SIM_HANG_LOG": log}) as process:
        wait_until(log.read_text, lambda: "it does not hang")
        # Thereafter it sleeps in poll.
        asleep = Path(f"/proc/{process.pid}/syscall")
        wait_until(lambda: asleep.read_text().startswith("7 "), asleep.read_text)
        yield process


def earlier(report, pid):
    """The calls from before in a report of the process: None where it is not there yet."""
    for process in report["processes"]:
        if process["pid"] == pid:
            return [call for call in process.get("in_progress", []) if call.get("before_attach")]
    return None


@pytest.mark.parametrize("call", CALLS)
def test_is_in_progress(gpuprobe, tmp_path, call):
    """Under the name that it would have been counted by,
    until it returns and not a moment longer."""
    with hanging(tmp_path, call) as process:
        with gpuprobe.start(args=["-p", process.pid]) as running:
            [found] = running.find(lambda report: earlier(report, process.pid))
            assert (found["function"], found["tid"]) == (CALLS[call][2], process.pid)
            assert found["ns"] >= 0 and not found["ended"]
            running.find(lambda report: (earlier(report, process.pid)
                                         or [{"calls_meanwhile": 0}])[0]["calls_meanwhile"] > 2)
            os.kill(process.pid, signal.SIGUSR1)
            running.find(lambda report: earlier(report, process.pid) == [])
            # The same call from the same place, which was seen to begin.
            for _ in range(3):
                assert process.tell("go") == "ANSWER"
            result = running.stop()
        process.stdin.close()
        assert process.stdout.read() == "right\n"
    assert earlier(result.final, process.pid) == []


def test_is_stuck(gpuprobe, tmp_path):
    """It is what diagnose finds."""
    with hanging(tmp_path, "runtime") as process:
        done = gpuprobe.run(base=["diagnose"],
                            args=["-p", process.pid, "--threshold", "stuck=1s", "--duration", "2"])
    told = " ".join(done.stdout.split())
    assert ("stuck: a call does not return: a hang, or long work on the GPU "
            f"process {process.pid} " in told)
    assert (f"thread {process.pid}: cuStreamSynchronize in progress since before attach, "
            "for more than " in told)
    assert "; the process's other threads still make calls" in told


def test_of_children(gpuprobe, tmp_path):
    """Of a process's descendants as well."""
    with hanging(tmp_path, "driver") as process:
        with gpuprobe.start(args=["-p", os.getpid()]) as running:
            [found] = running.find(lambda report: earlier(report, process.pid))
            assert found["function"] == "cuStreamSynchronize"
            running.stop()


def seconds_waited(report, pid):
    return sum(wait["ns"] for process in report["processes"] if process["pid"] == pid
               for wait in process.get("waits", [])) / 1e9


def seconds_in(report, pid, function):
    """Time in calls of a function, in every place that shows it:
    waits, the account's functions and threads."""
    [process] = [process for process in report["processes"] if process["pid"] == pid]
    functions = {each["function"]: each["total_ns"] for each in process["functions"]}
    waits = sum(wait["ns"] for wait in process["waits"])
    threads = {thread["tid"]: thread["time"]["wait"]["ns"] for thread in process["threads"]}
    assert functions[function] == waits == threads[pid]
    return waits / 1e9


def test_its_time_is_in_the_sums(gpuprobe, stuck, tmp_path):
    """A process with no call since attach is in the account, and still reported as silent."""
    with Stuck(WAITS[2], stuck.get(), log=tmp_path / "log") as process:
        done = gpuprobe.run(base=["stat", "--json"], args=["-p", process.pid, "--duration", "3"])
        report = json.loads(done.stdout.splitlines()[-1])
        assert 2.5 < seconds_in(report, process.pid, "cuStreamSynchronize") < 20
        [silent] = report["without_calls"]
        assert "is in cudaStreamSynchronize" in silent["doing"]
        process.release()


def test_its_stack_is_in_the_flame_graph(gpuprobe, stuck, tmp_path):
    with Stuck(WAITS[2], stuck.get(), log=tmp_path / "log") as process:
        done = gpuprobe.run(base=["flame", "--by", "wait-time", "--folded"],
                            args=["-p", process.pid, "--duration", "2"])
        frames, weight = done.stdout.strip().rsplit(" ", 1)
        assert int(weight) > 1e9
        assert frames.split(";")[-3:] == ["wait_for_stream", "cudaStreamSynchronize",
                                          "cuStreamSynchronize"]
        process.release()


def test_its_time_stays_when_it_returns(gpuprobe, stuck, tmp_path):
    """What came after is beside it; nothing goes back."""
    with Stuck(WAITS[2], stuck.get(), log=tmp_path / "log") as process:
        with gpuprobe.start(args=["-p", process.pid]) as running:
            running.find(lambda report: seconds_waited(report, process.pid) > 1)
            process.release()
            result = running.stop()
    shown = [report for report in result.reports
             if process.pid in (each["pid"] for each in report["processes"])]
    times = [seconds_waited(report, process.pid) for report in shown]
    assert times == sorted(times) and 1 < times[-1] < 60


def test_ends_with_its_process(gpuprobe, stuck, tmp_path):
    """The time until the latest look is told, of the function and of its thread."""
    with Stuck(WAITS[2], stuck.get(), log=tmp_path / "log") as process:
        with gpuprobe.start(base=["stat", "--json"], args=["--interval", "0.1", "-p", process.pid],
                            interval=None) as running:
            running.find(lambda report: seconds_waited(report, process.pid) > 0)
            process.kill()
            report = running.finish().final
    assert report["processes"][0]["ended"]
    assert 0 < seconds_in(report, process.pid, "cuStreamSynchronize") < 60
