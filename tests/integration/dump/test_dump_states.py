# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe dump` of threads that are held by SIGSTOP, a debugger or a frozen cgroup:
it releases none of them."""
import contextlib
import ctypes
import os
from pathlib import Path

import pytest

from lib import dump
from lib.dump import WAITS, Stuck, assert_at
from lib.probe import wait_until

SLEEPS = next(way for way in WAITS if way.id == "stream-block")
SPINS = next(way for way in WAITS if way.id == "stream-spin")
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
FREEZER = Path("/sys/fs/cgroup/freezer")
UNIFIED = next((at for at in (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))
                if (at / "cgroup.procs").exists()), None)


def ptrace(request, pid):
    call = ctypes.CDLL(None, use_errno=True).ptrace
    call.restype = ctypes.c_long
    if call(ctypes.c_long(request), ctypes.c_long(pid), None, None):
        raise OSError(ctypes.get_errno(), f"ptrace {request} {pid}")


@contextlib.contextmanager
def traced(process):
    """Stopped by a debugger: this thread."""
    ptrace(PTRACE_ATTACH, process.pid)
    try:
        os.waitpid(process.pid, 0x40000000)  # __WALL
        yield
    finally:
        ptrace(PTRACE_DETACH, process.pid)


@contextlib.contextmanager
def group(root, pid):
    """A cgroup with the process in it."""
    if root is None or not (root / "cgroup.procs").exists():
        pytest.skip("there is no such hierarchy of cgroups")
    made = root / f"gpuprobe-test-{os.getpid()}"
    try:
        made.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error}")
    try:
        (made / "cgroup.procs").write_text(str(pid), encoding="ascii")
        yield made
    finally:
        (root / "cgroup.procs").write_text(str(pid), encoding="ascii")
        made.rmdir()


@contextlib.contextmanager
def frozen_by_version_1(process):
    with group(FREEZER, process.pid) as made:
        state = made / "freezer.state"
        state.write_text("FROZEN", encoding="ascii")
        try:
            wait_until(lambda: state.read_text(encoding="ascii") == "FROZEN\n",
                       "it does not freeze")
            yield
        finally:
            state.write_text("THAWED", encoding="ascii")


@contextlib.contextmanager
def frozen_by_version_2(process):
    with group(UNIFIED, process.pid) as made:
        freeze = made / "cgroup.freeze"
        freeze.write_text("1", encoding="ascii")
        try:
            wait_until(lambda: "frozen 1" in (made / "cgroup.events").read_text(encoding="ascii"),
                       "it does not freeze")
            yield
        finally:
            freeze.write_text("0", encoding="ascii")


HELD = {
    dump.STOPPED: dump.stopped,
    dump.TRACED: traced,
    f"{dump.FROZEN}-1": frozen_by_version_1,
    f"{dump.FROZEN}-2": frozen_by_version_2,
}


def waits_in(program):
    """The kernel's function in which its main thread waits."""
    return Path(f"/proc/{program.pid}/wchan").read_text(encoding="ascii")


@pytest.mark.parametrize("way", [SLEEPS, SPINS], ids=lambda way: way.id)
@pytest.mark.parametrize("held", HELD)
def test_held(held, way, stuck, tmp_path):
    """The dump has the thread's state and its place. The thread is still held after the dump,
    and goes on when released."""
    with Stuck(way, stuck.get(), log=tmp_path / "log") as program:
        with HELD[held](program):
            # "0" as long as it is on its way there, which the cgroup does not wait for.
            state = wait_until(lambda: waits_in(program) if waits_in(program) != "0" else None,
                               "it does not stand still")
            thread = dump.take(program.pid).processes[program.pid].threads[program.only.tid]
            assert waits_in(program) == state
        assert (thread.state, thread.call) == (held.partition("-")[0], way.call), thread
        assert_at(thread, program.only, "stuck.c")
        program.release()
