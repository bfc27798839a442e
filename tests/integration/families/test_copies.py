# SPDX-License-Identifier: BSD-2-Clause
"""Copies and sets: calls and bytes exact by kind and mode, time, and what is still in flight."""
import re
import time

import pytest

from lib import exact
from lib.inflight import Copies, wait_for_in_flight, wait_in_flight
from lib.paths import workload
from lib.probe import SECTIONS, TEXT, Background, wait_for_file
from lib.script import clocked, script



@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_every_function(gpuprobe_by, layer):
    """Each 1-D copy and memset of the layer, with its _ptds or _ptsz form, by 4 threads."""
    result = gpuprobe_by.run(workload("copy"), "--api", layer, "--threads", 4, "--count", 25,
                             "--bytes", 4000)
    exact.check(result)
    assert exact.sides(result.process) == result.truth.sides()
    assert len(exact.copies(result.process)) == 10


@pytest.mark.parametrize("api", ["driver", "runtime", "both"])
def test_layers(gpuprobe, api):
    result = gpuprobe.run(workload("copy"), "--threads", 2, "--count", 10, args=["--api", api])
    exact.check(result, api)


def test_two_dimensional_sets(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        address = made(driver.cuMemAlloc_v2, 1 << 20)
        for bits in (8, 16, 32):
            for form in ("", "_ptds"):
                need(getattr(driver, f"cuMemsetD2D{bits}_v2{form}")(
                    address, 4096, 1, 100 + bits, 10))
            for form in ("", "_ptsz"):
                need(getattr(driver, f"cuMemsetD2D{bits}Async{form}")(
                    address, 4096, 1, 200 + bits, 11, 0))
        for form in ("", "_ptds"):
            need(getattr(runtime, "cudaMemset2D" + form)(address, 4096, 1, 77, 3))
        for form in ("", "_ptsz"):
            need(getattr(runtime, "cudaMemset2DAsync" + form)(address, 4096, 1, 78, 3, 0))
    """), args=["--api", "both"])
    exact.check(result, "both")
    sync = 2 * 10 * (108 * 1 + 116 * 2 + 132 * 4) + 2 * 77 * 3
    asynchronous = 2 * 11 * (208 * 1 + 216 * 2 + 232 * 4) + 2 * 78 * 3
    assert exact.copies(result.process) == {("set", "sync"): (8, sync),
                                            ("set", "async"): (8, asynchronous)}


def test_kinds_of_the_runtime(gpuprobe_by):
    """cudaMemcpyKind tells the kind at the runtime layer;
    the driver's function where that is probed."""
    program = script("""
        start()
        device = made(runtime.cudaMalloc, 1 << 16)
        host = ctypes.create_string_buffer(1 << 16)
        kinds = {0: (host, ctypes.addressof(host) + 32768), 1: (device, host), 2: (host, device),
                 3: (device, device + 32768), 4: (device, host)}
        for kind, (to, source) in kinds.items():
            for number in range(kind + 1):
                need(runtime.cudaMemcpy(to, source, 1000 + kind, kind))
            for number in range(kind + 2):
                need(runtime.cudaMemcpyAsync(to, source, 2000 + kind, kind, 0))
        need(runtime.cudaMemcpy(device, host, 0, 1))
        assert runtime.cudaMemcpy(device, host, 10, 9) != 0
    """)
    result = gpuprobe_by.run(*program, args=["--api", "runtime"])
    kinds = ("H2H", "H2D", "D2H", "D2D")
    expected = {(kind, "sync"): (n + 1, (n + 1) * (1000 + n)) for n, kind in enumerate(kinds)}
    expected |= {(kind, "async"): (n + 2, (n + 2) * (2000 + n)) for n, kind in enumerate(kinds)}
    # Includes the copy of no bytes, and cudaMemcpyDefault, whose addresses show that it goes
    # to the device.
    expected["H2D", "sync"] = (2 + 1 + 5, 2 * 1001 + 5 * 1004)
    expected["H2D", "async"] = (3 + 6, 3 * 2001 + 6 * 2004)
    assert exact.copies(result.process) == expected
    assert exact.errors(result.process) == {("runtime", "cudaMemcpy", 21): 1}
    result = gpuprobe_by.run(*program)
    exact.check(result)


def test_symbols(gpuprobe_by):
    """Copies to and from a variable that the program has registered."""
    result = gpuprobe_by.run(*script("""
        class Wrapper(ctypes.Structure):
            _fields_ = [("magic", ctypes.c_int), ("version", ctypes.c_int),
                        ("data", ctypes.c_void_p), ("unused", ctypes.c_void_p)]
        code = ctypes.create_string_buffer(
            ptx("kernel") + b".visible .global .align 4 .b8 table[4096];\\n")
        wrapper = Wrapper(0x466243b1, 1, ctypes.addressof(code), None)
        library = ctypes.CDLL(SIM + "/libcudart.so.13")
        library.__cudaRegisterFatBinary.restype = ctypes.c_void_p
        handle = ctypes.c_void_p(library.__cudaRegisterFatBinary(ctypes.byref(wrapper)))
        symbol = ctypes.create_string_buffer(8)
        library.__cudaRegisterVar(handle, symbol, b"table", b"table", 0,
                                  ctypes.c_size_t(4096), 0, 0)
        library.__cudaRegisterFatBinaryEnd(handle)
        host = ctypes.create_string_buffer(4096)
        for form in ("", "_ptds"):
            need(getattr(runtime, "cudaMemcpyToSymbol" + form)(symbol, host, 100, 0, 1))
            need(getattr(runtime, "cudaMemcpyFromSymbol" + form)(host, symbol, 200, 8, 2))
        for form in ("", "_ptsz"):
            need(getattr(runtime, "cudaMemcpyToSymbolAsync" + form)(symbol, host, 300, 0, 1, 0))
            need(getattr(runtime, "cudaMemcpyFromSymbolAsync" + form)(host, symbol, 400, 8, 2, 0))
    """), args=["--api", "both"])
    assert exact.copies(result.process) == {("H2D", "sync"): (2, 200), ("D2H", "sync"): (2, 400),
                                            ("H2D", "async"): (2, 600), ("D2H", "async"): (2, 800)}
    exact.check(result, "both")


FAILING = script("""
    start()
    device = made(driver.cuMemAlloc_v2, 4096)
    host = ctypes.create_string_buffer(4096)
    results = [driver.cuMemcpyHtoD_v2(device, host, 1000) for _ in range(9)]
    assert sum(1 for result in results if result) == 3, results
    assert driver.cuMemcpyHtoD_v2(0x10, host, 1000) != 0
    results = [driver.cuMemcpyHtoDAsync_v2(device, host, 1000, 0) for _ in range(8)]
    assert sum(1 for result in results if result) == 2, results
    assert driver.cuMemsetD8_v2(0x10, 1, 50) != 0
""")


def test_failing_copies(gpuprobe_by):
    """They are errors, and move no bytes."""
    result = gpuprobe_by.run(
        *FAILING, env={"CUDA_SIM_FAIL": "cuMemcpyHtoD_v2:%3=700,cuMemcpyHtoDAsync_v2:%4=719"})
    exact.check(result)
    assert exact.copies(result.process) == {("H2D", "sync"): (6, 6000), ("H2D", "async"): (6, 6000)}
    assert exact.in_flight(result.process) == {}
    errors = exact.errors(result.process)
    assert errors["driver", "cuMemcpyHtoD_v2", 700] == 3
    assert errors["driver", "cuMemcpyHtoDAsync_v2", 719] == 2


def test_bandwidth(gpuprobe_by):
    """Of synchronous copies, from the time inside them."""
    size = 1 << 20
    result = gpuprobe_by.run(*script(f"""
        start()
        device, host = made(driver.cuMemAlloc_v2, {size}), made(driver.cuMemHostAlloc, {size}, 0)
        for _ in range(40):
            with clocked("copies"):
                need(driver.cuMemcpyHtoD_v2(device, host, {size}))
    """), env={"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=5ms"})
    exact.check(result)
    copy, = result.process["copies"]
    assert result.truth.ns("cuMemcpyHtoD_v2") <= copy["ns"] <= clocked(result)["copies"]
    assert copy["bytes_per_second"] == pytest.approx(40 * size / (copy["ns"] / 1e9))


def test_asynchronous_copies_have_no_bandwidth(gpuprobe):
    result = gpuprobe.run(workload("copy"), "--api", "driver", "--only", "cuMemcpyHtoDAsync_v2",
                          "--count", 3)
    copy, = result.process["copies"]
    assert copy["mode"] == "async" and "bytes_per_second" not in copy


def test_text(gpuprobe):
    result = gpuprobe.run(workload("copy"), "--api", "driver", "--count", 2, "--bytes", 1000,
                          base=TEXT)
    section = result.stdout.partition("\ncopies:\n")[2]
    assert section.startswith(f"process {result.truth.pid} (copy) ended\n")
    for kind, calls in (("H2D", 4), ("D2H", 4), ("D2D", 8), ("P2P", 4)):
        side = f", {calls} pinned" if kind in ("H2D", "D2H") else ""
        assert re.search(rf"^        {kind} {calls} calls, {calls}000 Bytes, "
                         rf"[\d.]+ bytes/sec for [\d.]+ secs{side}$", section, re.M)
        assert re.search(rf"^        {kind} async {calls} calls, {calls}000 Bytes, "
                         r"at least [\d.]+ bytes/sec from "
                         rf"issue to the wait that covered {calls}{side}$", section, re.M)
    assert re.search(r"^        set 12 calls, 12000 Bytes, ", section, re.M)


# --- in flight ---

WAITS = {
    "driver": {
        "stream": "need(driver.cuStreamSynchronize(one))",
        "context": "need(driver.cuCtxSynchronize())",
        "event": "need(driver.cuEventRecord(mark, one)); need(driver.cuEventSynchronize(mark))",
        "query": "need(driver.cuStreamQuery(one))"},
    "runtime": {"stream": "need(runtime.cudaStreamSynchronize(one))",
                "context": "need(runtime.cudaDeviceSynchronize())",
                "event": "need(runtime.cudaEventRecord(mark, one)); "
                    "need(runtime.cudaEventSynchronize(mark))",
                "query": "need(runtime.cudaStreamQuery(one))"},
}
COPY = {"driver": "copy(one, 4000)",
        "runtime": "need(runtime.cudaMemcpyAsync(device, host, 4000, 1, one))"}


def boot_ns():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def issued_ns(report):
    """When the oldest copy in flight was issued."""
    copy, = [c for c in report["processes"][0]["copies"] if c["mode"] == "async"]
    return report["boot_ns"] - copy["in_flight"]["oldest_ns"]


@pytest.mark.parametrize("layer", WAITS)
def test_until_a_wait_covers_them(gpuprobe, layer):
    """A wait of each kind in turn."""
    body = "one, mark = stream(), event()\n"
    for wait in WAITS[layer].values():
        body += f"step()\nfor _ in range(5):\n    {COPY[layer]}\nstep()\n{wait}\n"
    with Copies(gpuprobe, body) as steps:
        for number in range(len(WAITS[layer])):
            if number:
                process = wait_in_flight(steps.running, {})
                assert not process["ended"]
                assert exact.copies(process) == {("H2D", "async"): (5 * number, 20000 * number)}
            before = boot_ns()
            steps.go_on()
            # A report in whose middle they were issued has their age as nothing.
            wait_for_in_flight(steps.running, {"H2D": (5, 20000)})
            report = wait_for_in_flight(steps.running, {"H2D": (5, 20000)})
            assert before <= issued_ns(report) <= report["boot_ns"] <= boot_ns()
            assert issued_ns(
                wait_for_in_flight(steps.running, {"H2D": (5, 20000)})) == issued_ns(report)
            steps.go_on()
        process = steps.shows()
        assert not process["ended"] and exact.copies(process) == {("H2D", "async"): (20, 80000)}
        steps.finish()


IN_THREADS = """
import threading
def work():
    need(driver.cuCtxSetCurrent(context))
    one, mark = stream(), event()
    for _ in range(4):
        copy(one, 4000)
    wait_for(directory + "/step0")
    WAIT
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
step()
"""


@pytest.mark.parametrize("wait", ["stream", "event"])
def test_until_a_wait_covers_them_on_each_path(gpuprobe_by, wait):
    with Copies(gpuprobe_by, IN_THREADS.replace("WAIT", WAITS["driver"][wait])) as steps:
        steps.shows(H2D=(12, 48000))
        assert not steps.shows()["ended"]
        steps.finish()


def test_a_query_that_says_not_ready_covers_nothing(gpuprobe):
    """Twelve say so, the next does not."""
    not_ready = ",".join(f"cuStreamQuery:{number}=600" for number in range(1, 13))
    with Copies(gpuprobe, """
        one = stream()
        copy(one, 4000)
        copy(one, 4000)
        for _ in range(12):
            assert driver.cuStreamQuery(one) == 600
        touch(directory + "/asked")
        step()
        need(driver.cuStreamQuery(one))
        """, env={"CUDA_SIM_FAIL": not_ready}) as steps:
        wait_for_file(steps.directory / "asked")
        steps.later_report()
        steps.shows(H2D=(2, 8000))
        steps.shows()
        result = steps.finish()
    assert result.truth.data["driver"]["cuStreamQuery"]["not_ready"] == 12
    assert result.last_seen(result.truth.pid)["errors"] == []


def test_a_wait_covers_its_own_stream_only(gpuprobe):
    with Copies(gpuprobe, """
        one, two = stream(), stream()
        for _ in range(3):
            copy(one)
        for _ in range(4):
            copy(two, 500)
        step()
        need(driver.cuStreamSynchronize(one))
        step()
        copy(one, 200)
        step()
        need(driver.cuStreamSynchronize(two))
        step()
        need(driver.cuCtxSynchronize())
        """) as steps:
        steps.shows(H2D=(7, 5000))
        steps.shows(H2D=(4, 2000))
        steps.shows(H2D=(5, 2200))
        steps.shows(H2D=(1, 200))
        steps.shows()
        steps.finish()


def test_an_event_covers_what_was_issued_before_it(gpuprobe):
    with Copies(gpuprobe, """
        one, mark, later = stream(), event(), event()
        copy(one)
        copy(one)
        need(driver.cuEventRecord(mark, one))
        copy(one, 300)
        step()
        need(driver.cuEventSynchronize(mark))
        step()
        need(driver.cuEventRecord(later, one))
        copy(one, 7)
        need(driver.cuEventQuery(later))
        step()
        need(driver.cuEventRecord(mark, one))
        need(driver.cuEventSynchronize(mark))
        """) as steps:
        steps.shows(H2D=(3, 2300))
        steps.shows(H2D=(1, 300))
        steps.shows(H2D=(1, 7))
        steps.shows()
        steps.finish()


def test_events_recorded_anew(gpuprobe):
    """An event stands for its last record; many stretches of one stream are told apart."""
    with Copies(gpuprobe, """
        one = stream()
        events = [event() for _ in range(6)]
        for mark in events:
            copy(one, 100)
            need(driver.cuEventRecord(mark, one))
        step()
        need(driver.cuEventSynchronize(events[1]))
        step()
        need(driver.cuEventSynchronize(events[0]))
        step()
        need(driver.cuEventRecord(events[2], one))
        copy(one, 50)
        need(driver.cuEventSynchronize(events[2]))
        """) as steps:
        steps.shows(H2D=(6, 600))
        steps.shows(H2D=(4, 400))
        steps.shows(H2D=(4, 400))
        steps.shows(H2D=(1, 50))
        steps.finish()


def test_a_destroyed_stream_has_nothing_in_flight(gpuprobe):
    with Copies(gpuprobe, """
        one, two = stream(), stream()
        copy(one)
        copy(two, 10)
        step()
        need(driver.cuStreamDestroy_v2(one))
        step()
        need(driver.cuStreamSynchronize(two))
        """) as steps:
        steps.shows(H2D=(2, 1010))
        steps.shows(H2D=(1, 10))
        steps.shows()
        steps.finish()


def test_the_streams_without_handle(gpuprobe):
    """The legacy stream is the context's, the per-thread one the thread's own."""
    with Copies(gpuprobe, """
        import threading
        def other():
            need(driver.cuCtxSetCurrent(context))
            copy(2, 5)                          # CU_STREAM_PER_THREAD
            copy(0, 6, "_ptsz")                 # the same
            copy(1, 7)                          # CU_STREAM_LEGACY
            step()
            need(driver.cuStreamSynchronize(2))
            step()
        copy(0, 100)
        copy(2, 200)
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        need(driver.cuStreamSynchronize_ptsz(0))
        step()
        need(driver.cuStreamSynchronize(1))
        """) as steps:
        steps.shows(H2D=(5, 318))
        steps.shows(H2D=(3, 307))
        steps.shows(H2D=(2, 107))
        steps.shows()
        steps.finish()


def test_a_wait_in_another_thread(gpuprobe):
    with Copies(gpuprobe, """
        import threading
        one = stream()
        copy(one, 123)
        step()
        def other():
            need(driver.cuCtxSetCurrent(context))
            need(driver.cuCtxSynchronize())
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        """) as steps:
        steps.shows(H2D=(1, 123))
        steps.shows()
        steps.finish()


def test_synchronous_copies_and_failed_waits_cover_nothing(gpuprobe):
    with Copies(gpuprobe, """
        one = stream()
        copy(one, 123)
        need(driver.cuMemcpyHtoD_v2(device, host, 10))
        assert driver.cuStreamSynchronize(one) == 719
        step()
        need(driver.cuStreamSynchronize(one))
        """, env={"CUDA_SIM_FAIL": "cuStreamSynchronize:1=719"}) as steps:
        steps.shows(H2D=(1, 123))
        steps.shows()
        steps.finish()


def test_in_flight_in_the_text(gpuprobe):
    with Copies(gpuprobe, """
        one = stream()
        copy(one, 4000)
        copy(one, 4000)
        step()
        need(driver.cuStreamSynchronize(one))
        """, base=[*SECTIONS, "--metrics-addr", "none"]) as steps:
        in_flight = (r"        H2D async 2 calls, 8000 Bytes, 2 in flight \(8000 Bytes, "
                     r"oldest [\d.]+ ms\), 2 pinned\n")
        while not re.fullmatch(in_flight, steps.running.line()):
            pass
        steps.go_on()
        steps.go_on()
        result = steps.running.finish()
    assert re.search(r"^        H2D async 2 calls, 8000 Bytes, "
                     r"at least [\d.]+ bytes/sec from issue to the wait that covered 2, "
                     r"2 pinned$", result.stdout, re.M)


# --- what the sides are ---

SIDES = script("""
    start(1)
    far = made(driver.cuMemAlloc_v2, 1 << 16)
    start(0)
    near, managed = made(driver.cuMemAlloc_v2, 1 << 16), made(driver.cuMemAllocManaged, 1 << 16, 1)
    pinned = made(driver.cuMemHostAlloc, 1 << 16, 0)
    buffer = ctypes.create_string_buffer(1 << 16)
    own = ctypes.addressof(buffer)
    places = [far, near, managed, pinned, own]
    for n, (to, source) in enumerate((a, b) for a in places for b in places):
        need(driver.cuMemcpy(to, source, 1000 + n))
        need(driver.cuMemcpyAsync(to, source, 2000 + n, 0))
    for host in (pinned, own, managed):
        need(driver.cuMemcpyHtoD_v2(near, host, 100))
        need(driver.cuMemcpyDtoHAsync_v2(host, near, 200, 0))
""")


def test_sides(gpuprobe_by):
    """By where the addresses lie; managed memory counts as the device's,
    and as neither pinned nor not."""
    result = gpuprobe_by.run(*SIDES, env={"CUDA_SIM_DEVICES": 2})
    exact.check(result)
    assert exact.sides(result.process) == result.truth.sides()
    assert exact.copies(result.process)["P2P", "sync"][0] == 2


def test_sides_before_attach(gpuprobe):
    """Memory allocated before attach is not known: neither the direction nor the host's
    side is guessed."""
    with Background(*script("""
        start()
        device, host = made(driver.cuMemAlloc_v2, 4096), made(driver.cuMemHostAlloc, 4096, 0)
        print("READY", flush=True)
        input()
        need(driver.cuMemcpy(device, host, 100))
        need(driver.cuMemcpyHtoD_v2(device, host, 200))
        later = made(driver.cuMemHostAlloc, 4096, 0)
        need(driver.cuMemcpyHtoD_v2(device, later, 300))
        print("DONE", flush=True)
        input()
    """)) as process:
        assert process.stdout.readline() == "READY\n"
        with gpuprobe.start(args=["--pid", process.pid]) as running:
            running.report()
            assert process.tell("") == "DONE"
            report = running.wait_for(lambda r: r["processes"] and
                                      sum(c["calls"] for c in r["processes"][0]["copies"]) == 3)
            found = {c["kind"]: c for c in report["processes"][0]["copies"]}
            assert found["unknown"]["calls"] == 1
            assert found["H2D"]["calls"] == 2
            assert found["H2D"]["pinned"] == {"calls": 1, "bytes": 300}
            assert found["H2D"]["pageable"] == {"calls": 0, "bytes": 0}
            running.stop()


def test_sides_need_the_memory_section(gpuprobe):
    """Without allocations being watched, no host memory is known to be the program's own."""
    result = gpuprobe.run(*SIDES, args=["--bandwidth-util"], env={"CUDA_SIM_DEVICES": 2})
    assert not [c for c in result.process["copies"]
                if c["pinned"]["calls"] or c["pageable"]["calls"]]


# --- how fast asynchronous copies were at least ---

def covered(process):
    return {c["kind"]: c["covered"] for c in process["copies"] if c["mode"] == "async"}


@pytest.mark.parametrize("wait", ["cuStreamSynchronize(stream)", "cuCtxSynchronize()",
                                  "cuEventSynchronize(event)"])
def test_from_issue_to_the_wait(gpuprobe_by, wait):
    """Each copy counts once: by the wait that covered it first,
    or by its context's last wait before the next copy."""
    result = gpuprobe_by.run(*script(f"""
        start()
        device, host = made(driver.cuMemAlloc_v2, 1 << 20), made(driver.cuMemHostAlloc, 1 << 20, 0)
        stream, event = made(driver.cuStreamCreate, 1), made(driver.cuEventCreate, 0)
        for n in range(20):
            with clocked("to the second wait"):
                with clocked("to the first wait"):
                    need(driver.cuMemcpyHtoDAsync_v2(device, host, 1 << 20, stream))
                    need(driver.cuMemcpyDtoHAsync_v2(host, device, 1000, stream))
                    need(driver.cuEventRecord(event, stream))
                    need(driver.{wait})
                need(driver.{wait})
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4, stream))
    """), env={"CUDA_SIM_ASYNC": "10ms"})
    exact.check(result)
    found = covered(result.process)
    assert (found["H2D"]["calls"], found["H2D"]["bytes"]) == (20, 20 << 20)
    assert (found["D2H"]["calls"], found["D2H"]["bytes"]) == (20, 20000)
    most = clocked(result)["to the second wait" if "Ctx" in wait else "to the first wait"]
    assert 20 * 10e6 <= found["D2H"]["ns"] <= found["H2D"]["ns"] <= most
    assert found["H2D"]["at_least_bytes_per_second"] == pytest.approx(
        (20 << 20) / (found["H2D"]["ns"] / 1e9))


def test_a_destroyed_stream_keeps_what_was_covered(gpuprobe):
    result = gpuprobe.run(*script("""
        start()
        device, host = made(driver.cuMemAlloc_v2, 1 << 20), made(driver.cuMemHostAlloc, 1 << 20, 0)
        for n in range(5):
            stream = made(driver.cuStreamCreate, 1)
            need(driver.cuMemcpyHtoDAsync_v2(device, host, 1000, stream))
            need(driver.cuCtxSynchronize())
            need(driver.cuStreamDestroy_v2(stream))
        need(driver.cuMemFree_v2(device))
        context = made(driver.cuCtxCreate_v2, 0, 0)
        device = made(driver.cuMemAlloc_v2, 1 << 20)
        stream = made(driver.cuStreamCreate, 1)
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 1000, stream))
        need(driver.cuCtxSynchronize())
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 77, stream))
        need(driver.cuMemFree_v2(device))
        need(driver.cuCtxDestroy_v2(context))
    """))
    exact.check(result)
    assert (covered(result.process)["H2D"]["calls"],
            covered(result.process)["H2D"]["bytes"]) == (6, 6000)
    assert exact.in_flight(result.process) == {}


def test_a_place_that_is_pinned_by_turns(gpuprobe_by):
    """
    Copies from one address that is pageable, then pinned, then pageable again; then a device's file
    is mapped there, as where CUDA maps memory, and ordinary memory again.
    Each change is known at the next copy.
    """
    result = gpuprobe_by.run(*script("""
        import mmap
        start()
        device = made(driver.cuMemAlloc_v2, 1 << 16)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.mmap.restype = ctypes.c_void_p
        libc.mmap.argtypes = (
            [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long])
        FIXED = 0x10
        def ordinary(at=None):
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (FIXED if at else 0)
            return libc.mmap(at, 1 << 16, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
        place = ctypes.c_void_p(ordinary())
        def copy(count, bytes):
            for _ in range(count):
                need(driver.cuMemcpyHtoD_v2(device, place, bytes))
        copy(5, 1000)
        need(driver.cuMemHostRegister_v2(place, 1 << 16, 0))
        copy(4, 100)
        need(driver.cuMemHostUnregister(place))
        copy(3, 1000)
        libc.mmap(place, 1 << 16, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | FIXED,
                  os.open("/dev/zero", os.O_RDWR), 0)
        copy(2, 10)
        ordinary(place)
        copy(1, 1000)
    """))
    copies, = result.process["copies"]
    assert (copies["calls"], copies["bytes"]) == (15, 9420)
    assert copies["pageable"] == {"calls": 9, "bytes": 9000}
    assert copies["pinned"] == {"calls": 4, "bytes": 400}
