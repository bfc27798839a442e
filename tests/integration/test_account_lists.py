# SPDX-License-Identifier: BSD-2-Clause
"""The account's lists: sizes of allocations and copies, copies made again for nothing, errors nobody asked about."""
from collections import Counter

import pytest

from lib import exact
from lib.paths import workload
from lib.probe import Probe
from lib.script import memory_script, script

STAT = ["stat", "--json"]
DIAGNOSE = ["diagnose", "--json"]
MIB = 1 << 20


def by_scenario(probe, prelude, scenarios, base):
    """The processes in which each of the scenarios was run, one after the other under one gpuprobe, by their names."""
    pids = probe.directory / "pids"
    result = probe.run(*script(f"""
        import traceback
        for name, actions in {scenarios!r}.items():
            child = os.fork()
            if not child:
                try:
                    exec({prelude!r} + actions, globals())
                except BaseException:
                    traceback.print_exc()
                    os._exit(1)
                os._exit(0)
            with open({str(pids)!r}, "a") as told:
                print(child, name, file=told)
            if os.wait()[1]:
                sys.exit(f"{{name}}: failed")
    """), base=base)
    assert exact.lost(result.final) == {}
    lines = (line.partition(" ") for line in pids.read_text(encoding="utf-8").splitlines())
    return {name: result.process_of(int(pid)) for pid, _, name in lines}


def stat(probe, *command, args=(), env=None, base=STAT):
    result = probe.run(*command, base=base, args=args, env=env)
    assert exact.lost(result.final) == {}
    return result


# --- sizes of allocations ---

def sizes_of(process, *fields):
    """(function, kind, bytes) -> these fields; one of a device, so that it is not part of it."""
    found = {}
    for size in process["allocation_sizes"]:
        key = size["function"], size["kind"], size["bytes"]
        assert key not in found
        found[key] = tuple(size[field] for field in fields)
    return found


COUNTS = ("allocations", "frees", "live", "peak")


@pytest.mark.parametrize("kind, functions", [
    ("device", ("cuMemAlloc_v2", "cuMemFree_v2")), ("managed", ("cuMemAllocManaged", "cuMemFree_v2")),
    ("host", ("cuMemHostAlloc", "cuMemFreeHost")), ("pool", ("cuMemAllocAsync", "cuMemFreeAsync"))])
@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_sizes(gpuprobe_by, layer, kind, functions):
    """Calls exactly, and the time inside them, by threads that allocate and free one size at once."""
    slow = ",".join(f"{name}={300 + 100 * number}us" for number, name in enumerate(functions))
    result = stat(gpuprobe_by, workload("memory"), "--api", layer, "--kind", kind, "--threads", 4, "--pairs", 100,
                  "--size", 12345, "--keep", 3, env={"CUDA_SIM_LATENCY": slow})
    one, = result.process["allocation_sizes"]
    assert [one[field] for field in ("kind", "bytes", "allocations", "frees", "live")] == [kind, 12345, 412, 400, 12]
    assert 12 <= one["peak"] <= 16
    true = result.truth.data["memory"][kind]
    assert (true["allocations"], true["frees"], true["live_count"]) == (412, 400, 12)
    for field, name in (("allocation_ns", one["function"]), ("free_ns", None)):
        names = [name] if name else [f["function"] for f in result.process["functions"] if "Free" in f["function"]]
        assert one[field] == pytest.approx(sum(map(result.truth.ns, names)), rel=0.1)
    assert one["first_ns"] < one["latest_ns"]


def test_peak_is_of_all_threads(gpuprobe):
    """All threads hold theirs at once; then other threads free them; then the size comes and goes alone."""
    result = stat(gpuprobe, *script("""
        import threading
        context = start()
        meeting = threading.Barrier(6)
        held = [None] * 6
        def work(number):
            need(driver.cuCtxSetCurrent(context))
            for _ in range(5):
                held[number] = [made(driver.cuMemAlloc_v2, 4096) for _ in range(7)]
                meeting.wait()
                for address in held[(number + 1) % 6]:
                    need(driver.cuMemFree_v2(address))
                meeting.wait()
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in range(50):
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 4096)))
        kept = made(driver.cuMemAlloc_v2, 4097)
    """))
    assert sizes_of(result.process, *COUNTS) == {("cuMemAlloc_v2", "device", 4096): (260, 260, 0, 42),
                                                 ("cuMemAlloc_v2", "device", 4097): (1, 0, 1, 1)}


def test_what_is_no_allocation(gpuprobe_by):
    """Failed calls, frees of nothing, of something unknown and for a second time, what goes into a graph."""
    result = stat(gpuprobe_by, *memory_script("""
        start()
        stream = made(driver.cuStreamCreate, 1)
        first = made(driver.cuMemAlloc_v2, 1000)
        assert driver.cuMemAlloc_v2(ref(out()), 1 << 60)
        assert driver.cuMemFree_v2(0x7777000)
        need(driver.cuMemFree_v2(0))
        need(driver.cuMemFree_v2(first))
        assert driver.cuMemFree_v2(first)
        need(driver.cuStreamBeginCapture_v2(stream, 2))
        captured = made(driver.cuMemAllocAsync, 2000, stream)
        need(driver.cuMemFreeAsync(captured, stream))
        graph = made(lambda word: driver.cuStreamEndCapture(stream, word))
        need(runtime.cudaMalloc(ref(out()), 0))
        area = reserve(2 << 20)
        need(driver.cuMemHostRegister_v2(ctypes.create_string_buffer(1 << 16), 1 << 16, 0))
    """))
    assert sizes_of(result.process, *COUNTS) == {("cuMemAlloc_v2", "device", 1000): (1, 1, 0, 1)}


def test_physical_memory_and_arrays(gpuprobe):
    """Physical memory ends with its last handle or mapping, whichever that is."""
    result = stat(gpuprobe, *memory_script("""
        start()
        size = 2 << 20
        for handle_first in (True, False, True):
            handle = create(size)
            area = reserve(size)
            need(driver.cuMemMap(area, size, 0, handle, 0))
            if handle_first:
                need(driver.cuMemRelease(handle))
                need(driver.cuMemUnmap(area, size))
            else:
                need(driver.cuMemUnmap(area, size))
                need(driver.cuMemRelease(handle))
        left = create(2 * size)
        for _ in range(3):
            array = made(driver.cuArrayCreate_v2, array_descriptor(64, 16, 0x20, 1))
            need(driver.cuArrayDestroy(array))
    """))
    assert sizes_of(result.process, *COUNTS) == {
        ("cuMemCreate", "physical", 2 * MIB): (3, 3, 0, 1),
        ("cuMemCreate", "physical", 4 * MIB): (1, 0, 1, 1),
        ("cuArrayCreate_v2", "array", 4096): (3, 3, 0, 1),
    }


def test_memory_that_goes_with_its_context(gpuprobe):
    """What had the address before is not live any more once it comes again."""
    result = stat(gpuprobe, *script("""
        start()
        for _ in range(4):
            context = made(driver.cuCtxCreate_v2, 0, 0)
            address = made(driver.cuMemAlloc_v2, 5000)
            need(driver.cuCtxDestroy_v2(context))
    """))
    (allocations, frees, live, _), = sizes_of(result.process, *COUNTS).values()
    assert (allocations, frees) == (4, 0)
    assert live == 1  # the latest: its end no call tells


def test_processes_have_their_own(gpuprobe):
    """A child of a fork counts for itself, and processes that have ended are told all the same."""
    result = stat(gpuprobe, *script("""
        for number in range(1, 4):
            if not os.fork():
                start()
                for _ in range(10 * number):
                    need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 1000 + number)))
                os._exit(0)
            os.wait()
    """))
    found = sorted(sizes_of(p, *COUNTS).popitem() for p in result.final["processes"] if p["allocation_sizes"])
    assert found == [(("cuMemAlloc_v2", "device", 1000 + n), (10 * n, 10 * n, 0, 1)) for n in range(1, 4)]


@pytest.mark.slow
def test_more_sizes_than_there_is_room_for(gpuprobe):
    """Allocations that found no room are counted as lost, and the rest are told exactly."""
    total = 70000
    result = gpuprobe.run(*script(f"""
        start()
        for size in range(1, {total} + 1):
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, size)))
    """), base=STAT)
    sizes = result.process["allocation_sizes"]
    lost = exact.lost(result.final)
    assert set(lost) == {"size_map_full"}
    assert len(sizes) + lost["size_map_full"] == total
    assert all((s["allocations"], s["frees"], s["live"], s["peak"]) == (1, 1, 0, 1) for s in sizes)


# --- sizes of copies ---

def copies_of(process):
    """(kind, mode) -> (calls, bytes), over all sizes."""
    sums = Counter()
    for copies in process["copy_sizes"]:
        for size in copies["sizes"]:
            sums[copies["kind"], copies["mode"], "calls"] += size["calls"]
            sums[copies["kind"], copies["mode"], "bytes"] += size["bytes"]
    return {(kind, mode): (sums[kind, mode, "calls"], sums[kind, mode, "bytes"]) for kind, mode, _ in sums}


@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_every_copy_has_a_size(gpuprobe_by, layer):
    result = stat(gpuprobe_by, workload("copy"), "--api", layer, "--threads", 4, "--count", 25, "--bytes", 4000)
    assert copies_of(result.process) == result.truth.copies()
    assert all(size["from_bytes"] == 2048 for copies in result.process["copy_sizes"] for size in copies["sizes"])
    hosts = Counter()
    for copies in result.process["copy_sizes"]:
        if copies["kind"] in ("H2D", "D2H"):
            hosts[copies["kind"], copies["host"]] += sum(size["calls"] for size in copies["sizes"])
    true = result.truth.sides()
    assert hosts == Counter({(kind, side): true[kind][side, "calls"] for kind in ("H2D", "D2H")
                             for side in ("pinned", "pageable") if (side, "calls") in true[kind]})


def test_copies_by_size(gpuprobe):
    """The bucket's lower end is the largest power of two that is not above the size; time is that inside the calls."""
    sizes = [1, 2, 3, 4, 5, 1023, 1024, 65535, 65536, 65537, 8 * MIB]
    result = stat(gpuprobe, *script(f"""
        start()
        device = made(driver.cuMemAlloc_v2, 8 << 20)
        host = made(driver.cuMemHostAlloc, 8 << 20, 0)
        for number, size in enumerate({sizes!r}):
            for _ in range(number + 1):
                need(driver.cuMemcpyHtoD_v2(device, host, size))
        need(driver.cuMemcpyHtoD_v2(device, host, 0))
    """), env={"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=1ms"})
    copies, = result.process["copy_sizes"]
    assert (copies["kind"], copies["mode"], copies["host"]) == ("H2D", "sync", "pinned")
    expected = Counter()
    for number, size in enumerate(sizes):
        bucket = 1 << size.bit_length() - 1 if size > 1 else 0
        expected[bucket, "calls"] += number + 1
        expected[bucket, "bytes"] += (number + 1) * size
    expected[0, "calls"] += 1
    found = {(size["from_bytes"], field): size[field] for size in copies["sizes"] for field in ("calls", "bytes")}
    assert found == dict(expected)
    assert all(size["ns"] >= size["calls"] * 1e6 for size in copies["sizes"])
    assert sum(size["ns"] for size in copies["sizes"]) == pytest.approx(result.truth.ns("cuMemcpyHtoD_v2"), rel=0.1)


def test_captured_and_failed_copies_have_none(gpuprobe):
    result = stat(gpuprobe, *script("""
        start()
        stream = made(driver.cuStreamCreate, 1)
        device = made(driver.cuMemAlloc_v2, 4096)
        host = made(driver.cuMemHostAlloc, 4096, 0)
        need(driver.cuStreamBeginCapture_v2(stream, 2))
        for _ in range(3):
            need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        made(lambda word: driver.cuStreamEndCapture(stream, word))
        assert driver.cuMemcpyHtoD_v2(device, host, 1 << 40)
        need(driver.cuMemsetD8_v2(device, 1, 4096))
    """))
    assert copies_of(result.process) == {("set", "sync"): (1, 4096)}
    assert result.process["account"]["repeats"]["H2D"]["calls"] == 0


# --- copies made again ---

REPEATS = """
start()
module_, (kernel,) = module("kernel")
a, b = (made(driver.cuMemHostAlloc, 1 << 16, 0) for _ in range(2))
x, y = (made(driver.cuMemAlloc_v2, 1 << 16) for _ in range(2))
managed = 0
stream = made(driver.cuStreamCreate, 1)
other = made(driver.cuStreamCreate, 1) # neither waits for the default stream
def up(to=None, source=None, size=4096): need(driver.cuMemcpyHtoD_v2(to or x, source or a, size))
def down(to=None, source=None, size=4096): need(driver.cuMemcpyDtoH_v2(to or a, source or x, size))
def up_on(s, to=None, source=None): need(driver.cuMemcpyHtoDAsync_v2(to or x, source or a, 4096, s))
def down_on(s, to=None, source=None): need(driver.cuMemcpyDtoHAsync_v2(to or a, source or x, 4096, s))
def run(s=0): need(launch(kernel, s))
def wait(): need(driver.cuCtxSynchronize())
def fill(): need(driver.cuMemsetD8_v2(y, 0, 16))
def within(): need(driver.cuMemcpyDtoD_v2(y + 64, y, 16))
def fresh(): need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 64)))
def manage():
    global managed
    managed = made(driver.cuMemAllocManaged, 1 << 16, 1)
def rows(pitch):
    class Memcpy2D(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint64) for name in (
            "srcXInBytes", "srcY", "srcMemoryType", "srcHost", "srcDevice", "srcArray", "srcPitch", "dstXInBytes",
            "dstY", "dstMemoryType", "dstHost", "dstDevice", "dstArray", "dstPitch", "WidthInBytes", "Height")]
    need(driver.cuMemcpy2D_v2(ref(Memcpy2D(srcMemoryType=1, srcHost=a, srcPitch=pitch, dstMemoryType=2,
                                           dstDevice=x, dstPitch=pitch, WidthInBytes=64, Height=4))))
"""

# What is done -> copies for nothing, to the device and from it.
SCENARIOS = {
    "the same twice": ("up(); up()", 1, 0),
    "four times each": ("[up() for _ in range(4)]; [down() for _ in range(4)]", 3, 3),
    "a launch between": ("up(); run(); up(); wait(); down(); run(); down()", 0, 0),
    "a launch and a wait between": ("up(); run(); wait(); up()", 0, 0),
    "other ranges": ("up(); up(x + 4096); up(x, b); up(x, a, 2048)", 0, 0),
    "two ranges in turn": ("[(up(x, a), up(y, b)) for _ in range(5)]", 8, 0),
    "two ranges in turn, back": ("[(down(a, x), down(b, y)) for _ in range(5)]", 0, 8),
    "back after there": ("up(); down(); up(); down()", 0, 0),
    "used by a copy back": ("up(); down(b, y); up()", 0, 0),
    "changed by a copy there": ("down(); up(y, b); down()", 0, 0),
    "a set between": ("up(); fill(); up(); down(); fill(); down()", 0, 0),
    "a copy within the device between": ("up(); within(); up(); down(); within(); down()", 0, 0),
    "memory comes and goes between": ("up(); fresh(); up(); down(); fresh(); down()", 0, 0),
    "waits between": ("up(); wait(); up(); wait(); down(); wait(); down()", 1, 1),
    "after a launch, once it is done": ("run(); wait(); down(); down(); up(); up()", 1, 1),
    "asynchronous": ("up_on(stream); up_on(stream); down_on(stream); down_on(stream); wait()", 1, 1),
    "after a launch on the same stream": (
        "run(stream); down_on(stream); down_on(stream); up_on(stream); up_on(stream)", 1, 1),
    "after a launch on another stream": (
        "run(other); down_on(stream); down_on(stream); up_on(stream); up_on(stream)", 0, 0),
    "after launches on two streams": (
        "run(other); run(stream); [(down_on(stream), up_on(stream, y, b)) for _ in range(3)]", 0, 0),
    "after two streams, once both are done": (
        "run(other); run(stream); wait(); [down_on(stream) for _ in range(3)]; [up() for _ in range(3)]", 2, 2),
    "while one of two streams is done": (
        "run(other); run(stream); need(driver.cuStreamSynchronize(stream)); [down_on(stream) for _ in range(3)]", 0, 0),
    "a kernel that goes on, polled": (
        "run(other); [(down_on(stream), need(driver.cuStreamSynchronize(stream))) for _ in range(20)]", 0, 0),
    "a kernel that goes on, fed": ("run(other); [up() for _ in range(20)]", 0, 0),
    "a graph that was launched": (
        "need(driver.cuStreamBeginCapture_v2(stream, 2)); run(stream); "
        "graph = made(lambda word: driver.cuStreamEndCapture(stream, word)); "
        "ready = made(driver.cuGraphInstantiateWithFlags, graph, 0); up(); up(); "
        "need(driver.cuGraphLaunch(ready, other)); up(); up(); wait(); up(); up()", 2, 0),
    "copies with gaps": ("rows(64); rows(128); rows(64)", 0, 0),
    "managed memory": ("manage(); [up(managed) for _ in range(3)]; [down(a, managed) for _ in range(3)]", 0, 0),
    "beside managed memory": ("manage(); [up() for _ in range(3)]; [down() for _ in range(3)]", 2, 2),
    "by part, beside managed memory": ("manage(); [up(x + 64) for _ in range(3)]", 0, 0),
}


def repeats_of(process):
    account = process["account"]["repeats"]
    listed = Counter()
    for repeat in process["repeated_copies"]:
        listed[repeat["kind"]] += repeat["repeats"]
        assert repeat["copies"] > repeat["repeats"] > 0
    found = account["H2D"]["calls"], account["D2H"]["calls"]
    assert found == (listed["H2D"], listed["D2H"])
    return found


@pytest.fixture(scope="module")
def repeating(tmp_path_factory):
    scenarios = {name: actions for name, (actions, *_) in SCENARIOS.items()}
    return by_scenario(Probe(tmp_path_factory.mktemp("repeats")), REPEATS, scenarios, STAT)


@pytest.mark.parametrize("name", SCENARIOS)
def test_repeats(repeating, name):
    assert repeats_of(repeating[name]) == SCENARIOS[name][1:]


def test_what_a_repeat_costs(gpuprobe_by):
    result = stat(gpuprobe_by, *script(REPEATS + """
for _ in range(5):
    up(size=10000)
    up(size=10000)
    down(size=3000)
    run()
    wait()
"""), env={"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=2ms,cuMemcpyDtoH_v2=1ms"})
    assert repeats_of(result.process) == (5, 0)
    one, = result.process["repeated_copies"]
    assert (one["kind"], one["function"], one["bytes"], one["copies"]) == ("H2D", "cuMemcpyHtoD_v2", 10000, 10)
    # The first of each pair takes as long at least.
    assert 10e6 <= one["repeat_ns"] <= 1.05 * result.truth.ns("cuMemcpyHtoD_v2") - 10e6
    assert result.process["account"]["repeats"]["H2D"] == {"calls": 5, "ns": one["repeat_ns"], "bytes": 50000}


def test_repeats_by_the_runtime(gpuprobe):
    """A direction that the addresses tell, and one that the call names, at each layer."""
    program = script("""
        device = made(runtime.cudaMalloc, 4096)
        host = made(runtime.cudaMallocHost, 4096)
        for kind in (1, 4):
            for _ in range(3):
                need(runtime.cudaMemcpy(device, host, 512 + kind, kind))
    """)
    for api in ("auto", "runtime", "both"):
        assert repeats_of(stat(gpuprobe, *program, args=["--api", api]).process) == (4, 0)


def test_threads_repeat(gpuprobe):
    """Each its own range, at the same time and with no launch: all but the first are for nothing."""
    result = stat(gpuprobe, *script(REPEATS + """
import threading
context = made(driver.cuCtxGetCurrent)
def work(number):
    need(driver.cuCtxSetCurrent(context))
    for _ in range(200):
        up(x + 4096 * number, a + 4096 * number)
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""))
    assert repeats_of(result.process) == (4 * 199, 0)


def test_threads_that_launch(gpuprobe):
    """Between any two copies another thread launches: none is for nothing, whatever the threads' pace."""
    result = stat(gpuprobe, *script(REPEATS + """
import threading
context = made(driver.cuCtxGetCurrent)
meeting = threading.Barrier(2)
def work():
    need(driver.cuCtxSetCurrent(context))
    for _ in range(300):
        meeting.wait()
        run()
        meeting.wait()
thread = threading.Thread(target=work)
thread.start()
for _ in range(300):
    up()
    meeting.wait()
    meeting.wait()
thread.join()
"""))
    assert repeats_of(result.process) == (0, 0)


def test_repeats_of_more_ranges_than_are_kept(gpuprobe):
    """The totals have those that the list has forgotten."""
    ranges = 40000
    result = stat(gpuprobe, *script(f"""
        start()
        host = made(driver.cuMemHostAlloc, 1 << 20, 0)
        device = made(driver.cuMemAlloc_v2, 1 << 20)
        for number in range({ranges}):
            for _ in range(2):
                need(driver.cuMemcpyHtoD_v2(device + number, host, 16))
    """))
    assert result.process["account"]["repeats"]["H2D"]["calls"] == ranges
    assert result.process["account"]["repeats"]["H2D"]["bytes"] == 16 * ranges
    assert 0 < len(result.process["repeated_copies"]) <= 16384


# --- errors that nobody asks about ---

ERRORS = """
start()
module_, (kernel,) = module("kernel")
def run(times=1):
    for _ in range(times): launch(kernel)
def fail(): assert driver.cuMemcpyHtoD_v2(0x10, ctypes.create_string_buffer(64), 64)
def succeed(): need(driver.cuMemcpyHtoD_v2(target, source, 64))
def no_memory(): assert driver.cuMemAlloc_v2(ref(out()), 1 << 60)
def fail_runtime(): assert runtime.cudaMalloc(ref(out()), 1 << 60)
def ask(): runtime.cudaGetLastError()
def peek(): runtime.cudaPeekAtLastError()
def name(): driver.cuGetErrorString(1, ref(out()))
def query(): assert driver.cuEventQuery(event) in (0, 600)
target = made(driver.cuMemAlloc_v2, 64)
source = ctypes.create_string_buffer(64)
spare = [made(driver.cuMemAlloc_v2, 64) for _ in range(4)]
event = made(driver.cuEventCreate, 0)
pages = ctypes.create_string_buffer(3 * 4096)
page = ctypes.addressof(pages) + 4095 & ~4095
def free(): need(driver.cuMemFree_v2(spare.pop()))
def free_wrongly(): assert driver.cuMemFree_v2(0x7770000)
def wait(): need(driver.cuCtxSynchronize())
"""
COPY, ALLOC, CUDA_ALLOC, FREE = "cuMemcpyHtoD_v2", "cuMemAlloc_v2", "cudaMalloc", "cuMemFree_v2"

# What is done -> by function (calls that failed unnoticed, launches after them)
ERROR_SCENARIOS = {
    "launches go on": ("fail(); run(3)", {COPY: (1, 3)}),
    "nothing comes after": ("run(3); fail()", {}),
    "no launch comes after": ("fail(); wait(); succeed(); wait()", {}),
    "asked at once": ("fail(); ask(); run(3)", {}),
    "asked late": ("fail(); run(3); ask(); run()", {}),
    "peeked": ("fail(); peek(); run()", {}),
    "its name is asked for": ("fail(); name(); run()", {}),
    "tried again": ("fail(); succeed(); run()", {}),
    "tried again after something else": ("fail(); wait(); succeed(); run()", {COPY: (1, 1)}),
    "tried again once launches have gone on": ("fail(); run(); succeed(); run()", {COPY: (1, 2)}),
    "memory is freed": ("no_memory(); free(); run()", {}),
    "memory is freed at the end": ("no_memory(); run(2); free(); free()", {ALLOC: (1, 2)}),
    "again and again": ("[(fail(), run(2)) for _ in range(10)]", {COPY: (10, 20)}),
    "one after the other": ("fail(); run(); no_memory(); run(2)", {COPY: (1, 1), ALLOC: (1, 2)}),
    "the first at once followed by another": ("fail(); no_memory(); run()", {ALLOC: (1, 1)}),
    "of the runtime": ("fail_runtime(); run(2)", {CUDA_ALLOC: (1, 2)}),
    "frees in a row": ("free_wrongly(); free(); run()", {FREE: (1, 1)}),
    "not ready is no error": ("need(driver.cuEventRecord(event, 0)); query(); run()", {}),
    "already so": (
        "assert [driver.cuMemHostRegister_v2(page, 4096, 0) for _ in range(2)] == [0, 712]; run()", {}),
    "no such kernel": ("assert driver.cuModuleGetFunction(ref(out()), module_, b'none'); run()", {}),
    "not supported": ("assert driver.cuMulticastCreate(ref(out()), None); run()", {}),
    "the device is reset": ("fail_runtime(); runtime.cudaDeviceReset(); run()", {}),
}


def ignored_in(process):
    """By function (calls, launches after them)."""
    found = {error["function"]: (error["calls"], error["launches"]) for error in process["ignored_errors"]}
    assert len(found) == len(process["ignored_errors"])
    return found


def ignored(report):
    """The same, of the only process that is in the report."""
    processes = report["processes"]
    assert len(processes) <= 1
    return ignored_in(processes[0]) if processes else None


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    scenarios = {name: actions for name, (actions, _) in ERROR_SCENARIOS.items()}
    return by_scenario(Probe(tmp_path_factory.mktemp("errors")), ERRORS, scenarios, DIAGNOSE)


@pytest.mark.parametrize("name", ERROR_SCENARIOS)
def test_ignored_errors(failing, name):
    assert ignored_in(failing[name]) == ERROR_SCENARIOS[name][1]


@pytest.mark.parametrize("api", ["auto", "driver", "runtime", "both"])
def test_what_asks_is_seen_at_each_layer(gpuprobe, api):
    """Whichever layer is watched: who asks the runtime need not have called it."""
    program = script(ERRORS + """
for asking in (ask, peek, name):
    assert runtime.cudaMalloc(ref(out()), 1 << 60)
    asking()
    need(runtime.cudaLaunchKernel(kernel, *[1 << 32 | 1, 1] * 2, None, 0, 0))
""")
    result = gpuprobe.run(*program, base=DIAGNOSE, args=["--api", api])
    assert result.process["account"]["asks"]["calls"] == 3
    assert sum(error["count"] for error in result.process["errors"]) == 3
    assert ignored(result.final) == {}


def test_launches_that_fail(gpuprobe_by):
    """A launch is no answer to one that has failed, but going on. Of 51 every fifth fails."""
    result = gpuprobe_by.run(*script(ERRORS + "run(51)"), base=DIAGNOSE, env={"CUDA_SIM_FAIL": "cuLaunchKernel:%5=1"})
    assert ignored(result.final) == {"cuLaunchKernel": (10, 9 * 5 + 1)}


def test_threads_ignore_errors(gpuprobe):
    """Each thread has its own pending error, told when it ends; what another asks is no matter of it."""
    result = gpuprobe.run(*script(ERRORS + """
import threading
context = made(driver.cuCtxGetCurrent)
def work(number):
    need(driver.cuCtxSetCurrent(context))
    fail()
    run(number)
    wait()
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ask()
fail()
run(100)
"""), base=DIAGNOSE)
    assert ignored(result.final) == {COPY: (8, 28 + 100)}


def test_pending_error_of_a_live_thread(gpuprobe, tmp_path):
    """Told while it is pending, once, and once when the thread has ended."""
    marker = tmp_path / "done"
    with gpuprobe.start(*script(ERRORS + f"""
fail()
run(5)
touch({str(tmp_path / "pending")!r})
wait_for({str(marker)!r})
"""), base=DIAGNOSE, args=["--interval", 0.2], interval=None) as probe:
        probe.wait_for(lambda report: ignored(report) == {COPY: (1, 5)})
        for _ in range(3):
            assert ignored(probe.report()) == {COPY: (1, 5)}
        marker.touch()
        result = probe.finish()
    assert ignored(result.final) == {COPY: (1, 5)}


def test_only_what_asks_costs_the_call(gpuprobe):
    """stat does not probe it; diagnose counts it."""
    program = script(ERRORS + "[(ask(), peek(), name()) for _ in range(7)]")
    counts = {}
    for base in (STAT, DIAGNOSE):
        process = gpuprobe.run(*program, base=base).process
        counts[base[0]] = process["account"]["asks"]["calls"]
        assert not {f["function"] for f in process["functions"]} & {"cudaGetLastError", "cuGetErrorString"}
    assert counts == {"stat": 0, "diagnose": 21}


# --- getters ---

GETTERS = script("""
start()
module_, (kernel,) = module("kernel")
for _ in range(5): need(runtime.cudaGetDevice(ref(out())))
for _ in range(6): need(driver.cuCtxGetCurrent(ref(out())))
for _ in range(7):
    need(driver.cuDeviceGetAttribute(ref(out()), 16, 0))
    launch(kernel)
assert driver.cuPointerGetAttribute(ref(out()), 2, 0x10)
launch(kernel)
""")


def getter_calls(process):
    return {f["function"]: f["calls"] for f in process["functions"] if "Get" in f["function"]
            and "Uuid" not in f["function"] and "Function" not in f["function"]}


@pytest.mark.parametrize("api, layers", [("auto", "both"), ("both", "both"), ("driver", "driver"),
                                         ("runtime", "runtime")])
def test_getters(gpuprobe_by, api, layers):
    """Those of the runtime are one act with what they ask of the driver."""
    result = stat(gpuprobe_by, *GETTERS, args=["--getters", "--api", api])
    found = getter_calls(result.process)
    truth = result.truth.data
    expected = {}
    for name, counts in truth["runtime"].items() if layers != "driver" else ():
        if "Get" in name:
            expected[name] = counts["calls"]
    for name, counts in truth["driver"].items() if layers != "runtime" else ():
        if "Get" in name and "ProcAddress" not in name and "Uuid" not in name and "Function" not in name:
            expected[name] = counts["calls"] - (counts["nested"]["calls"] if layers == "both" else 0)
    # What the runtime asks for itself inside calls that are not getters' counts as the driver's.
    for name in expected:
        assert found.get(name, 0) >= expected[name] or found[name] == expected[name]
    assert found.get("cudaGetDevice", 0) == (5 if layers != "driver" else 0)


def test_getters_are_not_probed_unless_asked_for(gpuprobe):
    process = stat(gpuprobe, *GETTERS).process
    assert getter_calls(process) == {}
    launched = process["threads"][0]
    chained = stat(gpuprobe, *GETTERS, args=["--getters"]).process["threads"][0]
    # A launch is as much back to back with the one before it as without.
    assert chained["others"] == launched["others"]
    assert chained["gap_count"] == launched["gap_count"] == 7
