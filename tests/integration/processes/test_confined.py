# SPDX-License-Identifier: BSD-2-Clause
"""Probes in one process only: others have none, and when a second process needs some,
no call is lost."""
import contextlib
import json
import mmap

import pytest

from lib import folders, steady
from lib.certain import Harm
from lib.probe import Background, wait_until

pytestmark = pytest.mark.usefixtures("nothing_left")

SHARED = "from now on they are in CUDA's libraries, for all processes"  # as is said with -v
SLEEPS = {"CUDA_SIM_LATENCY": "cuCtxSynchronize=1s"}


@pytest.fixture(scope="module", name="apart")
def built_apart(tmp_path_factory):
    """programs/confined.c and steady.c, apart from whoever watches the whole machine."""
    folder = tmp_path_factory.mktemp("apart")
    steady.build_apart(folder, "steady")
    return steady.build_apart(folder, "confined")


@pytest.fixture(scope="module", name="program")
def built(tmp_path_factory):
    """programs/confined.c with a libcuda of its own."""
    return steady.build(tmp_path_factory.mktemp("own"), "confined")


def calls(process, function):
    return sum(entry["calls"] for entry in process["functions"] if entry["function"] == function)


def failures(process, function):
    return sum(error["count"] for error in process["errors"] if error["function"] == function)


def is_confined(gpuprobe):
    return gpuprobe.links in (None, "session")


class Confined(Background):
    """The program, about to do what it is for."""

    def __init__(self, program, how, env=None):
        super().__init__(program, how, env=env, cwd=program.parent)
        assert self.stdout.readline() == "ready\n"

    def said(self, word):
        """The number on its next line, which begins with the word."""
        line = self.stdout.readline()
        if not line.startswith(f"{word} "):
            raise Harm(f"the program said {line!r} and ended with {self.poll()}")
        return int(line.split()[1])

    def go_on(self):
        self.stdin.write("go on\n")
        self.stdin.flush()

    def need_end(self):
        if self.wait(60):
            raise Harm(f"the program ended with {self.returncode}")


def watch(gpuprobe, apart, *pids, args=(), **more):
    options = [word for pid in pids for word in ("-p", pid)]
    return gpuprobe.start(args=[*options, *args], libraries=[apart.parent / steady.NAME], **more)


def is_read_right(path):
    """Whether a private mapping, as git add and llvm-strip use it,
    shows the contents of the file."""
    with open(path, "rb") as file, \
            mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ) as mapped:
        return mapped[:] == file.read()


def test_others_have_none(gpuprobe_by, apart):
    """
    With -p of one process, another process with the same library has unmodified code,
    and readers of the file see its true contents. With -p of both, both have probes.
    """
    with contextlib.ExitStack() as stack:
        first, second = (stack.enter_context(steady.Steady(apart.parent / "steady"))
                         for _ in range(2))
        with watch(gpuprobe_by, apart, first.pid, first.pid) as running:
            running.report()
            assert first.changed_code()
            assert bool(second.changed_code()) != is_confined(gpuprobe_by)
            assert is_read_right(apart.parent / steady.NAME) == is_confined(gpuprobe_by)
            running.stop()
        first.check_clean()
        second.check_clean()
        with watch(gpuprobe_by, apart, first.pid, second.pid) as running:
            running.wait_for(
                lambda report: len([p for p in report["processes"] if p["launches"]]) == 2)
            assert first.changed_code() and second.changed_code()
            running.stop()
        first.finish()
        second.finish()


def test_a_process_that_calls_by_its_children(gpuprobe_by, apart):
    """With -p of a shell all processes have the probes:
    a program that it executes is seen from its first call, and -v says so."""
    with steady.Steady(apart.parent / "steady") as other, \
            Background("sh", "-c", f"read line; {apart} once") as shell:
        with watch(gpuprobe_by, apart, shell.pid, interval=None, args=("-v",)) as running:
            running.wait_until_watching()
            assert other.changed_code()
            assert "for all processes of the machine" in running.stderr
            assert shell.tell("go") == "ready"
            assert shell.tell("go") == "parent 100"
            result = running.finish()
        other.check_clean()
        other.finish()
    assert calls(result.process, "cuMemAlloc_v2") == 100
    assert calls(result.process, "cuDevicePrimaryCtxRetain") == 1
    assert not result.process["since_attach"]


def test_a_child_is_forked(gpuprobe_by, apart):
    """No call of its parent is lost or counted twice; the child's are counted once all processes
    have the probes, and it is marked."""
    with Confined(apart, "fork", env=SLEEPS) as program, \
            watch(gpuprobe_by, apart, program.pid, args=("-v",)) as running:
        running.report()
        program.go_on()
        child = program.said("forked")
        if is_confined(gpuprobe_by):
            wait_until(lambda: SHARED in running.stderr, "the probes are not for all")
        program.go_on()
        true = program.said("parent")
        program.need_end()
        result = running.finish()
    parent, forked = (result.last_seen(pid) for pid in (program.pid, child))
    # One allocation is without a launch.
    assert (calls(parent, "cuMemAlloc_v2"), parent["launches"]) == (true, true - 1)
    assert calls(parent, "cuCtxSynchronize") == 1
    assert sum(wait["ns"] for wait in parent["waits"]) >= 1e9
    assert failures(forked, "cuMemsetD8_v2") == 100
    if is_confined(gpuprobe_by):
        assert failures(forked, "cuMemAlloc_v2") <= 1000 and forked["since_attach"]
    else:
        assert failures(forked, "cuMemAlloc_v2") == 1000


def command(program, *ways):
    """COMMAND: the program once for each way, with all the lines that it waits for."""
    return "sh", "-c", "; ".join(f"yes | {program} {way}" for way in ways)


def numbers(result, word):
    return [int(line.split()[1]) for line in result.stdout.splitlines()
            if line.startswith(f"{word} ")]


def shared(result):
    """Whether the probes have gone from one process to all."""
    return SHARED in result.stderr


def test_a_child_of_command_is_forked(gpuprobe_by, program):
    """It is held until its probes are in: each call of it and of its parent is seen."""
    result = gpuprobe_by.run(*command(program, "fork"), args=("-v",), env=SLEEPS)
    (child,), (true,) = numbers(result, "forked"), numbers(result, "parent")
    forked = result.process_of(child)
    parent, = [process for process in result.processes if process["pid"] == forked["ppid"]]
    assert failures(forked, "cuMemAlloc_v2") == 1000 and failures(forked, "cuMemsetD8_v2") == 100
    # One allocation is without a launch.
    assert (calls(parent, "cuMemAlloc_v2"), parent["launches"]) == (true, true - 1)
    assert calls(parent, "cuCtxSynchronize") == 1
    assert not forked["since_attach"] and not parent["since_attach"]
    assert shared(result) == is_confined(gpuprobe_by)


def test_one_after_the_other(gpuprobe_by, program):
    """Programs of a COMMAND that do not run at the same time have probes in turn,
    and nobody else has any."""
    result = gpuprobe_by.run(*command(program, "once", "once", "once"), args=("-v",))
    assert [calls(process, "cuMemAlloc_v2") for process in result.processes] == [100] * 3
    assert not any(process["since_attach"] for process in result.processes)
    assert not shared(result)


def test_a_thread_executes_a_program(gpuprobe_by, program):
    """The exec comes from another thread than the first, by which the kernel knows the process:
    the new program is a new process for the probes."""
    result = gpuprobe_by.run(*command(program, "exec"), args=("-v",))
    assert [calls(process, "cuMemAlloc_v2") for process in result.processes] == [100] * 2
    assert not shared(result)


def test_a_child_executes_the_program(gpuprobe_by, program):
    """Both are watched at a time."""
    result = gpuprobe_by.run(*command(program, "spawn"), args=("-v",))
    assert sorted(calls(process, "cuMemAlloc_v2") for process in result.processes) == [100, 200]
    assert shared(result) == is_confined(gpuprobe_by)


@pytest.mark.parametrize("how, true", [("exec", [100, 100]), ("spawn", [100, 200])])
def test_programs_of_one_that_runs(gpuprobe_by, apart, how, true):
    """With -p and a library whose name is not like CUDA's, so that its mapping is not noticed:
    from the exec on."""
    with Confined(apart, how) as program, \
            watch(gpuprobe_by, apart, program.pid, interval=None, args=("-v",)) as running:
        running.wait_until_watching()
        program.go_on()
        for line in program.stdout:
            if line != "ready\n":
                continue
            if is_confined(gpuprobe_by):
                wait_until(lambda: SHARED in running.stderr, "the probes are not for all")
            program.go_on()
        program.need_end()
        result = running.finish()
    assert sorted(calls(process, "cuMemAlloc_v2") for process in result.processes) == true


def traced_calls(lines, pid, function):
    return len([line for line in lines if line.get("pid") == pid and line.get("event") == function
                and line.get("line") != "in_progress"])


def test_traced(tracer_by, program):
    """The tracer as well: a line for each call of COMMAND and of its child."""
    traced = tracer_by.run(*command(program, "fork"), env=SLEEPS)
    (child,), (true,) = numbers(traced.result, "forked"), numbers(traced.result, "parent")
    parent, = {line["pid"] for line in traced.lines} - {child}
    assert traced_calls(traced.lines, child, "cuMemAlloc_v2") == 1000
    assert traced_calls(traced.lines, parent, "cuMemAlloc_v2") == true
    assert not traced.lost


def test_traced_while_it_runs(tracer_by, apart):
    """With -p: each call of the process, and those of its child once the probes are for all."""
    with Confined(apart, "fork", env=SLEEPS) as program:
        running, path = tracer_by.start(args=("-v", "-p", program.pid, "--libcuda-path",
                                              apart.parent / steady.NAME))
        with running:
            running.wait_until_watching()
            program.go_on()
            child = program.said("forked")
            if is_confined(tracer_by):
                wait_until(lambda: SHARED in running.stderr, "the probes are not for all")
            program.go_on()
            true = program.said("parent")
            program.need_end()
            running.finish()
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert traced_calls(lines, program.pid, "cuMemAlloc_v2") == true
    assert traced_calls(lines, child, "cuMemsetD8_v2") == 100


def test_a_driver_that_is_mapped_after_the_runtime(gpuprobe_by):
    """It is known in advance that COMMAND's loader will find it:
    launches are counted by the driver alone, and cost once."""
    with folders.private("static_runtime") as folder:
        result = gpuprobe_by.run(folder / "static_runtime", "--launches", 50,
                                 env={"LD_LIBRARY_PATH": str(folder)})
    process, = result.processes
    functions = {function["function"] for function in process["functions"]}
    assert "cudaLaunchKernel" not in functions
    assert process["launches"] == 50
