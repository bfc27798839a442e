# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe check: each verdict on a machine, or a part of one, where it is due."""
import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from lib import folders, paths
from lib.fuse import Served
from lib.probe import Background, environment

NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
FIVE = ("bpf", "perfmon", "sys_ptrace", "dac_read_search", "checkpoint_restore")
LIBRARIES = ("--libcuda-path", paths.LIBCUDA, "--libcudart-path", paths.LIBCUDART)
# NVML is of the machine, the loader's: what it says has tests of its own.
MACHINES_OWN = {"driver", "nvml", "gpu", "process", "pid-namespace", "user-namespace"}


@pytest.fixture
def sleeper():
    """A process that uses no CUDA: with it alone nothing of other tests is looked at."""
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


@pytest.fixture
def open_dir():
    """A directory that every user can read, with gpuprobe and the simulated libraries in it."""
    with folders.private("idle-holder", gpuprobe=True) as directory:
        yield directory


class Check:
    """What gpuprobe check --json says, and its exit status."""

    def __init__(self, *args, before=(), program=paths.GPUPROBE, timeout=60, **env):
        self.done = subprocess.run([*before, str(program), "check", "--json", *map(str, args)],
                                   env=environment(**env), text=True, capture_output=True, timeout=timeout,
                                   stdin=subprocess.DEVNULL, check=False)
        assert self.done.stderr == ""
        assert self.done.stdout.count("\n") == 1
        self.result = json.loads(self.done.stdout)
        self.lines = self.result["lines"]
        self.check_form()

    def check_form(self):
        """The sums, the exit status and what every line must have."""
        assert self.result["schema"] == 1
        for state in ("ok", "degraded", "missing"):
            assert self.result[state] == sum(line["state"] == state for line in self.lines)
        assert self.done.returncode == (1 if self.result["missing"] else 0)
        for line in self.lines:
            assert line["text"] and line["topic"]
            assert (line["advice"] is None) == (line["state"] == "ok"), line

    def all(self, topic, text=""):
        return [line for line in self.lines if line["topic"] == topic and text in line["text"]]

    def one(self, topic, text=""):
        found = self.all(topic, text)
        assert len(found) == 1, (found, self.lines)
        return found[0]

    def state(self, topic, text=""):
        return self.one(topic, text)["state"]

    def process(self, pid):
        found = [line for line in self.all("process") if line["facts"].get("pid") == pid]
        assert len(found) == 1, self.all("process")
        return found[0]


def in_mounts(script):
    """Words before a command that run it in a mount namespace of its own, after the script."""
    return ["unshare", "-m", "sh", "-ec", script + '\nexec "$@"', "sh"]


def holder(directory=paths.SIM, **options):
    """A simulated CUDA process that waits."""
    background = Background(directory / "idle-holder", **options)
    assert background.stdout.readline() == "READY\n"
    return background


def with_capabilities(words):
    plus = ",".join(f"+{word}" for word in words)
    return [*NOBODY, f"--inh-caps={plus}", f"--ambient-caps={plus}", "--"]


# --- where all is well ---

def test_all_is_well_for_root(sleeper, nothing_left):
    check = Check(*LIBRARIES, "-p", sleeper)
    assert check.done.returncode == 0
    assert {line["topic"] for line in check.lines if line["state"] != "ok"} <= MACHINES_OWN
    assert check.one("kernel")["facts"] == {"release": os.uname().release, "machine": "x86_64"}
    assert check.one("links")["facts"]["kind"] == "session"
    assert "64 calls" in check.one("probes")["text"]
    assert check.process(sleeper)["text"] == f"process {sleeper} (sleep) can be watched: no CUDA library so far, " \
                                             "it gets probes when it loads one"


def test_text_says_the_same(sleeper):
    args = [*LIBRARIES, "-p", sleeper]
    check = Check(*args)
    done = subprocess.run([paths.GPUPROBE, "check", *map(str, args)], env=environment(), text=True, capture_output=True,
                          timeout=60, check=False)
    assert (done.returncode, done.stderr) == (check.done.returncode, "")
    expected = []
    for line in check.lines:
        expected.append(f"{line['state']:10}{line['topic']}: {line['text']}")
        if line["advice"]:
            expected.append(f"{'':10}-> {line['advice']}")
    *lines, last = done.stdout.splitlines()
    assert lines == expected
    result = check.result
    assert last.startswith(f"{result['ok']} ok, {result['degraded']} degraded, {result['missing']} missing: gpuprobe ")


def test_quiet_leaves_out_what_is_ok(sleeper):
    done = subprocess.run([paths.GPUPROBE, "check", "-q", *map(str, LIBRARIES), "-p", str(sleeper)], env=environment(),
                          text=True, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert not re.search("^ok", done.stdout, re.MULTILINE)
    assert re.search(r"^\d+ ok, ", done.stdout.splitlines()[-1])


def test_libraries_are_counted(sleeper):
    check = Check(*LIBRARIES, "-p", sleeper)
    for path, layer, count in ((paths.LIBCUDA, "driver", 637), (paths.LIBCUDART, "runtime", 422)):
        facts = [line["facts"] for line in check.all("library") if line["facts"].get("path") == str(path)]
        assert len(facts) == 1
        assert (facts[0]["soname"], facts[0]["layers"]) == (path.name, [layer])
        assert facts[0]["functions_of_table"] == facts[0]["functions_found"] == count
        assert count > facts[0]["functions_probed"] > 100


def test_nvml_names_gpus(sleeper):
    check = Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=paths.SIM, CUDA_SIM_DEVICES=2)
    assert "580.00-simulated, 2 GPUs" in check.one("nvml")["text"]
    assert [line["facts"]["index"] for line in check.all("gpu")] == [0, 1]
    assert all(line["facts"]["uuid"].startswith("GPU-") for line in check.all("gpu"))
    # Both libraries are found by that variable as well, and each is one line.
    assert len([line for line in check.all("library") if line["facts"]["path"] == str(paths.LIBCUDA)]) == 1


def test_no_gpu(sleeper):
    check = Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=paths.SIM, CUDA_SIM_DEVICES=0)
    assert check.state("nvml", "finds no GPU") == "degraded"
    assert check.done.returncode == 0


def build_nvml(directory, init):
    """A library of which initialising does this."""
    source = directory / "nvml.c"
    source.write_text("#include <fcntl.h>\n#include <unistd.h>\nint nvmlInit_v2(void) { " + init + " }\n"
                      "int nvmlShutdown(void) { return 0; }\n"
                      "int nvmlDeviceGetCount_v2(unsigned *n) { return *n = 0; }\n"
                      "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void *d) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", directory / "libnvidia-ml.so.1", source], check=True)
    return directory


@pytest.mark.parametrize("init,text", [("return pause();", "has not answered in 5 s"),
                                       ("return 9;", "finds no working driver")])
def test_nvml_that_does_not_work(sleeper, tmp_path, init, text):
    check = Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=build_nvml(tmp_path, init))
    assert check.state("nvml", text) == "degraded"
    assert check.done.returncode == 0


def test_root_keeps_no_more_than_is_used(sleeper, tmp_path):
    """As an NVML that looks at the process it is loaded into finds it."""
    nvml = build_nvml(tmp_path, 'char b[4096]; int f = open("/proc/self/status", 0), n = read(f, b, 4096); '
                                f'return write(open("{tmp_path}/status", 66, 0644), b, n) != n;')
    Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=nvml)
    status = dict(line.split(":\t", 1) for line in (tmp_path / "status").read_text().splitlines() if ":\t" in line)
    numbers = {39, 38, 19, 2, 40}
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == sum(1 << number for number in numbers)
    assert status["NoNewPrivs"] == "1"


# --- what is lacking in the machine ---

def test_nobody(open_dir):
    """A normal user is told of each thing why not, and of the rest all that can be seen."""
    holding = holder()
    with holding:
        check = Check("--libcuda-path", open_dir / "libcuda.so.1", before=NOBODY, program=open_dir / "gpuprobe")
    assert check.done.returncode == 1
    for topic in ("kernel", "btf", "helpers"):
        assert check.state(topic) == "ok"
    lacking = {line["facts"]["capability"]: line["state"] for line in check.all("capabilities")}
    assert lacking == {"CAP_BPF": "missing", "CAP_PERFMON": "missing", "CAP_SYS_PTRACE": "degraded",
                       "CAP_DAC_READ_SEARCH": "degraded", "CAP_CHECKPOINT_RESTORE": "degraded"}
    assert check.state("bpf", "Operation not permitted") == "missing"
    assert check.state("links", "cannot be told") == "missing"
    assert check.one("library", "libcuda.so.1")["facts"]["functions_found"] == 637
    refused = check.one("process", "cannot be looked into (Permission denied)")
    assert refused["state"] == "degraded" and "CAP_SYS_PTRACE" in refused["advice"]
    assert refused["facts"]["processes"] >= 1 and {"pid", "comm"} <= refused["facts"].keys()


def test_own_process_of_nobody(open_dir):
    """Without any privilege a process of the same user can be looked at."""
    with Background(*NOBODY, "--", open_dir / "idle-holder") as holding:
        assert holding.stdout.readline() == "READY\n"
        check = Check("-p", holding.pid, before=NOBODY, program=open_dir / "gpuprobe")
    assert "can be watched: libcuda.so.1" in check.process(holding.pid)["text"]


def test_five_capabilities_are_enough(open_dir, sleeper):
    check = Check("--libcuda-path", open_dir / "libcuda.so.1", "-p", sleeper, before=with_capabilities(FIVE),
                  program=open_dir / "gpuprobe")
    assert check.done.returncode == 0
    assert check.state("capabilities") == "ok"
    assert check.state("probes") == "ok"


@pytest.mark.parametrize("lacking", ["bpf", "perfmon"])
def test_lacking_capability(lacking, sleeper):
    # CAP_SYS_ADMIN stands for both.
    check = Check("-p", sleeper, before=["setpriv", f"--bounding-set=-{lacking},-sys_admin", "--"])
    assert check.state("capabilities", f"no CAP_{lacking.upper()}") == "missing"
    assert check.state("bpf") == "missing"


def test_tracefs_links(tracefs, sleeper, nothing_left):
    check = Check(*LIBRARIES, "-p", sleeper, GPUPROBE_LINKS="perf")
    assert check.done.returncode == 0
    assert check.state("links", "tracefs events, by GPUPROBE_LINKS") == "degraded"
    assert check.one("links")["facts"]["kind"] == "perf"
    assert check.state("session") == "degraded"
    assert check.state("tracefs", "takes probes") == "ok"
    assert check.state("probes", "64 calls") == "ok"
    assert check.state("monitor") == check.state("tracer") == "ok"


def test_multi_links(sleeper, nothing_left):
    check = Check(*LIBRARIES, "-p", sleeper, GPUPROBE_LINKS="multi")
    assert check.done.returncode == 0
    assert (check.state("links"), check.state("session")) == ("ok", "degraded")
    assert "--check-launches" in check.one("session")["text"]


def test_no_such_links(sleeper):
    check = Check(*LIBRARIES, "-p", sleeper, GPUPROBE_LINKS="chain")
    assert check.done.returncode == 1
    assert check.state("links") == "missing"
    assert check.one("links")["advice"] == "unset GPUPROBE_LINKS"


HIDE_TRACEFS = """
mount -t tmpfs none /sys/kernel/tracing
[ ! -d /sys/kernel/debug ] || mount -t tmpfs none /sys/kernel/debug
"""


def test_no_tracefs(sleeper):
    """Needed or not, it is not mounted: that is gpuprobe's to do when it starts."""
    check = Check(*LIBRARIES, "-p", sleeper, before=in_mounts(HIDE_TRACEFS))
    assert (check.done.returncode, check.state("tracefs", "not needed")) == (0, "ok")
    look = ('status=0\n"$@" || status=$?\n'
            'if grep -q " /sys/kernel/tracing tracefs " /proc/self/mounts; then exit 99; fi\nexit $status')
    uncover = "umount /sys/kernel/tracing; umount /sys/kernel/tracing || :\n"
    before = ["unshare", "-m", "sh", "-ec", HIDE_TRACEFS + uncover + look, "sh"]
    check = Check(*LIBRARIES, "-p", sleeper, before=before, GPUPROBE_LINKS="perf")
    assert check.done.returncode == 1
    assert check.one("tracefs", "there is no")["advice"] == "mount -t tracefs tracefs /sys/kernel/tracing"
    assert check.state("probes", "not tried") == "missing"


def test_no_btf(sleeper, nothing_left):
    check = Check(*LIBRARIES, "-p", sleeper, before=in_mounts("mount -t tmpfs none /sys/kernel/btf"))
    assert check.done.returncode == 1
    assert "CONFIG_DEBUG_INFO_BTF" in check.one("btf", "there is no /sys/kernel/btf/vmlinux")["advice"]
    # What does not need it is looked at all the same.
    assert check.state("kernel") == check.state("bpf") == check.state("probes") == "ok"
    assert not check.all("monitor")
    assert not check.all("maps") and not check.all("copies")
    assert check.one("untried", "could not be tried")["facts"]["topics"] == ["iterator", "monitor", "tracer", "maps", "copies"]
    assert check.state("stacks") == "missing"


def test_interpreted_programs(sleeper, tmp_path):
    off = tmp_path / "jit"
    off.write_text("0\n")
    check = Check(*LIBRARIES, "-p", sleeper, before=in_mounts(f"mount --bind {off} /proc/sys/net/core/bpf_jit_enable"))
    assert check.one("jit")["advice"] == "sysctl -w net.core.bpf_jit_enable=1"


@pytest.mark.parametrize("text,state,links", [("none [integrity] confidentiality", "ok", "session"),
                                              ("none integrity [confidentiality]", "missing", "session")])
def test_lockdown(sleeper, tmp_path, text, state, links):
    """As the file says it; that BPF may read memory all the same here has a line of its own."""
    file = tmp_path / "lockdown"
    file.write_text(text + "\n")
    check = Check(*LIBRARIES, "-p", sleeper, before=in_mounts(
        f"mount -t tmpfs none /sys/kernel/security; cp {file} /sys/kernel/security/lockdown"))
    assert check.state("lockdown") == state
    assert check.state("bpf") == "ok"
    assert check.one("links")["facts"]["kind"] == links


def test_user_namespace(sleeper):
    check = Check("-p", sleeper, before=["unshare", "--user", "--map-root-user", "--"])
    assert check.done.returncode == 1
    assert "rootless" in check.one("user-namespace")["advice"]
    assert check.state("bpf") == "missing"


def test_pid_namespace():
    check = Check(*LIBRARIES, before=["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"])
    assert check.done.returncode == 0
    assert "hostPID" in check.one("pid-namespace")["advice"]
    assert check.one("process")["text"] == "none uses CUDA now"
    assert check.state("probes") == check.state("iterator") == "ok"


@pytest.mark.plain("LeakSanitizer needs /proc")
def test_no_proc():
    """Little can be said; it ends well."""
    check = Check(before=in_mounts("mount -t tmpfs none /proc"))
    assert check.done.returncode == 1
    assert check.state("probes") == check.state("process", "cannot be listed") == "missing"
    assert check.state("kernel") == check.state("btf") == "ok"


# --- libraries ---

def hide_libraries(tmp_path):
    """The loader finds nothing, and no CUDA toolkit is there."""
    empty = tmp_path / "empty"
    empty.write_text("")
    return in_mounts(f"mount --bind {empty} /etc/ld.so.cache\n"
                     "for d in /usr/local/cuda* /usr/local/nvidia; do [ ! -d $d ] || mount -t tmpfs none $d; done")


def test_no_library(sleeper, tmp_path):
    check = Check("-p", sleeper, before=hide_libraries(tmp_path))
    assert check.done.returncode == 1
    assert "--libcuda-path" in check.one("library")["advice"]
    assert not check.all("slow-probes")


def test_no_library_among_these_processes(sleeper, tmp_path):
    """Another process, that was not asked for, has one."""
    with holder():
        check = Check("-p", sleeper, before=hide_libraries(tmp_path))
    assert check.one("library")["text"] == "no libcuda: neither the loader nor any of these processes has one"


# Some kernels let read with CAP_PERFMON what a process maps, but not the files.
@pytest.mark.parametrize("capabilities,texts", [
    (FIVE[:2], ("1 process cannot be read", "1 process could not be looked into")),
    ((), ("1 process could not be looked into",))], ids=["perfmon", "none"])
def test_a_library_that_cannot_be_read_is_one(open_dir, tmp_path, capabilities, texts):
    user = with_capabilities(capabilities) if capabilities else [*NOBODY, "--"]
    with holder() as holding:
        check = Check("-p", holding.pid, before=[*hide_libraries(tmp_path), *user], program=open_dir / "gpuprobe")
    assert check.state("process", f"process {holding.pid} (idle-holder): ") == "missing"
    told = check.one("library", "no libcuda")["text"]
    assert any(text in told for text in texts), told


def test_proc_of_another_namespace(tmp_path):
    check = Check(before=["unshare", "-pf", "--"])
    assert check.state("probes", "/proc is of another pid namespace, or not mounted") == "missing"
    assert check.one("probes")["advice"] == "mount -t proc proc /proc"


def test_runtime_alone(sleeper, tmp_path):
    check = Check("-p", sleeper, "--libcudart-path", paths.LIBCUDART, before=hide_libraries(tmp_path))
    assert check.state("library", "no libcuda") == "missing"
    assert check.state("library", "libcudart.so.13") == "ok"


def build_library(directory, flags, functions):
    source = directory / "cuda.c"
    source.write_text("".join(f"int {name}(void) {{ return 1; }}\n" for name in functions))
    library = directory / "libcuda.so.999.12"
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", *flags, "-Wl,-soname,libcuda.so.1", "-o", library, source],
                   check=True)
    return library


def test_slow_probes_are_named(sleeper, tmp_path):
    library = build_library(tmp_path, ["-fcf-protection=full"], ["cuInit", "cuMemAlloc_v2", "cuLaunchKernel"])
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
        assert [line for line in check.all("library") if line["facts"].get("path") == str(paths.LIBCUDA)]
        # It was not stopped, and goes on.
        assert Path(f"/proc/{holding.pid}/stat").read_text().rpartition(")")[2].split()[0] in "SR"
        assert holding.tell("go") == "DONE"


def test_kernel_thread():
    if Path("/proc/2/comm").read_text() != "kthreadd\n":
        pytest.skip("process 2 is none of the kernel's here")
    check = Check("-p", 2)
    assert check.process(2)["state"] == "missing"
    assert check.process(2)["text"] == "process 2 (kthreadd): a thread of the kernel, which never calls CUDA"


def test_children_are_looked_at():
    with Background("sh", "-c", f"{paths.workload('idle-holder')} & wait") as shell:
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
        check = Check("-p", holding.pid, before=with_capabilities(FIVE[:-1]), program=open_dir / "gpuprobe")
        assert check.process(holding.pid)["state"] == "missing"
        assert "was deleted or replaced while in use" in check.process(holding.pid)["text"]
        assert "CAP_CHECKPOINT_RESTORE" in check.process(holding.pid)["advice"]
        assert check.done.returncode == 1


def test_library_of_another_mount_namespace(tmp_path):
    script = (f"mount -t tmpfs none {tmp_path}\ncp {paths.SIM}/libcuda*.so.1* {paths.SIM}/idle-holder {tmp_path}\n"
              f"exec {tmp_path}/idle-holder")
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
    source.write_text("#include <stdio.h>\n#include <cuda_api.h>\nint main(void) { void *p; cudaMalloc(&p, 16); "
                      'puts("READY"); fflush(stdout); getchar(); '
                      "return cudaLaunchKernel(0, (dim3){1,1,1}, (dim3){1,1,1}, 0, 0, 0) != 0; }\n")
    subprocess.run(["gcc", "-w", f"-I{paths.ROOT}/sim/include", "-o", program, source,
                    paths.SIM / "libcudart_static.a", "-ldl", "-lpthread", f"-L{paths.SIM}", "-l:libcuda.so.1"],
                   check=True)
    with Background(program, env={"LD_LIBRARY_PATH": paths.SIM}) as process:
        assert process.stdout.readline() == "READY\n"
        check = Check("-p", process.pid)
        assert "the runtime inside the program" in check.process(process.pid)["text"]
        assert check.process(process.pid)["state"] == "ok"
        assert check.one("library", "a program with the runtime inside")["facts"]["layers"] == ["runtime"]


def test_python_process():
    script = f"import ctypes, sys; ctypes.CDLL('{paths.LIBCUDA}'); print('READY', flush=True); sys.stdin.readline()"
    with Background(paths.PYTHON, "-c", script) as process:
        assert process.stdout.readline() == "READY\n"
        mine = Check("-p", process.pid).process(process.pid)
    version = subprocess.run([paths.PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], text=True,
                             capture_output=True, check=True).stdout.strip()
    assert mine["state"] == "ok"
    assert mine["facts"]["python"] == version
    assert mine["text"].endswith(f", CPython {version}")


def test_program_of_32_bits(tmp_path):
    """A header, a segment and mov $29, %eax; int $0x80, which is pause."""
    program = tmp_path / "small"
    code = bytes([0xb8, 29, 0, 0, 0, 0xcd, 0x80])
    words = (2 | 3 << 16, 1, 0x8048054, 52, 0, 0, 52 | 32 << 16, 1, 0)
    header = b"\x7fELF\x01\x01\x01" + bytes(9) + b"".join(word.to_bytes(4, "little") for word in words)
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
        mine = Check("-p", holding.pid, before=["unshare", "--user", "--map-root-user", "--"]).process(holding.pid)
        assert mine["state"] == "missing"
        assert "another user namespace" in mine["advice"]
    with Background("unshare", "--user", "--map-root-user", "--", paths.workload("idle-holder")) as holding:
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
        script = f"import ctypes, sys; ctypes.CDLL('{library}'); print('READY', flush=True); sys.stdin.readline()"
        with Background(paths.PYTHON, "-c", script) as process:
            assert process.stdout.readline() == "READY\n"
            assert "can be watched: driver.so" in Check("--libcuda-path", library).process(process.pid)["text"]


MANY = """
import mmap, sys
for number in range(200):
    with open(f"{sys.argv[1]}/libcuda{number}.so", "w+b") as file:
        file.write(bytes(8192))
        file.flush()
        globals()[f"m{number}"] = mmap.mmap(file.fileno(), 4096, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC)
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
    script = ("import sys; open('/proc/self/comm', 'w').write('a\\x1b[31m\\nb'); print('READY', flush=True); "
              "sys.stdin.readline()")
    with Background(paths.PYTHON, "-c", script) as process:
        assert process.stdout.readline() == "READY\n"
        done = subprocess.run([paths.GPUPROBE, "check", "-p", str(process.pid)], env=environment(), text=True,
                              capture_output=True, timeout=60, check=False)
        assert Check("-p", process.pid).process(process.pid)["facts"]["comm"] == "a\x1b[31m\nb"
    assert "\x1b" not in done.stdout
    assert f"process {process.pid} (a\\x1b[31m\\nb) can be watched" in done.stdout


# --- the command line ---

@pytest.mark.parametrize("args,status,words", [
    (["--no-such"], 2, "--no-such"), (["extra"], 2, "extra"), (["-p"], 2, "-p"), (["-p", "x"], 2, "x"),
    (["-p", "99999999"], 1, "99999999"), (["--libcuda-path", "/nonexistent"], 1, "/nonexistent"),
    (["--libcuda-path", "/bin/true"], 1, "no functions of CUDA"),
])
def test_mistakes(args, status, words):
    done = subprocess.run([paths.GPUPROBE, "check", *args], env=environment(), text=True, capture_output=True,
                          timeout=30, check=False)
    assert (done.returncode, done.stdout) == (status, "")
    assert re.fullmatch(r"gpuprobe: [^\n]+\n", done.stderr)
    assert words in done.stderr


def test_help():
    done = subprocess.run([paths.GPUPROBE, "check", "--help"], text=True, capture_output=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: gpuprobe check [OPTIONS]\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    for word in ("--json", "--libcuda-path", "--libcudart-path", "--pid", "Exit status"):
        assert word in done.stdout


@pytest.mark.parametrize("flushed", [
    "at the end", pytest.param("by line", marks=pytest.mark.plain("stdbuf preloads a library"))])
def test_full_disk(sleeper, flushed):
    """By line, nothing is left at the end that could not be written."""
    by_line = ["stdbuf", "-oL"] * (flushed == "by line")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*by_line, paths.GPUPROBE, "check", *map(str, LIBRARIES), "-p", str(sleeper)], env=environment(),
                              text=True, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == "gpuprobe: cannot write what was found: No space left on device\n"
