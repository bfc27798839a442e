# SPDX-License-Identifier: BSD-2-Clause
"""Functions whose arguments changed between majors of the runtime:
the file decides how they are read.

The batched copy of CUDA 12 has the stream one argument later than that of 13. Four batches on a
stream that is waited for and one on another: read rightly, one is in flight at the end.
"""
import subprocess

import pytest

from lib import exact, paths
from lib.profile import seen_functions
from lib.script import PROGRAMS, script

CALLS = """
    library = Library({library!r})
    sizes = (ctypes.c_size_t * 3)(100, 20, 3)
    def batch(count, stream):
        last = (0x6000, stream) if {old} else (stream, 0x6000)
        need(library.cudaMemcpyBatchAsync(0, 0, sizes, count, 0, 0, 0, *last))
    for _ in range(4):
        batch(3, 0x5000)
    need(library.cudaStreamSynchronize(0x5000))
    batch(2, 0x7000)
    wait_for({go!r})
"""


def compile_runtime(output, *options):
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", "-fcf-protection=none",
                    "-mno-omit-leaf-frame-pointer", "-fno-ipa-icf", *options, "-o", output,
                    PROGRAMS / "runtime_form.c"], check=True)
    return output


def check(probe, go, *command):
    """All batches are seen, and one is in flight until the program may `go`."""
    with probe.start(*command, args=["--bandwidth-util", "--api", "runtime"]) as running:
        copies, = running.find(
            lambda r: r["processes"] and r["processes"][0]["copies"]
            and r["processes"][0]["copies"][0]["calls"] == 5 and r["processes"][0]["copies"])
        go.touch()
        result = running.finish()
    assert (copies["kind"], copies["mode"]) == ("unknown", "async")
    assert copies["bytes"] == 4 * 123 + 120
    assert (copies["in_flight"]["calls"], copies["in_flight"]["bytes"]) == (1, 120)
    # The lists of addresses are NULL: both ends of 14 copies, so that their way is unknown.
    assert exact.lost(result.final) == {"unreadable": 28}


@pytest.mark.parametrize("soname, old", [
    ("libcudart.so.12", True), ("libcudart.so.13", False), ("libcudart.so.11.0", True),
    ("libcudart-9335f6a2.so.12", True), ("libcudart.so.14", False), ("libwrapper.so.12", False)])
def test_library(gpuprobe_by, tmp_path, soname, old):
    library = compile_runtime(tmp_path / "libcudart.so.1", "-shared", "-fPIC",
                              f"-Wl,-soname,{soname}")
    go = tmp_path / "go"
    check(gpuprobe_by, go, *script(CALLS.format(library=str(library), old=old, go=str(go))))


@pytest.mark.parametrize("old", [True, False])
def test_runtime_inside(gpuprobe, tmp_path, old):
    """Linked into the program, it is told by functions that CUDA 13 has no more."""
    program = compile_runtime(tmp_path / "carries", "-DPROGRAM", f"-DOLD_FORM={int(old)}",
                              *["-DOLD"] * old)
    check(gpuprobe, tmp_path / "go", program, tmp_path / "go")


# Functions that only the runtime of CUDA 12 has, with and without the thread's own stream.
OLD_FORMS = f"""
    class Location(ctypes.Structure):
        _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]
    old = Library({str(paths.SIM / "libcudart.so.12")!r})
    address, stream = out(), out()
    need(old.cudaMallocManaged(ref(address), 4096, 1))
    need(old.cudaStreamCreate(ref(stream)))
    told = [ref(out()) for _ in range(6)]
    for form, times in (("", 3), ("_ptsz", 4)):
        for _ in range(times):
            need(getattr(old, "cudaMemPrefetchAsync_v2" + form)(
                address, 4096, Location(1, 2), 0, stream))
            need(getattr(old, "cudaStreamGetCaptureInfo_v2" + form)(stream, *told[:5]))
            need(getattr(old, "cudaStreamGetCaptureInfo_v3" + form)(stream, *told))
            getattr(old, "cudaStreamUpdateCaptureDependencies_v2" + form)(stream, address, 0, 0, 1)
            getattr(old, "cudaSignalExternalSemaphoresAsync_v2" + form)(address, address, 1, stream)
            getattr(old, "cudaWaitExternalSemaphoresAsync_v2" + form)(address, address, 1, stream)
"""
PER_THREAD = ["cudaMemPrefetchAsync_v2", "cudaStreamGetCaptureInfo_v2",
              "cudaStreamGetCaptureInfo_v3", "cudaStreamUpdateCaptureDependencies_v2",
              "cudaSignalExternalSemaphoresAsync_v2", "cudaWaitExternalSemaphoresAsync_v2"]


def test_per_thread_forms_are_traced(tracer):
    result = tracer.run(*script(OLD_FORMS), args=["-e", "all", "--api", "runtime"],
                        columns="time,event,details,stream,result")
    assert result.lost == 0
    for symbol in PER_THREAD:
        plain, per_thread = result.of(symbol), result.of(symbol + "_ptsz")
        assert (len(plain), len(per_thread)) == (3, 4)
        assert per_thread[0]["stream"] and per_thread[0]["details"]
        for key in ("details", "stream", "result"):
            assert {str(line[key]) for line in per_thread} == {str(plain[0][key])}


def test_per_thread_forms_are_counted(gpuprobe_by):
    result = gpuprobe_by.run(*script(OLD_FORMS), args=["--api", "runtime"], base=["stat", "--json"])
    seen = seen_functions(result.process)
    for symbol in ("cudaStreamGetCaptureInfo_v2", "cudaStreamGetCaptureInfo_v3"):
        assert seen["runtime", symbol] == (7, 0)
