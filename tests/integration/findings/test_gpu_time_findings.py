# SPDX-License-Identifier: BSD-2-Clause
"""
gpuprobe diagnose --gpu-times: what only the GPU's clock shows is found, and its busy share is the
simulated GPU's own.
"""
import json
import re
import subprocess

import pytest

from lib import paths
from lib.probe import environment
from lib.truth import read_truths

OF_GPU_TIMES = {"no-overlap", "small-kernels", "launch-latency"}


def diagnose(*command, clock, options=()):
    env = {"CUDA_SIM_CLOCK": clock, "CUDA_SIM_DIRECTORY": paths.SIM, "LD_LIBRARY_PATH": paths.SIM,
           "CUDA_INJECTION64_PATH": None}
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--gpu-times", *options, "--",
                           paths.workload(command[0]), *map(str, command[1:])],
                          env=environment(**env), text=True, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(*command, **options):
    """The last report, as JSON."""
    out = diagnose(*command, options=("--json", *options.pop("thresholds", ())), **options)
    return json.loads([line for line in out.splitlines() if line.startswith('{"schema"')][-1])


def finding(told, name):
    found, = [finding for finding in told["findings"] if finding["id"] == name]
    return found["evidence"], {key: number["value"] for key, number in found["numbers"].items()}


def test_small_kernels():
    told = report("launch", "--launches", 2000, clock="kernel=1us")
    evidence, numbers = finding(told, "small-kernels")
    assert (numbers["kernels"], numbers["share"], numbers["mean"]) == (2000, 1, 1000)
    assert "(exact, by GPU times)" in evidence


@pytest.mark.slow
def test_no_overlap():
    """A share of the time, which a busy machine lengthens: any share will do."""
    told = report("steps", "--steps", 120, "--launches", 1, "--copy", 4096, "--cpu", 0, "--wait",
                  "stream", clock="kernel=1ms,copy=1ms",
                  thresholds=("--threshold", "no-overlap.share=0.1%", "--threshold",
                              "no-overlap.kernels=0.1%"))
    _, numbers = finding(told, "no-overlap")
    assert numbers["copies"] == 120
    assert [numbers[key] for key in ("copies_ns", "alone_ns", "kernels_ns")] == [120_000_000] * 3


@pytest.mark.slow
def test_launch_latency():
    told = report("steps", "--steps", 120, "--launches", 1, "--cpu", 0, "--wait", "stream",
                  clock="kernel=20us,latency=1ms",
                  thresholds=("--threshold", "launch-latency.share=0.1%"))
    _, numbers = finding(told, "launch-latency")
    assert numbers["gaps"] == 119
    assert numbers["late_ns"] >= 119_000_000


def test_sound_program():
    told = report("steps", "--steps", 60, "--copy", 4096, "--wait", "stream",
                  clock="kernel=1ms,copy=5us")
    assert not OF_GPU_TIMES & {finding["id"] for finding in told["findings"]}
    assert not OF_GPU_TIMES & set(told["not_looked_for"])
    process, = told["processes"]
    assert process["gpu_times"]["callers"]["unknown"] == 0


def test_text():
    out = diagnose("steps", "--steps", 50, "--copy", 4096, "--wait", "stream",
                   clock="kernel=20us,kernel:step_3=220us,copy=8us")
    line = re.search(r"^GPU time of 20\.4 ms: (.*?)\n\n", out, re.DOTALL | re.MULTILINE)[1]
    shares = re.findall(r"(\S+) % (step_\d|other kernels|copies and sets)(?: \(\S+\))?", line)
    assert shares[0] == ("53.9", "step_3")
    assert shares[1] == ("4.9", "step_0")
    assert shares[-2:] == [("24.5", "other kernels"), ("2.0", "copies and sets")]


def test_another_profiler(monkeypatch):
    """The program is judged without GPU times, and a line says why."""
    monkeypatch.setenv("CUDA_SIM_CUPTI", "error=39")
    out = re.sub(r"\s+", " ", diagnose("steps", "--steps", 50, clock="kernel=20us"))
    assert ("no GPU times: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED; another profiler uses "
            "CUPTI in this process: stop it (CUPTI's error 39)") in out
    assert "GPU time of" not in out


@pytest.mark.slow
def test_busy_share_is_exact(tmp_path, monkeypatch):
    """The whole run's is the truth; the verdict judges by the steady part of it."""
    monkeypatch.setenv("CUDA_SIM_TRUTH", str(tmp_path / "truth.%p.json"))
    told = report("steps", "--steps", 3000, "--wait", "stream", clock="kernel=50us")
    truth, = [truth for truth in read_truths(tmp_path) if not truth.idle]
    process, = told["processes"]
    device, = process["gpu_times"]["devices"]
    assert device["busy_ns"] == truth.data["devices"]["0"]["busy"]["ns"]
    verdict = process["verdict"]
    assert verdict["busy_exact_device"] == 0
    assert 0 < verdict["busy_exact_ns"] <= device["span_ns"]
    assert 0 < verdict["busy_exact"] < 1
    assert verdict["kind"] == ("host-bound" if verdict["busy_exact"] <= 0.7 else "GPU-bound")
