# SPDX-License-Identifier: BSD-2-Clause
"""Calls that have not returned: every reading includes their time so far once,
and no figure decreases."""
import re
import subprocess
import time

import pytest

from lib import paths, script
from lib.probe import Background
from lib.profile_runs import DIAGNOSE, STAT
from lib.scrape import Endpoint

NEVER = {"CUDA_SIM_ASYNC": "600s"}  # the work is not done before the test is
TEXT = ["--metrics-addr", "none"]
MS = 1_000_000
LONG = 200 * MS

# One thread waits for the event after its launch.
WAITING = script.script("""
    start()
    stream, event = made(driver.cuStreamCreate, 1), made(driver.cuEventCreate, 0)
    device, host = made(driver.cuMemAlloc_v2, 4096), made(driver.cuMemHostAlloc, 4096, 0)
    need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
    need(driver.cuEventRecord(event, stream))
    driver.cuEventSynchronize(event)
""")

# Three threads, each in one wait after the other; the program's clock around all of them.
REPEATED = """
    import threading
    start()
    context = made(driver.cuCtxGetCurrent)

    def wait():
        need(driver.cuCtxSetCurrent(ctypes.c_void_p(context)))
        stream, host = made(driver.cuStreamCreate, 1), made(driver.cuMemHostAlloc, 4096, 0)
        device = made(driver.cuMemAlloc_v2, 4096)
        for _ in range(6):
            need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))
            with clocked("stream"):
                need(driver.cuStreamSynchronize(stream))

    threads = [threading.Thread(target=wait) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
"""


def waits(process):
    """What the process waited for -> the entry."""
    return {entry["in"]: entry for entry in process["waits"]}


def open_call(report):
    """The process of a report that has been in its wait for a fifth of a second, and the call."""
    for process in report["processes"]:
        for call in process.get("in_progress", []):
            if call["ns"] > LONG:
                return process, call
    return None


def test_time_so_far(gpuprobe):
    """A process that has been in one wait since it was first seen."""
    with gpuprobe.start(*WAITING, env=NEVER) as running:
        process, call = running.find(open_call)
        assert process["calls_in_progress"] == 1
        assert (call["function"], call["layer"],
                call["ended"]) == ("cuEventSynchronize", "driver", False)
        assert call["tid"] == process["pid"] and call["calls_meanwhile"] == 0
        assert waits(process)["event"] == {"in": "event", "calls": 0, "ns": call["ns"],
                                           "in_progress": 1}
        assert process["devices"][0]["wait_ns"] == call["ns"]
        function, = [each for each in process["functions"]
                     if each["function"] == "cuEventSynchronize"]
        assert (function["calls"], function["ns"]) == (0, 0)
        assert (function["in_progress"], function["in_progress_ns"]) == (1, call["ns"])
        later, longer = running.find(
            lambda report: open_call(report) if open_call(report)[1]["ns"] > call["ns"] else None)
        assert (longer["start_ns"] == call["start_ns"]
                and waits(later)["event"]["ns"] == longer["ns"])


def test_account(gpuprobe):
    """The time of the thread, of its process and of the function;
    the time outside of calls is only the rest."""
    with gpuprobe.start(*WAITING, args=["--interval", "0.1"], base=STAT, interval=None,
                        env=NEVER) as running:
        process, call = running.find(open_call)
        thread, = process["threads"]
        assert thread["time"]["wait"] == {"calls": 0, "ns": call["ns"]}
        assert thread["inside_ns"] + thread["outside_ns"] == thread["wall_ns"]
        assert process["all_threads"]["time"]["wait"]["ns"] == call["ns"]
        function, = [each for each in process["functions"]
                     if each["function"] == "cuEventSynchronize"]
        assert (function["calls"], function["total_ns"],
                function["in_progress"]) == (0, call["ns"], 1)


@pytest.mark.parametrize(
    "base, heading", [(["--display-interval", "0.3", *TEXT], "  stuck  "),
                      pytest.param(["stat", "--interval", "0.3"], "thread", marks=pytest.mark.slow),
                      pytest.param(["diagnose", "--interval", "0.3"],
                                   "calls that have not returned:", marks=pytest.mark.slow)])
def test_text(gpuprobe, base, heading):
    with gpuprobe.start(*WAITING, base=base, interval=None, env=NEVER) as running:
        assert heading in running.read_until("in progress: 1 cuEventSynchronize since ")


def test_counted_once(gpuprobe):
    """Readings in the middle of calls and between them: no sum is smaller than the one before,
    and the last is the truth."""
    with gpuprobe.start(*script.script(REPEATED), interval=0.02,
                        env={"CUDA_SIM_ASYNC": "50ms"}) as running:
        result = running.finish()
    seen = [process for report in result.reports for process in report["processes"]]
    told = [waits(process).get("stream", {"ns": 0})["ns"] for process in seen]
    assert told == sorted(told)
    assert any(waits(process).get("stream", {}).get("in_progress") for process in seen)
    true = result.truth.data["waits"]["stream"]
    last = waits(seen[-1])["stream"]
    # COMMAND's own words are not kept here: 18 waits of 50 ms, to which a busy machine adds.
    assert last["calls"] == true["calls"] == 18 and "in_progress" not in last
    assert true["ns"] <= last["ns"] <= true["ns"] * 1.5


def test_counters_only_grow(gpuprobe):
    endpoint = Endpoint()
    body = script.script(f"{REPEATED}    time.sleep(600)\n")
    with gpuprobe.start(*body, base=endpoint.option, interval=0, env={"CUDA_SIM_ASYNC": "150ms"}):
        endpoint.wait()
        endpoint.until(lambda page: page.find("gpuprobe_wait_seconds_total", kind="stream"))
        told, in_progress = [], 0
        page = endpoint.scrape()
        while page.sum("gpuprobe_waits_total", kind="stream") < 18:
            page = endpoint.scrape()
            told.append(page.sum("gpuprobe_wait_seconds_total", kind="stream"))
            in_progress += len(page.find("gpuprobe_calls_in_progress",
                                         function="cuStreamSynchronize"))
            for labels, value in page.find("gpuprobe_calls_in_progress"):
                assert 1 <= value <= 3
                assert page.value("gpuprobe_longest_call_in_progress_seconds", **labels) >= 0.1
        assert told == sorted(told) and len(set(told)) > 18 and in_progress


@pytest.mark.slow
def test_failed(gpuprobe):
    """The time in a wait that fails at last has been told while it was in progress: it stays."""
    body = script.script("""
        start()
        for _ in range(3):
            driver.cuCtxSynchronize()
    """)
    env = {"CUDA_SIM_LATENCY": "cuCtxSynchronize=300ms", "CUDA_SIM_FAIL": "cuCtxSynchronize:2=700"}
    with gpuprobe.start(*body, interval=0.02, env=env) as running:
        result = running.finish()
    entries = [waits(process)["device"] for report in result.reports
               for process in report["processes"] if "device" in waits(process)]
    told = [entry["ns"] for entry in entries]
    assert told == sorted(told)
    assert entries[-1]["calls"] == 2 and told[-1] >= 900 * MS


def kill_in_call(gpuprobe, base, args=()):
    """The last report on a program that was killed in its wait, and about how long it had waited,
    in ns."""
    with gpuprobe.start(base=base, args=args, interval=None, libraries=[paths.LIBCUDA]) as running:
        running.report()
        with Background(*WAITING, env=NEVER) as program:
            running.find(open_call)
            program.kill()
            program.wait(60)
            return running.find(
                lambda report: next((process for process in report["processes"]
                                     if process["pid"] == program.pid and process["ended"]), None))


@pytest.mark.slow
def test_killed_inside(gpuprobe):
    process = kill_in_call(gpuprobe, ["--json", *TEXT], ["--display-interval", "0.1"])
    call, = process["in_progress"]
    assert call["ended"] and process["calls_in_progress"] == 0 and call["ns"] > LONG
    assert waits(process)["event"] == {"in": "event", "calls": 0, "ns": call["ns"]}


def test_killed_inside_account(gpuprobe):
    """Nor is the account poorer for it, to the nanosecond."""
    process = kill_in_call(gpuprobe, STAT, ["--interval", "0.1"])
    call, = process["in_progress"]
    thread, = process["threads"]
    function, = [each for each in process["functions"] if each["function"] == "cuEventSynchronize"]
    assert thread["time"]["wait"]["ns"] == function["total_ns"] == call["ns"] > LONG


@pytest.fixture(scope="module")
def left(tmp_path_factory):
    """programs/left_waits.c"""
    program = tmp_path_factory.mktemp("left") / "left_waits"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-pthread", f"-I{paths.ROOT}/sim/include", "-o",
                    program, script.PROGRAMS / "left_waits.c", f"-L{paths.SIM}", "-l:libcuda.so.1",
                    f"-Wl,-rpath,{paths.SIM}"], check=True)
    return program


def test_left_by_a_jump(gpuprobe, left):
    """A call that its thread has jumped out of stays on record until the next one enters;
    it is not in progress any more."""
    with gpuprobe.start(left, "stay", 1) as running:
        running.wait_for(lambda report: any(process["launches"] == 0 and process["functions"]
                                            for process in report["processes"]))
        moment = time.clock_gettime_ns(time.CLOCK_BOOTTIME) + 300 * MS
        process, = running.wait_for(lambda report: report["boot_ns"] > moment)["processes"]
    assert "in_progress" not in process and process["waits"] == []


@pytest.mark.slow
def test_threads_that_ended_inside(gpuprobe, left):
    """The process goes on, the calls of its ended threads do not."""
    process = gpuprobe.run(left, "leave", 3).process
    assert [(call["function"], call["ended"])
            for call in process["in_progress"]] == [("cuCtxSynchronize", True)] * 3
    assert process["calls_in_progress"] == 0
    assert waits(process)["device"]["ns"] == sum(call["ns"] for call in process["in_progress"])


@pytest.mark.slow
def test_without_returns(gpuprobe):
    """Where returns are not probed nothing is known to be in progress."""
    with gpuprobe.start(*WAITING, args=["--no-return-probes"], env=NEVER) as running:
        seen = running.wait_for(lambda report: any(
            function["function"] == "cuEventSynchronize" for process in report["processes"]
            for function in process["functions"]) or any(process.get("unfollowed")
                                                         for process in report["processes"]))
        process, = seen["processes"]
    assert "in_progress" not in process and "calls_in_progress" not in process


@pytest.mark.slow
def test_many_threads(gpuprobe):
    """More threads than are listed: their number is told, and the time of all."""
    body = script.script("""
        import threading
        start()
        context, stream = made(driver.cuCtxGetCurrent), made(driver.cuStreamCreate, 1)
        device, host = made(driver.cuMemAlloc_v2, 4096), made(driver.cuMemHostAlloc, 4096, 0)
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))

        def wait():
            driver.cuCtxSetCurrent(ctypes.c_void_p(context))
            driver.cuStreamSynchronize(stream)

        for _ in range(100):
            threading.Thread(target=wait, daemon=True).start()
        time.sleep(600)
    """)
    with gpuprobe.start(*body, env=NEVER) as running:
        process = running.find(lambda report: next((p for p in report["processes"]
                                                    if p.get("calls_in_progress") == 100), None))
    assert len(process["in_progress"]) == 64
    entry = waits(process)["stream"]
    assert (entry["in_progress"] == 100
            and entry["ns"] >= sum(call["ns"] for call in process["in_progress"]))


def finding(report):
    return next((each for each in report["findings"] if each["id"] == "stuck"), None)


def test_finding_while_it_lasts(gpuprobe):
    """diagnose tells of it as long as it is in progress, and of no call that is over."""
    args = ["--interval", "0.1", "--threshold", "stuck=0.3s"]
    with gpuprobe.start(*WAITING, base=DIAGNOSE, args=args, interval=None,
                        env={"CUDA_SIM_ASYNC": "1s"}) as running:
        found = running.find(finding)
        result = running.finish()
    assert (found["severity"], found["subject"], found["tid"]) == (
        "info", "cuEventSynchronize", found["pid"])
    assert found["numbers"]["lasted"]["value"] >= 300 * MS
    assert re.fullmatch(
        r"in progress for \S+ m?s; no other call of the process has been seen meanwhile",
        found["evidence"])
    assert finding(result.final) is None


@pytest.mark.slow
def test_finding_of_the_monitor(gpuprobe):
    endpoint = Endpoint()
    with gpuprobe.start(*WAITING, base=endpoint.option, args=["--threshold", "stuck=0.3s"],
                        interval=0, env=NEVER):
        endpoint.wait()
        page = endpoint.until(lambda page: page.find("gpuprobe_finding_active", id="stuck"))
        (labels, value), = page.find("gpuprobe_finding_active", id="stuck")
    assert (labels["severity"], value) == ("info", 1)


@pytest.mark.slow
def test_finding_where_others_go_on(gpuprobe):
    """A thread that waits while another one works is no hang of the process."""
    body = script.script("""
        import threading
        start()
        context, stream = made(driver.cuCtxGetCurrent), made(driver.cuStreamCreate, 1)
        device, host = made(driver.cuMemAlloc_v2, 4096), made(driver.cuMemHostAlloc, 4096, 0)
        need(driver.cuMemcpyHtoDAsync_v2(device, host, 4096, stream))

        def wait():
            driver.cuCtxSetCurrent(ctypes.c_void_p(context))
            driver.cuStreamSynchronize(stream)

        threading.Thread(target=wait, daemon=True).start()
        while True:
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 4096)))
            time.sleep(0.01)
    """)
    args = ["--interval", "0.1", "--threshold", "stuck=0.5s", "--threshold", "stuck.silence=0.5s"]
    with gpuprobe.start(*body, base=DIAGNOSE, args=args, interval=None, env=NEVER) as running:
        found = running.find(finding)
    assert found["severity"] == "info" and "other threads still make calls" in found["evidence"]
    assert found["numbers"]["calls_meanwhile"]["value"] > 0


@pytest.mark.slow
def test_warning_where_nothing_goes_on(gpuprobe):
    args = ["--threshold", "stuck=0.2s", "--threshold", "stuck.silence=0.4s"]
    with gpuprobe.start(*WAITING, args=args, env=NEVER) as running:
        found = running.find(lambda report: finding(report) if finding(report)
                             and finding(report)["severity"] == "warning" else None)
    assert found["numbers"]["calls_meanwhile"]["value"] == 0


def test_only_call_has_not_returned(gpuprobe):
    """Somebody asked for that process: it is no process without calls."""
    with Background(*script.script("""
        sys.stdin.readline()
        start()
    """), env={"CUDA_SIM_LATENCY": "cuDevicePrimaryCtxRetain=600s"}) as program:
        with gpuprobe.start(args=["-p", program.pid], libraries=[paths.LIBCUDA]) as running:
            running.wait_for(lambda report: report["without_calls"])
            program.stdin.write("\n")
            program.stdin.flush()
            process, call = running.find(open_call)
            assert process["pid"] == program.pid and call["function"] == "cuDevicePrimaryCtxRetain"
            assert running.report()["without_calls"] == []
