# SPDX-License-Identifier: BSD-2-Clause
"""
A call that began before `gpuprobe trace -p` came has one line, which says so, and is not counted. A
stuck program is released afterwards: it ends as if it had not been watched,
and its later calls are shown as ever.
"""
import json
import os
import re
import signal
from pathlib import Path

import pytest

from lib import trace
from lib.dump import GIL_IN_CUDA, MANY, PIPE, WAITS, Stuck, python
from lib.probe import Background, wait_until
from lib.script import script

BLOCK, = [way for way in WAITS if way.id == "stream-block"]
SPIN, = [way for way in WAITS if way.id == "stream-spin"]
NOTE = "written 0 calls, lost 0; 1 call had begun before attach\n"


def watch(tracer, pid, *args, condition=lambda lines: any(map(trace.is_before, lines)), **options):
    """Traces the process until the lines are as wanted; a Traced."""
    running, path = tracer.start(args=["-p", pid, *args], **options)
    with running:
        trace.wait_for(path, condition)
        return trace.Traced(running.stop(), path)


def check_line(line, program, event="cudaStreamSynchronize"):
    assert (line["event"], line["pid"], line["tid"]) == (event, program.pid, program.only.tid)
    assert (line["duration"], line["result"], line["details"]) == (None, None, {})


# --- one call ---

@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("way, runtime", [(BLOCK, "shared"), (SPIN, "static")],
                         ids=["block", "spin-static"])
def test_c(tracer_by, stuck, tmp_path, way, runtime):
    with Stuck(way, stuck.get(runtime), log=tmp_path / "log") as program:
        result = watch(tracer_by, program.pid, "--stack", columns=f"{trace.COLUMNS},stack")
        line, = result.objects
        check_line(line, program)
        assert re.fullmatch(rf"wait_for_stream\+0x[0-9a-f]+ \[stuck\] stuck\.c:{program.only.line}",
                            line["stack"][0])
        assert result.stderr.endswith(NOTE)
        program.release()


def test_python(tracer, stuck, tmp_path):
    with python(stuck, BLOCK, tmp_path) as program:
        line, = watch(tracer, program.pid, "--stack", columns=f"{trace.COLUMNS},stack").objects
        check_line(line, program)
        frame, = [frame for frame in line["stack"] if frame.startswith("wait_for_stream ")]
        assert frame.endswith(f"stuck.py:{program.only.line})")
        program.release()


def test_without_stacks(tracer, stuck, tmp_path):
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        line, = watch(tracer, program.pid).objects
        check_line(line, program)
        assert "stack" not in line
        program.release()


@pytest.mark.parametrize("form", ["table", "tsv"])
def test_forms(tracer, stuck, tmp_path, form):
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        result = tracer.run(args=["-p", program.pid, "--duration", 2], form=form,
                            columns="pid,tid,event,duration,result")
        program.release()
    _, line = result.text.splitlines()
    own = [str(program.pid), str(program.pid), "cudaStreamSynchronize"]
    if form == "tsv":
        assert line.split("\t") == [*own, "-", "<began before attach>"]
    else:
        assert line.split(maxsplit=3) == [*own, "<began before attach>"]
    assert result.stderr.endswith(NOTE)


def test_summary(tracer, stuck, tmp_path):
    """With -c it is told that there was one, which is in no sum."""
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        result = tracer.run(args=["-p", program.pid, "--duration", 2, "-c"], columns=None)
        program.release()
    summary = json.loads(result.text)["summary"]
    assert (summary["calls"], summary["functions"], summary["before_attach"]) == (0, [], 1)
    assert "summed up 0 calls, lost 0; 1 call had begun before attach\n" in result.stderr


def test_two_lines_a_call(tracer, stuck, tmp_path):
    """It is one line all the same."""
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        line, = watch(tracer, program.pid, "--entry-return").objects
        check_line(line, program)
        program.release()


def test_of_a_child(tracer, stuck, tmp_path):
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        line, = watch(tracer, os.getpid(), "-e", "cudaStreamSynchronize").before
        check_line(line, program)
        program.release()


def test_goes_on(tracer, stuck, tmp_path):
    """What the program calls once it is released is shown and counted; its return is no line."""
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        running, path = tracer.start(args=["-p", program.pid, "-e", "all"])
        with running:
            trace.wait_for(path, lambda lines: any(map(trace.is_before, lines)))
            program.release()
            result = trace.Traced(running.finish(), path)
    line, *rest = result.objects
    check_line(line, program)
    assert rest and not any(map(trace.is_before, rest))
    assert "cudaStreamSynchronize" not in {line["event"] for line in rest}
    assert trace.in_order(result.objects)
    assert re.search(rf"written {len(rest)} calls?, lost 0; 1 call had begun before attach\n",
                     result.stderr)


# --- which are shown ---

GROUP = next((line.split("::")[1].strip()
              for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
              if line.startswith("0::")), "/")
FILTERS = {
    "sync": (["-e", "sync"], "cudaStreamSynchronize"),
    "driver": (["--api", "driver"], "cuStreamSynchronize"),
    "not-the-outer": (["-e", "!cudaStreamSynchronize"], "cuStreamSynchronize"),
    "nested": (["--nested"], "cudaStreamSynchronize"),
    "name": (["--comm", "stuck"], "cudaStreamSynchronize"),
    "user": (["--uid", os.getuid()], "cudaStreamSynchronize"),
    "group": (["--cgroup", GROUP], "cudaStreamSynchronize"),
    "has-lasted": (["--min-duration", "200ms"], "cudaStreamSynchronize"),
    "entries-alone": (["--no-return-probes"], "cudaStreamSynchronize"),
    "memory": (["-e", "memory"], None),
    "other-name": (["--comm", "another"], None),
    "other-user": (["--uid", 54321], None),
    "failed": (["--failed"], None),
    "has-not-lasted": (["--min-duration", "1000s"], None),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters(tracer, stuck, tmp_path, name):
    args, event = FILTERS[name]
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        if event:
            line, = watch(tracer, program.pid, *args).objects
            check_line(line, program, event)
        else:
            # Where it is looked at, that is waited for at the end.
            result = tracer.run(args=["-p", program.pid, "--duration", 1, *args])
            assert result.objects == [] and "before attach" not in result.stderr
        program.release()


@pytest.mark.skipif(not any(os.path.exists(f"{at}/cgroup.procs")
                            for at in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")),
                    reason="there is no cgroup v2 here")
def test_another_group(tracer, stuck, tmp_path):
    mount, = [at for at in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
              if os.path.exists(f"{at}/cgroup.procs")]
    group = Path(f"{mount}/gpuprobe-test-{os.getpid()}")
    group.mkdir()
    try:
        with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
            result = tracer.run(args=["-p", program.pid, "--duration", 1, "--cgroup", group.name])
            assert result.objects == []
            (group / "cgroup.procs").write_text(str(program.pid))
            line, = watch(tracer, program.pid, "--cgroup", group.name).objects
            check_line(line, program)
            program.release()
    finally:
        group.rmdir()


def test_in_no_call(tracer, stuck, tmp_path):
    with Stuck(PIPE, stuck.get(), log=tmp_path / "log") as program:
        result = tracer.run(args=["-p", program.pid, "--duration", 1])
        program.release()
    assert result.objects == []
    assert "before attach" not in result.stderr


def test_whole_machine(tracer, stuck, tmp_path):
    """Nobody's threads are looked at."""
    with Stuck(BLOCK, stuck.get(), log=tmp_path / "log") as program:
        result = tracer.run(args=["--duration", 1])
        program.release()
    assert result.before == []
    assert "before attach" not in result.stderr


# --- several threads ---

TWO = """
import threading
context = start()
stream, event = made(driver.cuStreamCreate, 0), made(driver.cuEventCreate, 0)
need(driver.cuEventRecord(event, stream))
def go_on():
    need(driver.cuCtxSetCurrent(context))
    while True:
        need(driver.cuEventQuery(event))
        need(runtime.cudaStreamQuery(stream))
        time.sleep(0.001)
threading.Thread(target=go_on, daemon=True).start()
need(driver.cuStreamSynchronize(stream))
need(driver.cuEventSynchronize(event))
print("right", flush=True)
sys.stdin.readline()
"""


def test_another_thread_goes_on(tracer, tmp_path):
    """Its calls are shown and counted. All lines are in the order of their times."""
    log = tmp_path / "hangs"
    log.touch()
    env = {"CUDA_SIM_HANG": "cuStreamSynchronize=poll", "CUDA_SIM_HANG_LOG": log}
    with Background(*script(TWO), env=env) as program:
        wait_until(log.read_text, lambda: "it does not hang")
        asleep = Path(f"/proc/{program.pid}/syscall")
        wait_until(lambda: asleep.read_text(encoding="utf-8").startswith("7 "), "it does not sleep")
        running, path = tracer.start(args=["-p", program.pid, "-e",
                                           "sync,cuEventQuery,cudaStreamQuery", "--buffer", "256M"])
        with running:
            trace.wait_for(path, lambda lines: any(line["tid"] == program.pid for line in lines))
            os.kill(program.pid, signal.SIGUSR1)
            assert program.stdout.readline() == "right\n"
            trace.wait_for(path, lambda lines: any(line["event"] == "cuEventSynchronize"
                                                   for line in lines))
            result = trace.Traced(running.stop(), path)
    own = [line for line in result.objects if line["tid"] == program.pid]
    assert [(line["event"], line.get("line")) for line in own] == [
        ("cuStreamSynchronize", "before_attach"), ("cuEventSynchronize", None)]
    others = [line for line in result.lines if line["tid"] != program.pid]
    # Until the runtime has its probes, those of its calls are lines by themselves.
    events = [line["event"] for line in others]
    assert "cuStreamQuery" not in events[events.index("cudaStreamQuery"):]
    assert set(events) - {"cuStreamQuery"} == {"cuEventQuery", "cudaStreamQuery"}
    # At most it has one itself, where it got no CPU in a call until it had been looked at.
    assert len(result.before) <= 2
    assert trace.in_order(result.objects)
    before = "1 call" if len(result.before) == 1 else "2 calls"
    assert (f"written {len(result.lines)} calls, lost 0; {before} had begun before attach\n"
            in result.stderr)


def test_forty_threads(tracer, stuck, tmp_path):
    with python(stuck, MANY, tmp_path) as program:
        result = watch(tracer, program.pid, condition=lambda lines: len(lines) >= MANY.threads)
        calls = {"wait_for_stream": "cudaStreamSynchronize",
                 "wait_for_event": "cudaEventSynchronize"}
        assert {line["tid"]: line["event"] for line in result.before} == \
            {ready.tid: calls[ready.function] for ready in program.ready}
        assert len(result.objects) == MANY.threads
        assert "written 0 calls, lost 0; 40 calls had begun before attach\n" in result.stderr
        program.release()


def test_only_the_thread_in_cuda(tracer, stuck, tmp_path):
    """Two others want the interpreter's lock, which it has."""
    with python(stuck, GIL_IN_CUDA, tmp_path) as program:
        holder, = [ready for ready in program.ready if ready.function != "want_gil"]
        line, = watch(tracer, program.pid).objects
        assert (line["event"], line["tid"]) == ("cudaStreamSynchronize", holder.tid)
        program.release()
