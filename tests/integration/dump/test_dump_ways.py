# SPDX-License-Identifier: BSD-2-Clause
"""
`gpuprobe dump` of programs that were stuck before it came: in what CUDA call each thread is, at which line of the program, and
for what it waits. The programs tell that themselves. Each goes on afterwards, and ends as if nobody had looked.
"""
import pytest

from lib import dump, paths
from lib.dump import BLOCK, FUTEX, POLL, READ, SPIN, WAIT4, YIELD, Stuck, Way
from lib.script import PROGRAMS

pytestmark = [
    pytest.mark.usefixtures("nothing_left"),
    pytest.mark.skipif("not __import__('lib.dump').dump.exists()", reason="this gpuprobe has no `dump` yet")]

SCHEDULES = {SPIN: None, YIELD: None, BLOCK: POLL}
WAITS = [Way(name, f"{driver}=flags", call, flags=flags, system_call=system_call)
         for name, driver, call in (("stream", "cuStreamSynchronize", "cudaStreamSynchronize"),
                                    ("event", "cuEventSynchronize", "cudaEventSynchronize"),
                                    ("device", "cuCtxSynchronize", "cudaDeviceSynchronize"))
         for flags, system_call in SCHEDULES.items()]
COPY = Way("copy", "cuMemcpyDtoH_v2=spin", "cudaMemcpy")
ALLOCATE = Way("allocate", "cuMemAlloc_v2=futex:2", "cudaMalloc", system_call=FUTEX)
DEADLOCK = Way("deadlock", threads=2, system_call=FUTEX, waits_for="lock")
CHILD = Way("child", system_call=WAIT4, waits_for="child")
PIPE = Way("pipe", system_call=READ, waits_for="pipe")
NCCL = Way("nccl", "cuStreamSynchronize=poll", "cudaStreamSynchronize", by="ncclAllReduce", system_call=POLL)
NCCL_SPINS = Way("nccl", by="ncclAllReduce", spins=True, env=(("NCCL_SPIN", "1"),))
C = [*WAITS, COPY, ALLOCATE, Way("launch", "cuLaunchKernel=spin:200", "cudaLaunchKernel"),
     Way("load", "cuLibraryLoadData=futex:2", "cudaLibraryLoadData", system_call=FUTEX), CHILD, PIPE, NCCL, NCCL_SPINS]
PYTHON = [*WAITS, COPY, ALLOCATE, Way("launch", "cuLaunchKernel=spin:200", "cuLaunchKernel"),
          Way("driver", "cuStreamSynchronize=yield", "cuStreamSynchronize"),
          Way("load", "cuModuleLoadData=futex:2", "cuModuleLoadData", system_call=FUTEX), CHILD, PIPE, NCCL, NCCL_SPINS]
GIL = Way("gil", threads=3, system_call=READ)
GIL_IN_CUDA = Way("gil_cuda", "cuStreamSynchronize=poll", "cudaStreamSynchronize", threads=3, system_call=POLL)
MANY = Way("many", "cuStreamSynchronize=futex,cuEventSynchronize=poll", threads=40)


def ways(all_of_them, quick):
    """Those for which `quick` is true, and the others as slow ones."""
    return [pytest.param(way, id=f"{way.id}{'-spins' * way.spins}", marks=() if quick(way) else pytest.mark.slow)
            for way in all_of_them]


@pytest.fixture(scope="session")
def builder(tmp_path_factory):
    return dump.Builder(tmp_path_factory.mktemp("stuck"))


def python(builder, way, tmp_path, **options):
    """programs/stuck.py; NCCL's stand-in is beside stuck.c."""
    env = {"LD_LIBRARY_PATH": builder.get().parent} if way.name == "nccl" else None
    return Stuck(way, paths.PYTHON, PROGRAMS / "stuck.py", log=tmp_path / "log", env=env, **options)


def assert_at(thread, ready, file):
    """The innermost frame of the program's own is where the thread has said that it would be."""
    found = thread.own(file)
    assert found is not None, f"nothing of {file} in {thread}"
    function, line = found
    assert (function.rpartition(".")[2], line) == (ready.function, ready.line), thread


def check(program, file, **options):
    """Dumps a program with one thread that is stuck, and lets it go on."""
    way, ready = program.way, program.only
    process = dump.take(program.program, **options).processes[program.program]
    thread = process.threads[ready.tid]
    assert (thread.call, thread.by) == (way.call, way.by), thread
    if file:
        assert_at(thread, ready, file)
    assert thread.state in (("running", "ready") if way.system_call is None else ("asleep",)), thread
    if way.waits_for:
        assert thread.waits_for == way.waits_for, thread
    assert process.uses_cuda
    assert process.in_cuda == bool(way.call or way.by)
    return thread


# --- one thread is stuck ---

@pytest.mark.parametrize("way", ways(C, lambda way: way not in WAITS or way.flags != YIELD or way.name == "stream"))
def test_c(way, builder, tmp_path):
    with Stuck(way, builder.get(), log=tmp_path / "log") as program:
        check(program, "stuck.c")
        program.release()


@pytest.mark.parametrize("way", ways(C, lambda way: way.id in ("stream-spin", "event-block", "launch")))
def test_c_with_the_runtime_inside(way, builder, tmp_path):
    with Stuck(way, builder.get("static"), log=tmp_path / "log") as program:
        check(program, "stuck.c")
        program.release()


@pytest.mark.parametrize("way", ways(PYTHON, lambda way: way.id in ("stream-spin", "event-block", "load", "child", "nccl")
                                     and not way.spins))
def test_python(way, builder, tmp_path):
    with python(builder, way, tmp_path) as program:
        check(program, "stuck.py")
        program.release()


def test_the_child_that_is_waited_for(builder, tmp_path):
    with Stuck(CHILD, builder.get(), log=tmp_path / "log") as program:
        child, = dump.descendants(program.pid)
        thread = check(program, "stuck.c")
        assert thread.child == child
        program.release()


def test_stopped(builder, tmp_path):
    """It is where it was stopped."""
    way = next(way for way in WAITS if way.id == "stream-block")
    with Stuck(way, builder.get(), log=tmp_path / "log") as program:
        with dump.stopped(program):
            thread = dump.take(program.pid).processes[program.pid].threads[program.only.tid]
        assert (thread.state, thread.call) == ("stopped", way.call)
        assert_at(thread, program.only, "stuck.c")
        program.release()


# --- several threads ---

@pytest.mark.parametrize("runtime", ["shared", pytest.param("static", marks=pytest.mark.slow), "python"])
def test_deadlock(runtime, builder, tmp_path):
    """Each of two threads has what the other wants, one in a callback of CUDA's."""
    if runtime == "python":
        started, file = python(builder, DEADLOCK, tmp_path), "stuck.py"
    else:
        started, file = Stuck(DEADLOCK, builder.get(runtime), log=tmp_path / "log"), "stuck.c"
    with started as program:
        process = dump.take(program.pid).processes[program.pid]
        for ready in program.ready:
            thread = process.threads[ready.tid]
            assert thread.call == ("cudaLaunchHostFunc" if ready.function == "on_host" else None), thread
            assert (thread.state, thread.waits_for) == ("asleep", "lock"), thread
            assert_at(thread, ready, file)
        assert process.in_cuda == 1
        program.release()


@pytest.mark.parametrize("way", [GIL, GIL_IN_CUDA], ids=lambda way: way.name)
def test_gil(way, builder, tmp_path):
    """A thread sleeps with the lock of Python's interpreter, which two others want."""
    with python(builder, way, tmp_path) as program:
        process = dump.take(program.pid).processes[program.pid]
        holder, = [ready for ready in program.ready if ready.function != "want_gil"]
        for ready in program.ready:
            thread = process.threads[ready.tid]
            assert_at(thread, ready, "stuck.py")
            if ready is holder:
                assert (thread.state, thread.call) == ("asleep", way.call), thread
                assert thread.waits_for != "gil", thread
            else:
                assert (thread.call, thread.waits_for, thread.holder) == (None, "gil", holder.tid), thread
        program.release()


def test_forty_threads_of_python(builder, tmp_path):
    with python(builder, MANY, tmp_path) as program:
        process = dump.take(program.pid).processes[program.pid]
        calls = {"wait_for_stream": "cudaStreamSynchronize", "wait_for_event": "cudaEventSynchronize"}
        for ready in program.ready:
            thread = process.threads[ready.tid]
            assert thread.call == calls[ready.function], thread
            assert_at(thread, ready, "stuck.py")
        assert process.in_cuda == 40
        assert process.threads[program.pid].call is None
        program.release()
