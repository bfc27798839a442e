# SPDX-License-Identifier: BSD-2-Clause
"""Waits and queries: calls and time by the kind of wait, separate from the waiting inside
copies and frees."""
import re

import pytest

from lib import exact
from lib.probe import TEXT
from lib.scrape import Endpoint
from lib.script import clocked, script

SCOPES = {"stream": "stream", "event": "event", "context": "device"}

PROGRAM = script("""
    start()
    device, host = made(driver.cuMemAlloc_v2, 4096), made(driver.cuMemHostAlloc, 4096, 0)
    stream, event = made(driver.cuStreamCreate, 1), made(driver.cuEventCreate, 0)
    for n in range(4):
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        need(driver.cuEventRecord(event, stream))
        while driver.cuStreamQuery(stream) == 600:
            time.sleep(0.001)
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        assert driver.cuEventQuery(event) == 0
        need(driver.cuEventRecord(event, stream))
        assert driver.cuEventQuery(event) == 600
        with clocked("event"):
            need(driver.cuEventSynchronize(event))
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        with clocked("stream"):
            need(driver.cuStreamSynchronize(stream))
    for n in range(3):
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        with clocked("device"):
            need(driver.cuCtxSynchronize())
    with clocked("copy"):
        need(driver.cuMemcpyHtoD_v2(device, host, 4096))
    with clocked("free"):
        need(driver.cuMemFree_v2(device))
""")


def check(result):
    """Against the truth: calls exactly, times between what the simulator took and what the
    program measured."""
    exact.check(result)
    seen_by_program = clocked(result)
    waits = {w["in"]: w for w in result.process["waits"]}
    for scope, true in result.truth.data["waits"].items():
        seen = waits.get(SCOPES[scope], {"calls": 0, "ns": 0})
        assert seen["calls"] == true["calls"] - true["failures"]
        assert seen["calls"] == 0 or true["ns"] <= seen["ns"] <= seen_by_program[SCOPES[scope]]
    queries = {q["of"]: q for q in result.process["queries"]}
    for scope, true in result.truth.data["queries"].items():
        seen = queries.get(scope, {"calls": 0, "not_ready": 0})
        assert (seen["calls"] - seen["not_ready"],
                seen["not_ready"]) == (true["ready"], true["not_ready"])
    return waits


def test_by_what_is_waited_for(gpuprobe_by):
    result = gpuprobe_by.run(*PROGRAM, env={"CUDA_SIM_ASYNC": "20ms"})
    waits = check(result)
    assert (waits["stream"]["calls"] == 4 and waits["event"]["calls"] == 4
            and waits["device"]["calls"] == 3)
    assert (sum(device["wait_ns"] for device in result.process["devices"])
            == sum(waits[kind]["ns"] for kind in ("stream", "event", "device")))
    assert result.process["errors"] == []


def test_copies_and_frees_apart(gpuprobe):
    result = gpuprobe.run(*PROGRAM,
                          env={"CUDA_SIM_ASYNC": "1ms",
                               "CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=50ms,cuMemFree_v2=30ms"})
    waits = check(result)
    for name, function in (("copy", "cuMemcpyHtoD_v2"), ("free", "cuMemFree_v2")):
        assert waits[name]["calls"] == 1
        assert result.truth.ns(function) <= waits[name]["ns"] <= clocked(result)[name]


def test_failing_waits(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        with clocked("stream"):
            assert [driver.cuStreamSynchronize(0) for _ in range(4)] == [0, 719, 0, 719]
        assert driver.cuCtxSynchronize() == 700
    """), env={"CUDA_SIM_FAIL": "cuStreamSynchronize:%2=719,cuCtxSynchronize:1=700"})
    assert check(result)["stream"]["calls"] == 2


# By layer: how a thread copies and waits, each wait under the name of what is waited for.
IN_THREADS = {"driver": """
    need(driver.cuCtxSetCurrent(context))
    stream, event = made(driver.cuStreamCreate, 1), made(driver.cuEventCreate, 0)
    for _ in range(5):
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        need(driver.cuEventRecord(event, stream))
        with clocked("event"):
            need(driver.cuEventSynchronize(event))
        with clocked("stream"):
            need(driver.cuStreamSynchronize(stream))
""", "runtime": """
    stream, event = made(runtime.cudaStreamCreate), made(runtime.cudaEventCreate)
    for _ in range(5):
        need(runtime.cudaMemcpyAsync(device, host, 4096, 1, stream))
        need(runtime.cudaEventRecord(event, stream))
        with clocked("event"):
            need(runtime.cudaEventSynchronize(event))
        with clocked("stream"):
            need(runtime.cudaStreamSynchronize(stream))
"""}


@pytest.mark.parametrize("layer", IN_THREADS)
def test_in_threads(gpuprobe_by, layer):
    result = gpuprobe_by.run(*script(f"""
import threading
context = start()
device, host = made(driver.cuMemAlloc_v2, 4096), made(driver.cuMemHostAlloc, 4096, 0)
def work():{IN_THREADS[layer]}
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""), env={"CUDA_SIM_ASYNC": "3ms"})
    waits = check(result)
    assert (waits["event"]["calls"], waits["stream"]["calls"]) == (20, 20)


def test_devices(gpuprobe, tmp_path):
    """Each wait belongs to the device of its thread's context; the metrics tell them apart."""
    endpoint = Endpoint()
    go = tmp_path / "go"
    with gpuprobe.start(*script(f"""
        start(0)
        need(driver.cuCtxSynchronize())
        start(1)
        for _ in range(2):
            need(driver.cuCtxSynchronize())
        made(driver.cuStreamCreate, 1)
        wait_for({str(go)!r})
    """), base=["--json", *endpoint.option], env={"CUDA_SIM_DEVICES": 2}) as running:
        # The stream comes after the waits.
        running.wait_for(lambda r: r["processes"] and "stream" in r["processes"][0]["objects"])
        page = endpoint.scrape()
        assert page.value("gpuprobe_waits_total", device="0", kind="device") == 1
        assert page.value("gpuprobe_waits_total", device="1", kind="device") == 2
        assert page.value("gpuprobe_streams_live", device="1") == 1
        go.touch()
        running.finish()


def test_text(gpuprobe):
    result = gpuprobe.run(*PROGRAM, base=TEXT, env={"CUDA_SIM_ASYNC": "5ms"})
    section = result.stdout.partition("\nwaits:\n")[2]
    assert re.search(r"^        stream 4 calls, [\d.]+ secs$", section, re.M)
    assert re.search(r"^        device 3 calls, [\d.]+ secs$", section, re.M)
    assert re.search(r"^        event queries 8 \(4 not ready\)$", section, re.M)
