# SPDX-License-Identifier: BSD-2-Clause
"""
A libcuda of five empty functions that needs no loader; their first instructions can be chosen. They
lie apart, so that another program's breakpoint in one is not mistaken for a hook of the one before.
"""
import subprocess

PUSH = "push %rbp\\n pop %rbp"
NOP5 = ".byte 0x0f, 0x1f, 0x44, 0, 0"  # a nop of five bytes, as compilers leave it for tracers
FUNCTION = ('__asm__(".balign 16\\n.globl {name}\\n.type {name}, @function\\n{name}: '
            '{begin}\\n xor %eax, %eax\\n ret\\n"\n'
            '        ".size {name}, .-{name}\\n");\n')
NAMES = ("cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuLaunchKernel", "cuCtxSynchronize")


def compile(path, **begins):  # pylint: disable=redefined-builtin
    """
    Makes the library; `begins` has the first instructions of functions that should not begin with a
    push.
    """
    source = path.parent / f"{path.name}.c"
    source.write_text("".join(FUNCTION.format(name=name, begin=begins.get(name, PUSH))
                              for name in NAMES), encoding="utf-8")
    subprocess.run(["cc", "-shared", "-nostdlib", "-o", path, source, "-Wl,-soname,libcuda.so.1"],
                   check=True)
    return path


def offset(path, name):
    """The function's offset in the file."""
    lines = subprocess.run(["readelf", "-lsW", path], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    address = next(int(line.split()[1], 16) for line in lines if line.split()[-1:] == [name])
    for line in lines:
        words = line.split()
        if (words[:1] == ["LOAD"]
                and int(words[2], 16) <= address < int(words[2], 16) + int(words[4], 16)):
            return address - int(words[2], 16) + int(words[1], 16)
    raise LookupError(name)


def calls(report):
    """Calls of each function, over all processes of a report."""
    counts = {}
    for process in report["processes"]:
        for function in process["functions"]:
            counts[function["function"]] = counts.get(function["function"], 0) + function["calls"]
    return counts
