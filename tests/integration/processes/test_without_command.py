# SPDX-License-Identifier: BSD-2-Clause
"""Without COMMAND: processes that come and go by themselves,
found by their mappings or named by -p."""
import re
import shutil
import time

import pytest

from lib import exact
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.probe import SECTIONS, Background
from lib.script import script

GIVEN = [LIBCUDA, LIBCUDART]


def process_of(report, pid):
    """The process in a report of the whole machine, None where it is not shown."""
    found = [p for p in report["processes"] if p["pid"] == pid]
    assert len(found) <= 1
    return found[0] if found else None


def wait_process(running, pid, condition):
    """The process in the first report in which it meets the condition."""
    return running.find(lambda r: (p := process_of(r, pid)) and condition(p) and p)


def wait_probed(running, library):
    """The first report after the file has got its probes; gpuprobe has to run with -v."""
    return running.wait_for(lambda r: re.search(f"{library} .*functions probed", running.stderr))


def test_files_given_are_exact(gpuprobe_by, tmp_path):
    """Counted from the first call of a process that starts later;
    shown once more when it has ended."""
    with gpuprobe_by.start(libraries=GIVEN, args=["-v"]) as running:
        running.report()
        with Background(*script(f"""
                import threading
                context = start()
                _, (kernel,) = module("kernel")
                def work():
                    need(driver.cuCtxSetCurrent(context))
                    for _ in range(1000):
                        need(launch(kernel))
                threads = [threading.Thread(target=work) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                wait_for({str(tmp_path / "end")!r})
                """), env={"CUDA_SIM_TRUTH": f"{running.truth_dir}/%p.%u.json"}) as program:
            process = wait_process(running, program.pid, lambda p: p["launches"] == 4000)
            assert not process["since_attach"] and not process["ended"]
            (tmp_path / "end").touch()
            assert program.wait(60) == 0
        process = wait_process(running, program.pid, lambda p: p["ended"])
        for _ in range(2):
            assert process_of(running.report(), program.pid) is None
        result = running.stop()
    assert result.status == 0
    exact.check(result, strangers=True)


def test_found_by_its_mappings(gpuprobe_by, tmp_path):
    """A new file: calls before the probes are missing, and gpuprobe says so;
    the next process is exact."""
    for library in GIVEN:
        shutil.copy(library, tmp_path)
    command = [workload("dlopener"), "--library", tmp_path / "libcudart.so.13", "--calls", 100,
               "--hold", 600]
    with gpuprobe_by.start(args=["-v"]) as running:
        running.report()
        with Background(*command, env={"LD_LIBRARY_PATH": tmp_path}) as first:
            assert first.stdout.readline().startswith("100 calls")
            # Each has its probes, also where a report comes between the two.
            for library in GIVEN:
                report = wait_probed(running, tmp_path / library.name)
            late = process_of(report, first.pid)
            assert late is None or (late["since_attach"] and late["launches"] <= 100)
            with Background(*command, env={"LD_LIBRARY_PATH": tmp_path}) as second:
                # A report may have the launches but not yet all of the memory.
                process = wait_process(
                    running, second.pid, lambda p: p["launches"] == 100
                    and exact.memory(p).get("device", {}).get("allocations") == 101)
                assert not process["since_attach"]
        result = running.stop()
    assert exact.lost_with_strangers(result, first.pid, second.pid) == {}


def test_a_late_library_is_marked(gpuprobe_by, tmp_path):
    """A stranger is not stopped: it goes on, and is marked since attach."""
    for library in GIVEN:
        shutil.copy(library, tmp_path)
    go = tmp_path / "go"
    with gpuprobe_by.start(args=["-v"]) as running:
        running.report()
        with Background(*script(f"""
                library = Library({str(tmp_path / "libcuda.so.1")!r})
                need(library.cuInit(0))
                context = made(library.cuDevicePrimaryCtxRetain, 0)
                need(library.cuCtxSetCurrent(context))
                made(library.cuMemAlloc_v2, 100)
                wait_for({str(go)!r})
                for _ in range(3):
                    made(library.cuMemAlloc_v2, 1000)
                wait_for({str(tmp_path / "end")!r})
                """)) as program:
            wait_probed(running, tmp_path / "libcuda.so.1")
            go.touch()
            process = wait_process(running, program.pid,
                                   lambda p: exact.memory(p)["device"]["live_allocations"] >= 3)
            assert process["since_attach"] is True
            assert process["memory"]["device"]["live_bytes"] in (3000, 3100)
            (tmp_path / "end").touch()
        running.stop()


def test_since_attach_in_the_text(gpuprobe):
    with Background(workload("idle-holder"), "--then-launch", 10) as holder:
        assert holder.stdout.readline() == "READY\n"
        with gpuprobe.start(base=[*SECTIONS, "--metrics-addr", "none"]) as running:
            running.line()
            assert holder.tell("go") == "DONE"
            end = time.monotonic() + 60
            while f"process {holder.pid} (idle-holder) since attach\n" not in running.stdout:
                assert time.monotonic() < end and running.line() is not None
            running.stop()


@pytest.mark.parametrize("libraries", [GIVEN, []])
def test_pid_and_its_children(gpuprobe_by, libraries):
    """-p: the process and what it starts from now on, nothing else."""
    launch = f"{workload('launch')} --launches"
    shell = (f"read line; {launch} 70 --hold 600 >/dev/null & echo $!; read line; "
             f"{launch} 80 --hold 600")
    with Background("sh", "-c", shell) as parent, \
            Background("sh", "-c", f"read line; {launch} 90") as other:
        with gpuprobe_by.start(args=["-v", "-p", str(parent.pid)], libraries=libraries) as running:
            running.report()
            assert other.tell("go").startswith("90 launches")
            other.wait(60)
            first = int(parent.tell("go"))
            if libraries:
                wait_process(running, first, lambda p: p["launches"] == 70)
            else:
                wait_probed(running, LIBCUDA)
            parent.stdin.write("go\n")
            parent.stdin.flush()
            running.wait_for(lambda r: 80 in [p["launches"] for p in r["processes"]])
            result = running.stop()
    seen = {p["pid"]: p for report in result.reports for p in report["processes"]}
    assert parent.pid not in seen and other.pid not in seen
    if libraries:
        assert sorted(p["launches"] for p in seen.values()) == [70, 80]
        assert not any(p["since_attach"] for p in seen.values())
    else:
        # The first brought the library: all of its calls may be over when the probes are in.
        *first, second = sorted(seen.values(), key=lambda p: p["start_ns"])
        assert all(p["since_attach"] and p["launches"] <= 70 for p in first) and len(first) < 2
        assert second["launches"] == 80 and not second["since_attach"]


def test_several_pids_with_children_that_are_there(gpuprobe):
    holder = [workload("idle-holder"), "--then-launch", 9]
    with Background("sh", "-c", f"{workload('idle-holder')} --then-launch 5; true") as parent, \
            Background(*holder) as second, Background(*holder) as third:
        for process in (parent, second, third):
            assert process.stdout.readline() == "READY\n"
        with gpuprobe.start(args=["-p", str(parent.pid), "-p", str(second.pid)]) as running:
            running.report()
            for process in (parent, second, third):
                assert process.tell("go") == "DONE"
            report = running.wait_for(lambda r: len(r["processes"]) == 2)
            assert sorted(p["launches"] for p in report["processes"]) == [5, 9]
            assert third.pid not in [p["pid"] for p in report["processes"]]
            assert all(p["since_attach"] for p in report["processes"])
            running.stop()


def test_ends_with_a_duration(gpuprobe):
    begin = time.monotonic()
    with gpuprobe.start(args=["--duration", "0.5"], interval=0) as running:
        result = running.finish()
    assert time.monotonic() - begin >= 0.5
    assert result.status == 0 and result.final["final"]


def test_many_at_once(gpuprobe_by):
    """Sixteen programs side by side, while gpuprobe watches the machine."""
    with gpuprobe_by.start(libraries=GIVEN, interval=0, args=["-v"]) as running:
        running.wait_until_watching()
        env = {"CUDA_SIM_TRUTH": f"{running.truth_dir}/%p.%u.json"}
        programs = [Background(workload("forker"), "--processes", 4, "--pairs", 20, "--launches",
                               50, env=env) for _ in range(4)]
        for program in programs:
            with program:
                assert program.wait(60) == 0
        result = running.stop()
    assert len([truth for truth in result.truths if not truth.idle]) == 16
    exact.check(result, strangers=True)
