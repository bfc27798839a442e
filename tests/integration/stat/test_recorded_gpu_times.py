# SPDX-License-Identifier: BSD-2-Clause
"""GPU times in the readings of `gpuprobe record --gpu-times`, alone and beside calls: stat -i has
what the simulated GPU did, and two parts of the time add up to it."""
import json
import re

import pytest

from lib import paths
from lib.cli import run

KERNEL_NS, COPY_NS = 200_000, 5_000
STEPS = 300


@pytest.fixture(scope="module", params=["summary", "calls"])
def recording(tmp_path_factory, request):
    file = tmp_path_factory.mktemp("gpu") / "run.rec"
    done = run("record", "--level", request.param, "--gpu-times", "--interval", 0.1, "-o", file,
               "--", paths.workload("steps"), "--steps", STEPS, "--copy", 4096, "--wait", "stream",
               CUDA_SIM_CLOCK=f"kernel={KERNEL_NS}ns,copy={COPY_NS}ns",
               CUDA_SIM_DIRECTORY=paths.SIM, LD_LIBRARY_PATH=paths.SIM,
               CUDA_INJECTION64_PATH=None)
    assert done.returncode == 0, done.stderr
    if request.param == "calls":
        assert f"GPU: {11 * STEPS} " in done.stderr and "lost 0" in done.stderr, done.stderr
    return file


def report_of(recording, *options):
    done = run("stat", "-i", recording, "--json", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def times_of(recording, *options):
    processes = report_of(recording, *options)["processes"]
    return processes[0]["gpu_times"] if processes else None


def test_the_end(recording):
    times = times_of(recording)
    assert (times["all_kernels"]["count"], times["all_kernels"]["total_ns"]) == (
        10 * STEPS, 10 * STEPS * KERNEL_NS)
    assert {each["name"]: each["count"] for each in times["kernels"]} == {
        f"step_{i}": STEPS for i in range(10)}
    assert all(each["min_ns"] == each["max_ns"] == KERNEL_NS and
               each["queue_delay"]["count"] == STEPS for each in times["kernels"])
    copy, = times["copies"]
    assert (copy["kind"], copy["count"], copy["bytes"]) == ("H2D", STEPS, STEPS * 4096)
    device, = times["devices"]
    assert device["busy_ns"] == STEPS * (10 * KERNEL_NS + COPY_NS)
    assert device["busy_ns"] + device["idle_before_call_ns"] + device["idle_after_call_ns"] == \
        device["span_ns"]
    callers = times["callers"]
    assert (callers["count"], callers["unknown"], len(callers["threads"])) == (11 * STEPS, 0, 1)


def test_text(recording):
    text = run("stat", "-i", recording).stdout
    assert re.search(r"\n +GPU time +share +count +min +average +max +bandwidth +on the GPU\n"
                     r" +60\.0 ms +10\.0 % +300 +200 us +200 us +200 us +- +step_0\n", text)
    assert re.search(r"GPU 0 busy: 60[12] ms, ", text)
    assert "launches without a GPU time" not in text


@pytest.fixture(scope="module")
def moment(recording):
    """That of a reading in the middle: --from takes the latest one up to it."""
    done = run("-i", recording, "--json", "--interval", 0.01)
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    worked = [report["boot_ns"] for report in reports
              if sum(process["launches"] for process in report["processes"])]
    return f"{(worked[len(worked) // 2] - report_of(recording)['began_ns']) // 10 ** 6 + 1}ms"


def test_parts_add_up(recording, moment):
    whole, parts = times_of(recording), [times_of(recording, "--to", moment),
                                         times_of(recording, "--from", moment)]
    for key in ("count", "total_ns"):
        assert sum(part["all_kernels"][key] for part in parts if part) == whole["all_kernels"][key]
    assert sum(device["busy_ns"] for part in parts if part for device in part["devices"]) == \
        whole["devices"][0]["busy_ns"]


def test_others_do_not_need_them(recording):
    """diagnose judges as without GPU times, and flame refuses."""
    assert run("diagnose", "-i", recording).returncode == 0
    done = run("flame", "--by", "gpu-time", "-i", recording, "-o", "/dev/null")
    assert done.returncode == 2 and "--by gpu-time needs a run" in done.stderr
