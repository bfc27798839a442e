# SPDX-License-Identifier: BSD-2-Clause
"""Programs of every kind: static runtime, dlopen, fork, exec, short lives,
a library in two files."""
import re
import shutil

import pytest

from lib import exact
from lib.paths import LIBCUDA, LIBCUDART, SIM, workload
from lib.script import script


@pytest.mark.parametrize("api", ["auto", "driver", "runtime", "both"])
def test_static_runtime(gpuprobe, api):
    """Its functions are local symbols of the program."""
    result = gpuprobe.run(workload("static_runtime"), "--launches", 321, "--pairs", 45, "--keep", 2,
                          args=["--api", api])
    exact.check(result, api)
    assert result.process["launches"] == 321


def test_static_runtime_on_each_path(gpuprobe_by):
    exact.check(gpuprobe_by.run(workload("static_runtime"), "--keep", 3))


@pytest.mark.parametrize("name", ["libcuda.so.1", "libcudart.so.13"])
@pytest.mark.parametrize("by", ["path", "soname"])
def test_dlopen(gpuprobe_by, name, by):
    env = {"LD_LIBRARY_PATH": SIM} if by == "soname" else {}
    library = SIM / name if by == "path" else name
    result = gpuprobe_by.run(workload("dlopener"), "--library", library, "--calls", 200, "--keep",
                             3, env=env)
    exact.check(result)
    assert result.process["launches"] == 200


def test_forks(gpuprobe_by):
    result = gpuprobe_by.run(workload("forker"), "--processes", 6, "--pairs", 30, "--keep", 2,
                             "--launches", 40)
    exact.check(result)
    assert len(result.processes) == 6
    assert result.final["totals"]["launches"] == 240
    assert result.final["totals"]["live_at_exit_allocations"] == 12


def test_exec_makes_another_process_of_the_same_pid(gpuprobe_by):
    result = gpuprobe_by.run(workload("forker"), "--processes", 3, "--launches", 25, "--keep", 2,
                             "--exec")
    assert exact.lost(result.final) == {}
    truths = [truth for truth in result.truths if not truth.idle]
    assert len(truths) == len(result.processes) == 6
    for truth in truths:
        same = [p for p in result.processes if p["pid"] == truth.pid
                and exact.launches(p).keys() == truth.launches().keys()]
        assert len(same) == 1
        exact.check_process(same[0], truth)
    for process in result.processes:
        assert process["ended"] and process["memory"]["live_at_exit_allocations"] == 2


def test_short_lives(gpuprobe_by):
    """Forty in a row, each with its first CUDA call a millisecond after its start."""
    result = gpuprobe_by.run(workload("forker"), "--processes", 40, "--short-lived", 1, "--pairs",
                             5, "--launches", 10)
    exact.check(result)
    assert len(result.processes) == 40


def test_children_by_exec(gpuprobe_by):
    """Each child is another program with its own libraries to find."""
    result = gpuprobe_by.run("sh", "-c", f"""
        {workload("launch")} --launches 11
        {workload("static_runtime")} --launches 22 &
        {workload("dlopener")} --library {LIBCUDART} --calls 33 &
        {workload("dlopener")} --library {LIBCUDA} --calls 44
        wait
    """)
    exact.check(result)
    assert sorted(p["launches"] for p in result.processes) == [11, 22, 33, 44]


def test_a_fork_after_cuda(gpuprobe_by):
    """The child has the libraries and a driver that does not work there,
    and is a process of its own."""
    result = gpuprobe_by.run(*script("""
        start()
        loaded, (kernel,) = module("inherited")
        kept = made(driver.cuMemAlloc_v2, 1000)
        need(launch(kernel))
        if os.fork() == 0:
            for _ in range(4):
                assert driver.cuMemAlloc_v2(ref(out()), 2000) == 3
            assert launch(kernel) == 3
            os._exit(0)
        assert os.wait()[1] == 0
        need(launch(kernel))
    """), args=["--check-launches"])
    parent, child = sorted(result.processes, key=lambda p: p["start_ns"])
    exact.check_process(parent, result.truth, checked=True)
    assert parent["memory"]["live_at_exit_allocations"] == 1
    assert exact.errors(child) == {("driver", "cuMemAlloc_v2", 3): 4,
                                   ("driver", "cuLaunchKernel", 3): 1}
    assert exact.launches(child) == {"inherited": 1}
    assert exact.memory(child) == {}


def test_a_process_without_its_first_thread(gpuprobe_by, threads):
    """It lives until the last thread ends, and its memory with it."""
    result = gpuprobe_by.run(threads, "leaderless", 500)
    exact.check(result)
    assert result.process["memory"]["live_at_exit_bytes"] == 4321


def test_exec_by_another_thread(gpuprobe_by, threads):
    result = gpuprobe_by.run(threads, "exec", 123, workload("launch"), "--launches", 45)
    first, second = sorted(result.processes, key=lambda p: exact.launches(p)["threads"]
                           if "threads" in exact.launches(p) else 0, reverse=True)
    assert first["pid"] == second["pid"] and first["ended"] and second["ended"]
    assert exact.launches(first) == {"threads": 123} and exact.launches(second) == {"kernel_0": 45}
    # What the first one did is told under the name that it had then.
    assert (first["comm"], second["comm"]) == ("threads", "launch")


def test_many_short_threads(gpuprobe_by, threads):
    result = gpuprobe_by.run(threads, "many", 2016)
    exact.check(result)
    assert result.process["launches"] == 2016


def test_counts_of_threads_that_end(gpuprobe_by, threads, tmp_path):
    """Counts move from the threads to the maps while they are read: one process after the other,
    until that was often."""
    enough = tmp_path / "enough"
    told = {}
    command = f"while ! [ -e '{enough}' ]; do '{threads}' many 6016; done"
    with gpuprobe_by.start("sh", "-c", command, interval=0.02) as running:
        while sum(0 < launches < 6016 for of_process in told.values()
                  for launches in of_process) < 5:
            for process in running.report()["processes"]:
                told.setdefault(process["pid"], []).append(process["launches"])
        enough.touch()
        result = running.finish()
    exact.check(result)
    assert all(launches == sorted(launches) for launches in told.values())
    assert all(result.last_seen(pid)["launches"] == 6016 for pid in told)


def test_more_threads_than_count_for_themselves(gpuprobe_by):
    """The others count in the maps."""
    result = gpuprobe_by.run(workload("launch"), "--threads", 1200, "--launches", 20, "--rate", 10,
                             "--kernels", 3)
    exact.check(result)
    assert result.process["launches"] == 24000


def test_more_counters_than_a_thread_has(gpuprobe_by):
    """Kernels and functions take turns there."""
    exact.check(gpuprobe_by.run(workload("launch"), "--threads", 2, "--launches", 5000, "--kernels",
                                700))


def test_calls_that_never_return(gpuprobe_by, threads):
    """A signal handler jumps out of allocations; what comes later is counted."""
    result = gpuprobe_by.run(threads, "jump", 7, env={"CUDA_SIM_LATENCY": "cuMemAllocManaged=20ms"})
    exact.check(result)
    assert exact.memory(result.process)["device"]["allocations"] == 7


def test_a_free_that_is_left_when_its_address_is_anothers(gpuprobe_by, threads):
    """What it had taken is not put back: its place is taken."""
    result = gpuprobe_by.run(threads, "again", 9)
    assert exact.lost(result.final) == {}
    memory = result.process["memory"]["device"]
    assert (memory["allocations"], memory["live_allocations"],
            memory["live_bytes"]) == (18, 9, 9 * 4096)
    assert (memory["frees"], memory["replaced"]) == (0, 9)


def copied(directory):
    """The two libraries in another directory: other inodes of the same content."""
    directory.mkdir()
    for library in (LIBCUDA, LIBCUDART):
        shutil.copy(library, directory / library.name)
    return directory


def test_a_library_in_two_files(gpuprobe_by, tmp_path):
    """Both are probed, and used at the same time."""
    other = copied(tmp_path / "other")
    command = f"{workload('dlopener')} --calls 500 --hold 0.3 --library"
    result = gpuprobe_by.run("sh", "-c", f"""
        {command} {LIBCUDART} &
        {command} {LIBCUDA} &
        LD_LIBRARY_PATH={other} {command} libcudart.so.13 &
        {command} {other}/libcuda.so.1 &
        wait
    """)
    exact.check(result)
    assert [p["launches"] for p in result.processes] == [500] * 4


def test_one_process_with_both_files(gpuprobe, tmp_path):
    """Two libcuda in one process: every call of either counts once."""
    other = copied(tmp_path / "other")
    result = gpuprobe.run(*script(f"""
        start()
        second = Library({str(other / "libcuda.so.1")!r})
        need(second.cuInit(0))
        context = made(second.cuDevicePrimaryCtxRetain, 0)
        need(second.cuCtxSetCurrent(context))
        for _ in range(10):
            made(driver.cuMemAlloc_v2, 100)
        for _ in range(7):
            made(second.cuMemAlloc_v2, 200)
    """), args=["--memleak", "--top", "0"])
    live = [a["bytes"] for a in result.process["memory"]["live"]]
    assert sorted(live) == [100] * 10 + [200] * 7
    assert exact.lost(result.final) == {}


@pytest.mark.parametrize("wrapper",
                         [["su", "root", "-c"], ["runuser", "-u", "root", "--", "sh", "-c"],
                          ["setsid", "-w", "sh", "-c"], ["timeout", "60", "sh", "-c"]])
def test_programs_that_stop_with_their_child(gpuprobe_by, wrapper):
    """su and runuser wait for it with WUNTRACED: they see that it is held,
    and must not stay stopped."""
    result = gpuprobe_by.run(
        *wrapper, f"{workload('launch')} --launches 5; {workload('launch')} --launches 6",
        timeout=60)
    exact.check(result)
    assert sorted(p["launches"] for p in result.processes) == [5, 6]


STOPS = """
child() {
    kill -STOP $1
    for look in 1 2 3 4 5 6 7 8; do /bin/sleep 0.2; cut -d' ' -f3 /proc/$1/stat; done
    kill -CONT $1
}
"""


@pytest.mark.parametrize("depth", [1, 2])
def test_who_is_stopped_by_others_stays_so(gpuprobe_by, depth):
    """By its child or grandchild, whose later programs are held for moments:
    that wakes nobody else."""
    within = "child $$ &" if depth == 1 else "(child $$ & wait) &"
    result = gpuprobe_by.run("sh", "-c",
                             f"{STOPS}\n{within}\nwait; {workload('launch')} --launches 5",
                             timeout=60)
    states = [line for line in result.stdout.splitlines() if re.fullmatch("[A-Z]", line)]
    assert states == ["T"] * 8
    exact.check(result)
    assert result.process["launches"] == 5


def test_no_cuda_at_all(gpuprobe_by):
    result = gpuprobe_by.run("sh", "-c", "true; /bin/echo hello; exit 0")
    assert result.final["processes"] == [] and exact.lost(result.final) == {}


def test_runtime_without_a_driver(gpuprobe_by, tmp_path):
    """No libcuda anywhere: the runtime's failures are counted."""
    shutil.copy(LIBCUDART, tmp_path / LIBCUDART.name)
    result = gpuprobe_by.run(*script(f"""
        alone = Library({str(tmp_path / LIBCUDART.name)!r})
        for _ in range(3):
            assert alone.cudaMalloc(ref(out()), 100) == 35
        assert alone.cudaMemcpy(0, 0, 10, 1) == 35
    """))
    assert exact.errors(result.process) == {("runtime", "cudaMalloc", 35): 3,
                                            ("runtime", "cudaMemcpy", 35): 1}
    assert {e["error"] for e in result.process["errors"]} == {"cudaErrorInsufficientDriver"}
