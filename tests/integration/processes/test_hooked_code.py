# SPDX-License-Identifier: BSD-2-Clause
"""Functions that a program has hooked: gpuprobe puts no probe over the hook,
and names its owner."""
import re
import shutil
import subprocess

import pytest

from lib import paths, steady
from lib.certain import Harm
from lib.cli import NOBODY
from lib.probe import Background
from lib.script import PROGRAMS

pytestmark = pytest.mark.usefixtures("nothing_left")


def whole_instructions(library, function, least):
    """How many bytes the function's first instructions have that take up at least so many."""
    text = subprocess.run(["objdump", "-d", f"--disassemble={function}", library],
                          capture_output=True, text=True, check=True).stdout
    places = [int(match[1], 16) for match in re.finditer(r"^ *([0-9a-f]+):\t", text, re.MULTILINE)]
    return next(place - places[0] for place in places if place - places[0] >= least)


@pytest.fixture(scope="module", name="folder")
def built(tmp_path_factory):
    """programs/hooked.c and its library, hidden from any gpuprobe that watches the whole machine
    and looks for no hooks."""
    folder = tmp_path_factory.mktemp("hooked")
    steady.build_apart(folder, "hooked")
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC",
                    "-DHOOKER", f"-I{paths.ROOT}/sim/include", "-o",
                    folder / "libhooker.so", PROGRAMS / "hooked.c"], check=True)
    return folder


class Hooked(Background):
    """The program, whose function is hooked by now."""

    def __init__(self, folder, library, form, before=()):
        size = whole_instructions(folder / library, "cuMemAlloc_v2", 14)
        super().__init__(*before, folder / "hooked", folder / "libhooker.so", form, size,
                         cwd=folder)
        assert self.stdout.readline() == "hooked\n"

    def finish(self):
        """Lets it end, which it does well."""
        self.stdin.write("go on\n")
        self.stdin.flush()
        said = self.stdout.read()
        if self.wait(60) or said != "right\n":
            raise Harm(f"the program ended with {self.returncode} and said {said!r}")


def calls(process, function):
    return sum(entry["calls"] for entry in process["functions"] if entry["function"] == function)


@pytest.mark.parametrize("form", ["far", "indirect", "near"])
def test_hooked_before(gpuprobe_by, folder, form):
    """Only the hooked function is left out; its library is named if the jump leads into one."""
    with Hooked(folder, steady.NAME, form) as hooked:
        with gpuprobe_by.start(args=("-p", hooked.pid),
                               libraries=[folder / steady.NAME]) as running:
            running.report()
            hooked.finish()
            result = running.finish()
    process = result.last_seen(hooked.pid)
    assert (f"process {hooked.pid} has hooked 1 " in result.stderr
            and "cuMemAlloc_v2" in result.stderr)
    assert (str(folder / "libhooker.so") if form != "near" else "anonymous memory") in result.stderr
    assert calls(process, "cuMemAlloc_v2") == 0
    assert calls(process, "cuMemFree_v2") == 9


@pytest.mark.parametrize("user", ["root", "nobody"])
def test_whose_hooks_keep_probes_out_for_all(gpuprobe, open_dir, folder, user):
    """
    Watching the machine, gpuprobe heeds root's hooks but not another user's, who could otherwise
    blind the monitor. The program does not go on, since others that came before the
    hook may watch it.
    """
    shutil.copy(paths.LIBCUDA, open_dir)
    shutil.copy(folder / "libhooker.so", open_dir)
    steady.build(open_dir, "hooked")
    with Hooked(open_dir, "libcuda.so.1", "far",
                before=NOBODY if user == "nobody" else ()) as hooked:
        with gpuprobe.start() as running:
            running.report()
            result = running.stop()
    told = next(line for line in result.stderr.splitlines()
                if f"process {hooked.pid} has hooked 1 " in line)
    assert ("they get no probes" if user == "root" else "may end it") in told
