# SPDX-License-Identifier: BSD-2-Clause
"""Programs that open the driver themselves, however they are linked,
and also once their main thread has ended."""
import shutil
import subprocess

import pytest

from lib import small_cuda
from lib.probe import Background, environment, wait_until
from lib.script import PROGRAMS

pytestmark = pytest.mark.usefixtures("nothing_left")

LINKED = {"dynamic": ["gcc"], "static": ["gcc", "-static"], "static-pie": ["gcc", "-static-pie"],
          "musl": ["musl-gcc"]}
ENDED = ("ended-first", "ended-after")  # its main thread
EVERY = [(linked, "plain") for linked in LINKED] + [("dynamic", ENDED[0]), ("static", ENDED[1]),
                                                    ("musl", ENDED[0])]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """programs/opened.c, linked in each way that is to be had here."""
    folder = tmp_path_factory.mktemp("opened")
    built = {}
    for name, compiler in LINKED.items():
        if not shutil.which(compiler[0]):
            continue
        built[name] = folder / f"opened-{name}"
        subprocess.run([*compiler, "-std=gnu11", "-O1", "-w", "-pthread",
                        "-o", built[name], PROGRAMS / "opened.c"],
                       capture_output=True, check=True)
    return built


@pytest.fixture(params=EVERY, ids="-".join)
def opened(request, programs, tmp_path):
    """The words that run the program in one of these ways, with a driver that nobody else has."""
    linked, how = request.param
    if linked not in programs:
        pytest.skip(f"{LINKED[linked][0]} is not installed")
    return [programs[linked], small_cuda.compile(tmp_path / "libcuda.so.1"), how]


def rounds(words):
    return 2 if words[2] == "ended-after" else 1


def calls(process):
    return {entry["function"]: entry["calls"]
            for entry in process["functions"]} | {"launches": process["launches"]}


def check_calls(process, times, launches=True):
    """Where the whole machine is watched, strangers may have filled the table of kernels."""
    assert not launches or process["launches"] == 27 * times
    assert (calls(process)["cuMemAlloc_v2"] == 10 * times
            and calls(process)["cuMemFree_v2"] == 9 * times)
    assert process["memory"]["device"]["live_bytes"] == 1000 * times


def all_seen(report, pid):
    """The process, once a report has the last call of its first round;
    calls of one moment may be in two reports."""
    found = [p for p in report["processes"] if p["pid"] == pid]
    return found[0] if found and calls(found[0]).get("cuMemFree_v2", 0) >= 9 else None


class Opened(Background):
    """The program, which waits for a line at each step."""

    def __init__(self, words):
        super().__init__(*words, "waits")
        assert self.stdout.readline() == "READY\n"

    def end(self):
        self.stdin.write("end\n")
        self.stdin.flush()
        assert self.wait(60) == 0


def test_command(gpuprobe_by, opened):
    """COMMAND is held where it opens the driver: all calls are counted, and it is not marked."""
    result = gpuprobe_by.run(*opened)
    check_calls(result.process, rounds(opened))
    assert not result.process["since_attach"]


def test_traced_command(tracer, programs, tmp_path):
    """The tracer sees them, too."""
    driver = small_cuda.compile(tmp_path / "libcuda.so.1")
    result = tracer.run(programs["dynamic"], driver, "ended-first",
                        args=["-e", "cuMemAlloc*,cuLaunchKernel"])
    functions = result.events
    assert functions.count("cuMemAlloc_v2") == 10 and functions.count("cuLaunchKernel") == 27


def test_given_process(gpuprobe_by, opened):
    """With -p the driver that it opens later is noticed; later calls are counted,
    and it is marked."""
    with Opened(opened) as program, gpuprobe_by.start(args=["-p", program.pid, "-v"]) as running:
        for again in range(rounds(opened)):
            running.wait_until_watching()
            if again:
                assert program.tell("end") == "READY"
            assert program.tell("open") == "OPENED"
            wait_until(lambda: f"{opened[1]} (process {program.pid}): " in running.stderr,
                       lambda: running.stderr)
            assert program.tell("call") == "DONE"
        program.end()
        result = running.finish()
    process = result.last_seen(program.pid)
    check_calls(process, rounds(opened))
    assert process["since_attach"]


def test_whole_machine(gpuprobe_by, opened):
    """The first process that opens a driver file may have called before its probes are in,
    and is marked; the next is exact."""
    with gpuprobe_by.start(args=["-v"]) as running:
        running.wait_until_watching()
        with Opened(opened) as first, Opened(opened) as second:
            assert first.tell("open") == "OPENED"
            wait_until(lambda: f"{opened[1]} (process {first.pid}): " in running.stderr,
                       lambda: running.stderr)
            for program in (first, second) if rounds(opened) == 1 else (first,):
                if program is second:
                    assert program.tell("open") == "OPENED"
                assert program.tell("call") == "DONE"
                process = running.find(lambda report, pid=program.pid: all_seen(report, pid))
                check_calls(process, 1, launches=False)
                assert process["since_attach"] == (program is first)
        running.stop()


def test_no_silence(gpuprobe, programs, tmp_path):
    """A program that calls at once: it is exact, or marked,
    or a warning says that it was missed."""
    words = []
    for name, program in programs.items():
        folder = tmp_path / name
        folder.mkdir()
        words.append([program, small_cuda.compile(folder / "libcuda.so.1"), "plain"])
    pids = []
    with gpuprobe.start() as running:
        running.wait_until_watching()
        for each in words:
            with subprocess.Popen([*map(str, each)], env=environment()) as program:
                assert program.wait(60) == 0
            pids.append(program.pid)
        result = running.stop()
    shown = {p["pid"]: p for report in result.reports for p in report["processes"]}
    missed = [pid for pid in pids if pid not in shown]
    for pid in set(pids) - set(missed):
        if not shown[pid]["since_attach"]:
            check_calls(shown[pid], 1, launches=False)
    if missed:
        assert "before its probes were in" in result.stderr
