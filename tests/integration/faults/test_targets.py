# SPDX-License-Identifier: BSD-2-Clause
"""Programs that leave calls in every possible way, come and go, and change their files:
counted all the same, or reported."""
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from lib import exact, paths
from lib.inside import Inside
from lib.paths import workload
from lib.probe import Background, descendants, wait_for_file
from lib.records import Records
from lib.script import PROGRAMS, script

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def inside(links, tmp_path):
    return Inside(links, tmp_path / "inside")


# --- the end of a process ---

def test_end_while_a_thread_is_leaving(gpuprobe, tmp_path):
    """A process whose other threads have ended is read for the last time once the first thread has
    given up its place."""
    go = tmp_path / "go"
    program = script(f"""
        start()
        _, (kernel,) = module("kernel")
        for _ in range(50):
            need(launch(kernel))
        wait_for({str(go)!r})
    """)
    with Background("sh", "-c", 'read line; "$@"; read line', "sh", *program) as parent:
        with gpuprobe.start(args=["-p", parent.pid],
                            libraries=[paths.LIBCUDA, paths.LIBCUDART]) as running:
            running.report()
            parent.stdin.write("go\n")
            parent.stdin.flush()
            running.wait_for(lambda r: r["processes"] and r["processes"][0]["launches"] == 50)
            [pid] = descendants(parent.pid)
            records = Records(running.pid)
            records.add_thread(pid, 1)
            go.touch()
            while os.path.exists(f"/proc/{pid}"):
                time.sleep(0.05)
            later = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + 500_000_000
            before = running.wait_for(lambda r: r["boot_ns"] > later)
            assert [p["ended"] for p in before["processes"]] == [False], (
                "it was read while a thread may have been counting")
            records.add_thread(pid, -1)
            after = running.wait_for(lambda r: r["processes"] and r["processes"][0]["ended"])
            assert running.stop().status == 0
    assert after["processes"][0]["launches"] == 50


@pytest.mark.parametrize("how", ["exit", "kill", "exec"])
def test_each_thread_is_known_to_have_left(gpuprobe_by, tmp_path, how):
    """Calls made are counted, and the end is reported as soon as no process is left,
    however it ends."""
    program = script(f"""
        import threading
        wait_for({str(tmp_path)!r} + "/go")
        start()
        _, (kernel,) = module("kernel")
        context = ctypes.c_void_p()
        need(driver.cuCtxGetCurrent(ctypes.byref(context)))

        def work(number):
            need(driver.cuCtxSetCurrent(context))
            need(launch(kernel))
            touch({str(tmp_path)!r} + "/has_called%d" % number)
            wait_for({str(tmp_path)!r} + "/end%d" % number)
            if number == 0:
                {"os.execv('/bin/sleep', ['sleep', '60'])" if how == "exec" else "os._exit(0)"}

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """)
    with Background(*program) as target:
        with gpuprobe_by.start(args=["-p", target.pid], libraries=[paths.LIBCUDA]) as running:
            running.report()
            (tmp_path / "go").touch()
            for number in range(6):
                wait_for_file(tmp_path / f"has_called{number}")
            running.wait_for(lambda r: r["processes"] and r["processes"][0]["launches"] == 6)
            records = Records(running.pid)
            assert records.threads(target.pid) == 7
            for number in (4, 5):
                (tmp_path / f"end{number}").touch()
            running.wait_for(lambda _: records.threads(target.pid) == 5)
            if how == "kill":
                target.kill()
            else:
                (tmp_path / "end0").touch()
            after = running.wait_for(lambda r: r["processes"] and r["processes"][0]["ended"])
            assert records.threads(target.pid) == 0, "it was given up waiting for, not told"
            assert running.stop().status == 0
    assert after["processes"][0]["launches"] == 6


# --- ways out of a call ---

@pytest.mark.parametrize("how", ["exit", "jump", "exec"])
@pytest.mark.parametrize("what", ["launch", "wait", "alloc"])
def test_left_in_a_call(gpuprobe_by, threads, what, how):
    """A call that began and did not end is no call; later calls,
    of whichever program, are counted."""
    result = gpuprobe_by.run(threads, "inside", 40, what, how, workload("launch"), "--launches", 30)
    assert exact.lost(result.final) == {}
    seen = [(p["comm"], p["launches"], p["ended"])
            for p in sorted(result.processes, key=lambda p: p["comm"], reverse=True)]
    # A launch is counted where it begins.
    first = ("threads", (80 if how == "jump" else 40) + (what == "launch"), True)
    assert seen == ([first, ("launch", 30, True)] if how == "exec" else [first])
    assert all(p["memory"]["live_at_exit_allocations"] == 0 for p in result.processes)


@pytest.mark.parametrize("what", ["launch", "wait"])
def test_stat_of_a_call_that_was_left(gpuprobe, threads, what):
    """The account has nobody waiting in a program that another has replaced."""
    result = gpuprobe.run(threads, "inside", 40, what, "exec", workload("launch"), "--launches", 30,
                          base=["stat", "--json"])
    assert sorted(p["launches"] for p in result.processes) == [30, 40 + (what == "launch")]


HANGS = script("""
    start()
    loaded, (kernel,) = module("before")
    kept = made(driver.cuMemAlloc_v2, 1000)
    for _ in range(7):
        need(launch(kernel))
    with open(sys.argv[1] + ".new", "w") as told:
        print(os.getpid(), file=told)
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    driver.cuCtxSynchronize()
""")


def test_killed_in_a_call(gpuprobe_by, tmp_path):
    """SIGKILL in the middle of a wait: earlier calls are counted,
    and its memory is that of an ended process."""
    with gpuprobe_by.start(*HANGS, tmp_path / "hangs",
                           env={"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"},
                           interval=0) as running:
        os.kill(int(wait_for_file(tmp_path / "hangs").read_text()), signal.SIGKILL)
        result = running.finish()
    assert result.status == 137
    assert exact.lost(result.final) == {}
    assert exact.launches(result.process) == {"before": 7}
    assert result.process["ended"]
    assert result.process["memory"]["live_at_exit_bytes"] == 1000


def test_many_killed_in_calls(gpuprobe, tmp_path):
    """More than there are places for: each gives its own back, whatever it was in."""
    result = gpuprobe.run(*script(f"""
        import signal, subprocess
        for number in range(24):
            begun = {str(tmp_path)!r} + "/%d" % number
            hangs = subprocess.Popen([*{HANGS!r}, begun])
            wait_for(begun)
            hangs.kill()
            hangs.wait()
            time.sleep(0.05)
    """), args=["--max-processes", 12], env={"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"})
    assert exact.lost(result.final) == {}
    assert [p["launches"] for p in result.processes] == [7] * 24


# --- processes and threads ---

def test_forks_beside_threads(gpuprobe_by, threads):
    """Children of a process whose threads launch meanwhile are processes of their own."""
    result = gpuprobe_by.run(threads, "fork", 50)
    assert exact.lost(result.final) == {}
    parent, *children = sorted(result.processes, key=lambda p: p["launches"], reverse=True)
    truth, = [t for t in result.truths if t.launches()]
    exact.check_process(parent, truth)
    assert len(children) == 50
    assert all(exact.errors(child) == {("driver", "cuMemAlloc_v2", 3): 1} and not child["launches"]
               for child in children)


def test_500_processes(gpuprobe_by):
    """Of 10 ms each."""
    result = gpuprobe_by.run(workload("forker"), "--processes", 500, "--short-lived", 10, "--pairs",
                             3, "--launches", 5)
    exact.check(result)
    assert len(result.processes) == 500


REUSE = """
    import subprocess
    pids = set()
    for launches in range(1, 11):
        # A process of gpuprobe's own may have come between.
        status = 77
        while status == 77:
            if pids:
                with open("/proc/sys/kernel/ns_last_pid", "w") as last:
                    last.write(str(min(pids) - 1))
            child = subprocess.Popen(
                ["sh", "-c", 'test "$$" = "${1:-$$}" || exit 77; exec "$2" --launches "$3"', "sh",
                 *map(str, pids or [""]), %r, str(launches)], stdout=subprocess.DEVNULL)
            status = child.wait()
        pids.add(child.pid)
        need(status)
    need(len(pids) != 1)
"""


def test_reused_pid(inside):
    """Ten programs of one pid, one after the other, in less time than a report takes."""
    result = inside.run(*script(REUSE % workload("launch")))
    assert len({p["pid"] for p in result.processes}) == 1
    assert sorted(p["launches"] for p in result.processes) == list(range(1, 11))
    assert exact.lost(result.final) == {}


# --- their files ---

def test_library_loaded_1000_times(gpuprobe_by, tmp_path):
    """Unloaded and loaded again: each time it is another mapping, and the same file."""
    library = tmp_path / "libcuda.so.1"
    subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-o", library, PROGRAMS / "reloaded.c"],
                   check=True)
    result = gpuprobe_by.run(*script(f"""
        import _ctypes
        for number in range(1000):
            library = Library({str(library)!r})
            need(library.cuInit(0))
            need(library.cuMemFree_v2(made(library.cuMemAlloc_v2, 64 + number)))
            _ctypes.dlclose(library._library._handle)
            need({str(library)!r} in open("/proc/self/maps").read())
    """))
    assert exact.lost(result.final) == {}
    device = exact.memory(result.process)["device"]
    assert (device["allocations"], device["frees"]) == (1000, 1000)
    assert not result.process["since_attach"]


MAPS = """
import mmap, os, sys, time
held = [mmap.mmap(os.open(path, os.O_RDONLY), 0, flags=mmap.MAP_PRIVATE,
                  prot=mmap.PROT_READ | mmap.PROT_EXEC)
        for path in sys.argv[1:]]
print("READY", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("count", [60, 70])
def test_many_files_named_like_cudas(gpuprobe, tmp_path, count):
    """A process may have any number of them, and each one that is opened delays all others:
    some must do."""
    names = [tmp_path / f"libcuda{number}.so" for number in range(count)]
    for name in names:
        name.write_bytes(bytes(4096))
    with Background(sys.executable, "-c", MAPS, *names) as holder:
        assert holder.stdout.readline() == "READY\n"
        with gpuprobe.start(args=["-p", holder.pid]) as running:
            running.report()
            result = running.stop()
    assert result.status == 0
    assert ("only the first 64 are looked at" in result.stderr) == (count > 64)


def test_library_truncated_before(gpuprobe, tmp_path):
    """A file truncated under a process that maps it is no library any more;
    its other library is watched."""
    for name in ("libcuda.so.1", "libcudart.so.13", "idle-holder"):
        shutil.copy(paths.SIM / name, tmp_path)
    for size in (0, 100, 5000, 100000):
        # It looks up no symbol later, in what is gone.
        with Background(tmp_path / "idle-holder", env={"LD_BIND_NOW": 1}) as holder:
            assert holder.stdout.readline() == "READY\n"
            os.truncate(tmp_path / "libcuda.so.1", size)
            with gpuprobe.start(args=["-v", "-p", holder.pid]) as running:
                running.report()
                result = running.stop()
        assert result.status == 0
        assert all(line.startswith("gpuprobe: ") for line in result.stderr.splitlines())
        assert "/libcudart.so.13 (process" in result.stderr
        assert "/libcuda.so.1" not in result.stderr
        shutil.copy(paths.LIBCUDA, tmp_path / "new")
        (tmp_path / "new").rename(tmp_path / "libcuda.so.1")
