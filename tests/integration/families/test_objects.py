# SPDX-License-Identifier: BSD-2-Clause
"""Streams, events, contexts, modules and libraries: how many were made, ended and are live,
and how long loads took."""
import re

import pytest

from lib import exact
from lib.paths import workload
from lib.probe import TEXT, Background
from lib.script import clocked, script

KINDS = ("stream", "event", "context", "module", "library")


def check(result):
    exact.check(result)
    assert {kind: counts for kind, counts in exact.objects(result.process).items()
            if kind in KINDS} == result.truth.objects(*KINDS)


def test_each_kind(gpuprobe_by):
    """Made by each function, some ended, some not."""
    result = gpuprobe_by.run(*script("""
        start()
        streams = [made(driver.cuStreamCreate, 1) for _ in range(5)]
        streams += [made(driver.cuStreamCreateWithPriority, 1, 0) for _ in range(3)]
        events = [made(driver.cuEventCreate, 0) for _ in range(7)]
        code = ptx("kernel")
        modules = [made(driver.cuModuleLoadData, code) for _ in range(4)]
        modules += [made(driver.cuModuleLoadDataEx, code, 0, None, None)]
        libraries = [made(driver.cuLibraryLoadData, code, None, None, 0, None, None, 0)
                     for _ in range(3)]
        for stream in streams[::3]:
            need(driver.cuStreamDestroy_v2(stream))
        for event in events[::2]:
            need(driver.cuEventDestroy_v2(event))
        for module in modules[:2]:
            need(driver.cuModuleUnload(module))
        need(driver.cuLibraryUnload(libraries[0]))
        again = [made(driver.cuStreamCreate, 0) for _ in range(2)]
    """))
    check(result)
    seen = exact.objects(result.process)
    assert seen["stream"] == (10, 3, 0, 7) and seen["event"] == (7, 4, 0, 3)
    assert seen["module"] == (5, 2, 0, 3) and seen["library"] == (3, 1, 0, 2)


@pytest.mark.parametrize("api", ["driver", "runtime", "both"])
def test_layers(gpuprobe, api):
    """The runtime's calls and those that it makes count once."""
    result = gpuprobe.run(*script("""
        streams = [made(runtime.cudaStreamCreate) for _ in range(4)]
        streams += [made(runtime.cudaStreamCreateWithFlags, 1),
                    made(runtime.cudaStreamCreateWithPriority, 1, 0)]
        events = [made(runtime.cudaEventCreate), made(runtime.cudaEventCreateWithFlags, 2)]
        for stream in streams[:3]:
            need(runtime.cudaStreamDestroy(stream))
        need(runtime.cudaEventDestroy(events[0]))
    """), args=["--api", api])
    exact.check(result, api)
    seen = exact.objects(result.process)
    assert seen["stream"] == (6, 3, 0, 3) and seen["event"] == (2, 1, 0, 1)


def test_contexts(gpuprobe_by):
    """The first reference makes the primary context and the last ends it;
    other contexts come and go independently."""
    result = gpuprobe_by.run(*script("""
        start()
        again = [made(driver.cuDevicePrimaryCtxRetain, 0) for _ in range(3)]
        need(driver.cuDevicePrimaryCtxRelease_v2(0))
        other = made(driver.cuDevicePrimaryCtxRetain, 1)
        need(driver.cuDevicePrimaryCtxRelease_v2(1))
        for _ in range(3):
            context = made(driver.cuCtxCreate_v2, 0, 1)
            need(driver.cuCtxDestroy_v2(context))
        kept = made(driver.cuCtxCreate_v2, 0, 0)
        assert driver.cuCtxDestroy_v2(0x10)
    """), env={"CUDA_SIM_DEVICES": 2})
    check(result)
    assert exact.objects(result.process)["context"] == (6, 4, 0, 2)


@pytest.mark.parametrize("end", ["cuCtxDestroy_v2(context)", "cuDevicePrimaryCtxRelease_v2(1)",
                                 "cuDevicePrimaryCtxReset_v2(1)"])
def test_what_goes_with_its_context(gpuprobe_by, end):
    """Streams, events and modules do, libraries do not; handles that come back are live again."""
    result = gpuprobe_by.run(*script(f"""
        start()
        stays = [made(driver.cuStreamCreate, 1) for _ in range(2)] + [made(driver.cuEventCreate, 0)]
        if "Primary" in "{end}":
            context = made(driver.cuDevicePrimaryCtxRetain, 1)
            need(driver.cuCtxPushCurrent_v2(context))
        else:
            context = made(driver.cuCtxCreate_v2, 0, 1)
        code = ptx("kernel")
        goes = ([made(driver.cuStreamCreate, 1) for _ in range(4)]
                + [made(driver.cuEventCreate, 0) for _ in range(3)])
        goes.append(made(driver.cuModuleLoadData, code))
        library = made(driver.cuLibraryLoadData, code, None, None, 0, None, None, 0)
        need(driver.cuStreamDestroy_v2(goes[0]))
        need(driver.{end})
        if "Primary" in "{end}":
            need(driver.cuCtxPopCurrent_v2(None))
        back = [made(driver.cuStreamCreate, 1) for _ in range(5)]
        need(driver.cuStreamDestroy_v2(back[0]))
    """), env={"CUDA_SIM_DEVICES": 2})
    check(result)
    seen = exact.objects(result.process)
    assert seen["stream"] == (11, 2, 3, 6) and seen["event"] == (4, 0, 3, 1)
    assert seen["module"] == (1, 0, 1, 0) and seen["library"] == (1, 0, 0, 1)


def test_it_shows_while_the_program_runs(gpuprobe, tmp_path):
    """What went with its context is cleared away, and the counts stay."""
    with gpuprobe.start(*script(f"""
        start()
        def step(n):
            wait_for(f"{tmp_path}/{{n}}")
        context = made(driver.cuCtxCreate_v2, 0, 0)
        streams = [made(driver.cuStreamCreate, 1) for _ in range(6)]
        step(0)
        need(driver.cuCtxDestroy_v2(context))
        step(1)
        streams = [made(driver.cuStreamCreate, 1) for _ in range(2)]
        step(2)
    """)) as running:
        for n, expected in enumerate([(6, 0, 0, 6), (6, 0, 6, 0), (8, 0, 6, 2)]):
            for _ in range(2):
                running.wait_for(lambda r: r["processes"] and
                                 exact.objects(r["processes"][0]).get("stream") == expected)
            (tmp_path / str(n)).touch()
        check(running.finish())


def test_failing_calls(gpuprobe_by):
    """What failed to be made is not there, and what failed to be ended is."""
    result = gpuprobe_by.run(*script("""
        start()
        stream = made(driver.cuStreamCreate, 1)
        assert driver.cuStreamCreate(ref(out()), 1) == 2
        assert driver.cuStreamDestroy_v2(stream) == 999
        event = made(driver.cuEventCreate, 0)
        assert driver.cuEventDestroy_v2(event) == 999
        context = made(driver.cuCtxCreate_v2, 0, 0)
        inside = made(driver.cuStreamCreate, 1)
        assert driver.cuCtxDestroy_v2(context) == 999
        assert driver.cuDevicePrimaryCtxRelease_v2(0) == 999
        assert driver.cuModuleLoadData(ref(out()), b"nonsense")
    """), env={"CUDA_SIM_FAIL": "cuStreamCreate:2=2,cuStreamDestroy_v2:*=999,"
                             "cuEventDestroy_v2:*=999,"
                                "cuCtxDestroy_v2:*=999,cuDevicePrimaryCtxRelease_v2:*=999"})
    check(result)
    seen = exact.objects(result.process)
    assert (seen["stream"] == (2, 0, 0, 2) and seen["event"] == (1, 0, 0, 1)
            and seen["context"] == (2, 0, 0, 2))


def test_handles_of_before(gpuprobe):
    """A process that was there before: objects from then that it ends are not subtracted from
    those made since."""
    with Background(*script("""
        start()
        streams = [made(driver.cuStreamCreate, 1) for _ in range(3)]
        print("READY", flush=True)
        input()
        later = [made(driver.cuStreamCreate, 1) for _ in range(2)]
        for stream in streams[:2] + later[:1]:
            need(driver.cuStreamDestroy_v2(stream))
        print("DONE", flush=True)
        input()
    """)) as process:
        assert process.stdout.readline() == "READY\n"
        with gpuprobe.start(args=["--pid", process.pid]) as running:
            running.report()
            assert process.tell("") == "DONE"
            report = running.wait_for(
                lambda r: r["processes"]
                and r["processes"][0]["objects"].get("stream", {"destroyed": 0})["destroyed"] == 3)
            seen = report["processes"][0]["objects"]["stream"]
            assert (seen["created"], seen["unknown_destroyed"], seen["live"]) == (2, 2, 1)
            running.stop()


def test_load_time(gpuprobe):
    result = gpuprobe.run(*script("""
        start()
        code = ptx("kernel")
        for _ in range(3):
            with clocked("module"):
                made(driver.cuModuleLoadData, code)
        with clocked("library"):
            made(driver.cuLibraryLoadData, code, None, None, 0, None, None, 0)
    """), env={"CUDA_SIM_LATENCY": "cuModuleLoadData=20ms,cuLibraryLoadData=30ms"})
    check(result)
    for kind, function in (("module", "cuModuleLoadData"), ("library", "cuLibraryLoadData")):
        assert (result.truth.ns(function) <= result.process["objects"][kind]["create_ns"]
                <= clocked(result)[kind])


def test_64_threads(gpuprobe_by):
    """Each makes and ends its own, handles going round among them."""
    result = gpuprobe_by.run(*script("""
        import threading
        context = start()
        def work():
            need(driver.cuCtxSetCurrent(context))
            for n in range(40):
                stream, event = made(driver.cuStreamCreate, 1), made(driver.cuEventCreate, 0)
                need(driver.cuEventRecord(event, stream))
                need(driver.cuEventDestroy_v2(event))
                if n % 4:
                    need(driver.cuStreamDestroy_v2(stream))
        threads = [threading.Thread(target=work) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """))
    check(result)
    assert exact.objects(result.process)["stream"] == (2560, 1920, 0, 640)


def test_text(gpuprobe):
    result = gpuprobe.run(*script("""
        start()
        for _ in range(3):
            made(driver.cuStreamCreate, 1)
        need(driver.cuStreamDestroy_v2(made(driver.cuStreamCreate, 1)))
        made(driver.cuModuleLoadData, ptx("kernel"))
    """), base=TEXT)
    section = result.stdout.partition("\nobjects:\n")[2]
    assert re.search(r"^        streams 3 live at exit \(4 created\)$", section, re.M)
    assert re.search(r"^        contexts 1 live at exit \(1 created\)$", section, re.M)
    assert re.search(r"^        modules 1 live at exit \(1 loaded in [\d.]+ secs\)$", section, re.M)


def test_workload_of_modules(gpuprobe_by):
    check(gpuprobe_by.run(workload("modules")))
