# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe stat --nvtx: what a program does in its NVTX ranges, counted exactly."""
import json
import re
import subprocess

import pytest

from lib import paths, real_nvtx
from lib.probe import environment

CLOCK = "kernel=20us,copy=5us,set=2us,graph_node=1us"


def stat(*command, options=("--json",), **env):
    env = {"CUDA_SIM_DIRECTORY": paths.SIM, "LD_LIBRARY_PATH": paths.SIM,
           "NVTX_INJECTION64_PATH": None, **env}
    done = subprocess.run([paths.GPUPROBE, "stat", "--nvtx", *options, "--", *map(str, command)],
                          env=environment(**env), text=True, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done


def only(*command, **env):
    """The ranges of the only process by name, and the report."""
    report = json.loads(stat(*command, **env).stdout.splitlines()[-1])
    process, = report["processes"]
    return {each["name"]: each for each in process["ranges"]}, report


def expect_calls(each, launches, copies, waits):
    assert (each["launches"], each["launch"]["calls"]) == (launches, launches)
    assert (each["copy"]["calls"], each["wait"]["calls"]) == (copies, waits)
    assert (each["memory"]["calls"], each["unmeasured"]) == (0, 0)


def expect_steps(ranges, report, steps, launches):
    step, compute = ranges["step"], ranges["model: compute"]
    assert (step["count"], compute["count"]) == (steps, steps)
    expect_calls(step, steps * launches, steps, steps)
    expect_calls(compute, steps * launches, 0, steps)
    assert step["total_ns"] >= compute["total_ns"] >= compute["wait"]["ns"] > 0
    assert step["total_ns"] >= step["max_ns"] >= step["mean_ns"] == step["total_ns"] // steps
    assert ranges["w?de"]["count"] == 1
    assert (ranges["here"]["unmeasured"], ranges["across"]["unmeasured"]) == (0, 1)
    assert report["ranges_lost"] == {"ranges": 0, "names": 0}


@pytest.mark.parametrize("links", ["", pytest.param("perf", marks=pytest.mark.slow)])
def test_ranges(links):
    ranges, report = only(paths.workload("nvtx"), "--steps", 40, "--launches", 7,
                          GPUPROBE_LINKS=links or None)
    expect_steps(ranges, report, 40, 7)


def expect_work(gpu, kernels, copies=0):
    """Kernels of 20 us, copies of 5 us."""
    assert gpu["kernels"] == {"count": kernels, "ns": kernels * 20_000}
    assert gpu["copies"] == {"count": copies, "ns": copies * 5_000}
    assert gpu["total_ns"] == kernels * 20_000 + copies * 5_000
    assert gpu["count"] == kernels + copies


def test_gpu_times():
    """Work counts in the ranges of its call, though it runs and is reported later."""
    done = stat(paths.workload("nvtx"), "--steps", 30, "--launches", 4, "--loose", 3, "--deep", 2,
                options=("--json", "--gpu-times"), CUDA_SIM_CLOCK=CLOCK,
                CUDA_INJECTION64_PATH=None)
    process, = json.loads(done.stdout.splitlines()[-1])["processes"]
    ranges = {each["name"]: each["gpu"] for each in process["ranges"]}
    expect_work(ranges["step"], 120, 30)
    expect_work(ranges["model: compute"], 120)
    expect_work(ranges["here"], 3)
    expect_work(ranges["deep"], 0)
    assert ranges["across"] is None
    apart = process["ranges_gpu"]
    expect_work(apart["in_ranges"], 123, 30)
    expect_work(apart["outside"], 3)
    expect_work(apart["unknown"], 0)
    assert apart["without_call"] == 0


def test_gpu_times_as_text():
    done = stat(paths.workload("nvtx"), "--steps", 10, "--loose", 2, options=("--gpu-times",),
                CUDA_SIM_CLOCK=CLOCK, CUDA_INJECTION64_PATH=None)
    assert re.search(r" in CUDA +GPU time +NVTX range\n", done.stdout), done.stdout
    assert re.search(r" 1\.05 ms +step\n| 1\.1 ms +step\n| 1\.0 ms +step\n", done.stdout)
    assert re.search(r" unknown +across\n", done.stdout)
    assert "40.0 us of GPU time is outside ranges (2 pieces of work)\n" in done.stdout


def steps_by(name, *arguments):
    """The report, with the ranges of this name as steps."""
    done = stat(paths.workload("nvtx"), *arguments, options=("--json", "--steps-by", name))
    return json.loads(done.stdout.splitlines()[-1])


def expect_range_steps(process, name, count, launches):
    """Steps have the times of the ranges, and what the thread did in them, from the first on."""
    steps = process["steps"]
    each, = [each for each in process["ranges"] if each["name"] == name]
    assert (steps["range"], steps["tid"]) == (name, process["pid"])
    assert (steps["count"], steps["summed"], steps["irregular"]) == (count, count, 0)
    assert steps["launches"] == launches
    assert each["total_ns"] >= steps["total_ns"] * 0.5 and steps["max_ns"] <= steps["total_ns"]
    assert steps["first_ns"] < steps["latest_ns"]


def diff(directory, one, other):
    for name, report in (("a", one), ("b", other)):
        (directory / name).write_text(json.dumps(report) + "\n")
    return subprocess.run([paths.GPUPROBE, "diff", directory / "a", directory / "b"], text=True,
                          capture_output=True, timeout=60, check=False).stdout


def test_steps_by_range(tmp_path):
    report, other = (steps_by("step", "--steps", 30, "--launches", count) for count in (4, 8))
    process, = report["processes"]
    expect_range_steps(process, "step", 30, 4)
    assert process["steps"]["copies"] == {"to_device": 1, "to_host": 0, "other": 0}
    assert (process["steps"]["waits"], process["steps"]["bytes"]["to_device"]) == (1, 4096)
    compared = diff(tmp_path, report, other)
    assert re.search(r" 4 +8 +\+4 .* launches per step\n", compared), compared
    other["processes"][0]["steps"]["range"] = None
    assert ("steps: those of A are NVTX ranges 'step', and those of B were found by repetition; "
            "use the same --steps-by") in re.sub(r"\s+", " ", diff(tmp_path, report, other))


def test_steps_by_domain_and_id():
    report = steps_by("model: compute", "--steps", 12, "--launches", 3)
    process, = report["processes"]
    expect_range_steps(process, "model: compute", 12, 3)
    assert process["steps"]["copies"] == {"to_device": 0, "to_host": 0, "other": 0}
    process, = steps_by("here", "--loose", 6)["processes"]
    expect_range_steps(process, "here", 1, 6)


@pytest.mark.parametrize("name", ["across", "nowhere"])
def test_no_steps_by_range(name):
    """Another thread ends this range, or there is none of that name."""
    done = stat(paths.workload("nvtx"), "--loose", 2, options=("--steps-by", name))
    assert "no steps: no NVTX range of this name has ended in its thread\n" in done.stdout


@real_nvtx.NEEDED
def test_nvidias_header(tmp_path):
    """The same program with the real NVTX, of which the other one has a stand-in."""
    program = real_nvtx.build(tmp_path / "nvtx")
    ranges, report = only(program, "--steps", 20, "--launches", 3)
    expect_steps(ranges, report, 20, 3)


def test_limits():
    """Ranges in too many others, and too many names, are counted."""
    ranges, report = only(paths.workload("nvtx"), "--deep", 40, "--names", 1100)
    assert ranges["deep"]["count"] == 32
    assert report["ranges_lost"] == {"ranges": 8, "names": 0}
    rest, = [each for each in report["processes"][0]["ranges"] if each["is_rest"]]
    assert len(ranges) == 1024 + 1
    assert rest["count"] == 1100 + len({"step", "model: compute", "w?de", "deep", "here",
                                        "across"}) - 1024


@pytest.mark.slow
def test_processes_by_themselves():
    nvtx = paths.workload("nvtx")
    report = json.loads(stat("sh", "-c", f"{nvtx} --steps 3 & {nvtx} --steps 5; wait")
                        .stdout.splitlines()[-1])
    assert sorted(each["count"] for process in report["processes"]
                  for each in process["ranges"] if each["name"] == "step") == [3, 5]


def test_text():
    done = stat(paths.workload("nvtx"), "--steps", 100, "--deep", 33, options=())
    assert re.search(r"\n +time +count( +average)? +launches +copies +waits +in waits +in CUDA +"
                     r"NVTX range\n", done.stdout), done.stdout
    assert re.search(r" 100 .* 500 +100 +100 .* step\n", done.stdout), done.stdout
    assert "calls in 1 range are not known: another thread ended the range" in done.stdout
    assert "gpuprobe had no room for 1 NVTX range, which no row counts\n" in done.stdout


def test_no_ranges():
    done = stat(paths.workload("launch"), "--launches", 10, options=())
    assert "no NVTX ranges: nothing has come from this process" in done.stdout
    assert "launches" in done.stdout


def test_variable_is_set():
    done = stat(paths.workload("nvtx"), NVTX_INJECTION64_PATH="/nowhere")
    assert done.stderr == ("gpuprobe: warning: no NVTX ranges: NVTX_INJECTION64_PATH is set "
                           "already, so COMMAND gets that library; unset it to have NVTX ranges\n")
    assert '"ranges"' not in done.stdout
