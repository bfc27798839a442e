# SPDX-License-Identifier: BSD-2-Clause
"""Columns, time stamps, formats, the file that is written to, and a reader that goes away."""
import calendar
import datetime
import json
import os
import re
import subprocess
import time

import pytest

from lib import paths, trace
from lib.probe import environment
from lib.script import script

TRACED = paths.workload("traced")
ALL = ("time", "end", "process", "pid", "ppid", "tid", "uid", "cgroup", "device", "layer", "event",
       "details", "ptr", "size", "dst", "src", "kind", "bw", "kernel", "grid", "block", "shmem",
       "stream", "args", "stack", "duration", "result")


def table_of(text):
    head, *rows = text.splitlines()
    return head.split(), rows


@pytest.fixture(scope="module")
def all_columns(tmp_path_factory):
    """Two calls of cudaMemcpy with every column, each chosen by its word."""
    tracer = trace.Tracer(tmp_path_factory.mktemp("columns"))
    return tracer.run(TRACED, "--rounds", 2, args=["-o", ",".join(ALL), "-e", "cudaMemcpy"],
                      columns=None).objects


@pytest.mark.parametrize("column", ALL)
def test_each_column(all_columns, column):
    """The key of JSON is the column's word, and stands where it was chosen."""
    assert len(all_columns) == 2
    for line in all_columns:
        keys = [key for key in line if key not in trace.EXTRA]
        assert len(keys) == len(ALL) and keys[ALL.index(column)] == column


@pytest.mark.slow
@pytest.mark.parametrize("column", ALL)
@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_each_column_by_itself(tracer, form, column):
    result = tracer.run(TRACED, "--rounds", 2, args=["-o", column, "-e", "cudaMemcpy"], form=form,
                        columns=None)
    if form == "json":
        assert all(set(line) - trace.EXTRA == {column} for line in result.objects)
        assert len(result.objects) == 2
    else:
        head, rows = table_of(result.text)
        assert head[0].lower().startswith(column) and len(rows) == 2


@pytest.mark.parametrize("form", ["table", "tsv"])
def test_all_columns_in_text(tracer, form):
    result = tracer.run(TRACED, "--rounds", 2, args=["-o", ",".join(ALL), "-e", "cudaMemcpy"],
                        form=form, columns=None)
    head, rows = table_of(result.text)
    assert len(rows) == 2 and len(head) == len(ALL)
    assert all(word.lower().startswith(column) for word, column in zip(head, ALL))


def test_order_of_columns(tracer):
    result = tracer.run(TRACED, "--rounds", 2, args=["-o", "result,event,size", "-e", "cudaMemcpy"],
                        form="tsv", columns=None)
    assert result.text.splitlines() == ["result\tevent\tsize", "cudaSuccess\tcudaMemcpy\t4096",
                                        "cudaSuccess\tcudaMemcpy\t4095"]


@pytest.mark.parametrize("text", ["", "nothing", "time,time", "time,,pid", "time,"])
def test_columns_that_are_wrong(tracer, text):
    result = tracer.run("true", args=["-o", text], columns=None, status=None)
    assert result.status not in (0, None)
    assert result.stderr


def test_end_is_time_and_duration(tracer_by):
    result = tracer_by.run(TRACED, "--rounds", 20, columns="time,end,duration,event")
    assert result.lines
    assert all(line["end"] == line["time"] + line["duration"] for line in result.lines)


def test_bandwidth(tracer):
    """Bytes a second of synchronous copies, and of nothing else."""
    result = tracer.run(TRACED, "--rounds", 20, args=["-e", "copy"],
                        columns="time,event,size,bw,duration")
    for line in result.lines:
        if line["event"] == "cudaMemcpy":
            assert line["bw"] == pytest.approx(line["size"] / line["duration"] * 1e9, rel=0.01)
        elif line["event"] == "cudaMemcpyAsync":
            assert line.get("bw") is None


def run_clock(tracer, form, timestamps):
    """(calls of cudaMemset as the program noted them, the first column of their lines)"""
    result, log = tracer.traced("--rounds", 30, args=["-o", "time,end", "--timestamps",
                                                      timestamps, "-e", "cudaMemset"],
                                form=form, columns=None, env={"CUDA_SIM_LATENCY": "cudaMemset=2ms"})
    calls, = log.values()
    calls = [call for call in calls if call.function == "cudaMemset"]
    shown = [line["time"] for line in result.objects] if form == "json" else \
        [line.split()[0] for line in result.text.splitlines()[1:]]
    assert len(shown) == len(calls) == 30
    return calls, shown


def check_apart(milliseconds, earlier, later):
    """Whether two calls can have begun so far apart; the table's times are cut to microseconds."""
    assert ((later.before - earlier.after) / 1e6 - 0.001 <= milliseconds
            <= (later.after - earlier.before) / 1e6 + 0.001)


@pytest.mark.parametrize("form", ["table", "tsv"])
def test_relative(tracer, form):
    """Milliseconds since the beginning."""
    before = time.monotonic()
    calls, shown = run_clock(tracer, form, "relative")
    times = list(map(float, shown))
    assert 0 <= times[0] and times[-1] <= (time.monotonic() - before) * 1000
    for moment, call in zip(times, calls):
        check_apart(moment - times[0], calls[0], call)


@pytest.mark.parametrize("form", ["table", "tsv"])
def test_delta(tracer, form):
    """Milliseconds since the line before."""
    calls, shown = run_clock(tracer, form, "delta")
    for text, call, previous in zip(shown[1:], calls[1:], calls):
        check_apart(float(text), previous, call)


@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_iso(tracer, form):
    before = time.time()
    _, shown = run_clock(tracer, form, "iso")
    after = time.time()
    for text in shown:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", text)
        moment = datetime.datetime.strptime(text[:26], "%Y-%m-%dT%H:%M:%S.%f").replace(
            tzinfo=datetime.timezone.utc)
        assert before - 0.1 <= moment.timestamp() <= after + 0.1


@pytest.mark.parametrize("zone, hours", [("UTC", 0), ("Asia/Kolkata", 5.5)],
                         ids=["UTC", "Asia/Kolkata"])
def test_wall(tracer, zone, hours):
    """The local time of day."""
    if not os.path.exists(f"/usr/share/zoneinfo/{zone}"):
        pytest.skip("no time zones on this machine")
    local, margin = (datetime.timezone(datetime.timedelta(hours=hours)),
                     datetime.timedelta(seconds=0.1))
    before = datetime.datetime.now(local) - margin
    result = tracer.run(TRACED, "--rounds", 5,
                        args=["-o", "time", "--timestamps", "wall", "-e", "cudaMemset"],
                        form="tsv", columns=None, env={"TZ": zone})
    after = datetime.datetime.now(local) + margin
    texts = result.text.splitlines()[1:]
    assert len(texts) == 5
    for text in texts:
        assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{6}", text)
        # At midnight of the one day or of the other.
        shown = {datetime.datetime.combine(day, datetime.time.fromisoformat(text), local)
                 for day in (before.date(), after.date())}
        assert any(before <= moment <= after for moment in shown)


def test_timestamps_that_are_wrong(tracer):
    result = tracer.run("true", args=["--timestamps", "lunar"], columns=None, status=None)
    assert result.status not in (0, None) and "lunar" in result.stderr


def test_a_format_that_is_none(tracer):
    result = tracer.run("true", form="xml", status=None)
    assert result.status not in (0, None) and "xml" in result.stderr


def plain(*args, **more):
    return subprocess.run(["timeout", "-s", "KILL", "60", paths.GPUPROBE, "trace", *args],
                          env=environment(), text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, **more)


def test_the_schema_takes_the_lines(tracer):
    """Every key of a line is in the schema with its type; the schema names its version."""
    done = plain("--json-schema")
    assert done.returncode == 0
    schema = json.loads(done.stdout)
    assert "version" in done.stdout.lower() or "$id" in schema
    known = set(re.findall(r'"([a-z_]+)":', done.stdout))
    result = tracer.run(TRACED, "--rounds", 3, args=["-o", "all"], columns=None)
    assert {key for line in result.objects for key in line} <= known | trace.EXTRA
    assert set(ALL) <= known


@pytest.mark.parametrize("timestamps,unit", [("relative", "ms"), ("iso", None)])
def test_the_first_line_of_json(tracer, timestamps, unit):
    """When the trace began, by which clock, and in which units its lines are."""
    before = time.time_ns()
    result = tracer.run(TRACED, "--rounds", 1, columns=None, args=[
        "-o", "time,event", "--timestamps", timestamps])
    start = result.start
    assert before <= start["wall_ns"] <= time.time_ns()
    wall, fraction = start["wall"].split(".")
    seconds = calendar.timegm(time.strptime(wall, "%Y-%m-%dT%H:%M:%S"))
    assert f"{seconds}{fraction}" == f"{start['wall_ns']}Z"
    assert 0 < start["boot_ns"] <= time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    assert start["clock"] == "CLOCK_BOOTTIME" and start["timestamps"] == timestamps
    assert start["units"] == {"time": unit, "duration": "ns", "size": "bytes", "bw": "bytes/s"}
    assert (start["host"], start["kernel"]) == (os.uname().nodename, os.uname().release)
    version = subprocess.run([paths.GPUPROBE, "--version"], capture_output=True, text=True,
                             check=True).stdout
    assert start["gpuprobe"] in version
    assert result.lines and all(set(line) - trace.EXTRA == {"time", "event"}
                                for line in result.lines)


def test_stacks_in_the_table(tracer):
    """--stack has a frame a line below each call; -o stack has them in the line."""
    result = tracer.run(TRACED, "--rounds", 2, form="table", columns=None,
                        args=["-e", "cudaMemset", "--stack"])
    head, *lines = result.text.splitlines()
    assert "STACK" not in head and "cudaMemset" in lines[0] and lines[0].endswith("cudaSuccess")
    assert re.match(r"        \w+\+0x[0-9a-f]+ \[traced\]", lines[1])
    assert all(line.startswith("        ") for line in lines if "cudaMemset" not in line)
    assert len([line for line in lines if "cudaMemset" in line]) == 2
    result = tracer.run(TRACED, "--rounds", 2, form="table", columns=None,
                        args=["-e", "cudaMemset", "-o", "event,stack"])
    assert len(result.text.splitlines()) == 3 and "[traced]" in result.text.splitlines()[1]


def test_columns_are_in_line(tracer):
    """Names of kernels, pids and errors of any length: results are in one column."""
    result = tracer.run(TRACED, "--rounds", 9, "--fail", 2, "--name-prefix", "n" * 60, form="table",
                        columns=None, args=["-e", "cudaMalloc,launch,sync"])
    lines = result.text.splitlines()[1:]
    places = [line.index(word[0]) for line in lines if (word := re.findall(r"cuda[ES]\S+$", line))]
    assert len(places) == len(lines) > 20
    # The first launch makes the details wider.
    assert len(set(places[9:])) == 1


def test_standard_output():
    """By default the table, on the standard output, together with that of COMMAND."""
    done = plain("-e", "cudaMemset", "--", TRACED, "--rounds", "3")
    assert done.returncode == 0
    assert done.stdout.splitlines()[0].split() == ["TIME(ms)", "PROCESS", "PID", "TID", "EVENT",
                                                   "DETAILS", "DURATION", "RESULT"]
    assert len([line for line in done.stdout.splitlines() if "cudaMemset" in line]) == 3


def test_lines_are_written_as_they_come(tmp_path):
    """To a pipe, too: the program makes its next call when the previous line has been read."""
    program = script(f"""
        start()
        for number in range(5):
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 4096)))
            wait_for({str(tmp_path)!r} + "/%d" % number)
    """)
    command = ["timeout", "-s", "KILL", "60", paths.GPUPROBE, "trace", "-e", "cuMemFree_v2", "--",
               *program]
    with subprocess.Popen(command, env=environment(), text=True, stdout=subprocess.PIPE) as running:
        assert "TIME" in running.stdout.readline()
        for number in range(5):
            assert "cuMemFree_v2" in running.stdout.readline()
            (tmp_path / str(number)).touch()
        assert running.stdout.read() == ""
    assert running.returncode == 0


def test_a_closed_pipe(tmp_path):
    """`| head` ends it without a word, and COMMAND goes on or ends by itself."""
    command = ('timeout -s KILL 60 "$0" trace -e copy -- "$1" --rounds 20000 2>err | head -n 3; '
               'echo "${PIPESTATUS[0]}"; cat err')
    done = subprocess.run(["bash", "-c", command, paths.GPUPROBE, TRACED], env=environment(),
                          text=True, capture_output=True, timeout=90, check=False, cwd=tmp_path)
    lines = done.stdout.splitlines()
    assert len([line for line in lines if "cuda" in line]) == 2
    assert "roken pipe" not in done.stdout and lines[3] in ("0", "141")
    assert lines[4:] == [] or "error" not in "\n".join(lines[4:])


@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_a_full_disk(form):
    """An error that says how many calls were written."""
    done = plain("--format", form, "-O", "/dev/full", "-e", "copy", "--", TRACED, "--rounds",
                 "5000")
    assert done.returncode not in (0, -9)
    assert re.search(r"cannot write /dev/full: No space left", done.stderr)
    assert re.search(r"\b\d[\d,]* calls", done.stderr)


def test_a_disk_that_becomes_full(tmp_path):
    """A file system of 64 KiB: as many whole lines are in the file as are told."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        done = plain("--format", "json", "-O", disk / "trace", "-e", "copy", "--", TRACED,
                     "--rounds", "5000")
        assert done.returncode not in (0, -9) and "No space left" in done.stderr
        whole = (disk / "trace").read_text(encoding="utf-8", errors="replace").count("\n")
        assert whole > 50
        # The first line is no call.
        assert re.search(rf"\b{whole - 1}\b", done.stderr.replace(",", "")), (whole, done.stderr)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_file_that_cannot_be_made():
    done = plain("-O", "/no/such/directory/trace", "--", "true")
    assert done.returncode not in (0, -9) and "/no/such/directory/trace" in done.stderr


def test_a_file_is_written_anew(tmp_path):
    file = tmp_path / "trace"
    file.write_text("x" * 100000)
    assert plain("-O", file, "-e", "cudaMemset", "--format", "tsv", "--", TRACED, "--rounds",
                 "2").returncode == 0
    assert "x" * 10 not in file.read_text() and len(file.read_text().splitlines()) == 3


def test_tsv_and_json_say_the_same(tracer):
    """Read back, column by column, of a program whose every run is the same."""
    command = script("""
        start()
        for size in (1, 4096, 1 << 50):
            word = out()
            if driver.cuMemAlloc_v2(ref(word), size) == 0:
                driver.cuMemFree_v2(word.value)
    """)
    columns = "event,size,layer,result"
    as_tsv = tracer.run(*command, args=["-e", "memory", "-o", columns], form="tsv", columns=None)
    as_json = tracer.run(*command, args=["-e", "memory", "-o", columns], columns=None)
    head, *rows = [line.split("\t") for line in as_tsv.text.splitlines()]
    read = [dict(zip(head, row, strict=True)) for row in rows]
    assert [{k: v for k, v in row.items() if v not in ("", "-")} for row in read] == \
        [{k: str(v) for k, v in line.items() if k not in trace.EXTRA and v is not None}
         for line in as_json.lines]


@pytest.mark.parametrize("quiet", [["-q", "-v"], ["-v", "-q"]])
def test_quiet_has_no_last_line(tracer, quiet):
    """Wherever it stands."""
    result = tracer.run(paths.workload("memory"), "--pairs", 1, args=["-e", "cudaMalloc", *quiet])
    assert len(result.lines) >= 1 and "written" not in result.stderr


def test_the_last_line_counts_calls(tracer):
    result = tracer.run(paths.workload("memory"), "--pairs", 3,
                        args=["-e", "cudaFree", "--count", 1])
    assert result.stderr.splitlines()[-1] == "gpuprobe: written 1 call, lost 0"
