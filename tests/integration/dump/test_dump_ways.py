# SPDX-License-Identifier: BSD-2-Clause
"""
`gpuprobe dump` of programs that were stuck before it came: each thread's CUDA call, its line in the
program and what it waits for. The programs say that themselves. Each goes on afterwards and ends as
if it had not been dumped.
"""
import pytest
from test_python_stacks import interpreters

from lib import dump
from lib.dump import (C, CHILD, DEADLOCK, GIL, GIL_IN_CUDA, IN_DRIVER, MANY, PYTHON, WAITS, Stuck,
                      assert_at, check, python)


def ways(all_of_them, quick):
    """Those for which `quick` is true, and the others as slow ones."""
    return [pytest.param(way, id=f"{way.id}{'-spins' * way.spins}",
                         marks=() if quick(way) else pytest.mark.slow) for way in all_of_them]


# --- one thread is stuck ---

@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("way",
                         ways(C, lambda way: way not in WAITS or way.name == "stream"
                              or way.id in ("event-block", "device-spin")))
def test_c(way, stuck, tmp_path):
    with Stuck(way, stuck.get(), log=tmp_path / "log") as program:
        check(program, "stuck.c")
        program.release()


@pytest.mark.parametrize("way",
                         ways(C, lambda way: way.id in ("stream-spin", "event-block", "launch")))
def test_c_with_the_runtime_inside(way, stuck, tmp_path):
    with Stuck(way, stuck.get("static"), log=tmp_path / "log") as program:
        check(program, "stuck.c")
        program.release()


@pytest.mark.parametrize("way",
                         ways(PYTHON, lambda way: way.id in (
                             "stream-spin", "event-block", "load", "child", "nccl")
                              and not way.spins))
def test_python(way, stuck, tmp_path):
    with python(stuck, way, tmp_path) as program:
        check(program, "stuck.py")
        program.release()


def test_the_child_that_is_waited_for(stuck, tmp_path):
    with Stuck(CHILD, stuck.get(), log=tmp_path / "log") as program:
        child, = dump.descendants(program.pid)
        thread = check(program, "stuck.c")
        assert thread.child == child
        assert sorted(dump.take(program.pid).processes) == sorted([program.pid, child])
        program.release()


def test_in_the_drivers_device(stuck, tmp_path):
    """The kernel's part of the driver does not answer: the device is told."""
    before = ["unshare", "-m", "sh", "-ec", 'mount -t tmpfs none /dev; mknod /dev/null c 1 3; '
              'mknod /dev/nvidiactl c 1 3; exec "$@"', "sh"]
    with Stuck(IN_DRIVER, stuck.get(), log=tmp_path / "log", before=before) as program:
        thread = check(program, "stuck.c")
        assert thread.object == "/dev/nvidiactl"
        program.release()


# --- several threads ---

@pytest.mark.parametrize("runtime",
                         ["shared", pytest.param("static", marks=pytest.mark.slow), "python"])
def test_deadlock(runtime, stuck, tmp_path):
    """Each of two threads has what the other wants, one in a callback of CUDA's."""
    if runtime == "python":
        started, file = python(stuck, DEADLOCK, tmp_path), "stuck.py"
    else:
        started, file = Stuck(DEADLOCK, stuck.get(runtime), log=tmp_path / "log"), "stuck.c"
    with started as program:
        process = dump.take(program.pid).processes[program.pid]
        for ready in program.ready:
            thread = process.threads[ready.tid]
            assert thread.call == ("cudaLaunchHostFunc"
                                   if ready.function == "on_host" else None), thread
            assert (thread.state, thread.waits_for) == (dump.SLEEPS, "lock"), thread
            assert_at(thread, ready, file)
        assert process.in_cuda == 1
        program.release()


def check_gil(way, stuck, tmp_path, **options):
    """Those that want the lock wake every 5 ms, to ask the one that has it for it."""
    with python(stuck, way, tmp_path, **options) as program:
        process = dump.take_asleep(program.pid, *(ready.tid for ready in program.ready))
        holder, = [ready for ready in program.ready if ready.function != "want_gil"]
        for ready in program.ready:
            thread = process.threads[ready.tid]
            assert_at(thread, ready, "stuck.py")
            if ready is holder:
                assert (thread.state, thread.call) == (dump.SLEEPS, way.call), thread
                assert thread.waits_for != "gil", thread
            else:
                assert (thread.call, thread.waits_for,
                        thread.holder) == (None, "gil", holder.tid), thread
        program.release()


def check_many(way, stuck, tmp_path, **options):
    with python(stuck, way, tmp_path, **options) as program:
        process = dump.take(program.pid).processes[program.pid]
        calls = {"wait_for_stream": "cudaStreamSynchronize",
                 "wait_for_event": "cudaEventSynchronize"}
        for ready in program.ready:
            thread = process.threads[ready.tid]
            assert thread.call == calls[ready.function], thread
            assert_at(thread, ready, "stuck.py")
        assert process.in_cuda == way.threads
        program.release()


@pytest.mark.parametrize("way", [GIL, GIL_IN_CUDA], ids=lambda way: way.name)
def test_gil(way, stuck, tmp_path):
    """A thread sleeps with the lock of Python's interpreter, which two others want."""
    check_gil(way, stuck, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("interpreter", interpreters().items(), ids=lambda item: item[0])
@pytest.mark.parametrize("way", [GIL, GIL_IN_CUDA, WAITS[0], MANY], ids=lambda way: way.id)
def test_each_python(way, interpreter, stuck, tmp_path):
    version, path = interpreter
    if path is None:
        pytest.skip(f"there is no CPython {version} here")
    if way in (GIL, GIL_IN_CUDA):
        check_gil(way, stuck, tmp_path, interpreter=path)
    else:
        check_many(way, stuck, tmp_path, interpreter=path)


def test_forty_threads_of_python(stuck, tmp_path):
    check_many(MANY, stuck, tmp_path)
