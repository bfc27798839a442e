# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe flame: every stack of a program whose calls are known with its weight, in every form.

programs/flame.c calls the driver always as often from the same functions.
"""
import json
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from lib.paths import ROOT, SIM
from lib.probe import Background
from lib.script import PROGRAMS

SVG = "{http://www.w3.org/2000/svg}"
FORMS = {"folded": ".folded", "svg": ".svg", "speedscope": ".json"}
UNITS = {"bytes": "bytes", "live-bytes": "bytes", "wait-time": "nanoseconds", "launches": "none",
         "failures": "none", "gpu-time": "nanoseconds"}
# Every 25th allocation and every 10th launch.
FAILURES = "cuMemAlloc_v2:%25,cuLaunchKernel:%10=701"
SLOW = "cuCtxSynchronize=200ms"
EXPECTED = {
    "bytes": {
        ("main", "keep", "grow", "cuMemAlloc_v2"): 100 * 1000,
        ("main", "spare", "grow", "cuMemAlloc_v2"): 50 * 2000,
    },
    "live-bytes": {
        ("main", "keep", "grow", "cuMemAlloc_v2"): 100 * 1000,
        ("main", "spare", "grow", "cuMemAlloc_v2"): 5 * 2000,
    },
    "launches": {
        ("main", "first", "launch", "cuLaunchKernel", "alpha"): 200,
        ("main", "second", "launch", "cuLaunchKernel", "alpha"): 77,
        ("main", "second", "launch", "cuLaunchKernel", "beta"): 300,
    },
    "failures": {
        ("main", "keep", "grow", "cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY"): 4,
        ("main", "spare", "grow", "cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY"): 2,
        ("main", "first", "launch", "cuLaunchKernel", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"): 20,
        ("main", "second", "launch", "cuLaunchKernel",
         "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"): 7 + 30,
    },
}


def build(path, *options):
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fno-optimize-sibling-calls", *options,
                    f"-I{ROOT}/sim/include", "-o", path, PROGRAMS / "flame.c", f"-L{SIM}",
                    "-l:libcuda.so.1", f"-Wl,-rpath,{SIM}"], check=True)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """programs/flame.c"""
    path = tmp_path_factory.mktemp("flame") / "flame"
    build(path, "-fno-omit-frame-pointer")
    return path


# --- the forms read back: (process or None, frames) -> weight ---

def from_main(stack):
    """What is outside of main depends on the C library."""
    return tuple(stack[stack.index("main"):] if "main" in stack else stack)


def read_folded(text):
    stacks = {}
    for line in text.splitlines():
        stack, _, weight = line.rpartition(" ")
        assert stack not in stacks
        stacks[stack] = int(weight)
    return {from_main(stack.split(";")): weight for stack, weight in stacks.items()}


def read_frames(text):
    """Of an SVG: (depth, begin, end, name, weight as shown), in their order."""
    frames = []
    for frame in ElementTree.fromstring(text).find(f"{SVG}svg[@id='frames']"):
        name, _, shown = frame.find(f"{SVG}title").text.partition("\n")
        assert frame.find(f"{SVG}text").text == name
        assert [child.tag for child in frame] == [SVG + "title", SVG + "rect", SVG + "text"]
        frames.append((*(int(frame.get(f"data-{key}")) for key in ("depth", "begin", "end")),
                       name, shown, float(frame.get("x").rstrip("%")),
                       float(frame.get("width").rstrip("%"))))
    return frames


SIZES = {"KiB": 1 << 10, "MiB": 1 << 20, "us": 1e3, "ms": 1e6, "s": 1e9, "k": 1e3, "M": 1e6}


def is_rounded(weight, shown):
    """Whether the text begins with the weight, rounded to the digits that it has."""
    number, unit = re.match(r"([\d,.]+) (\w+)", shown).groups()
    size = SIZES.get(unit, 1)
    digits = len(number.partition(".")[2])
    return abs(float(number.replace(",", "")) - weight / size) <= 0.51 / 10 ** digits


def read_svg(text):
    """What a frame has besides those above it ends there."""
    frames, path, stacks = read_frames(text), [], Counter()
    total = frames[0][2]
    for depth, begin, end, name, shown, x, width in frames:
        path[depth:] = [name]
        assert is_rounded(end - begin, shown), (end - begin, shown)
        assert (abs(x - 100 * begin / total) < 1e-4
                and abs(width - 100 * (end - begin) / total) < 1e-4)
        stacks[tuple(path)] += end - begin
        if depth:
            stacks[tuple(path[:-1])] -= end - begin
    assert path[0] == "all"
    return {from_main(stack[1:]): weight for stack, weight in stacks.items() if weight}


def read_speedscope(text, by):
    """By the rules of its file format."""
    data = json.loads(text)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    assert data["exporter"].startswith("gpuprobe ") and data["activeProfileIndex"] == 0
    frames = data["shared"]["frames"]
    for frame in frames:
        assert set(frame) <= {"name", "file", "line"} and isinstance(frame["name"], str)
    stacks = Counter()
    [profile] = data["profiles"]
    assert set(profile) == {"type", "name", "unit", "startValue", "endValue", "samples", "weights"}
    assert (profile["type"] == "sampled" and profile["unit"] == UNITS[by]
            and profile["name"].startswith("flame ("))
    assert profile["startValue"] == 0 and profile["endValue"] == sum(profile["weights"])
    assert len(profile["samples"]) == len(profile["weights"])
    for sample, weight in zip(profile["samples"], profile["weights"]):
        stacks[from_main([frames[number]["name"] for number in sample])] += weight
    return dict(stacks)


def read(form, text, by):
    return ({"folded": read_folded, "svg": read_svg}[form](text)
            if form != "speedscope" else read_speedscope(text, by))


def time_gpu(gpuprobe, path, program, **settings):
    """With the simulated CUPTI, where the machine may have a real one."""
    env = {"CUDA_SIM_CLOCK": "kernel=20us,kernel:beta=3us", "LD_LIBRARY_PATH": SIM,
           "CUDA_INJECTION64_PATH": None, **settings}
    return run(gpuprobe, "gpu-time", path, program, args=["--gpu-times"], env=env)


def run(gpuprobe, by, path, *command, args=(), **options):
    return gpuprobe.run(*command, base=["flame"], args=["--by", by, "-o", path, *args], **options)


# --- weights ---

@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by", EXPECTED)
def test_weights(gpuprobe, program, tmp_path, by, form):
    path = tmp_path / ("graph" + FORMS[form])
    result = run(gpuprobe, by, path, program,
                 args=["--stack-sample", 1] if by == "launches" else [],
                 env={"CUDA_SIM_FAIL": FAILURES} if by == "failures" else {})
    assert read(form, path.read_text(encoding="utf-8"), by) == EXPECTED[by]
    assert sorted(os.listdir(tmp_path)) == sorted([path.name, "truth1"])
    assert "gpuprobe" not in result.stderr


@pytest.mark.parametrize("form", [pytest.param(form, marks=pytest.mark.slow)
                                  if form != "folded" else form for form in FORMS])
def test_gpu_time(gpuprobe, program, tmp_path, form):
    """Each launch has the time that its kernel ran, whatever launched it."""
    path = tmp_path / ("graph" + FORMS[form])
    result = time_gpu(gpuprobe, path, program)
    assert read(form, path.read_text(encoding="utf-8"), "gpu-time") == {
        stack: launches * (3_000 if stack[-1] == "beta" else 20_000)
        for stack, launches in EXPECTED["launches"].items()}
    assert "gpuprobe" not in result.stderr


@pytest.mark.slow
def test_gpu_time_of_unknown_calls(gpuprobe, program, tmp_path):
    path = tmp_path / "graph.folded"
    result = time_gpu(gpuprobe, path, program, CUDA_SIM_CUPTI="uncalled=1")
    assert read("folded", path.read_text(encoding="utf-8"), "gpu-time") == {
        ("[stack not known]",): 277 * 20_000 + 300 * 3_000}
    assert "stack not known: 6.4 ms, 100.0 %" in result.stderr


@pytest.mark.slow
def test_gpu_time_of_another_profiler(gpuprobe, program, tmp_path):
    path = tmp_path / "graph.folded"
    result = time_gpu(gpuprobe, path, program, CUDA_SIM_CUPTI="error=39")
    assert path.read_text(encoding="utf-8") == ""
    assert "no work of a GPU was seen: the graph is empty" in result.stderr
    assert "no GPU times: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" in result.stderr


@pytest.mark.parametrize("form", FORMS)
def test_waits(gpuprobe, program, tmp_path, form):
    """The time is between the library's own and the program's,
    and the report has the total of short waits."""
    path = tmp_path / ("graph" + FORMS[form])
    result = run(gpuprobe, "wait-time", path, program, args=["--min-wait", "100ms"],
                 env={"CUDA_SIM_LATENCY": SLOW, "WAITED": tmp_path / "waited"})
    stacks = read(form, path.read_text(encoding="utf-8"), "wait-time")
    assert list(stacks) == [("main", "slow", "cuCtxSynchronize")]
    [weight] = stacks.values()
    assert result.truth.ns("cuCtxSynchronize") <= weight <= int((tmp_path / "waited").read_text())
    # 40 of a stream and 45 frees.
    assert ("waits shorter than 100 ms not shown: 85, together "
            in result.stderr)


@pytest.mark.parametrize("sample", [2, 64, 256])
def test_launches_are_all_there_however_few_stacks_are_taken(gpuprobe, program, tmp_path, sample):
    """Paths through one call from outer functions are estimated by samples,
    and the output says so."""
    path = tmp_path / "graph.txt"
    result = run(gpuprobe, "launches", path, program, args=["--stack-sample", sample])
    stacks = read_folded(path.read_text(encoding="utf-8"))
    assert set(stacks) <= set(EXPECTED["launches"])
    alpha = [weight for stack, weight in stacks.items() if stack[-1] == "alpha"]
    assert sum(alpha) == 277 and sum(stacks.values()) == 577
    assert abs(max(alpha) - 200) < 2 * sample
    assert f"and of one in {sample} after it" in result.stderr


def test_a_step_of_as_many_launches_as_one_stack_stands_for(gpuprobe, program, tmp_path):
    """The sampled launches are drawn at random: in fixed turns they would always be
    the step's first."""
    path = tmp_path / "graph.txt"
    run(gpuprobe, "launches", path, program, "turns", args=["--stack-sample", 64])
    stacks = read_folded(path.read_text(encoding="utf-8"))
    ways = {way: stacks["main", way, "launch", "cuLaunchKernel", "alpha"]
            for way in ("left", "right")}
    assert sum(ways.values()) == sum(stacks.values()) == 40 * 64
    # Of some 40 stacks at least 4 are of the rarer way but once in ten million runs.
    assert min(ways.values()) > 64


@pytest.mark.parametrize("mode", ["dwarf", "auto"])
def test_without_frame_pointers(gpuprobe, tmp_path, mode):
    program, path = tmp_path / "flame", tmp_path / "graph.folded"
    build(program, "-fomit-frame-pointer")
    run(gpuprobe, "bytes", path, program, args=["--stack", mode])
    assert read_folded(path.read_text(encoding="utf-8")) == EXPECTED["bytes"]


def test_stacks_that_break_off_say_so(gpuprobe, tmp_path):
    """Nothing looks outermost that is not, and what helps is told where it does."""
    program, path = tmp_path / "flame", tmp_path / "graph.folded"
    build(program, "-fomit-frame-pointer")
    result = run(gpuprobe, "bytes", path, program, args=["--stack", "fp"])
    stacks = read_folded(path.read_text(encoding="utf-8"))
    assert sum(stacks.values()) == sum(EXPECTED["bytes"].values())
    assert all(stack[0] == "[callers not found]" for stack in stacks)
    assert result.stderr.count("some stacks break off at flame: use --stack auto") == 1
    result = run(gpuprobe, "bytes", path, program, args=["--stack", "auto"])
    assert "break off" not in result.stderr


def test_a_process_that_was_there_before(gpuprobe, program, tmp_path):
    """Its memory from before is not known, and that is told; Ctrl-C writes the file."""
    path = tmp_path / "graph.svg"
    with Background(program, "wait") as background:
        assert background.stdout.readline() == "done\n"
        result = run(gpuprobe, "live-bytes", path, args=["-p", background.pid, "--duration", "0.5"])
        assert "(flame): no CUDA call seen since attach" in result.stderr
        assert "nothing was seen: the graph is empty" in result.stderr
        frames = read_frames(path.read_text(encoding="utf-8"))
        assert [frame[3] for frame in frames] == ["all"]


def test_ctrl_c_writes_what_there_is(gpuprobe, program, tmp_path):
    """Of the whole machine, on which others may use CUDA too."""
    path, library = tmp_path / "graph.folded", SIM / "libcuda.so.1"
    with gpuprobe.start(base=["flame", "--by", "live-bytes", "--processes"],
                        args=["-o", path, "-v"], interval=None, libraries=[library]) as running:
        while f"{library}: " not in running.stderr:
            assert running.process.poll() is None
            time.sleep(0.01)
        with Background(program, "wait") as background:
            assert background.stdout.readline() == "done\n"
            result = running.stop(signal.SIGINT)
            name = f"flame ({background.pid});"
    assert result.status == 0
    lines = [line for line in path.read_text(encoding="utf-8").splitlines(True)
             if line.startswith(name)]
    assert read_folded("".join(lines)) == EXPECTED["live-bytes"]


def test_two_processes(gpuprobe, program, tmp_path):
    path = tmp_path / "graph.folded"
    run(gpuprobe, "bytes", path, "sh", "-c", f"{program} & {program}; wait")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4 and len({line.split(";")[0] for line in lines}) == 2
    assert all(line.startswith("flame (") for line in lines)


def test_lines_of_source_are_apart_in_speedscope(gpuprobe, tmp_path):
    program, path = tmp_path / "flame", tmp_path / "graph.json"
    build(program, "-fno-omit-frame-pointer", "-g")
    run(gpuprobe, "launches", path, program, args=["--stack-sample", 1])
    frames = json.loads(path.read_text(encoding="utf-8"))["shared"]["frames"]
    source = (PROGRAMS / "flame.c").read_text(encoding="utf-8").splitlines()
    calls = [source[frame["line"] - 1].strip() for frame in frames if frame["name"] == "second"]
    assert sorted(calls) == ["launch(alpha);", "launch(beta);"]


# --- the file, the status ---

def test_exit_status_is_commands(gpuprobe, tmp_path):
    path = tmp_path / "graph.svg"
    run(gpuprobe, "bytes", path, "sh", "-c", "exit 7", status=7)
    assert path.exists()


def test_the_file_is_whole_or_as_it_was(gpuprobe, program, tmp_path):
    path, link = tmp_path / "graph.svg", tmp_path / "link.svg"
    path.write_text("before", encoding="utf-8")
    path.chmod(0o640)
    link.symlink_to(path)
    result = run(gpuprobe, "bytes", link, "/nonexistent/program", status=None)
    assert result.status == 1 and path.read_text(encoding="utf-8") == "before"
    run(gpuprobe, "bytes", link, "cat", path)
    assert gpuprobe.directory == tmp_path and link.is_symlink()
    assert (path.read_text(encoding="utf-8").startswith("<?xml")
            and path.stat().st_mode & 0o777 == 0o640)
    assert {name for name in os.listdir(tmp_path)
            if not name.startswith("truth")} == {"graph.svg", "link.svg"}


def test_a_file_that_cannot_be_written_fails_before_command(gpuprobe, tmp_path):
    for path in (tmp_path / "missing" / "graph.svg", "/proc/graph.svg"):
        result = run(gpuprobe, "bytes", path, "touch", tmp_path / "ran", status=1)
        assert f"gpuprobe: cannot write {path}: No such file or directory" in result.stderr
    assert not (tmp_path / "ran").exists()


def test_standard_output_and_devices(gpuprobe, program):
    result = gpuprobe.run(program, base=["flame", "--by", "bytes", "-q"])
    assert read_folded(result.stdout.removeprefix("done\n")) == EXPECTED["bytes"]
    result = gpuprobe.run("true",
                          base=["flame", "--by", "bytes", "--svg", "-o", "/dev/stdout", "-q"])
    assert ElementTree.fromstring(result.stdout).tag == SVG + "svg"


@pytest.mark.parametrize("args, told", [
    ([], "give --by bytes"),
    (["--by", "time"], "--by 'time': choose bytes"),
    (["--by", "bytes", "-o", "graph.png"], "no format has this extension"),
    (["--by", "bytes", "--svg", "--folded"], "choose one"),
    (["--by", "bytes", "--stack", "off"], "--stack 'off': choose fp, dwarf or auto"),
    (["--by", "bytes", "--min-wait", "1ms"], "--min-wait has no effect with --by bytes"),
    (["--by", "launches", "--min-wait", "1ms"], "--min-wait has no effect with --by launches"),
    (["--by", "gpu-time"], "--by gpu-time needs --gpu-times"),
    (["--by", "launches", "--gpu-times"], "--gpu-times has no effect with --by launches"),
    (["--by", "wait-time", "--stack-sample", "1"],
     "--stack-sample has no effect with --by wait-time"),
    (["--by", "bytes", "--stack-size", "32"], "--stack-size has no effect with --stack fp"),
    (["--by", "bytes", "--duration", "0"], "more than 0 seconds"),
    (["--by", "bytes", "--no-return-probes"],
     "gpuprobe flame weighs stacks by results and durations of calls, which takes return probes: "
     "only gpuprobe and gpuprobe trace have that option"),
    (["--by", "bytes", "-o", ""], "name of a file"),
])
def test_mistakes(gpuprobe, args, told):
    result = gpuprobe.run("true", base=["flame"], args=args, status=2)
    assert told in result.stderr


def test_hostile_names(gpuprobe, program, tmp_path):
    """A process's name can be markup: in an SVG it is a name."""
    name, path = "</title><a>&;]]>"[:15], tmp_path / "graph.svg"
    subprocess.run(["cp", program, tmp_path / name.replace("/", "|")], check=True)
    run(gpuprobe, "bytes", path, tmp_path / name.replace("/", "|"),
        args=["--processes", "--title", "<b>&\"'"])
    text = path.read_text(encoding="utf-8")
    assert read_frames(text)[1][3].startswith(name.replace("/", "|") + " (")
    assert ElementTree.fromstring(text).find(f".//{SVG}text[@id='title']").text == "<b>&\"'"


@pytest.mark.parametrize("title", [None, "A title", "A title " * 200],
                         ids=["default", "own", "long"])
def test_title_is_visible(gpuprobe, program, tmp_path, title):
    """Nothing covers it; a long title ends before the buttons, and a tooltip has all of it."""
    path = tmp_path / "graph.svg"
    run(gpuprobe, "bytes", path, program, args=["--title", title] if title else [])
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    drawn = [element for element in root
             if element.tag in (f"{SVG}rect", f"{SVG}text", f"{SVG}svg")]
    assert drawn[0].get("id") == "page"
    [heading] = [element for element in drawn
                 if element.find(f"{SVG}text[@id='title']") is not None]
    shown = heading.find(f"{SVG}text").text
    assert shown == root.find(f"{SVG}title").text == heading.find(f"{SVG}title").text
    assert title is None or shown == title
    search = root.find(f"{SVG}text[@id='search']")
    # The button is of 15 letters, none of which is wider than 8 pixels.
    assert int(heading.get("x")) + int(heading.get("width")) <= int(search.get("x")) - 15 * 8
