# SPDX-License-Identifier: BSD-2-Clause
"""The device clock of the simulated CUDA (sim/README.md) as programs see it,
against its truth file."""
import json
import subprocess

import pytest

from lib import paths
from lib.probe import environment
from lib.script import script

MS = 1_000_000


class Run:
    """A program that has ended, with its truth file."""

    def __init__(self, tmp_path, command, clock, **env):
        path = tmp_path / "truth.json"
        done = subprocess.run(command,
                              env=environment(CUDA_SIM_CLOCK=clock, CUDA_SIM_TRUTH=path, **env),
                              text=True, capture_output=True, timeout=300, check=True)
        self.stdout = done.stdout
        self.truth = json.loads(path.read_text())

    def busy(self, device=0):
        """The device's busy time, whose parts must agree."""
        busy = self.truth["devices"][str(device)]["busy"]
        times = [time for interval in busy["list"] for time in interval]
        assert times == sorted(set(times))  # they are in order and do not touch
        assert busy["intervals"] == len(busy["list"]) + busy["left_out"]
        assert busy["left_out"] or busy["ns"] == sum(end - begin for begin, end in busy["list"])
        return busy


def gaps(busy):
    return [begin - end for (_, end), (begin, _) in zip(busy["list"], busy["list"][1:])]


def test_within_what_the_program_sees(tmp_path):
    """Work begins after its submission and ends before the wait for it does,
    also by the runtime's functions."""
    run = Run(tmp_path, script("""
        start()
        need(driver.cuCtxSetFlags(4))
        device, host = made(runtime.cudaMalloc, 4096), made(driver.cuMemHostAlloc, 4096, 0)
        stream, event = made(runtime.cudaStreamCreate), made(runtime.cudaEventCreate)
        def wait_for_event():
            need(runtime.cudaEventRecord(event, stream))
            need(runtime.cudaEventSynchronize(event))
        waits = [lambda: need(runtime.cudaStreamSynchronize(stream)), wait_for_event,
                 lambda: need(runtime.cudaDeviceSynchronize()),
                 lambda: need(runtime.cudaFree(device))]
        for wait in waits:
            seen = [time.monotonic_ns()]
            need(runtime.cudaMemcpyAsync(device, host, 4096, 1, stream))
            wait()
            assert runtime.cudaStreamQuery(stream) == 0
            print(json.dumps(seen + [time.monotonic_ns()]))
    """), "copy=4ms+10ns/B")
    busy = run.busy()
    assert busy["ns"] == 4 * (4 * MS + 40960)
    seen = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(seen) == len(busy["list"]) == 4
    for (before, after), (begin, end) in zip(seen, busy["list"]):
        assert before <= begin < end <= after


def test_each_device(tmp_path):
    """Devices work apart, also for one thread and its default streams, one in each context."""
    run = Run(tmp_path, script("""
        per_thread = 2
        contexts = [start(0), start(1)]
        kernels = []
        for context in contexts:
            need(driver.cuCtxSetCurrent(context))
            kernels.append(module("kernel", "long")[1])
        late, rounds = True, 0
        while late:
            rounds += 1
            need(driver.cuCtxSetCurrent(contexts[0]))
            need(launch(kernels[0][1], per_thread))
            need(driver.cuCtxSetCurrent(contexts[1]))
            need(launch(kernels[1][0], per_thread))
            need(driver.cuCtxSetCurrent(contexts[0]))
            late = driver.cuStreamQuery(per_thread) == 0
            need(driver.cuStreamSynchronize(per_thread))
            need(driver.cuCtxSetCurrent(contexts[1]))
            need(driver.cuStreamSynchronize(per_thread))
        print(rounds)
    """), "kernel=3ms,kernel:long=50ms", CUDA_SIM_DEVICES=2)
    long, short = run.busy(0), run.busy(1)
    rounds = int(run.stdout)
    assert (long["ns"], long["intervals"]) == (rounds * 50 * MS, rounds)
    assert (short["ns"], short["intervals"]) == (rounds * 3 * MS, rounds)
    # In the last round the machine was not too slow: the second device's work did not wait for
    # the first one's.
    assert short["list"][-1][0] < long["list"][-1][1]


def test_across_devices(tmp_path):
    """A device waits for the other one's event; work submitted later but due before has its
    place in the list."""
    run = Run(tmp_path, script("""
        first = start(0)
        long, short = module("long", "kernel")[1]
        stream = made(driver.cuStreamCreate, 1)
        early, event = made(driver.cuEventCreate, 0), made(driver.cuEventCreate, 0)
        second = start(1)
        (kernel,) = module("kernel")[1]
        waiting, before, other = [made(driver.cuStreamCreate, 1) for _ in range(3)]
        late = True
        while late:
            need(driver.cuCtxSetCurrent(first))
            need(launch(long, stream))
            need(driver.cuEventRecord(early, stream))
            need(launch(short, stream))
            need(driver.cuEventRecord(event, stream))
            need(driver.cuCtxSetCurrent(second))
            need(driver.cuStreamWaitEvent(waiting, event, 0))
            need(launch(kernel, waiting))
            need(driver.cuStreamWaitEvent(before, early, 0))
            need(launch(kernel, before))
            need(launch(kernel, other))
            need(driver.cuStreamSynchronize(other))
            late = driver.cuEventQuery(early) == 0
            need(driver.cuStreamSynchronize(waiting))
    """), "kernel=3ms,kernel:long=100ms", CUDA_SIM_DEVICES=2)
    # Those of the last round, in which the machine was not too slow.
    long, short = run.busy(0)["list"][-1], run.busy(1)["list"]
    assert short[-1] == [long[1] - 3 * MS, long[1] + 3 * MS]  # two that touch
    assert short[-2][1] == short[-2][0] + 3 * MS


def test_what_is_to_come(tmp_path):
    """The file ends with its own time: what would be done later is not told."""
    run = Run(tmp_path, script("""
        start(0)
        (long,) = module("long")[1]
        event = made(driver.cuEventCreate, 0)
        need(launch(long))
        need(driver.cuEventRecord(event, 0))
        start(1)
        (kernel,) = module("kernel")[1]
        need(driver.cuStreamWaitEvent(0, event, 0))
        need(launch(kernel))
    """), "kernel=3ms,kernel:long=600s", CUDA_SIM_DEVICES=2)
    assert len(run.busy(0)["list"]) == 1 and run.busy(0)["ns"] < 600_000 * MS
    assert (run.busy(1)["ns"], run.busy(1)["list"]) == (0, [])


def test_child(tmp_path):
    """A forked child begins with devices that have not worked."""
    run = Run(tmp_path, script("""
        start()
        need(launch(module("kernel")[1][0]))
        need(driver.cuCtxSynchronize())
        path = os.environ["CUDA_SIM_TRUTH"]
        os.environ["CUDA_SIM_TRUTH"] = path + ".%p"
        child = os.fork()
        if child:
            assert os.waitpid(child, 0)[1] == 0
            os.environ["CUDA_SIM_TRUTH"] = path
    """), "kernel=3ms")
    assert run.busy()["ns"] == 3 * MS
    (child,) = tmp_path.glob("truth.json.*")
    assert json.loads(child.read_text())["devices"]["0"]["busy"] == {
        "ns": 0, "intervals": 0, "left_out": 0, "list": []}


def test_full_queue(tmp_path):
    """Launches by several threads onto one stream block, and the stream never holds more
    than its queue."""
    run = Run(tmp_path, script("""
        import threading
        context = start()
        _, (kernel,) = module("kernel")
        stream = made(driver.cuStreamCreate, 1)
        began = time.monotonic_ns()
        def work():
            need(driver.cuCtxSetCurrent(context))
            need(driver.cuCtxSetFlags(4))
            for n in range(10):
                need(launch(kernel, stream))
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(time.monotonic_ns() - began)
        need(driver.cuStreamSynchronize(stream))
    """), "kernel=5ms,queue=3")
    assert run.busy()["ns"] == 40 * 5 * MS
    assert int(run.stdout) >= 37 * 5 * MS


@pytest.mark.parametrize("api", ["runtime", "driver"])
@pytest.mark.parametrize("wait", ["none", "stream", "event", "device"])
def test_steps(tmp_path, api, wait):
    """The workload: all of its work is done, and each wait ends an interval,
    after which the CPU's time begins."""
    run = Run(tmp_path, [paths.workload("steps"), "--steps", "12", "--launches", "3", "--copy",
                         "1000", "--cpu", "0.002", "--wait", wait, "--wait-every", "2", "--api",
                         api], "kernel=500us,kernel:step_1=2ms,copy=1ms+100ns/B")
    busy = run.busy()
    assert busy["ns"] == 12 * (2 * MS // 2 + 2 * MS + 1 * MS + 100_000)
    assert run.stdout.startswith("steps: 12 in ")
    assert float(run.stdout.split()[3]) >= 12 * 0.002
    if wait != "none":
        assert len([gap for gap in gaps(busy) if gap >= 2 * MS]) >= 5


def test_without_it(tmp_path):
    """An empty setting is none: the truth file has nothing of it."""
    run = Run(tmp_path, [paths.workload("steps"), "--steps", "2", "--wait", "stream"], "")
    assert "busy" not in run.truth["devices"]["0"]


def test_refused(tmp_path):
    done = subprocess.run([paths.workload("steps")], env=environment(CUDA_SIM_CLOCK="kernel=fast"),
                          text=True, capture_output=True, timeout=300, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith('simulated CUDA: CUDA_SIM_CLOCK: "kernel=fast": expected ')
