# SPDX-License-Identifier: BSD-2-Clause
"""The command line: what each option does, and how gpuprobe fails."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from lib import folders, leftovers, paths
from lib.paths import workload
from lib.probe import environment

pytestmark = pytest.mark.usefixtures("nothing_left")

QUICK = ("--duration", "0.1", "--display-interval", "0")
NONE = ("--metrics-addr", "none")
CAPABILITIES = ("bpf", "perfmon", "sys_ptrace", "dac_read_search")
PORT_9000 = pytest.mark.alone("a gpuprobe beside it may have the port, and end")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def run(*args, before=(), timeout=30, **env):
    """Runs gpuprobe to its end; `before` are words in front of the command."""
    return subprocess.run([*before, str(paths.GPUPROBE), *map(str, args)], env=environment(**env), text=True,
                          capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, check=False)


def fails(done, status, *words):
    """It failed with one line on stderr, that has all of the words, and printed nothing else."""
    assert done.returncode == status, done
    assert done.stdout == ""
    assert re.fullmatch(r"gpuprobe: [^\n]+\n", done.stderr), done.stderr
    for word in words:
        assert word in done.stderr


@pytest.fixture
def open_dir():
    """A directory that every user can read, with gpuprobe and the simulated libraries in it."""
    with folders.private("launch", gpuprobe=True) as directory:
        yield directory


@pytest.fixture
def sleeper():
    """A process that does nothing, for gpuprobe to watch and nothing else."""
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


# --- what is told on stdout ---

OPTIONS = ("--memleak", "--cudatrace", "--bandwidth-util", "--metrics-addr", "--display-interval", "--duration",
           "-p, --pid", "--api", "--check-launches", "--max-processes", "--max-allocations", "--max-kernels",
           "--max-inflight", "--libcudart-path", "--libcuda-path", "--json", "-v, --verbose", "-q, --quiet",
           "-h, --help", "-V, --version", "--top", "--full-names", "--metrics-kernels", "--threshold ID=VALUE")


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
    done = subprocess.run([*NOBODY, str(open_dir / "gpuprobe"), "--help"], text=True, capture_output=True,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")


# --- what is shown, and when ---

def test_duration_may_be_a_fraction():
    start = time.monotonic()
    done = run("--duration", "0.4", "--display-interval", "0", *NONE)
    took = time.monotonic() - start
    assert done.returncode == 0
    assert 0.4 <= took < 10


def test_interval_zero_prints_the_final_report_only():
    done = run("--duration", "0.7", "--display-interval", "0", *NONE, "--json")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["final"] for report in reports] == [True]


def test_interval_may_be_a_fraction():
    done = run("--duration", "4.1", "--display-interval", "0.25", *NONE, "--json")
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report["final"] for report in reports[:-1]] == [False] * (len(reports) - 1)
    assert reports[-1]["final"]
    # One that is very late on a busy machine stands for the next as well. With whole seconds there would be five, or one.
    assert 7 <= len(reports) <= 17


def test_text_report_keeps_its_shape():
    command = [paths.workload("memory"), "--pairs", "2", "--keep", "1", "--size", "4096"]
    done = run(*NONE, "--display-interval", "0", "--libcuda-path", paths.LIBCUDA, "--", *command, TZ="UTC")
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


def test_json_is_one_object_a_line():
    command = [paths.workload("launch"), "--launches", "3"]
    done = run(*NONE, "--display-interval", "0.05", "--json", "--libcuda-path", paths.LIBCUDA, "--",
               "sh", "-c", 'sleep 0.7; exec "$@" >&2', "sh", *command)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(reports) > 2
    for report in reports:
        assert list(report) == ["schema", "time", "boot_ns", "final", "sections", "launch_sample", "totals",
                                "processes", "gpus", "findings", "libraries", "probes_attached",
                                "functions_missing", "lost"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", report["time"])
    # A report just before the last may have told the process's end.
    process, = next(report["processes"] for report in reversed(reports) if report["processes"])
    assert {"pid", "comm", "start_ns", "since_attach", "ended", "ended_ns", "memory", "launches",
            "graph_launches", "graph_kernels", "graph_launches_of_unknown_size", "graph_sizes", "captured",
            "first_launches", "host_functions", "objects", "sticky_error", "kernels", "copies", "errors", "waits", "queries", "devices", "functions",
            "ppid", "uid", "user", "container", "pod", "namespace_pid", "gpus"} == set(process)
    assert process["comm"] == "launch"


LISTED = re.compile(r"^\s+0x[0-9a-f]{16}: \d+ Bytes", re.MULTILINE)


def test_top_cuts_lists():
    """In the first report that has all 30 allocations."""
    command = [paths.workload("memory"), "--pairs", "0", "--keep", "30", "--hold", "0.8"]
    arguments = (*NONE, "--display-interval", "0.25", "--libcuda-path", paths.LIBCUDA)

    def addresses(*options):
        done = run(*arguments, *options, "--", *command)
        reports = done.stdout.split("========================")
        first = next(report for report in reports if "in 30 allocations" in report)
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
    for mark in "[stack not known]", "[callers not found]", "[truncated]", "[more Python frames]", "[Python code 0x":
        assert mark in others


def test_full_names():
    command = [paths.workload("launch"), "--launches", "2", "--name-prefix", "_ZN3foo3barIiEEvT_"]
    arguments = (*NONE, "--display-interval", "0", "--libcuda-path", paths.LIBCUDA)
    short = run(*arguments, "--", *command)
    full = run(*arguments, "--full-names", "--", *command)
    assert short.returncode == full.returncode == 0
    assert "foo" in full.stdout
    assert len(re.search(r"0x\S+ \((.*)\) -> 2", short.stdout)[1]) <= \
        len(re.search(r"0x\S+ \((.*)\) -> 2", full.stdout)[1])


# --- what is said on stderr ---

@PORT_9000
def test_quiet_and_verbose():
    with socket.create_server(("0.0.0.0", 9000)) if port_is_free() else _taken():
        normal = run(*QUICK)
        quiet = run(*QUICK, "--quiet")
        verbose = run(*QUICK, "-v", "--libcuda-path", paths.LIBCUDA)
        more = run(*QUICK, "-v", "--verbose", "--libcuda-path", paths.LIBCUDA)
    assert all(done.returncode == 0 for done in (normal, quiet, verbose, more))
    assert "gpuprobe: warning: cannot serve metrics on 0.0.0.0:9000" in normal.stderr
    assert quiet.stderr == ""
    assert re.search(r"libcuda\.so\.1: \d+ functions probed", verbose.stderr)
    assert "functions probed" not in normal.stderr
    assert len(more.stderr) > len(verbose.stderr)


def test_quiet_does_not_hide_errors():
    fails(run("-q", "--libcuda-path", "/nonexistent"), 1, "/nonexistent")
    fails(run("-q", "--bogus"), 2, "--bogus")


def test_no_library_is_said(sleeper, tmp_path):
    """Without any CUDA library on the machine gpuprobe waits, and says so."""
    subprocess.run(["/sbin/ldconfig", "-X", "-f", "/dev/null", "-C", tmp_path / "cache"], check=True)
    hide = f"mount --bind {tmp_path}/cache /etc/ld.so.cache; " \
           "for d in /usr/local/nvidia/lib64 /usr/local/cuda/lib64; do " \
           "[ -d $d ] && mount -t tmpfs none $d; done; " \
           "! ls /usr/lib/x86_64-linux-gnu/libcuda*.so* >/dev/null 2>&1 || exit 77; exec \"$@\""
    before = ["unshare", "-m", "sh", "-c", hide, "sh"]
    done = run("-p", sleeper, "--duration", "0.3", "--display-interval", "0", *NONE, before=before)
    if done.returncode == 77:
        pytest.skip("this machine has CUDA libraries where they cannot be hidden")
    assert done.returncode == 0
    assert done.stderr == "gpuprobe: warning: no CUDA library found yet: waiting for a process that loads one\n"
    quiet = run("-q", "-p", sleeper, *QUICK, *NONE, before=before)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    early = run("-q", "-p", sleeper, "--duration", "0.3", "--display-interval", "0.1", *NONE, before=before)
    assert "no CUDA library found yet" in early.stdout


def port_is_free():
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", 9000))
        except OSError:
            return False
    return True


class _taken:
    """The port is someone else's: as good for these tests as our own socket on it."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False


# --- what is attached ---

def test_api_chooses_layers(sleeper):
    def attached(api):
        done = run(*QUICK, *NONE, "--json", "-p", sleeper, "--api", api, "--libcuda-path", paths.LIBCUDA,
                   "--libcudart-path", paths.LIBCUDART)
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
    again = json.loads(run(*quick, *copies, option, tmp_path / "hard.so", option, tmp_path / "soft.so").stdout)
    assert again["libraries"] == done["libraries"]
    assert again["probes_attached"] == done["probes_attached"]


@pytest.mark.parametrize("words", [[*NONE, "--display-interval", "0"], ["memleak"], ["trace", "-c"], ["stat"],
                                   ["diagnose", "--json"], ["flame", "--by", "bytes"]])
class TestOutputThatTakesNothing:
    @staticmethod
    def run(words, redirection):
        return subprocess.run(["bash", "-c", f'"$@" {redirection}', "bash", paths.GPUPROBE, *words, "--",
                               paths.SIM / "memory", "--pairs", "3", "--keep", "2"], env=environment(),
                              text=True, capture_output=True, timeout=60, check=False)

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
        assert "cudaMalloc" in done.stdout or "num_successful_mallocs" in done.stdout


@pytest.mark.parametrize("option,map_name", [
    ("--max-processes", "process_of"),
    ("--max-allocations", "allocations"),
    ("--max-kernels", "launches"),
    ("--max-inflight", "streams"),
])
def test_capacities_size_the_maps(option, map_name):
    process = subprocess.Popen([str(paths.GPUPROBE), option, "77", *NONE, "--display-interval", "0"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 60
        sizes = {}
        while map_name not in sizes and time.monotonic() < end:
            held = {number for kind, number in leftovers.objects_of(process.pid) if kind == "map"}
            sizes = {m["name"]: m["max_entries"] for m in leftovers.bpftool("map") if m["id"] in held}
        assert sizes[map_name] == 77
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_pid_repeats(gpuprobe):
    """Only the processes that are named, and their children, are shown."""
    holder = [paths.workload("idle-holder"), "--seconds", "30", "--then-launch", "5"]
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
    assert {p["pid"]: p["launches"] for p in result.final["processes"]} == \
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
        return run("--metrics-addr", "none", "--display-interval", "0", *options, "--", workload("launch"), "--launches", "10",
                   "--bad", "5", GPUPROBE_LINKS=links).stdout

    said = "whether launches failed was not looked at"
    without = report(links="multi")
    assert said in without and "cudaLaunchKernel" not in without and "cuLaunchKernel" not in without
    checked = report("--check-launches", links="multi")
    assert said not in checked and "cuLaunchKernel" in checked
    if "session" not in missing_links:
        assert said not in report(links="session")


# --- usage errors: exit 2 ---

@pytest.mark.parametrize("arguments,words", [
    (("--bogus",), ("--bogus", "gpuprobe --help")),
    (("-x",), ("'-x'", "gpuprobe --help")),
    (("-qx",), ("'-x'", "gpuprobe --help")),
    (("--json=yes",), ("--json=yes", "gpuprobe --help")),
    (("--max-", "3"), ("--max-", "gpuprobe --help")),
    (("train.py",), ("train.py", "put -- before a COMMAND")),
    (("--json", "train.py", "--", "ls"), ("train.py", "--")),
    (("--",), ("no COMMAND after --",)),
    (("--json", "--"), ("no COMMAND after --",)),
    (("-p", "1", "--", "true"), ("--pid", "COMMAND", "choose one")),
])
def test_usage(arguments, words):
    fails(run(*arguments), 2, *words)


@pytest.mark.parametrize("option", [
    "--metrics-addr", "--display-interval", "--duration", "-p", "--pid", "--api", "--max-processes",
    "--max-allocations", "--max-kernels", "--max-inflight", "--libcudart-path", "--libcuda-path", "--top",
    "--metrics-kernels",
])
def test_missing_value(option):
    fails(run(option), 2, option, "needs a value", "gpuprobe --help")


@pytest.mark.parametrize("option,values,words", [
    ("--display-interval", ("-1", "x", "", "1s", "nan", "inf", "1e300", "0.000001"), ("give seconds",)),
    ("--duration", ("-1", "x", "", "1s", "nan", "inf", "1e300"), ("give seconds",)),
    ("--pid", ("0", "-1", "x", "", "1.5", "99999999999999999999"), ("whole number",)),
    ("--api", ("", "cuda", "AUTO", "driver,runtime"), ("auto, driver, runtime or both",)),
    ("--max-processes", ("0", "-1", "x", "", "1e3", "99999999999999999999"), ("whole number from 1",)),
    ("--max-allocations", ("0", "-1", "x"), ("whole number from 1",)),
    ("--max-kernels", ("0", "-1", "x"), ("whole number from 1",)),
    ("--max-inflight", ("0", "-1", "x"), ("whole number from 1",)),
    ("--top", ("-1", "x", ""), ("whole number from 0",)),
    ("--metrics-kernels", ("-1", "x", ""), ("whole number from 0",)),
    ("--metrics-addr", ("", "9000", "localhost", "localhost:", "localhost:http", "127.0.0.1:65536", "::1:9000",
                        "[::1:9000", "127.0.0.1:-1"), ("ADDRESS:PORT", "none")),
])
def test_bad_value(option, values, words):
    for value in values:
        fails(run(f"{option}={value}", *QUICK), 2, option, *words)


@pytest.mark.parametrize("option", ["--min-wait=1ms", "--stack-sample=1", "--stack-storage-size=9", "--stack-size=8"])
def test_options_of_stacks_without_stacks(option):
    fails(run(option, *QUICK), 2, f"{option.partition('=')[0]} has no effect with --stack off")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["trace", "--list-functions"],
                                       ["trace", "--json-schema"], ["diagnose", "--list"]])
def test_a_full_disk_is_said(arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([paths.GPUPROBE, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "gpuprobe: cannot write to standard output: No space left on device\n")


@pytest.mark.parametrize("option", ["--api", "--max-kernels", "--metrics-addr"])
def test_a_long_value_leaves_room_for_what_to_do(option):
    fails(run(option, "x" * 100000), 2, "x" * 80)
    assert run(option, "x" * 100000).stderr.rstrip("\n")[-1] != "x"


def test_min_wait_may_be_0():
    assert "'x'" in run("diagnose", "--min-wait", "0", "--duration", "x").stderr


def test_an_error_stays_one_line():
    fails(run("--api", "a\nb\x1b[31m"), 2, r"a\nb\x1b[31m")
    fails(run("--libcuda-path", "/a\nb"), 1, r"/a\nb")


# --- other errors: exit 1 ---

def test_not_root(open_dir):
    def as_nobody(*args):
        return subprocess.run([*NOBODY, str(open_dir / "gpuprobe"), *args], env=environment(), text=True,
                              capture_output=True, timeout=30, check=False)

    fails(as_nobody(*QUICK, *NONE), 1, "run as root", "CAP_BPF", "CAP_PERFMON")
    fails(as_nobody(*NONE, "--", "echo", "ran"), 1, "run as root")


@pytest.mark.parametrize("missing", ["bpf", "perfmon"])
def test_lacking_a_capability(missing):
    # CAP_SYS_ADMIN stands for both.
    before = ["setpriv", f"--bounding-set=-{missing},-sys_admin", "--"]
    fails(run(*QUICK, *NONE, before=before), 1, f"CAP_{missing.upper()}", "run as root")


@pytest.mark.parametrize("kind", ["session", "multi"])
def test_four_capabilities_are_enough(kind, open_dir, missing_links):
    """A user without root: CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH."""
    if kind in missing_links:
        pytest.skip(f"this kernel has no {kind} links")
    plus = ",".join(f"+{c}" for c in CAPABILITIES)
    before = [*NOBODY, f"--inh-caps={plus}", f"--ambient-caps={plus}", "--"]
    command = [str(open_dir / "gpuprobe"), "--json", *NONE, "--display-interval", "0", "--",
               "sh", "-c", '"$@" >&2; id -u >&2', "sh", str(open_dir / "launch"), "--launches", "17"]
    done = subprocess.run([*before, *command], env=environment(GPUPROBE_LINKS=kind), text=True,
                          capture_output=True, timeout=30, check=False)
    assert done.returncode == 0, done.stderr
    assert "65534\n" in done.stderr
    assert sum(p["launches"] for p in json.loads(done.stdout)["processes"]) == 17


def test_four_capabilities_find_running_processes(open_dir):
    """Also those of another user, through their memory maps."""
    holder = subprocess.Popen([paths.workload("idle-holder"), "--seconds", "30", "--then-launch", "6"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    plus = ",".join(f"+{c}" for c in CAPABILITIES)
    watch = subprocess.Popen([*NOBODY, f"--inh-caps={plus}", f"--ambient-caps={plus}", "--",
                              str(open_dir / "gpuprobe"), "--json", *NONE, "--display-interval", "0.1",
                              "-p", str(holder.pid)], env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "READY\n"
        json.loads(watch.stdout.readline())
        print("go", file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "DONE\n"
        watch.send_signal(signal.SIGINT)
        last = json.loads(watch.communicate(timeout=20)[0].splitlines()[-1])
    finally:
        for process in (holder, watch):
            process.kill()
            process.wait()
    process, = last["processes"]
    assert (process["launches"], process["since_attach"]) == (6, True)


def test_tracefs_needs_more(open_dir, tracefs):
    """The path of old kernels cannot do with the four; it says what is missing."""
    plus = ",".join(f"+{c}" for c in CAPABILITIES)
    done = subprocess.run([*NOBODY, f"--inh-caps={plus}", f"--ambient-caps={plus}", "--",
                           str(open_dir / "gpuprobe"), *QUICK, *NONE],
                          env=environment(GPUPROBE_LINKS="perf"), text=True, capture_output=True, timeout=30,
                          check=False)
    # What the five would bring is a warning.
    warning, done.stderr = done.stderr.split("\n", 1)
    assert warning.startswith("gpuprobe: warning: without CAP_CHECKPOINT_RESTORE: ")
    fails(done, 1, "uprobe_events", "CAP_SYS_ADMIN")


def test_no_btf():
    hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"]
    fails(run(*QUICK, *NONE, before=hide), 1, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")


@pytest.mark.parametrize("release,works", [
    ("4.19.0-20-amd64", False), ("5.16.18", False), ("5.17.0-rc1", True), ("6.1.0-13-amd64", True),
    # Return probes are tried first there.
    ("6.12.4", True),
    ("10.0.0", True),
])
def test_kernel_too_old(release, works, tmp_path):
    library = tmp_path / "uname.so"
    source = Path(__file__).parent / "programs" / "uname.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = run(*QUICK, *NONE, LD_PRELOAD=library, FAKE_RELEASE=release)
    if works:
        assert done.returncode == 0, done.stderr
    else:
        fails(done, 1, release, "too old", "5.17")


@pytest.mark.parametrize("option", ["--libcuda-path", "--libcudart-path"])
def test_library_that_is_none(option, tmp_path):
    (tmp_path / "text.so").write_text("no ELF file\n" * 100)
    (tmp_path / "empty.so").write_bytes(b"")
    cut = paths.LIBCUDA.read_bytes()
    (tmp_path / "cut.so").write_bytes(cut[:3000])
    (tmp_path / "header.so").write_bytes(cut[:64])
    os.mkfifo(tmp_path / "fifo.so")
    for name, words in [("missing.so", ("No such file",)), ("text.so", ("not an ELF file",)),
                        ("empty.so", ("not an ELF file",)), ("cut.so", ()), ("header.so", ()),
                        ("fifo.so", ("not a regular file",)), (".", ("not a regular file",)),
                        ("text.so/x", ("Not a directory",))]:
        path = tmp_path / name if name != "." else tmp_path
        fails(run(option, path, *QUICK, *NONE), 1, str(path), *words, option)
    fails(run(option, "/bin/true", *QUICK, *NONE), 1, "/bin/true", "not a CUDA library", option)


def test_one_bad_library_among_good_ones():
    fails(run("--libcuda-path", paths.LIBCUDA, "--libcudart-path", "/bin/true", *QUICK, *NONE), 1, "/bin/true")


def test_port_in_use():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        fails(run("--metrics-addr", address, *QUICK), 1, address, "in use", "--metrics-addr")


@PORT_9000
def test_default_port_in_use_is_a_warning():
    with socket.create_server(("0.0.0.0", 9000)) if port_is_free() else _taken():
        done = run(*QUICK)
    assert done.returncode == 0
    assert done.stdout.count("========================") == 2
    assert re.fullmatch(r"gpuprobe: warning: [^\n]*0\.0\.0\.0:9000[^\n]*without metrics\n", done.stderr)


@PORT_9000
def test_named_default_port_in_use_is_an_error():
    with socket.create_server(("0.0.0.0", 9000)) if port_is_free() else _taken():
        fails(run("--metrics-addr", "0.0.0.0:9000", *QUICK), 1, "0.0.0.0:9000", "in use")


def test_address_of_another_machine():
    fails(run("--metrics-addr", "192.0.2.1:9000", *QUICK), 1, "192.0.2.1:9000", "--metrics-addr")


def test_no_such_command(tmp_path):
    fails(run(*NONE, "--", "no-such-command-anywhere"), 1, "no-such-command-anywhere", "PATH")
    fails(run(*NONE, "--", "/nonexistent/command"), 1, "/nonexistent/command")
    fails(run(*NONE, "--", ""), 1, "cannot run '': no such command")
    (tmp_path / "data").write_text("x")
    fails(run(*NONE, "--", tmp_path / "data"), 1, "data", "Permission denied")
    fails(run(*NONE, "--", tmp_path), 1, "Permission denied")


def test_no_such_pid():
    process = subprocess.Popen(["true"])
    process.wait()
    fails(run("-p", process.pid, *QUICK, *NONE), 1, str(process.pid), "no process")
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    fails(run("-p", zombie.pid, *QUICK, *NONE), 1, str(zombie.pid))
    zombie.wait()


@pytest.mark.parametrize("word", ["nonsense", "tracefs", "Session", "perf,multi"])
def test_links_nonsense(word):
    fails(run(*QUICK, *NONE, GPUPROBE_LINKS=word), 1, "GPUPROBE_LINKS", word, "session, multi or perf")


def test_empty_links_is_none():
    assert run(*QUICK, *NONE, GPUPROBE_LINKS="").returncode == 0


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
