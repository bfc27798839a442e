# SPDX-License-Identifier: BSD-2-Clause
"""Functions whose arguments changed between majors of the runtime: the file decides how they are read.

The batched copy of CUDA 12 has the stream one argument later than that of 13. Four batches on a
stream that is waited for and one on another: read rightly, one is in flight at the end.
"""
import subprocess

import pytest

from lib import exact
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
    time.sleep(1)
"""


def compile_runtime(output, *options):
    subprocess.run(["gcc", "-O2", "-fno-omit-frame-pointer", "-fcf-protection=none", "-mno-omit-leaf-frame-pointer",
                    "-fno-ipa-icf", *options, "-o", output, PROGRAMS / "runtime_form.c"], check=True)
    return output


def check(probe, *command):
    """All batches are seen, and of the last report before the end one is in flight."""
    with probe.start(*command, args=["--bandwidth-util", "--api", "runtime"]) as running:
        result = running.finish()
    process = [r["processes"][0] for r in result.reports if r["processes"] and not r["processes"][0]["ended"]][-1]
    copies, = process["copies"]
    assert (copies["kind"], copies["mode"]) == ("unknown", "async")
    assert (copies["calls"], copies["bytes"]) == (5, 4 * 123 + 120)
    assert (copies["in_flight"]["calls"], copies["in_flight"]["bytes"]) == (1, 120)
    # The lists of addresses are NULL: both ends of 14 copies, so that their way is unknown.
    assert exact.lost(result.final) == {"unreadable": 28}


@pytest.mark.parametrize("soname, old", [
    ("libcudart.so.12", True), ("libcudart.so.13", False), ("libcudart.so.11.0", True),
    ("libcudart-9335f6a2.so.12", True), ("libcudart.so.14", False), ("libwrapper.so.12", False)])
def test_library(gpuprobe_by, tmp_path, soname, old):
    library = compile_runtime(tmp_path / "libcudart.so.1", "-shared", "-fPIC", f"-Wl,-soname,{soname}")
    check(gpuprobe_by, *script(CALLS.format(library=str(library), old=old)))


@pytest.mark.parametrize("old", [True, False])
def test_runtime_inside(gpuprobe, tmp_path, old):
    """Linked into the program, it is told by functions that CUDA 13 has no more."""
    program = compile_runtime(tmp_path / "carries", "-DPROGRAM", f"-DOLD_FORM={int(old)}", *["-DOLD"] * old)
    check(gpuprobe, program)
