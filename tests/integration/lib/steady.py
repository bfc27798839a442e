# SPDX-License-Identifier: BSD-2-Clause
"""A program under load whose result can be checked, and a check that its code matches its files."""
import re
import shutil
import subprocess
import time
from pathlib import Path

from lib import paths
from lib.certain import Harm
from lib.probe import Background
from lib.script import PROGRAMS


def build(directory, name="steady"):
    """Builds programs/NAME.c, a program of the driver API, with its own libcuda beside it."""
    program = directory / name
    shutil.copy(paths.LIBCUDA, directory)
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-pthread", f"-I{paths.ROOT}/sim/include",
                    "-o", program, PROGRAMS / f"{name}.c", f"-L{paths.SIM}", "-l:libcuda.so.1",
                    "-Wl,-rpath,$ORIGIN"], check=True)
    return program


NAME = "libsteady.so"


def build_apart(directory, name="steady"):
    """
    Builds programs/NAME.c with a libcuda of another name, which gpuprobe only probes if the command
    line names it. A gpuprobe that watches the whole machine meanwhile leaves the program's code
    alone.
    """
    content = paths.LIBCUDA.read_bytes()
    (directory / NAME).write_bytes(content.replace(b"libcuda.so.1\0", NAME.encode() + b"\0"))
    program = directory / name
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-pthread", f"-I{paths.ROOT}/sim/include",
                    "-o", program, PROGRAMS / f"{name}.c", f"-L{directory}", f"-l:{NAME}",
                    "-Wl,-rpath,$ORIGIN"], check=True)
    return program


def set_apart(program, directory):
    """
    A workload of the simulator with a libcuda of another name, as build_apart does for test
    programs. Both are copied.
    """
    copies = directory / Path(program).name, directory / NAME
    for copy, source in zip(copies, (Path(program), paths.LIBCUDA)):
        copy.write_bytes(source.read_bytes().replace(b"libcuda.so.1\0", NAME.encode() + b"\0"))
        copy.chmod(0o755)
    shutil.copy(paths.SIM / "libcudart.so.13", directory)
    return copies


class Steady(Background):
    """programs/steady.c, from its start to finish()."""

    def __init__(self, program, threads=4, pause_us=200, env=None):
        super().__init__(program, threads, pause_us, env=env, cwd=program.parent)
        self.check_alive()

    def check_alive(self):
        if self.tell("?") != "alive":
            raise Harm(f"the program is gone: {self.poll()}")

    def finish(self):
        """Lets it end. Returns its number of launches. Its result must be right."""
        self.stdin.close()
        told = self.stdout.read()
        if self.wait(60) != 0 or not re.fullmatch(r"right \d+\n", told):
            raise Harm(f"the program ended with {self.returncode} and said {told!r}")
        return int(told.split()[1])

    def changed_code(self):
        """The number of bytes of its library's code that differ from the file: probes."""
        changed = 0
        with open(f"/proc/{self.pid}/maps", encoding="utf-8") as maps, \
                open(f"/proc/{self.pid}/mem", "rb") as memory:
            for line in maps:
                words = line.split(maxsplit=5)
                if "x" not in words[1] or not line.endswith(f"/{NAME}\n"):
                    continue
                begin, end = (int(text, 16) for text in words[0].split("-"))
                memory.seek(begin)
                seen = memory.read(end - begin)
                with open(words[5].rstrip("\n"), "rb") as file:
                    file.seek(int(words[2], 16))
                    true = file.read(end - begin)
                # The last page is padded with bytes that are not in the file.
                changed += (sum(a != b for a, b in zip(seen, true))
                            if seen[:len(true)] != true else 0)
        return changed

    def check_clean(self, timeout=60):
        """Asserts that no probe is left in it."""
        end = time.monotonic() + timeout
        while changed := self.changed_code():
            if time.monotonic() > end:
                raise Harm(f"{changed} bytes of probes are left")
            time.sleep(0.05)
