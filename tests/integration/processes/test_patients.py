# SPDX-License-Identifier: BSD-2-Clause
"""Watched programs on which a probe could do harm: they end as they do alone."""
import os

import pytest

from lib import small_cuda
from lib.certain import Harm
from lib.check import Check
from lib.probe import TEXT
from lib.script import script

pytestmark = pytest.mark.usefixtures("nothing_left")

# A probe on such a function becomes a call after enough hits; a child then has no page to call.
FORKS = """
    import ctypes, signal
    library = ctypes.CDLL({library!r})
    for _ in range(1000):
        library.cuLaunchKernel(0x1000, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
    for _ in range(10):
        child = os.fork()
        if not child:
            library.cuLaunchKernel(0x1000, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, "a child has died"
        library.cuCtxSynchronize()
    """


def is_optimising():
    """Whether this kernel makes calls of such probes: Linux 6.18 and newer."""
    return [int(part) for part in os.uname().release.split(".")[:2]] >= [6, 18]


def test_forks_after_calls_that_begin_with_a_nop(gpuprobe_by, tmp_path):
    """The function has no probe where that would end the children, and gpuprobe says so;
    the others have theirs."""
    library = small_cuda.compile(tmp_path / "libcuda.so.1", cuLaunchKernel=small_cuda.NOP5)
    result = gpuprobe_by.run(*script(FORKS.format(library=str(library))))
    calls = small_cuda.calls(result.final)
    assert calls.get("cuCtxSynchronize") == 10
    assert calls.get("cuLaunchKernel", 0) == (0 if is_optimising() else 1010)
    assert ("begin with a five-byte nop" in result.stderr) == is_optimising()


def test_check_names_it(tmp_path):
    library = small_cuda.compile(tmp_path / "libcuda.so.1", cuLaunchKernel=small_cuda.NOP5)
    found = Check("--libcuda-path", library).one("unsafe-probes", str(library))
    assert found["state"] == ("degraded" if is_optimising() else "ok")
    assert ("cuLaunchKernel" in found["text"]) == is_optimising()


CALLS = """
    import ctypes
    library = ctypes.CDLL({library!r})
    for _ in range(50):
        library.cuCtxSynchronize()
        library.cuMemAlloc_v2(ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(8))
    """


def test_who_pays_for_slow_probes(gpuprobe_by, tmp_path):
    """Functions whose first instruction must be single-stepped:
    gpuprobe reports their calls with their approximate cost."""
    library = small_cuda.compile(tmp_path / "libcuda.so.1",
                                 cuCtxSynchronize="sub $8, %rsp\\n add $8, %rsp")
    result = gpuprobe_by.run(*script(CALLS.format(library=str(library))))
    assert result.processes[0]["slow_probes"] == {"calls": 50, "functions": 1,
                                                  "most": "cuCtxSynchronize",
                                                  "about_ns": 50 * 14000}
    text = gpuprobe_by.run(*script(CALLS.format(library=str(library))),
                           base=TEXT)
    assert ("single-step: 50 calls of cuCtxSynchronize, some 14 us each: 0.00070 secs of its time\n"
            in text.stdout)


def test_traced_by_a_debugger(gpuprobe_by, tmp_path):
    """A traced child is left alone: the stop would be the debugger's.
    It runs to its end under a tracer like strace."""
    program = script("context = start()\nneed(driver.cuCtxSynchronize())\nos._exit(7)")
    tracer = script(f"""
        import ctypes, signal
        libc = ctypes.CDLL(None, use_errno=True)
        child = os.fork()
        if not child:
            libc.ptrace(0, 0, 0, 0)
            os.execv({program[0]!r}, {program!r})
        while True:
            _, status = os.waitpid(child, 0)
            if os.WIFEXITED(status):
                os._exit(os.WEXITSTATUS(status))
            assert os.WSTOPSIG(status) != signal.SIGSTOP, "a stop that nobody sent"
            libc.ptrace(7, child, 0, 0 if os.WSTOPSIG(status) == 5 else os.WSTOPSIG(status))
        """)
    result = gpuprobe_by.run(*tracer, status=7)
    if result.status != 7:
        raise Harm(result.stderr)
