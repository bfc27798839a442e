# SPDX-License-Identifier: BSD-2-Clause
"""Calls that hang or never return, and processes that end, fork and exec: each call once."""
import contextlib
import fcntl
import os
import re
import signal
import subprocess
import termios
import time

import pytest

from lib import paths, progress, trace
from lib.probe import Background, descendants, environment, wait_for_file
from lib.progress import wait_until
from lib.script import script

pytestmark = pytest.mark.usefixtures("nothing_left")

SLOW = {"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"}
# Ends at the first SIGINT; python itself would put that off until the call is over.
HANGS = script("""
    import signal
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    start()
    memory = made(driver.cuMemAlloc_v2, 4096)
    driver.cuCtxSynchronize()
""")


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as comm:
        return comm.read().strip()


def test_a_call_that_hangs(tracer_by):
    """At the end it is shown without a result, with the time so far; earlier calls are complete."""
    running, path = tracer_by.start(*HANGS, args=["-e", "memory,sync"], env=SLOW)
    with running:
        # After a second it is told to be in progress.
        assert trace.is_in_progress(trace.wait_for_lines(path, 2)[1])
        result = trace.Traced(running.stop(), path)
    assert [line["event"] for line in result.lines
            if not trace.is_unfinished(line)] == ["cuMemAlloc_v2"]
    last = result.lines[-1]
    assert trace.is_unfinished(last) and last["event"] == "cuCtxSynchronize"
    assert last["duration"] >= 1_000_000_000


def test_a_command_that_cannot_be_interrupted(tracer_by, tmp_path):
    """It is given some time to end, and the trace ends without it."""
    running, path = tracer_by.start(*script("""
        start()
        touch(sys.argv[1])
        driver.cuCtxSynchronize()
    """), tmp_path / "hangs", args=["-e", "sync"], env=SLOW)
    with running:
        wait_for_file(tmp_path / "hangs")
        children = [pid for pid in descendants(running.pid) if "guard" not in name_of(pid)]
        progress.wait_until_in_slow_call(children[0])
        running.process.send_signal(signal.SIGINT)
        running.process.wait(60)
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        result = trace.Traced(running.finish(), path)
    assert result.status in (0, 130)
    assert f"({children[0]}) has not ended: it goes on" in result.stderr
    assert [(line["event"], line["line"])
            for line in result.lines] == [("cuCtxSynchronize", "unfinished")]


def test_a_call_that_hangs_holds_up_nobody(tracer_by):
    """Once it is told to be in progress, lines of others come while it hangs."""
    hangs = script("""
        start()
        sys.stdin.readline()
        driver.cuCtxSynchronize()
    """)
    with Background(*hangs, env=SLOW) as hanging, \
            Background(paths.workload("traced"), "--rounds", 100000, "--rate", 100) as caller:
        running, path = tracer_by.start(args=["-p", hanging.pid, "-p", caller.pid, "-e",
                                              "cudaMemset,sync"])
        with running:
            running.wait_until_watching()
            hanging.stdin.write("\n")
            hanging.stdin.flush()
            trace.wait_for(path, lambda lines: memsets_after_the_one_in_progress(lines) >= 40)
            result = trace.Traced(running.stop(), path)
    hung, = result.of("cuCtxSynchronize")
    assert trace.is_unfinished(hung) and hung["pid"] == hanging.pid
    assert trace.in_order([line for line in result.lines if line["event"] == "cudaMemset"])


def memsets_after_the_one_in_progress(lines):
    """How many lines of cudaMemset come behind that of the call that hangs."""
    begin = next((i for i, line in enumerate(lines) if trace.is_in_progress(line)), len(lines))
    return sum(line.get("event") == "cudaMemset" for line in lines[begin:])


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


def test_the_entry_of_a_call_that_hangs_is_shown_at_once(tracer_by):
    running, path = tracer_by.start(*HANGS, args=["--entry-return", "-e", "sync"], env=SLOW)
    with running:
        lines = trace.wait_for_lines(path, 1)
        assert [(line["event"], line["line"]) for line in lines] == [("cuCtxSynchronize", "entry")]
        running.stop()


def test_jumps(tracer_by, threads):
    """Allocations left by longjmp are unfinished; those after them are whole."""
    result = tracer_by.run(threads, "jump", 7, args=["-e", "memory"])
    unfinished = [line for line in result.lines if trace.is_unfinished(line)]
    assert [line["event"] for line in unfinished] == ["cuMemAllocManaged"] * 7
    assert [line["event"] for line in result.lines
            if not trace.is_unfinished(line)] == ["cuMemAlloc_v2"] * 7
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
    """Another thread than the first calls exec: the lines are those of both programs,
    under their names."""
    result = tracer_by.run(threads, "exec", 123, paths.workload("traced"), "--rounds", 5,
                           args=["-e", "cuLaunchKernel,cudaLaunchKernel"])
    assert [line["process"] for line in result.lines] == ["threads"] * 123 + ["traced"] * 5
    assert len({line["pid"] for line in result.lines}) == 1


def test_fork(tracer_by):
    """Children are traced from their first call, by their own numbers."""
    result = tracer_by.run(paths.workload("forker"), "--processes", 8, "--launches",
                           50, "--pairs", 5, args=["-e", "launch,memory"],
                           columns="time,pid,ppid,tid,event,result")
    assert result.lost == 0
    launches = [line["pid"] for line in result.lines if "Launch" in line["event"]]
    assert len(set(launches)) == 8 and all(launches.count(pid) == 50 for pid in set(launches))
    truths = {truth.pid: truth for truth in result.result.truths if not truth.idle}
    assert set(launches) == set(truths)


def test_mix_with_deaths(tracer_by):
    """Threads that die in calls: each call that ended is there, and so is each that did not."""
    result = tracer_by.run(paths.workload("mix"), "--seconds", 2, "--threads", 16, "--children", 0,
                           # All of it has room.
                           args=["-e", "all", "--api", "driver", "--buffer", "64M"],
                           columns="time,tid,event,duration,result")
    truth = result.truth.data["driver"]
    assert result.lost == 0
    ended, left = {}, {}
    for line in result.lines:
        which = left if trace.is_unfinished(line) else ended
        which[line["event"]] = which.get(line["event"], 0) + 1
    assert ended == {name: counts["calls"] for name, counts in truth.items() if counts["calls"]}
    assert left == {name: counts["abandoned"] for name, counts in truth.items()
                    if counts["abandoned"]}


def test_interrupt_in_the_middle(tracer_by):
    """Ctrl-C: all calls until then are written; the last line is complete; COMMAND ends, too."""
    running, path = tracer_by.start(paths.workload("traced"), "--threads", 8, "--rounds", 1000000,
                                    "--rate", 300)
    with running:
        trace.wait_for_lines(path, 20000)
        # By itself COMMAND would go on for an hour.
        result = trace.Traced(running.stop(signal.SIGINT), path)
    assert result.text.endswith("\n")
    assert len(result.lines) >= 20000 and trace.in_order(result.lines)


@pytest.mark.alone_by_perf("the tracefs events of a killed gpuprobe stay until the next one starts")
def test_killed(tracer_by):
    """SIGKILL leaves the target running, and nothing in the kernel except what the next
    gpuprobe clears away."""
    with Background(paths.workload("idle-holder"), "--then-launch", 500, "--seconds", 600,
                    env={"CUDA_SIM_LATENCY": "cudaLaunchKernel=1ms"}) as holder:
        assert holder.stdout.readline() == "READY\n"
        running, path = tracer_by.start(args=["-p", holder.pid])
        with running:
            running.wait_until_watching()
            holder.stdin.write("go\n")
            holder.stdin.flush()
            trace.wait_for_lines(path, 20)
            running.process.kill()
            running.process.wait(60)
        assert holder.stdout.readline() == "DONE\n"
        assert holder.tell("go") == "DONE"
    tracer_by.run("true")


class Gated(Background):
    """Executes the workload `traced` when asked to: by then the libraries have probes."""

    LIBRARIES = [paths.LIBCUDART, paths.LIBCUDA]

    def __init__(self, *options):
        super().__init__("sh", "-c", 'read go && exec "$@"', "sh", paths.workload("traced"),
                         *options)

    def go(self):
        self.stdin.write("go\n")
        self.stdin.flush()


def test_the_end_of_the_processes(tracer_by):
    """-p ends with the last of the processes, with all that they called."""
    log = tracer_by.probe.directory / "log"
    with Gated("--rounds", 20) as one, Gated("--rounds", 100, "--log", log) as other:
        running, path = tracer_by.start(args=["-p", one.pid, "-p", other.pid, "-e", "cudaFree"],
                                        libraries=Gated.LIBRARIES)
        with running:
            running.wait_until_watching()
            one.go()
            assert one.wait(60) == 0
            trace.wait_for_lines(path, 20)
            other.go()
            result = trace.Traced(running.finish(), path)
        assert other.wait(60) == 0
    assert result.status == 0 and result.lost == 0
    assert [line["pid"] for line in result.lines] == [one.pid] * 20 + [other.pid] * 100
    trace.check_threads(result.lines, trace.read_log(log), {"cudaFree"})


def test_a_child_that_outlives_the_process(tracer):
    """The trace goes on with a child of a process that has ended, until it has ended too."""
    with Background(
            "sh", "-c",
            f"read go; {paths.workload('traced')} --rounds 30 --rate 30 & echo started") as parent:
        running, path = tracer.start(args=["-p", parent.pid, "-e", "cudaFree"],
                                     libraries=Gated.LIBRARIES)
        with running:
            running.wait_until_watching()
            assert parent.tell("go") == "started"
            assert parent.wait(60) == 0
            result = trace.Traced(running.finish(), path)
    assert result.status == 0
    assert result.events == ["cudaFree"] * 30


# --- a reader that stands still ---

def has_probes(pid):
    """Whether it has links of uprobes, by what it has open."""
    for entry in os.scandir(f"/proc/{pid}/fdinfo"):
        with contextlib.suppress(OSError), \
                open(entry.path, encoding="ascii", errors="replace") as info:
            if "uprobe_multi" in info.read():
                return True
    return False


def waiting_bytes(pipe):
    count = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return int.from_bytes(count, "little")


@contextlib.contextmanager
def stalled_trace(*args):
    """A trace that nobody reads, when its pipe is full."""
    with subprocess.Popen([paths.GPUPROBE, "trace", "-e", "launch", "--format", "tsv", *args],
                          env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as tracer:
        try:
            wait_until(lambda: waiting_bytes(tracer.stdout) > 60_000)
            yield tracer
        finally:
            tracer.kill()


def launching():
    """A program that launches for long."""
    return Background(paths.workload("launch"), "--seconds", 600, "--rate", 50000)


def wait_until_called_on(tracer, pid):
    """Until the program has called much more than the pipe of its trace has room for."""
    progress.wait_until_ran(pid, 0.2)
    assert has_probes(tracer.pid)


@contextlib.contextmanager
def stalled():
    """A trace that nobody reads, of a program that goes on."""
    with launching() as program, stalled_trace("-p", str(program.pid)) as tracer:
        wait_until_called_on(tracer, program.pid)
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
    assert len(text) > 65536, "the pipe alone has so much"
    assert re.search(rf"gpuprobe: written {len(lines)} calls, lost ", errors.decode())
    assert {line.count("\t") for line in lines} == {header.count("\t")}


def test_the_deadline_beside_a_reader_that_stands_still():
    with launching() as program, stalled_trace("-p", str(program.pid), "--duration", "2") as tracer:
        wait_until(lambda: not has_probes(tracer.pid))
        assert tracer.poll() is None
        _, errors = tracer.communicate(timeout=60)
    assert tracer.returncode == 0, errors


def test_a_command_that_does_not_end_beside_a_reader_that_stands_still(tmp_path):
    """It has had its second."""
    number = tmp_path / "pid"
    command = ("sh", "-c", 'trap "" TERM; echo $$ >"$0"; exec >/dev/null 2>&1; exec "$@"', number,
               paths.workload("launch"), "--seconds", "600", "--rate", "50000")
    with stalled_trace("--", *command) as tracer:
        program = int(number.read_text())
        try:
            wait_until_called_on(tracer, program)
            tracer.send_signal(signal.SIGTERM)
            wait_until(lambda: not has_probes(tracer.pid))
            assert tracer.poll() is None
            _, errors = tracer.communicate(timeout=60)
        finally:
            os.kill(program, signal.SIGKILL)
    assert b"has not ended: it goes on" in errors


def stands_still(pid):
    """Whether it has written much, and nothing more within a second."""
    before = progress.counted(pid, "wchar")
    time.sleep(1)
    return before > 5000 and progress.counted(pid, "wchar") == before


def check_seldom_tries(pid):
    """It tries to write every 10 ms at most, however long a second takes."""
    begin, before = time.monotonic(), progress.counted(pid, "syscw")
    time.sleep(1)
    tries = progress.counted(pid, "syscw") - before
    assert tries <= 100 * (time.monotonic() - begin) + 10


def test_a_terminal_that_stands_still():
    """It has some room for long, and keeps whoever writes more than that."""
    ours, its = os.openpty()
    with Background(paths.workload("launch"), "--seconds", 600, "--rate", 1000) as program, \
            subprocess.Popen([paths.GPUPROBE, "trace", "-p", str(program.pid), "-e", "launch"],
                             env=environment(), stdin=subprocess.DEVNULL, stdout=its,
                             stderr=subprocess.PIPE) as tracer:
        try:
            wait_until(lambda: stands_still(tracer.pid))
            assert has_probes(tracer.pid)
            check_seldom_tries(tracer.pid)
            tracer.send_signal(signal.SIGTERM)
            wait_until(lambda: not has_probes(tracer.pid))
            assert tracer.poll() is None
            assert not fcntl.fcntl(its, fcntl.F_GETFL) & os.O_NONBLOCK, (
                "others write to the terminal, too")
            os.close(its)
            text = b""
            with contextlib.suppress(OSError):  # nobody has it open any more
                while True:
                    text += os.read(ours, 65536)
            assert tracer.wait(60) == 0, tracer.stderr.read()
        finally:
            tracer.kill()
            os.close(ours)
    assert text.count(b"\r\n") > 50


def test_a_second_signal_beside_a_reader_that_stands_still():
    with stalled() as tracer:
        tracer.send_signal(signal.SIGTERM)
        wait_until(
            lambda: not has_probes(tracer.pid) and not progress.blocks(tracer.pid, signal.SIGTERM))
        assert tracer.poll() is None
        tracer.send_signal(signal.SIGTERM)
        assert tracer.wait(60) == -signal.SIGTERM
