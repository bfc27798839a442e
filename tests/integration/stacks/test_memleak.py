# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe memleak on programs/leaks.c, whose call sites, sizes and numbers are known."""
import json
import re
import signal
import subprocess

import pytest

from lib import paths
from lib.probe import Background, environment, wait_for_file, wait_until_watching
from lib.script import PROGRAMS, script
from lib.undisturbed import undisturbed
from test_stack_modes import FRAMES, PATHS, build, expected

FREED, KEPT = 50, 8
LINE = {"grow_cache": "failures += cudaMalloc(&address, 10000);",
        "keep_one_of_ten": "failures += cudaMalloc(&address[i], 512);"}


@pytest.fixture(scope="module")
def leaks(tmp_path_factory):
    program = tmp_path_factory.mktemp("leaks") / "leaks"
    subprocess.run(["gcc", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                    "-o", program, PROGRAMS / "leaks.c", f"-L{paths.SIM}", "-l:libcudart.so.13",
                    f"-Wl,-rpath,{paths.SIM}"], check=True)
    return program


def line_of(function):
    """Where the function allocates, as the source has it."""
    text = (PROGRAMS / "leaks.c").read_text(encoding="utf-8")
    return text[:text.index(LINE[function])].count("\n") + 1


def memleak(*args):
    return subprocess.run([paths.GPUPROBE, "memleak", *map(str, args)], env=environment(),
                          text=True, capture_output=True, timeout=60, check=False)


def reports(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def process_in(report):
    assert len(report["processes"]) == 1
    return report["processes"][0]


def callers(site):
    return [frame["function"] for frame in site["stack"]["frames"]]


def sites_of(process):
    """By the function that calls cudaMalloc."""
    assert {callers(site)[0] for site in process["sites"]} <= {"cudaMalloc"}
    return {callers(site)[1]: site for site in process["sites"]}


def grown_in(report):
    """
    The site that grows, if it is there, and how many allocations only the driver's part saw: those
    that a running program makes after the driver's probes are in and before the runtime's are.
    """
    sites = [site for process in report["processes"] for site in process["sites"]]
    grown = [site for site in sites if callers(site)[:2] == ["cudaMalloc", "grow_cache"]]
    assert len(grown) <= 1
    return grown[0] if grown else None, sum(site["allocations"] for site in sites
                                            if callers(site)[0] != "cudaMalloc")


def start_and_wait(leaks, tmp_path, *args):
    """The program, once it is about to make its first call: it goes on at once."""
    ready = tmp_path / "ready"
    background = Background(*undisturbed(leaks, *args, ready))
    wait_for_file(ready)
    return background


def test_live_at_exit(leaks):
    process = process_in(reports(memleak("--json", "--", leaks, FREED, KEPT))[-1])
    assert (process["ended"], process["since_attach"]) == (True, False)
    assert process["bytes"] == process["live_at_exit_bytes"] == KEPT * 10000 + 512
    assert process["allocations"] == process["live_at_exit_allocations"] == KEPT + 1
    sites = sites_of(process)
    assert list(sites) == ["grow_cache", "keep_one_of_ten"]
    grown, kept = sites.values()
    assert (grown["bytes"], grown["allocations"], grown["allocated"],
            grown["leak"]) == (KEPT * 10000, KEPT, KEPT, False)
    assert (kept["bytes"], kept["allocations"], kept["allocated"],
            kept["leak"]) == (512, 1, 10, True)
    for name, site in sites.items():
        frame = site["stack"]["frames"][1]
        assert (frame["object"], frame["file"],
                frame["line"]) == ("leaks", str(PROGRAMS / "leaks.c"), line_of(name))
        assert "main" in callers(site)


def test_text_at_exit(leaks):
    done = memleak("--", leaks, FREED, KEPT)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"\[\d\d:\d\d:\d\d\] process \d+ \(leaks\) ended: "
                        r"78\.6 KiB in 9 allocations "
                        r"leaked \(live at exit\)", lines[0])
    assert lines[1] == "        78.1 KiB in 8 allocations"
    assert lines[2].endswith(", none freed")
    assert re.fullmatch(r" {16}cudaMalloc\+0x0 \[libcudart\.so\.13\].*", lines[3])
    assert re.fullmatch(
        rf" {{16}}grow_cache\+0x[0-9a-f]+ \[leaks\] leaks\.c:{line_of('grow_cache')}", lines[4])
    leak = lines.index("        512 bytes in 1 allocation  << leak")
    assert lines[leak + 1].endswith(", 9 of 10 freed")
    assert "churn" not in done.stdout


def test_exact_amounts(leaks):
    done = memleak("--exact", "--show-allocs", "--", leaks, FREED, KEPT)
    assert re.search(r" ended: 80,512 bytes in 9 allocations leaked \(live at exit\)\n"
                     r" {8}80,000 bytes in 8 allocations\n {12}ages [\d,]+ ns to [\d,]+ ns, none ",
                     done.stdout), done.stdout
    listed = re.findall(r"^ +0x[0-9a-f]{16}: ( *[\d,]+ bytes), [\d,]+ ns old$", done.stdout, re.M)
    assert sorted(size.strip() for size in listed) == ["10,000 bytes"] * 8 + ["512 bytes"]
    assert len({len(size) for size in listed}) == 1


def test_stacks_that_break_off(leaks, tmp_path):
    """That is said of each, and once what helps."""
    program = tmp_path / "leaks"
    subprocess.run(["gcc", "-O1", "-fomit-frame-pointer", "-o", program, PROGRAMS / "leaks.c",
                    f"-L{paths.SIM}", "-l:libcudart.so.13", f"-Wl,-rpath,{paths.SIM}"], check=True)
    done = memleak("--", program, FREED, KEPT)
    assert (
        done.stdout.count("        [callers not found]\n") == done.stdout.count(" allocation") - 1)
    assert done.stderr.count("some stacks break off at leaks: use --stack auto") == 1
    assert "break off" not in memleak("--", leaks, FREED, KEPT).stderr


def test_all_freed(leaks):
    # The one that is kept is not asked for.
    done = memleak("-z", 4096, "--", leaks, FREED, 0)
    assert re.fullmatch(r"\[[\d:]+\] process \d+ \(leaks\) ended: left out: "
                        r"512 bytes in 1 allocation live at exit\n", done.stdout)


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
    with start_and_wait(leaks, tmp_path, 0, 12000, 10000) as program:
        done = memleak("-p", program.pid, "-o", "1m", 1, 1)
    assert re.search(
        r"\] 0 call sites with live device memory; left out: \S+ \S+ in [\d,]+ "
        r"allocations? younger than 60\.0 s\n", done.stdout)


def test_growth_of_a_running_process(gpuprobe, leaks, tmp_path):
    """Started before: what is live from before attach is not known, and said to be so."""
    with start_and_wait(leaks, tmp_path, 12000, 12000, 10000) as program:
        with gpuprobe.start(base=["memleak", "--json"], interval=None,
                            args=["-p", program.pid, "--window", "2s", "-o", 0, 0.5]) as probe:
            first = probe.wait_for(lambda report: grown_in(report)[0])
            last = probe.wait_for(
                lambda report: grown_in(report)[0]["growth"]["verdict"] == "growing")
        assert program.poll() is None
    process = process_in(last)
    assert process["since_attach"] and process["growing"] == 1
    (before, driver_alone), (site, still_alone) = grown_in(first), grown_in(last)
    assert driver_alone == still_alone
    assert site["bytes"] == 10000 * site["allocations"]
    # Allocated at an even pace: as many a second as were in between the reports.
    pace = 1e9 * (site["bytes"] - before["bytes"]) / (last["boot_ns"] - first["boot_ns"])
    assert site["growth"]["bytes_per_second"] == pytest.approx(pace, rel=0.4)
    assert site["growth"]["samples"] >= 10


PINNED = '''
import time
start()
made(driver.cuMemAlloc_v2, 1 << 20)
pinned = []
while len(pinned) < 6000:
    pinned.append(made(driver.cuMemAllocHost_v2, 10000))
    time.sleep(0.01)
'''


def test_pinned_memory_that_grows(gpuprobe):
    """A loader keeps its batches: no device memory grows, and pinned memory is counted apart."""
    with gpuprobe.start(*script(PINNED), base=["memleak", "--json"], interval=None,
                        args=["--window", "2s", "-o", 0, 0.5]) as probe:
        process = probe.find(lambda report: report["processes"]
                             and report["processes"][0]["pinned"]["growing"]
                             and report["processes"][0])
    assert (process["call_sites"], process["growing"], process["bytes"]) == (1, 0, 1 << 20)
    pinned = process["pinned"]
    assert (pinned["call_sites"], pinned["growing"]) == (1, 1)
    assert pinned["bytes"] == 10000 * pinned["allocations"] > 0
    assert callers(pinned["sites"][0])[0] == "cuMemAllocHost_v2"


def test_stable_process(gpuprobe, leaks):
    """Memory comes and goes all the time, and none of it stays."""
    def judged(report):
        process = process_in(report)
        return process if all(site["growth"]["verdict"] != "unknown"
                              for site in process["sites"]) else None

    # The call sites are known with the first calls.
    with gpuprobe.start(leaks, 12000, 3, 10000, base=["memleak", "--json"], interval=None,
                        args=["--window", "2s", "-o", 0, 0.5]) as probe:
        probe.wait_for(lambda report: report["processes"] and len(process_in(report)["sites"]) >= 2)
        process = probe.find(judged)
    assert (process["ended"], process["growing"]) == (False, 0)
    for name, size in ("grow_cache", 30000), ("keep_one_of_ten", 512):
        site = sites_of(process)[name]
        assert (site["bytes"], site["growth"]["verdict"],
                site["growth"]["bytes_per_second"]) == (size, "stable", 0)


def test_processes_end(gpuprobe, leaks, tmp_path):
    """-p: its end is gpuprobe's, with what it had live."""
    with start_and_wait(leaks, tmp_path, 0, 12000, 10000) as program:
        with gpuprobe.start(base=["memleak"], interval=None,
                            args=["-p", program.pid, "-o", 0, 0.2]) as probe:
            while "grow_cache+" not in probe.line():
                pass
            program.terminate()
            result = probe.finish()
    assert result.status == 0
    last = re.search(
        r"^\[[\d:]+\] process \d+ \(leaks\) since attach ended: .* leaked \(live at exit\)\n",
        result.stdout, re.M)
    assert last and "grow_cache+" in result.stdout[last.end():]


def test_interval_and_count(leaks, tmp_path):
    with start_and_wait(leaks, tmp_path, 0, 5, 0) as program:
        done = memleak("-p", program.pid, "--json", 0.3, 5)
    times = [report["boot_ns"] for report in reports(done)]
    assert len(times) == 5
    # The first may be late, and the others come by the clock nevertheless.
    assert times == sorted(times) and times[-1] - times[0] >= 2 * 0.3e9


def test_signal_ends_with_a_report(leaks, tmp_path):
    with start_and_wait(leaks, tmp_path, 0, 5, 0) as program:
        probe = subprocess.Popen([paths.GPUPROBE, "memleak", "-p", str(program.pid), "--json"],
                                 text=True, stdout=subprocess.PIPE, env=environment())
        wait_until_watching(probe)
        probe.send_signal(signal.SIGINT)
        out = probe.communicate(timeout=60)[0]
    assert probe.returncode == 0
    assert json.loads(out)["final"] is True


def test_status_is_that_of_command():
    assert memleak("--", "sh", "-c", "exit 7").returncode == 7
    assert memleak("--duration", "0.2").returncode == 0


@pytest.mark.parametrize("words, complaint", [
    (["often"], "INTERVAL 'often': give seconds from 0.01 to 1000000000, such as 5, 0.5 or 2m"),
    (["0"], "INTERVAL '0': give seconds from 0.01 to 1000000000, such as 5, 0.5 or 2m"),
    (["5", "0"], "COUNT '0': give a whole number from 1 to"),
    (["5", "2", "3"], "unexpected '3': put -- before a COMMAND, -p before a pid, "
                      "see gpuprobe memleak --help"),
    (["-o", "old"], "-o, --older 'old': give milliseconds, or a time such as 500ms, 2s or 1m"),
    (["-o", "-5"], "-o, --older '-5': give milliseconds, or a time such as 500ms, 2s or 1m"),
    (["-z", "big"], "-z, --min-size 'big': give a size"),
    (["-z", "2", "-Z", "1"], "--max-size is smaller than --min-size: no allocation would be shown"),
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
    """While new stacks come all the time: no site is confused with another,
    and those whose stack was evicted are together."""
    depth, rounds, kept = 8, 20, 8
    program = build(tmp_path, PATHS, *FRAMES)
    seen = set()
    for report in reports(memleak("--json", "-o", 0, "-T", 0, "--stack-storage-size", kept, "0.05",
                                  "--", program, depth, rounds, 50)):
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
