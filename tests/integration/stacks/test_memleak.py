# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe memleak on programs/leaks.c, whose call sites, sizes and numbers are known."""
import json
import re
import signal
import subprocess
import time

import pytest

from lib import paths
from lib.probe import Background, environment, wait_until_watching
from lib.script import PROGRAMS
from test_stack_modes import FRAMES, PATHS, build, expected

FREED, KEPT = 50, 8
LINE = {"grow_cache": "failures += cudaMalloc(&address, 10000);",
        "keep_one_of_ten": "failures += cudaMalloc(&address[i], 512);"}


@pytest.fixture(scope="module")
def leaks(tmp_path_factory):
    program = tmp_path_factory.mktemp("leaks") / "leaks"
    subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-o", program,
                    PROGRAMS / "leaks.c", f"-L{paths.SIM}", "-l:libcudart.so.13", f"-Wl,-rpath,{paths.SIM}"],
                   check=True)
    return program


def line_of(function):
    """Where the function allocates, as the source has it."""
    text = (PROGRAMS / "leaks.c").read_text(encoding="utf-8")
    return text[:text.index(LINE[function])].count("\n") + 1


def memleak(*args):
    return subprocess.run([paths.GPUPROBE, "memleak", *map(str, args)], env=environment(), text=True,
                          capture_output=True, timeout=60, check=False)


def reports(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def process_in(report):
    assert len(report["processes"]) == 1
    return report["processes"][0]


def callers(site):
    return [frame["function"] for frame in site["stack"]["frames"]]


def sites_of(process, running=False):
    """
    By the function that calls cudaMalloc. Of calls that a running program makes after the driver's probes are in and before
    the runtime's are, only the driver's part is seen.
    """
    sites = [site for site in process["sites"] if not running or callers(site)[0] == "cudaMalloc"]
    assert {callers(site)[0] for site in sites} <= {"cudaMalloc"}
    driver_alone = sum(site["allocations"] for site in process["sites"] if site not in sites)
    assert driver_alone <= 0.1 * process["allocations"]
    return {callers(site)[1]: site for site in sites}


def start_and_wait(leaks, tmp_path, *args):
    """The program, once it is about to make its first call: it goes on at once."""
    ready = tmp_path / "ready"
    background = Background(leaks, *args, ready)
    while not ready.exists():
        time.sleep(0.01)
    return background


def test_live_at_exit(leaks):
    process = process_in(reports(memleak("--json", "--", leaks, FREED, KEPT))[-1])
    assert (process["ended"], process["since_attach"]) == (True, False)
    assert process["bytes"] == process["live_at_exit_bytes"] == KEPT * 10000 + 512
    assert process["allocations"] == process["live_at_exit_allocations"] == KEPT + 1
    sites = sites_of(process)
    assert list(sites) == ["grow_cache", "keep_one_of_ten"]
    grown, kept = sites.values()
    assert (grown["bytes"], grown["allocations"], grown["allocated"], grown["leak"]) == (KEPT * 10000, KEPT, KEPT, False)
    assert (kept["bytes"], kept["allocations"], kept["allocated"], kept["leak"]) == (512, 1, 10, True)
    for name, site in sites.items():
        frame = site["stack"]["frames"][1]
        assert (frame["object"], frame["file"], frame["line"]) == ("leaks", str(PROGRAMS / "leaks.c"), line_of(name))
        assert "main" in callers(site)


def test_text_at_exit(leaks):
    done = memleak("--", leaks, FREED, KEPT)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"\[\d\d:\d\d:\d\d\] process \d+ \(leaks\) ended: 78\.62 KiB \(80512 bytes\) in 9 allocations "
                        r"leaked \(live at exit\)", lines[0])
    assert lines[1] == "        78.12 KiB (80000 bytes) in 8 allocations"
    assert lines[2].endswith(", none freed")
    assert re.fullmatch(r" {16}cudaMalloc\+0x0 \[libcudart\.so\.13\].*", lines[3])
    assert re.fullmatch(rf" {{16}}grow_cache\+0x[0-9a-f]+ \[leaks\] leaks\.c:{line_of('grow_cache')}", lines[4])
    leak = lines.index("        512 bytes in 1 allocation  << leak")
    assert lines[leak + 1].endswith(", 9 of 10 freed")
    assert "churn" not in done.stdout


def test_stacks_that_break_off(leaks, tmp_path):
    """That is said of each, and once what helps."""
    program = tmp_path / "leaks"
    subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-o", program, PROGRAMS / "leaks.c", f"-L{paths.SIM}",
                    "-l:libcudart.so.13", f"-Wl,-rpath,{paths.SIM}"], check=True)
    done = memleak("--", program, FREED, KEPT)
    assert done.stdout.count("        [callers not found]\n") == done.stdout.count(" allocation") - 1
    assert done.stderr.count("some stacks break off: try --stack auto") == 1
    assert "break off" not in memleak("--", leaks, FREED, KEPT).stderr


def test_all_freed(leaks):
    # The one that is kept is not asked for.
    done = memleak("-z", 4096, "--", leaks, FREED, 0)
    assert re.fullmatch(r"\[[\d:]+\] process \d+ \(leaks\) ended: left out were 512 bytes in 1 allocation live at exit\n",
                        done.stdout)


@pytest.mark.parametrize("options, found", [
    (["-z", 513], ["grow_cache"]),
    (["-z", 10000, "-Z", 10000], ["grow_cache"]),
    (["-Z", 9999], ["keep_one_of_ten"]),
    (["--min-count", 2], ["grow_cache"]),
    (["-T", 1], ["grow_cache"]),
    (["-T", 0], ["grow_cache", "keep_one_of_ten"]),
    (["-z", 10001], []),
    # What is live at exit becomes no older.
    (["-o", "1m"], ["grow_cache", "keep_one_of_ten"]),
])
def test_filters(leaks, options, found):
    process = process_in(reports(memleak("--json", *options, "--", leaks, FREED, KEPT))[-1])
    assert list(sites_of(process)) == found


def test_allocations(leaks):
    process = process_in(reports(memleak("--json", "-a", "--", leaks, FREED, KEPT))[-1])
    for site in process["sites"]:
        assert len(site["live"]) == site["allocations"]
        assert sum(one["bytes"] for one in site["live"]) == site["bytes"]
        assert len({one["address"] for one in site["live"]}) == site["allocations"]
        ages = [one["age_ns"] for one in site["live"]]
        assert (min(ages), max(ages)) == (site["newest_age_ns"], site["oldest_age_ns"])


def test_young_ones_are_left_out_and_said_to_be(leaks, tmp_path):
    with start_and_wait(leaks, tmp_path, 0, 300, 10000) as program:
        done = memleak("-p", program.pid, "-o", "1m", 1, 1)
    assert re.search(r"\] 0 call sites with live device memory; left out: \S+ \S+ (\(\d+ bytes\) )?in \d+ "
                     r"allocations? younger than 60000 ms\n", done.stdout)


def test_growth_of_a_running_process(leaks, tmp_path):
    """Started before: what is live from before attach is not known, and said to be so."""
    with start_and_wait(leaks, tmp_path, 1000, 1000, 10000) as program:
        done = memleak("-p", program.pid, "--json", "--window", "3s", "-o", 0, 2, 4)
        assert program.poll() is None
    first, second = [process_in(report) for report in reports(done)][-2:]
    assert first["since_attach"] and second["since_attach"]
    site = sites_of(second, running=True)["grow_cache"]
    assert site["growth"]["verdict"] == "growing"
    assert site["bytes"] == 10000 * site["allocations"]
    # Allocated at an even pace: as many a second as were in between the reports.
    between = (site["bytes"] - sites_of(first, running=True)["grow_cache"]["bytes"]) / 2
    assert site["growth"]["bytes_per_second"] == pytest.approx(between, rel=0.4)
    assert site["growth"]["samples"] >= 10
    assert second["growing"] == 1


def test_stable_process(leaks):
    report = reports(memleak("--json", "--window", "3s", "-o", 0, 3.5, 1, "--", leaks, 600, 3, 10000))[0]
    process = process_in(report)
    assert (report["final"], process["ended"], process["growing"]) == (False, False, 0)
    for name, size in ("grow_cache", 30000), ("keep_one_of_ten", 512):
        site = sites_of(process)[name]
        assert (site["bytes"], site["growth"]["verdict"], site["growth"]["bytes_per_second"]) == (size, "stable", 0)


def test_processes_end(leaks, tmp_path):
    """-p: its end is gpuprobe's, with what it had live."""
    with start_and_wait(leaks, tmp_path, 0, 6000, 10000) as program:
        probe = subprocess.Popen([paths.GPUPROBE, "memleak", "-p", str(program.pid), "100"], text=True,
                                 stdout=subprocess.PIPE, env=environment())
        wait_until_watching(probe)
        time.sleep(0.5)
        program.terminate()
        out = probe.communicate(timeout=20)[0]
    assert re.match(r"\[[\d:]+\] process \d+ \(leaks\) since attach ended: .* leaked \(live at exit\)\n", out)
    assert "grow_cache+" in out


def test_interval_and_count(leaks, tmp_path):
    with start_and_wait(leaks, tmp_path, 0, 5, 0) as program:
        begin = time.monotonic()
        done = memleak("-p", program.pid, "--json", 0.3, 3)
        took = time.monotonic() - begin
    assert len(reports(done)) == 3
    assert 0.9 <= took < 20


def test_signal_ends_with_a_report(leaks, tmp_path):
    with start_and_wait(leaks, tmp_path, 0, 5, 0) as program:
        probe = subprocess.Popen([paths.GPUPROBE, "memleak", "-p", str(program.pid), "--json"], text=True,
                                 stdout=subprocess.PIPE, env=environment())
        wait_until_watching(probe)
        probe.send_signal(signal.SIGINT)
        out = probe.communicate(timeout=20)[0]
    assert probe.returncode == 0
    assert json.loads(out)["final"] is True


def test_status_is_that_of_command():
    assert memleak("--", "sh", "-c", "exit 7").returncode == 7
    assert memleak("--duration", "0.2").returncode == 0


@pytest.mark.parametrize("words, complaint", [
    (["often"], "INTERVAL 'often': give seconds from 0.01 to 1000000000, such as 5 or 0.5"),
    (["0"], "INTERVAL '0': give seconds from 0.01 to 1000000000, such as 5 or 0.5"),
    (["5", "0"], "COUNT '0': give a whole number from 1 to"),
    (["5", "2", "3"], "unexpected '3': put -- before a COMMAND, see gpuprobe memleak --help"),
    (["-o", "old"], "-o, --older 'old': give milliseconds, or a time such as 500ms, 2s or 1m"),
    (["-o", "-5"], "-o, --older '-5': give milliseconds, or a time such as 500ms, 2s or 1m"),
    (["-z", "big"], "-z, --min-size 'big': give a size"),
    (["-z", "2", "-Z", "1"], "--max-size is smaller than --min-size: no allocation is both"),
    (["--stack", "deep"], "--stack 'deep': choose fp, dwarf or auto"),
    (["--stack-size", "9"], "--stack-size '9': choose 8, 16 or 32 (KiB)"),
    (["--window", "1ms"], "--window '1ms': give a time from 1s to 1440m, such as 60s"),
    (["-p", "1", "--", "true"], "--pid and a COMMAND do not go together: choose one"),
    (["-p"], "-p needs a value: see gpuprobe memleak --help"),
    (["--leaks"], "unknown option '--leaks': see gpuprobe memleak --help"),
])
def test_mistakes(words, complaint):
    done = memleak(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"gpuprobe: {complaint}")
    assert done.stderr.count("\n") == 1


def test_no_such_process():
    done = memleak("-p", 4194000)
    assert done.returncode == 1
    assert "4194000" in done.stderr


def test_help():
    done = memleak("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_more_stacks_than_are_kept(tmp_path):
    """While new ones come all the time: no site is another's, and those whose stack had to leave are together."""
    depth, rounds, kept = 8, 20, 8
    program = build(tmp_path, PATHS, *FRAMES)
    seen = set()
    for report in reports(memleak("--json", "-o", 0, "-T", 0, "--stack-storage-size", kept, "0.05", "--", program,
                                  depth, rounds, 50)):
        for process in report["processes"]:
            known = [site for site in process["sites"] if site["stack"]]
            assert len(known) <= kept
            assert sum(site["bytes"] for site in process["sites"]) == process["bytes"]
            for site in known:
                size = site["bytes"] // site["allocations"]
                assert callers(site)[1:2 * depth + 3] == expected(depth, size)
                seen.add(size)
    assert len(seen) > kept
    assert process["allocations"] == rounds << depth
    assert process["bytes"] == rounds * sum(range(1, (1 << depth) + 1))
