# SPDX-License-Identifier: BSD-2-Clause
"""
The report of allocations that fail for good: programs/oom.py runs out of memory in several ways.
"""
import json
import re
import signal
import subprocess

import pytest

from lib import paths
from lib.probe import environment, wait_until_watching
from lib.script import PROGRAMS

MEMORY = {"CUDA_SIM_MEMORY": "1G", "LD_LIBRARY_PATH": paths.SIM, "CUDA_SIM_DIRECTORY": paths.SIM}
EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}


def program(*args):
    return ["/usr/bin/python3", PROGRAMS / "oom.py", *map(str, args)]


def run(how, command=("memleak",), **changes):
    """A whole run of gpuprobe and the program: what gpuprobe printed to standard error."""
    done = subprocess.run([paths.GPUPROBE, *map(str, command), "--", *program(how)], input="\n",
                          env=environment(**MEMORY, **changes), text=True, capture_output=True,
                          timeout=60, check=False)
    return done.stderr


def reports(text):
    return text.count("OUT OF MEMORY: ")


@pytest.mark.parametrize("command", [("memleak",), ("stat",), ("diagnose",), ("--interval", "60")])
def test_one_large_request(command):
    text = run("large", command)
    assert reports(text) == 1
    assert re.search(r"asked for: 2\.0 GiB( on GPU 0)?, by cu\w+", text)
    assert "likely cause: one large request of 2.0 GiB" in text
    assert "this process: 100.0 MiB by its calls" in text


def test_a_leak_is_named_by_its_call_site():
    text = run("leak")
    assert reports(text) == 1
    assert "likely cause: a leak" in text
    assert "920.0 MiB in 92 allocations" in text


def test_a_leak_of_a_process_that_goes_on():
    text = while_it_runs("leak", "memleak")
    assert "likely cause: a leak" in text
    assert "GPU 0: 1.0 GiB, 1020.0 MiB in use, 4.0 MiB free" in text


def test_memory_that_does_not_grow():
    assert "likely cause: this process holds 900.0 MiB" in run("own")


# The program may free everything before the report looks. The report is of the failure.
def test_memory_that_is_freed_right_after_the_failure():
    text = while_it_runs("give_back", "memleak")
    assert "this process: 900.0 MiB: 900.0 MiB by its calls" in text
    assert "GPU 0: 1.0 GiB, 1020.0 MiB in use" in text or "GPU 0: 1.0 GiB, 900.0 MiB in use" in text
    assert re.search("900.0 MiB in 3 allocations|500.0 MiB in 1 allocation", text)
    assert "10.0 MiB in" not in text


@pytest.mark.parametrize("allocator", [EXPANDABLE, {}], ids=["expandable", ""])
def test_tensors_that_are_freed_right_after_the_failure(allocator):
    text = while_it_runs("tensor_caught", "memleak", **allocator)
    assert "900.0 MiB in 9 tensors" in text
    assert "20.0 MiB in 1 tensor" not in text


def test_a_cache_that_is_freed_in_vain_is_not_part_of_the_failure():
    text = while_it_runs("cache", "memleak")
    assert reports(text) == 1
    assert "600.0 MiB in 1 allocation" in text
    assert "300.0 MiB" not in text


def test_a_framework_that_frees_its_cache_and_succeeds_is_not_reported():
    assert reports(run("retry")) == 0


def test_a_process_that_dies_at_once():
    text = run("dies")
    assert reports(text) == 1
    assert "100.0 MiB in 1 allocation" in text


@pytest.mark.parametrize("argv, held", [((paths.workload("faults"), "oom"), "128.0 MiB"),
                                        (program("dies"), "100.0 MiB")], ids=["frees", "dies"])
def test_a_process_that_has_ended_before_gpuprobe_looks(argv, held):
    """As on a machine so busy that gpuprobe gets no CPU: it stands still until the end."""
    libraries = ("--libcuda-path", paths.LIBCUDA, "--libcudart-path", paths.LIBCUDART)
    with subprocess.Popen([paths.GPUPROBE, "memleak", "--interval", "60", *libraries],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=environment(**MEMORY)) as gpuprobe:
        try:
            wait_until_watching(gpuprobe)
            gpuprobe.send_signal(signal.SIGSTOP)
            with subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                                  env=environment(**MEMORY)) as failing:
                failing.wait(60)
            gpuprobe.send_signal(signal.SIGCONT)
            text = until_report(gpuprobe, failing.pid)
        finally:
            gpuprobe.kill()
    assert "the process has ended since" in text
    assert f"this process: {held} by its calls\n        {held} in 1 allocation" in text


def test_many_failures_are_one_report():
    assert reports(run("many")) == 1


@pytest.mark.parametrize("command", ["memleak", "stat"])
def test_a_limit_inside_the_framework(command):
    text = while_it_runs("limit", command)
    assert "asked for: 400.0 MiB on GPU 0, by PyTorch" in text
    assert "PyTorch has 100.0 MiB in segments, 60.0 MiB of them in use" in text
    assert "likely cause: a limit inside PyTorch" in text



def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


# With expandable segments, returning the pieces takes longer than any other verdict.
@pytest.mark.parametrize("how, allocator, asked, cause", [
    ("tensor_large", EXPANDABLE | {"CUDA_SIM_LATENCY": "cuMemRelease=20ms"}, "2.0 GiB",
     "one large request of 2.0 GiB"),
    ("tensor_smaller", EXPANDABLE, "2.0 GiB", "one large request of 2.0 GiB"),
    ("tensor_limit", {}, "400.0 MiB", "a limit inside PyTorch"),
    slow("tensor_limit", EXPANDABLE, "400.0 MiB", "a limit inside PyTorch"),
    ("tensor_own", EXPANDABLE, "200.0 MiB", "this process holds 900.0 MiB"),
    slow("tensor_own", {}, "200.0 MiB", "this process holds 900.0 MiB"),
    slow("tensor_leak", EXPANDABLE, "10.0 MiB", "a leak"),
    slow("tensor_leak", {}, "10.0 MiB", "a leak"),
])
def test_pytorch_says_its_verdict(how, allocator, asked, cause):
    text = while_it_runs(how, "memleak", **allocator)
    assert reports(text) == 1
    assert re.search(f"asked for: {asked}( on GPU 0)?, by PyTorch", text)
    assert f"likely cause: {cause}" in text


def test_pytorch_that_frees_its_cache_for_long_and_succeeds():
    assert reports(run("tensor_retry", CUDA_SIM_LATENCY="cuMemFree_v2=300ms")) == 0


def test_another_library_in_a_process_with_pytorch():
    text = while_it_runs("not_by_tensor", "stat")
    assert re.search(r"asked for: 2\.0 GiB( on GPU 0)?, by cu\w+", text)


def until_report(gpuprobe, pid=""):
    """Of a gpuprobe that watches the machine, the report of that process."""
    text = ""
    while f"OUT OF MEMORY: process {pid}" not in text or "what to do: " not in text:
        if "what to do: " in text:
            text = ""
        line = gpuprobe.stderr.readline()
        assert line, text
        text += line
    return text


def while_it_runs(how, command, **changes):
    """The report of a program that goes on, so that NVML knows what it holds."""
    with subprocess.Popen([paths.GPUPROBE, command, "--interval", "60", "--", *program(how)],
                          stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
                          stderr=subprocess.PIPE,
                          env=environment(**MEMORY, **changes)) as gpuprobe:
        text = until_report(gpuprobe)
        text += gpuprobe.communicate("\n")[1]
    return text


def beside(*held):
    """The report of a process that fails beside others that hold so many MiB each."""
    others = [subprocess.Popen(program("hold", amount), stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=environment(**MEMORY), text=True)
              for amount in held]
    try:
        for other in others:
            assert other.stdout.readline() == "READY\n"
        with subprocess.Popen([paths.GPUPROBE, "memleak", "60"], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, env=environment(**MEMORY),
                              text=True) as gpuprobe:
            wait_until_watching(gpuprobe)
            with subprocess.Popen(program("beside"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  env=environment(**MEMORY, CUDA_SIM_FAIL="cuMemAlloc_v2:2=2"),
                                  text=True) as failing:
                assert failing.stdout.readline() == "READY\n"
                text = until_report(gpuprobe, failing.pid)
                failing.communicate("\n")
            gpuprobe.terminate()
    finally:
        for other in others:
            other.communicate("\n")
    return text, [other.pid for other in others]


def test_many_processes_hold_the_gpu():
    text, _ = beside(*[100] * 5)
    assert "likely cause: 5 other processes hold 500.0 MiB together" in text
    assert text.count("100.0 MiB  process ") == 4 and "        and 1 more\n" in text


def test_another_process_holds_the_gpu():
    text, (pid,) = beside(700)
    assert f"likely cause: process {pid} holds 700.0 MiB of the GPU" in text
    assert "GPU 0: 1.0 GiB, 800.0 MiB in use" in text


def test_json():
    done = subprocess.run([paths.GPUPROBE, "stat", "--json", "--", *program("leak")], input="\n",
                          env=environment(**MEMORY), text=True, capture_output=True, timeout=60,
                          check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    (oom,) = json.loads(line)["oom"]
    assert oom["bytes"] == 10 << 20
    assert oom["tracked_bytes"] == 1020 << 20
    assert oom["gpu_used_bytes"] is None or oom["gpu_used_bytes"] <= 1 << 30


@pytest.mark.parametrize("how, parts", [
    ("leak", ("the out-of-memory report: 10.0 MiB asked for", "likely cause: a leak")),
    ("limit", ("PyTorch failed to allocate, and no call of CUDA did; the out-of-memory report: "
               "400.0 MiB asked for", "likely cause: a limit inside PyTorch")),
])
def test_the_finding_names_the_report(how, parts):
    done = subprocess.run([paths.GPUPROBE, "diagnose", "--json", "--", *program(how)], input="\n",
                          env=environment(**MEMORY), text=True, capture_output=True, timeout=60,
                          check=True)
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    (finding,) = [found for found in json.loads(line)["findings"] if found["id"] == "oom"]
    assert finding["severity"] == "critical"
    for part in parts:
        assert part in finding["evidence"]


def test_files(tmp_path):
    run("large", ("memleak", "--oom-dir", tmp_path))
    (file,) = tmp_path.iterdir()
    assert re.fullmatch(r"oom-\d+-1\.txt", file.name)
    assert "likely cause: one large request" in file.read_text()


def test_reports_and_files_are_bounded(tmp_path):
    text = run("processes", ("memleak", "--oom-dir", tmp_path))
    assert reports(text) == 20
    assert "2 more allocations failed for lack of memory without a report" in text
    files = list(tmp_path.iterdir())
    assert len(files) == 20
    assert max(file.stat().st_size for file in files) < 4096


def test_a_directory_that_is_not_there(tmp_path):
    text = run("large", ("memleak", "--oom-dir", tmp_path / "none"))
    assert "--oom-dir" in text and "No such file or directory" in text
