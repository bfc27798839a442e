# SPDX-License-Identifier: BSD-2-Clause
"""
Copies in flight when streams wait for each other: by events, and by the order that the legacy
default stream keeps with the blocking streams. Copy number N has 1 << N bytes, so that a report
shows which are in flight.
"""
import random

import pytest

from lib import exact, stream_model
from lib.inflight import Copies
from lib.paths import workload
from lib.probe import wait_for_file

COPIES = 20


class Streams(Copies):
    """A script in which look() waits until in_flight() has told what is."""

    PRELUDE = Copies.PRELUDE + """
looks = iter(range(1000))
def look():
    touch(f"{directory}/look{next(looks)}")
    step()
def put(number, stream, form=""):
    copy(stream, 1 << number, form)
def record(event, stream, form=""):
    need(getattr(driver, "cuEventRecord" + form)(event, stream))
def follow(stream, event, form=""):
    need(getattr(driver, "cuStreamWaitEvent" + form)(stream, event, 0))
def wait(stream, form=""):
    need(getattr(driver, "cuStreamSynchronize" + form)(stream))
"""

    def __init__(self, probe, body, **options):
        super().__init__(probe, body, interval=0.03, **options)

    def in_flight(self):
        wait_for_file(self.directory / f"look{self.number}")
        report = self.later_report()
        self.go_on()
        process, = report["processes"]
        size = sum(bytes_ for _, bytes_ in exact.in_flight(process).values())
        return {number for number in range(COPIES) if size >> number & 1}

    def finish(self):
        self.go_on()
        return super().finish()


WAITS = {
    "driver": ("driver.cuStreamWaitEvent(two, mark, 0)", "driver.cuEventRecord(mark, one)",
               ["driver.cuStreamSynchronize(two)", "driver.cuStreamQuery(two)",
                "(driver.cuEventRecord(later, two) or driver.cuEventSynchronize(later))",
                "(driver.cuEventRecord(later, two) or driver.cuEventQuery(later))"]),
    "runtime": ("runtime.cudaStreamWaitEvent(two, mark, 0)",
                "runtime.cudaEventRecordWithFlags(mark, one, 0)",
                ["runtime.cudaStreamSynchronize(two)", "runtime.cudaStreamQuery(two)",
                 "(runtime.cudaEventRecord(later, two) or runtime.cudaEventSynchronize(later))",
                 "(runtime.cudaEventRecord(later, two) or runtime.cudaEventQuery(later))"]),
}


@pytest.mark.parametrize("layer", ["driver", pytest.param("runtime", marks=pytest.mark.slow)])
def test_what_a_stream_waits_for_is_covered_with_it(gpuprobe_by, layer):
    """By each wait for the second stream: of the first what came before the event, no more."""
    follow, record, waits = WAITS[layer]
    body = "one, two, mark, later = stream(), stream(), event(), event()\n"
    for number, wait in enumerate(waits):
        body += (f"put({2 * number}, one)\nneed({record})\nput({2 * number + 1}, one)\nlook()\n"
                 f"need({follow})\nlook()\nneed({wait})\nlook()\n")
    with Streams(gpuprobe_by, body) as steps:
        for number in range(len(waits)):
            after = {2 * number + 1}
            # What came after the event is before the next one.
            before = {2 * number} | ({2 * number - 1} if number else set())
            assert steps.in_flight() == before | after
            assert steps.in_flight() == before | after
            assert steps.in_flight() == after
        steps.finish()


def test_the_forms_for_threads_own_streams(gpuprobe):
    with Streams(gpuprobe, """
        one, mark = stream(), event()
        put(0, one)
        put(1, 2)
        record(mark, one, "_ptsz")
        follow(0, mark, "_ptsz")
        put(2, one)
        look()
        wait(0, "_ptsz")
        look()
        put(3, 0, "_ptsz")
        record(mark, 0, "_ptsz")
        follow(one, mark)
        wait(one)
        look()
        """) as steps:
        assert steps.in_flight() == {0, 1, 2}
        assert steps.in_flight() == {2}
        assert steps.in_flight() == set()
        steps.finish()


def test_over_several_streams(gpuprobe):
    """The third is behind the second, which is behind the first, and has no copies of its own;
    also in a ring."""
    with Streams(gpuprobe, """
        one, two, three, other = stream(), stream(), stream(), stream()
        first, second = event(), event()
        put(0, one)
        put(1, other)
        record(first, one)
        follow(two, first)
        record(second, two)
        put(2, one)
        follow(three, second)
        look()
        wait(three)
        look()
        for number in range(3, 15, 3):
            for source, to in ((one, two), (two, three), (three, one)):
                put(number, source)
                number += 1
                record(first, source)
                follow(to, first)
        put(15, one)
        put(16, three)
        look()
        need(driver.cuEventSynchronize(first))
        look()
        wait(one)
        look()
        """) as steps:
        assert steps.in_flight() == {0, 1, 2}
        assert steps.in_flight() == {1, 2}
        assert steps.in_flight() == {1, 2} | set(range(3, 17))
        assert steps.in_flight() == {1, 15, 16}
        assert steps.in_flight() == {1, 16}
        steps.finish()


def test_a_wait_keeps_what_the_event_stood_for(gpuprobe):
    """An event is recorded again, in the same stream or another one, or destroyed,
    after a wait for it was queued."""
    with Streams(gpuprobe, """
        one, two, three, mark = stream(), stream(), stream(), event()
        put(0, one)
        record(mark, one)
        follow(two, mark)
        put(1, one)
        record(mark, one)
        put(2, three)
        record(mark, three)
        look()
        wait(two)
        look()
        follow(two, mark)
        need(driver.cuEventDestroy_v2(mark))
        mark = event()
        put(3, one)
        record(mark, one)
        wait(two)
        look()
        """) as steps:
        assert steps.in_flight() == {0, 1, 2}
        assert steps.in_flight() == {1, 2}
        assert steps.in_flight() == {1, 3}
        steps.finish()


def test_waits_that_prove_nothing(gpuprobe):
    """A wait that failed, for an event never recorded, by a stream that is not done,
    or queued after the host's wait began."""
    with Streams(gpuprobe, """
        one, two, mark, never = stream(), stream(), event(), event()
        put(0, one)
        record(mark, one)
        assert driver.cuStreamWaitEvent(two, mark, 0) == 700
        follow(two, never)
        wait(two)
        look()
        follow(two, mark)
        assert driver.cuStreamQuery(two) == 600
        assert driver.cuStreamSynchronize(two) == 719
        look()
        wait(two)
        follow(two, mark)
        put(1, one)
        record(mark, one)
        follow(two, mark)
        look()
        wait(two)
        look()
        """, env={"CUDA_SIM_FAIL": "cuStreamWaitEvent:1=700,cuStreamQuery:1=600,"
                                 "cuStreamSynchronize:2=719"}) as steps:
        assert steps.in_flight() == {0}
        assert steps.in_flight() == {0}
        assert steps.in_flight() == {1}
        assert steps.in_flight() == set()
        steps.finish()


def test_the_legacy_stream_and_blocking_ones(gpuprobe):
    """The legacy stream waits for blocking streams, including threads' own, and for no others;
    a synchronous copy is on it."""
    with Streams(gpuprobe, """
        blocking, apart, mark = made(driver.cuStreamCreate, 0), stream(), event()
        put(0, blocking)
        put(1, apart)
        put(2, 2)
        look()
        wait(0)
        look()
        put(3, blocking)
        need(driver.cuMemcpyHtoD_v2(device, host, 10))
        put(4, blocking)
        look()
        record(mark, 0)
        put(5, blocking)
        need(driver.cuEventSynchronize(mark))
        look()
        # What it had before their copies is done with these.
        put(6, 0)
        record(mark, 0)
        put(7, blocking)
        put(8, 0)
        wait(blocking)
        look()
        wait(apart)
        look()
        """) as steps:
        assert steps.in_flight() == {0, 1, 2}
        assert steps.in_flight() == {1}
        assert steps.in_flight() == {1, 4}
        assert steps.in_flight() == {1, 5}
        assert steps.in_flight() == {1, 8}
        assert steps.in_flight() == {8}
        steps.finish()


def test_the_legacy_stream_behind_events(gpuprobe):
    """The legacy stream inherits the waits of a blocking stream, and a blocking stream those of the
    legacy stream."""
    with Streams(gpuprobe, """
        blocking, apart, other = made(driver.cuStreamCreate, 0), stream(), stream()
        mark, later = event(), event()
        put(0, apart)
        record(mark, apart)
        follow(blocking, mark)
        wait(other)
        look()
        wait(0)
        look()
        put(1, apart)
        record(mark, apart)
        follow(0, mark)
        record(later, 0)
        put(2, blocking)
        put(3, apart)
        wait(blocking)
        look()
        # A stream that the legacy one does not wait for does not wait for it either.
        put(4, 0)
        put(5, other)
        wait(other)
        look()
        record(mark, 0)
        follow(other, mark)
        wait(other)
        look()
        """) as steps:
        assert steps.in_flight() == {0}
        assert steps.in_flight() == set()
        assert steps.in_flight() == {3}
        assert steps.in_flight() == {3, 4}
        assert steps.in_flight() == {3}
        steps.finish()


def test_events_recorded_in_a_capture(gpuprobe):
    """Such events prove no work done: neither what they stood for before,
    nor the stream's present work. A captured wait does not count."""
    with Streams(gpuprobe, """
        one, two, three = stream(), stream(), stream()
        mark, fork = event(), event()
        put(0, one)
        record(mark, one)
        need(driver.cuStreamBeginCapture_v2(one, 2))
        record(mark, one)
        follow(two, mark)
        record(fork, two)
        follow(one, fork)
        need(driver.cuStreamEndCapture(one, ref(out())))
        assert driver.cuEventSynchronize(mark) != 0
        wait(two)
        look()
        put(1, three)
        record(mark, three)
        need(driver.cuStreamBeginCapture_v2(two, 2))
        assert driver.cuStreamWaitEvent(two, mark, 1) in (0, 905)
        driver.cuStreamEndCapture(two, ref(out()))
        wait(two)
        look()
        follow(two, mark)
        wait(two)
        look()
        """) as steps:
        assert steps.in_flight() == {0}
        assert steps.in_flight() == {0, 1}
        assert steps.in_flight() == {0}
        steps.finish()


def test_events_that_others_record(gpuprobe):
    """Waits by a graph, through nodes of both kinds, or for another process's event:
    it is unknown what they wait for."""
    with Streams(gpuprobe, """
        one, two = stream(), stream()
        marks = event(), event(), made(driver.cuEventCreate, 4 | 2)
        graph = made(driver.cuGraphCreate, 0)
        made(driver.cuGraphAddEventRecordNode, graph, None, 0, marks[0])
        params = (ctypes.c_uint64 * 32)(7, 0, marks[1])
        made(driver.cuGraphAddNode_v2, graph, None, None, 0, ctypes.byref(params))
        executable = made(driver.cuGraphInstantiateWithFlags, graph, 0)
        for number, mark in enumerate(marks):
            put(number, one)
            record(mark, one)
        need(driver.cuGraphLaunch(executable, two))
        for mark in marks:
            need(driver.cuEventSynchronize(mark))
            follow(two, mark)
        wait(two)
        look()
        mark = event()
        record(mark, one)
        follow(two, mark)
        wait(two)
        look()
        """) as steps:
        assert steps.in_flight() == {0, 1, 2}
        assert steps.in_flight() == set()
        steps.finish()


def test_streams_that_go(gpuprobe):
    """A reused handle is another stream: it inherits neither the old stream's waits nor
    the waits for it."""
    with Streams(gpuprobe, """
        one, two, mark = stream(), stream(), event()
        put(0, one)
        record(mark, one)
        follow(two, mark)
        need(driver.cuStreamDestroy_v2(one))
        again = stream()
        assert again == one
        put(1, again)
        wait(two)
        look()
        record(mark, again)
        follow(two, mark)
        need(driver.cuStreamDestroy_v2(two))
        again = stream()
        assert again == two
        wait(again)
        look()
        """) as steps:
        assert steps.in_flight() == {1}
        assert steps.in_flight() == {1}
        steps.finish()


def test_contexts(gpuprobe):
    """A wait for one covers what its streams waited for in the other.
    A thread's own stream belongs to the context in which it has work."""
    with Streams(gpuprobe, """
        def on(which):
            need(driver.cuCtxSetCurrent(which))
        one, mark = stream(), event()
        put(0, one)
        record(mark, one)
        put(1, one)
        start(1)
        far = ctypes.c_void_p()
        need(driver.cuCtxGetCurrent(ctypes.byref(far)))
        device, host = made(driver.cuMemAlloc_v2, 1 << 20), made(driver.cuMemHostAlloc, 1 << 20, 0)
        two = stream()
        follow(two, mark)
        look()
        need(driver.cuCtxSynchronize())
        look()
        put(2, 2)
        on(context)
        wait(0)
        look()
        on(far)
        wait(0)
        look()
        """, env={"CUDA_SIM_DEVICES": 2}) as steps:
        assert steps.in_flight() == {0, 1}
        assert steps.in_flight() == {1}
        assert steps.in_flight() == {1, 2}
        assert steps.in_flight() == {1}
        steps.finish()


@pytest.mark.slow
def test_more_than_there_is_room_for(gpuprobe):
    """Waits for more streams than one has room for are a loss, other waits are not;
    the same two streams take room only once."""
    with Streams(gpuprobe, """
        one, two, mark = stream(), stream(), event()
        put(0, one)
        for _ in range(100):
            record(mark, one)
            follow(two, mark)
        wait(two)
        look()
        others = [stream() for _ in range(40)]
        for other in others:
            copy(other, 1 << 10)
            record(mark, other)
            follow(two, mark)
        wait(two)
        look()
        """) as steps:
        assert steps.in_flight() == set()
        wait_for_file(steps.directory / "look1")
        process, = steps.later_report()["processes"]
        assert exact.in_flight(process) == {"H2D": (8, 8 << 10)}
        steps.go_on()
        steps.go_on()
        result = steps.running.finish()
    assert exact.lost(result.final) == {"order_map_full": 8}


def test_a_training_loop(gpuprobe):
    """Copies on a stream that nobody waits for directly:
    no more are in flight than the loop has prepared."""
    seen = []

    def tells(report):
        for process in report["processes"]:
            seen.append(exact.in_flight(process).get("H2D", (0, 0))[0])
        return (len([calls for calls in seen if calls]) >= 3 or report["processes"]
                and report["processes"][0]["ended"])

    with gpuprobe.start(workload("training"), "--seconds", 60, interval=0.05) as running:
        running.wait_for(tells)
        running.stop()
    assert max(seen) <= 10


# --- any order ---

def check_any(gpuprobe, seed, **kinds):
    program = stream_model.Program(random.Random(seed), **kinds)
    with Streams(gpuprobe, program.text) as steps:
        for certain, possible in program.expected:
            found = steps.in_flight()
            assert certain <= found <= possible, f"seed {seed}"
        steps.finish()


@pytest.mark.parametrize("seed", [1, *[pytest.param(seed, marks=pytest.mark.slow)
                                       for seed in range(2, 12)]])
def test_any_order_of_non_blocking_streams(gpuprobe, seed):
    check_any(gpuprobe, seed, blocking=0, legacy=False)


@pytest.mark.parametrize("seed", [1, *[pytest.param(seed, marks=pytest.mark.slow)
                                       for seed in range(2, 12)]])
def test_any_order_of_all_streams(gpuprobe, seed):
    check_any(gpuprobe, seed, blocking=2, legacy=True)
