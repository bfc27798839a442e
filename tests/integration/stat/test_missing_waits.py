# SPDX-License-Identifier: BSD-2-Clause
"""Missing waits in `gpuprobe stat`: what is destroyed, freed or left while the GPU may use it.

Each is looked for in a program that has it, and in those that come near to it and have not.
"""
import pytest

from lib.gpu_queue import accounts
from lib.probe import Probe
from lib.profile_runs import Programs, Scenario

PROGRAMS = Programs()


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    return accounts(Probe(tmp_path_factory.mktemp("missing")), PROGRAMS.scenarios)


@pytest.fixture
def found(watched, request):
    """The account of the test's own program."""
    return watched[request.node.name]


MISSING = {
    "wait for an event": ("need(driver.cuEventSynchronize(e))", {"unrecorded_waits": 1}),
    "stream's wait for an event": ("need(driver.cuStreamWaitEvent(s, e, 0))",
                                  {"unrecorded_waits": 1}),
    "query of an event": ("need(driver.cuEventQuery(e))", {"unrecorded_queries": 1}),
    "stream with a launch": ("need(launch(kernel, s)); need(driver.cuStreamDestroy_v2(s))",
                             {"destroyed_busy": 1}),
    "stream with a copy": ("""
need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, s))
need(driver.cuStreamDestroy_v2(s))
""", {"destroyed_busy": 1}),
    "stream with a launch after the wait": ("""
need(launch(kernel, s))
need(driver.cuStreamSynchronize(s))
need(launch(kernel, s))
need(driver.cuStreamDestroy_v2(s))
""", {"destroyed_busy": 1}),
    "wait for another stream": ("""
other = stream()
need(launch(kernel, other))
need(launch(kernel, s))
need(driver.cuStreamSynchronize(other))
need(driver.cuStreamDestroy_v2(s))
""", {"destroyed_busy": 1}),
    "free of a target": ("""
for _ in range(2):
    need(driver.cuMemcpyDtoHAsync_v2(h + 100, d, 1000, s))
need(driver.cuMemFreeHost(h))
""", {"freed_busy": 1, "freed_busy_bytes": 2000}),
    "end of a target's registration": ("""
import mmap
memory = mmap.mmap(-1, 1 << 16)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
need(driver.cuMemHostRegister_v2(address, 1 << 16, 0))
need(driver.cuMemcpyDtoHAsync_v2(address + 4096, d, 1000, s))
need(driver.cuMemHostUnregister(address))
""", {"freed_busy": 1, "freed_busy_bytes": 1000}),
    "exit": ("need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))", {"at_exit": 1}),
    "exit with two": ("""
need(driver.cuMemcpyDtoHAsync_v2(pinned(), d, 4096, stream()))
need(driver.cuMemcpyDtoHAsync_v2(pinned(), d, 4096, stream()))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuStreamSynchronize(s))
""", {"at_exit": 2}),
}
OBJECTS = """
s, e = stream(), event()
d, h = device_memory(), pinned()
"""


@PROGRAMS.of_cases({case: Scenario(OBJECTS + body) for case, (body, _) in MISSING.items()}, "case")
def test_missing_wait(found, case):
    assert found.missing() == MISSING[case][1]


WAITED = {
    "event recorded": """
need(driver.cuEventRecord(e, s))
need(driver.cuEventSynchronize(e))
need(driver.cuEventQuery(e))
need(driver.cuStreamWaitEvent(s, e, 0))
""",
    "events in turn": """
events = [event() for _ in range(3)]
for i in range(7):
    need(driver.cuEventQuery(events[i % 3]) % 600)
    need(driver.cuEventSynchronize(events[i % 3]))
    need(driver.cuStreamWaitEvent(s, events[i % 3], 0))
    need(driver.cuEventRecord(events[i % 3], s))
""",
    "an event's handle comes back": """
for _ in range(3):
    e = event()
    need(driver.cuEventRecord(e, s))
    need(driver.cuEventSynchronize(e))
    need(driver.cuEventDestroy_v2(e))
""",
    "event of another process": """
shared = event(6)
need(driver.cuEventSynchronize(shared))
""",
    "event of a graph": """
graph = made(driver.cuGraphCreate, 0)
made(driver.cuGraphAddEventRecordNode, graph, None, 0, e)
run_ = made(driver.cuGraphInstantiateWithFlags, graph, 0)
need(driver.cuGraphLaunch(run_, s))
need(driver.cuEventSynchronize(e))
need(driver.cuCtxSynchronize())
""",
    "event of all of a context": """
need(launch(kernel, s))
need(driver.cuCtxRecordEvent(context, e))
need(driver.cuEventSynchronize(e))
need(driver.cuStreamDestroy_v2(s))
""",
    "stream waited for": """
for _ in range(3):
    need(launch(kernel, s))
    need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
    need(driver.cuStreamSynchronize(s))
    need(driver.cuStreamDestroy_v2(s))
    s = stream()
need(driver.cuMemFreeHost(h))
""",
    "context waited for": """
other = stream()
need(launch(kernel, s))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, other))
need(driver.cuCtxSynchronize())
need(driver.cuStreamDestroy_v2(s))
need(driver.cuStreamDestroy_v2(other))
need(driver.cuMemFreeHost(h))
""",
    "event after it waited for": """
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuEventRecord(e, s))
need(driver.cuEventSynchronize(e))
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "another stream waits for the event": """
other = stream()
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuEventRecord(e, s))
need(driver.cuStreamWaitEvent(other, e, 0))
need(driver.cuStreamSynchronize(other))
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "queried": """
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
while driver.cuStreamQuery(s) == 600:
    time.sleep(0.001)
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "host function": """
done = threading.Event()
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: done.set())
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
need(driver.cuLaunchHostFunc(s, callback, 0))
done.wait()
need(driver.cuMemFreeHost(h))
need(driver.cuStreamDestroy_v2(s))
""",
    "legacy stream after a blocking one": """
blocking = stream(0)
need(launch(kernel, blocking))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, blocking))
need(driver.cuMemcpyDtoH_v2(pinned(), d, 4096))
need(driver.cuStreamDestroy_v2(blocking))
need(driver.cuMemFreeHost(h))
""",
    "blocking stream after the legacy one": """
blocking = stream(0)
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, 0))
need(launch(kernel, blocking))
need(driver.cuStreamSynchronize(blocking))
need(driver.cuMemFreeHost(h))
""",
    "a free that blocks": """
need(launch(kernel, s))
need(driver.cuMemFree_v2(d))
need(driver.cuStreamDestroy_v2(s))
""",
    "pageable target": """
target = ctypes.create_string_buffer(4096)
need(driver.cuMemcpyDtoHAsync_v2(ctypes.addressof(target), d, 4096, s))
""",
    "copy to the device": "need(driver.cuMemcpyHtoDAsync_v2(d, h, 4096, s)); "
                          "need(driver.cuMemFreeHost(h))",
    "captured": """
need(driver.cuStreamBeginCapture_v2(s, 0))
need(launch(kernel, s))
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
graph = made(lambda out: driver.cuStreamEndCapture(s, out))
need(driver.cuStreamDestroy_v2(s))
need(driver.cuMemFreeHost(h))
""",
    "a handle that comes back": """
for _ in range(3):
    need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
    need(driver.cuStreamSynchronize(s))
    need(driver.cuStreamDestroy_v2(s))
    s = stream()
need(driver.cuMemFreeHost(h))
h = pinned()
need(driver.cuMemFreeHost(h))
""",
    "context that ended": """
second = made(driver.cuCtxCreate_v2, 0, 0)
other, mine, theirs = stream(), device_memory(), pinned()
need(driver.cuMemcpyDtoHAsync_v2(theirs, mine, 4096, other))
need(driver.cuCtxDestroy_v2(second))
""",
}


@PROGRAMS.of_cases({case: Scenario(OBJECTS + body) for case, body in WAITED.items()})
def test_nothing_missing(found):
    assert found.missing() == {}


ENDS = {"os.kill(os.getpid(), 9)": -9, "os.kill(os.getpid(), 15)": -15, "os._exit(3)": 3}


@PROGRAMS.of_cases(
    {end: Scenario(f"{OBJECTS}need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))\n{end}\n",
                   status=status) for end, status in ENDS.items()})
def test_ends_that_want_no_result(found):
    """A process that was killed or says that it failed."""
    assert found.missing() == {}


@PROGRAMS.of_test(OBJECTS + """
need(driver.cuMemcpyDtoHAsync_v2(h, d, 4096, s))
assert driver.cuMemFreeHost(h) == 1
need(launch(kernel, s))
assert driver.cuStreamDestroy_v2(s) == 400
need(driver.cuCtxSynchronize())
""", {"CUDA_SIM_FAIL": "cuMemFreeHost:1=1,cuStreamDestroy_v2:1=400"})
def test_free_that_fails(found):
    assert found.missing() == {}
