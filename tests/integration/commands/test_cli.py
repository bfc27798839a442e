# SPDX-License-Identifier: BSD-2-Clause
"""The command line: what each option does, what is said where, and how gpuprobe ends."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest

from lib import leftovers, paths
from lib.cli import NOBODY, NONE, PORT_9000_TAKEN, QUICK, run
from lib.paths import workload
from lib.probe import SECTIONS, TEXT, Running, environment, wait_until_watching

pytestmark = pytest.mark.usefixtures("nothing_left")


# --- what is told on stdout ---

OPTIONS = ("--memleak", "--cudatrace", "--bandwidth-util", "--metrics-addr", "--interval",
           "--duration", "-p, --pid", "--api", "--check-launches", "--max-processes",
           "--max-allocations", "--max-kernels", "--max-inflight", "--libcudart-path",
           "--libcuda-path", "--json", "-v, --verbose", "-q, --quiet", "-h, --help",
           "-V, --version", "--top", "--full-names", "--metrics-kernels", "--threshold ID=VALUE",
           "--verdict", "--nccl")


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(option):
    done = run(option)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: gpuprobe [OPTIONS] [-- COMMAND [ARG...]]\n")
    for name in OPTIONS:
        assert name in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_version(option):
    done = run(option)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"gpuprobe \d+\.\d+\.\d+\n", done.stdout)


def test_help_needs_no_root(open_dir):
    done = subprocess.run([*NOBODY, str(open_dir / "gpuprobe"), "--help"], text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- what is shown, and when ---

def test_duration_may_be_a_fraction():
    """Not less; and one that were taken for none would never end."""
    start = time.monotonic()
    done = run("--duration", "0.4", "--display-interval", "0", *NONE)
    assert done.returncode == 0
    assert time.monotonic() - start >= 0.4


def test_interval_zero_prints_the_final_report_only():
    done = run("--duration", "0.7", "--display-interval", "0", *NONE, "--json")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["final"] for report in reports] == [True]


def test_interval_may_be_a_fraction(gpuprobe):
    """
    However late reports are on a busy machine, five reports of whole seconds never come within
    three, and there are never more than the time since the start has intervals. What is late comes
    close to the next one.
    """
    began = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    with gpuprobe.start(interval=0.25) as running:
        at = [running.report()["boot_ns"] for _ in range(8)]
        while at[-1] - at[-5] >= 3e9:
            at.append(running.report()["boot_ns"])
        result = running.stop()
    assert [report["final"]
            for report in result.reports] == [False] * (len(result.reports) - 1) + [True]
    assert len(at) <= (at[-1] - began) / 0.25e9 + 1


def test_text_report_keeps_its_shape():
    command = [paths.workload("memory"), "--pairs", "2", "--keep", "1", "--size", "4096"]
    done = run(*TEXT, "--libcuda-path", paths.LIBCUDA, "--", *command, TZ="UTC")
    rule = "========================"
    lines = [line for line in done.stdout.splitlines() if "allocations kept" not in line]
    assert lines[0] == lines[-1] == rule
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", lines[1])
    assert lines[2:8] == ["", "num_successful_mallocs:  3", "num_failed_mallocs:      0",
                          "num_successful_frees:    2", "num_failed_frees:        0",
                          "live: 0 Bytes in 0 allocations"]
    assert "total kernel launches: 0 calls of 0 kernels" in lines
    assert "copies: none" in lines


@pytest.mark.parametrize("options,sections", [
    ((), ["memory", "launches", "copies"]),
    (("--memleak",), ["memory"]),
    (("--cudatrace",), ["launches"]),
    (("--bandwidth-util",), ["copies"]),
    (("--memleak", "--bandwidth-util"), ["memory", "copies"]),
])
def test_sections(options, sections):
    done = run(*options, *QUICK, *NONE, "--json")
    assert json.loads(done.stdout)["sections"] == sections


def test_json_is_one_object_a_line(gpuprobe, tmp_path):
    os.mkfifo(tmp_path / "go")
    command = ["sh", "-c",
               f"read line <'{tmp_path}/go'; exec '{paths.workload('launch')}' --launches 3"]
    with gpuprobe.start(*command, interval=0.05, libraries=[paths.LIBCUDA]) as running:
        for _ in range(2):
            running.report()
        (tmp_path / "go").write_text("go\n", encoding="ascii")
        result = running.finish()
    reports = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(reports) > 2
    for report in reports:
        assert list(report) == ["schema", "time", "boot_ns", "final", "sections", "launch_sample",
                                "totals", "processes", "gpus", "findings", "libraries",
                                "probes_attached", "functions_missing", "lost"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", report["time"])
    # A report just before the last may have told the process's end.
    process, = next(report["processes"] for report in reversed(reports) if report["processes"])
    assert {"pid", "comm", "start_ns", "since_attach", "ended", "ended_ns", "memory", "launches",
            "graph_launches", "graph_kernels", "graph_launches_of_unknown_size", "graph_sizes",
            "captured", "first_launches", "host_functions", "objects", "sticky_error", "kernels",
            "copies", "errors", "waits", "queries", "devices", "functions", "ppid", "uid", "user",
            "container", "pod", "namespace_pid", "gpus", "verdict", "steps"} == set(process)
    assert process["comm"] == "launch"


LISTED = re.compile(r"^\s+0x[0-9a-f]{16}: \d+ Bytes", re.MULTILINE)


def text_with(running, told):
    """The first report in text that has these words."""
    while True:
        report = ""
        while not report.endswith("========================\n") or len(report) < 60:
            line = running.line()
            assert line is not None, running.stderr
            report += line
        if told in report:
            return report


def test_top_cuts_lists(gpuprobe):
    """In the first report that has all 30 allocations."""
    command = [paths.workload("memory"), "--pairs", "0", "--keep", "30", "--hold", "60"]

    def addresses(*options):
        with gpuprobe.start(*command, args=options, base=[*SECTIONS, *NONE],
                            libraries=[paths.LIBCUDA]) as running:
            first = text_with(running, "in 30 allocations")
            running.stop()
        return len(LISTED.findall(first)), first

    assert addresses()[0] == 20
    count, text = addresses("--top", "3")
    assert count == 3
    assert re.search(r"\b27 more allocations", text), text
    assert addresses("--top", "0")[0] == 30


def test_manual_names_all_commands_and_marks():
    pages = {page.stem: page.read_text(encoding="utf-8").replace("\\-", "-")
             for page in (paths.ROOT / "man").glob("*.8")}
    listed = run("--help").stdout.partition("Other commands")[2]
    synopsis, _, others = pages["gpuprobe"].partition(".SH DESCRIPTION")
    for command in re.findall(r"^  (\S+)", listed, re.MULTILINE):
        assert f".B gpuprobe {command}" in synopsis
        assert f"\\fBgpuprobe {command}\\fR" in others.partition(".SH OTHER COMMANDS")[2]
    for page, text in pages.items():
        references = text.partition(".SH SEE ALSO")[2]
        assert all(f".BR {other} (8)" in references for other in pages if other != page)
    for mark in ("[stack not known]", "[callers not found]", "[truncated]", "[more Python frames]",
                 "[Python code 0x"):
        assert mark in others


def test_full_names():
    command = [paths.workload("launch"), "--launches", "2", "--name-prefix", "_ZN3foo3barIiEEvT_"]
    arguments = (*TEXT, "--libcuda-path", paths.LIBCUDA)
    short = run(*arguments, "--", *command)
    full = run(*arguments, "--full-names", "--", *command)
    assert short.returncode == full.returncode == 0
    assert "foo" in full.stdout
    assert len(re.search(r"0x\S+ \((.*)\) -> 2", short.stdout)[1]) <= \
        len(re.search(r"0x\S+ \((.*)\) -> 2", full.stdout)[1])


# --- what is said on stderr ---

def test_quiet_and_verbose(sleeper):
    def told(*options):
        return run(*QUICK, *options, "-p", sleeper, "--libcuda-path", paths.LIBCUDA,
                   before=PORT_9000_TAKEN)

    normal, quiet, verbose, more = told(), told("--quiet"), told("-v"), told("-v", "--verbose")
    assert all(done.returncode == 0 for done in (normal, quiet, verbose, more))
    assert "gpuprobe: warning: cannot serve metrics on 0.0.0.0:9000" in normal.stderr
    assert quiet.stderr == ""
    assert re.search(r"libcuda\.so\.1: \d+ functions probed", verbose.stderr)
    assert "functions probed" not in normal.stderr
    assert len(more.stderr) > len(verbose.stderr)


def test_no_library_is_said(sleeper, tmp_path):
    """Without any CUDA library on the machine gpuprobe waits, and says so."""
    subprocess.run(["/sbin/ldconfig", "-X", "-f", "/dev/null", "-C", tmp_path / "cache"],
                   check=True)
    hide = f"mount --bind {tmp_path}/cache /etc/ld.so.cache; " \
           "for d in /usr/local/nvidia/lib64 /usr/local/cuda/lib64; do " \
           "[ -d $d ] && mount -t tmpfs none $d; done; " \
           "! ls /usr/lib/x86_64-linux-gnu/libcuda*.so* >/dev/null 2>&1 || exit 77; exec \"$@\""
    before = ["unshare", "-m", "sh", "-c", hide, "sh"]
    done = run("-p", sleeper, "--duration", "0.3", "--display-interval", "0", *NONE, before=before)
    if done.returncode == 77:
        pytest.skip("this machine has CUDA libraries where they cannot be hidden")
    assert done.returncode == 0
    assert done.stderr.startswith("gpuprobe: warning: no CUDA library found yet: "
                                  "waiting for a process that loads one\n")
    quiet = run("-q", "-p", sleeper, *QUICK, *NONE, before=before)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    argv = [*before, str(paths.GPUPROBE), "-q", "-p", str(sleeper), "--display-interval", "0.1",
            *NONE, *SECTIONS]
    with Running(argv, environment(), tmp_path, None) as early:
        text_with(early, "no CUDA library found yet")
        early.stop()


# --- what is attached ---

def test_api_chooses_layers(sleeper):
    def attached(api):
        done = run(*QUICK, *NONE, "--json", "-p", sleeper, "--api", api, "--libcuda-path",
                   paths.LIBCUDA, "--libcudart-path", paths.LIBCUDART)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["probes_attached"]

    auto, driver, runtime, both = (attached(api) for api in ("auto", "driver", "runtime", "both"))
    assert driver["driver"] == both["driver"] == auto["driver"] > 60
    assert driver["runtime"] == runtime["driver"] == 0
    assert 0 < auto["runtime"] < runtime["runtime"] == both["runtime"]


@pytest.mark.parametrize("option", ["--libcuda-path", "--libcudart-path"])
def test_library_paths_repeat(option, sleeper, tmp_path):
    quick = [*QUICK, *NONE, "--json", "-p", sleeper]
    copies = []
    for i in range(3):
        copies += [option, shutil.copy(paths.LIBCUDA, tmp_path / f"copy{i}.so")]
    base = json.loads(run(*quick).stdout)
    done = json.loads(run(*quick, *copies).stdout)
    assert done["libraries"] - base["libraries"] == 3
    # The same file again, by another name, is not another library.
    os.link(tmp_path / "copy0.so", tmp_path / "hard.so")
    os.symlink("copy1.so", tmp_path / "soft.so")
    again = json.loads(run(*quick, *copies, option, tmp_path / "hard.so", option,
                           tmp_path / "soft.so").stdout)
    assert again["libraries"] == done["libraries"]
    assert again["probes_attached"] == done["probes_attached"]


@pytest.mark.parametrize("words", [[*NONE, "--display-interval", "0"], ["memleak"], ["trace", "-c"],
                                   ["stat"], ["diagnose", "--json"], ["flame", "--by", "bytes"]])
class TestOutputThatTakesNothing:
    @staticmethod
    def run(words, redirection):
        return subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", paths.GPUPROBE,
                               *words, "--", paths.SIM / "memory", "--pairs", "3", "--keep", "2"],
                              env=environment(), text=True, capture_output=True, timeout=60,
                              check=False)

    def test_full_disk(self, words):
        done = self.run(words, ">/dev/full")
        assert done.returncode == 1
        assert "gpuprobe: cannot write standard output: No space left on device\n" in done.stderr

    def test_closed(self, words):
        done = self.run(words, ">&-")
        assert (done.returncode, done.stderr) == (1, "gpuprobe: standard output is closed\n")

    def test_closed_input_and_errors(self, words):
        done = self.run(words, "<&- 2>&-")
        assert done.returncode == 0
        assert "cudaMalloc" in done.stdout or "live at exit" in done.stdout


def test_capacities_size_the_maps():
    capacities = {"process_of": ("--max-processes", 71), "allocations": ("--max-allocations", 73),
                  "launches": ("--max-kernels", 75), "streams": ("--max-inflight", 77)}
    options = [str(word) for pair in capacities.values() for word in pair]
    process = subprocess.Popen([str(paths.GPUPROBE), *options, *NONE, "--display-interval", "0"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_until_watching(process)
        held = {number for kind, number in leftovers.objects_of(process.pid) if kind == "map"}
        sizes = {m["name"]: m["max_entries"] for m in leftovers.bpftool("map") if m["id"] in held}
        for map_name, (option, capacity) in capacities.items():
            assert sizes[map_name] == capacity, option
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_pid_repeats(gpuprobe):
    """Only the processes that are named, and their children, are shown."""
    holder = [paths.workload("idle-holder"), "--seconds", "300", "--then-launch", "5"]
    holders = [subprocess.Popen(holder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
               for _ in range(3)]
    try:
        for each in holders:
            assert each.stdout.readline() == "READY\n"
        with gpuprobe.start(args=["-p", holders[0].pid, "--pid", holders[1].pid]) as running:
            running.report()
            for each in holders:
                print("go", file=each.stdin, flush=True)
                assert each.stdout.readline() == "DONE\n"
            result = running.stop()
    finally:
        for each in holders:
            each.kill()
            each.wait()
    assert {p["pid"]: p["launches"] for p in result.processes} == \
        {holders[0].pid: 5, holders[1].pid: 5}


def test_check_launches_is_said():
    def sample(*options, **env):
        return json.loads(run(*QUICK, *NONE, "--json", *options, **env).stdout)["launch_sample"]

    assert sample("--check-launches") == 1


def test_launches_are_not_checked_without_sessions(tracefs):
    done = run(*QUICK, *NONE, "--json", GPUPROBE_LINKS="perf")
    assert json.loads(done.stdout)["launch_sample"] == 0


def test_unchecked_launches_are_no_successes(missing_links):
    """Failing launches that are not looked at: the report says so, since it does not list them."""
    if "multi" in missing_links:
        pytest.skip("this kernel has no multi links")

    def report(*options, links):
        return run("--metrics-addr", "none", "--display-interval", "0",
                   *options, "--", workload("launch"), "--launches", "10",
                   "--bad", "5", GPUPROBE_LINKS=links).stdout

    said = "whether launches failed was not looked at"
    without = report(links="multi")
    assert said in without and "cudaLaunchKernel" not in without and "cuLaunchKernel" not in without
    checked = report("--check-launches", links="multi")
    assert said not in checked and "cuLaunchKernel" in checked
    if "session" not in missing_links:
        assert said not in report(links="session")


# --- how it ends ---

def test_reader_goes_away():
    """A closed stdout ends gpuprobe and leaves nothing."""
    process = subprocess.Popen([str(paths.GPUPROBE), *NONE, "--display-interval", "0.1"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
    process.stdout.readline()
    process.stdout.close()
    process.wait(timeout=60)
    assert process.returncode in (0, 1)
    process.stderr.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_with_a_final_report(number, gpuprobe):
    with gpuprobe.start(interval=0.1) as running:
        running.report()
        result = running.stop(number)
    assert result.status == 0
    assert result.final["final"]
