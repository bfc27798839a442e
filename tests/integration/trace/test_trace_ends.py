# SPDX-License-Identifier: BSD-2-Clause
"""Calls that hang or never return, and processes that end, fork and become others: each call once."""
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import termios
import time

import pytest

from lib import paths, trace
from lib.probe import Background, descendants, environment
from lib.script import script

pytestmark = pytest.mark.usefixtures("nothing_left")

SLOW = {"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"}
# Ends at the first SIGINT; python itself would put that off until the call is over.
HANGS = script("""
    import signal
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    start()
    memory = made(driver.cuMemAlloc_v2, 4096)
    touch(sys.argv[1])
    driver.cuCtxSynchronize()
""")


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
        return comm.read().strip()


def test_a_call_that_hangs(tracer_by, tmp_path):
    """At the end it is shown without a result, with the time so far; what came before it is whole."""
    running, path = tracer_by.start(*HANGS, tmp_path / "hangs", args=["-e", "memory,sync"], env=SLOW)
    with running:
        trace.wait_for_lines(path, 1)
        time.sleep(2)
        result = trace.Traced(running.stop(), path)
    assert [line["event"] for line in result.lines if not trace.is_unfinished(line)] == ["cuMemAlloc_v2"]
    last = result.lines[-1]
    assert trace.is_unfinished(last) and last["event"] == "cuCtxSynchronize"
    assert last["duration"] >= 1_000_000_000  # of the 2 s some may pass before the call begins


def test_a_command_that_cannot_be_interrupted(tracer_by, tmp_path):
    """It is given some time to end, and the trace ends without it."""
    running, path = tracer_by.start(*script("""
        start()
        touch(sys.argv[1])
        driver.cuCtxSynchronize()
    """), tmp_path / "hangs", args=["-e", "sync"], env=SLOW)
    with running:
        while not (tmp_path / "hangs").exists():
            time.sleep(0.05)
        time.sleep(0.3)
        children = [pid for pid in descendants(running.pid) if "guard" not in name_of(pid)]
        running.process.send_signal(signal.SIGINT)
        running.process.wait(60)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        result = trace.Traced(running.finish(), path)
    assert result.status in (0, 130)
    assert f"({children[0]}) has not ended: it goes on" in result.stderr
    assert [(line["event"], line["line"]) for line in result.lines] == [("cuCtxSynchronize", "unfinished")]


def test_a_call_that_hangs_holds_up_nobody(tracer_by, tmp_path):
    """Lines of others come while it hangs."""
    with Background(*HANGS, tmp_path / "hangs", env=SLOW):
        running, path = tracer_by.start(paths.workload("traced"), "--rounds", 10000, "--rate", 100,
                                        args=["-e", "cudaMemset,sync"])
        with running:
            lines = trace.wait_for_lines(path, 250)
            result = trace.Traced(running.stop(), path)
    assert len([line for line in lines if line.get("event") == "cudaMemset"]) >= 40
    assert trace.in_order([line for line in result.lines if line["event"] == "cudaMemset"])


def test_entry_and_return(tracer_by):
    """Two lines a call; the second has the result."""
    result = tracer_by.run(*script("""
        start()
        memory = made(driver.cuMemAlloc_v2, 4096)
        need(driver.cuMemFree_v2(memory))
        assert driver.cuMemAlloc_v2(ref(out()), 1 << 50) == 2
    """), args=["--entry-return", "-e", "cuMemAlloc_v2,cuMemFree_v2"])
    assert [(line["event"], line["line"]) for line in result.lines] == [
        ("cuMemAlloc_v2", "entry"), ("cuMemAlloc_v2", "return"), ("cuMemFree_v2", "entry"),
        ("cuMemFree_v2", "return"), ("cuMemAlloc_v2", "entry"), ("cuMemAlloc_v2", "return")]
    assert [line["result"] for line in result.lines[1::2]] == \
        ["CUDA_SUCCESS", "CUDA_SUCCESS", "CUDA_ERROR_OUT_OF_MEMORY"]
    assert trace.in_order(result.lines)


def test_entry_and_return_in_the_table(tracer):
    result = tracer.run(*script("""
        start()
        made(driver.cuMemAlloc_v2, 4096)
        assert driver.cuMemAlloc_v2(ref(out()), 1 << 50) == 2
    """), args=["--entry-return", "-e", "cuMemAlloc_v2"], form="table", columns=None)
    assert re.findall(r"returned=.*", result.text) == ["returned=0 (success)",
                                                       "returned=2 (CUDA_ERROR_OUT_OF_MEMORY)"]
    assert result.text.count("cuMemAlloc_v2") == 4


def test_the_entry_of_a_call_that_hangs_is_shown_at_once(tracer_by, tmp_path):
    running, path = tracer_by.start(*HANGS, tmp_path / "hangs", args=["--entry-return", "-e", "sync"], env=SLOW)
    with running:
        lines = trace.wait_for_lines(path, 1)
        assert [(line["event"], line["line"]) for line in lines] == [("cuCtxSynchronize", "entry")]
        running.stop()


def test_jumps(tracer_by, threads):
    """Allocations left by longjmp are unfinished; those after them are whole."""
    result = tracer_by.run(threads, "jump", 7, args=["-e", "memory"],
                           env={"CUDA_SIM_LATENCY": "cuMemAllocManaged=20ms"})
    unfinished = [line for line in result.lines if trace.is_unfinished(line)]
    assert [line["event"] for line in unfinished] == ["cuMemAllocManaged"] * 7
    assert [line["event"] for line in result.lines if not trace.is_unfinished(line)] == ["cuMemAlloc_v2"] * 7
    assert trace.in_order(result.lines)


def test_threads_that_end_in_calls(tracer_by, threads):
    result = tracer_by.run(threads, "leave", 20, args=["-e", "launch"])
    assert [trace.is_unfinished(line) for line in result.lines] == [False, True] * 20
    assert len({line["tid"] for line in result.lines}) == 20
    assert trace.in_order(result.lines)


def test_many_threads_one_after_the_other(tracer_by, threads):
    """Thread numbers are given anew; each line is still its own thread's."""
    result = tracer_by.run(threads, "many", 2016, args=["-e", "memory,launch"])
    assert result.lost == 0
    assert result.counts == {"cuMemAlloc_v2": 2016, "cuLaunchKernel": 2016, "cuMemFree_v2": 2016}
    by_thread = {}
    for line in result.lines:
        by_thread.setdefault(line["tid"], []).append(line["event"])
    wrong = [tid for tid, events in by_thread.items()
             if events != ["cuMemAlloc_v2", "cuLaunchKernel", "cuMemFree_v2"] * (len(events) // 3)]
    assert wrong == []


def test_exec(tracer_by, threads):
    """Another thread than the first makes it another program: its lines are those of both, under their names."""
    result = tracer_by.run(threads, "exec", 123, paths.workload("traced"), "--rounds", 5,
                           args=["-e", "cuLaunchKernel,cudaLaunchKernel"])
    assert [line["process"] for line in result.lines] == ["threads"] * 123 + ["traced"] * 5
    assert len({line["pid"] for line in result.lines}) == 1


def test_fork(tracer_by):
    """Children are traced from their first call, by their own numbers."""
    result = tracer_by.run(paths.workload("forker"), "--processes", 8, "--launches", 50, "--pairs", 5,
                           args=["-e", "launch,memory"], columns="time,pid,ppid,tid,event,result")
    assert result.lost == 0
    launches = [line["pid"] for line in result.lines if "Launch" in line["event"]]
    assert len(set(launches)) == 8 and all(launches.count(pid) == 50 for pid in set(launches))
    truths = {truth.pid: truth for truth in result.result.truths if not truth.idle}
    assert set(launches) == set(truths)


def test_mix_with_deaths(tracer_by):
    """Threads that die in calls: each call that ended is there, and so is each that did not."""
    result = tracer_by.run(paths.workload("mix"), "--seconds", 2, "--threads", 16, "--children", 0,
                           args=["-e", "all", "--api", "driver"], columns="time,tid,event,duration,result")
    truth = result.truth.data["driver"]
    assert result.lost == 0
    ended, left = {}, {}
    for line in result.lines:
        which = left if trace.is_unfinished(line) else ended
        which[line["event"]] = which.get(line["event"], 0) + 1
    assert ended == {name: counts["calls"] for name, counts in truth.items() if counts["calls"]}
    assert left == {name: counts["abandoned"] for name, counts in truth.items() if counts["abandoned"]}


def test_interrupt_in_the_middle(tracer_by):
    """Ctrl-C: what was called until then is written whole; the last line is a whole one; COMMAND ends too."""
    running, path = tracer_by.start(paths.workload("traced"), "--threads", 8, "--rounds", 1000000, "--rate", 300)
    with running:
        trace.wait_for_lines(path, 20000)
        began = time.monotonic()
        result = trace.Traced(running.stop(signal.SIGINT), path)
    assert time.monotonic() - began < 15
    assert result.text.endswith("\n")
    assert len(result.lines) >= 20000 and trace.in_order(result.lines)


@pytest.mark.alone_by_perf("the tracefs events of a killed gpuprobe stay until the next one starts")
def test_killed(tracer_by):
    """SIGKILL leaves the target running, and nothing in the kernel but what the next gpuprobe clears away."""
    with Background(paths.workload("traced"), "--rounds", 200, "--rate", 100) as caller:
        running, path = tracer_by.start(args=["-p", caller.pid])
        with running:
            trace.wait_for_lines(path, 20)
            running.process.kill()
            running.process.wait(10)
        assert caller.wait(20) == 0
    tracer_by.run("true")


def test_the_end_of_the_processes(tracer_by):
    """-p ends with the last of the processes, with all that they called."""
    log = [tracer_by.probe.directory / "log0", tracer_by.probe.directory / "log1"]
    with Background(paths.workload("traced"), "--rounds", 20, "--rate", 50, "--log", log[0]) as one, \
            Background(paths.workload("traced"), "--rounds", 100, "--rate", 50, "--log", log[1]) as other:
        running, path = tracer_by.start(args=["-p", one.pid, "-p", other.pid, "-e", "cudaFree"])
        with running:
            result = trace.Traced(running.finish(), path)
        assert one.poll() == 0 and other.poll() == 0
    assert result.status == 0 and result.lost == 0
    assert {line["pid"] for line in result.lines} >= {other.pid}
    last = max(call.after for calls in trace.read_log(log[1]).values() for call in calls
               if call.function == "cudaFree")
    assert result.lines[-1]["time"] + result.lines[-1]["duration"] <= last
    assert last - result.lines[-1]["time"] < 1_000_000_000


def test_a_child_that_outlives_the_process(tracer, tmp_path):
    """The trace goes on with a child of a process that has ended, until it has ended too."""
    with Background("sh", "-c", f"read go; {paths.workload('traced')} --rounds 30 --rate 30 & echo started") as parent:
        running, path = tracer.start(args=["-p", parent.pid, "-e", "cudaFree"])
        with running:
            running.wait_until_watching()
            assert parent.tell("go") == "started"
            assert parent.wait(20) == 0
            result = trace.Traced(running.finish(), path)
    assert result.status == 0
    assert len(result.lines) >= 25


# --- a reader that stands still ---

def has_probes(pid):
    """Whether it has links of uprobes, by what it has open."""
    for entry in os.scandir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError), open(entry.path, encoding="ascii", errors="replace") as info:
            if "uprobe_multi" in info.read():
                return True
    return False


def wait_until(condition, timeout=30):
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def waiting_bytes(pipe):
    count = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return int.from_bytes(count, "little")


@contextlib.contextmanager
def stalled_trace(*args):
    """A trace that nobody reads, when its pipe has been full for a while."""
    with subprocess.Popen([paths.GPUPROBE, "trace", "-e", "launch", "--format", "tsv", *args],
                          env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as tracer:
        try:
            wait_until(lambda: waiting_bytes(tracer.stdout) > 60_000)
            time.sleep(1)
            assert has_probes(tracer.pid)
            yield tracer
        finally:
            tracer.kill()


@contextlib.contextmanager
def stalled(*args):
    """The same of a program that goes on."""
    with Background(paths.workload("launch"), "--seconds", 120, "--rate", 50000) as program, \
            stalled_trace("-p", str(program.pid), *args) as tracer:
        yield tracer


def test_a_reader_that_stands_still():
    """The probes go out all the same, and who reads on gets what was seen until then."""
    with stalled() as tracer:
        tracer.send_signal(signal.SIGTERM)
        wait_until(lambda: not has_probes(tracer.pid))
        assert tracer.poll() is None
        text, errors = tracer.communicate(timeout=60)
    assert tracer.returncode == 0, errors
    header, *lines = text.decode().splitlines()
    assert len(lines) > 2000
    assert {line.count("\t") for line in lines} == {header.count("\t")}


def test_the_deadline_beside_a_reader_that_stands_still():
    with stalled("--duration", "5") as tracer:
        wait_until(lambda: not has_probes(tracer.pid), 20)
        assert tracer.poll() is None
        _, errors = tracer.communicate(timeout=60)
    assert tracer.returncode == 0, errors


def test_a_command_that_does_not_end_beside_a_reader_that_stands_still(tmp_path):
    """It has had its second."""
    number = tmp_path / "pid"
    command = ("sh", "-c", 'trap "" TERM; echo $$ >"$0"; exec >/dev/null 2>&1; exec "$@"', number,
               paths.workload("launch"), "--seconds", "30", "--rate", "50000")
    with stalled_trace("--", *command) as tracer:
        tracer.send_signal(signal.SIGTERM)
        wait_until(lambda: not has_probes(tracer.pid), 20)
        assert tracer.poll() is None
        _, errors = tracer.communicate(timeout=60)
        os.kill(int(number.read_text()), signal.SIGKILL)
    assert b"has not ended: it goes on" in errors


def written(pid):
    """The bytes that it has written."""
    with open(f"/proc/{pid}/io", encoding="ascii") as counts:
        return next(int(line.split()[1]) for line in counts if line.startswith("wchar"))


def stands_still(pid):
    before = written(pid)
    time.sleep(1)
    return before > 5000 and written(pid) == before


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def test_a_terminal_that_stands_still():
    """It has some room for long, and keeps whoever writes more than that."""
    ours, its = os.openpty()
    with Background(paths.workload("launch"), "--seconds", 120, "--rate", 1000) as program, \
            subprocess.Popen([paths.GPUPROBE, "trace", "-p", str(program.pid), "-e", "launch"], env=environment(),
                             stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.PIPE) as tracer:
        try:
            wait_until(lambda: stands_still(tracer.pid))
            assert has_probes(tracer.pid)
            before = cpu_seconds(tracer.pid)
            time.sleep(2)
            assert cpu_seconds(tracer.pid) - before < 0.5
            tracer.send_signal(signal.SIGTERM)
            wait_until(lambda: not has_probes(tracer.pid))
            assert tracer.poll() is None
            assert not fcntl.fcntl(its, fcntl.F_GETFL) & os.O_NONBLOCK, "others write to the terminal, too"
            os.close(its)
            text = b""
            with contextlib.suppress(OSError):  # nobody has it open any more
                while True:
                    text += os.read(ours, 65536)
            assert tracer.wait(30) == 0, tracer.stderr.read()
        finally:
            tracer.kill()
            os.close(ours)
    assert text.count(b"\r\n") > 50


def test_a_second_signal_beside_a_reader_that_stands_still():
    with stalled() as tracer:
        tracer.send_signal(signal.SIGTERM)
        wait_until(lambda: not has_probes(tracer.pid))
        time.sleep(0.5)
        tracer.send_signal(signal.SIGTERM)
        assert tracer.wait(30) == -signal.SIGTERM
