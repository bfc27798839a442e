# SPDX-License-Identifier: BSD-2-Clause
"""
BPF maps of each kind that are full: one after the other is made too small (programs/small_map.c)
for a random mix of calls. Losses are counted under their own reason, and every number that does not
depend on the map is right.
"""
import errno
import os
import signal
import subprocess
import sys

import pytest

from lib import exact, folders, mixtruth, paths
from lib.probe import wait_for_file
from lib.profile import seen_functions, true_functions
from lib.scarce import OOM_REPORT
from lib.script import PROGRAMS, script

pytestmark = [pytest.mark.usefixtures("nothing_left"),
              pytest.mark.plain("a sanitizer has to be loaded first")]

# Map -> entries, what is lost by it, and the families of numbers that may then be wrong.
MEMORY = {"memory", "with_context", "ranges", "pools", "live", "sides"}
GRAPHS = {"captured", "graphs", "launches", "copies", "sides", "devices"}
COUNTS = MEMORY | GRAPHS | {"objects", "waits", "queries", "functions", "errors"}
FULL = {
    "allocations": (4, "allocation_map_full", MEMORY),
    "tallies": (2, "tally_map_full", COUNTS),
    "launches": (2, "kernel_map_full", GRAPHS),
    "objects": (4, "object_map_full", {"objects"}),
    "streams": (4, "inflight_map_full", set()),
    "graphs": (1, "graph_map_full", {"graphs"}),
    # When two come at once either gets the place, and the other may get it once that one has ended.
    "process_of": (1, "process_table_full", COUNTS | {"process"}),
    "watched": (2, "no_memory", {"process"}),
}
FULL_IN_ALL = {
    "capturing": (4, "capture_map_full", GRAPHS),
    "contexts": (2, "context_map_full", {"with_context", "devices", "objects"} | MEMORY),
    "devices": (1, "context_map_full", {"devices", "pools"}),
    "events": (4, "event_map_full", set()),
    "failures": (4, "error_map_full", {"errors"}),
    "graph_execs": (4, "graph_map_full", {"graphs"}),
    "graph_runs": (4, "graph_map_full", {"graphs"}),
    "pools": (4, "pool_map_full", {"pools", "memory"}),
    "ranges": (2, "allocation_map_full", MEMORY),
    "shapes": (2, "shape_map_full", set()),
}
# What the mix does not fill, or what only saves work: nothing is lost, nothing wrong.
SPARE = ["disabled_nodes", "graph_nodes", "unnamed", "held", "sites", "kernels_seen",
         "code_changes", "process_numbers"]
# What it fills where calls of several threads meet, which is not in each run.
AT_TIMES = {"captures": (1, "capture_map_full", GRAPHS),
            "captured_events": (1, "capture_map_full", GRAPHS)}
# What only the account has: map -> what is lost by it.
ACCOUNT = {"copy_sizes": "copy_size_map_full", "copy_targets": "target_map_full",
           "ignored": "ignored_map_full", "duration_numbers": "duration_map_full",
           "call_sites": "site_map_full", "launch_sites": "site_map_full"}


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """programs/small_map.c"""
    library = tmp_path_factory.mktemp("small_map") / "small_map.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", library,
                    PROGRAMS / "small_map.c"], check=True)
    return library


def run_mix(gpuprobe, library, name, entries):
    """(the losses, the families of numbers that are wrong; missing processes count as one)"""
    env = {"SMALL_MAP": name, "SMALL_ENTRIES": entries, "LD_PRELOAD": library}
    result = gpuprobe.run(paths.workload("mix"), "--seed", 3, "--seconds", 1.5, "--threads", 8,
                          "--children", 1, args=["--top", "0"], env=env)
    # The mix asks for more than there is.
    beyond = "failed for lack of memory without a report"
    assert [line for line in result.stderr.splitlines()
            if not OOM_REPORT.match(line) and beyond not in line] == []
    wrong = set()
    for truth in result.truths:
        found = [process for process in result.processes if process["pid"] == truth.pid]
        lines = (mixtruth.differences(found[0], truth)
                 if len(found) == 1 else ["process: is not there"])
        wrong |= {line.split(":")[0] for line in lines}
    return exact.lost(result.final), wrong


def check_full(gpuprobe, library, name, entries, reason, families):
    lost, wrong = run_mix(gpuprobe, library, name, entries)
    assert lost.pop(reason) > 0
    assert lost.keys() <= {"inflight_busy"} and wrong <= families


@pytest.mark.parametrize("name", FULL)
def test_full(gpuprobe, library, name):
    check_full(gpuprobe, library, name, *FULL[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", FULL_IN_ALL)
def test_full_too(gpuprobe, library, name):
    check_full(gpuprobe, library, name, *FULL_IN_ALL[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SPARE)
def test_small(gpuprobe, library, name):
    lost, wrong = run_mix(gpuprobe, library, name, 1)
    assert lost.keys() <= {"inflight_busy"} and wrong == set()


@pytest.mark.slow
@pytest.mark.parametrize("name", AT_TIMES)
def test_full_at_times(gpuprobe, library, name):
    entries, reason, families = AT_TIMES[name]
    lost, wrong = run_mix(gpuprobe, library, name, entries)
    assert lost.keys() <= {"inflight_busy", reason}
    assert wrong <= (families if reason in lost else set())


@pytest.mark.parametrize("name", ACCOUNT)
def test_full_account(gpuprobe, library, name):
    """Each function's calls and errors equal the truth's; where they had no room,
    no more are missing than are reported lost."""
    stacks = ["--stack", "fp"] if name.endswith("_sites") else []
    result = gpuprobe.run(paths.workload("mix"), "--seed", 3, "--seconds", 1.5, "--threads",
                          8, "--children", 1, args=stacks, base=["stat", "--json"],
                          env={"SMALL_MAP": name, "SMALL_ENTRIES": 1, "LD_PRELOAD": library})
    lost, missing = exact.lost(result.final), 0
    for truth in result.truths:
        true, seen = true_functions(truth), seen_functions(result.process_of(truth.pid))
        if name != "duration_numbers":
            assert {function: seen.get(function, (0, 0)) for function in true} == true
        missing += sum(calls - seen.get(function, (0, 0))[0]
                       for function, (calls, _) in true.items())
    assert lost[ACCOUNT[name]] > 0
    assert lost.keys() <= {"inflight_busy", ACCOUNT[name]}
    assert 0 < missing <= lost["duration_map_full"] if name == "duration_numbers" else missing == 0


def test_ring_that_overflows(gpuprobe, library, tmp_path):
    """A page of notices that nobody reads for a while: names are missing, counts are not."""
    ready, go, done, end = (tmp_path / name for name in ("ready", "go", "done", "end"))
    with gpuprobe.start(*script(f"""
        start()
        touch({str(ready)!r})
        wait_for({str(go)!r})
        for number in range(60):
            loaded, handles = module(*[f"kernel_{{number}}_{{k}}" for k in range(5)])
            for handle in handles:
                need(launch(handle))
            need(driver.cuModuleUnload(loaded))
        touch({str(done)!r})
        wait_for({str(end)!r})
    """), interval=0, env={"SMALL_MAP": "ring", "SMALL_ENTRIES": os.sysconf("SC_PAGESIZE"),
                           "LD_PRELOAD": library}) as running:
        wait_for_file(ready)
        running.process.send_signal(signal.SIGSTOP)
        go.touch()
        wait_for_file(done)
        running.process.send_signal(signal.SIGCONT)
        end.touch()
        result = running.finish(60)
    lost = exact.lost(result.final)
    assert lost.pop("ring_full") > 0 and not lost
    assert result.process["launches"] == sum(result.truth.launches().values())


# --- maps as they are read ---

# Values counted later are read earlier, so that a part never exceeds its whole.
BEFORE = [("streams", "tallies"), ("graph_runs", "tallies"), ("shapes", "launches")]


def test_order_of_reading(gpuprobe, library, tmp_path):
    """While they are made there are never more copies in flight than copies,
    nor more launches of graphs of unknown size than launches."""
    reads, end = tmp_path / "reads", tmp_path / "end"
    with gpuprobe.start(*script(f"""
        start()
        wait_for({str(end)!r})
    """), env={"READ_LIST": reads, "LD_PRELOAD": library}) as running:
        running.wait_for(lambda r: r["processes"])
        running.report()
        end.touch()
        result = running.finish()
    assert result.status == 0
    readings = [["contexts", *names.split()]
                for names in f"\n{reads.read_text()}".split("\ncontexts\n")[1:]]
    assert len(readings) >= len(result.reports)
    for names in readings:
        assert [(a, b) for a, b in BEFORE if names.index(a) > names.index(b)] == []


# --- links that the kernel refuses ---

# gpuprobe may get at the next look what it lacks now: the file is tried again, and counted again.
# The first process is looked at when the driver is mapped, for which the runtime has waited, and
# when both have been relocated: two files, twice; the second when the runtime is mapped as well,
# since the driver is known by then.
LACKING = (errno.ENOMEM, errno.EMFILE)


@pytest.mark.parametrize("code,skipped",
                         [(errno.ENOMEM, 4 + 5), (errno.EMFILE, 4 + 5), (errno.EINVAL, 2)])
def test_libraries_without_probes(gpuprobe, library, code, skipped):
    """Each is told of and counted as lost; the program is not disturbed."""
    with folders.private("launch") as private:
        result = gpuprobe.run("sh", "-c", '"$1" --launches 5 && "$1" --launches 6',
                              "sh", private / "launch",
                              env={"REFUSED_LINKS": code, "LD_PRELOAD": library})
    assert sorted(sum(truth.launches().values()) for truth in result.truths) == [5, 6]
    assert result.final["processes"] == []
    lost = exact.lost(result.final)
    assert list(lost) == ["library_skipped"]
    # On a busy machine a process may live for another look: both of its files are counted again.
    again = 2 if code in LACKING else sys.maxsize
    assert lost["library_skipped"] >= skipped and (lost["library_skipped"] - skipped) % again == 0
    assert os.strerror(code) in result.stderr and str(private) in result.stderr
