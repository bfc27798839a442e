# SPDX-License-Identifier: BSD-2-Clause
"""The command line: how gpuprobe fails, and what it needs not to."""
import json
import os
import re
import signal
import socket
import subprocess

import pytest

from lib import paths
from lib.cli import NOBODY, NONE, PORT_9000_TAKEN, QUICK, fails, run, with_capabilities
from lib.probe import environment

pytestmark = pytest.mark.usefixtures("nothing_left")

CAPABILITIES = ("bpf", "perfmon", "sys_ptrace", "dac_read_search")


# --- usage errors: exit 2 ---

@pytest.mark.parametrize("arguments,words", [
    (("--bogus",), ("--bogus", "gpuprobe --help")),
    (("-x",), ("'-x'", "gpuprobe --help")),
    (("-qx",), ("'-x'", "gpuprobe --help")),
    (("--json=yes",), ("--json=yes", "gpuprobe --help")),
    (("--max-", "3"), ("--max-", "gpuprobe --help")),
    (("train.py",), ("train.py", "put -- before a program to run")),
    (("--json", "train.py", "--", "ls"), ("train.py", "--")),
    (("--",), ("no COMMAND after --",)),
    (("--json", "--"), ("no COMMAND after --",)),
    (("-p", "1", "--", "true"), ("--pid", "COMMAND", "choose one")),
])
def test_usage(arguments, words):
    fails(run(*arguments), 2, *words)


@pytest.mark.parametrize("option", [
    "--metrics-addr", "--display-interval", "--duration", "-p", "--pid", "--api", "--max-processes",
    "--max-allocations", "--max-kernels", "--max-inflight",
    "--libcudart-path", "--libcuda-path", "--top", "--metrics-kernels",
])
def test_missing_value(option):
    fails(run(option), 2, option, "needs a value", "gpuprobe --help")


@pytest.mark.parametrize("option,values,words", [
    ("--display-interval",
     ("-1", "x", "", "1d", "nan", "inf", "1e300", "0.000001"), ("give seconds",)),
    ("--duration", ("-1", "x", "", "1d", "nan", "inf", "1e300"), ("give seconds",)),
    ("--pid", ("0", "-1", "x", "", "1.5", "99999999999999999999"), ("whole number",)),
    ("--api", ("", "cuda", "AUTO", "driver,runtime"), ("auto, driver, runtime or both",)),
    ("--max-processes", ("0", "-1", "x", "", "1e3", "99999999999999999999"),
     ("whole number from 1",)),
    ("--max-allocations", ("0", "-1", "x"), ("whole number from 1",)),
    ("--max-kernels", ("0", "-1", "x"), ("whole number from 1",)),
    ("--max-inflight", ("0", "-1", "x"), ("whole number from 1",)),
    ("--top", ("-1", "x", ""), ("whole number from 0",)),
    ("--metrics-kernels", ("-1", "x", ""), ("whole number from 0",)),
    ("--metrics-addr", ("", "9000", "localhost", "localhost:", "localhost:http", "127.0.0.1:65536",
                        "::1:9000", "[::1:9000", "127.0.0.1:-1"), ("ADDRESS:PORT", "none")),
])
def test_bad_value(option, values, words):
    for value in values:
        fails(run(f"{option}={value}", *QUICK), 2, option, *words)


@pytest.mark.parametrize("option", ["--min-wait=1ms", "--stack-sample=1", "--stack-storage-size=9",
                                    "--stack-size=8"])
def test_options_of_stacks_without_stacks(option):
    fails(run(option, *QUICK), 2, f"{option.partition('=')[0]} has no effect with --stack off")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["trace", "--list-functions"],
                                       ["trace", "--json-schema"], ["diagnose", "--list"],
                                       ["bpftrace-script", "--standard-paths"]])
def test_a_full_disk_is_said(arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([paths.GPUPROBE, *arguments], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False)
    assert (done.returncode, done.stderr) == (
        1, "gpuprobe: cannot write standard output: No space left on device\n")


@pytest.mark.parametrize("option", ["--api", "--max-kernels", "--metrics-addr"])
def test_a_long_value_leaves_room_for_what_to_do(option):
    fails(run(option, "x" * 100000), 2, "x" * 80)
    assert run(option, "x" * 100000).stderr.rstrip("\n")[-1] != "x"


def test_min_wait_may_be_0():
    assert "'x'" in run("diagnose", "--min-wait", "0", "--duration", "x").stderr


def test_an_error_stays_one_line():
    fails(run("--api", "a\nb\x1b[31m"), 2, r"a\nb\x1b[31m")
    fails(run(*NONE, "--libcuda-path", "/a\nb"), 1, r"/a\nb")


def written(*arguments):
    """What gpuprobe writes to stderr, one item a write. A pipe for packets keeps writes apart."""
    reader, writer = os.pipe2(os.O_DIRECT | os.O_CLOEXEC)
    # The pipe holds less than the log of such a run may have: it is read meanwhile.
    with subprocess.Popen([str(paths.GPUPROBE), *arguments], env=environment(), stderr=writer,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL):
        os.close(writer)
        pieces = []
        while piece := os.read(reader, 65536):
            pieces.append(piece.decode())
        os.close(reader)
    return pieces


@pytest.mark.parametrize("arguments,least", [
    (["--bogus"], 1), (["-v", *NONE, *QUICK, "--", "true"], 3),
])
def test_a_message_is_one_write(arguments, least):
    pieces = written(*arguments)
    assert len(pieces) >= least
    for piece in pieces:
        assert piece.startswith("gpuprobe: ") and piece.endswith("\n"), pieces


# --- other errors: exit 1 ---

def test_quiet_does_not_hide_errors():
    fails(run("-q", "--libcuda-path", "/nonexistent"), 1, "/nonexistent")
    fails(run("-q", "--bogus"), 2, "--bogus")


def test_not_root(open_dir):
    def as_nobody(*args):
        return subprocess.run([*NOBODY, str(open_dir / "gpuprobe"), *args], env=environment(),
                              text=True, capture_output=True, timeout=120, check=False)

    fails(as_nobody(*QUICK, *NONE), 1, "run as root", "CAP_BPF", "CAP_PERFMON")
    fails(as_nobody(*NONE, "--", "echo", "ran"), 1, "run as root")


@pytest.mark.parametrize("missing", ["bpf", "perfmon"])
def test_lacking_a_capability(missing):
    # CAP_SYS_ADMIN stands for both.
    before = ["setpriv", f"--bounding-set=-{missing},-sys_admin", "--"]
    fails(run(*QUICK, *NONE, before=before), 1, f"CAP_{missing.upper()}", "run as root")


@pytest.mark.parametrize("kind", ["session", "multi"])
def test_four_capabilities_are_enough(kind, open_dir, missing_links):
    """A user without root: CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH."""
    if kind in missing_links:
        pytest.skip(f"this kernel has no {kind} links")
    command = [str(open_dir / "gpuprobe"), "--json", *NONE, "--display-interval", "0", "--", "sh",
               "-c", '"$@" >&2; id -u >&2', "sh", str(open_dir / "launch"), "--launches", "17"]
    done = subprocess.run([*with_capabilities(CAPABILITIES), *command],
                          env=environment(GPUPROBE_LINKS=kind), text=True,
                          capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "65534\n" in done.stderr
    assert sum(p["launches"] for p in json.loads(done.stdout)["processes"]) == 17


def test_four_capabilities_find_running_processes(open_dir):
    """Also those of another user, through their memory maps."""
    holder = subprocess.Popen([paths.workload("idle-holder"),
                               "--seconds", "300", "--then-launch", "6"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    watch = subprocess.Popen([*with_capabilities(CAPABILITIES), str(open_dir / "gpuprobe"),
                              "--json", *NONE, "--display-interval", "0.1", "-p", str(holder.pid)],
                             env=environment(), stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "READY\n"
        json.loads(watch.stdout.readline())
        print("go", file=holder.stdin, flush=True)
        assert holder.stdout.readline() == "DONE\n"
        watch.send_signal(signal.SIGINT)
        last = json.loads(watch.communicate(timeout=60)[0].splitlines()[-1])
    finally:
        for process in (holder, watch):
            process.kill()
            process.wait()
    process, = last["processes"]
    assert (process["launches"], process["since_attach"]) == (6, True)


def test_tracefs_needs_more(open_dir, tracefs):
    """The path of old kernels cannot do with the four; it says what is missing."""
    done = subprocess.run([*with_capabilities(CAPABILITIES), str(open_dir / "gpuprobe"),
                           *QUICK, *NONE], env=environment(GPUPROBE_LINKS="perf"),
                          text=True, capture_output=True, timeout=120, check=False)
    # What the five would bring is a warning.
    warning, done.stderr = done.stderr.split("\n", 1)
    assert warning.startswith("gpuprobe: warning: without CAP_CHECKPOINT_RESTORE: ")
    fails(done, 1, "uprobe_events", "CAP_SYS_ADMIN")


def test_no_btf():
    hide = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"]
    fails(run(*QUICK, *NONE, before=hide), 1, "/sys/kernel/btf/vmlinux", "CONFIG_DEBUG_INFO_BTF")


@pytest.mark.parametrize("release,works", [
    ("4.19.0-20-amd64", False), ("5.16.18", False), ("5.17.0-rc1", True), ("6.1.0-13-amd64", True),
    # Return probes are tried first there.
    ("6.12.4", True),
    ("10.0.0", True),
])
def test_kernel_too_old(release, works, tmp_path):
    library = tmp_path / "uname.so"
    source = paths.TESTS / "programs" / "uname.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    done = run(*QUICK, *NONE, LD_PRELOAD=library, FAKE_RELEASE=release)
    if works:
        assert done.returncode == 0, done.stderr
    else:
        fails(done, 1, release, "too old", "5.17")


@pytest.mark.parametrize("option", ["--libcuda-path", "--libcudart-path"])
def test_library_that_is_none(option, tmp_path):
    (tmp_path / "text.so").write_text("no ELF file\n" * 100)
    (tmp_path / "empty.so").write_bytes(b"")
    cut = paths.LIBCUDA.read_bytes()
    (tmp_path / "cut.so").write_bytes(cut[:3000])
    (tmp_path / "header.so").write_bytes(cut[:64])
    os.mkfifo(tmp_path / "fifo.so")
    for name, words in [("missing.so", ("No such file",)), ("text.so", ("not an ELF file",)),
                        ("empty.so", ("not an ELF file",)), ("cut.so", ()), ("header.so", ()),
                        ("fifo.so", ("not a regular file",)), (".", ("not a regular file",)),
                        ("text.so/x", ("Not a directory",))]:
        path = tmp_path / name if name != "." else tmp_path
        fails(run(option, path, *QUICK, *NONE), 1, str(path), *words, option)
    fails(run(option, "/bin/true", *QUICK, *NONE), 1, "/bin/true", "not a CUDA library", option)


def test_one_bad_library_among_good_ones():
    fails(run("--libcuda-path", paths.LIBCUDA, "--libcudart-path", "/bin/true", *QUICK, *NONE), 1,
          "/bin/true")


def test_port_in_use():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        fails(run("--metrics-addr", address, *QUICK), 1, address, "in use", "--metrics-addr")


def test_default_port_in_use_is_a_warning(sleeper):
    done = run(*QUICK, "-p", sleeper, "--libcuda-path", paths.LIBCUDA, before=PORT_9000_TAKEN)
    assert done.returncode == 0
    assert done.stdout.count("========================") == 2
    assert re.match(r"gpuprobe: warning: [^\n]*0\.0\.0\.0:9000[^\n]*without metrics\n",
                    done.stderr)
    assert done.stderr.endswith("\ngpuprobe: metrics are off\n")


def test_named_default_port_in_use_is_an_error():
    fails(run("--metrics-addr", "0.0.0.0:9000", *QUICK, before=PORT_9000_TAKEN), 1, "0.0.0.0:9000",
          "in use")


def test_address_of_another_machine():
    fails(run("--metrics-addr", "192.0.2.1:9000", *QUICK), 1, "192.0.2.1:9000", "--metrics-addr")


def test_no_such_command(tmp_path):
    fails(run(*NONE, "--", "no-such-command-anywhere"), 1, "no-such-command-anywhere", "PATH")
    fails(run(*NONE, "--", "/nonexistent/command"), 1, "/nonexistent/command")
    fails(run(*NONE, "--", ""), 1, "cannot run '': no such command")
    (tmp_path / "data").write_text("x")
    fails(run(*NONE, "--", tmp_path / "data"), 1, "data", "Permission denied", "may be executed")
    fails(run(*NONE, "--", tmp_path), 1, "Permission denied", "may be executed")


def test_no_such_pid():
    process = subprocess.Popen(["true"])
    process.wait()
    fails(run("-p", process.pid, *QUICK, *NONE), 1, str(process.pid), "no process")
    zombie = subprocess.Popen(["true"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    fails(run("-p", zombie.pid, *QUICK, *NONE), 1, str(zombie.pid))
    zombie.wait()


@pytest.mark.parametrize("word", ["nonsense", "tracefs", "Session", "perf,multi"])
def test_links_nonsense(word):
    fails(run(*QUICK, *NONE, GPUPROBE_LINKS=word), 1, "GPUPROBE_LINKS", word,
          "session, multi or perf")


def test_unused_seconds_nonsense():
    fails(run(*QUICK, *NONE, GPUPROBE_UNUSED_SECONDS="soon"), 1, "GPUPROBE_UNUSED_SECONDS", "soon",
          "give seconds")


def test_empty_links_is_none():
    assert run(*QUICK, *NONE, GPUPROBE_LINKS="").returncode == 0
