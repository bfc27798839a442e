# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe ps`: the processes that use the simulated GPUs, and what it says of them to whom."""
import contextlib
import fcntl
import json
import os
import struct
import subprocess
import termios

import pytest

from lib import folders, paths
from lib.cli import fails, run
from lib.dump import NCCL, WAITS, Stuck
from lib.paths import workload
from lib.probe import Background, descendants, environment, wait_until

pytestmark = pytest.mark.usefixtures("nothing_left")
NVML = {"LD_LIBRARY_PATH": paths.SIM, "CUDA_SIM_DEVICES": 2, "CUDA_SIM_MEMORY": "1G"}
PROGRAM = {"CUDA_SIM_TRUTH": None, "CUDA_SIM_DEVICES": 2}
SLEEPS = next(way for way in WAITS if way.id == "event-block")
USER = 1000


def listed(*args, nvml=True):
    done = run("ps", "--json", *args, **(NVML if nvml else {"LD_LIBRARY_PATH": None}))
    assert (done.returncode, done.stderr) == (0, ""), done
    return json.loads(done.stdout)


def row_of(answer, pid):
    row, = [process for process in answer["processes"] if process["pid"] == pid]
    return row


def maps_driver(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return "libcuda.so" in maps.read()
    return False


@contextlib.contextmanager
def holder(*args, before=(), program=workload("idle-holder")):
    with Background(*before, program, *args, env=PROGRAM) as process:
        assert process.stdout.readline() == "READY\n"
        yield process


def test_memory():
    """Whose memory it is, on which GPU, the most first; and the GPUs themselves."""
    with holder("--bytes", 3 << 20) as small, holder("--bytes", 9 << 20) as large:
        answer = listed()
    row = row_of(answer, large.pid)
    assert (row["used_bytes"], row["contexts"], row["user"], row["ppid"]) == \
        (9 << 20, ["0"], "root", os.getpid())
    assert row["command"].split() == large.args and row["comm"] == "idle-holder"
    assert {library["name"]: (library["version"], library["static"])
            for library in row["libraries"]} == {"libcuda": ("1", False), "cudart": ("13", False)}
    assert (row["threads"], row["in_cuda"], row["call"], row["state"]) == (1, 0, None, "idle")
    order = [process["pid"] for process in answer["processes"]]
    assert order.index(large.pid) < order.index(small.pid)
    assert row_of(answer, small.pid)["used_bytes"] == 3 << 20
    gpus = [(gpu["gpu"], gpu["total_bytes"], gpu["used_bytes"]) for gpu in answer["gpus"]]
    assert gpus == [("0", 1 << 30, 12 << 20), ("1", 1 << 30, 0)]
    assert answer["driver"] == "580.00-simulated"


def test_idle_since():
    """A process is idle since its last thread ran, not since its main thread did."""
    def look():
        rows = [row_of(listed("-p", process.pid), process.pid) for process in (busy, still)]
        return rows if all((row["main_thread_idle_ns"] or 0) > 5e8 for row in rows) else None

    with Background(workload("launch"), "--rate", 500, "--seconds", 60, env=PROGRAM) as busy, \
            holder() as still:
        works, holds = wait_until(look, "a main thread went on running")
    assert works["idle_ns"] < works["main_thread_idle_ns"], works
    assert holds["idle_ns"] == holds["main_thread_idle_ns"], holds


@pytest.mark.parametrize("way, nvml, state", [(SLEEPS, True, "stuck"), (NCCL, False, "waiting")])
def test_stuck(way, nvml, state, stuck, tmp_path):
    """It waits, and its GPU does nothing. Without NVML nobody knows the latter."""
    with Stuck(way, stuck.get(), log=tmp_path / "log") as program:
        answer = listed("-p", program.pid, nvml=nvml)
        row = row_of(answer, program.pid)
        assert (row["state"], row["call"], row["by"], row["call_tid"], row["in_cuda"]) == \
            (state, way.call, way.by, program.only.tid, 1)
        assert row["contexts"] == (["0"] if nvml else None)
        assert bool(answer["gpus"]) == nvml
        assert any("libnvidia-ml.so.1" in note for note in answer["notes"]) != nvml
        program.release()


def test_static_runtime_and_no_context():
    """A program with the runtime inside; one that has loaded CUDA and uses no GPU."""
    loads = f"import ctypes, time; ctypes.CDLL('{paths.LIBCUDA}'); print('READY', flush=True); " \
            "time.sleep(600)"
    with Background(workload("static_runtime"), "--hold", 600, env=PROGRAM) as static, \
            Background(paths.PYTHON, "-c", loads, env=PROGRAM) as worker:
        assert worker.stdout.readline() == "READY\n"
        wait_until(lambda: maps_driver(static.pid), "it does not use CUDA")
        answer = listed("-p", static.pid, "-p", worker.pid)
        text = run("ps", "-p", worker.pid, **NVML).stdout
    runtime, = [library for library in row_of(answer, static.pid)["libraries"]
                if library["name"] == "cudart"]
    assert runtime["static"] is True
    row = row_of(answer, worker.pid)
    assert (row["contexts"], row["used_bytes"]) == ([], 0)
    assert "  no context  " in text


def users_of_cuda(pid):
    """Those of its descendants that map the driver."""
    return [child for child in descendants(pid) if maps_driver(child)]


def test_filters():
    """And a line says that all were left out."""
    with holder("--bytes", 1 << 20) as one, holder("--bytes", 1 << 20) as other:
        both = ("-p", one.pid, "-p", other.pid)
        assert {row["pid"] for row in listed("--comm", "idle-holder")["processes"]} >= \
            {one.pid, other.pid}
        assert len(listed(*both, "--uid", "root")["processes"]) == 2
        done = run("ps", *both, "--comm", "another", **NVML)
    assert done.returncode == 0 and "no process" not in done.stdout and "PID" not in done.stdout
    assert done.stderr == ("gpuprobe: warning: no process that uses CUDA matches --comm another; "
                           "2 others were left out\n")


def test_tree():
    """Children follow their parent."""
    with Background("sh", "-c", f"{workload('forker')} --processes 2 --hold 600; true",
                    env=PROGRAM) as shell:
        wait_until(lambda: len(users_of_cuda(shell.pid)) == 3, "the children do not use CUDA")
        parent, = [pid for pid in users_of_cuda(shell.pid) if descendants(pid)]
        answer = listed("--tree", "-p", shell.pid)
        text = run("ps", "--tree", "-p", shell.pid, **NVML).stdout
    order = [(process["pid"], process["ancestor"]) for process in answer["processes"]]
    assert order[:2] == [(shell.pid, None), (parent, shell.pid)]
    assert [ancestor for _, ancestor in order[2:]] == [parent, parent]
    depths = [line.index("\\_") for line in text.splitlines() if "\\_" in line]
    assert [depth - depths[0] for depth in depths] == [0, 3, 3]


def on_terminal(columns, *args):
    """What it prints on a terminal of this width."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen([paths.GPUPROBE, *map(str, args)], env=environment(**NVML), stdout=slave,
                          stderr=subprocess.PIPE, text=True) as probe:
        os.close(slave)
        said = b""
        with contextlib.suppress(OSError):  # its end
            while chunk := os.read(master, 4096):
                said += chunk
        assert (probe.wait(60), probe.stderr.read()) == (0, "")
    os.close(master)
    return said.decode().splitlines()


def test_terminal():
    """Cut to fit, in the middle, and only there. No process writes to the terminal."""
    name = "\033[2J" + 60 * "name "  # and a blank between the words
    with holder("--bytes", 1 << 20, before=("bash", "-c", 'exec -a "$0" "$@"', name)) as process:
        whole = run("ps", "-p", process.pid, **NVML).stdout
        lines = on_terminal(80, "ps", "-p", process.pid)
    assert "\\x1b[2J" + 60 * "name " + " --bytes 1048576\n" in whole
    assert max(map(len, lines)) <= 80
    row, = [line for line in lines if line.startswith(f"{process.pid} ")]
    assert "\\x1b[2J" in row and "…" in row and row.endswith("1048576")
    assert not any("\033" in line for line in [*lines, whole])


@pytest.mark.plain("its libraries are not for another user's program")
def test_without_privileges():
    """What may be seen is shown. The rest is unknown, for a reason that it gives."""
    with folders.private("idle-holder", gpuprobe=True) as directory:
        user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups",
                "--inh-caps=-all", "--"]
        with holder(before=user, program=f"{directory}/idle-holder") as own, holder() as other:
            done = subprocess.run([*user, f"{directory}/gpuprobe", "ps", "--json"], text=True,
                                  env=environment(LD_LIBRARY_PATH=None), capture_output=True,
                                  timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    row = row_of(answer, own.pid)
    assert (row["state"], row["threads"], row["in_cuda"]) == (None, None, None)
    assert row["command"].split()[0].endswith("idle-holder") and row["uid"] == USER
    assert {library["name"] for library in row["libraries"]} == {"libcuda", "cudart"}
    assert other.pid not in [process["pid"] for process in answer["processes"]]
    assert answer["unread"] > 0
    assert any("run it with sudo" in note for note in answer["notes"])


def test_wrong_pids():
    fails(run("ps", "-p", 2), 1, "-p 2: a kernel thread")
    fails(run("ps", "-p", 4194304), 1, "no process has pid 4194304")
