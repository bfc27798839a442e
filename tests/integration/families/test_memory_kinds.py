# SPDX-License-Identifier: BSD-2-Clause
"""Kinds of memory beside the plain ones: arrays, pitched, registered and imported memory."""
import re

import pytest

from lib import exact
from lib.probe import TEXT
from lib.script import memory_script

ALL = ["--top", "0"]
FORMS = ["driver", "runtime"]


# What each call makes is told by hand: the simulator is not asked how it counts.
ARRAYS = {
    "driver": ("""
start()
array = lambda *shape: made(driver.cuArrayCreate_v2, array_descriptor(*shape))
array3d = lambda *shape: made(driver.cuArray3DCreate_v2, array3d_descriptor(*shape))
mipmap = lambda levels, *shape: made(driver.cuMipmappedArrayCreate, array3d_descriptor(*shape),
                                     levels)
keep = [array(100, 0, BYTE, 1), array(100, 30, FLOAT, 4), array3d(10, 0, 0, HALF, 2),
        array3d(10, 20, 30, FLOAT, 1), array3d(64, 64, 6, BYTE, 4, CUBEMAP),
        array3d(32, 0, 5, FLOAT, 1, LAYERED)]
for number in range(3):
    need(driver.cuArrayDestroy(array(1000 + number, 7, BYTE, 2)))
mipmap(1, 16, 16, 0, FLOAT, 1)
mipmap(3, 16, 4, 0, BYTE, 1)
mipmap(5, 16, 8, 4, BYTE, 2)
mipmap(3, 16, 8, 4, BYTE, 1, LAYERED)
need(driver.cuMipmappedArrayDestroy(mipmap(2, 100, 100, 0, FLOAT, 1)))
assert driver.cuArrayCreate_v2(ref(out()), None) == 1
assert driver.cuArrayDestroy(keep[0] + 8) != 0
""", [100, 100 * 30 * 16, 10 * 4, 10 * 20 * 30 * 4, 64 * 64 * 6 * 4, 32 * 5 * 4,
      16 * 16 * 4, 16 * 4 + 8 * 2 + 4, 2 * (16 * 8 * 4 + 8 * 4 * 2 + 4 * 2 + 2 + 1),
      4 * (16 * 8 + 8 * 4 + 4 * 2)], 14, 4),
    "runtime": ("""
start()
runtime.cudaSetDevice(0)
array = lambda width, height, *bits: made(runtime.cudaMallocArray, channels(*bits),
                                          width, height, 0)
array3d = lambda flags, extent, *bits: made(runtime.cudaMalloc3DArray, channels(*bits),
                                            Extent(*extent), flags)
mipmap = lambda levels, extent, *bits: made(runtime.cudaMallocMipmappedArray, channels(*bits),
                                            Extent(*extent), levels, 0)
array(100, 0, 8)
array(100, 30, 32, 32, 32, 32)
array3d(0, (10, 20, 30), 32)
array3d(LAYERED, (32, 0, 5), 16, 16)
mipmap(2, (16, 8, 4), 8, 8)
need(runtime.cudaFreeArray(array(500, 3, 16)))
need(runtime.cudaFreeArray(array3d(0, (5, 3, 2), 16)))
need(runtime.cudaFreeMipmappedArray(mipmap(2, (16, 8, 4), 8)))
need(runtime.cudaFreeArray(0))
""", [100, 100 * 30 * 16, 10 * 20 * 30 * 4, 32 * 5 * 4, 2 * (16 * 8 * 4 + 8 * 4 * 2)], 8, 3),
}


@pytest.mark.parametrize("form", FORMS)
def test_arrays(gpuprobe_by, form):
    body, sizes, made, freed = ARRAYS[form]
    result = gpuprobe_by.run(*memory_script(body), args=ALL)
    exact.check(result)
    process = result.process
    assert exact.memory(process)["array"] == {"allocations": made, "frees": freed,
                                              "live_bytes": sum(sizes),
                                              "live_allocations": len(sizes)}
    listed = [a for a in process["memory"]["live"] if a["kind"] == "array"]
    assert sorted(a["bytes"] for a in listed) == sorted(sizes)
    assert {a["device"] for a in listed} == {0}
    assert process["memory"]["live_at_exit_bytes"] == sum(sizes)


def test_pitched_in_three_dimensions(gpuprobe_by):
    result = gpuprobe_by.run(*memory_script("""
        start()
        keep = []
        for number in range(3):
            pitched = (ctypes.c_uint64 * 4)()
            need(runtime.cudaMalloc3D(pitched, Extent(1000 + 100 * number, 5, 3)))
            keep.append(pitched[0])
        need(runtime.cudaFree(keep[1]))
    """), args=ALL)
    exact.check(result)
    assert exact.memory(result.process)["device"]["live_allocations"] == 2
    assert exact.live(result.process) == result.truth.live()


@pytest.mark.parametrize("form", FORMS)
def test_registered(gpuprobe_by, form):
    """The program's own memory is pinned for a while; it is no memory of the device's."""
    register, unregister = {"driver": ("driver.cuMemHostRegister_v2", "driver.cuMemHostUnregister"),
                            "runtime": ("runtime.cudaHostRegister",
                                        "runtime.cudaHostUnregister")}[form]
    result = gpuprobe_by.run(*memory_script(f"""
        start()
        memory = [ctypes.create_string_buffer(10000 + 100 * n) for n in range(4)]
        at = [ctypes.addressof(m) for m in memory]
        for n, address in enumerate(at):
            need({register}(address, 10000 + 100 * n, 0))
        assert {register}(at[0], 100, 0) != 0
        need({unregister}(at[1]))
        assert {unregister}(at[1]) != 0
        need({unregister}(at[2]))
        need({register}(at[2], 77, 0))
    """), args=ALL)
    exact.check(result)
    memory = result.process["memory"]
    assert memory["registered"] == {**memory["registered"], "allocations": 5, "frees": 2,
                                    "allocation_failures": 1, "live_bytes": 10000 + 10300 + 77,
                                    "live_allocations": 3}
    assert memory["double_frees"] == 1
    assert memory["live_at_exit_bytes"] == 0 and memory["device"]["allocations"] == 0


@pytest.mark.parametrize("form", FORMS)
def test_imported(gpuprobe_by, form):
    """Another process's memory is none of this one's, and of an unknown size."""
    start, close = {"driver": ("driver.cuIpcOpenMemHandle_v2", "driver.cuIpcCloseMemHandle"),
                    "runtime": ("runtime.cudaIpcOpenMemHandle",
                                "runtime.cudaIpcCloseMemHandle")}[form]
    result = gpuprobe_by.run(*memory_script(f"""
        start()
        handle = exported(made(driver.cuMemAlloc_v2, 5000))
        word = lambda: out()
        opened = []
        for _ in range(3):
            address = out()
            need({start}(ref(address), handle, 1))
            opened.append(address.value)
        need({close}(opened[1]))
        assert {close}(opened[1]) != 0
    """), args=ALL)
    exact.check(result)
    memory = result.process["memory"]
    assert memory["imported"] == {**memory["imported"], "allocations": 3, "frees": 1,
                                  "live_allocations": 2}
    assert memory["live_at_exit_bytes"] == 5000 and memory["double_frees"] == 1


def test_text(gpuprobe):
    result = gpuprobe.run(*memory_script("""
        start()
        made(driver.cuMemAlloc_v2, 3000)
        made(driver.cuArrayCreate_v2, array_descriptor(100, 10, BYTE, 1))
        memory = ctypes.create_string_buffer(500)
        need(driver.cuMemHostRegister_v2(ctypes.addressof(memory), 500, 0))
        handle = exported(made(driver.cuMemAlloc_v2, 5000))
        need(driver.cuIpcOpenMemHandle_v2(ref(out()), handle, 1))
        address = made(driver.cuMemAlloc_v2, 10)
        need(driver.cuMemFree_v2(address))
        assert driver.cuMemFree_v2(address) != 0
    """), base=TEXT)
    assert re.search(r"""
        total: 9000 Bytes in 3 allocations live at exit
        of these: device 8000 Bytes in 2 allocations, array 1000 Bytes in 1 allocation
        registered host memory: 500 Bytes in 1 allocation live at exit """
                     r"""\(1 registered, 0 unregistered\)
        imported, not its own: at least 0 Bytes in 1 allocation live at exit \(1 opened, 0 closed\)
        frees of what had been freed before: 1
""", result.stdout), result.stdout


def test_second_frees_and_frees_of_nothing_known(gpuprobe_by):
    """A second free is told from one of an address that was never seen; both fail."""
    result = gpuprobe_by.run(*memory_script("""
        start()
        address = made(driver.cuMemAlloc_v2, 1000)
        for _ in range(40):  # more than are remembered
            need(driver.cuMemFree_v2(made(driver.cuMemAlloc_v2, 900)))
        need(driver.cuMemFree_v2(address))
        for _ in range(3):
            assert driver.cuMemFree_v2(address) != 0
        for _ in range(2):
            assert driver.cuMemFree_v2(0x123456) != 0
        pinned = made(driver.cuMemHostAlloc, 100, 0)
        need(driver.cuMemFreeHost(pinned))
        assert driver.cuMemFreeHost(pinned) != 0
    """), args=ALL)
    exact.check(result)
    memory = result.process["memory"]
    assert memory["double_frees"] == 4
    assert memory["unknown"]["free_failures"] == 6 and memory["unknown"]["unknown_frees"] == 0
