# SPDX-License-Identifier: BSD-2-Clause
"""
Runs `gpuprobe dump` and finds threads in its output; only this file knows the names in its JSON. It
also has the programs to dump, which are stuck (programs/stuck.c, stuck.py).
"""
import contextlib
import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib import paths
from lib.certain import Harm
from lib.probe import Background, descendants, environment, wait_until
from lib.script import PROGRAMS

RIGHT = f"right {sum(7 * i for i in range(4096))}"
# x86-64
READ, POLL, IOCTL, WAIT4, FUTEX = 0, 7, 16, 61, 202
NAMES = {READ: "read", POLL: "poll", IOCTL: "ioctl", WAIT4: "wait4", FUTEX: "futex"}


# --- the command ---

# Words of its JSON.
ON_CPU, SLEEPS, STOPPED, TRACED, FROZEN = (("running", "ready"), "sleeping", "stopped", "traced",
                                           "frozen")

class Thread:
    """A thread of a dump."""

    def __init__(self, data):
        self.data = data

    def __repr__(self):
        return json.dumps(self.data)

    @property
    def tid(self):
        return self.data["tid"]

    @property
    def state(self):
        return self.data["state"]

    @property
    def call(self):
        """The CUDA function that it is in, or None."""
        return self.data["call"]

    @property
    def by(self):
        """The function of a library above CUDA that it is in, or None."""
        return self.data["by"]

    def _waiting(self, key):
        waits = self.data.get("waits")
        return waits.get(key) if waits else None

    @property
    def waits_for(self):
        """A word for the cause of its sleep, or None."""
        return self._waiting("for")

    @property
    def sleeps_in(self):
        """The name of the system call that it sleeps in, or None."""
        return self._waiting("system_call")

    @property
    def holder(self):
        """The thread that holds the Python lock it waits for, or None."""
        holder = self._waiting("holder")
        return holder and holder["tid"]

    @property
    def child(self):
        """The process that it waits for, or None."""
        child = self._waiting("child")
        return child and child["pid"]

    @property
    def object(self):
        """The file behind its descriptor, or None."""
        return self._waiting("object")

    @property
    def moved(self):
        """With --again: whether it has moved since the first dump."""
        return self.data["moved"]

    @property
    def frames(self):
        """Innermost first."""
        return self.data["stack"]["frames"] if self.data["stack"] else []

    @property
    def functions(self):
        return [frame.get("function") for frame in self.frames]

    def own(self, file):
        """(function, line) of the innermost frame whose source is `file`, or None."""
        for frame in self.frames:
            if Path(frame.get("file") or "").name == file:
                return frame["function"], frame.get("line")
        return None


class Process:
    """A process of a dump."""

    def __init__(self, data):
        self.data = data
        self.threads = {thread["tid"]: Thread(thread) for thread in data["threads"]}

    @property
    def pid(self):
        return self.data["pid"]

    @property
    def uses_cuda(self):
        return self.data["cuda"]

    @property
    def in_cuda(self):
        """How many of its threads are in a call."""
        return self.data["in_cuda"]


class Dump:
    """The JSON of a dump."""

    def __init__(self, text):
        self.data = json.loads(text)
        assert self.data["schema"] == 1
        self.processes = {process["pid"]: Process(process) for process in self.data["processes"]}


def command(*pids, args=("--json",), gpuprobe=None):
    """The words of the command line."""
    return [str(word) for word in (gpuprobe or paths.GPUPROBE, "dump",
                                   *(f"--pid={pid}" for pid in pids), *args)]


def run(*pids, args=("--json",), status=0, before=(), gpuprobe=None, **options):
    """Runs it to its end. Returns the result of subprocess.run."""
    done = subprocess.run([*map(str, before), *command(*pids, args=args, gpuprobe=gpuprobe)],
                          env=environment(), text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False, **options)
    assert status is None or done.returncode == status, (
        f"gpuprobe dump ended with {done.returncode}: {done.stderr}")
    return done


def take(*pids, args=(), **options):
    """The Dump of these processes, or of all."""
    return Dump(run(*pids, args=["--json", *args], **options).stdout)


def take_asleep(pid, *tids):
    """
    The first Dump of a process in which all of these threads sleep: for threads that wake now and
    then.
    """
    return wait_until(
        lambda: next((process for process in take(pid).processes.values() if process.pid == pid
                      and all(process.threads[tid].state == SLEEPS for tid in tids)), None),
        "they were never asleep")


# --- programs that are stuck ---

@dataclass(frozen=True)
class Way:
    """
    How a program is stuck: `hang` is the value of CUDA_SIM_HANG; without it a line on stdin
    releases the program.
    """
    name: str
    hang: str = None
    call: str = None  # the CUDA function that the dump must report
    by: str = None
    flags: int = 0  # for cudaSetDeviceFlags
    system_call: int = None  # the system call it is in; None: it runs, or calls sched_yield
    threads: int = 1
    waits_for: str = None
    spins: bool = False  # in user code, until SIGUSR1
    env: tuple = ()

    @property
    def by_signal(self):
        """Whether SIGUSR1 releases it; such a program also writes to a log that it hangs."""
        return bool(self.hang or self.spins)

    @property
    def id(self):
        return f"{self.name}-{FLAGS[self.flags]}" if self.flags else self.name


SPIN, YIELD, BLOCK = 1, 2, 4
FLAGS = {SPIN: "spin", YIELD: "yield", BLOCK: "block"}

SCHEDULES = {SPIN: None, YIELD: None, BLOCK: POLL}
WAITS = [Way(name, f"{driver}=flags", call, flags=flags, system_call=system_call)
         for name, driver, call in (("stream", "cuStreamSynchronize", "cudaStreamSynchronize"),
                                    ("event", "cuEventSynchronize", "cudaEventSynchronize"),
                                    ("device", "cuCtxSynchronize", "cudaDeviceSynchronize"))
         for flags, system_call in SCHEDULES.items()]
COPY = Way("copy", "cuMemcpyDtoH_v2=spin", "cudaMemcpy")
ALLOCATE = Way("allocate", "cuMemAlloc_v2=futex:2", "cudaMalloc", system_call=FUTEX,
               waits_for="lock")
IN_DRIVER = Way("allocate", "cuMemAlloc_v2=ioctl:2", "cudaMalloc", system_call=IOCTL,
                waits_for="driver")
DEADLOCK = Way("deadlock", threads=2, system_call=FUTEX, waits_for="lock")
CHILD = Way("child", system_call=WAIT4, waits_for="child")
PIPE = Way("pipe", system_call=READ, waits_for="pipe")
NCCL = Way("nccl", "cuStreamSynchronize=poll", "cudaStreamSynchronize", by="ncclAllReduce",
           system_call=POLL)
NCCL_SPINS = Way("nccl", by="ncclAllReduce", spins=True, env=(("NCCL_SPIN", "1"),))
C = [*WAITS, COPY, ALLOCATE, Way("launch", "cuLaunchKernel=spin:200", "cudaLaunchKernel"),
     Way("load", "cuLibraryLoadData=futex:2", "cudaLibraryLoadData",
         system_call=FUTEX, waits_for="lock"),
     CHILD, PIPE, NCCL, NCCL_SPINS]
PYTHON = [*WAITS, COPY, ALLOCATE, Way("launch", "cuLaunchKernel=spin:200", "cuLaunchKernel"),
          Way("driver", "cuStreamSynchronize=yield", "cuStreamSynchronize"),
          Way("load", "cuModuleLoadData=futex:2", "cuModuleLoadData",
              system_call=FUTEX, waits_for="lock"),
          CHILD, PIPE, NCCL, NCCL_SPINS]
GIL = Way("gil", threads=3, system_call=READ)
GIL_IN_CUDA = Way("gil_cuda", "cuStreamSynchronize=poll", "cudaStreamSynchronize", threads=3,
                  system_call=POLL)
MANY = Way("many", "cuStreamSynchronize=futex,cuEventSynchronize=poll", threads=40)


@dataclass(frozen=True)
class Ready:
    """A thread that has reported where it hangs."""
    tid: int
    function: str
    line: int


def system_call_of(pid, tid):
    """The number of the system call that a thread sleeps in, or None."""
    word = Path(f"/proc/{pid}/task/{tid}/syscall").read_text(encoding="ascii").split()[0]
    return int(word) if word.isdigit() else None


def outer_tids(pid):
    """The threads of a process by the tids in its own namespace."""
    found = {}
    for tid in os.listdir(f"/proc/{pid}/task"):
        status = Path(f"/proc/{pid}/task/{tid}/status").read_text(encoding="utf-8")
        inner, = [line.split()[-1] for line in status.splitlines() if line.startswith("NSpid:")]
        found[int(inner)] = int(tid)
    return found


class Stuck(Background):
    """
    A stuck program, as a context manager. `ready` has its stuck threads, `program` its pid.
    `before` has the words of a program that starts it or becomes it, perhaps in a namespace; pids
    and tids are still those of the test's namespace.
    """

    def __init__(self, way, *argv, log, env=None, before=(), **options):
        self.way = way
        self.log = log
        settings = {"CUDA_SIM_DIRECTORY": paths.SIM, "PYTHONDONTWRITEBYTECODE": "1",
                    "CUDA_SIM_HANG_LOG": log, **dict(way.env), **(env or {})}
        if way.hang:
            settings["CUDA_SIM_HANG"] = way.hang
        super().__init__(*before, *argv, way.name, way.flags, env=settings, **options)
        self.behind = bool(before)
        self.program = self.pid
        self.ready = []

    def __enter__(self):
        super().__enter__()
        try:
            self.wait_until_stuck()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _read_ready(self):
        words = self.stdout.readline().split()
        assert words[:1] == ["READY"], f"it said {words} and ended with {self.poll()}"
        return Ready(int(words[1]), words[2], int(words[3]))

    def _hanging(self):
        """The threads that hang in the simulator."""
        if not self.log.exists():
            return set()
        return {int(line.split()[0]) for line in self.log.read_text(encoding="ascii").splitlines()}

    def wait_until_stuck(self):
        """Waits until all of its threads hang where they should."""
        ready = [self._read_ready() for _ in range(self.way.threads)]
        if self.way.by_signal:
            mine = {thread.tid for thread in ready if thread.function != "want_gil"}
            wait_until(lambda: mine <= self._hanging(), "it does not hang")
        if self.behind:
            self.program = (descendants(self.pid) or [self.pid])[0]
        outer = outer_tids(self.program)
        self.ready = [Ready(outer[thread.tid], thread.function, thread.line) for thread in ready]
        if self.way.system_call is not None:
            wait_until(self._sleeps, "it does not sleep")

    def _sleeps(self):
        return all(system_call_of(self.program, ready.tid)
                   == (FUTEX if ready.function == "want_gil" else self.way.system_call)
                   for ready in self.ready)

    def release(self, right=RIGHT):
        """Releases it; it must end correctly."""
        if self.way.by_signal:
            os.kill(self.program, signal.SIGUSR1)
            said, _ = self.communicate(timeout=60)
        else:
            said, _ = self.communicate("go\n", timeout=60)
        if self.returncode != 0 or said.splitlines()[-1:] != [right]:
            raise Harm(f"the program ended with {self.returncode} and said {said!r}")

    @property
    def only(self):
        """Its only stuck thread."""
        ready, = self.ready
        return ready


class Builder:
    """Builds each variant of programs/stuck.c once: keep it for the session."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self.built = {}

    def get(self, runtime="shared", options=("-O2", "-g"), stripped=False):
        """The program, beside it a libnccl.so.2 with the same runtime."""
        key = runtime, options, stripped
        if key not in self.built:
            self.built[key] = self.build(*key)
        return self.built[key]

    def build(self, runtime, options, stripped):
        folder = self.directory / f"stuck{len(self.built)}"
        folder.mkdir()
        libraries = ([f"-L{paths.SIM}", "-l:libcudart.so.13"]
                     if runtime == "shared" else [paths.SIM / "libcudart_static.a"])
        # The runtime's own dlopen calls search the RUNPATH of the file that contains the runtime.
        common = ["gcc", "-std=gnu11", *options, f"-I{paths.ROOT}/sim/include"]
        end = [*libraries, f"-Wl,--enable-new-dtags,-rpath,{paths.SIM},-rpath,$ORIGIN", "-pthread",
               "-ldl"]
        subprocess.run([*common, "-o", folder / "stuck", PROGRAMS / "stuck.c", *end], check=True)
        subprocess.run([*common, "-fPIC", "-shared", "-Wl,-soname,libnccl.so.2", "-o",
                        folder / "libnccl.so.2", PROGRAMS / "nccl_stand_in.c", *end], check=True)
        if stripped:
            (folder / "stuck.full").write_bytes((folder / "stuck").read_bytes())
            for name in ("stuck", "libnccl.so.2"):
                subprocess.run(["strip", folder / name], check=True)
        return folder / "stuck"


@contextlib.contextmanager
def stopped(process):
    """Stops the process by SIGSTOP until the end of the block."""
    process.send_signal(signal.SIGSTOP)
    stat = Path(f"/proc/{process.pid}/stat")
    wait_until(lambda: stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "T",
               "it is not stopped")
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


def python(stuck, way, tmp_path, interpreter=paths.PYTHON, **options):
    """programs/stuck.py; NCCL's stand-in is beside stuck.c."""
    env = {"LD_LIBRARY_PATH": stuck.get().parent} if way.name == "nccl" else None
    return Stuck(way, interpreter, PROGRAMS / "stuck.py", log=tmp_path / "log", env=env, **options)


def assert_at(thread, ready, file):
    """Asserts that the program's innermost own frame is where the thread reported it would be."""
    found = thread.own(file)
    assert found is not None, f"nothing of {file} in {thread}"
    function, line = found
    assert (function.rpartition(".")[2], line) == (ready.function, ready.line), thread


def check(program, file, **options):
    """Dumps a program with one stuck thread, then releases it."""
    way, ready = program.way, program.only
    process = take(program.program, **options).processes[program.program]
    thread = process.threads[ready.tid]
    assert (thread.call, thread.by) == (way.call, way.by), thread
    if file:
        assert_at(thread, ready, file)
    if way.system_call is None:
        assert thread.state in ON_CPU, thread
        assert thread.waits_for is None
    else:
        assert (thread.state, thread.sleeps_in) == (SLEEPS, NAMES[way.system_call]), thread
    if way.waits_for:
        assert thread.waits_for == way.waits_for, thread
    assert thread.frames and not thread.data["stack"]["broken"], thread
    assert process.uses_cuda
    assert process.in_cuda == bool(way.call or way.by)
    return thread
