# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe account`: memory by time against what a program measured, GPU time and work, live and
from recordings, by whom."""
import csv
import json
import os
import time

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import Background, Probe
from lib.script import PROGRAMS

ONE_GPU = {"LD_LIBRARY_PATH": paths.SIM, "CUDA_SIM_DEVICES": 1, "CUDA_SIM_MEMORY": "1G"}


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def held(seconds):
    """The command line of programs/holds_memory.py."""
    return ["env", f"CUDA_SIM_DIRECTORY={paths.SIM}", f"PYTHONPATH={PROGRAMS}",
            "PYTHONDONTWRITEBYTECODE=1", paths.PYTHON, PROGRAMS / "holds_memory.py", seconds]


def truth_of(stdout, ended):
    """Byte-seconds of what lived to the end and of the rest, from and to."""
    told = json.loads(next(line for line in stdout.splitlines() if line.startswith('{"freed"')))
    kept = {bound: sum(each["size"] * (until - each[bound]) / 1e9 for each in told["kept"])
            for bound, until in (("least", told["until"]), ("most", ended))}
    return kept, told["freed"]


def last_json(text):
    return json.loads([line for line in text.splitlines() if line.startswith('{"schema"')][-1])


def check_memory(total, kept, freed):
    """
    What lived to the end is within 0.1 %. Its allocations are at least 64 MiB, the rest at most
    4 MiB at a time: bounds of these are all that is not exact.
    """
    assert total["byte_seconds_least"] <= kept["most"] * 1.001 + freed["most"]
    assert total["byte_seconds_most"] >= kept["least"] * 0.999 + freed["least"]
    short = total["byte_seconds_most"] - total["byte_seconds_least"]
    assert kept["least"] * 0.999 <= total["byte_seconds"]
    assert total["byte_seconds"] <= kept["most"] * 1.001 + freed["most"] + short
    assert total["byte_seconds_by_nvml"] == 0 and total["processes_with_unknown_memory"] == 0


def test_memory_by_time_is_the_truth():
    done = run("account", "--json", "--", *held(1))
    ended = now()
    assert done.returncode == 0, done.stderr
    report = last_json(done.stdout)
    check_memory(report["total"], *truth_of(done.stdout, ended))
    [group] = report["groups"]
    assert (group["processes"], group["processes_alive"], group["gpus"]) == (1, 0, 0)
    assert group["user"] == "root" and group["last_call"] <= time.time()


@pytest.fixture(scope="module", name="recorded")
def recorded_(tmp_path_factory):
    """(a recording, what the program printed, its end)"""
    directory = tmp_path_factory.mktemp("account")
    file = directory / "run.rec"
    result = Probe(directory).run(*held(1), base=["record", "-o", str(file), "--level", "summary",
                                                  "--interval", "0.1"])
    return file, result.stdout, now()


def test_a_recording_gives_the_same(recorded):
    file, stdout, ended = recorded
    done = run("account", "-i", file, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    check_memory(last_json(done.stdout)["total"], *truth_of(stdout, ended))


def test_a_recording_given_twice_counts_once(recorded):
    file = recorded[0]
    once, twice = (last_json(run("account", *words, "--json").stdout)["total"]
                   for words in (("-i", file), ("-i", file, "-i", file)))
    for key in ("gpu_seconds", "byte_seconds", "work_seconds_most"):
        assert twice[key] == pytest.approx(once[key], rel=1e-6)


def test_forms(recorded):
    file = recorded[0]
    group = last_json(run("account", "-i", file, "--json", "--by", "process").stdout)["groups"][0]
    lines = list(csv.DictReader(run("account", "-i", file, "--csv", "--by", "process")
                                .stdout.splitlines()))
    assert len(lines) == 1 and lines[0]["process"] == group["name"] == "python3"
    assert float(lines[0]["byte_seconds"]) == pytest.approx(group["byte_seconds"])
    assert {*lines[0]} - {"process"} == {*group} - {"name", "other"}
    text = run("account", "-i", file, "--by", "process").stdout
    assert "USER  PROGRAM" in text and "root  python3" in text and "at the end" in text


def test_since(recorded):
    file = recorded[0]
    assert last_json(run("account", "-i", file, "--since", "1h", "--json").stdout)["groups"]
    assert last_json(run("account", "-i", file, "--since", "2100-01-01", "--json")
                     .stdout)["groups"] == []
    fails(run("account", "--since", "1h"), 2, "--since", "-i FILE")
    fails(run("account", "-i", file, "--since", "lately"), 2, "--since 'lately'", "24h")


def test_a_gpu_that_nobody_uses():
    """An idle process from before, with NVML's figure, and which GPUs are idle."""
    with Background(paths.workload("idle-holder"), "--bytes", 64 << 20,
                    env={**ONE_GPU, "CUDA_SIM_TRUTH": None}) as holder:
        assert holder.stdout.readline() == "READY\n"
        with Background(paths.GPUPROBE, "account", "--idle", "100ms", "--interval", 0.2, "--json",
                        "-p", holder.pid, env=ONE_GPU) as running:
            total = next(report["total"] for report in map(json.loads, running.stdout)
                         if report["total"]["gpus_idle"])
    assert (total["gpus"], total["gpus_idle"], total["processes_alive"]) == (1, 1, 1)
    assert total["last_call"] is None
    assert total["byte_seconds_by_nvml"] == total["byte_seconds"]
    assert total["byte_seconds"] == pytest.approx((64 << 20) * total["gpu_seconds"], rel=0.001)


def test_a_silent_process_alone_in_a_recording(tmp_path):
    """A process from before the recording that makes no call, and no other uses CUDA: NVML's
    figure. NVML answers in a thread of its own: a longer recording surely has its answer."""
    file = tmp_path / "run.rec"
    with Background(paths.workload("idle-holder"), "--bytes", 64 << 20,
                    env={**ONE_GPU, "CUDA_SIM_TRUTH": None}) as holder:
        assert holder.stdout.readline() == "READY\n"
        for seconds in (1, 8, 32):
            done = run("record", "-o", file, "--level", "summary", "--interval", 0.1, "-p",
                       holder.pid, "--duration", seconds, **ONE_GPU)
            assert done.returncode == 0, done.stderr
            groups = last_json(run("account", "-i", file, "--json").stdout)["groups"]
            if groups:
                break
    [silent] = groups
    assert silent["byte_seconds"] == silent["byte_seconds_by_nvml"]
    assert silent["byte_seconds"] == pytest.approx((64 << 20) * silent["gpu_seconds"], rel=0.001)


@pytest.mark.slow
def test_a_stranger_in_a_recording(tmp_path):
    """A process that made no call while another was recorded: NVML's figure, without a name."""
    file = tmp_path / "run.rec"
    with Background(paths.workload("idle-holder"), "--bytes", 64 << 20,
                    env={**ONE_GPU, "CUDA_SIM_TRUTH": None}) as holder:
        assert holder.stdout.readline() == "READY\n"
        done = run("record", "-o", file, "--level", "summary", "--interval", 0.1, "--",
                   *held(1), **ONE_GPU)
        assert done.returncode == 0, done.stderr
    known, stranger = sorted(last_json(run("account", "-i", file, "--json").stdout)["groups"],
                             key=lambda group: group["user"] is None)
    assert (known["user"], stranger["user"]) == ("root", None)
    assert stranger["byte_seconds"] == pytest.approx((64 << 20) * stranger["gpu_seconds"],
                                                     rel=0.001)


def test_wrong_words(recorded):
    file = recorded[0]
    fails(run("account", "--json", "--csv"), 2, "exclude")
    fails(run("account", "-i", file, "--interval", 1), 2, "--interval")
    fails(run("account", "-i", file, "-p", os.getpid()), 2, "-i")
    fails(run("account", "-i", "/nothing"), 1, "/nothing")
