# SPDX-License-Identifier: BSD-2-Clause
"""Calls the functions that the bpftrace script shows by default,
and writes what the script must show of each."""
from cuda import *

RUNTIME_CODES = {0: "cudaSuccess", 1: "cudaErrorInvalidValue", 2: "cudaErrorMemoryAllocation",
                 101: "cudaErrorInvalidDevice", 400: "cudaErrorInvalidResourceHandle"}
DRIVER_CODES = {0: "CUDA_SUCCESS", 1: "CUDA_ERROR_INVALID_VALUE", 2: "CUDA_ERROR_OUT_OF_MEMORY",
                400: "CUDA_ERROR_INVALID_HANDLE"}
HUGE = 1 << 50

seen = []


class Dim3(ctypes.Structure):
    _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]


def saw(event, code, details):
    codes = RUNTIME_CODES if event.startswith("cuda") else DRIVER_CODES
    seen.append((event, code, codes[code], details))


def create(library, name, word, *arguments, details="", before=False):
    """A call that writes a handle or an address; the result."""
    made_by = out()
    code = getattr(library, name)(ref(made_by), *arguments)
    saw(name, code,
        (details + " " if details else "") + f"{word}=0x{made_by.value if code == 0 else 0:x}")
    return made_by.value


def call(library, name, details, *arguments):
    saw(name, getattr(library, name)(*arguments), details)


def runtime_calls():
    device = ctypes.c_int(-1)
    call(runtime, "cudaSetDevice", "device=0", 0)
    call(runtime, "cudaSetDevice", "device=7", 7)
    saw("cudaGetDevice", runtime.cudaGetDevice(ref(device)), "device=0")
    memory = create(runtime, "cudaMalloc", "ptr", 123456, details="size=123456")
    other = create(runtime, "cudaMalloc", "ptr", 4096, details="size=4096")
    create(runtime, "cudaMalloc", "ptr", HUGE, details=f"size={HUGE}")
    host = ctypes.create_string_buffer(4096)
    at = ctypes.addressof(host)
    for dst, src, size, number, kind in ((memory, at, 4001, 1, "H2D"), (at, memory, 4002, 2, "D2H"),
                                         (other, memory, 4003, 3, "D2D"),
                                         (memory, at, 77, 4, "default"),
                                         (at, at + 2048, 5, 0, "H2H")):
        call(runtime, "cudaMemcpy", f"dst=0x{dst:x} src=0x{src:x} size={size} kind={kind}", dst,
             src, size, number)
    stream = create(runtime, "cudaStreamCreate", "stream")
    event = create(runtime, "cudaEventCreate", "event")
    library, kernel = out(), out()
    need(runtime.cudaLibraryLoadData(ref(library), ptx("vadd"), None, None, 0, None, None, 0))
    need(runtime.cudaLibraryGetKernel(ref(kernel), library, b"vadd"))
    for form in ("", "_ptsz"):
        saw("cudaLaunchKernel" + form,
            getattr(runtime, "cudaLaunchKernel" + form)(kernel, Dim3(11, 12, 13),
                                                        Dim3(4, 5, 6), 0, 333, stream),
            f"vadd grid=(11,12,13) block=(4,5,6) shmem=333 stream=0x{stream:x} "
            f"func=0x{kernel.value:x}")
    call(runtime, "cudaEventRecord", f"event=0x{event:x} stream=0x{stream:x}", event, stream)
    call(runtime, "cudaEventRecord_ptsz", f"event=0x{event:x} stream=0x0", event, 0)
    call(runtime, "cudaEventSynchronize", f"event=0x{event:x}", event)
    call(runtime, "cudaStreamSynchronize", f"stream=0x{stream:x}", stream)
    call(runtime, "cudaFree", f"ptr=0x{memory:x}", memory)
    call(runtime, "cudaFree", f"ptr=0x{memory + 8:x}", memory + 8)


def driver_calls():
    context = start()
    seen.append(("cuCtxSetCurrent", 0, "CUDA_SUCCESS", f"ctx=0x{context:x}"))
    call(driver, "cuCtxSetCurrent", f"ctx=0x{context:x}", context)
    device = ctypes.c_int(-1)
    saw("cuCtxGetDevice", driver.cuCtxGetDevice(ref(device)), "device=0")
    memory = create(driver, "cuMemAlloc_v2", "ptr", 65536, details="size=65536")
    other = create(driver, "cuMemAlloc_v2", "ptr", 256, details="size=256")
    create(driver, "cuMemAlloc_v2", "ptr", HUGE, details=f"size={HUGE}")
    host = ctypes.create_string_buffer(4096)
    at = ctypes.addressof(host)
    for name, dst, src, size, kind in (("cuMemcpyHtoD_v2", memory, at, 101, "H2D"),
                                       ("cuMemcpyDtoH_v2", at, memory, 102, "D2H"),
                                       ("cuMemcpyDtoD_v2", other, memory, 103, "D2D"),
                                       ("cuMemcpyHtoD_v2_ptds", memory, at, 104, "H2D")):
        call(driver, name, f"dst=0x{dst:x} src=0x{src:x} size={size} kind={kind}", dst, src, size)
    stream = create(driver, "cuStreamCreate", "stream", 1, details="flags=0x1")
    event = create(driver, "cuEventCreate", "event", 2, details="flags=0x2")
    _, (short, long) = module("short", "k" * 100)
    for form in ("", "_ptsz"):
        call(driver, "cuLaunchKernel" + form,
             f"short grid=(7,8,9) block=(1,2,3) shmem=48 stream=0x{stream:x} func=0x{short:x}",
             short, 7, 8, 9, 1, 2, 3, 48, stream, None, None)
    config = (ctypes.c_uint32 * 16)(21, 22, 23, 4, 3, 2, 1024)
    ctypes.c_uint64.from_buffer(config, 32).value = stream
    call(driver, "cuLaunchKernelEx",
         f"{'k' * 63} grid=(21,22,23) block=(4,3,2) shmem=1024 stream=0x{stream:x} func=0x{long:x}",
         ref(config), long, None, None)
    call(driver, "cuEventRecord", f"event=0x{event:x} stream=0x{stream:x}", event, stream)
    call(driver, "cuEventSynchronize", f"event=0x{event:x}", event)
    call(driver, "cuStreamSynchronize", f"stream=0x{stream:x}", stream)
    call(driver, "cuMemFree_v2", f"ptr=0x{memory:x}", memory)
    call(driver, "cuMemFree_v2", f"ptr=0x{memory + 8:x}", memory + 8)


def main():
    (driver_calls if sys.argv[1] == "driver" else runtime_calls)()
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        print(seen, file=file)


main()
