# SPDX-License-Identifier: BSD-2-Clause
"""
Times in which a process has nothing queued on a GPU (`stat --idle-times`), against the simulated
device's own clock: none of them contains any work, and those that a wait proves are there.
"""
import csv
import json
import time

import pytest

from lib.gpu_queue import COMMON
from lib.probe import Background, Probe, wait_for_file
from lib.profile_runs import Programs, Scenario, by_scenario
from lib.script import script
from lib.truth import Truth

PROGRAMS = Programs()
CLOCK = {"CUDA_SIM_CLOCK": "kernel=300us,copy=100us+0.1ns/B,set=60us,graph_node=20us"}
# The device's clock is CLOCK_MONOTONIC, gpuprobe's CLOCK_BOOTTIME: ahead by the time asleep.
ASLEEP_NS = round((time.clock_gettime(time.CLOCK_BOOTTIME) - time.monotonic()) * 1000) * 1_000_000


class Times:
    """The idle times of a process beside the busy times of its devices."""

    def __init__(self, process, truth, rows):
        self.process = process
        self.truth = truth
        self.rows = [row for row in rows if int(row["pid"]) == process["pid"]]

    def idle(self, device=0):
        names = (str(device), "")  # nothing is queued on any device that is not known, either
        return [(int(row["begin_ns"]) - ASLEEP_NS, int(row["end_ns"]) - ASLEEP_NS)
                for row in self.rows if row["device"] in names]

    def busy(self, device=0):
        busy = self.truth.data["devices"][str(device)]["busy"]
        assert not busy["left_out"]
        return busy["list"]

    def false_ns(self, device=0):
        """Time that was called idle and was not."""
        return sum(max(0, min(end, busy_end) - max(begin, busy_begin))
                   for begin, end in self.idle(device)
                   for busy_begin, busy_end in self.busy(device))

    def check_sums(self):
        """What is told one by one is what is summed up."""
        told = {}
        for row in self.rows:
            told.setdefault(row["device"] or "8", []).append(
                int(row["end_ns"]) - int(row["begin_ns"]))
        queues = {str(queue["device"]): queue for queue in self.process["account"]["queues"]
                  if queue["idle_times"]}
        assert {device: (len(times), sum(times)) for device, times in told.items()} == \
            {device: (queue["idle_times"], queue["idle_ns"]) for device, queue in queues.items()}

    def check(self, device=0):
        """Nothing was called idle that was not."""
        assert self.busy(device)
        assert self.false_ns(device) == 0
        self.check_sums()

    def proved_share(self, device=0):
        """The proved part of the true idle time between the first and the last work."""
        busy = self.busy(device)
        first, last = busy[0][0], busy[-1][1]
        true = last - first - sum(end - begin for begin, end in busy)
        proved = sum(max(0, min(end, last) - max(begin, first)) for begin, end in self.idle(device))
        return proved / true


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    directory = tmp_path_factory.mktemp("idle")
    path = directory / "idle.csv"
    # Threads share streams: a thread preempted with a stream's lock lets the next one's copy go
    # uncounted, which is reported.
    runs = by_scenario(Probe(directory), PROGRAMS.scenarios, COMMON + RANDOM,
                       args=["--idle-times", path], env=CLOCK,
                       at_once=4, may_lose=["inflight_busy"])
    return runs, read_rows(path)


@pytest.fixture
def found(watched, request):
    runs, rows = watched
    ran = runs[request.node.name]
    return Times(ran.process, ran.truth, rows)


# Programs of random calls: what a thread does, how many do it at a time, and on which streams.
RANDOM = """
import random
need(driver.cuCtxSetFlags(4))
def captured(s):
    taken = ctypes.c_void_p()
    need(driver.cuStreamEndCapture(s, ctypes.byref(taken)))
    return made(driver.cuGraphInstantiateWithFlags, taken, 0)
def act(rng, streams, events, memory, host, executable):
    s, e = rng.choice(streams), rng.choice(events)
    what = rng.choices(["launch", "copy", "set", "graph", "sync copy", "record", "follow", "wait",
                        "wait event", "query", "context", "sleep", "wait all"],
                       [8, 3, 2, 2, 1, 4, 4, 2, 2, 2, 1, 3, 2])[0]
    if what == "launch":
        need(launch(kernel, s))
    elif what == "copy":
        need(driver.cuMemcpyHtoDAsync_v2(memory, host, 4096, s))
    elif what == "set":
        need(driver.cuMemsetD8Async(memory, 0, 4096, s))
    elif what == "graph":
        need(driver.cuGraphLaunch(executable, s))
    elif what == "sync copy":
        need(driver.cuMemcpyDtoH_v2(host, memory, 4096))
    elif what == "record":
        need(driver.cuEventRecord(e, s))
    elif what == "follow":
        need(driver.cuStreamWaitEvent(s, e, 0))
    elif what == "wait":
        need(driver.cuStreamSynchronize(s))
    elif what == "wait event":
        need(driver.cuEventSynchronize(e))
    elif what == "query":
        driver.cuStreamQuery(s)
        driver.cuEventQuery(e)
    elif what == "context":
        need(driver.cuCtxSynchronize())
    elif what == "sleep":
        time.sleep(rng.random() / 500)
    elif what == "wait all":
        for one in streams:
            need(driver.cuStreamSynchronize(one))
        time.sleep(rng.random() / 500)
def body(seed, streams, operations):
    rng = random.Random(seed)
    events = [event() for _ in range(3)]
    memory, host = device_memory(), pinned()
    plain = stream()
    need(driver.cuStreamBeginCapture_v2(plain, 2))
    need(launch(kernel, plain))
    need(launch(kernel, plain))
    executable = captured(plain)
    for _ in range(operations):
        act(rng, streams, events, memory, host, executable)
def at_once(bodies):
    for thread in [run(one) for one in bodies]:
        thread.join()
"""

STREAMS = {
    "apart": "[stream(), stream(), stream()]",
    "blocking": "[stream(0), stream(0), stream()]",
    "legacy": "[0, stream(0), stream()]",
    "legacy alone": "[0]",
}


@PROGRAMS.of_cases({f"{name} {seed}": Scenario(f"body({seed}, {streams}, 400)")
                    for name, streams in STREAMS.items() for seed in range(4)})
def test_random_programs(found):
    found.check()
    assert found.proved_share() > 0


@PROGRAMS.of_cases({f"{name} {seed}": Scenario(f"""
streams = {streams}
at_once([lambda n=n: body({seed} * 10 + n, streams, 150) for n in range(4)])
""") for name, streams in STREAMS.items() for seed in range(2)})
def test_threads_that_share_streams(found):
    found.check()


@PROGRAMS.of_cases({f"{seed}": Scenario(f"""
at_once([lambda n=n: body({seed} * 10 + n, [stream(), stream()], 150) for n in range(4)])
""") for seed in range(2)})
def test_threads_with_streams_of_their_own(found):
    found.check()


WAITS = {
    "context": "need(driver.cuCtxSynchronize())",
    "stream": "need(driver.cuStreamSynchronize(s))",
    "legacy": "need(driver.cuStreamSynchronize(0))",
    "event": "need(driver.cuEventRecord(e, s)); need(driver.cuEventSynchronize(e))",
    "query": """
    while driver.cuStreamQuery(s) == 600:
        time.sleep(0.0005)""",
    "copy": "need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, 0)); "
            "need(driver.cuMemcpyDtoH_v2(h, d, 4096))",
    "another stream": "need(driver.cuEventRecord(e, s)); "
                      "need(driver.cuStreamWaitEvent(t, e, 0)); "
                      "need(driver.cuStreamSynchronize(t))",
}


@PROGRAMS.of_cases({name: Scenario(f"""
s, t, e, d, h = stream(0), stream(), event(), device_memory(), pinned()
for _ in range(20):
    for _ in range(4):
        need(launch(kernel, s))
    {wait}
    time.sleep(0.005)
need(launch(kernel, s))
need(driver.cuCtxSynchronize())
""") for name, wait in WAITS.items()})
def test_waits_prove_what_is_idle(found):
    """All but the time in which calls return and enter."""
    found.check()
    assert len(found.idle()) >= 20
    assert found.proved_share() > 0.5


@PROGRAMS.of_test("""
forgotten, s, d = stream(), stream(), device_memory()
need(driver.cuMemsetD8Async(d, 0, 4096, forgotten))
for _ in range(60):
    need(launch(kernel, s))
    need(driver.cuStreamSynchronize(s))
    time.sleep(0.004)
need(driver.cuCtxSynchronize())
""")
def test_a_set_that_nobody_waits_for(found):
    """Nothing is proved before it can have lasted no longer; then all is."""
    found.check()
    rows = found.idle()
    assert 0 < len(rows) < 60
    assert rows[0][0] - found.busy()[0][0] > 100e6


@PROGRAMS.of_test("""
busy, s = stream(), stream()
need(launch(kernel, busy))
for _ in range(60):
    need(launch(kernel, s))
    need(driver.cuStreamSynchronize(s))
    time.sleep(0.004)
""")
def test_a_kernel_that_nobody_waits_for(found):
    """How long it takes nobody knows."""
    assert found.rows == []


@PROGRAMS.of_test("""
s, gone = stream(), stream()
need(launch(kernel, gone))
need(driver.cuStreamDestroy_v2(gone))
again = stream()
for _ in range(5):
    need(launch(kernel, s))
    need(launch(kernel, again))
    need(driver.cuStreamSynchronize(s))
    need(driver.cuStreamSynchronize(again))
    time.sleep(0.002)
need(driver.cuCtxSynchronize())
time.sleep(0.002)
need(launch(kernel, s))
need(driver.cuCtxSynchronize())
""")
def test_a_stream_that_ends_with_work(found):
    """Only a wait for everything covers it, though its handle comes back."""
    found.check()
    assert len(found.idle()) == 1


@PROGRAMS.of_test("""
streams = [stream() for _ in range(20)]
for _ in range(5):
    for s in streams:
        need(launch(kernel, s))
    for s in streams:
        need(driver.cuStreamSynchronize(s))
    time.sleep(0.002)
need(driver.cuCtxSynchronize())
time.sleep(0.002)
need(launch(kernel, streams[0]))
need(driver.cuCtxSynchronize())
""")
def test_more_streams_than_the_list_holds(found):
    found.check()
    assert len(found.idle()) == 1


@PROGRAMS.of_test("""
second = made(driver.cuDevicePrimaryCtxRetain, 1)
def of_context(context):
    need(driver.cuCtxSetCurrent(context))
    s = stream()
    for _ in range(10):
        need(launch(kernel, s) if context is not second
             else driver.cuMemsetD8Async(other, 0, 4096, s))
        need(driver.cuStreamSynchronize(s))
        time.sleep(0.003)
need(driver.cuCtxSetCurrent(second))
other = device_memory()
need(driver.cuCtxSetCurrent(context))
threads = [threading.Thread(target=of_context, args=(one,)) for one in (context, second)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
""", env={"CUDA_SIM_DEVICES": 2})
def test_two_devices(found):
    for device in (0, 1):
        found.check(device)
        assert found.proved_share(device) > 0.5


@pytest.mark.waits("its program rests, for three seconds")
def test_attached_late(tmp_path):
    """What was queued before nobody knows: it is taken to be done two seconds later."""
    ready, watched, path = tmp_path / "ready", tmp_path / "watched", tmp_path / "idle.csv"
    program = script(COMMON + f"""
need(driver.cuCtxSetFlags(4))
s = stream()
open({str(ready)!r}, "w").close()
ends = float("inf")
while time.monotonic() < ends:
    if ends == float("inf") and os.path.exists({str(watched)!r}):
        ends = time.monotonic() + 3
    need(launch(kernel, s))
    need(driver.cuStreamSynchronize(s))
    time.sleep(0.01)
""")
    gpuprobe = Probe(tmp_path)
    truth = tmp_path / "truth.json"
    with Background(*program, env={**CLOCK, "CUDA_SIM_TRUTH": truth}) as process:
        wait_for_file(ready)
        with gpuprobe.start(base=["stat", "--json"], interval=None,
                            args=["-p", process.pid, "--idle-times", path]) as running:
            running.wait_until_watching()
            watched.touch()
            result = running.finish()
    found = Times(result.process_of(process.pid), Truth(json.loads(truth.read_text())),
                  read_rows(path))
    found.check()
    assert found.idle()
