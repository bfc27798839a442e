# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe check: each verdict on a machine, or on a part of one, and the command line."""
import os
import re
import subprocess

import pytest

from lib import paths, terminal
from lib.check import FIVE, Check, holder, in_mounts
from lib.cli import NOBODY, with_capabilities
from lib.probe import Background, environment

LIBRARIES = ("--libcuda-path", paths.LIBCUDA, "--libcudart-path", paths.LIBCUDART)
# NVML is of the machine, the loader's: what it says has tests of its own.
MACHINES_OWN = {"driver", "nvml", "gpu", "process", "pid-namespace", "user-namespace"}


def is_ours(line):
    """Whether it is not of a library that the machine has, or a stranger."""
    path = (line["facts"] or {}).get("path")
    return path is None or path in map(str, LIBRARIES)


# --- where all is well ---

def test_all_is_well_for_root(sleeper, nothing_left):
    check = Check(*LIBRARIES, "-p", sleeper)
    assert check.done.returncode == 0
    assert {line["topic"] for line in check.lines
            if line["state"] != "ok" and is_ours(line)} <= MACHINES_OWN
    assert check.one("kernel")["facts"] == {"release": os.uname().release, "machine": "x86_64"}
    assert check.one("links")["facts"]["kind"] == "session"
    assert "64 calls" in check.one("probes")["text"]
    assert (check.process(sleeper)["text"]
            == f"process {sleeper} (sleep) can be watched: no CUDA library so far; "
               "it gets probes when it loads one")


def test_text_says_the_same(sleeper):
    args = [*LIBRARIES, "-p", sleeper]
    check = Check(*args)
    done = subprocess.run([paths.GPUPROBE, "check", *map(str, args)], env=environment(), text=True,
                          capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (check.done.returncode, "")
    expected = []
    for line in check.lines:
        expected.append(f"{line['state']:10}{line['topic']}: {line['text']}")
        if line["advice"]:
            expected.append(f"{'':10}-> {line['advice']}")
    *lines, last = done.stdout.splitlines()
    assert lines == expected
    result = check.result
    assert last.startswith(
        f"{result['ok']} ok, {result['degraded']} degraded, {result['missing']} missing: gpuprobe ")


def test_quiet_leaves_out_what_is_ok(sleeper):
    done = subprocess.run([paths.GPUPROBE, "check", "-q", *map(str, LIBRARIES), "-p", str(sleeper)],
                          env=environment(), text=True, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == 0
    assert not re.search("^ok", done.stdout, re.MULTILINE)
    assert re.search(r"^\d+ ok, ", done.stdout.splitlines()[-1])


def test_libraries_are_counted(sleeper):
    check = Check(*LIBRARIES, "-p", sleeper)
    for path, layer, count in ((paths.LIBCUDA, "driver", 637), (paths.LIBCUDART, "runtime", 422)):
        facts = [line["facts"] for line in check.all("library")
                 if line["facts"].get("path") == str(path)]
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
    assert len([line for line in check.all("library")
                if line["facts"]["path"] == str(paths.LIBCUDA)]) == 1


def test_no_gpu(sleeper):
    check = Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=paths.SIM, CUDA_SIM_DEVICES=0)
    assert check.state("nvml", "finds no GPU") == "degraded"
    assert check.done.returncode == 0


def build_nvml(directory, init):
    """A library of which initialising does this."""
    source = directory / "nvml.c"
    source.write_text(
        "#include <fcntl.h>\n#include <unistd.h>\nint nvmlInit_v2(void) { " + init + " }\n"
        "int nvmlShutdown(void) { return 0; }\n"
        "int nvmlDeviceGetCount_v2(unsigned *n) { return *n = 0; }\n"
        "int nvmlDeviceGetHandleByIndex_v2(unsigned i, void *d) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", directory / "libnvidia-ml.so.1", source],
                   check=True)
    return directory


@pytest.mark.waits("for an answer, five seconds")
@pytest.mark.parametrize("init,text", [("return pause();", "has not answered in 5 s"),
                                       ("return 9;", "finds no working driver")])
def test_nvml_that_does_not_work(sleeper, tmp_path, init, text):
    check = Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=build_nvml(tmp_path, init))
    assert check.state("nvml", text) == "degraded"
    assert check.done.returncode == 0


def test_root_keeps_no_more_than_is_used(sleeper, tmp_path):
    """As an NVML that looks at the process it is loaded into finds it."""
    nvml = build_nvml(tmp_path,
                      'char b[4096]; int f = open("/proc/self/status", 0), n = read(f, b, 4096); '
                      f'return write(open("{tmp_path}/status", 66, 0644), b, n) != n;')
    Check(*LIBRARIES, "-p", sleeper, LD_LIBRARY_PATH=nvml)
    status = dict(line.split(":\t", 1) for line in (tmp_path / "status").read_text().splitlines()
                  if ":\t" in line)
    numbers = {39, 38, 19, 2, 40}
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == sum(
        1 << number for number in numbers)
    assert status["NoNewPrivs"] == "1"


# --- what is lacking in the machine ---

def test_nobody(open_dir):
    """A normal user is told of each thing why not, and of the rest all that can be seen."""
    library = open_dir / "libcuda.so.1"
    with holder():
        check = Check("--libcuda-path", library, before=NOBODY, program=open_dir / "gpuprobe")
    assert check.done.returncode == 1
    for topic in ("kernel", "btf", "helpers"):
        assert check.state(topic) == "ok"
    lacking = {line["facts"]["capability"]: line["state"] for line in check.all("capabilities")}
    assert lacking == {"CAP_BPF": "missing", "CAP_PERFMON": "missing", "CAP_SYS_PTRACE": "degraded",
                       "CAP_DAC_READ_SEARCH": "degraded", "CAP_CHECKPOINT_RESTORE": "degraded"}
    assert check.state("bpf", "Operation not permitted") == "missing"
    assert check.state("links", "a BPF program must be loaded") == "missing"
    [facts] = [line["facts"] for line in check.all("library")
               if line["facts"].get("path") == str(library)]
    assert facts["functions_found"] == 637
    refused = check.one("process", "(Permission denied): unknown whether CUDA is used there")
    assert refused["state"] == "degraded" and "CAP_SYS_PTRACE" in refused["advice"]
    assert refused["facts"]["processes"] >= 1 and {"pid", "comm"} <= refused["facts"].keys()


def test_own_process_of_nobody(open_dir):
    """Without any privilege a process of the same user can be looked at."""
    with Background(*NOBODY, "--", open_dir / "idle-holder", "--seconds", "3600") as holding:
        assert holding.stdout.readline() == "READY\n"
        check = Check("-p", holding.pid, before=NOBODY, program=open_dir / "gpuprobe")
    assert "can be watched: libcuda.so.1" in check.process(holding.pid)["text"]


def test_five_capabilities_are_enough(open_dir, sleeper):
    check = Check("--libcuda-path", open_dir / "libcuda.so.1", "-p", sleeper,
                  before=with_capabilities(FIVE), program=open_dir / "gpuprobe")
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
    assert check.state("tracefs", "accepts probes") == "ok"
    assert check.state("probes", "64 calls") == "ok"
    assert check.state("monitor") == check.state("tracer") == check.state("threads") == "ok"


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
            'if grep -q " /sys/kernel/tracing tracefs " /proc/self/mounts; then exit 99; fi\n'
            'exit $status')
    uncover = "umount /sys/kernel/tracing; umount /sys/kernel/tracing || :\n"
    before = ["unshare", "-m", "sh", "-ec", HIDE_TRACEFS + uncover + look, "sh"]
    check = Check(*LIBRARIES, "-p", sleeper, before=before, GPUPROBE_LINKS="perf")
    assert check.done.returncode == 1
    assert (check.one("tracefs", "there is no")["advice"]
            == "mount -t tracefs tracefs /sys/kernel/tracing")
    assert check.state("probes", "not tried") == "missing"


def test_no_btf(sleeper, nothing_left):
    check = Check(*LIBRARIES, "-p", sleeper,
                  before=in_mounts("mount -t tmpfs none /sys/kernel/btf"))
    assert check.done.returncode == 1
    assert "CONFIG_DEBUG_INFO_BTF" in check.one("btf",
                                                "there is no /sys/kernel/btf/vmlinux")["advice"]
    # What does not need it is looked at all the same.
    assert check.state("kernel") == check.state("bpf") == check.state("probes") == "ok"
    assert not check.all("monitor")
    assert not check.all("maps") and not check.all("copies")
    untried = check.one("untried", "not tried: ")["facts"]["topics"]
    assert untried == ["iterator", "monitor", "tracer", "threads", "maps", "copies"]
    assert check.state("stacks") == "missing"


def test_interpreted_programs(sleeper, tmp_path):
    off = tmp_path / "jit"
    off.write_text("0\n")
    check = Check(*LIBRARIES, "-p", sleeper,
                  before=in_mounts(f"mount --bind {off} /proc/sys/net/core/bpf_jit_enable"))
    assert check.one("jit")["advice"] == "sysctl -w net.core.bpf_jit_enable=1"


@pytest.mark.parametrize("text,state,links",
                         [("none [integrity] confidentiality", "ok", "session"),
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
    assert check.state("probes") == check.state("process", "cannot list processes") == "missing"
    assert check.state("kernel") == check.state("btf") == "ok"


def test_proc_of_another_namespace(tmp_path):
    check = Check(before=["unshare", "-pf", "--"])
    assert (check.state("probes", "/proc belongs to another pid namespace, or is not mounted")
            == "missing")
    assert check.one("probes")["advice"] == "mount -t proc proc /proc"


# --- the command line ---

@pytest.mark.parametrize("args,status,words", [
    (["--no-such"], 2, "--no-such"), (["extra"], 2, "extra"),
    (["-p"], 2, "-p"), (["-p", "x"], 2, "x"),
    (["-p", "99999999"], 1, "99999999"), (["--libcuda-path", "/nonexistent"], 1, "/nonexistent"),
    (["--libcuda-path", "/bin/true"], 1, "no CUDA functions"),
])
def test_mistakes(args, status, words):
    done = subprocess.run([paths.GPUPROBE, "check", *args], env=environment(), text=True,
                          capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (status, "")
    assert re.fullmatch(r"gpuprobe: [^\n]+\n", done.stderr)
    assert words in done.stderr


def test_help():
    done = subprocess.run([paths.GPUPROBE, "check", "--help"], text=True, capture_output=True,
                          timeout=120, check=False)
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
        done = subprocess.run([*by_line, paths.GPUPROBE, "check",
                               *map(str, LIBRARIES), "-p", str(sleeper)],
                              env=environment(), text=True, stdout=full, stderr=subprocess.PIPE,
                              timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr == "gpuprobe: cannot write standard output: No space left on device\n"


def test_lines_fit_a_terminal():
    """Long ones go on in the next line, below their text; only longer words stay whole."""
    _, shown = terminal.run(["check"], 80)
    lines = shown.splitlines()
    assert all(len(line) <= 80 or max(map(len, line.split())) > 60 for line in lines)
    assert any(line.startswith(" " * 10) and "->" not in line for line in lines)
