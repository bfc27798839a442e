# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe check: its verdicts on CUDA libraries and on processes that use them, sound,
odd and damaged."""
import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from lib import paths
from lib.check import FIVE, Check, holder, in_mounts
from lib.cli import NOBODY, with_capabilities
from lib.fuse import Served
from lib.probe import Background, environment


# --- libraries ---

def hide_libraries(tmp_path):
    """The loader finds nothing, and no CUDA toolkit is there."""
    empty = tmp_path / "empty"
    empty.write_text("")
    return in_mounts(f"mount --bind {empty} /etc/ld.so.cache\n"
                     "for d in /usr/local/cuda* /usr/local/nvidia; "
                     "do [ ! -d $d ] || mount -t tmpfs none $d; done")


def test_no_library(sleeper, tmp_path):
    check = Check("-p", sleeper, before=hide_libraries(tmp_path))
    assert check.done.returncode == 1
    assert "--libcuda-path" in check.one("library")["advice"]
    assert not check.all("slow-probes")


def test_no_library_among_these_processes(sleeper, tmp_path):
    """Another process, that was not asked for, has one."""
    with holder():
        check = Check("-p", sleeper, before=hide_libraries(tmp_path))
    assert (check.one("library")["text"]
            == "no libcuda: neither the loader nor any of these processes has one")


# Some kernels let read with CAP_PERFMON what a process maps, but not the files.
@pytest.mark.parametrize("capabilities,texts", [
    (FIVE[:2], ("1 process cannot be read", "1 process could not be looked into")),
    ((), ("1 process could not be looked into",))], ids=["perfmon", "none"])
def test_a_library_that_cannot_be_read_is_one(open_dir, tmp_path, capabilities, texts):
    user = with_capabilities(capabilities) if capabilities else [*NOBODY, "--"]
    with holder() as holding:
        check = Check("-p", holding.pid, before=[*hide_libraries(tmp_path), *user],
                      program=open_dir / "gpuprobe")
    assert check.state("process", f"process {holding.pid} (idle-holder): ") == "missing"
    told = check.one("library", "no libcuda")["text"]
    assert any(text in told for text in texts), told


def test_runtime_alone(sleeper, tmp_path):
    check = Check("-p", sleeper, "--libcudart-path", paths.LIBCUDART,
                  before=hide_libraries(tmp_path))
    assert check.state("library", "no libcuda") == "missing"
    assert check.state("library", "libcudart.so.13") == "ok"


def build_library(directory, flags, functions):
    source = directory / "cuda.c"
    source.write_text("".join(f"int {name}(void) {{ return 1; }}\n" for name in functions))
    library = directory / "libcuda.so.999.12"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", *flags, "-Wl,-soname,libcuda.so.1", "-o",
                    library, source], check=True)
    return library


def test_slow_probes_are_named(sleeper, tmp_path):
    library = build_library(tmp_path, ["-fcf-protection=full"],
                            ["cuInit", "cuMemAlloc_v2", "cuLaunchKernel"])
    check = Check("--libcuda-path", library, "-p", sleeper)
    slow = [line for line in check.all("slow-probes") if line["facts"]["path"] == str(library)]
    assert [line["state"] for line in slow] == ["degraded"]
    assert slow[0]["facts"]["slow_functions"] == ["cuMemAlloc_v2", "cuLaunchKernel"]
    assert "cuMemAlloc_v2, cuLaunchKernel" in slow[0]["text"]
    assert check.done.returncode == 0


def test_functions_that_nobody_knows(sleeper, tmp_path):
    library = build_library(tmp_path, [], ["cuInit", "cuMemAlloc_v2", "cuMemAllocFromTomorrow"])
    check = Check("--libcuda-path", library, "-p", sleeper)
    facts = check.one("library", str(library))["facts"]
    assert facts["version"] == "999.12"
    assert facts["functions_not_in_table"] == ["cuMemAllocFromTomorrow"]
    assert facts["functions_found"] == 2
    assert "cuLaunchKernel" in facts["probed_functions_missing"]
    assert check.state("library", str(library)) == "degraded"


# --- processes ---

def test_running_process():
    with holder() as holding:
        check = Check()
        mine = check.process(holding.pid)
        assert mine["state"] == "ok"
        assert "(idle-holder) can be watched: " in mine["text"]
        assert str(paths.LIBCUDA) in mine["facts"]["libraries"]
        # It brings the library's lines with it.
        assert [line for line in check.all("library")
                if line["facts"].get("path") == str(paths.LIBCUDA)]
        # It was not stopped, and goes on.
        assert Path(f"/proc/{holding.pid}/stat").read_text().rpartition(")")[2].split()[0] in "SR"
        assert holding.tell("go") == "DONE"


def test_kernel_thread():
    if Path("/proc/2/comm").read_text() != "kthreadd\n":
        pytest.skip("process 2 is none of the kernel's here")
    check = Check("-p", 2)
    assert check.process(2)["state"] == "missing"
    assert (check.process(2)["text"]
            == "process 2 (kthreadd): a thread of the kernel, which never calls CUDA")


def test_children_are_looked_at():
    with Background("sh", "-c", f"{paths.workload('idle-holder')} --seconds 3600 & wait") as shell:
        assert shell.stdout.readline() == "READY\n"
        check = Check("-p", shell.pid)
        assert check.process(shell.pid)["state"] == "ok"
        assert len(check.all("process", "(idle-holder) can be watched")) == 1


def test_deleted_library(open_dir):
    with holder(open_dir) as holding:
        for name in ("libcuda.so.1", "libcudart.so.13"):
            (open_dir / name).unlink()
        check = Check("-p", holding.pid)
        assert "libcuda.so.1 (deleted)" in check.process(holding.pid)["text"]
        assert check.process(holding.pid)["state"] == "ok"
        assert check.done.returncode == 0
        # Without the capability it is out of reach.
        check = Check("-p", holding.pid, before=with_capabilities(FIVE[:-1]),
                      program=open_dir / "gpuprobe")
        assert check.process(holding.pid)["state"] == "missing"
        assert "was deleted or replaced while in use" in check.process(holding.pid)["text"]
        assert "CAP_CHECKPOINT_RESTORE" in check.process(holding.pid)["advice"]
        assert check.done.returncode == 1


def test_library_of_another_mount_namespace(tmp_path):
    script = (f"mount -t tmpfs none {tmp_path}\n"
              f"cp {paths.SIM}/libcuda*.so.1* {paths.SIM}/idle-holder {tmp_path}\n"
              f"exec {tmp_path}/idle-holder --seconds 3600")
    with Background("unshare", "-m", "sh", "-ec", script) as holding:
        assert holding.stdout.readline() == "READY\n"
        assert not (tmp_path / "libcuda.so.1").exists()
        check = Check("-p", holding.pid)
        assert check.process(holding.pid)["state"] == "ok"
        library = [line for line in check.all("library") if line["facts"].get("pid") == holding.pid]
        assert str(tmp_path / "libcuda.so.1") in {line["facts"]["path"] for line in library}


MAPS = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    mapping = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
print("READY", flush=True)
sys.stdin.readline()
"""


def test_damaged_library(tmp_path):
    """A file that is named like the driver and is none: its process is told of."""
    (tmp_path / "libcuda.so.1").write_bytes(b"\x7fELF" + b"\x01" * 5000)
    with Background(paths.PYTHON, "-c", MAPS, tmp_path / "libcuda.so.1") as process:
        assert process.stdout.readline() == "READY\n"
        check = Check("-p", process.pid)
        assert check.process(process.pid)["state"] == "missing"
        assert "is no ELF file for x86-64" in check.process(process.pid)["text"]


@pytest.mark.skipif(not os.path.exists("/dev/fuse"), reason="there is no /dev/fuse")
def test_library_that_is_served(tmp_path):
    """By a program that has stopped answering: nothing of it is asked for."""
    # The process ends last: its end closes the file, and would wait as well.
    with contextlib.ExitStack() as ends:
        served = Served(tmp_path, "libcuda.so.1", bytes(8192))
        process = ends.enter_context(Background(paths.PYTHON, "-c", MAPS, served.path))
        with served:
            assert process.stdout.readline() == "READY\n"
            served.fall_silent()
            check = Check("-p", process.pid)
            assert served.asked == 0
    assert check.process(process.pid)["state"] == "missing"
    assert "(FUSE)" in check.process(process.pid)["text"]
    assert "--libcuda-path" in check.process(process.pid)["advice"]


def test_static_runtime(tmp_path):
    """A program with the runtime inside, held before its end."""
    program = tmp_path / "static"
    source = tmp_path / "static.c"
    source.write_text(
        "#include <stdio.h>\n#include <cuda_api.h>\nint main(void) { void *p; cudaMalloc(&p, 16); "
        'puts("READY"); fflush(stdout); getchar(); '
        "return cudaLaunchKernel(0, (dim3){1,1,1}, (dim3){1,1,1}, 0, 0, 0) != 0; }\n")
    subprocess.run(["gcc", "-w", f"-I{paths.ROOT}/sim/include", "-o", program, source,
                    paths.SIM / "libcudart_static.a", "-ldl", "-lpthread", f"-L{paths.SIM}",
                    "-l:libcuda.so.1"], check=True)
    with Background(program, env={"LD_LIBRARY_PATH": paths.SIM}) as process:
        assert process.stdout.readline() == "READY\n"
        check = Check("-p", process.pid)
        assert "the runtime inside the program" in check.process(process.pid)["text"]
        assert check.process(process.pid)["state"] == "ok"
        assert check.one("library",
                         "a program with the runtime inside")["facts"]["layers"] == ["runtime"]


def test_python_process():
    script = (f"import ctypes, sys; ctypes.CDLL('{paths.LIBCUDA}'); print('READY', flush=True); "
              "sys.stdin.readline()")
    with Background(paths.PYTHON, "-c", script) as process:
        assert process.stdout.readline() == "READY\n"
        mine = Check("-p", process.pid).process(process.pid)
    version = subprocess.run([paths.PYTHON, "-c",
                              "import sys; print('%d.%d' % sys.version_info[:2])"],
                             text=True, capture_output=True, check=True).stdout.strip()
    assert mine["state"] == "ok"
    assert mine["facts"]["python"] == version
    assert mine["text"].endswith(f", CPython {version}")


def test_program_of_32_bits(tmp_path):
    """A header, a segment and mov $29, %eax; int $0x80, which is pause."""
    program = tmp_path / "small"
    code = bytes([0xb8, 29, 0, 0, 0, 0xcd, 0x80])
    words = (2 | 3 << 16, 1, 0x8048054, 52, 0, 0, 52 | 32 << 16, 1, 0)
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + b"".join(word.to_bytes(4, "little")
                                                          for word in words)
    segment = (1, 0, 0x8048000, 0x8048000, 0x54 + len(code), 0x54 + len(code), 5, 4096)
    program.write_bytes(header + b"".join(word.to_bytes(4, "little") for word in segment) + code)
    program.chmod(0o755)
    try:
        process = subprocess.Popen([program])
    except OSError:
        pytest.skip("this kernel runs no 32-bit programs")
    try:
        check = Check("-p", process.pid)
    finally:
        process.kill()
        process.wait()
    assert check.process(process.pid)["state"] == "missing"
    assert "a 32-bit program" in check.process(process.pid)["text"]


def test_process_of_another_user_namespace():
    """Out of reach from inside a namespace, and no matter to root outside of one."""
    with holder() as holding:
        mine = Check("-p", holding.pid,
                     before=["unshare", "--user", "--map-root-user", "--"]).process(holding.pid)
        assert mine["state"] == "missing"
        assert "another user namespace" in mine["advice"]
    with Background("unshare", "--user", "--map-root-user", "--", paths.workload("idle-holder"),
                    "--seconds", "3600") as holding:
        assert holding.stdout.readline() == "READY\n"
        assert Check("-p", holding.pid).process(holding.pid)["state"] == "ok"


FILTER = """
import ctypes, sys
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
allow = Program(1, (6).to_bytes(2, "little") + bytes(2) + (0x7fff0000).to_bytes(4, "little"))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(allow)) == 0
print("READY", flush=True)
sys.stdin.readline()
"""


def test_process_with_a_seccomp_filter():
    with Background(paths.PYTHON, "-c", FILTER) as filtered, holder() as holding:
        assert filtered.stdout.readline() == "READY\n"
        check = Check("-p", filtered.pid, "-p", holding.pid)
    # Whether it can be watched is the kernel's matter.
    kills = check.state("seccomp") == "missing"
    mine = check.process(filtered.pid)
    assert (mine["state"], mine["facts"]["seccomp"]) == ("missing" if kills else "ok", "filter")
    assert "seccomp" not in check.process(holding.pid)["facts"]


def test_library_of_another_name():
    """Named by the user: who maps that file uses CUDA, whatever it is called."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
        library = Path(directory) / "driver.so"
        shutil.copy(paths.LIBCUDA, library)
        script = (f"import ctypes, sys; ctypes.CDLL('{library}'); print('READY', flush=True); "
                  "sys.stdin.readline()")
        with Background(paths.PYTHON, "-c", script) as process:
            assert process.stdout.readline() == "READY\n"
            assert ("can be watched: driver.so"
                    in Check("--libcuda-path", library).process(process.pid)["text"])


MANY = """
import mmap, sys
for number in range(200):
    with open(f"{sys.argv[1]}/libcuda{number}.so", "w+b") as file:
        file.write(bytes(8192))
        file.flush()
        globals()[f"m{number}"] = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE,
                                            mmap.PROT_READ | mmap.PROT_EXEC)
print("READY", flush=True)
sys.stdin.readline()
"""


def test_many_libraries(tmp_path):
    """Those of one process that are looked into have a bound."""
    with Background(paths.PYTHON, "-c", MANY, tmp_path) as process:
        assert process.stdout.readline() == "READY\n"
        mine = Check("-p", process.pid).process(process.pid)
    assert len(mine["facts"]["libraries"]) == 64
    assert mine["state"] == "degraded"


def test_hostile_name():
    """What a process calls itself does not reach the terminal."""
    script = ("import sys; open('/proc/self/comm', 'w').write('a\\x1b[31m\\nb'); "
              "print('READY', flush=True); "
              "sys.stdin.readline()")
    with Background(paths.PYTHON, "-c", script) as process:
        assert process.stdout.readline() == "READY\n"
        done = subprocess.run([paths.GPUPROBE, "check", "-p", str(process.pid)], env=environment(),
                              text=True, capture_output=True, timeout=120, check=False)
        assert Check("-p", process.pid).process(process.pid)["facts"]["comm"] == "a\x1b[31m\nb"
    assert "\x1b" not in done.stdout
    assert f"process {process.pid} (a\\x1b[31m\\nb) can be watched" in done.stdout
