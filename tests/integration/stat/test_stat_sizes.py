# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe stat`'s lists of sizes: of allocations, and of copies."""
import functools
from collections import Counter

import pytest

from lib import exact
from lib.paths import workload
from lib.probe import Probe
from lib.profile_runs import STAT, Programs, Scenario, by_scenario, stat
from lib.script import script

MIB = 1 << 20
MEMORY_API = "from memory_api import *\n"

PROGRAMS = Programs()


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return by_scenario(Probe(tmp_path_factory.mktemp("sizes")), PROGRAMS.scenarios, MEMORY_API)


@pytest.fixture
def found(runs, request):
    """What came of the test's own program."""
    return runs[request.node.name]


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


KINDS = {"device": ("cuMemAlloc_v2", "cuMemFree_v2"),
         "managed": ("cuMemAllocManaged", "cuMemFree_v2"),
         "host": ("cuMemHostAlloc", "cuMemFreeHost"), "pool": ("cuMemAllocAsync", "cuMemFreeAsync")}
LAYERS = ["driver", "runtime"]
# By (test, ...); with each kind of links.
BY_LINKS = {}
for api in LAYERS:
    for memory_kind, (allocate, free) in KINDS.items():
        BY_LINKS["sizes", api, memory_kind] = Scenario(
            [workload("memory"), "--api", api, "--kind", memory_kind,
             "--threads", 4, "--pairs", 100, "--size", 12345, "--keep", 3],
            {"CUDA_SIM_LATENCY": f"{allocate}=300us,{free}=400us"})
    BY_LINKS["copies", api] = Scenario(
        [workload("copy"), "--api", api, "--threads", 4, "--count", 25, "--bytes", 4000])
BY_LINKS["no allocation",] = Scenario("""
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
""")


@pytest.fixture(scope="module")
def runs_by(tmp_path_factory):
    """By kind of links what came of BY_LINKS."""
    @functools.cache
    def runs(links):
        return by_scenario(Probe(tmp_path_factory.mktemp("sizes"), links), BY_LINKS, MEMORY_API)
    return runs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layer", LAYERS)
def test_sizes(runs_by, links, layer, kind):
    """Calls and the time inside them, exactly, by threads that allocate and free
    one size at once."""
    process, truth, _ = runs_by(links)["sizes", layer, kind]
    one, = process["allocation_sizes"]
    assert [one[field] for field in ("kind", "bytes", "allocations", "frees",
                                     "live")] == [kind, 12345, 412, 400, 12]
    assert 12 <= one["peak"] <= 16
    true = truth.data["memory"][kind]
    assert (true["allocations"], true["frees"], true["live_count"]) == (412, 400, 12)
    for field, name in (("allocation_ns", one["function"]), ("free_ns", None)):
        names = [name] if name else [f["function"] for f in process["functions"]
                                     if "Free" in f["function"]]
        assert one[field] == pytest.approx(sum(map(truth.ns, names)), rel=0.1)
    assert one["first_ns"] < one["latest_ns"]


@PROGRAMS.of_test("""
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
""")
def test_peak_is_of_all_threads(found):
    """All threads hold their allocations at once; then other threads free them;
    then the size comes and goes alone."""
    assert sizes_of(found.process, *COUNTS) == {
        ("cuMemAlloc_v2", "device", 4096): (260, 260, 0, 42),
        ("cuMemAlloc_v2", "device", 4097): (1, 0, 1, 1)}


def test_what_is_no_allocation(runs_by, links):
    """Failed calls, frees of nothing, of unknown memory and for a second time,
    and calls captured into a graph."""
    process = runs_by(links)["no allocation",].process
    assert sizes_of(process, *COUNTS) == {("cuMemAlloc_v2", "device", 1000): (1, 1, 0, 1)}


@PROGRAMS.of_test("""
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
""")
def test_physical_memory_and_arrays(found):
    """Physical memory ends with its last handle or mapping, whichever that is."""
    assert sizes_of(found.process, *COUNTS) == {
        ("cuMemCreate", "physical", 2 * MIB): (3, 3, 0, 1),
        ("cuMemCreate", "physical", 4 * MIB): (1, 0, 1, 1),
        ("cuArrayCreate_v2", "array", 4096): (3, 3, 0, 1),
    }


@PROGRAMS.of_test("""
start()
for _ in range(4):
    context = made(driver.cuCtxCreate_v2, 0, 0)
    address = made(driver.cuMemAlloc_v2, 5000)
    need(driver.cuCtxDestroy_v2(context))
""")
def test_memory_that_goes_with_its_context(found):
    """What had the address before is not live any more once it comes again."""
    (allocations, frees, live, _), = sizes_of(found.process, *COUNTS).values()
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
    found = sorted(sizes_of(p, *COUNTS).popitem() for p in result.processes
                   if p["allocation_sizes"])
    assert found == [(("cuMemAlloc_v2", "device", 1000 + n), (10 * n, 10 * n, 0, 1))
                     for n in range(1, 4)]


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
    return {(kind, mode): (sums[kind, mode, "calls"], sums[kind, mode, "bytes"])
            for kind, mode, _ in sums}


@pytest.mark.parametrize("layer", LAYERS)
def test_every_copy_has_a_size(runs_by, links, layer):
    process, truth, _ = runs_by(links)["copies", layer]
    assert copies_of(process) == truth.copies()
    assert all(size["from_bytes"] == 2048 for copies in process["copy_sizes"]
               for size in copies["sizes"])
    hosts = Counter()
    for copies in process["copy_sizes"]:
        if copies["kind"] in ("H2D", "D2H"):
            hosts[copies["kind"], copies["host"]] += sum(size["calls"] for size in copies["sizes"])
    true = truth.sides()
    assert hosts == Counter({(kind, side): true[kind][side, "calls"] for kind in ("H2D", "D2H")
                             for side in ("pinned", "pageable") if (side, "calls") in true[kind]})


SIZES = [1, 2, 3, 4, 5, 1023, 1024, 65535, 65536, 65537, 8 * MIB]


@PROGRAMS.of_test(f"""
start()
device = made(driver.cuMemAlloc_v2, 8 << 20)
host = made(driver.cuMemHostAlloc, 8 << 20, 0)
for number, size in enumerate({SIZES!r}):
    for _ in range(number + 1):
        need(driver.cuMemcpyHtoD_v2(device, host, size))
need(driver.cuMemcpyHtoD_v2(device, host, 0))
""", {"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=1ms"})
def test_copies_by_size(found):
    """The bucket's lower end is the largest power of two not above the size;
    the time is that inside the calls."""
    copies, = found.process["copy_sizes"]
    assert (copies["kind"], copies["mode"], copies["host"]) == ("H2D", "sync", "pinned")
    expected = Counter()
    for number, size in enumerate(SIZES):
        bucket = 1 << size.bit_length() - 1 if size > 1 else 0
        expected[bucket, "calls"] += number + 1
        expected[bucket, "bytes"] += (number + 1) * size
    expected[0, "calls"] += 1
    told = {(size["from_bytes"], field): size[field] for size in copies["sizes"]
            for field in ("calls", "bytes")}
    assert told == dict(expected)
    assert all(size["ns"] >= size["calls"] * 1e6 for size in copies["sizes"])
    assert sum(size["ns"] for size in copies["sizes"]) == pytest.approx(
        found.truth.ns("cuMemcpyHtoD_v2"), rel=0.1)


@PROGRAMS.of_test("""
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
""")
def test_captured_and_failed_copies_have_none(found):
    assert copies_of(found.process) == {("set", "sync"): (1, 4096)}
    assert found.process["account"]["repeats"]["H2D"]["calls"] == 0
