# SPDX-License-Identifier: BSD-2-Clause
"""Waits and queries: calls and time by what is waited for, and the waiting inside copies and frees apart."""
import re

import pytest

from lib import exact
from lib.paths import workload
from lib.scrape import Endpoint
from lib.script import script

TEXT = ["--display-interval", "0", "--metrics-addr", "none"]
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
        need(driver.cuEventSynchronize(event))
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        need(driver.cuStreamSynchronize(stream))
    for n in range(3):
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
        need(driver.cuCtxSynchronize())
    need(driver.cuMemcpyHtoD_v2(device, host, 4096))
    need(driver.cuMemFree_v2(device))
""")


def check(result):
    """Against the truth: calls exactly, times within what the probes themselves add to each call."""
    exact.check(result)
    waits = {w["in"]: w for w in result.process["waits"]}
    for scope, true in result.truth.data["waits"].items():
        seen = waits.get(SCOPES[scope], {"calls": 0, "ns": 0})
        assert seen["calls"] == true["calls"] - true["failures"]
        assert seen["calls"] == 0 or true["ns"] <= seen["ns"] < 1.1 * true["ns"] + 200e3 * seen["calls"]
    queries = {q["of"]: q for q in result.process["queries"]}
    for scope, true in result.truth.data["queries"].items():
        seen = queries.get(scope, {"calls": 0, "not_ready": 0})
        assert (seen["calls"] - seen["not_ready"], seen["not_ready"]) == (true["ready"], true["not_ready"])
    return waits


def test_by_what_is_waited_for(gpuprobe_by):
    result = gpuprobe_by.run(*PROGRAM, env={"CUDA_SIM_ASYNC": "20ms"})
    waits = check(result)
    assert waits["stream"]["calls"] == 4 and waits["event"]["calls"] == 4 and waits["device"]["calls"] == 3
    assert result.process["errors"] == []


def test_copies_and_frees_apart(gpuprobe):
    result = gpuprobe.run(*PROGRAM, env={"CUDA_SIM_ASYNC": "1ms",
                                         "CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=50ms,cuMemFree_v2=30ms"})
    waits = check(result)
    for name, function in (("copy", "cuMemcpyHtoD_v2"), ("free", "cuMemFree_v2")):
        assert waits[name]["calls"] == 1
        assert 1.0 <= waits[name]["ns"] / result.truth.ns(function) < 1.1


def test_failing_waits(gpuprobe_by):
    result = gpuprobe_by.run(*script("""
        start()
        assert [driver.cuStreamSynchronize(0) for _ in range(4)] == [0, 719, 0, 719]
        assert driver.cuCtxSynchronize() == 700
    """), env={"CUDA_SIM_FAIL": "cuStreamSynchronize:%2=719,cuCtxSynchronize:1=700"})
    assert check(result)["stream"]["calls"] == 2


@pytest.mark.parametrize("layer", ["driver", "runtime"])
def test_workload(gpuprobe_by, layer):
    check(gpuprobe_by.run(workload("copy"), "--api", layer, "--threads", 4, "--count", 5, "--wait", "event"))


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
        running.wait_for(lambda r: r["processes"] and r["processes"][0]["waits"] and
                         r["processes"][0]["waits"][0]["calls"] == 3)
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
