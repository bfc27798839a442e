# SPDX-License-Identifier: BSD-2-Clause
"""COMMAND from its first call, libraries that come later, and programs that were there before."""
import re
import subprocess
import time

import pytest

from lib import folders, paths, trace
from lib.probe import Background, wait_for_file
from lib.script import script

pytestmark = pytest.mark.usefixtures("nothing_left")


@pytest.fixture
def private():
    """Copies of the libraries and some workloads: files that gpuprobe has never met."""
    with folders.private("traced", "static_runtime", "dlopener") as directory:
        yield directory


def test_the_first_call(tracer_by, private):
    """Of libraries that no other program has loaded: each call from the first on."""
    log = private / "log"
    result = tracer_by.run(private / "traced", "--rounds", 5, "--log", log,
                           args=["-e", "all", "--nested"])
    truth = result.truth.data
    assert dict(result.counts) == {name: counts["calls"] for layer in ("runtime", "driver")
                                   for name, counts in truth[layer].items()}
    assert result.lines[0]["event"] == "cudaSetDevice"


def test_calls_at_the_library_s_initialisation(tracer_by, private):
    """A library whose constructor calls CUDA, before main."""
    source = private / "early.c"
    source.write_text("int cuInit(unsigned); "
                      "__attribute__((constructor)) static void early(void) { cuInit(0); }\n"
                      "int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-o", private / "early", source, f"-L{private}", "-l:libcuda.so.1",
                    f"-Wl,-rpath,{private}"], check=True)
    result = tracer_by.run(private / "early", args=["-e", "cuInit"])
    assert result.events == ["cuInit"]


@pytest.mark.parametrize("library", ["libcuda.so.1", "libcudart.so.13"])
def test_a_library_that_is_opened_later(tracer_by, private, library):
    """Attached before its functions can run."""
    result = tracer_by.run(private / "dlopener", "--library", private / library, "--calls", 50,
                           "--before", 0.3, args=["-e", "memory,launch"])
    own = "cuda" if "cudart" in library else "cu"
    assert result.lost == 0
    assert result.counts[f"{own}LaunchKernel"] == 50
    names = ("cudaMalloc", "cudaFree") if "cudart" in library else ("cuMemAlloc_v2", "cuMemFree_v2")
    assert (result.counts[names[0]], result.counts[names[1]]) == (51, 50)


def test_a_static_runtime(tracer_by, private):
    """The runtime is linked into the program: its functions are not exported,
    but the driver's calls are seen."""
    result = tracer_by.run(private / "static_runtime",
                           args=["-e", "launch,memory", "--api", "driver"])
    truth = result.truth.data["driver"]
    for name in ("cuLaunchKernel", "cuMemAlloc_v2", "cuMemFree_v2"):
        assert result.counts[name] == truth[name]["calls"]


CALLS = 20
# Opens the libcuda of a directory when it is told to call for the first time.
STRANGER = script(f"""
    import cuda
    cuda.SIM = sys.argv[1]
    kernel = None
    while sys.stdin.readline():
        if not kernel:
            start()
            _, (kernel,) = module("late")
        for _ in range({CALLS}):
            need(launch(kernel))
        print("called", flush=True)
""")


def call_until(stranger, condition):
    """Has the stranger call now and then until the condition is true; how many times."""
    for rounds in range(1, 300):
        assert stranger.tell("go") == "called"
        time.sleep(0.2)
        if condition():
            return rounds
    raise TimeoutError


def test_a_stranger_s_library_that_comes_later(tracer, private):
    """A program that was there before and opens CUDA later: gpuprobe says what it missed,
    and shows all calls after it."""
    with Background(*STRANGER, private) as stranger:
        running, path = tracer.start(args=["-p", stranger.pid, "-e", "launch"])
        with running:
            running.wait_until_watching()
            rounds = call_until(stranger, lambda: path.exists() and "event" in path.read_text())
            assert stranger.tell("go") == "called"
            result = trace.Traced(running.stop(), path)
    missed = (rounds + 1) * CALLS - len(result.lines) - result.lost
    assert missed >= 0 and result.lost == 0 and len(result.lines) > CALLS
    told = re.findall(r"process (\d+) \((.*)\): calls before [0-9.]+ ms may be missing: ",
                      result.stderr)
    assert told == [(str(stranger.pid), "python3")] or missed == 0 and told == [], result.stderr


def test_a_stranger_that_is_filtered_out(tracer, private):
    """Nothing is told of what is missed of a process that is not traced."""
    with Background(*STRANGER, private) as stranger:
        running, path = tracer.start(args=["--comm", "another", "-e", "launch", "-v"])
        with running:
            running.wait_until_watching()
            call_until(stranger,
                       lambda: f"{private}/libcuda.so.1 (process {stranger.pid})" in running.stderr)
            result = trace.Traced(running.stop(), path)
    assert result.lines == [] and "may be missing" not in result.stderr


def test_a_process_that_runs(tracer_by, tmp_path):
    """From the moment on: each thread's calls, without a gap."""
    log, enough = tmp_path / "log", tmp_path / "enough"
    with Background(paths.workload("traced"), "--threads", 4, "--rounds", 20000, "--rate", 100,
                    "--until", enough, "--log", log) as caller:
        # With both layers, the driver's part of a runtime call that had begun before
        # would come first.
        running, path = tracer_by.start(args=["-p", caller.pid, "--api", "runtime", "--buffer",
                                              "64M"])
        with running:
            trace.wait_for_lines(path, 1000)
            enough.touch()
            result = trace.Traced(running.finish(), path)
        assert caller.wait(60) == 0
    calls = trace.read_log(log)
    assert result.lost == 0
    for tid, own in calls.items():
        events = [line["event"] for line in result.lines if line["tid"] == tid]
        assert events and events == [call.function for call in own][-len(events):]


def test_a_process_that_hangs_already(tracer_by, tmp_path):
    """A call that began before the probes were there is not shown, and holds up nothing."""
    with Background(*script("""
        import threading
        start()
        hanging = threading.Thread(target=driver.cuCtxSynchronize, daemon=True)
        hanging.start()
        wait_until_in_slow_call(hanging)
        touch(sys.argv[1])
        while True:
            memory = made(driver.cuMemAlloc_v2, 4096)
            need(driver.cuMemFree_v2(memory))
            time.sleep(0.01)
    """), tmp_path / "hangs", env={"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"}) as caller:
        wait_for_file(tmp_path / "hangs")
        running, path = tracer_by.start(args=["-p", caller.pid, "-e", "memory,sync"])
        with running:
            trace.wait_for_lines(path, 50)
            result = trace.Traced(running.stop(), path)
    assert set(result.events) == {"cuMemAlloc_v2", "cuMemFree_v2"}


@pytest.mark.parametrize("status", [0, 1, 42])
def test_status_of_command(tracer, status):
    assert tracer.run("sh", "-c", f"exit {status}", status=None).status == status


def test_a_command_that_is_none(tracer):
    result = tracer.run("/no/such/program", status=None)
    assert result.status not in (0, None) and "/no/such/program" in result.stderr
