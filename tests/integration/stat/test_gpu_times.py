# SPDX-License-Identifier: BSD-2-Clause
"""
gpuprobe stat --gpu-times against the simulated GPU's truth: counts and times exactly, and what is
said where there are none.
"""
import json
import re
import subprocess
from pathlib import Path

import pytest

from lib import paths
from lib.probe import environment
from lib.script import script
from lib.truth import read_truths

KERNEL_NS, COPY_NS, SET_NS, NODE_NS = 20_000, 5_000, 2_000, 1_000
CLOCK = "kernel=20us,copy=5us,set=2us,graph_node=1us"
IN_BUFFER = (64 << 10) // (216 + 40)  # kernels with their calls in a buffer of the library
TOOLKIT = Path("/usr/local/cuda/extras/CUPTI/lib64")


class Runs:
    """Runs gpuprobe stat --gpu-times with the simulated GPU's clock."""

    def __init__(self, directory):
        self.directory = directory

    def run(self, *command, options=(), **env):
        env = {"CUDA_SIM_CLOCK": CLOCK, "CUDA_SIM_DIRECTORY": paths.SIM,
               "LD_LIBRARY_PATH": paths.SIM, "CUDA_INJECTION64_PATH": None,
               "CUDA_SIM_TRUTH": self.directory / "truth.%p.json", **env}
        return subprocess.run([paths.GPUPROBE, "stat", "--gpu-times", *options, "--",
                               *map(str, command)], env=environment(**env), text=True,
                              capture_output=True, timeout=120, check=False)

    def report(self, *command, **env):
        """The last report, as JSON."""
        done = self.run(*command, options=("--json",), **env)
        return json.loads([line for line in done.stdout.splitlines()
                           if line.startswith('{"schema"')][-1])

    def only(self, *command, **env):
        """The GPU times of the only process, and the report."""
        report = self.report(*command, **env)
        process, = report["processes"]
        return process["gpu_times"], report

    def truth(self):
        truth, = [truth for truth in read_truths(self.directory) if not truth.idle]
        return truth


@pytest.fixture
def runs(tmp_path):
    return Runs(tmp_path)


def expect_sum(total, count, ns, untimed=0):
    assert (total["count"], total["without_time"], total["total_ns"]) == (count, untimed,
                                                                        ns * (count - untimed))
    assert {total["min_ns"], total["mean_ns"], total["max_ns"]} == {ns}


def expect_callers(times, count, ns):
    """All work has its call: `count` pieces of it, `ns` together."""
    callers = times["callers"]
    assert (callers["count"], callers["total_ns"], callers["unknown"]) == (count, ns, 0)
    assert callers["queue_delay"]["count"] == count
    assert callers["queue_delay"]["max_ns"] > 0


def expect_no_loss(times, report):
    assert report["gpu_times_lost"] == {"records": 0, "names": 0}
    assert (times["failure"], times["dropped"], times["unknown_records"]) == (None, 0, 0)


@pytest.mark.parametrize("links", ["", pytest.param("perf", marks=pytest.mark.slow)])
def test_steps(runs, links):
    times, report = runs.only(paths.workload("steps"), "--steps", 40, "--copy", 4096, "--wait",
                              "stream", GPUPROBE_LINKS=links or None)
    truth = runs.truth()
    expect_no_loss(times, report)
    expect_sum(times["all_kernels"], 400, KERNEL_NS)
    assert {each["name"]: each["count"] for each in times["kernels"]} == truth.launches()
    for each in times["kernels"]:
        expect_sum(each, 40, KERNEL_NS)
        assert each["queue_delay"]["count"] == 40
    expect_callers(times, 440, 400 * KERNEL_NS + 40 * COPY_NS)
    thread, = times["callers"]["threads"]
    process, = report["processes"]
    assert (thread["tid"], thread["count"]) == (process["pid"], 440)
    copy, = times["copies"]
    assert (copy["kind"], copy["bytes"]) == ("H2D", 40 * 4096)
    expect_sum(copy, 40, COPY_NS)
    device, = times["devices"]
    assert device["busy_ns"] == truth.data["devices"]["0"]["busy"]["ns"]


def test_copies_and_sets(runs):
    times, report = runs.only(*script("""
        start()
        device = made(driver.cuMemAlloc_v2, 1 << 20)
        host = made(driver.cuMemAllocHost_v2, 1 << 20)
        for i in range(3):
            need(driver.cuMemcpyHtoD_v2(device, host, 1000))
            need(driver.cuMemcpyDtoH_v2(host, device, 500))
        need(driver.cuMemcpyDtoD_v2(device, device + 4096, 64))
        need(driver.cuMemsetD8_v2(device, 0, 256))
        need(driver.cuCtxSynchronize())
    """))
    expect_no_loss(times, report)
    copies = {copy["kind"]: copy for copy in times["copies"]}
    assert {kind: copy["bytes"] for kind, copy in copies.items()} == {"H2D": 3000, "D2H": 1500,
                                                                     "D2D": 64}
    expect_sum(copies["H2D"], 3, COPY_NS)
    expect_sum(copies["D2H"], 3, COPY_NS)
    expect_sum(copies["D2D"], 1, COPY_NS)
    expect_sum(times["sets"], 1, SET_NS)
    assert times["sets"]["bytes"] == 256
    expect_callers(times, 8, 7 * COPY_NS + SET_NS)


@pytest.mark.slow
def test_graphs_as_wholes(runs):
    times, report = runs.only(paths.workload("launch"), "--launches", 50, "--function", "graph")
    expect_no_loss(times, report)
    expect_sum(times["graphs"], 50, KERNEL_NS + NODE_NS)
    assert times["kernels"] == []
    expect_callers(times, 50, 50 * (KERNEL_NS + NODE_NS))


def test_graph_nodes(runs):
    """Each kernel of a graph has its own times, and is not taken for a launch that has none."""
    done = runs.run(paths.workload("launch"), "--launches", 50, "--kernels", 3, "--function",
                    "graph", options=("--gpu-graph-nodes", "--json"))
    process, = json.loads(done.stdout.splitlines()[-1])["processes"]
    times = process["gpu_times"]
    expect_sum(times["all_kernels"], 150, KERNEL_NS)
    expect_sum(times["graph_kernels"], 150, KERNEL_NS)
    assert {each["name"]: each["count"] for each in times["kernels"]} == {
        f"kernel_{i}": 50 for i in range(3)}
    assert times["graphs"]["count"] == 0


@pytest.mark.slow
def test_many_threads_and_names(runs):
    times, report = runs.only(paths.workload("launch"), "--threads", 4, "--launches", 2000,
                              "--kernels", 100, "--name-length", 900)
    expect_no_loss(times, report)
    expect_sum(times["all_kernels"], 8000, KERNEL_NS)
    assert {each["name"]: each["count"] for each in times["kernels"]} == runs.truth().launches()
    expect_callers(times, 8000, 8000 * KERNEL_NS)
    assert [thread["count"] for thread in times["callers"]["threads"]] == [2000] * 4


def test_work_without_calls(runs):
    times, report = runs.only(paths.workload("launch"), "--launches", 2000,
                              CUDA_SIM_CUPTI="uncalled=10")
    expect_no_loss(times, report)
    callers = times["callers"]
    assert (callers["count"], callers["unknown"]) == (1800, 200)
    assert callers["total_ns"] == 1800 * KERNEL_NS


def test_idle_before_and_after_calls(runs):
    """Work starts 1 ms after its call, and the program waits for each piece."""
    times, _ = runs.only(paths.workload("steps"), "--steps", 20, "--launches", 1, "--wait",
                         "stream", CUDA_SIM_CLOCK="kernel=20us,latency=1ms")
    device, = times["devices"]
    assert device["idle_after_call_ns"] >= 19 * 1_000_000
    assert device["idle_before_call_ns"] > 0
    idle = device["span_ns"] - device["busy_ns"]
    assert device["idle_before_call_ns"] + device["idle_after_call_ns"] == idle


@pytest.mark.slow
def test_late_records(runs):
    times, report = runs.only(paths.workload("launch"), "--launches", 2000,
                              CUDA_SIM_CUPTI="late=3")
    expect_no_loss(times, report)
    expect_sum(times["all_kernels"], 2000, KERNEL_NS)
    assert [device["busy_ns"] for device in times["devices"]] == [2000 * KERNEL_NS]


@pytest.mark.slow
def test_dropped_records(runs):
    times, _ = runs.only(paths.workload("launch"), "--launches", 2000, CUDA_SIM_CUPTI="drop=10")
    assert times["dropped"] == 200
    expect_sum(times["all_kernels"], 1800, KERNEL_NS)


@pytest.mark.slow
def test_records_without_times(runs):
    times, _ = runs.only(paths.workload("launch"), "--launches", 700, CUDA_SIM_CUPTI="untimed=7")
    expect_sum(times["all_kernels"], 700, KERNEL_NS, untimed=100)


def test_text(runs):
    done = runs.run(paths.workload("launch"), "--launches", 1000,
                    CUDA_SIM_CUPTI="drop=10,untimed=9")
    assert done.returncode == 0, done.stderr
    assert re.search(r"\n +GPU time +share +count +min +average +max +on the GPU\n"
                     r" +16\.0 ms +100\.0 % +900 +20\.0 us +20\.0 us +20\.0 us +kernel_0\n",
                     done.stdout), done.stdout
    assert re.search(r"GPU 0 busy: 16\.0 ms, ", done.stdout)
    assert re.search(r"from call to start: \S+ [mnu]?s on average, \S+ [mnu]?s at most\n",
                     done.stdout)
    assert "call not known" not in done.stdout
    assert "without a time: 100, as CUPTI did not know it\n" in done.stdout
    assert "lost by CUPTI: 100 records, which no GPU time includes\n" in done.stdout
    assert "launches without a GPU time" not in done.stdout


# --- a share of the time (--gpu-times=SHARE): when bursts come depends on the machine, so the
# --- programs go on for many of them, and no sampled count is compared

REPEATED = """
    import time
    start()
    _, (first, second) = module("first", "second")
    device = made(driver.cuMemAlloc_v2, 4096)
    begin, rounds = time.monotonic(), 0
    while time.monotonic() < begin + 1.5:
        need(launch(first))
        need(launch(second))
        need(driver.cuMemsetD8Async(device, 0, 64, None))
        rounds += 1
    print("rounds", rounds, flush=True)
"""


def sampled(runs, *command, options=()):
    done = runs.run(*command, options=("--gpu-times=20%", *options),
                    CUDA_SIM_CLOCK=CLOCK + ",kernel:first=200us,kernel:second=1us")
    assert done.returncode == 0, done.stderr
    return done


def test_share(runs):
    """Calls are exact, and so are totals of kernels whose times do not differ. The program never
    waits for the GPU."""
    done = sampled(runs, *script(REPEATED), options=("--json",))
    rounds = int(re.search(r"^rounds (\d+)$", done.stdout, re.MULTILINE)[1])
    report = json.loads(done.stdout.splitlines()[-1])
    process, = report["processes"]
    times = process["gpu_times"]
    expect_no_loss(times, report)
    assert times["sampled"]["share"] == 0.2
    assert times["sampled"]["bursts"] > 1
    assert (times["devices"], times["unsampled_launches"]) == (None, 0)
    assert [each["name"] for each in times["kernels"]] == ["first", "second"]
    for each, ns in zip([*times["kernels"], times["sets"]], (200_000, 1_000, SET_NS)):
        assert (each["calls"], each["estimated_ns"]) == (rounds, rounds * ns)
        assert 0 < each["count"] < rounds
        assert each["error"] < 1e-6


def test_share_in_the_text(runs):
    done = sampled(runs, *script(REPEATED))
    assert re.search(r"\n +GPU time +error +share +count +sampled +average +bandwidth +on the "
                     r"GPU\n +~[0-9.]+ (ms|s) +0\.0 % +\d\d\.\d % +[0-9,.]+( k)? +[0-9,]+ +"
                     r"200 us +- +first\n",
                     done.stdout), done.stdout
    assert re.search(r"sampled: 20\.0 % of the time, in \d+ bursts;", done.stdout)
    assert "busy" not in done.stdout.split("on the GPU")[1].split("blocks")[0]


@pytest.mark.slow
def test_share_of_graphs(runs):
    """Kernels in graphs are counted by the launches of the graphs."""
    done = sampled(runs, paths.workload("launch"), "--launches", 300_000, "--function", "graph",
                   options=("--json",))
    process, = json.loads(done.stdout.splitlines()[-1])["processes"]
    kernels = process["gpu_times"]["graph_kernels"]
    assert (kernels["calls"], kernels["estimated_ns"]) == (300_000, 300_000 * KERNEL_NS)
    assert process["gpu_times"]["graphs"]["count"] == 0


# --- no GPU times: the program runs on, and a line says why ---

def expect_failure(done, text):
    assert done.returncode == 0, done.stderr
    assert re.search(text, re.sub(r"\s+", " ", done.stdout)), done.stdout
    assert "launches" in done.stdout


def test_another_profiler(runs):
    done = runs.run(paths.workload("launch"), "--launches", 10, CUDA_SIM_CUPTI="error=39")
    expect_failure(done, "no GPU times: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED; another "
                         r"profiler uses CUPTI in this process: stop it \(CUPTI's error 39\)")


@pytest.mark.slow
def test_an_old_driver(runs):
    done = runs.run(paths.workload("launch"), "--launches", 10, CUDA_SIM_CUPTI="error=15")
    expect_failure(done, "no GPU times: CUPTI_ERROR_NOT_INITIALIZED; CUPTI is newer than the GPU's "
                         "driver")


@pytest.mark.slow
def test_records_cannot_be_had(runs):
    times, _ = runs.only(paths.workload("launch"), "--launches", 10, CUDA_SIM_CUPTI="refuse=51")
    assert times["failure"]["code"] == 2
    assert times["all_kernels"]["count"] == 0


@pytest.mark.slow
@pytest.mark.skipif(TOOLKIT.exists(), reason="the machine has a real CUPTI")
def test_no_cupti(runs, tmp_path):
    directory = tmp_path / "sim"
    directory.mkdir()
    for name in ("libcuda.so.1", "libcudart.so.13"):
        (directory / name).symlink_to(paths.SIM / name)
    for name in ("libcupti.so.13", "libcupti.so.12"):  # instead of any that the loader knows
        (directory / name).touch()
    times, _ = runs.only(paths.workload("launch"), "--launches", 10, LD_LIBRARY_PATH=directory)
    assert times["failure"] == {
        "code": 0, "text": "libcupti.so.13 and libcupti.so.12 were not found"}


@pytest.mark.slow
def test_without_the_library(runs):
    """The process's calls are seen, but nothing else of it."""
    done = runs.run("sh", "-c", f"unset CUDA_INJECTION64_PATH; exec {paths.workload('launch')} "
                                "--launches 10")
    expect_failure(done, "no GPU times: nothing has come from this process")


def test_variable_is_set(runs):
    done = runs.run(paths.workload("launch"), "--launches", 10, options=("--json",),
                    CUDA_INJECTION64_PATH="/nowhere")
    assert done.stderr == ("gpuprobe: warning: no GPU times: CUDA_INJECTION64_PATH is set already, "
                           "so COMMAND gets that library; unset it to have GPU times\n")
    assert '"gpu_times"' not in done.stdout
    assert '"name":"kernel_0"' in done.stdout


@pytest.mark.parametrize("options, message", [
    (("--max-overhead", "2", "--", "true"), "--gpu-times and --max-overhead do not go together"),
    (("-p", "1"), "--gpu-times needs COMMAND: a running process is not injected into"),
    (("-i", "x"), "--gpu-times needs a run: it does not go with -i")])
def test_no_command(options, message):
    done = subprocess.run([paths.GPUPROBE, "stat", "--gpu-times", *options], text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr


# --- ends: what was in CUPTI's buffers is missing, and counted ---

ENDS = """
    start()
    _, (kernel,) = module("add")
    for i in range(1000):
        need(launch(kernel))
    need(driver.cuCtxSynchronize())
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)",
                                 pytest.param("os._exit(0)", marks=pytest.mark.slow)])
def test_ends_without_exit(runs, end):
    done = runs.run(*script(ENDS + f"    {end}\n"))
    kept = 1000 // IN_BUFFER * IN_BUFFER
    assert f"launches without a GPU time: {1000 - kept} of 1,000\n" in done.stdout


@pytest.mark.slow
def test_graphs_end_without_exit(runs):
    """Kernels in graphs that have no time yet are counted apart from launches."""
    done = runs.run(*script("""
    start()
    _, (kernel,) = module("add")
    stream, graph, executable = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    need(driver.cuStreamCreate(ctypes.byref(stream), 1))
    need(driver.cuStreamBeginCapture_v2(stream, 2))
    for i in range(4):
        need(launch(kernel, stream))
    need(driver.cuStreamEndCapture(stream, ctypes.byref(graph)))
    need(driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, ctypes.c_uint64(0)))
    for i in range(100):
        need(driver.cuGraphLaunch(executable, stream))
    need(driver.cuCtxSynchronize())
    os._exit(0)
    """), options=("--gpu-graph-nodes",))
    kept = 400 // IN_BUFFER * IN_BUFFER
    assert f"kernels in graphs without a GPU time: {400 - kept} of 400\n" in done.stdout
    assert "launches without a GPU time" not in done.stdout


@pytest.mark.slow
def test_forked_child(runs):
    times, report = runs.only(*script(ENDS + """
    child = os.fork()
    if not child:
        sys.exit(0)
    os.waitpid(child, 0)
    """))
    expect_no_loss(times, report)
    expect_sum(times["all_kernels"], 1000, KERNEL_NS)


@pytest.mark.slow
def test_processes_by_themselves(runs):
    """A program that starts two others: each has its own times."""
    launch = paths.workload("launch")
    report = runs.report("sh", "-c", f"{launch} --launches 300 & {launch} --launches 500; wait")
    counts = sorted(process["gpu_times"]["all_kernels"]["count"] for process in report["processes"])
    assert counts == [300, 500]
