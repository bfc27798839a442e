# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe stat against the simulator's truth file: counts and bytes exactly,
times within the cost of a probe."""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter

import pytest

from lib import api, paths, terminal
from lib.probe import Background, Probe, environment
from lib.profile_runs import Programs, by_scenario
from lib.truth import read_truths

CLASSES = ("launch", "memory", "copy", "wait", "other")


def stat(*args, env=None):
    return subprocess.run([paths.GPUPROBE, "stat", *map(str, args)], env=environment(**(env or {})),
                          text=True, capture_output=True, timeout=60, check=False)


def reports(done):
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"schema"')]


def only_process(report):
    assert len(report["processes"]) == 1
    return report["processes"][0]


PROGRAMS = Programs()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return by_scenario(Probe(tmp_path_factory.mktemp("stat")), PROGRAMS.scenarios)


@pytest.fixture
def ran(runs, request):
    """The process of the test's own program, and the truth."""
    process, truth, _ = runs[request.node.name]
    return process, truth


def functions(process):
    return {function["function"]: function for function in process["functions"]}


def expect_functions(process, truth, *names):
    """
    Calls and errors are exact; a call's time is the simulator's time inside plus that of the
    probes, in which the thread may have had to wait for a processor.
    """
    seen = functions(process)
    for name in names:
        true = truth.data[api.functions()[name].layer][name]
        function = seen[name]
        assert (function["calls"], function["errors"]) == (true["calls"], true["failures"]), name
        assert (true["ns"] <= function["total_ns"]
                <= 1.1 * true["ns"] + 20_000 * true["calls"] + 20_000_000), name
        assert function["average_ns"] == function["total_ns"] // function["calls"]
        assert (0 < function["p50_ns"] <= function["p99_ns"] <= function["max_ns"]
                <= function["total_ns"])


def expect_times(process):
    """A thread's parts are its whole, and the threads' together the process's."""
    sums = Counter()
    for thread in process["threads"]:
        assert thread["inside_ns"] == sum(thread["time"][name]["ns"] for name in CLASSES)
        assert thread["wall_ns"] == thread["inside_ns"] + thread["outside_ns"]
        for name in CLASSES:
            sums[name] += thread["time"][name]["ns"]
        sums["wall"] += thread["wall_ns"]
    assert process["unlisted_threads"]["count"] == 0
    everything = process["all_threads"]
    assert everything["count"] == len(process["threads"])
    assert everything["wall_ns"] == sums["wall"]
    assert {name: everything["time"][name]["ns"]
            for name in CLASSES} == {name: sums[name] for name in CLASSES}


@PROGRAMS.of_test([paths.workload("launch"), "--threads", 3, "--launches", 700, "--kernels", 5],
                  {"CUDA_SIM_LATENCY": "cuLaunchKernel=20us"})
def test_launches(ran):
    process, truth = ran
    expect_functions(process, truth, "cuLaunchKernel", "cuStreamSynchronize", "cuStreamCreate")
    expect_times(process)
    launching = [thread for thread in process["threads"] if thread["launches"]]
    assert [(t["launches"], t["gap_count"], t["time"]["launch"]["calls"])
            for t in launching] == [(700, 699, 700)] * 3
    for thread in launching:
        # A wait at the end, of 700 launches.
        assert thread["batch_waits"]["calls"] == 1
        assert 0 < thread["gap_p50_ns"] <= thread["gap_p99_ns"] < thread["wall_ns"]
        assert thread["time"]["launch"]["ns"] >= 700 * 20_000
        assert thread["time"]["launch"]["ns"] + thread["gap_ns"] < thread["wall_ns"]
    assert sum(t["time"]["launch"]["ns"]
               for t in launching) == functions(process)["cuLaunchKernel"]["total_ns"]
    assert {k["name"]: k["launches"] for k in process["kernels"]} == truth.launches()
    assert sum(k["launches"] for k in process["kernels"]) == 2100
    assert [k["name"] for k in process["kernels"]] == [k["name"] for k in sorted(
        process["kernels"], key=lambda k: (-k["launches"], int(k["name"].split("_")[1])))]
    for kernel in process["kernels"]:
        assert kernel["shape"]["gaps"] > 0
        low, high = kernel["shape"]["gap_range_ns"]
        assert low <= kernel["shape"]["gap_ns"] / kernel["shape"]["gaps"] <= high


@PROGRAMS.of_test([paths.workload("copy"), "--threads", 2, "--count", 30, "--bytes", 12288])
def test_copies(ran):
    process, truth = ran
    expect_functions(process, truth, "cuMemcpyHtoD_v2", "cuMemcpyDtoHAsync_v2", "cuMemsetD8_v2",
                     "cuMemcpyPeer")
    expect_times(process)
    by_totals = {(c["kind"], c["mode"]): (c["calls"], c["bytes"]) for c in process["copies"]
                 if c["calls"]}
    by_sizes = Counter(), Counter()
    for copies in process["copy_sizes"]:
        for size in copies["sizes"]:
            assert size["from_bytes"] == 8192
            by_sizes[0][copies["kind"], copies["mode"]] += size["calls"]
            by_sizes[1][copies["kind"], copies["mode"]] += size["bytes"]
    assert {key: (by_sizes[0][key], by_sizes[1][key]) for key in by_sizes[0]} == by_totals
    assert all(size == calls * 12288 for calls, size in by_totals.values())
    assert {copies["host"] for copies in process["copy_sizes"]
            if copies["kind"] in ("H2D", "D2H")} == {"pinned"}


@PROGRAMS.of_test([paths.workload("memory"), "--pairs", 400, "--size", "1M", "--keep", 7])
def test_memory(ran):
    process, truth = ran
    expect_functions(process, truth, "cudaMalloc", "cudaFree")
    expect_times(process)
    sizes = {size["bytes"]: size for size in process["allocation_sizes"]}
    size = sizes.pop(1 << 20)
    assert not [other for other in sizes.values() if other["function"] == "cudaMalloc"]
    assert (size["allocations"], size["frees"], size["live"]) == (407, 400, 7)
    assert size["allocation_ns"] == functions(process)["cudaMalloc"]["total_ns"]
    assert size["free_ns"] == functions(process)["cudaFree"]["total_ns"]
    assert process["peak_bytes"] == size["peak"] << 20
    assert process["memory"]["device"]["allocations"] == 407
    assert process["memory"]["live_at_exit_bytes"] == 7 << 20


@PROGRAMS.of_test([paths.workload("memory"), "--pairs", 100], {"CUDA_SIM_FAIL": "cudaMalloc:%10"})
def test_errors(ran):
    process, truth = ran
    expect_functions(process, truth, "cudaMalloc")
    assert functions(process)["cudaMalloc"]["errors"] == 10
    assert [(e["function"], e["count"]) for e in process["errors"]] == [("cudaMalloc", 10)]


@PROGRAMS.of_test([paths.workload("launch"), "--launches", 10], {"CUDA_SIM_ASYNC": "100ms"})
def test_waits(ran):
    """The time in waits is what the work takes."""
    process, truth = ran
    expect_times(process)
    expect_functions(process, truth, "cuStreamSynchronize")
    waits = [thread["time"]["wait"] for thread in process["threads"] if thread["launches"]]
    wait = functions(process)["cuStreamSynchronize"]
    assert waits == [{"calls": 1, "ns": wait["total_ns"]}] and wait["total_ns"] >= 70e6


def test_manual():
    """The manual page tells of every member."""
    report = reports(stat("--json", "--stack", "fp", "--", paths.workload("demo"), "--seconds",
                          "0.3"))[-1]
    text = (paths.ROOT / "man" / "gpuprobe-stat.8").read_text(encoding="utf-8")
    text = re.sub(r"\\f.", " ", text).replace("\\-", "-")
    words = set(re.findall(r"[a-z0-9_]+", text[text.index(".SH JSON"):]))
    process = only_process(report)
    parts = [report, process, process["functions"][0], process["allocation_sizes"][0],
             process["copy_sizes"][0], process["all_threads"],
             report["findings"][0] if report["findings"] else {}]
    untold = {key for part in parts for key in part
              if key not in words and not key.startswith("graph_")}
    assert untold == set()


def test_text():
    done = stat("--", paths.workload("demo"), "--seconds", "0.5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert done.stdout.count("========================\n") == 2 and lines[-1] == "=" * 24
    heads = [line.split("  ")[-1] for line in lines
             if re.match(r" +(launch|launches|calls|allocated)  ", line)]
    assert heads == ["thread", "thread", "function", "kernel", "copies and sets", "allocations"]
    # What matters most comes first.
    assert done.stdout.index("\nfindings: ") < done.stdout.index("  thread\n")
    assert "    memory:" in lines and "    errors:" in lines
    assert ("7.6 MiB live at exit in 1 allocation; 3 allocations, 2 frees, 1 failed to allocate"
            in re.sub(r"\s+", " ", done.stdout))
    assert max(map(len, lines)) <= 100
    # Numbers stand at the right of their columns.
    table = lines[lines.index(next(line for line in lines if line.endswith("  function"))):]
    assert len({len(line.rstrip().rpartition("  ")[0]) for line in table[:5]}) == 1


@pytest.mark.parametrize("columns", [80, 100, 160])
def test_a_terminal(columns):
    """No line is wider than the terminal; names are cut there, and only there."""
    name = "a_kernel_with_a_name_that_is_much_longer_than_others_are_"
    args = ["stat", "--", paths.workload("traced"), "--rounds", 20, "--name-prefix", name]
    status, shown = terminal.run(args, columns)
    assert status == 0
    assert max(map(len, shown.splitlines())) <= columns
    # The verdict above the tables cuts long command lines.
    tables = shown.partition(" ended\n")[2]
    assert (name in tables) == (columns == 160) and ("…" in tables) == (columns != 160)
    assert name in stat(*args[1:]).stdout


@pytest.mark.parametrize("columns", [80, 100])
def test_diagnose_fits_a_terminal(columns):
    """Sentences and titles go on in the next line; the words are those of a file."""
    args = ["diagnose", "--", paths.workload("traced"), "--rounds", 20, "--fail", 1]
    status, shown = terminal.run(args, columns)
    assert status == 0 and "findings: " in shown
    report = shown[shown.index("====\n"):].splitlines()
    assert max(map(len, report)) <= columns


def test_equal_counts_are_in_the_order_of_numbers():
    done = stat("--top", 0, "--", paths.workload("launch"), "--kernels", 12, "--launches", 12)
    names = re.findall(r"\bkernel_\d+$", done.stdout, re.M)
    assert names == [f"kernel_{number}" for number in range(12)]


def test_top():
    done = stat("--top", 1, "--", paths.workload("launch"), "--kernels", 9, "--threads", 3)
    assert "        ... and 8 more kernels" in done.stdout.splitlines()
    assert "        ... and 3 more threads" in done.stdout.splitlines()
    assert "... and" not in stat("--top", 0, "--", paths.workload("launch"), "--kernels", 9).stdout


@pytest.fixture
def hostile(tmp_path):
    """A program whose name is no name to print."""
    program = tmp_path / 'l\033[31m\n,"'
    shutil.copy(paths.workload("launch"), program)
    return program


def test_csv(hostile, tmp_path):
    env = {"CUDA_SIM_TRUTH": tmp_path / "truth-%p.json", "LD_LIBRARY_PATH": paths.SIM}
    done = stat("--csv", "--", hostile, "--launches", 300, env=env)
    assert done.returncode == 0, done.stderr
    truth = next(truth for truth in read_truths(tmp_path) if not truth.idle)
    tables = {}
    for row in csv.reader(line for line in done.stdout.splitlines() if re.match(r"[a-z]+,", line)):
        tables.setdefault(row[0], []).append(row)
    assert list(tables) == ["threads", "functions", "kernels", "copies", "allocations",
                            "unreturned", "errors", "findings", "lost"]
    for rows in tables.values():
        assert {len(row) for row in rows} == {len(rows[0])}
    calls = {row["function"]: int(row["calls"]) for row in
             (dict(zip(tables["functions"][0], row)) for row in tables["functions"][1:])}
    assert {row[3] for row in tables["functions"][1:]} == {r'l\x1b[31m\n,"'}
    assert calls["cuLaunchKernel"] == truth.calls("cuLaunchKernel") == 300
    kernels = [dict(zip(tables["kernels"][0], row)) for row in tables["kernels"][1:]]
    assert [kernel["launches"] for kernel in kernels] == ["300"]


def read_table(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_directory(tmp_path):
    """A file a table, beside the report; those of an earlier run are replaced."""
    out = tmp_path / "out"
    for launches in (30, 40):
        done = stat("--csv", out, "--", paths.workload("launch"), "--launches", launches)
        assert done.returncode == 0, done.stderr
        assert "  function\n" in done.stdout
    assert sorted(path.name for path in out.iterdir()) == [
        f"{table}.csv" for table in ("allocations", "copies", "errors", "findings", "functions",
                                     "kernels", "lost", "sampling", "threads", "unreturned")]
    row, = read_table(out / "kernels.csv")
    assert list(row)[:4] == ["seconds", "pid", "comm", "kernel"] and row["launches"] == "40"
    assert {row["function"]: row["calls"]
            for row in read_table(out / "functions.csv")}["cuLaunchKernel"] == "40"
    assert read_table(out / "unreturned.csv") == []


def test_csv_directory_and_json(tmp_path):
    """The other forms of the report stay."""
    done = stat("--json", f"--csv={tmp_path / 'out'}", "--", paths.workload("launch"))
    process = only_process(reports(done)[-1])
    functions = read_table(tmp_path / "out" / "functions.csv")
    assert [row["function"] for row in functions] == [
        function["function"] for function in process["functions"]]
    assert [int(row["total_ns"]) for row in functions] == [
        function["total_ns"] for function in process["functions"]]


@pytest.mark.parametrize("others,message", [
    ("precious\n", "out/kernels.csv is not a table of gpuprobe stat: remove it"),
    ("seconds,of,mine\n", "out/kernels.csv is not a table of gpuprobe stat: remove it"),
])
def test_csv_directory_spares_other_files(tmp_path, others, message):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kernels.csv").write_text(others)
    done = stat("--csv", tmp_path / "out", "--", "touch", tmp_path / "ran")
    assert done.returncode == 1 and message in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kernels.csv"]
    assert (tmp_path / "out" / "kernels.csv").read_text() == others
    assert not (tmp_path / "ran").exists()


def test_csv_directory_without_a_reader(tmp_path):
    """The files are whole although nobody reads the report."""
    command = '"$0" stat --csv out -- "$1" --seconds 0.3 | true; exit "${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", command, paths.GPUPROBE, paths.workload("demo")],
                          env=environment(), cwd=tmp_path, timeout=60, check=False)
    assert done.returncode in (0, 141)
    assert int(read_table(tmp_path / "out" / "threads.csv")[0]["launch_calls"]) > 0


def test_output(tmp_path):
    """Reports go into the file, and nothing else; what COMMAND prints goes nowhere else."""
    for form in ("--json", "--csv"):
        file = tmp_path / f"out{form}"
        file.write_text("what was there before")
        # Until a report has been written.
        command = [
            "sh", "-c",
            f"echo mine; {paths.workload('launch')}; until [ -s {file} ]; do sleep 0.05; done"]
        done = stat(form, "--interval", "0.2", "-O", file, "--", *command)
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "mine")
        assert "gpuprobe" not in done.stdout and "functions," not in done.stdout
        lines = file.read_text().splitlines()
        assert all(line.startswith('{"schema"') if form == "--json" else re.match("[a-z]+,", line)
                   for line in lines)
        assert len(lines) > 1


@pytest.mark.parametrize("file, why",
                         [("/nowhere/file", "No such file or directory"), ("/", "Is a directory")])
def test_output_not_there(tmp_path, file, why):
    """Told before COMMAND begins."""
    done = stat("--output", file, "--", "touch", tmp_path / "begun")
    assert (done.returncode, done.stderr) == (1, f"gpuprobe: cannot write {file}: {why}\n")
    assert not (tmp_path / "begun").exists()


def test_output_full():
    done = stat("-O", "/dev/full", "--", paths.workload("launch"), "--launches", 10)
    assert done.returncode == 1
    assert "gpuprobe: cannot write /dev/full: No space left on device\n" in done.stderr


def test_interval(gpuprobe):
    """Each report is of all so far, and a process that has ended is in those that follow."""
    def ended(report):
        return any(process["ended"] for process in report["processes"]
                   if process["pid"] == workload.pid)

    with gpuprobe.start(base=["stat", "--json", "--interval", "0.3"], interval=None,
                        libraries=[paths.LIBCUDA, paths.LIBCUDART]) as running:
        running.report()
        with Background(paths.workload("launch"), "--launches", 60) as workload:
            running.wait_for(ended)
            running.report()
        result = running.stop()
    reports_told = result.reports
    assert result.status == 0
    assert [report["final"]
            for report in reports_told] == [False] * (len(reports_told) - 1) + [True]
    seen = [[p for p in report["processes"] if p["pid"] == workload.pid] for report in reports_told]
    counts = list(map(len, seen))
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] == 1
    assert sum(counts) > 1
    assert (seen[-1][0]["ended"], seen[-1][0]["launches"]) == (True, 60)


def test_csv_interval(gpuprobe):
    """The columns are named once."""
    rows = []
    with gpuprobe.start(paths.workload("launch"), "--launches", 50, "--hold", 120,
                        base=["stat", "--csv", "--interval", "0.3"], interval=None) as running:
        while len({row[1] for row in rows}) < 4:
            line = running.line()
            assert line, rows
            rows += [line.split(",")] if line.startswith("functions,") else []
        os.kill(int(rows[-1][2]), signal.SIGTERM)
        stdout = running.finish().stdout
    rows = [line.split(",") for line in stdout.splitlines() if line.startswith("functions,")]
    assert [row[1] for row in rows].count("seconds") == 1 and rows[0][1:3] == ["seconds", "pid"]
    times = [float(row[1]) for row in rows[1:]]
    assert len(set(times)) >= 3 and times == sorted(times)


def test_until_interrupted(gpuprobe):
    """With -p and no duration: until the process ends, or Ctrl-C."""
    with Background(paths.workload("launch"), "--seconds", 120, "--rate", 20) as workload:
        with gpuprobe.start(base=["stat", "--json", "--interval", "0.3"], interval=None,
                            args=["-p", workload.pid]) as running:
            running.wait_for(lambda report: any(process["launches"] >= 20
                                                for process in report["processes"]))
            result = running.stop()
        assert workload.poll() is None
    assert result.status == 0
    process = only_process(result.final)
    assert (process["pid"], process["since_attach"],
            process["ended"]) == (workload.pid, True, False)
    launching = [thread for thread in process["threads"] if thread["launches"]]
    # The one is read a moment after the other, and the program goes on.
    assert (len(launching) == 1
            and process["launches"] <= launching[0]["launches"] <= process["launches"] + 10)


def test_status():
    assert stat("-q", "--", "sh", "-c", "exit 7").returncode == 7
    assert stat("--threshold", "alloc-churn=many").returncode == 2
    assert stat("--top").returncode == 2
    assert "no CUDA process was seen" in stat("--", "true").stdout


def test_hostile_names(hostile):
    """What comes from the program reaches no terminal as it is."""
    done = stat("--", hostile, env={"LD_LIBRARY_PATH": paths.SIM})
    assert "\033" not in done.stdout
    assert re.search(r'^process \d+ \(l\\x1b\[31m\\n,"\) ended$', done.stdout, re.M)
