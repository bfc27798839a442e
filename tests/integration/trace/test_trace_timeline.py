# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe trace --format perfetto|chrome` and `gpuprobe export`: the file has the calls that
`trace` shows, nested and in order, and what can be inferred from them. lib.timeline checks each
file strictly."""
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from lib import paths, timeline, trace
from lib.cli import fails, run
from lib.probe import Probe, environment, wait_until
from lib.script import script

TRACED = paths.workload("traced")
STEPS = paths.workload("steps")
# Kills itself once its first thread sleeps in the call, and so many seconds have gone by.
DIES = script("""
    import os, signal, threading, time

    def kill():
        while True:
            with open(f"/proc/self/task/{os.getpid()}/syscall") as call:
                if call.read().split()[0] in ("35", "230"):  # nanosleep, clock_nanosleep
                    break
            time.sleep(0.01)
        time.sleep(float(sys.argv[1]))
        os.kill(os.getpid(), signal.SIGKILL)

    start()
    memory = made(driver.cuMemAlloc_v2, 4096)
    threading.Thread(target=kill).start()
    driver.cuCtxSynchronize()
""")
PROTO = paths.TESTS / "lib" / "perfetto.proto"
FORMS = {"perfetto": (".pftrace", timeline.read_perfetto),
         "chrome": (".json.gz", timeline.read_chrome)}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recording with nested and failed calls of several threads."""
    probe = Probe(tmp_path_factory.mktemp("timeline"))
    file = probe.directory / "traced.rec"
    result = probe.run(TRACED, "--threads", 4, "--rounds", 100, "--fail", 5,
                       args=["--nested"], base=["record", "-O", str(file)])
    assert result.status == 0 and "lost 0" in result.stderr, result.stderr
    return file


def lines_of(recording, *options):
    done = run("trace", "-i", recording, "--json", "--timestamps", "ns", *options)
    assert done.returncode == 0, done.stderr
    return trace.without_start(map(json.loads, done.stdout.splitlines()))


def export(recording, form, file, *options):
    done = run("export", "-i", recording, "--to", form, "-o", file, *options)
    assert done.returncode == 0, done.stderr
    return done


def draw(directory, form, *command, args=(), env=None):
    """Traces a program into a file. Returns (its Timeline, the Result)."""
    ending, read = FORMS[form]
    directory = Path(tempfile.mkdtemp(dir=directory))
    file = directory / f"drawn{ending}"
    probe = Probe(directory)
    result = probe.run(*command, args=args, env=env or {},
                       base=["trace", "--format", form, "-o", str(file)])
    assert result.status == 0, result.stderr
    drawn = read(file)
    assert f"written {len(drawn.calls)} call" in result.stderr and "lost 0" in result.stderr
    return drawn, result


@pytest.mark.parametrize("form", FORMS)
def test_the_calls_that_trace_shows(recording, tmp_path, form):
    ending, read = FORMS[form]
    file = tmp_path / f"out{ending}"
    done = export(recording, form, file)
    drawn = read(file)
    lines = lines_of(recording, "--nested")
    assert drawn.keys == Counter(map(timeline.key_of_line, lines))
    assert {line["depth"] for line in lines if "depth" in line} == {1}
    assert f"written {len(lines)} recorded calls, lost 0" in done.stderr
    assert f"open {file} at https://ui.perfetto.dev" in done.stderr
    by_key = {call.key: call for call in drawn.calls}
    for line in lines:
        call = by_key[timeline.key_of_line(line)]
        assert call.args.get("returned", line["result"]) == line["result"]
        assert ("returned" in call.args) == bool(line.get("failed"))
        for name, value in line["details"].items():
            if form == "chrome" or not isinstance(value, list):
                assert call.args[name] == value, (name, call)
    assert set(drawn.processes.values()) == {"traced"}


def test_both_forms_have_the_same(recording, tmp_path):
    drawn = {}
    for form, (ending, read) in FORMS.items():
        export(recording, form, tmp_path / f"out{ending}")
        drawn[form] = read(tmp_path / f"out{ending}")
    one, other = drawn.values()
    assert sorted(one.values) == sorted(other.values) and one.values
    key = [Counter((a.key, b.key) for a, b in each.arrows) for each in (one, other)]
    assert key[0] == key[1] and key[0]
    assert sorted(one.orders) == sorted(other.orders)
    assert sorted(one.follows) == sorted(other.follows)
    assert sorted(map(str, one.steps)) == sorted(map(str, other.steps))
    marks = [Counter((mark.track, mark.name, mark.time) for mark in each.marks)
             for each in (one, other)]
    assert marks[0] == marks[1] and marks[0]
    assert one.processes == other.processes
    assert one.clocks[1] - one.clocks[6] > 1 << 60, "the time of day of the beginning"


def test_memory_counts_up_and_down(recording, tmp_path):
    """Memory is there when its call returns, and has gone when its free begins."""
    export(recording, "chrome", tmp_path / "out.json")
    drawn = timeline.read_chrome(tmp_path / "out.json")
    changes = []
    for line in lines_of(recording):
        if line["result"] not in trace.SUCCESS:
            continue
        details = line["details"]
        if line["event"] in ("cudaMalloc", "cuMemAlloc_v2"):
            changes.append((line["time"] + line["duration"], details["ptr"], details["size"]))
        elif line["event"] in ("cudaFree", "cuMemFree_v2"):
            changes.append((line["time"], details["ptr"], 0))
    live = {}
    expected = []
    for time, address, size in sorted(changes):
        assert bool(size) != (address in live), "this program frees what it allocates"
        live[address] = size
        if not size:
            del live[address]
        expected.append((time, sum(live.values())))
    memory = [value for value in drawn.values if "memory" in value[1]]
    # Two threads' changes in the same nanosecond may come in either order.
    assert [time for _, _, time, _ in memory] == [time for time, _ in expected]
    assert {time: value for _, _, time, value in memory} == dict(expected)
    assert {name for _, name, _, _ in memory} == {"live device memory, device 0"}


@pytest.mark.parametrize("wait", ["stream", "event", "device"])
@pytest.mark.parametrize("form", FORMS)
def test_arrows_lead_to_the_wait_that_covers(tmp_path, form, wait):
    drawn, _ = draw(tmp_path, form, STEPS, "--steps", 6, "--launches", 7, "--wait", wait,
                    "--wait-every", 2, "--cpu", 0)
    waits = drawn.of({"stream": "cudaStreamSynchronize", "event": "cudaEventSynchronize",
                      "device": "cudaDeviceSynchronize"}[wait])
    # The program also waits at its end.
    assert [call.args.get("covers_launches") for call in waits[:3]] == [14, 14, 14]
    assert not any("covers_launches" in call.args for call in waits[3:])
    launches = drawn.of("cudaLaunchKernel")
    assert [start for start, _ in drawn.arrows] == launches and len(launches) == 42
    for number, (start, end) in enumerate(drawn.arrows):
        assert end is waits[number // 14] and start.end <= end.start
    queued = [mark for mark in drawn.marks if mark.category == "queued"]
    assert [mark.name for mark in queued] == [f"step_{i % 7}" for i in range(42)]
    assert [mark.time for mark in queued] == [call.start for call in launches]
    work = [value for _, name, _, value in drawn.values if name.startswith("queued on ")]
    assert work == 3 * [*range(1, 15), 0]


# The second thread has a hostile name. Each makes a call and waits for the file named.
NAMED = script("""
    import ctypes, threading, time

    for fd in 1, 2:  # gpuprobe may end before
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)

    def work(name):
        ctypes.CDLL(None).prctl(15, name)
        made(runtime.cudaMalloc, 4096)
        while not os.path.exists(sys.argv[1]):
            time.sleep(0.01)

    threads = [threading.Thread(target=work, args=[name]) for name in
               (b"pt_autograd_0", b"\\x1b[2J\\"\\xff")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")


def allocations(recording):
    """Allocations in a recording that goes on."""
    done = run("trace", "-i", recording, "--json", "-e", "cudaMalloc")
    lines = map(json.loads, done.stdout.splitlines() if done.returncode == 0 else [])
    return len(trace.without_start(lines))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("anonymous", [False, True])
def test_threads_have_their_names(tmp_path, form, anonymous):
    """Names are read when the first calls arrive, so the threads live until these are recorded."""
    ending, read = FORMS[form]
    recording, stop = tmp_path / "out.rec", tmp_path / "stop"
    base = ["record", "-O", str(recording)] + ["--anonymize"] * anonymous
    with Probe(tmp_path).start(*NAMED, stop, base=base, interval=None) as running:
        wait_until(lambda: allocations(recording) == 2, "the calls are not recorded")
        stop.touch()
        assert running.finish().status == 0
    export(recording, form, tmp_path / f"out{ending}")
    names = names_of_workers(read(tmp_path / f"out{ending}"))
    if anonymous:
        assert len(set(names)) == 2 and all(name.startswith("task") for name in names), names
    else:
        check_workers(names)


def test_threads_have_their_names_at_once(tmp_path):
    """The trace ends when the calls have lines, and the program goes on."""
    drawn, stop = tmp_path / "out.pftrace", tmp_path / "stop"
    try:
        Probe(tmp_path).run(*NAMED, stop, base=["trace", "--format", "perfetto", "-o", str(drawn),
                                                "--count", "2", "-e", "cudaMalloc"])
    finally:
        stop.touch()
    check_workers(names_of_workers(timeline.read_perfetto(drawn)))


def names_of_workers(drawn):
    return sorted(name for (pid, tid), name in drawn.threads.items() if pid != tid)


def check_workers(names):
    hostile, plain = names
    assert plain == "pt_autograd_0" and '[2J"' in hostile and timeline.plain(plain)


@pytest.mark.parametrize("form, steps", [("perfetto", 30), ("chrome", 1200)])
def test_steps(tmp_path, form, steps):
    """A few steps are found at the end, many while they go on. The last one has no end."""
    drawn, _ = draw(tmp_path, form, STEPS, "--steps", steps, "--launches", 7, "--wait", "stream",
                    "--copy", 4096, "--cpu", 0)
    assert [step.name for step in drawn.steps] == [f"step {i + 1}" for i in range(steps - 1)]
    assert {step.launches for step in drawn.steps} == {7}
    assert all(one.end + 1 == other.start for one, other in zip(drawn.steps, drawn.steps[1:]))
    waits = [call.start for call in drawn.of("cudaStreamSynchronize")]
    assert all(sum(step.start <= wait < step.end for wait in waits) == 1 for step in drawn.steps)


# Two streams: the second waits for an event of the first, and so do its waits. The third waits for
# nothing.
ORDERED = script("""
    from ctypes import c_void_p
    start()
    loaded = made(driver.cuModuleLoadData, b"\\x7fELF" + bytes(4096))
    kernel = made(driver.cuModuleGetFunction, loaded, b"work")
    streams = [made(driver.cuStreamCreate, 1) for _ in range(3)]
    events = [made(driver.cuEventCreate, 0) for _ in range(2)]

    def launch(number):
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, streams[number], None, None))

    def record(event, number):
        need(driver.cuEventRecord(events[event], streams[number]))

    def wait(number, event):
        need(driver.cuStreamWaitEvent(streams[number], events[event], 0))

    launch(0)
    record(0, 0)
    launch(0)
    wait(1, 0)
    launch(1)
    launch(1)
    record(1, 1)
    wait(2, 1)
    launch(2)
    need(driver.cuStreamSynchronize(streams[2]))
    need(driver.cuStreamSynchronize(streams[1]))
    need(driver.cuStreamSynchronize(streams[0]))
""")


@pytest.mark.parametrize("form", FORMS)
def test_streams_that_wait_for_one_another(tmp_path, form):
    """A wait for a stream covers what the stream had to wait for, and no more."""
    drawn, _ = draw(tmp_path, form, *ORDERED)
    launches = drawn.of("cuLaunchKernel")
    records, orders = drawn.of("cuEventRecord"), drawn.of("cuStreamWaitEvent")
    waits = drawn.of("cuStreamSynchronize")
    assert [len(calls) for calls in (launches, records, orders, waits)] == [5, 2, 2, 3]
    covering = [0, 2, 0, 0, 0]  # by launch: the wait that covers it
    assert drawn.arrows and {(start.start, end.start) for start, end in drawn.arrows} == {
        (launch.start, waits[wait].start) for launch, wait in zip(launches, covering)}
    assert [wait.args.get("covers_launches") for wait in waits] == [4, None, 1]
    assert sorted(drawn.orders) == [(one.start, other.start)
                                    for one, other in zip(records, orders)]
    assert sorted(drawn.follows) == [(orders[0].start, launches[2].start),
                                     (orders[1].start, launches[4].start)]
    assert [mark.name for mark in drawn.on("stream") if mark.category == "order"].count(
        "event recorded") == 2


def test_some_calls_have_no_arrows(tmp_path):
    """Without all waits and all frees nothing can be said."""
    steps = (STEPS, "--steps", 3, "--wait", "stream", "--cpu", 0)
    drawn, result = draw(tmp_path, "chrome", *steps, args=["--min-duration", "1ns"])
    assert drawn.calls and not drawn.arrows and not drawn.values
    assert "no arrows and no live memory in" in result.stderr
    assert not drawn.steps
    drawn, _ = draw(tmp_path, "chrome", *steps, args=["-e", "launch,cudaEventSynchronize"])
    assert drawn.calls and not drawn.arrows
    drawn, result = draw(tmp_path, "chrome", *steps, args=["-e", "launch,sync"])
    assert len(drawn.arrows) == 30 and "no live memory in" in result.stderr
    file = tmp_path / "long.rec"
    Probe(Path(tempfile.mkdtemp(dir=tmp_path))).run(
        *steps, args=["--min-duration", "1ns"], base=["record", "-o", str(file)])
    assert "no arrows and no live memory in" in export(file, "chrome", tmp_path / "x.json").stderr
    assert not timeline.read_chrome(tmp_path / "x.json").arrows


# Kernels and a process with names that would damage JSON, protobuf's text, or a terminal.
NAMES = [b'quo"te\\', b"\x1b]0;title\x07", b"new\nline", b"\xff\xfe\x80broken",
         "\u202eright to left".encode(), b"</script>", b"n" * 200]
HOSTILE = script(f"""
    import ctypes
    ctypes.CDLL(None).prctl(15, b'a"\\x1b[2J\\\\\\xff', 0, 0, 0)
    start()
    loaded = made(driver.cuModuleLoadData, b"\\x7fELF" + bytes(4096))
    for name in {NAMES!r}:
        kernel = made(driver.cuModuleGetFunction, loaded, name)
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
""")


@pytest.mark.parametrize("form", FORMS)
def test_hostile_names(tmp_path, form):
    """The file stays well-formed, and no viewer or terminal acts on them."""
    drawn, _ = draw(tmp_path, form, *HOSTILE, args=["-e", "cuModuleGetFunction,cuLaunchKernel"])
    name, = drawn.processes.values()
    assert name.startswith('a"') and "[2J" in name
    given = [call.args["name"] for call in drawn.of("cuModuleGetFunction")]
    assert len(set(given)) == len(NAMES) and "n" * 200 in given[-1]
    assert len(drawn.of("cuLaunchKernel")) == len(NAMES)
    # What cannot be a kernel's name is not made one.
    assert any(mark.name.startswith("nnn") for mark in drawn.on("default stream"))


def test_more_names_than_are_kept(tmp_path):
    """The table of names of a Perfetto file begins anew, and the file says so."""
    drawn, _ = draw(tmp_path, "perfetto", *script("""
        start()
        loaded = made(driver.cuModuleLoadData, b"\\x7fELF" + bytes(4096))
        for number in range(4300):
            kernel = made(driver.cuModuleGetFunction, loaded, b"kernel_%d" % number)
            need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
    """), args=["-e", "cuLaunchKernel"])
    assert [mark.name for mark in drawn.marks] == [f"kernel_{i}" for i in range(4300)]
    assert [call.args["kernel"] for call in drawn.calls] == [mark.name for mark in drawn.marks]


def test_every_kind_of_line():
    """The file of tests/unit/output/test_timeline.c."""
    drawn = timeline.read_chrome(paths.ROOT / "tests" / "unit" / "golden" / "timeline.json")
    assert len(drawn.calls) == 30 and len(drawn.on("losses")) == 4 and len(drawn.arrows) == 3


def test_protoc_reads_it(recording, tmp_path):
    protoc = shutil.which("protoc")
    if not protoc:
        pytest.skip("protoc is missing: apt-get install protobuf-compiler")
    file = tmp_path / "out.pftrace"
    export(recording, "perfetto", file)
    text = subprocess.run(
        [protoc, "--decode=perfetto.protos.Trace", f"-I{PROTO.parent}", PROTO],
        input=timeline.expanded(file), stdout=subprocess.PIPE, check=True).stdout.decode()
    assert not any(line.strip()[0].isdigit() for line in text.splitlines()), "unknown fields"
    assert text.count("track_event {") == text.count("type: ") > 1000
    assert text.count("type: 1\n") == text.count("type: 2\n")


def test_kineto(recording, tmp_path):
    file = tmp_path / "out.json.gz"
    done = export(recording, "kineto", file)
    assert "has the calls of the host and no GPU times" in done.stderr
    loaded = timeline.load(file)
    lines = lines_of(recording, "--nested")
    calls = [event for event in loaded["traceEvents"]
             if event["ph"] == "X" and event["cat"] != "user_annotation"]
    assert len(calls) == len(lines)
    assert Counter(call["cat"] for call in calls).keys() == {"cuda_runtime", "cuda_driver"}
    assert len({call["args"]["correlation"] for call in calls}) == len(calls)
    assert not any("stream" in call["args"] or "device" in call["args"] for call in calls)
    assert any("stream_handle" in call["args"] for call in calls)
    memory = [event for event in loaded["traceEvents"] if event["name"] == "[memory]"]
    assert memory and memory[-1]["args"]["Total Reserved"] == sum(
        event["args"]["Bytes"] for event in memory)
    assert loaded["baseTimeNanoseconds"] > 1 << 60 and loaded["schemaVersion"] == 1


def test_kineto_has_steps(tmp_path):
    """They are annotations of the thread, with its calls inside, and count from 1 as the other
    forms do: HTA finds them by their name."""
    file, drawn, other = tmp_path / "run.rec", tmp_path / "out.json", tmp_path / "out.pftrace"
    result = Probe(tmp_path).run(STEPS, "--steps", 20, "--launches", 7, "--wait", "stream",
                                 "--cpu", 0, base=["record", "-o", str(file)])
    assert result.status == 0, result.stderr
    export(file, "kineto", drawn)
    export(file, "perfetto", other)
    events = timeline.load(drawn)["traceEvents"]
    steps = [event for event in events if event.get("cat") == "user_annotation"]
    assert [step["name"] for step in steps] == [f"ProfilerStep#{i + 1}" for i in range(19)]
    known = timeline.read_perfetto(other)
    begin = timeline.load(drawn)["otherData"]["boot_ns"]
    assert [(step["pid"], step["tid"], begin + step["ts"], begin + step["ts"] + step["dur"])
            for step in steps] == [(step.pid, step.tid, step.start, step.end)
                                   for step in known.steps]
    launches = [event for event in events if event["name"] == "cudaLaunchKernel"]
    for step in steps:
        inside = [call for call in launches if call["tid"] == step["tid"] and
                  step["ts"] <= call["ts"] and
                  call["ts"] + call["dur"] <= step["ts"] + step["dur"]]
        assert len(inside) == step["args"]["launches"] == 7


def test_a_part(recording, tmp_path):
    lines = lines_of(recording)
    begin = lines_of(recording, "--timestamps", "relative")[len(lines) // 2]["time"]
    file = tmp_path / "out.pftrace"
    export(recording, "perfetto", file, "--from", f"{begin}ms")
    assert 0 < len(timeline.read_perfetto(file).calls) < len(lines_of(recording, "--nested"))
    export(recording, "perfetto", file, "-e", "launch")
    assert {call.name for call in timeline.read_perfetto(file).calls} == {
        line["event"] for line in lines_of(recording, "--nested", "-e", "launch")}


@pytest.mark.parametrize("seconds", [0, 1.5])
@pytest.mark.parametrize("form", FORMS)
def test_a_program_that_dies_in_a_call(tmp_path, form, seconds):
    """
    A call that does not return ends where it was last seen, and says so. After a second the file
    has its beginning already.
    """
    ending, read = FORMS[form]
    file = tmp_path / f"drawn{ending}"
    result = Probe(tmp_path).run(
        *DIES, seconds, env={"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"}, status=None,
        base=["trace", "--format", form, "-o", str(file)])
    assert result.status == 128 + signal.SIGKILL, result.stderr
    drawn = read(file)
    call, = drawn.of("cuCtxSynchronize")
    assert call.args["unfinished"] and call.end >= call.start + seconds * 1e9
    assert not any(each.end is None for each in drawn.calls)
    assert drawn.values[-1][3] == 4096


@pytest.mark.slow
@pytest.mark.plain("it measures gpuprobe's memory")
def test_memory_is_bounded(tmp_path):
    """A million calls take no more memory than a tenth of them."""
    file = tmp_path / "million.rec"
    peaks = {}
    for rounds in (1563, 15625):
        directory = tmp_path / str(rounds)
        directory.mkdir()
        result = Probe(directory).run(
            TRACED, "--api", "driver", "--threads", 16, "--rounds", rounds, timeout=300,
            args=["--buffer", "256M"], base=["record", "-O", str(file)])
        assert result.status == 0, result.stderr
        for form, (ending, _) in FORMS.items():
            out = tmp_path / f"out{ending}"
            with subprocess.Popen([paths.GPUPROBE, "export", "-i", file, "--to", form, "-o", out],
                                  env=environment(), stderr=subprocess.PIPE, text=True) as process:
                told = process.stderr.read()
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = status
            assert status == 0, told
            peaks.setdefault(form, []).append(usage.ru_maxrss)
            calls = int(re.search(r"written (\d+) recorded calls", told)[1])
            if form == "chrome":
                with gzip.open(out) as lines:
                    # Steps are slices as well.
                    assert sum(line.startswith(b'{"ph":"X"') and b'"cat":"steps"' not in line
                               for line in lines) == calls
                assert "unpacked, and browsers open" in told or rounds < 10000
    assert calls > 900_000
    for few, many in peaks.values():
        assert many < few + 8192, peaks


@pytest.mark.parametrize("options, message", [
    (("-c",), "--format perfetto and -c do not go together"),
    (("-C",), "--format perfetto and -C do not go together"),
    (("--timestamps", "ns"), "--format perfetto and --timestamps do not go together"),
    (("--stack",), "--format perfetto and --stack do not go together"),
    (("--entry-return",), "--format perfetto and --entry-return do not go together"),
    (("--no-return-probes",), "--format perfetto and --no-return-probes do not go together"),
    (("-o", "a", "-O", "b"), "a timeline goes to one file"),
])
def test_options_of_text(options, message):
    fails(run("trace", "--format", "perfetto", *options), 2, message)


@pytest.mark.parametrize("options, message", [
    ((), "give a recording with -i FILE"),
    (("-i", "x"), "give the form with --to"),
    (("-i", "x", "--to", "chrome"), "give the file of the timeline with -o FILE"),
    (("-i", "x", "--to", "svg", "-o", "y"), "--to"),
    (("-i", "x", "--to", "chrome", "-o", "y", "--from", "2s", "--until", "1s"),
     "--from is later than --until"),
    (("-i", "x", "--to", "chrome", "-o", "y", "true"), "export takes no command"),
])
def test_options_of_export(options, message):
    fails(run("export", *options), 2, message)
