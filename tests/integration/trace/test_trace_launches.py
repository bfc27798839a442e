# SPDX-License-Identifier: BSD-2-Clause
"""Launches: their arguments, the kernel's name and place, who started the process, stacks."""
import re
import subprocess

import pytest

from lib import paths
from lib.script import script

# sixteen arguments, each a word of its own; params[i] points to words[i].
ARGUMENTS = """
    words = (ctypes.c_uint64 * 20)(*[0x1111000000000000 + i for i in range(20)])
    params = (ctypes.c_void_p * 20)(*[ctypes.addressof(words) + 8 * i for i in range(20)])
"""
DRIVER = script("""
    start()
    loaded, (kernel,) = module("with_arguments")
""" + ARGUMENTS + """
    need(driver.cuLaunchKernel(kernel, 7, 6, 5, 4, 3, 2, 64, 0, params, None))
    config = (ctypes.c_uint32 * 16)(7, 6, 5, 4, 3, 2, 64)
    need(driver.cuLaunchKernelEx(ref(config), kernel, params, None))
    need(driver.cuLaunchCooperativeKernel(kernel, 7, 6, 5, 4, 3, 2, 64, 0, params))
""")
RUNTIME = script("""
    library = out()
    need(runtime.cudaLibraryLoadData(ref(library), ptx("with_arguments"), None, None, 0,
                                     None, None, 0))
    kernel = out()
    need(runtime.cudaLibraryGetKernel(ref(kernel), library, b"with_arguments"))
    class dim3(ctypes.Structure):
        _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]
""" + ARGUMENTS + """
    need(runtime.cudaLaunchKernel(kernel, dim3(7, 6, 5), dim3(4, 3, 2), params, 64, None))
    config = (ctypes.c_uint32 * 32)(7, 6, 5, 4, 3, 2, 64)
    need(runtime.cudaLaunchKernelExC(ref(config), kernel, params))
    need(runtime.cudaLaunchCooperativeKernel(kernel, dim3(7, 6, 5), dim3(4, 3, 2), params,
                                             64, None))
""")
COLUMNS = "time,event,details,kernel,grid,block,shmem,stream,args,result"


def numbers(words):
    return [int(word, 16) if isinstance(word, str) else word for word in words]


@pytest.mark.parametrize("count", [1, 4, 16])
@pytest.mark.parametrize("command", [DRIVER, RUNTIME], ids=["driver", "runtime"])
def test_arguments(tracer_by, command, count):
    """The first so many words, by each function that takes them."""
    result = tracer_by.run(*command, args=["-e", "launch", "--args", count], columns=COLUMNS)
    assert len(result.lines) == 3
    for line in result.lines:
        assert numbers(line["args"]) == [0x1111000000000000 + i for i in range(count)]
        assert (line["kernel"], line["grid"], line["block"], line["shmem"]) == \
            ("with_arguments", [7, 6, 5], [4, 3, 2], 64)


def test_without_arguments(tracer):
    """They are not read unless asked for."""
    result = tracer.run(*DRIVER, args=["-e", "launch"], columns=COLUMNS)
    assert all(line.get("args") is None for line in result.lines)


def test_arguments_that_cannot_be_read(tracer_by):
    """A kernel with fewer arguments than were asked for, at the end of what is mapped; and NULL."""
    result = tracer_by.run(*script("""
        import mmap
        start()
        loaded, (kernel,) = module("few")
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        pages = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_size_t(0))
        libc.munmap(ctypes.c_void_p(pages + 4096), ctypes.c_size_t(4096))
        word = ctypes.c_uint64(0x55aa)
        last = ctypes.cast(pages + 4096 - 16, ctypes.POINTER(ctypes.c_uint64))
        last[0] = last[1] = ctypes.addressof(word)
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, pages + 4096 - 16, None))
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, 0xdead000, None))
    """), args=["-e", "launch", "--args", 8], columns=COLUMNS)
    assert len(result.lines) == 3
    assert [line["kernel"] for line in result.lines] == ["few"] * 3
    assert numbers(result.lines[0]["args"] or [0x55aa, 0x55aa])[:2] == [0x55aa, 0x55aa]


def test_arguments_by_extra(tracer_by):
    """CU_LAUNCH_PARAM_BUFFER_POINTER: the buffer's words."""
    result = tracer_by.run(*script("""
        start()
        loaded, (kernel,) = module("by_extra")
        buffer = (ctypes.c_uint64 * 4)(0xa1, 0xb2, 0xc3, 0xd4)
        size = ctypes.c_size_t(32)
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 0)
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, extra))
    """), args=["-e", "launch", "--args", 4], columns=COLUMNS)
    line, = result.lines
    assert numbers(line["args"]) == [0xa1, 0xb2, 0xc3, 0xd4]


def test_place_of_the_host_function(tracer_by):
    """The runtime launches a kernel by the address of a host function:
    the line has its object and offset."""
    result = tracer_by.run(*script("""
        library = ctypes.CDLL(SIM + "/libcudart.so.13")
        library.__cudaRegisterFatBinary.restype = ctypes.c_void_p
        image = ptx("by_host_function")
        handle = ctypes.c_void_p(library.__cudaRegisterFatBinary(image))
        puts = ctypes.c_void_p.from_address(ctypes.addressof(ctypes.CDLL(None).puts)).value
        register = library.__cudaRegisterFunction
        register(handle, ctypes.c_void_p(puts), None, b"by_host_function", -1,
                 None, None, None, None, None)
        class dim3(ctypes.Structure):
            _fields_ = [("x", ctypes.c_uint32), ("y", ctypes.c_uint32), ("z", ctypes.c_uint32)]
        need(library.cudaLaunchKernel(ctypes.c_void_p(puts), dim3(1, 1, 1), dim3(1, 1, 1),
                                      None, None, None))
        maps = [line.split() for line in open("/proc/self/maps") if "libc.so.6" in line]
        print(hex(puts - int(maps[0][0].split("-")[0], 16)))
    """), args=["-e", "launch"], columns=COLUMNS)
    line, = result.lines
    assert line["kernel"] == "by_host_function"
    assert line["details"]["at"] == f"libc.so.6+{result.stdout.strip()}"


def test_parent(tracer_by):
    """ppid is that of who started it."""
    result = tracer_by.run("sh", "-c", f"{paths.workload('traced')} --rounds 2; echo $$",
                           args=["-e", "launch"], columns="time,pid,ppid,event")
    shell = int(result.stdout.split()[-1])
    assert {line["ppid"] for line in result.lines} == {shell}


def test_stacks(tracer_by):
    """The caller's frames, innermost first (test_trace_stacks.py has more)."""
    result = tracer_by.run(paths.workload("traced"), "--rounds", 3, args=["-e", "cudaLaunchKernel"],
                           columns="time,event,stack")
    assert len(result.lines) == 3
    for line in result.lines:
        assert re.fullmatch(r"runtime_round\+0x[0-9a-f]+ \[traced\] traced\.c:[0-9]+",
                            line["stack"][0])
    assert len({str(line["stack"]) for line in result.lines}) == 1


def test_devices(tracer_by):
    """The device that is current to the thread."""
    result = tracer_by.run(*script("""
        for device in (0, 1, 0):
            need(runtime.cudaSetDevice(device))
            memory = made(runtime.cudaMalloc, 4096)
            need(runtime.cudaFree(memory))
    """), args=["-e", "cudaMalloc,cudaSetDevice"], columns="time,event,device,details",
        env={"CUDA_SIM_DEVICES": 2})
    shown = [line.get("device") for line in result.lines if line["event"] == "cudaMalloc"]
    # What is not known is left open, never wrong.
    assert all(device in (None, true) for device, true in zip(shown, (0, 1, 0), strict=True))


def test_no_context_is_the_one_below(tracer_by):
    """To make none current takes the top of the thread's stack off."""
    result = tracer_by.run(*script("""
        need(driver.cuInit(0))
        contexts = [made(driver.cuCtxCreate_v2, 0, device) for device in (0, 1, 0)]
        need(driver.cuCtxSetCurrent(None))
        made(driver.cuMemAlloc_v2, 4096)
        need(driver.cuCtxPopCurrent_v2(ref(out())))
        made(driver.cuMemAlloc_v2, 4096)
        need(driver.cuCtxSetCurrent(None))
        need(driver.cuCtxSetCurrent(contexts[1]))
        made(driver.cuMemAlloc_v2, 4096)
    """), args=["-e", "cuMemAlloc_v2,cuCtx*"], columns="time,event,device",
        env={"CUDA_SIM_DEVICES": 2})
    assert [line.get("device") for line in result.lines
            if line["event"] == "cuMemAlloc_v2"] == [1, 0, 1]


PROGRAM = """
#include <unistd.h>
struct dim3 { unsigned x, y, z; };
int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **args,
                     unsigned long shmem, void *stream);
__attribute__((noinline)) void kernel(int *p) __asm__(NAME);
void kernel(int *p) { *p = 1; }
int main(int argc, char **argv)
{
    void *args[1] = {0};

    if (argc < 2)
        return sleep(1);
    cudaLaunchKernel((const void *)kernel, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, args,
                     0, 0);
    execv(argv[1], (char *[]){argv[1], 0});
    return 1;
}
"""


def test_program_that_becomes_another(tracer, tmp_path):
    """A kernel's name and place are not read from another program that the process has become."""
    (tmp_path / "program.c").write_text(PROGRAM, encoding="utf-8")
    for name in ("first", "other"):
        subprocess.run(["gcc", "-no-pie", "-fno-pie", f'-DNAME="_Z5{name}Pi"',
                        tmp_path / "program.c", "-o", tmp_path / name,
                        f"-L{paths.SIM}", "-lcudart", f"-Wl,-rpath,{paths.SIM}"], check=True)
    result = tracer.run(tmp_path / "first", tmp_path / "other", args=["-e", "cudaLaunchKernel"])
    (line,) = result.lines
    assert line["details"]["kernel"] in ("first", None)
    assert line["details"].get("at", "first+").startswith("first+")
