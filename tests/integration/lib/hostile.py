# SPDX-License-Identifier: BSD-2-Clause
"""
Programs of hostile users that use up shared resources (programs/made_up.c, map_libraries.c), and
their files.
"""
import os
import shutil
import struct
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from lib.script import PROGRAMS

HOSTILE, HONEST = 2001, 2002


def as_user(uid):
    """Words put before a command to run it as an unprivileged user."""
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "--"]


def compile_c(output, source, *words):
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-o", output, PROGRAMS / source, *words],
                   check=True)


@contextmanager
def shared_directory():
    """A directory that all users may enter."""
    directory = Path(tempfile.mkdtemp(prefix="gpuprobe-test-"))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def give(directory, uid):
    for path in (directory, *directory.rglob("*")):
        os.chown(path, uid, uid)


def build_made_up(directory, uid):
    """programs/made_up.c with a libcuda of its own, both the user's. Returns the program."""
    directory.mkdir()
    compile_c(directory / "libcuda.so.1", "made_up_driver.c", "-shared", "-fPIC",
              "-Wl,-soname,libcuda.so.1")
    compile_c(directory / "made_up", "made_up.c", f"-L{directory}", "-l:libcuda.so.1",
              "-Wl,-rpath,$ORIGIN")
    # Identical files are still distinct files.
    with open(directory / "libcuda.so.1", "ab") as library:
        library.write(directory.name.encode())
    give(directory, uid)
    return directory / "made_up"


def copy_library(library, directory, count, uid):
    """Copies the library `count` times, in the form that map_libraries.c needs."""
    for number in range(count):
        (directory / str(number)).mkdir(parents=True)
        shutil.copy(library, directory / str(number) / "libcuda.so.1")
    give(directory, uid)


SECTIONS = b"\0.text\0.dynsym\0.dynstr\0.shstrtab\0"
NAMES = b"\0cuInit\0cuMemAlloc_v2\0cuLaunchKernel\0"
CODE = (b"\x55\x31\xc0\x5d\xc3" + b"\x90" * 11) * 4  # functions that return 0


def write_large_library(path, symbols, name_bytes):
    """
    A sparse library with three CUDA functions, and `symbols` symbols and `name_bytes` bytes of
    names that are all 0.
    """
    code, table = 0x1000, 0x2000
    strings = table + 24 * symbols
    sections = (strings + name_bytes + 15) & ~15

    def section(name, kind, flags, offset, size, link, info, entry):
        return struct.pack("<IIQQQQIIQQ", name, kind, flags, offset, offset, size, link, info,
                           8 if entry else 1, entry)

    with open(path, "wb") as file:
        file.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1" + b"\0" * 9, 3, 62, 1, 0, 64,
                               sections, 0, 64, 56, 1, 64, 4, 3))
        file.write(struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 0x1000))
        file.seek(code)
        file.write(CODE)
        file.seek(table + 24)
        for number, name in enumerate((1, 8, 22)):
            file.write(struct.pack("<IBBHQQ", name, 0x12, 0, 1, code + 16 * number, 16))
        file.seek(strings)
        file.write(NAMES)
        file.seek(sections)
        file.write(b"\0" * 64)
        file.write(section(7, 11, 2, table, 24 * symbols, 2, 1, 24))
        file.write(section(15, 3, 2, strings, name_bytes, 0, 0, 0))
        file.write(section(23, 3, 0, sections + 256, len(SECTIONS), 0, 0, 0))
        file.write(SECTIONS)


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024
