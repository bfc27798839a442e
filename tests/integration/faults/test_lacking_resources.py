# SPDX-License-Identifier: BSD-2-Clause
"""Resources that gpuprobe runs out of or is denied, except memory: descriptors, disks, readers;
and misbehaving clients."""
import concurrent.futures
import contextlib
import fcntl
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from lib import paths
from lib.paths import workload
from lib.probe import SECTIONS, Background, environment, wait_for_file, wait_until_watching
from lib.scrape import Endpoint
from lib.steady import Steady, build
from lib.variants import some_of

pytestmark = pytest.mark.usefixtures("nothing_left")

NONE = ["--metrics-addr", "none"]
# Every command, writing to FILE where it can.
COMMANDS = {
    "monitor": [*NONE, "--display-interval", "0.1"],
    "trace": ["trace"],
    "stat": ["stat"],
    "diagnose": ["diagnose"],
    "nccl": ["nccl", "--interval", "0.1"],
    "memleak": ["memleak"],
    "account": ["account"],
    "flame": ["flame", "--by", "launches", "--folded"],
}
OUTPUT = {"trace": "-O", "stat": "-O", "diagnose": "-O", "nccl": "-O", "flame": "-o"}


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """programs/steady.c"""
    return build(tmp_path_factory.mktemp("steady"))


def run(*words, **options):
    return subprocess.run([str(paths.GPUPROBE), *map(str, words)], env=environment(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=60, check=False, **options)


def check_words(stderr):
    """gpuprobe's own, and few."""
    lines = stderr.splitlines()
    assert all(line.startswith("gpuprobe: ") for line in lines) and len(lines) <= 6, stderr


# --- descriptors ---

def with_descriptors(number):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
    return limit


@pytest.mark.parametrize("number", [60, 64, 68])
@pytest.mark.plain("the sanitizers need descriptors of their own")
def test_too_few_descriptors_are_named(number):
    """Also where libbpf, which has none left for a map, gives another reason."""
    done = run(*NONE, "--", "true", preexec_fn=with_descriptors(number))
    assert done.returncode == 1 and "ulimit -n" in done.stderr, done.stderr


def check_start(number, pid):
    """It starts, or tells why not. Returns whether it did."""
    done = run(*SECTIONS, *NONE, "--display-interval", 0, "--duration", 0.05, "-p", pid,
               preexec_fn=with_descriptors(number))
    assert done.returncode in (0, 1), done.stderr
    check_words(done.stderr)
    assert done.returncode == 0 or done.stderr
    return done.returncode == 0 and not done.stderr


@pytest.mark.plain("the sanitizers need descriptors of their own")
@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_start_with_few_descriptors(program, step):
    """From one descriptor, for the dynamic linker, to as many as it needs:
    a one-line error, or less coverage, which is reported."""
    with Steady(program) as target:
        started = [check_start(number, target.pid) for number in range(4, 256, step)]
        target.finish()
    assert not started[0] and started[-1]


def leave(pid, number):
    """So many descriptors can be had, and no more; returns the limits as they were."""
    used = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    free = sorted(set(range(len(used) + number + 1)) - used)[number]
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, hard))


def leave_none(pid):
    return leave(pid, 0)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_no_descriptor_for_clients(program):
    """They wait, gpuprobe does not turn in circles, and serves when it has one again."""
    endpoint = Endpoint()
    with Steady(program) as target:
        process = subprocess.Popen(
            [paths.GPUPROBE, "--display-interval", "0", *endpoint.option, "-p", str(target.pid)],
            env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            endpoint.wait()
            assert endpoint.request("/healthz")[0] == 200
            wait_until_watching(process)
            before = leave_none(process.pid)
            with contextlib.ExitStack() as clients:
                for _ in range(5):
                    client = clients.enter_context(
                        socket.create_connection(("127.0.0.1", endpoint.port), 60))
                    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                began = cpu_seconds(process.pid)
                time.sleep(2.5)
                assert cpu_seconds(process.pid) - began < 0.5
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
                client.settimeout(60)
                assert client.recv(100).startswith(b"HTTP/1.1 200")
            assert endpoint.scrape().value("gpuprobe_kernel_launches_total", pid=target.pid) > 0
        finally:
            process.terminate()
            words = process.communicate(timeout=60)[1]
        assert process.returncode == 0
        check_words(words)
        target.finish()


def three_programs(tmp_path):
    """A process that runs three once it is told to, the second with libraries of its own."""
    place = tmp_path / "new"
    place.mkdir()
    for name in ("libcuda.so.1", "libcudart.so.13", "launch"):
        shutil.copy(paths.SIM / name, place)
    return Background(
        "sh", "-c",
        f"read line; '{workload('launch')}' --launches 70; '{place}/launch' --launches 80; "
        f"'{workload('launch')}' --launches 90")


def test_no_descriptor_for_a_new_library(gpuprobe, program, tmp_path):
    """gpuprobe reports a library that comes when no descriptor is left;
    what it already watches stays exact."""
    with three_programs(tmp_path) as parent:
        with gpuprobe.start(args=["-p", parent.pid],
                            libraries=[paths.LIBCUDA, paths.LIBCUDART]) as running:
            running.report()
            leave_none(running.pid)
            parent.stdin.write("go\n")
            parent.stdin.flush()
            assert parent.wait(60) == 0
            result = running.stop()
    assert result.status == 0
    seen = {p["launches"] for report in result.reports for p in report["processes"] if p["ended"]}
    assert {70, 90} <= seen and 80 not in seen
    # Which file it wants first is a matter of time.
    assert re.search(
        rf"warning: (process \d+|.*{re.escape(str(tmp_path))}\S*): .*Too many open files",
        result.stderr)
    assert result.final["lost"]["library_skipped"] > 0


@pytest.mark.waits("for new tries, some seconds apart")
def test_no_descriptor_in_the_middle_of_a_library(gpuprobe_multi, tmp_path):
    """A library whose links were made in part has none of them, so that the next try does not make
    calls count twice."""
    runs = ('while read place; do "$place/launch" --launches 80 >/dev/null & pid=$!; wait $pid; '
            'echo $pid; done')

    def launches(report):
        return {process["pid"]: process["launches"] for process in report["processes"]
                if process["ended"]}

    def is_exact(report, pids):
        return any(launches(report).get(pid) == 80 for pid in pids)

    def run_until(running, parent, place, condition):
        pids, end = {int(parent.tell(place))}, time.monotonic() + 60
        while not condition(running.report(), pids):
            assert time.monotonic() < end, f"{place}: it was not tried, or never got its probes"
            pids.add(int(parent.tell(place)))

    with Background("sh", "-c", runs) as parent:
        with gpuprobe_multi.start(args=["--max-overhead", 100, "-p", parent.pid],
                                  libraries=[paths.LIBCUDA]) as running:
            for number in range(3, 9):
                place = tmp_path / f"with{number}"
                place.mkdir()
                for name in ("libcuda.so.1", "libcudart.so.13", "launch"):
                    shutil.copy(paths.SIM / name, place)
                skipped = running.report()["lost"]["library_skipped"]
                before = leave(running.pid, number)
                run_until(running, parent, place,
                          lambda report, pids, skipped=skipped:
                          report["lost"]["library_skipped"] > skipped or
                          is_exact(report, pids))
                resource.prlimit(running.pid, resource.RLIMIT_NOFILE, before)
                run_until(running, parent, place, is_exact)
            result = running.stop()
    assert max(max(launches(report).values(), default=0) for report in result.reports) == 80
    assert result.final["lost"]["library_skipped"] > 0


@pytest.mark.parametrize("options, status",
                         [(("-c", "--format", "json"), 0),
                          (("-c", "--format", "json", "--strict"), 3), (("-c", "-q"), 0)])
def test_no_descriptor_for_a_new_library_of_a_trace(tmp_path, options, status):
    """The tracer counts it in its summary and its last line, also with --quiet;
    for --strict it is a loss."""
    with three_programs(tmp_path) as parent:
        probe = subprocess.Popen(
            [paths.GPUPROBE, "trace", "-e", "cuLaunchKernel", *options, "-p", str(parent.pid),
             "--libcuda-path", paths.LIBCUDA, "--libcudart-path", paths.LIBCUDART],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            wait_until_watching(probe)
            leave_none(probe.pid)
            parent.stdin.write("go\n")
            parent.stdin.flush()
            assert parent.wait(60) == 0
            stdout, stderr = probe.communicate(timeout=60)
        finally:
            probe.kill()
    assert probe.returncode == status, stderr
    last = re.fullmatch(r"gpuprobe: summed up 160 calls, lost 0; (\d+) files? that may be CUDA "
                        r"libraries got no probes", stderr.splitlines()[-1])
    assert int(last[1]) > 0
    if "json" in options:
        summary = json.loads(stdout)["summary"]
        assert (summary["calls"], summary["lost"],
                summary["library_skipped"]) == (160, 0, int(last[1]))
    else:
        assert f"{last[0].partition('; ')[2]}: their calls are not in the table\n" in stdout
        assert stderr.count("\n") == 1


# --- outputs ---

@pytest.mark.parametrize("name", some_of(COMMANDS, "monitor", "trace", "stat", "flame"))
def test_full_disk(name, tmp_path):
    """A file system of a page: an error, and the program has run to its end."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], check=True)
    try:
        (disk / "full").write_bytes(bytes(4096))
        command = ["sh", "-c",
                   f"'{workload('traced')}' --rounds 20 >/dev/null && touch '{tmp_path}/done'"]
        if name in OUTPUT:
            done = run(*COMMANDS[name], OUTPUT[name], disk / "out", "--", *command)
        else:
            with open(disk / "out", "w", encoding="utf-8") as out:
                done = subprocess.run([paths.GPUPROBE, *COMMANDS[name], "--", *command],
                                      env=environment(), stdin=subprocess.DEVNULL, stdout=out,
                                      stderr=subprocess.PIPE, text=True, timeout=60, check=False)
        assert done.returncode == 1 and "No space left on device" in done.stderr
        check_words(done.stderr)
        wait_for_file(tmp_path / "done")
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("words, told", [
    (("--no-readings", "-e", "launch"),
     r"recorded (\d+) calls in \d.*, lost 0; (\d+) more could not be written\n"),
    (("--level", "calls"), r"recorded (0) calls in 1.4 KiB, lost 0"),
    (("--level", "summary"), r"recorded (0) readings, 1.4 KiB\n")])
def test_full_disk_of_a_recording(words, told, tmp_path):
    """The header has room, and little else: what is missing is counted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk], check=True)
    try:
        (disk / "full").write_bytes(bytes(4096))
        done = run("record", *words, "-o", disk / "out", "--", "sh", "-c",
                   f"'{workload('launch')}' --launches 20000 >/dev/null && touch '{tmp_path}/done'")
        assert done.returncode == 1 and "No space left on device" in done.stderr
        counts = re.search(told, done.stderr).groups()
        assert sum(map(int, counts)) == (20000 if len(counts) == 2 else 0)
        check_words(done.stderr)
        wait_for_file(tmp_path / "done")
    finally:
        subprocess.run(["umount", disk], check=True)


SUMMARY = ("trace", "-e", "all", "-c", "-q")
# Its summary is longer than a page that was read, the pipe, and what stdio keeps.
MANY_FUNCTIONS = (workload("mix"), "--seed", "1", "--seconds", "0.7", "--threads", "4",
                  "--children", "0")


def test_full_disk_for_a_long_summary():
    """The reason is told, not another."""
    done = run(*SUMMARY, "-O", "/dev/full", "--", *MANY_FUNCTIONS)
    assert done.returncode == 1 and "cannot write /dev/full: No space left on device" in done.stderr


@pytest.mark.parametrize("goes", [True, False])
def test_reader_of_a_long_summary(goes):
    """A reader that leaves early has seen enough; a slow reader of a non-blocking pipe
    gets everything."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writer, False)
    with subprocess.Popen([paths.GPUPROBE, *SUMMARY, "--", "sh", "-c", 'exec "$@" >/dev/null',
                           "sh", *MANY_FUNCTIONS], env=environment(), stdin=subprocess.DEVNULL,
                          stdout=writer, stderr=subprocess.PIPE, text=True) as probe:
        os.close(writer)
        text = os.read(reader, 4096)
        while not goes and (piece := os.read(reader, 4096)):
            time.sleep(0.05)
            text += piece
        os.close(reader)
        stderr = probe.communicate(timeout=60)[1]
    assert probe.returncode == 0 and "cannot write" not in stderr, stderr
    assert goes or (b" total\n" in text and len(text) > 3 * 4096)


def may_write_no_file():
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))


@pytest.mark.parametrize("name", some_of(COMMANDS, "monitor", "trace", "flame"))
def test_file_that_must_not_grow(name, tmp_path):
    """At the limit of ulimit -f: an error as for a full disk, without the signal,
    which the program would still get."""
    command = ["sh", "-c", f"ulimit -f unlimited; '{workload('traced')}' --rounds 20 >/dev/null; "
               f"grep SigIgn /proc/self/status >'{tmp_path}/ignored'; "
               f"mv '{tmp_path}/ignored' '{tmp_path}/done'"]
    option = [OUTPUT[name], tmp_path / "file"] if name in OUTPUT else []
    with open(tmp_path / "out", "wb") as out:
        done = subprocess.run([paths.GPUPROBE, *COMMANDS[name], *option, "--", *command],
                              env=environment(), stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.PIPE, text=True, timeout=60,
                              check=False, preexec_fn=may_write_no_file)
    assert done.returncode == 1 and "File too large" in done.stderr, done.stderr
    check_words(done.stderr)
    wait_for_file(tmp_path / "done")
    assert not int((tmp_path / "done").read_text().split()[1], 16) >> (signal.SIGXFSZ - 1) & 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("name", some_of(OUTPUT, "trace", "flame"))
def test_pipe_that_nobody_reads(name, number, tmp_path):
    """It is waited for, and a signal ends that; COMMAND has not begun."""
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen([paths.GPUPROBE, *COMMANDS[name], OUTPUT[name],
                                tmp_path / "pipe", "--", "touch", tmp_path / "done"],
                               env=environment(), stdin=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while "wait_for_partner" not in Path(f"/proc/{process.pid}/wchan").read_text():
        assert time.monotonic() < end and process.poll() is None, "it does not wait for a reader"
        time.sleep(0.02)
    process.send_signal(number)
    assert process.wait(60) == -number
    assert not (tmp_path / "done").exists()


def is_ignored(pid, number):
    """Whether a signal is nothing to the process, which is there."""
    status = dict(line.split(":\t", 1)
                  for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (bool(int(status["SigIgn"], 16) >> (number - 1) & 1)
            and not status["State"].startswith("Z"))


@pytest.mark.parametrize("name", ["monitor", "trace", "stat"])
def test_terminal_that_is_gone(gpuprobe, program, name, tmp_path):
    """SIGHUP: it ends as at Ctrl-C, with its report; where it is ignored (nohup) it goes on."""
    with Steady(program) as target:
        for ignored in (False, True):
            out = tmp_path / f"out{ignored}"
            with open(out, "wb") as file:
                process = subprocess.Popen([*(["nohup"] if ignored else []), paths.GPUPROBE,
                                            *COMMANDS[name], "-v", "-p", str(target.pid)],
                                           env=environment(), stdin=subprocess.DEVNULL, stdout=file,
                                           stderr=subprocess.PIPE, text=True)
            while "the probes are in" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGHUP)
            if ignored:
                assert is_ignored(process.pid, signal.SIGHUP)
                process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)
            assert process.returncode == 0
            assert out.stat().st_size > 0
        target.finish()


@pytest.mark.alone("it changes a setting of the whole machine")
def test_link_in_a_folder_of_everybody(tmp_path):
    """open(2) refuses root such a file there (fs.protected_symlinks),
    and `flame -o` does not get around it."""
    setting = Path("/proc/sys/fs/protected_symlinks")
    before = setting.read_text()
    folder, victim = tmp_path / "everybody", tmp_path / "victim"
    folder.mkdir()
    folder.chmod(0o1777)
    victim.write_text("mine")
    (folder / "out").symlink_to(victim)
    os.lchown(folder / "out", 65534, 65534)
    try:
        setting.write_text("1")
        done = run("flame", "--by", "launches", "--folded", "-o", folder / "out", "--",
                   workload("launch"))
    finally:
        setting.write_text(before)
    assert done.returncode == 1 and "Permission denied" in done.stderr
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("name", COMMANDS)
def test_reader_that_is_gone(name, tmp_path):
    """stdout is a pipe that nobody reads any more."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [paths.GPUPROBE, *COMMANDS[name], "--", "sh", "-c",
         f"'{workload('launch')}' >/dev/null; sleep 0.3; touch '{tmp_path}/done'"],
        env=environment(), stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE,
        text=True)
    os.close(write)
    words = process.communicate(timeout=60)[1]
    assert process.returncode in (0, 1, 141)
    check_words(words)
    wait_for_file(tmp_path / "done")


# --- clients ---

def test_1000_clients(program):
    """Many at once: as many as there is room for are answered, none waits for ever,
    and the next is served at once."""
    endpoint = Endpoint()
    with Steady(program) as target:
        process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0",
                                    *endpoint.option, "-p", str(target.pid)],
                                   env=environment(), stdout=subprocess.DEVNULL)
        try:
            endpoint.wait()
            with own_descriptors(1100):
                answers = ask_at_once(endpoint.port, 1000)
            assert endpoint.request("/metrics")[0] == 200
            assert len(os.listdir(f"/proc/{process.pid}/fd")) < 256
        finally:
            process.terminate()
            process.wait(60)
        assert process.returncode == 0
        target.finish()
    whole = sum(answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"# EOF\n")
                for answer in answers)
    assert whole >= 64
    # The others were sent away to make room, not left with half a page.
    assert all(not answer or answer.endswith(b"# EOF\n") for answer in answers)


@contextlib.contextmanager
def own_descriptors(number):
    """So many for the test itself, whatever soft limit it was started with."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(number, before[0]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def ask_at_once(port, number):
    """What each of so many clients, connected before any of them asks, gets."""
    request = (b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
               b"Accept: application/openmetrics-text\r\n\r\n")
    clients = []

    def ask(client):
        received = b""
        try:
            client.sendall(request)
            while chunk := client.recv(65536):
                received += chunk
        except ConnectionError:
            pass
        finally:
            client.close()
        return received

    for _ in range(number):
        client = socket.socket()
        client.settimeout(60)
        client.connect(("127.0.0.1", port))
        clients.append(client)
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        return list(pool.map(ask, clients))


@pytest.mark.waits("for bytes that come one a second")
def test_a_byte_a_second(program):
    """A client that dribbles its request is sent away after ten seconds, and holds up nobody."""
    endpoint = Endpoint()
    with Steady(program) as target:
        process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0",
                                    *endpoint.option, "-p", str(target.pid)],
                                   env=environment(), stdout=subprocess.DEVNULL)
        try:
            endpoint.wait()
            begin = time.monotonic()
            with socket.create_connection(("127.0.0.1", endpoint.port), 60) as client, \
                    contextlib.suppress(ConnectionError):
                # At most a byte a second: it notices the first byte that it cannot send by
                # the one after.
                for sent, byte in enumerate(b"GET /metrics HTTP/1.1\r\nHost: x"):
                    assert sent < 20, "it was never sent away"
                    client.sendall(bytes([byte]))
                    assert endpoint.request("/healthz")[0] == 200
                    time.sleep(1)
            assert time.monotonic() - begin > 8
        finally:
            process.terminate()
            process.wait(60)
        assert process.returncode == 0
        target.finish()
