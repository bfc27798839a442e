# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe record` and `gpuprobe trace -i`: a recording shows what a trace would have shown, also
if gpuprobe was killed, the file is full, or a part of it is damaged."""
import re
import signal

import pytest

from lib import paths, trace
from lib.cli import fails, run
from lib.probe import Background, wait_until

TRACED = paths.workload("traced")
# What is the same in each run.
SAME = "process,layer,event,size,kind,kernel,grid,block,shmem,result"
LAUNCHES = 20000


class Recorder(trace.Tracer):
    """Records a program, and then shows the recording as a trace."""

    def record(self, *command, args=(), level=("--no-readings",)):
        """Returns (the Result, the file)."""
        file = self.probe.directory / f"{self.runs}.rec"
        self.runs += 1
        return self.probe.run(*command, args=args, base=["record", *level, "-O", str(file)]), file

    def run(self, *command, args=(), form="json", columns=trace.COLUMNS, show=(), **options):
        result, file = self.record(*command, args=args, **options)
        path = self.probe.directory / f"{self.runs}.lines"
        done = run("trace", "-i", file, "-O", path, "--format", form,
                   *(["-o", columns, "--timestamps", "ns"] if columns else []), *show)
        assert done.returncode == 0, done.stderr
        return trace.Traced(result, path)


@pytest.fixture
def recorder(tmp_path):
    directory = tmp_path / "recorder"
    directory.mkdir()
    return Recorder(directory)


@pytest.fixture(scope="session")
def recording(tmp_path_factory):
    """(a recording, its calls by thread) with failed calls, stacks and readings."""
    recorder = Recorder(tmp_path_factory.mktemp("recording"))
    log = recorder.probe.directory / "log"
    result, file = recorder.record(TRACED, "--threads", 4, "--rounds", 100, "--fail", 5,
                                   "--log", log, args=["--stack"], level=())
    assert result.status == 0 and "lost 0" in result.stderr, result.stderr
    return file, trace.read_log(log)


def show(file, *options, status=0):
    """(the lines of the recording, stderr)"""
    done = run("trace", "-i", file, "--json", "--timestamps", "ns", *options)
    assert done.returncode == status, done.stderr
    return trace.without_start(map(trace.json.loads, done.stdout.splitlines())), done.stderr


def test_calls_of_libraries(recorder):
    """They are not in a layer of CUDA."""
    result, file = recorder.record(paths.workload("ranks"), args=["-e", "nccl"])
    assert result.status == 0, result.stderr
    calls, said = show(file)
    assert "ncclCommDestroy" in {call["event"] for call in calls}
    assert "could not be read" not in said


@pytest.mark.parametrize("api", ["runtime", "driver"])
def test_every_call_with_its_arguments(recorder, api):
    result, log = recorder.traced("--api", api, "--threads", 8, "--rounds", 200, "--fail", 7)
    assert "lost 0" in result.stderr and result.lost == 0
    assert trace.in_order(result.lines)
    functions = {call.function for calls in log.values() for call in calls}
    shown = {line["event"] for line in result.lines}
    trace.check_threads(result.lines, log, functions & shown)
    assert {"cudaMalloc" if api == "runtime" else "cuMemAlloc_v2"} < shown


@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_the_same_as_live(tracer, recorder, form):
    program = (TRACED, "--rounds", 20, "--fail", 3)
    options = {"form": form, "columns": None}
    live = tracer.run(*program, args=["-o", SAME, "--nested"], **options)
    recorded = recorder.run(*program, args=["--nested"], show=["-o", SAME, "--nested"], **options)
    without_time = [re.sub(r'"start":\{.*', "", text) for text in (live.text, recorded.text)]
    assert without_time[0] == without_time[1] and len(live.text.splitlines()) > 200


def test_filters(recording):
    file, log = recording
    calls = [call for thread in log.values() for call in thread]
    lines, _ = show(file)
    assert {line["event"] for line in lines} >= {call.function for call in calls} - {
        "cudaGetLastError"}
    failed, _ = show(file, "--failed")
    assert failed == [line for line in lines if line.get("failed")] and failed
    mallocs, _ = show(file, "-e", "cudaMalloc")
    assert mallocs == [line for line in lines if line["event"] == "cudaMalloc"] and mallocs
    pid = lines[0]["pid"]
    assert show(file, "-p", pid)[0] == lines and show(file, "-p", "1")[0] == []
    assert show(file, "--comm", "traced")[0] == lines and show(file, "--comm", "x")[0] == []
    long, _ = show(file, "--min-duration", "20us")
    assert long == [line for line in lines if line["duration"] >= 20000]
    assert show(file, "--count", "7")[0] == lines[:7]


def test_a_part(recording):
    file, _ = recording
    lines, _ = show(file)
    relative, _ = show(file, "--timestamps", "relative")
    begin = relative[len(lines) // 3]["time"]
    end = relative[len(lines) * 2 // 3]["time"]
    part, _ = show(file, "--from", f"{begin}ms", "--to", f"{end}ms", "--timestamps", "relative")
    assert part and part == [line for line in relative if begin <= line["time"] <= end]
    assert show(file, "--from", "0") == show(file, "--from", "0s", "--to", "1h") == show(file)


def test_stacks(recording):
    file, _ = recording
    lines, _ = show(file, "--stack")
    assert all(any("main" in frame or "run" in frame or "traced" in frame
                   for frame in line["stack"]) for line in lines if line["event"] == "cudaMalloc")
    assert all("stack" not in line for line in show(file)[0])


def test_summary_counts_the_same(recording):
    file, _ = recording
    lines, _ = show(file)
    done = run("trace", "-i", file, "-c")
    total = re.search(r"^100\.00 +\S+ +(\d+) +(\d+) ", done.stdout, re.M)
    assert total, done.stdout
    assert [int(n) for n in total.groups()] == [
        len(lines), sum(bool(line.get("failed")) for line in lines)]


def test_a_launch_takes_16_bytes_at_most(recorder):
    result, file = recorder.record(paths.workload("launch"), "--launches", LAUNCHES,
                                   args=["-e", "launch"])
    assert f"recorded {LAUNCHES} calls" in result.stderr, result.stderr
    assert file.stat().st_size <= 16 * LAUNCHES


@pytest.mark.slow
def test_a_full_file(recorder):
    """It holds the beginning, and says what it lacks."""
    result, file = recorder.record(TRACED, "--rounds", 40000, args=["--max-size", "1M"])
    assert "recording ended because the file was full (see --max-size)" in result.stderr
    assert file.stat().st_size <= 1 << 20
    lines, stderr = show(file)
    assert 10000 < len(lines) < 400000
    assert re.search(r"the recording was full \(--max-size\): \d+ calls? ", stderr)


def test_losses_are_where_they_happened(recorder):
    result = recorder.run(TRACED, "--api", "driver", "--threads", 8, "--rounds", 2000,
                          args=["-e", "cuMemAlloc_v2,cuMemFree_v2", "--buffer", "64K"],
                          columns="time,event,tid")
    assert result.lost > 0
    assert len(result.lines) + result.lost == 2 * 8 * 2000
    assert f"lost {result.lost}" in result.stderr


def test_killed(tmp_path):
    """What was written by then is there."""
    log, file, end = (tmp_path / name for name in ("log", "killed.rec", "end"))
    probe = Recorder(tmp_path).probe
    with Background(TRACED, "--rounds", 10**6, "--rate", 200, "--until", end,
                    "--log", log) as program, \
            probe.start(base=["record", "-O", str(file), "-p", str(program.pid)],
                        interval=None) as running:
        wait_until(lambda: file.exists() and run("trace", "-i", file, "--json").stdout.count("\n")
                   > 500, "nothing was recorded")
        running.process.send_signal(signal.SIGKILL)
        running.process.wait(60)
        end.touch()
        assert program.wait(60) == 0
    lines, stderr = show(file)
    assert "the recording has no end: gpuprobe was killed, or is still recording" in stderr
    calls = [call for thread in trace.read_log(log).values() for call in thread]
    known = {call.function for call in calls}
    # The runtime may get its probes after the driver: until then the driver's calls are outermost.
    lines = [line for line in lines if line["event"] in known]
    first = next(n for n, call in enumerate(calls) if call.before <= lines[0]["time"] <= call.after)
    assert len(lines) > 100
    assert [line["event"] for line in lines] == [
        call.function for call in calls[first:]][:len(lines)]


def test_a_damaged_part(recording, tmp_path):
    """It is left out, the time is named, and --strict fails."""
    file, _ = recording
    data = bytearray(file.read_bytes())
    at = len(data) // 2
    data[at] ^= 0xff
    damaged = tmp_path / "damaged.rec"
    damaged.write_bytes(data)
    lines, stderr = show(damaged)
    assert re.search(r"the recording is damaged: calls from \S+ \w+ to .* are missing", stderr)
    assert len(lines) < len(show(file)[0])
    show(damaged, "--strict", status=3)


@pytest.mark.parametrize("content, words", [
    (b"", "is empty: nothing has been recorded to it"),
    (b"\x7fELF" + bytes(5000), "is no recording of gpuprobe"),
    (b"GPUPROBE" + bytes(5000), "the beginning of the recording is damaged"),
])
def test_other_files(content, words, tmp_path):
    file = tmp_path / "other"
    file.write_bytes(content)
    fails(run("trace", "-i", file), 1, str(file), words)


@pytest.mark.parametrize("options, words", [
    (["--duration", "1"], "-i and --duration do not go together"),
    (["--entry-return"], "-i and --entry-return do not go together"),
    (["--args", "3"], "-i and --args do not go together"),
    (["--no-return-probes"], "-i and --no-return-probes do not go together"),
    (["--from", "3s", "--to", "2s"], "--from is later than --to"),
    (["--to", "0"], "--to '0': give a time counted from the beginning"),
    (["--from", "1x"], "--from '1x': give a time counted from the beginning"),
    (["--", "true"], "-i and COMMAND do not go together"),
])
def test_options_that_need_a_program(recording, options, words):
    fails(run("trace", "-i", recording[0], *options), 2, words)


def test_odd_command_lines(tmp_path, recorder):
    fails(run("record", "--", "true"), 2, "give the file of the recording with -o FILE")
    fails(run("record", "-o", tmp_path / "x", "--level", "cals"), 2, "did you mean calls?")
    fails(run("trace", "--from", "3s"), 2, "-i FILE")
    fails(run("trace", "-i", tmp_path / "none"), 1, "No such file or directory")
    fails(run("trace", "-i", "/dev/null"), 1, "/dev/null is no regular file")
    _, file = recorder.record("true")
    fails(run("trace", "-i", file, "--stack"), 1, "has no stacks")
    fails(run("trace", "-i", file, "--nested"), 1, "has no nested calls")


def test_anonymous(recorder):
    _, file = recorder.record(TRACED, "--rounds", 5, args=["--anonymize", "--stack"])
    data, lines = file.read_bytes(), show(file)[0]
    assert {line["process"] for line in lines} == {"task-1"}
    assert all(re.fullmatch(r"kernel-\w+(-\d+)?", line["kernel"]) for line in lines
               if line.get("kernel"))
    assert b"--anonymize" not in data and paths.ROOT.name.encode() not in data
    start = trace.json.loads(run("trace", "-i", file, "--json").stdout.splitlines()[0])["start"]
    assert start.get("host") is None
