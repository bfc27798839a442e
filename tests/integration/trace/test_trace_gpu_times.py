# SPDX-License-Identifier: BSD-2-Clause
"""
What GPUs did in `gpuprobe trace --gpu-times`, in recordings and in timelines, against the truth of
the simulated GPU (CUDA_SIM_WORK): each piece of work once, with its duration, its place and its
call.
"""
import json
import re
from collections import Counter, namedtuple
from pathlib import Path

import pytest

from lib import paths, timeline, trace
from lib.cli import run
from lib.script import script

CLOCK = "kernel=20us,copy=5us,set=2us,graph_node=1us,kernel:step_1=33us"
STEPS = (paths.workload("steps"), "--steps", 40, "--copy", 4096, "--wait", "stream")
LAUNCH = paths.workload("launch")
Work = namedtuple("Work", "kind device stream name bytes ns")
GPUS = (".json", timeline.read_chrome), (".pftrace", timeline.read_perfetto)


def probe(tmp_path, command, *options, program=STEPS, **env):
    env = {"CUDA_SIM_CLOCK": CLOCK, "CUDA_SIM_DIRECTORY": paths.SIM, "LD_LIBRARY_PATH": paths.SIM,
           "CUDA_INJECTION64_PATH": None, "CUDA_SIM_WORK": tmp_path / "work", **env}
    return run(command, "--gpu-times", *options, "--", *program, **env)


def truth(tmp_path):
    """(Work, its begin) in the order of submission."""
    pieces = []
    for line in (tmp_path / "work").read_text(encoding="utf-8").splitlines():
        kind, device, stream, begin, end, size, name = line.split(" ")
        pieces.append((Work(kind, int(device), int(stream), name if kind == "kernel" else kind,
                            int(size) if kind in ("copy", "set") else 0, int(end) - int(begin)),
                       int(begin)))
    return pieces


def split(lines):
    """Those of calls and those of GPUs' work."""
    calls = [line for line in lines if line.get("line") != "gpu"]
    return calls, [line for line in lines if line.get("line") == "gpu"]


def work_of(line):
    details, kind = line["details"], line["event"].removeprefix("gpu_")
    return Work(kind, details["device"], details["stream"], details.get("kernel", kind),
                details.get("size", 0), line["duration"])


def json_lines(text):
    """Without what the program printed."""
    return trace.without_start(json.loads(line) for line in text.splitlines()
                               if line.startswith("{"))


def expect_truth(tmp_path, works, begins):
    """The same pieces, and begins that differ from the truth's by the clocks alone, which are
    compared once for each buffer."""
    pieces = truth(tmp_path)
    assert Counter(works) == Counter(work for work, _ in pieces)
    real = {}
    for work, begin in pieces:
        real.setdefault(work, []).append(begin)
    shown = {}
    for work, begin in zip(works, begins):
        shown.setdefault(work, []).append(begin)
    offsets = Counter(one - other for work in real
                      for one, other in zip(sorted(shown[work]), sorted(real[work])))
    assert len(offsets) <= 1 + len(pieces) // 100, offsets


def expect_calls(lines):
    """Each piece of work comes after its call's line, which submitted such work."""
    calls, count = {}, 0
    for line in lines:
        if line.get("line") != "gpu":
            calls[line["tid"], line["time"]] = line
            continue
        call = calls[line["tid"], line["called"]]
        assert line["details"]["delay_ns"] == line["time"] - call["time"] >= 0
        assert line["details"].get("kernel") == call["details"].get("kernel")
        assert timeline.WORK[line["event"]].search(call["event"]), (line, call)
        count += 1
    return count


def test_lines(tmp_path):
    done = probe(tmp_path, "trace", "--json", "--timestamps", "ns", "--nested", "-o",
                 "time,pid,tid,device,layer,event,details,kernel,stream,bw,duration,end,result")
    assert done.returncode == 0, done.stderr
    lines = json_lines(done.stdout)
    calls, gpu = split(lines)
    assert expect_calls(lines) == 440
    expect_truth(tmp_path, [work_of(line) for line in gpu], [line["time"] for line in gpu])
    assert f"written {len(calls)} calls, lost 0; GPU: 440 kernels, copies, sets and graphs\n" \
        in done.stderr
    for line in gpu:
        assert (line["device"], line["layer"], line["result"]) == (0, "gpu", None)
        assert line["end"] == line["time"] + line["duration"]
        assert line["stream"] == line["details"]["stream"]
        copied = line["event"] == "gpu_copy"
        assert line["bw"] == (4096 * 10 ** 9 // 5000 if copied else None)
        assert line["kernel"] == (None if copied else line["details"]["kernel"])
    schema = json.loads(run("trace", "--json-schema").stdout)["properties"]
    assert all(line.keys() <= schema.keys() for line in gpu)
    assert "gpu" in schema["line"]["enum"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    directory = tmp_path_factory.mktemp("gpu")
    done = probe(directory, "record", "-o", directory / "run.rec")
    assert done.returncode == 0 and "lost 0; GPU: 440 kernels" in done.stderr, done.stderr
    return directory


def export(recording, form, file, *options):
    done = run("export", "-i", recording, "--to", form, "-o", file, *options)
    assert done.returncode == 0, done.stderr
    return done


def test_recording(recorded):
    done = run("trace", "-i", recorded / "run.rec", "--json", "--timestamps", "ns")
    assert "; GPU: 440 kernels, copies, sets and graphs, lost 0\n" in done.stderr
    lines = json_lines(done.stdout)
    assert expect_calls(lines) == 440
    gpu = split(lines)[1]
    expect_truth(recorded, [work_of(line) for line in gpu], [line["time"] for line in gpu])


def test_recording_is_small(recorded, tmp_path):
    """On disk, with the calls, and by the difference to calls alone."""
    done = run("record", "-o", tmp_path / "calls.rec", "--", *STEPS, CUDA_SIM_CLOCK=CLOCK,
               CUDA_SIM_DIRECTORY=paths.SIM, LD_LIBRARY_PATH=paths.SIM)
    assert done.returncode == 0, done.stderr
    sizes = [file.stat().st_size for file in (recorded / "run.rec", tmp_path / "calls.rec")]
    assert sizes[0] - sizes[1] < 24 * 440


def test_options_of_recordings(recorded):
    def shown(*options):
        done = run("trace", "-i", recorded / "run.rec", "--json", "--timestamps", "ns", *options)
        assert done.returncode == 0, done.stderr
        return split(json_lines(done.stdout))

    calls, gpu = shown("-e", "copy")
    assert {line["event"] for line in calls} == {"cudaMemcpyAsync"}
    assert Counter(line["event"] for line in gpu) == {"gpu_copy": 40}
    assert shown("-p", 1) == ([], [])
    assert not shown("-e", "sync")[1]
    begin = json.loads(run("trace", "-i", recorded / "run.rec", "--json").stdout
                       .splitlines()[0])["start"]["boot_ns"]
    times = sorted(line["time"] for line in shown()[1])
    middle = times[len(times) // 2]
    parts = [shown("--to", f"{middle - begin}ns")[1],
             shown("--from", f"{middle - begin + 1}ns")[1]]
    assert [max(line["time"] for line in parts[0]) <= middle,
            min(line["time"] for line in parts[1]) > middle] == [True, True]
    assert len(parts[0]) + len(parts[1]) == 440


def test_timelines(recorded, tmp_path):
    """Slices with the true durations, and arrows from the launches, in both forms; and live."""
    drawn = []
    for ending, read in GPUS:
        form = "chrome" if ending == ".json" else "perfetto"
        done = export(recorded / "run.rec", form, tmp_path / f"out{ending}")
        assert "GPU: 440 kernels, copies, sets and graphs, lost 0" in done.stderr
        drawn.append(read(tmp_path / f"out{ending}"))
    assert Counter(work.key for work in drawn[0].gpu) == Counter(work.key for work in drawn[1].gpu)
    assert Counter(work.call.key for work in drawn[0].gpu) == \
        Counter(work.call.key for work in drawn[1].gpu)
    expect_slices(recorded, drawn[0])


def expect_slices(directory, drawn):
    works = [Work(work.category.removeprefix("gpu_"), work.args["device"], work.args["stream"],
                  work.args.get("kernel", work.category.removeprefix("gpu_")),
                  work.args.get("bytes", 0), work.end - work.start) for work in drawn.gpu]
    expect_truth(directory, works, [work.start for work in drawn.gpu])
    assert all(work.call for work in drawn.gpu)


def test_live_timeline(tmp_path):
    done = probe(tmp_path, "trace", "--format", "perfetto", "-o", tmp_path / "out.pftrace")
    assert done.returncode == 0, done.stderr
    drawn = timeline.read_perfetto(tmp_path / "out.pftrace")
    expect_slices(tmp_path, drawn)
    # If the clocks' difference turns out to be another one, some work overlaps.
    assert {work.track.split(",")[0] for work in drawn.gpu} == {
        f"GPU 0 stream {drawn.gpu[0].args['stream']}"}


def test_kineto(recorded, tmp_path):
    """As PyTorch's profiler writes it: work on pid GPU, tid stream, joined by `correlation`."""
    done = export(recorded / "run.rec", "kineto", tmp_path / "out.json")
    assert "no GPU times" not in done.stderr
    events = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["traceEvents"]
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") == "cuda_runtime"}
    work = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy")]
    assert Counter(event["cat"] for event in work) == {"kernel": 400, "gpu_memcpy": 40}
    assert len({event["args"]["correlation"] for event in work}) == 440
    arrows = {phase: {event["id"]: event for event in events if event["ph"] == phase}
              for phase in "sf"}
    assert arrows["s"].keys() == arrows["f"].keys() and len(arrows["s"]) == 440
    ends = {(event["pid"], event["tid"], event["ts"]): arrows["s"][event["id"]]
            for event in arrows["f"].values()}
    for event in work:
        call, args = calls[event["args"]["correlation"]], event["args"]
        assert (event["pid"], event["tid"]) == (args["device"], args["stream"])
        assert call["name"] == ("cudaLaunchKernel" if event["cat"] == "kernel" else
                                "cudaMemcpyAsync")
        assert event["name"] == call["args"].get("kernel", "Memcpy HtoD")
        assert "External id" not in args and "stream" not in call["args"]
        assert args.get("memory bandwidth (GB/s)") == (
            pytest.approx(args["bytes"] / 1000 / event["dur"], abs=0.001)
            if event["cat"] == "gpu_memcpy" else None)
        begin = ends[event["pid"], event["tid"], event["ts"]]
        assert (begin["cat"], begin["pid"], begin["tid"], begin["ts"]) == (
            "ac2g", call["pid"], call["tid"], call["ts"])


@pytest.mark.slow
def test_cut_recording(tmp_path):
    """What is before the cut is there, and joined as in the whole recording. A second has a part
    of the file."""
    done = probe(tmp_path, "record", "-o", tmp_path / "run.rec", program=script("""
        import time
        start()
        _, (kernel,) = module("kernel")
        for _ in range(4):
            for _ in range(600):
                need(launch(kernel))
            time.sleep(1.1)
    """))
    assert "lost 0; GPU: 2400 kernels, copies, sets and graphs\n" in done.stderr
    whole = {work.key for work in read_exported(tmp_path / "run.rec", tmp_path).gpu}
    data = (tmp_path / "run.rec").read_bytes()
    counts = []
    for part in (1, 2, 3):
        cut = tmp_path / "cut.rec"
        cut.write_bytes(data[:len(data) * part // 4])
        drawn = read_exported(cut, tmp_path)
        assert {work.key for work in drawn.gpu} <= whole
        assert all(work.call for work in drawn.gpu)
        counts.append(len(drawn.gpu))
    assert counts == sorted(counts) and 0 < counts[-1] < 2400


def read_exported(recording, directory):
    export(recording, "chrome", directory / "read.json")
    return timeline.read_chrome(directory / "read.json")


def test_selection(tmp_path):
    """-e chooses work by the calls that submit it."""
    done = probe(tmp_path, "trace", "--json", "-e", "launch")
    calls, gpu = split(json_lines(done.stdout))
    assert {line["event"] for line in calls} == {"cudaLaunchKernel"}
    assert Counter(line["event"] for line in gpu) == {"gpu_kernel": 400}


def test_losses(tmp_path):
    """Work that CUPTI lost, did not time, or did not join is counted; --strict tells of it."""
    done = probe(tmp_path, "trace", "--strict", "--format", "tsv", "-e", "launch",
                 program=(LAUNCH, "--launches", 1000),
                 CUDA_SIM_CUPTI="drop=10,untimed=9,uncalled=8")
    numbers = range(1, 1001)
    dropped = sum(n % 10 == 0 for n in numbers)
    untimed = sum(n % 9 == 0 and n % 10 != 0 for n in numbers)
    shown = [n for n in numbers if n % 10 and n % 9]
    uncalled = sum(n % 8 == 0 for n in shown)
    assert done.returncode == 3
    lines = [line.split("\t") for line in done.stdout.splitlines() if line.endswith("<gpu>")]
    assert len(lines) == len(shown)
    head = done.stdout.splitlines()[0].split("\t")
    assert sum(line[head.index("tid")] == "-" for line in lines) == uncalled
    assert (f"GPU: {len(shown)} kernels, copies, sets and graphs, {uncalled} of them without their "
            f"call, {1000 // 8} calls without a record of CUPTI, {dropped} records lost by CUPTI, "
            f"{untimed} without a time\n") in done.stderr


def test_killed(tmp_path):
    """Records in the buffers of a killed program are missing, which is said."""
    done = probe(tmp_path, "record", "-o", tmp_path / "killed.rec", program=script("""
        import signal
        start()
        _, (kernel,) = module("kernel")
        for _ in range(1000):
            need(launch(kernel))
        os.kill(os.getpid(), signal.SIGKILL)
    """))
    told = re.search(r"; GPU: (\d+) kernels, copies, sets and graphs(?:, \d+ of them without "
                     r"their call)?, (\d+) calls without a record of CUPTI\n", done.stderr)
    shown, missing = map(int, told.groups())
    assert 0 < shown < 1000 and 0 < missing <= 1000 - shown + 1
    drawn = read_exported(tmp_path / "killed.rec", tmp_path)
    assert len(drawn.gpu) == shown
    assert [call.name for call in drawn.calls].count("cuLaunchKernel") == 1000


def test_no_cupti(tmp_path):
    done = probe(tmp_path, "trace", program=(LAUNCH, "--launches", 10),
                 CUDA_SIM_CUPTI="error=39")
    assert done.returncode == 0
    assert re.search(r"no GPU times of process \d+: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED "
                     r"\(CUPTI's error 39\)", done.stderr)
    assert "; GPU: 0 kernels" in done.stderr and "gpu_kernel" not in done.stdout


@pytest.mark.slow
def test_threads_graphs_and_processes(tmp_path):
    """Many threads; work of graphs as wholes; the timelines of several processes."""
    for number, program in enumerate((
            (LAUNCH, "--threads", 4, "--launches", 5000, "--kernels", 100, "--name-length", 900),
            (LAUNCH, "--launches", 50, "--function", "graph"))):
        directory = Path(tmp_path / str(number))
        directory.mkdir()
        done = probe(directory, "trace", "--format", "chrome", "--buffer", "256M", "-o",
                     directory / "out.json", program=program)
        assert done.returncode == 0 and "lost 0" in done.stderr, done.stderr
        expect_slices(directory, timeline.read_chrome(directory / "out.json"))


def test_count(tmp_path):
    """--count counts calls; work that is shown is that of shown calls."""
    done = probe(tmp_path, "trace", "--json", "--timestamps", "ns", "-e", "launch", "--count", 300,
                 program=(LAUNCH, "--launches", 20000))
    lines = json_lines(done.stdout)
    calls, gpu = split(lines)
    assert len(calls) == 300
    assert expect_calls(lines) == len(gpu) <= 300
