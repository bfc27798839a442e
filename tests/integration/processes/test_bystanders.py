# SPDX-License-Identifier: BSD-2-Clause
"""Programs that do not use CUDA: whoever else is watched,
their code and their results do not change."""
import contextlib
import shutil
import subprocess

import pytest

from lib import paths, text
from lib.certain import Harm
from lib.probe import Background, environment
from lib.script import script

pytestmark = pytest.mark.usefixtures("nothing_left")

BYSTANDERS = 50
# Each waits for the end of its input: dynamic and static, of several languages,
# a shell with children, one that forks.
KINDS = (
    ["cat"],
    ["sed", "-u", "p"],
    ["busybox", "cat"],
    ["sh", "-c", "cat; :"],
    ["bash", "-c", "read line < <(cat); :"],
    ["perl", "-ne", "print"],
    [paths.PYTHON, "-c", "import socket, ssl, sqlite3, ctypes, sys; sys.stdin.read()"],
    [paths.PYTHON, "-c", "import os, sys; pid = os.fork(); sys.stdin.read(); pid and os.wait()"],
    ["openssl", "dgst", "-sha256"],
    ["sort"],
)
MODES = ("machine", "process", "command")


@pytest.fixture(params=MODES)
def watching(request, gpuprobe_by, tmp_path):
    """A context with gpuprobe at work in one of its modes, until it ends.
    Its target makes calls meanwhile."""
    program = script(f"""
        context = start()
        _, (kernel,) = module("kernel")
        print("ready", file=sys.stderr, flush=True)
        while not os.path.exists({str(tmp_path / "end")!r}):
            need(launch(kernel))
            time.sleep(0.001)
        """)

    @contextlib.contextmanager
    def at_work():
        if request.param == "command":
            with gpuprobe_by.start(*program) as running:
                yield running
                (tmp_path / "end").touch()
                running.finish()
            return
        with Background(*program) as watched:
            args = ["-p", watched.pid] if request.param == "process" else []
            with gpuprobe_by.start(args=args) as running:
                yield running
                running.stop()
            (tmp_path / "end").touch()
            watched.wait(60)
    return at_work


def with_launches(report):
    """Whether the program that is watched has been seen at work."""
    return any(process["launches"] for process in report["processes"])


def begin(stack, number):
    kind = KINDS[number % len(KINDS)]
    return stack.enter_context(subprocess.Popen(kind, stdin=subprocess.PIPE,
                                                stdout=subprocess.DEVNULL,
                                                env=environment(), text=True))


def need_own_code(processes):
    changed = {process.args[0]: found for process in processes
               if (found := text.differences(process.pid))}
    if changed:
        raise Harm(f"code of bystanders was changed: {changed}")


def test_code_stays_its_own(watching):
    """Every byte of the code of 50 programs, half of which already run and half of which start
    beside gpuprobe."""
    with contextlib.ExitStack() as stack:
        processes = [begin(stack, i) for i in range(BYSTANDERS // 2)]
        with watching() as running:
            running.wait_for(with_launches)
            processes += [begin(stack, i) for i in range(BYSTANDERS // 2)]
            need_own_code(processes)
        need_own_code(processes)
        for process in processes:
            process.stdin.close()
            if process.wait(60):
                raise Harm(f"{process.args}: {process.returncode}")


def test_a_difference_would_be_seen(gpuprobe_by):
    """A program that is watched has breakpoints in its CUDA libraries, and nowhere else."""
    with gpuprobe_by.start(libraries=[paths.LIBCUDA]) as running:
        running.report()
        with Background(*script("context = start()\nprint('ready', flush=True)\n"
                                "sys.stdin.read()")) as program:
            assert program.stdout.readline() == "ready\n"
            found = text.differences(program.pid)
            assert {path for path, *_ in found} == {str(paths.LIBCUDA.resolve())}
            assert {byte for _, _, byte, _ in found} == {0xcc}
            program.stdin.close()
        running.stop()


@pytest.mark.skipif(not shutil.which("valgrind"), reason="no valgrind")
def test_under_valgrind(watching):
    """Valgrind executes what it finds in memory, which must not be a breakpoint."""
    with watching() as running:
        running.wait_for(with_launches)
        done = subprocess.run(["valgrind", "--error-exitcode=9", "/bin/true"], capture_output=True,
                              text=True, timeout=120, env=environment(), check=False)
        if done.returncode:
            raise Harm(f"{done.returncode}: {done.stderr[-1000:]}")


def test_what_starts_at_once(watching, tmp_path):
    """Programs that start and end while gpuprobe looks at others end as they do alone."""
    with watching() as running:
        running.wait_for(with_launches)
        for i in range(20):
            kind = KINDS[i % len(KINDS)]
            done = subprocess.run(kind, input="a\n", capture_output=True, text=True, timeout=120,
                                  cwd=tmp_path, env=environment(), check=False)
            if done.returncode:
                raise Harm(f"{kind}: {done.returncode}: {done.stderr[-500:]}")
