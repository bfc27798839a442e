# SPDX-License-Identifier: BSD-2-Clause
"""The processes that `gpuprobe dump` reads, whoever runs it and however they were built;
and targets that are no processes."""
import json
import os
import pty
import re
import shutil
import subprocess

import pytest

from lib import dump, folders, paths, terminal
from lib.dump import ALLOCATE, CHILD, DEADLOCK, WAITS, Stuck, Way, assert_at, check
from lib.probe import Background, environment
from lib.stacks import symbols_of

SLEEPS = next(way for way in WAITS if way.id == "event-block")
SPINS = next(way for way in WAITS if way.id == "stream-spin")
CAPABILITIES = ("bpf", "perfmon", "sys_ptrace", "dac_read_search", "checkpoint_restore")
USER = 1000


def function_at(symbols, frame):
    """The function of a stripped program that a frame is in."""
    place = int(frame["offset"], 16)
    return next((name for address, size, name in symbols if address < place <= address + size),
                None)


@pytest.mark.parametrize("way", [SLEEPS, SPINS], ids=lambda way: way.id)
def test_stripped(way, stuck, tmp_path):
    """Without frame pointers and names the stack is complete and leads through the
    right functions."""
    path = stuck.get(options=("-O2", "-fomit-frame-pointer"), stripped=True)
    with Stuck(way, path, log=tmp_path / "log") as program:
        thread = check(program, None)
        symbols = symbols_of(path.with_name("stuck.full"))
        own = [function_at(symbols, frame) for frame in thread.frames
               if frame.get("object") == "stuck"]
        assert own[:2] == [program.only.function, "main"]
        program.release()


@pytest.mark.usefixtures("nothing_left")
def test_not_moved(stuck, tmp_path):
    """A second look finds a thread that hangs where it was."""
    with Stuck(SLEEPS, stuck.get(), log=tmp_path / "log") as program:
        thread = dump.take(program.pid,
                           args=["--again", "0.2"]).processes[program.pid].threads[program.only.tid]
        assert thread.call == SLEEPS.call
        assert_at(thread, program.only, "stuck.c")
        assert thread.moved is False
        program.release()


def test_text(stuck, tmp_path):
    """For a person: the call, the program's own lines and that the thread has not moved."""
    with Stuck(SPINS, stuck.get(), log=tmp_path / "log") as program:
        said = dump.run(program.pid, args=["--again", "0.2"]).stdout
        ready = program.only
        assert SPINS.call in said and f"thread {ready.tid} " in said
        assert f"{ready.function} (stuck.c:{ready.line})" in said
        assert "has not moved" in said.split(f"thread {ready.tid} ")[1]
        program.release()


HANGING_NVML = """
#include <unistd.h>
int nvmlInit_v2(void) { for (;;) pause(); }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetCount_v2(unsigned int *count) { return 1; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void **device) { return 1; }
"""


@pytest.mark.waits("for an answer, five seconds")
def test_nvml_hangs(stuck, tmp_path):
    """The dump waits for NVML 2 s, not for its answer, and says that GPUs are unknown."""
    (tmp_path / "nvml.c").write_text(HANGING_NVML)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libnvidia-ml.so.1",
                    tmp_path / "nvml.c"], check=True)
    words = ["env", f"LD_LIBRARY_PATH={tmp_path}"]
    with Stuck(SLEEPS, stuck.get(), log=tmp_path / "log") as program:
        said = dump.run(program.pid, args=[], before=words).stdout
        assert said.endswith("\n\nGPUs and their memory are unknown: NVML has not answered in 2 s; "
                             "see nvidia-smi, which may hang too, and dmesg\n")
        answer = json.loads(dump.run(program.pid, before=words).stdout)
        assert answer["nvml_timed_out"] is True and answer["gpus"] == []
        program.release()


def test_without_cuda(tmp_path):
    """A program that uses none is dumped all the same where it is asked for by name."""
    way = Way("none", system_call=dump.READ)
    with Stuck(way, paths.PYTHON, dump.PROGRAMS / "stuck.py", log=tmp_path / "log") as program:
        process = dump.take(program.pid).processes[program.pid]
        thread = process.threads[program.only.tid]
        assert not process.uses_cuda and not process.in_cuda
        assert (thread.call, thread.by, thread.waits_for) == (None, None, "pipe")
        assert_at(thread, program.only, "stuck.py")
        program.release("right")


@pytest.mark.usefixtures("nothing_left")
def test_whole_machine(stuck, tmp_path):
    """Without -p all that use CUDA are there, and who does not is not."""
    with Stuck(SLEEPS, stuck.get(), log=tmp_path / "one") as one, \
            Stuck(ALLOCATE, stuck.get("static"), log=tmp_path / "two") as two, \
            subprocess.Popen(["sleep", "3600"]) as bystander:
        try:
            taken = dump.take()
        finally:
            bystander.kill()
        for program in (one, two):
            thread = taken.processes[program.pid].threads[program.only.tid]
            assert thread.call == program.way.call
            assert_at(thread, program.only, "stuck.c")
        assert bystander.pid not in taken.processes
        one.release()
        two.release()


def test_several(stuck, tmp_path):
    """Each -p, and nothing else."""
    with Stuck(SLEEPS, stuck.get(), log=tmp_path / "one") as one, \
            Stuck(ALLOCATE, stuck.get(), log=tmp_path / "two") as two, \
            Stuck(SLEEPS, stuck.get(), log=tmp_path / "three") as three:
        taken = dump.take(one.pid, three.pid)
        assert sorted(taken.processes) == sorted([one.pid, three.pid])
        for program in (one, two, three):
            program.release()


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.plain("its libraries are not for a user")
def test_as_a_user(stuck, tmp_path):
    """With the five capabilities, of a program of root's."""
    plus = ",".join(["-all", *(f"+{name}" for name in CAPABILITIES)])
    before = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
              f"--inh-caps={plus}", f"--ambient-caps={plus}", "--"]
    with folders.private(gpuprobe=True) as directory, \
            Stuck(SLEEPS, stuck.get(), log=tmp_path / "log") as program:
        check(program, "stuck.c", before=before, gpuprobe=directory / "gpuprobe", cwd="/")
        program.release()


@pytest.mark.plain("its libraries are not for a user")
def test_without_capabilities(stuck, tmp_path):
    """What is missing is said, and the program goes on."""
    before = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"]
    with folders.private(gpuprobe=True) as directory, \
            Stuck(SLEEPS, stuck.get(), log=tmp_path / "log") as program:
        done = dump.run(program.pid, before=before, gpuprobe=directory / "gpuprobe", cwd="/",
                        status=1)
        assert done.stdout == ""
        assert "CAP_BPF" in done.stderr
        program.release()


def test_in_a_namespace(stuck, tmp_path):
    """A process of another pid namespace has the pid and the tids that it has here."""
    before = ["unshare", "-pf", "--kill-child=KILL"]
    with Stuck(SLEEPS, stuck.get(), log=tmp_path / "log", before=before) as program:
        assert program.program != program.pid
        check(program, "stuck.c")
        program.release()


def test_a_child_in_a_namespace(stuck, tmp_path):
    """It is told by the pid that it has here, though its parent waits for another number."""
    with Stuck(CHILD, stuck.get(), log=tmp_path / "log",
               before=["unshare", "-pf", "--kill-child=KILL"]) as program:
        child, = dump.descendants(program.program)
        assert check(program, "stuck.c").child == child
        program.release()


def test_deleted_files(stuck, tmp_path):
    """The program and its libraries have been replaced since, as by an upgrade."""
    with folders.private() as directory:
        path = shutil.copy(stuck.get(), directory)
        with Stuck(SLEEPS, path, log=tmp_path / "log",
                   env={"LD_LIBRARY_PATH": directory}) as program:
            for file in directory.iterdir():
                file.unlink()
            check(program, "stuck.c")
            program.release()


@pytest.mark.parametrize("way", [SLEEPS, SPINS, DEADLOCK], ids=lambda way: way.id)
def test_watched(way, gpuprobe, stuck, tmp_path):
    """Another gpuprobe watches the calls: their return addresses are the kernel's,
    which knows the program's."""
    with gpuprobe.start(libraries=[paths.LIBCUDA, paths.LIBCUDART]) as watching:
        watching.wait_until_watching()
        with Stuck(way, stuck.get(), log=tmp_path / "log") as program:
            threads = dump.take(program.pid).processes[program.pid].threads
            for ready in program.ready:
                thread = threads[ready.tid]
                assert thread.call == (way.call or ("cudaLaunchHostFunc" if ready.function
                                                    == "on_host" else None)), thread
                assert_at(thread, ready, "stuck.c")
                assert not thread.data["stack"]["broken"], thread
            program.release()


def test_ended():
    """A process that has ended is none."""
    with subprocess.Popen(["true"]) as process:
        process.wait()
    done = dump.run(process.pid, status=1)
    assert done.stdout == ""
    assert f"no process has pid {process.pid}" in done.stderr


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("word", ["x", "0", "-1", "1.5", ""])
def test_what_is_no_pid(word):
    done = dump.run(word, status=2)
    assert done.stdout == ""
    assert "--pid" in done.stderr and "whole number" in done.stderr


def test_one_of_two_has_ended(stuck, tmp_path):
    """Who asks for one that is there and one that is not learns of the second."""
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    with Stuck(SLEEPS, stuck.get(), log=tmp_path / "log") as program:
        done = dump.run(program.pid, gone.pid, status=None)
        assert str(gone.pid) in done.stderr
        for line in done.stdout.splitlines()[:1]:
            assert [process["pid"] for process in json.loads(line)["processes"]] == [program.pid]
        program.release()


def dump_to(stdout, pid):
    done = subprocess.run([paths.GPUPROBE, "dump", "-p", str(pid)], env=environment(),
                          stdout=stdout, stderr=subprocess.PIPE, timeout=60, check=True)
    return done.stdout


def test_long_command_lines_are_cut_on_a_terminal_only():
    """There both ends stay."""
    with subprocess.Popen(["sh", "-c", "read line", "first", "x" * 100, "last"],
                          stdin=subprocess.PIPE) as program:
        piped = dump_to(subprocess.PIPE, program.pid).decode()
        terminal, end = pty.openpty()
        dump_to(end, program.pid)
        os.close(end)
        shown = os.read(terminal, 65536).decode()
        os.close(terminal)
        program.communicate(b"\n")
    assert f"(sh -c read line first {'x' * 100} last)" in piped
    # It is wider than the terminal with what is around it.
    command = re.search(r"process \d+ \((.*?)\)", re.sub(r"\s+", " ", shown)).group(1)
    assert re.fullmatch(r"sh -c read line first x+…x+ last", command) and len(command) == 80


@pytest.mark.parametrize("command", [["dump"], ["top", "-b", "-n", "1", "-d", "0.1"]],
                         ids=lambda command: command[0])
def test_fits_the_terminal(command):
    """Exact amounts, too; a file has whole lines."""
    with Background(paths.SIM / "idle-holder", "--seconds", "60", "--bytes", 123 << 20) as process:
        assert process.stdout.readline() == "READY\n"
        args = [*command, "--exact", "-q", "-p", process.pid]
        status, shown = terminal.run(args, 80, LD_LIBRARY_PATH=paths.SIM)
        whole = subprocess.run([paths.GPUPROBE, *map(str, args)], text=True, capture_output=True,
                               env=environment(LD_LIBRARY_PATH=paths.SIM), check=True).stdout
    assert status == 0 and max(map(len, shown.splitlines())) <= 80
    assert "128,974,848 bytes" in " ".join(shown.split())
    assert "128,974,848 bytes" in whole
    assert max(map(len, whole.splitlines())) > 100
