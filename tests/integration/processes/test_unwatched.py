# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe names targets that it cannot watch or that made no call;
it never just prints an empty report."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lib import exact, paths, terminal
from lib.probe import Background, Running, environment, wait_until, wait_until_watching
from lib.variants import some_of

NONE = ("--metrics-addr", "none")
MONITOR = (*NONE, "--display-interval", "0")
COMMANDS = {
    "monitor": MONITOR,
    "trace": ("trace", "-c"),
    "record": ("record", "-o", "/dev/null"),
    "stat": ("stat",),
    "diagnose": ("diagnose",),
    "nccl": ("nccl",),
    "memleak": ("memleak",),
    "account": ("account",),
    "flame": ("flame", "--by", "launches"),
}
USER = ("setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--")


@pytest.fixture
def private():
    """A directory that everybody may enter, with a workload and its libraries."""
    directory = Path(tempfile.mkdtemp(prefix="gpuprobe-test-"))
    directory.chmod(0o755)
    for name in ("libcuda.so.1", "libcudart.so.13", "idle-holder"):
        shutil.copy(paths.SIM / name, directory)
        os.chown(directory / name, 1000, 1000)
    os.chown(directory, 1000, 1000)
    yield directory
    shutil.rmtree(directory)


def without(*capabilities):
    """Words before a command that run it as root without these."""
    return ("setpriv", "--bounding-set", ",".join(f"-{name}" for name in capabilities),
            "--inh-caps=-all", "--")


def run(*argv, before=()):
    return subprocess.run([*before, str(paths.GPUPROBE), *map(str, argv)], env=environment(),
                          text=True, capture_output=True, timeout=120, stdin=subprocess.DEVNULL,
                          check=False)


# Has called CUDA. Goes down step by step, so that its file has a path of 60 KB,
# and maps it so many times: 400 are 24 MB of /proc/PID/maps.
DEEP = """
import ctypes, mmap, os, sys
folder, times, *libraries = sys.argv[1:]
if libraries:
    driver = ctypes.CDLL(libraries[0])
    context, memory = ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuInit(0)
    driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    driver.cuCtxSetCurrent(context)
    driver.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4096))
for step in range(300):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
with open("f", "w+b") as file:
    file.truncate(4096)
    maps = [mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE,
                      mmap.PROT_READ | (index % 2 and mmap.PROT_EXEC))
            for index in range(int(times))]
print("READY", flush=True)
sys.stdin.readline()
"""
REMOVE = """
os.execv("/bin/rm", ["rm", "-rf", folder])
"""
OPEN = """
for library in libraries[1:]:
    ctypes.CDLL(library).cuInit(0)
    print("DONE", flush=True)
    sys.stdin.readline()
"""


def holder(directory=paths.SIM, before=()):
    """A CUDA process that calls nothing until it is told to."""
    background = Background(*before, directory / "idle-holder", "--then-launch", "4", "--seconds",
                            "3600")
    assert background.stdout.readline() == "READY\n"
    return background


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def refused(done, *words):
    """An error of one line, besides warnings, that has all of the words."""
    assert done.returncode == 1, done
    lines = [line for line in done.stderr.splitlines()
             if not line.startswith("gpuprobe: warning: without CAP_")]
    assert len(lines) == 1 and not lines[0].startswith("gpuprobe: warning"), done.stderr
    for word in words:
        assert word in lines[0]


# --- rights that are lacking ---

@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "trace"))
def test_a_process_that_may_not_be_looked_into(command):
    with holder() as holding:
        done = run(*COMMANDS[command], "--duration", "0.5", "-p", holding.pid,
                   before=without("sys_ptrace"))
    refused(done, f"process {holding.pid} (idle-holder): ", "cannot be read", "CAP_SYS_PTRACE")


def test_a_command_that_may_not_be_looked_into():
    """gpuprobe warns of it; a named library still has probes,
    as the warning on the capability says."""
    command = ("--", "sh", "-c", '"$@" >&2', "sh", paths.workload("launch"), "--launches", "20")
    done = run(*MONITOR, *command, before=without("sys_ptrace"))
    assert done.returncode == 0 and "no CUDA process was seen" in done.stdout
    assert re.search(
        r"warning: process \d+ \(launch\): .*cannot be read: .* or with CAP_SYS_PTRACE\n",
        done.stderr)
    named = run(*MONITOR, "--json", "--libcuda-path", paths.LIBCUDA, *command,
                before=without("sys_ptrace"))
    assert [process["launches"] for process in json.loads(named.stdout)["processes"]] == [20]
    assert "without CAP_SYS_PTRACE: " in named.stderr


def test_many_processes_are_not_many_lines():
    script = 'for i in 1 2 3 4 5 6 7 8 9 10 11; do "$@" --launches 1 >&2; done'
    done = run(*MONITOR, "--", "sh", "-c", script, "sh", paths.workload("launch"),
               before=without("sys_ptrace"))
    assert done.returncode == 0
    assert len(re.findall(r"warning: process \d+ \(", done.stderr)) == 8
    assert len(
        re.findall(r"warning: \d+ more processes could not be watched: --verbose names them\n",
                   done.stderr)) == 1


def test_a_process_whose_mappings_cannot_be_read():
    """Root's rights end at some sandboxes. Its children are watched."""
    try:
        Path("/proc/1/maps").read_bytes()
        pytest.skip("root may read the mappings of process 1 here")
    except PermissionError:
        pass
    done = run(*MONITOR, "--duration", "0.1", "-p", 1)
    assert done.returncode == 0
    assert re.search(r"warning: process 1 \(.*\): cannot read its mappings: Permission denied: ",
                     done.stderr)


@pytest.mark.parametrize("capability, said", [
    ("checkpoint_restore", "CAP_CHECKPOINT_RESTORE; or restart the program"),
    ("dac_read_search", "CAP_DAC_READ_SEARCH"),
])
def test_a_deleted_library(capability, said, private):
    with holder(private, USER) as holding, holder() as other:
        for name in ("libcuda.so.1", "libcudart.so.13"):
            (private / name).unlink()
        args = (*MONITOR, "--duration", "0.3", "-p", holding.pid)
        words = (f"process {holding.pid} (idle-holder): ",
                 "libcuda.so.1 was deleted or replaced while in use", said)
        refused(run(*args, before=without(capability)), *words)
        # Where others can be watched it is a warning.
        both = run(*args, "-p", other.pid, before=without(capability))
        assert both.returncode == 0
        warned = [line for line in both.stderr.splitlines() if f"process {holding.pid} " in line]
        assert len(warned) == 1 and all(word in warned[0] for word in words)
        assert f"process {other.pid} (idle-holder): {silent_in(other.pid)}\n" in both.stdout
        assert f"process {holding.pid} " not in both.stdout
        assert (f"process {holding.pid} (idle-holder): no CUDA call seen since attach"
                in run(*args).stdout)


def test_a_library_that_only_its_owner_may_read(private):
    with holder(private, USER) as holding:
        private.chmod(0o700)
        done = run(*MONITOR, "-p", holding.pid, before=without("dac_read_search"))
    refused(done, f"process {holding.pid} (idle-holder): {private}/libcuda.so.1 cannot be read: "
            "Permission denied", "CAP_DAC_READ_SEARCH")


def test_a_library_that_is_named_is_no_hindrance(private):
    """Probes belong to files: those that the process maps have them,
    although the process itself is out of reach."""
    with holder(private, USER) as holding:
        argv = (*MONITOR, "--libcuda-path", private / "libcuda.so.1", "--libcudart-path",
                private / "libcudart.so.13")
        done = run(*argv, "--duration", "0.3", "-p", holding.pid, before=without("sys_ptrace"))
    assert done.returncode == 0
    assert "cannot be read" not in done.stderr, done.stderr


def test_of_a_process_that_is_not_watched_no_calls_are_not_told(private):
    """Others can be, so that it is no error; whether it calls anything is not known."""
    with holder(private, USER) as holding:
        done = run(*MONITOR, "--libcuda-path", paths.LIBCUDA, "--duration", "0.3", "-p",
                   holding.pid, before=without("sys_ptrace"))
    assert done.returncode == 0
    assert re.search(rf"warning: process {holding.pid} \(idle-holder\): .* cannot be read",
                     done.stderr), done.stderr
    assert "no CUDA process was seen" in done.stdout and "no CUDA call seen" not in done.stdout


@pytest.mark.parametrize("capability", ["bpf", "perfmon"])
@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "trace"))
def test_root_without_what_bpf_needs(capability, command):
    """CAP_SYS_ADMIN stands for both, until it is given up."""
    done = run(*COMMANDS[command], "--", "true", before=without(capability))
    refused(done, f"without CAP_{capability.upper()}: ")


@pytest.mark.parametrize("command", ["monitor", "trace"])
def test_too_few_descriptors(command):
    refused(run(*COMMANDS[command], "--", "true", before=("prlimit", "--nofile=24", "--")),
            "ulimit -n")


# --- pids ---

@pytest.mark.plain("LeakSanitizer does not work without /proc")
@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "trace"))
def test_proc_of_another_pid_namespace(command):
    for before in (("unshare", "-pf", "--"),
                   ("unshare", "-m", "sh", "-ec", 'mount -t tmpfs none /proc; exec "$@"', "sh")):
        for rest in (("--", "true"), ("-p", "1")):
            done = run(*COMMANDS[command], *rest, before=before)
            refused(done, "/proc belongs to another pid namespace, or is not mounted",
                    "mount -t proc proc /proc")


@pytest.mark.parametrize("command", some_of([*COMMANDS, "check"], "monitor", "check"))
def test_a_thread_is_no_process(command):
    script = ("import threading, time; t = threading.Thread(target=time.sleep, args=(60,), "
              "daemon=True); t.start(); "
              "print(t.native_id, flush=True); time.sleep(60)")
    with Background(paths.PYTHON, "-c", script) as process:
        thread = int(process.stdout.readline())
        done = run(*COMMANDS.get(command, ("check",)), "-p", thread)
        refused(done, f"-p {thread}: a thread of process {process.pid}: give its pid")


@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor"))
def test_a_thread_of_the_kernel(command):
    """Of which check says the same in its line."""
    if not os.path.exists("/proc/2/comm") or Path("/proc/2/comm").read_text() != "kthreadd\n":
        pytest.skip("the kernel's threads are not in this pid namespace")
    done = run(*COMMANDS[command], "-p", 2)
    refused(done, "-p 2: a kernel thread, which never calls CUDA: "
                  "give the pid of a program that does")


# --- no calls, and the end ---

def silent_in(pid):
    """What is said of an idle-holder, which is in no call."""
    return f"no CUDA call seen since attach: {IDLE.format(pid)}"


IDLE = "none of its threads is in a CUDA call (gpuprobe dump -p {} shows them)"

@pytest.mark.parametrize("command", COMMANDS)
def test_a_process_without_calls(command):
    with holder() as holding:
        done = run(*COMMANDS[command], "--duration", "0.3", "-p", holding.pid)
    assert done.returncode == 0
    assert (f"process {holding.pid} (idle-holder): {silent_in(holding.pid)}\n"
            in done.stdout + done.stderr)
    assert "no CUDA process" not in done.stdout + done.stderr


def watch_one_of_three(*command):
    """The child of the first of three given processes calls CUDA.
    Returns the results of it and of the others."""
    script = f"read line; '{paths.workload('traced')}' --rounds 2 >/dev/null; echo DONE; read line"
    with Background("sh", "-c", script) as caller, holder() as silent, \
            Background("sleep", "3600") as sleeper:
        pids = [word for process in (caller, silent, sleeper) for word in ("-p", str(process.pid))]
        with subprocess.Popen([str(paths.GPUPROBE), *command, *pids], env=environment(), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as probe:
            try:
                wait_until_watching(probe)
                assert caller.tell("go") == "DONE"
                probe.send_signal(signal.SIGINT)
                stdout, stderr = probe.communicate(timeout=60)
            finally:
                probe.kill()
    assert probe.returncode == 0, stderr
    return stdout, stderr, silent.pid, sleeper.pid


@pytest.mark.parametrize("command", some_of([*COMMANDS, "csv"], "monitor", "trace", "csv"))
def test_those_of_several_without_calls(command):
    """One sentence for all, including those that are no CUDA programs,
    but not the one whose child calls."""
    words = ("stat", "--csv") if command == "csv" else COMMANDS[command]
    stdout, stderr, silent, sleeper = watch_one_of_three(*words)
    told = [line for line in (stdout + stderr).splitlines() if "no CUDA" in line]
    assert len(told) == 1, stdout + stderr
    assert told[0].endswith(f"processes {silent} (idle-holder), {sleeper} (sleep): "
                            "no CUDA call seen since attach; "
                            f"{silent}: {IDLE.format(silent)}; {sleeper}: it has no CUDA library")


@pytest.mark.parametrize("command",
                         some_of(["monitor", "stat", "diagnose", "memleak"], "monitor", "stat"))
def test_those_without_calls_in_json(command):
    stdout, _, silent, sleeper = watch_one_of_three(*COMMANDS[command], "--json")
    report = json.loads(stdout.splitlines()[-1])
    assert report["without_calls"] == [
        {"pid": silent, "comm": "idle-holder", "doing": IDLE.format(silent)},
        {"pid": sleeper, "comm": "sleep", "doing": "it has no CUDA library"}]
    assert report["processes"]


@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "stat"))
def test_one_that_hangs_since_before(command):
    """A call that began before gpuprobe is no call that it saw, and yet what the process is in."""
    with Background(paths.workload("cuda_events_test"), env={"CUDA_SIM_ASYNC": "600s"}) as hanging:
        asleep = Path(f"/proc/{hanging.pid}/syscall")
        # It is in clock_nanosleep.
        wait_until(lambda: asleep.read_text().startswith("230 "), asleep.read_text)
        done = run(*COMMANDS[command], "--duration", "0.3", "-p", hanging.pid)
    assert done.returncode == 0
    said = (f"process {hanging.pid} (cuda_events_tes): no CUDA call seen since attach: "
            f"thread {hanging.pid} (cuda_events_tes) ")
    assert (f"{said}is in cudaEventSynchronize (main, cuda_events_test.c:"
            in done.stdout + done.stderr)


def test_a_pid_without_cuda_is_told_at_the_start():
    """It may be the launcher's. On a terminal there is a line on what is watched, too."""
    with holder() as holding, Background("sleep", "3600") as sleeper:
        words = ("stat", "--duration", "0.3", "-p", sleeper.pid)
        shown = terminal.run(words, 100)[1]
        right = run(*words, "-p", holding.pid)
    # The second is the warning if no program of the machine has a CUDA library.
    assert re.search(rf"warning: (process {sleeper.pid} and its children have no CUDA library so "
                     r"far: gpuprobe ps lists those that do|no CUDA library found yet)",
                     shown), shown
    assert (f"gpuprobe: watching the CUDA calls of process {sleeper.pid} and its children; "
            "ends after 300 ms, or by Ctrl-C\n") in shown, shown
    assert "no CUDA library" not in right.stderr, right.stderr
    assert "watching" not in right.stderr, right.stderr


@pytest.mark.parametrize("options, told",
                         [(("--failed",), False), (("--min-duration", "1s"), False),
                          (("--count", "1000"), False), ((), True)])
def test_a_filter_is_no_silence(options, told):
    """Calls that are not shown may have been made."""
    stderr = watch_one_of_three("trace", "-c", *options)[1]
    assert ("no CUDA call" in stderr) is told, stderr


def test_the_monitor_ends_with_its_processes(tmp_path):
    """And with their descendants, as the other commands do."""
    os.mkfifo(tmp_path / "end")
    with Background("sh", "-c", f"read line <'{tmp_path}/end' & echo $!; read line") as process:
        child = int(process.stdout.readline())
        argv = [str(paths.GPUPROBE), *NONE, "--json", "--display-interval", "0.2", "-p",
                str(process.pid)]
        with Running(argv, environment(), tmp_path, None) as probe:
            probe.report()
            process.stdin.close()
            process.wait(60)
            written = probe.report()["boot_ns"]
            probe.wait_for(lambda report: report["boot_ns"] > written + 1e9)
            assert runs(child)
            (tmp_path / "end").write_text("end\n", encoding="ascii")
            result = probe.finish()
            assert not runs(child)
    assert result.status == 0
    assert result.final["processes"] == []


def test_mappings_without_end_are_cut_and_said():
    """Of that process alone."""
    folder = tempfile.mkdtemp(prefix="gpuprobe-test-")
    with Background(sys.executable, "-c", DEEP + REMOVE, folder, "400",
                    cwd=folder) as deep, holder() as other:
        assert deep.stdout.readline() == "READY\n"
        done = run("--json", *MONITOR, "--duration", "1", "-p", deep.pid, "-p", other.pid)
        deep.tell("go")
        assert deep.wait(60) == 0
    assert done.returncode == 0, done
    assert (f"process {deep.pid} (python3): its list of mappings is longer than 16 MiB"
            in done.stderr)
    assert (f"process {deep.pid} maps code from files whose paths are longer than 4095 bytes"
            in done.stderr)
    assert not re.search(rf"process {other.pid}\b.*mappings", done.stderr)
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["lost"]["library_skipped"] == 2


# Maps many files that are named like CUDA's; then loads a library, whose mappings come first.
MANY = """
import ctypes, mmap, sys
maps = []
for number in range(70):
    with open(f"{sys.argv[1]}/libcuda.so.{number}", "w+b") as file:
        file.truncate(4096)
        maps.append(mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE,
                              mmap.PROT_READ | mmap.PROT_EXEC))
print("READY", flush=True)
sys.stdin.readline()
ctypes.CDLL(sys.argv[2])
print("DONE", flush=True)
sys.stdin.readline()
"""


def test_more_files_than_are_looked_at_are_said_once(private, tmp_path):
    """And counted once, however often gpuprobe looks at the process."""
    argv = [str(paths.GPUPROBE), *MONITOR, "--json", "--verbose"]
    library = private / "libcuda.so.1"
    with Background(sys.executable, "-c", MANY, tmp_path, library) as many, holder() as other:
        assert many.stdout.readline() == "READY\n"
        with Running([*argv, "-p", str(many.pid), "-p", str(other.pid)], environment(), tmp_path,
                     None) as probe:
            wait_until_watching(probe.process)
            assert many.tell("go") == "DONE"
            wait_until(lambda: f"{library} (process {many.pid})" in probe.stderr,
                       lambda: probe.stderr)
            probe.process.send_signal(signal.SIGINT)
            result = probe.finish()
        many.tell("end")
        assert many.wait(60) == 0
    assert result.status == 0, result.stderr
    assert result.stderr.count(f"process {many.pid} (python3) maps too many files that are named "
                               "like CUDA's: gpuprobe looks at the first 64 only") == 1
    assert result.final["lost"]["library_skipped"] == 1


@pytest.mark.parametrize("ends", ["process", "gpuprobe"])
def test_who_ends_before_its_turn_is_told(ends, private, tmp_path):
    """A process whose mappings take long to read waits for the next look;
    gpuprobe reports what it misses by then."""
    folder = tempfile.mkdtemp(prefix="gpuprobe-test-")
    (private / "another").mkdir()
    libraries = [paths.SIM / "libcuda.so.1", private / "libcuda.so.1",
                 shutil.copy(private / "libcuda.so.1", private / "another")]
    argv = [str(paths.GPUPROBE), *MONITOR, "--json", "--verbose"]
    with holder(), Running(argv, environment(), tmp_path, None) as probe:
        wait_until_watching(probe.process)
        with Background(sys.executable, "-c", DEEP + OPEN + REMOVE, folder, "200", *libraries,
                        cwd=folder) as deep:
            assert deep.stdout.readline() == "READY\n"
            assert deep.tell("go") == "DONE"
            wait_until(lambda: f"{libraries[1]} (process {deep.pid})" in probe.stderr,
                       lambda: probe.stderr)
            assert deep.tell("go") == "DONE"
            if ends == "process":
                deep.tell("end")
                assert deep.wait(60) == 0
            probe.process.send_signal(signal.SIGINT)
            result = probe.finish()
            if ends != "process":
                deep.tell("end")
                assert deep.wait(60) == 0
    assert result.process_of(deep.pid)["since_attach"]
    assert re.search(r"calls may be missing: \d+ times? a process with many mappings loaded "
                     "a library or another program, and ended", result.stderr)


# --- processes that end while gpuprobe starts ---

def has_bpf(pid):
    """Whether gpuprobe has a BPF map or program: by then it has seen the processes,
    and watches none yet."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            if os.readlink(link).startswith("anon_inode:bpf"):
                return True
        except FileNotFoundError:
            pass
    return False


def run_while_they_end(command, ending, staying=()):
    """(status, stderr) of its end. The processes in `ending` end while it stands still,
    before it watches any."""
    pids = [word for process in (*ending, *staying) for word in ("-p", str(process.pid))]
    process = subprocess.Popen(
        [str(paths.GPUPROBE), *COMMANDS[command], "--duration", "0.3", *pids], env=environment(),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    wait_until(lambda: has_bpf(process.pid), "gpuprobe loads no BPF")
    os.kill(process.pid, signal.SIGSTOP)
    for one in ending:
        one.kill()
        one.wait(60)
    os.kill(process.pid, signal.SIGCONT)
    _, stderr = process.communicate(timeout=120)
    return process.returncode, stderr


@pytest.mark.parametrize("command", some_of(COMMANDS, "monitor", "trace"))
def test_a_process_that_ends_meanwhile(command):
    """The process was there when gpuprobe looked for it, and gone before there were probes:
    an error, not an empty report."""
    with holder() as ending:
        status, stderr = run_while_they_end(command, [ending])
    assert status == 1
    assert stderr.splitlines()[-1].startswith(
        f"gpuprobe: process {ending.pid} ended before it was watched: "), stderr


def test_all_of_several_end_meanwhile():
    with holder() as one, holder() as other:
        status, stderr = run_while_they_end("stat", [one, other])
    assert (status == 1
            and "all 2 processes ended before they were watched" in stderr.splitlines()[-1])


def test_one_of_several_ends_meanwhile():
    """The others are watched all the same."""
    with holder() as ending, holder() as staying:
        status, stderr = run_while_they_end("monitor", [ending], [staying])
    assert status == 0
    assert (f"warning: process {ending.pid} ended before it was watched: nothing of it was seen\n"
            in stderr)


def test_a_named_library_is_missed_by_nobody(gpuprobe):
    """Programs that end at once are no loss if the file already had probes,
    whether or not they were looked at."""
    pids = []
    with gpuprobe.start(interval=0.1, libraries=[paths.LIBCUDA, paths.LIBCUDART],
                        args=["-v"]) as running:
        running.wait_until_watching()
        for _ in range(40):
            with subprocess.Popen([paths.workload("launch"), "--launches", "1"],
                                  stdout=subprocess.DEVNULL) as program:
                pids.append(program.pid)
            assert program.returncode == 0
        result = running.stop()
    assert exact.lost_with_strangers(result, *pids) == {}
    assert [result.process_of(pid)["launches"] for pid in pids] == 40 * [1]
