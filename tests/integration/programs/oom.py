# SPDX-License-Identifier: BSD-2-Clause
"""Runs out of device memory in the way that the argument names, see findings/test_oom.py.

CUDA_SIM_MEMORY limits what there is. Prints READY once it has failed, and waits for a line.
"""
import ctypes
import os
import subprocess
import sys

from cuda import SIM, Library, driver, need, out, ref, runtime

MIB = 1 << 20


def allocate(size):
    pointer = out()
    return runtime.cudaMalloc(ref(pointer), size), pointer.value


def wait():
    print("READY", flush=True)
    sys.stdin.readline()


def large():
    need(allocate(100 * MIB)[0])
    assert allocate(2000 * MIB)[0] == 2
    wait()


def keep_more():
    return allocate(10 * MIB)[0]


def leak():
    need(allocate(100 * MIB)[0])
    while not keep_more():
        pass
    wait()


def own():
    need(allocate(900 * MIB)[0])
    assert allocate(200 * MIB)[0] == 2
    wait()


def give_back():
    """It handles the failure: all is free before anybody can look."""
    pointers = [allocate(size * MIB)[1] for size in (500, 200, 200)]
    assert allocate(200 * MIB)[0] == 2
    for pointer in pointers:
        need(runtime.cudaFree(pointer))
    need(allocate(10 * MIB)[0])
    wait()


def cache():
    """As frameworks do: the cache is freed, and the request repeated; here that does not help."""
    need(allocate(600 * MIB)[0])
    result, cached = allocate(300 * MIB)
    need(result)
    assert allocate(500 * MIB)[0] == 2
    need(runtime.cudaFree(cached))
    assert allocate(500 * MIB)[0] == 2
    wait()


def retry():
    """As frameworks do: the cache is freed, and the request repeated."""
    need(allocate(100 * MIB)[0])
    result, cache = allocate(900 * MIB)
    need(result)
    assert allocate(500 * MIB)[0] == 2
    need(runtime.cudaFree(cache))
    need(allocate(500 * MIB)[0])
    wait()


def dies():
    need(allocate(100 * MIB)[0])
    allocate(2000 * MIB)
    os.kill(os.getpid(), 9)


def processes():
    """More processes than there are reports."""
    for _ in range(22):
        subprocess.run([sys.executable, "-S", "-E", __file__, "dies"], check=False)


def many():
    for _ in range(1000):
        assert allocate(2000 * MIB)[0] == 2
    wait()


def hold():
    need(allocate(int(sys.argv[2]) * MIB)[0])
    wait()


def beside():
    """The call fails by CUDA_SIM_FAIL: the simulation does not share memory among processes."""
    need(allocate(100 * MIB)[0])
    assert allocate(300 * MIB)[0] == 2
    wait()


def limit():
    """A framework's own limit: its allocator fails, and no call of CUDA does."""
    need(allocate(100 * MIB)[0])
    c10 = Library(f"{SIM}/libc10.so")
    c10._ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE(
        400 * MIB, 60 * MIB, 100 * MIB, 1)
    wait()


def pytorch(limit=None):
    """PyTorch's allocator: a function that returns whether there was so much memory."""
    c10 = Library(f"{SIM}/libc10_cuda.so")
    if limit:
        c10.c10_set_limit(limit * MIB)

    live = []

    def tensor(size):
        made = c10.c10_allocate(size * MIB, 0, 0)
        if made:
            live.append(made)
        return bool(made)
    tensor.free = lambda: c10.c10_free(live.pop())
    c10._library.c10_allocate.restype = ctypes.c_void_p
    return tensor


def tensor_large():
    tensor = pytorch()
    assert tensor(60) and not tensor(2000)
    wait()


def tensor_leak():
    tensor = pytorch()
    while tensor(10):
        pass
    wait()


def tensor_own():
    tensor = pytorch()
    assert tensor(900) and not tensor(200)
    wait()


def tensor_caught():
    """It catches the exception, whose frames held the tensors."""
    tensor = pytorch()
    assert all(tensor(100) for _ in range(9)) and not tensor(200)
    for _ in range(9):
        tensor.free()
    assert tensor(20)
    wait()


def tensor_limit():
    """Three times: none of them was CUDA's failure."""
    tensor = pytorch(limit=100)
    assert tensor(60)
    for _ in range(3):
        assert not tensor(400)
    wait()


def tensor_retry():
    """The cache is too large for the second one."""
    tensor = pytorch()
    assert tensor(700)
    tensor.free()
    assert tensor(750)
    wait()


def tensor_smaller():
    """It catches the exception, and goes on with less."""
    tensor = pytorch()
    assert tensor(60) and not tensor(2000) and tensor(60)
    wait()


def not_by_tensor():
    """A failure of another library in a process that has PyTorch: no verdict comes."""
    assert pytorch()(60)
    large()


need(driver.cuInit(0))
globals()[sys.argv[1]]()
