# SPDX-License-Identifier: BSD-2-Clause
"""What functions are called does not depend on which of the libraries gpuprobe has met first."""
import json

import pytest

from lib import paths
from lib.probe import EXACT
from lib.profile import seen_functions, true_functions
from lib.script import script

# Each first call loads the driver by itself, inside the runtime's function.
FIRST = {
    "stream": "stream = made(runtime.cudaStreamCreate)",
    "wait": "need(runtime.cudaDeviceSynchronize()); stream = made(runtime.cudaStreamCreate)",
}
REST = """
memory, host = made(runtime.cudaMalloc, 4096), ctypes.create_string_buffer(4096)
for _ in range(3):
    need(runtime.cudaMemset(memory, 0, 4096))
    need(runtime.cudaMemcpy(memory, host, 4096, 1))
    need(runtime.cudaStreamSynchronize(stream))
need(runtime.cudaDeviceSynchronize())
need(runtime.cudaFree(memory))
need(runtime.cudaStreamDestroy(stream))
"""
MET = {
    "neither": [],
    "driver": [paths.LIBCUDA],
    "runtime": [paths.LIBCUDART],
}


def program(first):
    return script(f"{FIRST[first]}\n{REST}")


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize("met", MET)
def test_stat(gpuprobe, tmp_path, first, met):
    """Allocations and frees are the runtime's, all else is the driver's, to the call."""
    out = tmp_path / "out"
    result = gpuprobe.run(*program(first), base=["stat", "--json"], args=["-O", out],
                          libraries=MET[met])
    [process] = json.loads(out.read_text())["processes"]
    assert seen_functions(process) == true_functions(result.truth)


@pytest.mark.parametrize("met", ["driver", "runtime"])
def test_failures(gpuprobe, met):
    """So are the names of calls that fail, in the monitor's reports and metrics."""
    result = gpuprobe.run(*script(FIRST["stream"] + "\nassert runtime.cudaMemset(0x10, 0, 64)\n"
                                  "assert runtime.cudaMemset(0x10, 0, 64)"),
                          base=EXACT, libraries=MET[met])
    assert {(error["function"], error["count"])
            for error in result.process["errors"]} == {("cuMemsetD8_v2", 2)}


def test_versions_in_text(gpuprobe):
    """<cuda.h>'s own version has the plain name, and the first one its number;
    --json has the symbols, see above."""
    program = script("""
        start()
        memory = made(driver.cuMemAlloc_v2, 4096)
        made(driver.cuMemAlloc, 64)
        need(driver.cuMemsetD8_v2(memory, 0, 64))
        need(driver.cuMemFree_v2(memory))
        need(driver.cuCtxSynchronize())
    """)
    lines = gpuprobe.run(*program, base=["stat"]).stdout.splitlines()
    [first] = [at for at, line in enumerate(lines) if line.split()[-1:] == ["function"]]
    table = lines[first + 1:first + 1 + lines[first + 1:].index("")]
    assert {"cuMemAlloc", "cuMemAlloc_v1", "cuMemsetD8", "cuMemFree",
            "cuCtxSynchronize"} <= {line.split()[-1] for line in table}
    assert "_v2" not in "\n".join(table)
