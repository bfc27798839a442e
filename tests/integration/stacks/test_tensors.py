# SPDX-License-Identifier: BSD-2-Clause
"""
Tensors in gpuprobe memleak: programs/tensors.py allocates by a stand-in for PyTorch's allocator,
which has the same probe points and counts what it does.
"""
import json
import re
import signal
import subprocess
import time

import pytest

from lib import paths
from lib.probe import environment, wait_until, wait_until_watching
from lib.script import PROGRAMS

LIBRARY = paths.SIM / "libc10_cuda.so"
KEYS = ("allocations", "allocated_bytes", "frees", "freed_bytes", "live", "live_bytes")
TRUTH = ("allocations", "bytes", "frees", "freed_bytes", "live", "live_bytes")


def program(library=LIBRARY):
    return ["/usr/bin/python3", PROGRAMS / "tensors.py", library]


def memleak(*args, commands="", links=None, library=LIBRARY):
    """
    A whole run with these commands: gpuprobe's reports and the truth, line by line. Without an
    interval in `args`, the last report is the only one, however long a busy machine takes.
    """
    done = subprocess.run([paths.GPUPROBE, "memleak", "--interval", "3600", *map(str, args), "--",
                           *program(library)],
                          env=environment(GPUPROBE_LINKS=links, LD_LIBRARY_PATH=paths.SIM),
                          text=True, capture_output=True, input=commands, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return ([line for line in lines if "schema" in line],
            [line for line in lines if "schema" not in line], done)


def tensors_of(report, pid):
    return next(process["tensors"] for process in report["processes"] if process["pid"] == pid)


def counts(tensors):
    return [tensors[key] for key in KEYS]


def site_of(tensors, function):
    sites = [site for site in tensors["by_site"]["sites"]
             if site["stack"]["frames"][0]["function"] == function]
    assert len(sites) == 1
    return sites[0]


class Running:
    """The program beside the test."""

    def __init__(self):
        self.process = subprocess.Popen(program(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env=environment(), text=True)
        self.start = self.answer()

    def answer(self):
        return json.loads(self.process.stdout.readline())

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.answer()

    def watchers(self):
        now = self.do("count")
        return now["malloc_watchers"], now["free_watchers"]

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def beside(running, *args, links=None):
    return subprocess.Popen([paths.GPUPROBE, "memleak", "-p", str(running.process.pid), *args],
                            env=environment(GPUPROBE_LINKS=links), stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def read_until(gpuprobe, running, condition):
    """
    The tensors in the report after the first that meets the condition: that one may have read the
    call sites before the last call.
    """
    end, met = time.monotonic() + 60, False
    for line in gpuprobe.stdout:
        assert time.monotonic() < end, line
        report = json.loads(line)
        tensors = report["processes"] and tensors_of(report, running.process.pid)
        if met and tensors:
            return tensors
        met = met or (tensors and condition(tensors))
    raise AssertionError("gpuprobe ended before")


def test_exact_counts(links):
    """Pieces of all sizes, so at all points of both names, from one thread and from several."""
    commands = ("make 20 1000\nmake 10 1048577\nmake 3 30000001\nmake 1 10485759\nchurn 40 2000\n"
                "churn 7 20000000\nthreads 4 300 3000\ndrop 25\nquit\n")
    reports, truth, _ = memleak("--json", commands=commands, links=links)
    tensors = tensors_of(reports[-1], truth[-1]["pid"])
    assert counts(tensors) == [truth[-1][key] for key in TRUTH]
    assert (tensors["unknown_frees"], tensors["missed_frees"], tensors["untracked"]) == (0, 0, 0)
    assert not tensors["since_attach"]
    assert [device["device"] for device in tensors["devices"]] == [0]
    sites = tensors["by_site"]["sites"]
    assert sum(site["allocations"] for site in sites) == tensors["live"]
    assert sum(site["bytes"] for site in sites) == tensors["live_bytes"]


def test_call_sites():
    """Of a running interpreter, which gpuprobe knows when it attaches: Python frames alone."""
    with Running() as running:
        running.do("make 1 100")
        gpuprobe = beside(running, "--json", "-o", "0", "0.2")
        wait_until_watching(gpuprobe)
        running.do("threads 4 300 3000")
        running.do("make 10 2000")
        running.do("drop 4")
        tensors = read_until(gpuprobe, running, lambda tensors: tensors["frees"] == 603)
        gpuprobe.send_signal(signal.SIGINT)
        gpuprobe.communicate(timeout=60)
    kept, work = (site_of(tensors, function) for function in ("keep", "work"))
    assert (kept["made"], kept["allocations"], kept["peak_bytes"]) == (10, 10, 20000)
    assert (work["made"], work["freed"], work["bytes"]) == (1200, 603, 597 * 3000)
    for site in (kept, work):
        assert {frame["kind"] for frame in site["stack"]["frames"]} == {"python"}


def test_blocks_of_large_tensors():
    """
    Three pieces of 6.5 MiB fill a segment of 20 MiB: the last one keeps the rest. Six of 3 MiB
    leave 2 MiB, which are a block. Two of them go.
    """
    commands = f"make 3 {13 << 19}\nmake 6 {3 << 20}\nmake 1 {(11 << 20) + 5}\ndrop 2\nquit\n"
    reports, truth, _ = memleak("--json", commands=commands)
    segments = tensors_of(reports[-1], truth[-1]["pid"])["segments"]
    assert truth[-1]["segments"] == 3
    assert segments["bytes"] == truth[-1]["segment_bytes"] == 52 << 20
    assert segments["tensor_bytes"] == truth[-1]["rounded_bytes"] == 37 << 20
    assert segments["largest_hole_bytes"] == 13 << 20


def test_segments_and_holes():
    """In two segments of 2 MiB: 39 pieces of 100 KiB, of which 20 go; one segment has none then."""
    commands = "make 39 102400\ndrop 20\nquit\n"
    reports, truth, _ = memleak("--json", commands=commands)
    tensors = tensors_of(reports[-1], truth[-1]["pid"])
    segments = tensors["segments"]
    assert segments["modelled"]
    assert segments["bytes"] == truth[-1]["segment_bytes"] == 2 * (2 << 20)
    assert segments["tensor_bytes"] == truth[-1]["rounded_bytes"] == 19 * 102400
    assert segments["unused_bytes"] == segments["bytes"] - segments["tensor_bytes"]
    assert segments["pinned_bytes"] == (2 << 20) - 19 * 102400
    assert segments["pinning_tensors"] == 19
    assert segments["largest_hole_bytes"] == 2 << 20


def test_attach_in_the_middle(links):
    """
    Counts begin at the attach. The semaphores are 0 before, and 0 again once gpuprobe was killed.
    """
    with Running() as running:
        before = running.do("make 20 5000")
        assert running.watchers() == (0, 0)
        gpuprobe = beside(running, "--json", "0.2", links=links)
        wait_until_watching(gpuprobe)
        malloc, free = running.watchers()
        assert malloc > 0 and free > 0
        running.do("make 10 700")
        after = running.do("drop 25")
        tensors = read_until(
            gpuprobe, running,
            lambda tensors: tensors["frees"] + tensors["unknown_frees"] == 25)
        gpuprobe.send_signal(signal.SIGKILL)
        gpuprobe.communicate(timeout=60)
        wait_until(lambda: running.watchers() == (0, 0), "the semaphores fall")
        assert tensors["allocations"] == after["allocations"] - before["allocations"] == 10
        assert tensors["allocated_bytes"] == after["bytes"] - before["bytes"] == 7000
        assert (tensors["frees"], tensors["freed_bytes"], tensors["unknown_frees"]) == (5, 3500, 20)
        assert (tensors["live"], tensors["since_attach"]) == (5, True)


def test_forked_child_has_its_own():
    commands = "make 3 1000\nfork 7 5000\nmake 2 1000\nquit\n"
    reports, truth, _ = memleak("--json", commands=commands)
    parent = next(line for line in reversed(truth) if "live" in line)
    child = next(line for line in truth if "live" not in line)
    assert counts(tensors_of(reports[-1], parent["pid"])) == [parent[key] for key in TRUTH]
    tensors = tensors_of(reports[-1], child["pid"])
    assert (tensors["allocations"], tensors["allocated_bytes"]) == (7, 35000)
    # It frees one that its parent has made.
    assert (tensors["frees"], tensors["unknown_frees"]) == (0, 1)


def test_more_tensors_than_the_map_has():
    reports, truth, done = memleak("--json", "--max-tensors", "64", commands="make 100 512\nquit\n")
    tensors = tensors_of(reports[-1], truth[-1]["pid"])
    assert (tensors["allocations"], tensors["allocated_bytes"]) == (100, 51200)
    assert tensors["live"] == 100 - tensors["untracked"]
    assert 0 < tensors["live"] <= 64
    assert reports[-1]["lost"]["tensor_map_full"] == tensors["untracked"]
    _, _, done = memleak("--max-tensors", "64", commands="make 100 512\nquit\n")
    assert "tensors beyond --max-tensors" in done.stdout


def test_what_a_person_reads():
    _, _, done = memleak("-o", "0", commands="make 40 102400\ndrop 8\nquit\n")
    text = [line for line in done.stdout.splitlines() if not line.startswith("{")]
    assert re.fullmatch(r"\[[\d:]+\] process \d+ \(python3\) ended: 3\.1 MiB in 32 tensors leaked "
                        r"\(live at exit\)", text[0])
    assert text[1] == ("        4.0 MiB held, 3.1 MiB in 32 tensors, 896.0 KiB unused (896.0 KiB "
                       "pinned by 32 tensors)")
    assert text[2] == "        3.1 MiB in 32 tensors"
    assert text[3].endswith("peak 3.9 MiB, 8 of 40 freed")


def test_levels():
    """Segments alone have no probes in the allocator."""
    commands = "make 40 102400\nquit\n"
    reports, truth, done = memleak("--segments", "--json", commands=commands)
    assert "tensors" not in reports[-1]["processes"][0]
    assert {line["malloc_watchers"] for line in truth} == {0}
    _, _, done = memleak("--segments", "--tensors", commands=commands)
    assert "3.9 MiB in 40 tensors leaked (live at exit)" in done.stdout
    assert "4.0 MiB in 2 allocations leaked (live at exit)" in done.stdout
    _, _, done = memleak("--tensors", commands="quit\n")
    assert "no tensor was seen" in done.stdout or "no CUDA process was seen" in done.stdout


SENTENCE = ("4.0 MiB held, 3.1 MiB in 32 tensors, 896.0 KiB unused (896.0 KiB pinned by 32 "
            "tensors)")


def other(*args, commands="make 40 102400\ndrop 8\nquit\n"):
    """A whole run with another command than memleak: its output, without the truth's lines."""
    done = subprocess.run([paths.GPUPROBE, *args, "--", *program()], text=True,
                          capture_output=True, input=commands, timeout=60, check=False,
                          env=environment(LD_LIBRARY_PATH=paths.SIM,
                                          CUDA_SIM_DIRECTORY=paths.SIM))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    if "--json" in args:
        return [json.loads(line) for line in lines if line.startswith('{"schema"')][-1]
    return " ".join(" ".join(line for line in lines if not line.startswith("{")).split())


@pytest.mark.parametrize("command", [("stat",), ("--metrics-addr", "none", "--interval", "0")])
def test_stat_and_monitor_know_both_levels(command):
    text = other(*command, "--tensors", "--stack", "fp")
    assert "tensors" + (": " if command[0] == "stat" else " ") + SENTENCE in text
    assert " in 32 tensors, peak 3.9 MiB, 40 made, 8 freed" in text
    tensors = other(*command, "--tensors", "--json")["processes"][0]["tensors"]
    assert counts(tensors) == [40, 40 * 102400, 8, 8 * 102400, 32, 32 * 102400]
    assert tensors["segments"]["bytes"] == 4 << 20
    assert "live_sites" not in tensors
    assert "tensors" not in other(*command, "--json")["processes"][0]


def test_flame_draws_tensors_by_python_call_site():
    with Running() as running:
        flame = subprocess.Popen(
            [paths.GPUPROBE, "flame", "--by", "bytes", "--tensors", "-p",
             str(running.process.pid)], env=environment(), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until_watching(flame)
        running.do("make 10 2000")
        running.do("churn 30 1000")
        flame.send_signal(signal.SIGINT)
        text, _ = flame.communicate(timeout=60)
    weights = {re.search(r"(keep|churn) \(tensors\.py:\d+\) (\d+)$", line).groups()
               for line in text.splitlines()}
    assert weights == {("keep", "20000"), ("churn", "30000")}
    assert "ctypes" not in text


# Whatever the machine's speed, far more than such a budget has stacks for, and at least one in
# 1024 is taken. The large ones are always in.
MANY = "churn 60000 2000\nmake 60000 3000\ndrop 30000\nmake 3 50000000\nquit\n"


def test_counts_are_exact_under_a_budget():
    reports, truth, _ = memleak("--json", "-o", "0", "--max-overhead", "0.1", commands=MANY)
    tensors = tensors_of(reports[-1], truth[-1]["pid"])
    assert counts(tensors) == [truth[-1][key] for key in TRUTH]
    assert tensors["sites_estimated"]
    assert tensors["allocations"] * 0.5 < tensors["unsampled"] < tensors["allocations"]
    kept = site_of(tensors, "keep")
    assert 150e6 < kept["bytes"] < 150e6 + 2.5 * 180e6
    assert 20_000 < kept["made"] < 150_000
    assert kept["made"] == kept["allocations"] + kept["freed"] and kept["freed"] > 0


def test_what_a_person_reads_under_a_budget():
    _, _, done = memleak("-o", "0", "--max-overhead", "0.1", commands=MANY)
    text = done.stdout
    assert re.search(r"        stacks of \d+\.\d % of the tensors taken: call sites are estimates\n"
                     r"        about ", text)
    assert re.search(r"ended: about \S+ MiB in \S+( k)? tensors leaked \(live at exit\), "
                     r"of 228.9 MiB in 30.0 k tensors\n", text)


@pytest.mark.waits("growth takes a window")
def test_a_growing_line_is_named_under_a_budget():
    with Running() as running:
        running.do("make 1 100")
        gpuprobe = beside(running, "--json", "-o", "0", "--max-overhead", "0.1", "--window", "2s",
                          "0.5")
        wait_until_watching(gpuprobe)
        growing = None
        while not growing:
            running.do("churn 3000 2000")
            running.do("make 300 20000")
            report = json.loads(gpuprobe.stdout.readline())
            sites = report["processes"] and tensors_of(report, running.process.pid)
            growing = sites and [site["stack"]["frames"][0]["function"]
                                 for site in sites["by_site"]["sites"]
                                 if site["growth"]["verdict"] == "growing"]
        gpuprobe.send_signal(signal.SIGINT)
        gpuprobe.communicate(timeout=60)
    assert growing == ["keep"]


def test_stat_shares_its_budget_with_tensors():
    tensors = other("stat", "--tensors", "--stack", "fp", "--max-overhead", "0.1", "--json",
                    commands=MANY)["processes"][0]["tensors"]
    assert (tensors["live"], tensors["sites_estimated"]) == (30003, True)


@pytest.mark.parametrize("command, times", [(("memleak", "-o", "0"), 1),
                                            (("stat", "--tensors", "--stack", "fp"), 2)])
def test_a_thread_without_python_is_named(command, times):
    with_python = "make 3 1000\nbackward 2 5000\nquit\n"
    name = "[no Python frame: a C++ thread, such as autograd's for gradients]"
    assert other(*command, commands=with_python).count(name) == times
    assert name not in other(*command, commands="make 3 1000\nquit\n")


@pytest.mark.waits("it takes a reading after the first steps, which comes after a second")
def test_tensors_of_a_step():
    """Sums are of whole steps, so they may be wrong by one step of those that are counted."""
    tensors = other("stat", "--tensors", "--stack", "fp", "--json",
                    commands="steps 500 4\nquit\n")["processes"][0]["tensors"]
    kept, = [site for site in tensors["live_sites"]
             if "keep" in [frame.get("function") for frame in site["stack"]["frames"]]]
    churn, = tensors["churn_sites"]
    assert 10 <= tensors["steps"] < 500
    assert abs(kept["per_step"] - 1) < 2 / tensors["steps"]
    assert abs(kept["bytes_per_step"] - 1000) < 2000 / tensors["steps"]
    assert abs(churn["per_step"] - 3) < 6 / tensors["steps"]


@pytest.mark.waits("it takes a reading after the first steps, which comes after a second")
def test_memleak_says_how_many_a_step_makes():
    output = other("memleak", "--steps", "-o", "0", "--json", commands="steps 500 4\nquit\n")
    site, = [site for site in output["processes"][0]["tensors"]["by_site"]["sites"]
             if "keep" in [frame.get("function") for frame in site["stack"]["frames"]]]
    assert abs(site["per_step"] - 1) < 0.2
    assert abs(site["bytes_per_step"] - 1000) < 200


@pytest.mark.slow
def test_a_person_reads_tensors_of_a_step_in_memleak():
    text = other("memleak", "--steps", "-o", "0", commands="steps 500 4\nquit\n")
    assert re.search(r", (1\.0\d|0\.9\d) per step \(\d+ bytes\), none freed keep", text), text


@pytest.mark.slow
def test_a_person_reads_tensors_of_a_step():
    text = other("stat", "--tensors", "--stack", "fp", commands="steps 500 4\nquit\n")
    assert re.search(r"where most tensors were allocated: 2\.9 MiB in 1,500 tensors, 1,500 freed, "
                     r"(3\.0\d|2\.9\d) per step \(\S+ KiB\) churn", text)


def test_flame_draws_live_tensors():
    graph = other("flame", "--by", "live-bytes", "--tensors", "--processes")
    assert graph.endswith(f" {32 * 102400}") and "cudaMalloc" not in graph


@pytest.mark.parametrize("args", [
    ("--tensors", "--memleak"), ("--tensors", "--no-return-probes"),
    ("flame", "--by", "launches", "--tensors")])
def test_tensors_go_with(args):
    done = subprocess.run([paths.GPUPROBE, *args], text=True, capture_output=True, timeout=60,
                          check=False, env=environment())
    assert done.returncode == 2 and "--tensors" in done.stderr


@pytest.mark.parametrize("old,new,why", [
    (b"-8@%rdi", b"-8@%xyz", "operands of pytorch:free are not understood"),
    (b"pytorch\0free", b"pytorch\0fret", "has no probe points for allocations and frees"),
])
def test_unknown_version_is_skipped_aloud(tmp_path, old, new, why):
    library = tmp_path / "libc10_cuda.so"
    text = LIBRARY.read_bytes()
    assert old in text
    library.write_bytes(text.replace(old, new))
    reports, _, done = memleak("--json", commands="make 3 1000\nquit\n", library=library)
    assert why in done.stderr
    assert reports[-1]["processes"][0]["tensors"] is None
    assert reports[-1]["processes"][0]["allocations"] == 1
