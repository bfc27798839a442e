# SPDX-License-Identifier: BSD-2-Clause
"""Where the table says that arguments are, for functions that the simulated CUDA does not have."""
import re
import subprocess

import pytest

from lib import api as table
from lib import exact, paths
from lib.paths import LIBCUDA, LIBCUDART
from lib.script import PROGRAMS, script

# Copies by shape: which argument is the size. The others get numbers that would be noticed.
SIZE_AT = {"HtoD": 2, "DtoH": 2, "DtoD": 2, "AtoA": 4, "AtoD": 3, "DtoA": 3, "AtoH": 3, "HtoA": 3}
KIND = {"HtoD": "H2D", "HtoA": "H2D", "DtoH": "D2H", "AtoH": "D2H", "DtoD": "D2D", "AtoA": "D2D",
        "AtoD": "D2D", "DtoA": "D2D"}


@pytest.fixture(scope="module")
def old_driver(tmp_path_factory):
    library = tmp_path_factory.mktemp("old") / "libcuda.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-fno-omit-frame-pointer",
                    "-fcf-protection=none", "-mno-omit-leaf-frame-pointer", "-fno-ipa-icf",
                    "-Wl,-soname,libcuda.so.1", "-o", library, PROGRAMS / "old_driver.c"],
                   check=True)
    return library


def defined(library):
    lines = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    return {line.split()[-1].partition("@")[0] for line in lines}


def test_every_watched_function_is_tried(old_driver):
    """By the simulated CUDA or by the old driver; a row that neither has would be untried."""
    # What only asks is probed by `gpuprobe diagnose` alone, which reads no argument of it.
    # Those of libraries above CUDA: stacks/test_handles.py.
    rows = {symbol for symbol, f in table.functions().items()
            if f.operation not in ("-", "ask") and f.layer != "library"}
    libraries = (LIBCUDA, LIBCUDART, paths.SIM / "libcudart.so.12", old_driver)
    untried = rows.difference(*map(defined, libraries))
    # A context function like its sisters.
    assert untried <= {"cuCtxCreate_v3"}


def test_no_exported_function_is_left_out():
    """The simulated runtimes export the functions of the real ones,
    including the forms for the thread's own stream."""
    for library in (LIBCUDART, paths.SIM / "libcudart.so.12"):
        exported = {symbol for symbol in defined(library) if re.match("(__)?cuda", symbol)}
        assert len(exported) > 400
        assert exported - table.functions().keys() == set()


def old_copies():
    return sorted(name for name in defined_copies() if re.match(r"cuMemcpy[HDA]to[HDA]", name))


def defined_copies():
    text = (PROGRAMS / "old_driver.c").read_text(encoding="utf-8")
    return re.findall(r"^NOTHING\((\w+)\)", text, re.M)


def test_copies(gpuprobe_by, old_driver):
    calls, expected = [], {}
    for number, name in enumerate(old_copies()):
        shape = re.match(r"cuMemcpy(\wto\w)", name).group(1)
        size = 1000 + number
        narrow = "_v2" not in name
        arguments = [0x7777777] * 6
        # The upper half of a 32-bit argument is whatever the register had.
        arguments[SIZE_AT[shape]] = size | (0xdead << 32 if narrow else 0)
        calls.append((name, arguments))
        key = KIND[shape], "async" if "Async" in name else "sync"
        count, total = expected.get(key, (0, 0))
        expected[key] = count + 1, total + size
    result = gpuprobe_by.run(*script(f"""
        library = Library({str(old_driver)!r})
        for name, arguments in {calls!r}:
            need(getattr(library, name)(*arguments))
    """), args=["--bandwidth-util"])
    assert exact.copies(result.process) == expected
    assert exact.lost(result.final) == {}


def test_a_wide_size(gpuprobe, old_driver):
    """Sizes above 4 GiB, where the function takes them."""
    result = gpuprobe.run(*script(f"""
        library = Library({str(old_driver)!r})
        need(library.cuMemcpyAtoA_v2(1, 2, 3, 4, 5 << 32))
    """), args=["--bandwidth-util"])
    assert exact.copies(result.process) == {("D2D", "sync"): (1, 5 << 32)}


def test_sets(gpuprobe, old_driver):
    result = gpuprobe.run(*script(f"""
        library = Library({str(old_driver)!r})
        junk = 0xbeef << 32
        for bits, count in ((8, 100), (16, 200), (32, 300)):
            need(getattr(library, f"cuMemsetD{{bits}}")(junk | 64, junk | 1, junk | count))
            need(getattr(library, f"cuMemsetD2D{{bits}}")(
                junk | 64, junk | 4096, junk | 1, junk | count, junk | 3))
    """), args=["--bandwidth-util"])
    assert exact.copies(result.process) == {("set", "sync"): (6, 4 * (100 + 2 * 200 + 4 * 300))}


def test_memory(gpuprobe_by, old_driver):
    """Results of 32 bits with other data right behind them."""
    result = gpuprobe_by.run(*script(f"""
        library = Library({str(old_driver)!r})
        junk = 0xbeef << 32
        words = (ctypes.c_uint32 * 4)(*[0xffffffff] * 4)
        addresses = []
        for _ in range(5):
            need(library.cuMemAlloc(ctypes.byref(words, 4), junk | 1000))
            addresses.append(words[1])
        need(library.cuMemFree(junk | addresses[0]))
        need(library.cuMemAllocPitch(ctypes.byref(words, 4), ctypes.byref(words, 0),
                                     junk | 300, junk | 2, 4))
        host = out()
        need(library.cuMemAllocHost(ref(host), junk | 77))
        need(library.cuMemAllocHost(ref(host), junk | 78))
        need(library.cuMemFreeHost(host.value))
    """), args=["--memleak", "--top", "0"])
    assert exact.memory(result.process) == {
        "device": {"allocations": 6, "frees": 1,
                   "live_bytes": 4 * 1000 + 1024, "live_allocations": 5},
        "host": {"allocations": 2, "frees": 1, "live_bytes": 77, "live_allocations": 1}}
    assert sorted(exact.live(result.process).items()) == [
        (0x10000 + 1000 * n, (1000, "device"))
        for n in range(1, 5)] + [(0x10000 + 5000, (1024, "device"))]
    assert exact.lost(result.final) == {}


def test_launches(gpuprobe_by, old_driver):
    result = gpuprobe_by.run(*script(f"""
        library = Library({str(old_driver)!r})
        name = ctypes.create_string_buffer(b"of_old")
        handle = (ctypes.c_uint64 * 2)(0, ctypes.addressof(name))
        for _ in range(3):
            need(library.cuLaunch(ctypes.addressof(handle)))
            need(library.cuLaunchGrid(ctypes.addressof(handle), 1, 1))
            need(library.cuLaunchGridAsync(ctypes.addressof(handle), 1, 1, 0))
    """), args=["--cudatrace"])
    assert exact.launches(result.process) == {"of_old": 9}
    assert paths.GPUPROBE.exists()
