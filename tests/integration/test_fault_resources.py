# SPDX-License-Identifier: BSD-2-Clause
"""What gpuprobe runs out of, or is kept from, but for memory: descriptors, disks, readers; and clients that misbehave."""
import concurrent.futures
import contextlib
import os
import resource
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from lib import paths
from lib.paths import workload
from lib.probe import Background, environment, wait_until_watching
from lib.scrape import Endpoint
from lib.steady import Steady, build

pytestmark = pytest.mark.usefixtures("nothing_left")

NONE = ["--metrics-addr", "none"]
# Every command, writing to FILE where it can.
COMMANDS = {
    "monitor": [*NONE, "--display-interval", "0.1"],
    "trace": ["trace"],
    "stat": ["stat"],
    "diagnose": ["diagnose"],
    "memleak": ["memleak"],
    "flame": ["flame", "--by", "launches", "--folded"],
}
OUTPUT = {"trace": "-O", "stat": "-O", "diagnose": "-O", "flame": "-o"}


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """programs/steady.c"""
    return build(tmp_path_factory.mktemp("steady"))


def run(*words, **options):
    return subprocess.run([str(paths.GPUPROBE), *map(str, words)], env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60, check=False, **options)


def check_words(stderr):
    """gpuprobe's own, and few."""
    lines = stderr.splitlines()
    assert all(line.startswith("gpuprobe: ") for line in lines) and len(lines) <= 6, stderr


# --- descriptors ---

def with_descriptors(number):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
    return limit


def check_start(number, pid):
    """It starts, or tells why not. Returns whether it did."""
    done = run(*NONE, "--display-interval", 0, "--duration", 0.05, "-p", pid, preexec_fn=with_descriptors(number))
    assert done.returncode in (0, 1), done.stderr
    check_words(done.stderr)
    assert done.returncode == 0 or done.stderr
    return done.returncode == 0 and not done.stderr


@pytest.mark.plain("the sanitizers need descriptors of their own")
@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.slow)])
def test_start_with_few_descriptors(program, step):
    """From one, for the dynamic linker, to as many as it needs: an error, of a line, or less than asked for, told."""
    with Steady(program) as target:
        started = [check_start(number, target.pid) for number in range(4, 256, step)]
        target.finish()
    assert not started[0] and started[-1]


def leave_none(pid):
    """No descriptor can be had any more; returns the limits as they were."""
    used = {int(name) for name in os.listdir(f"/proc/{pid}/fd")}
    free = min(set(range(len(used) + 1)) - used)
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    return resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, hard))


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_no_descriptor_for_clients(program):
    """They wait, gpuprobe does not turn in circles, and serves when it has one again."""
    endpoint = Endpoint()
    with Steady(program) as target:
        process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0", *endpoint.option, "-p", str(target.pid)],
                                   env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            endpoint.wait()
            assert endpoint.request("/healthz")[0] == 200
            wait_until_watching(process)
            before = leave_none(process.pid)
            with contextlib.ExitStack() as clients:
                for _ in range(5):
                    client = clients.enter_context(socket.create_connection(("127.0.0.1", endpoint.port), 10))
                    client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                began = cpu_seconds(process.pid)
                time.sleep(2.5)
                assert cpu_seconds(process.pid) - began < 0.5
                resource.prlimit(process.pid, resource.RLIMIT_NOFILE, before)
                client.settimeout(10)
                assert client.recv(100).startswith(b"HTTP/1.1 200")
            assert endpoint.scrape().value("gpuprobe_kernel_launches_total", pid=target.pid) > 0
        finally:
            process.terminate()
            words = process.communicate(timeout=20)[1]
        assert process.returncode == 0
        check_words(words)
        target.finish()


def test_no_descriptor_for_a_new_library(gpuprobe, program, tmp_path):
    """A library that comes when there is none left is told of; what is watched already stays exact."""
    place = tmp_path / "new"
    place.mkdir()
    for name in ("libcuda.so.1", "libcudart.so.13", "launch"):
        shutil.copy(paths.SIM / name, place)
    with Background("sh", "-c", f"read line; '{workload('launch')}' --launches 70; '{place}/launch' --launches 80; "
                                f"'{workload('launch')}' --launches 90") as parent:
        with gpuprobe.start(args=["-p", parent.pid], libraries=[paths.LIBCUDA, paths.LIBCUDART]) as running:
            running.report()
            leave_none(running.pid)
            parent.stdin.write("go\n")
            parent.stdin.flush()
            assert parent.wait(20) == 0
            result = running.stop()
    assert result.status == 0
    seen = {p["launches"] for report in result.reports for p in report["processes"] if p["ended"]}
    assert {70, 90} <= seen and 80 not in seen
    assert str(place) in result.stderr or "Too many open files" in result.stderr
    assert result.final["lost"]["library_skipped"] > 0


# --- outputs ---

@pytest.mark.parametrize("name", COMMANDS)
def test_full_disk(name, tmp_path):
    """A file system of a page: an error, and the program has run to its end."""
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", disk], check=True)
    try:
        (disk / "full").write_bytes(bytes(4096))
        command = ["sh", "-c", f"'{workload('traced')}' --rounds 20 >/dev/null && touch '{tmp_path}/done'"]
        if name in OUTPUT:
            done = run(*COMMANDS[name], OUTPUT[name], disk / "out", "--", *command)
        else:
            with open(disk / "out", "w", encoding="utf-8") as out:
                done = subprocess.run([paths.GPUPROBE, *COMMANDS[name], "--", *command], env=environment(),
                                      stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True,
                                      timeout=60, check=False)
        assert done.returncode == 1 and "No space left on device" in done.stderr
        check_words(done.stderr)
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("name", COMMANDS)
def test_reader_that_is_gone(name, tmp_path):
    """stdout is a pipe that nobody reads any more."""
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen([paths.GPUPROBE, *COMMANDS[name], "--", "sh", "-c",
                                f"'{workload('launch')}' >/dev/null; sleep 0.3; touch '{tmp_path}/done'"],
                               env=environment(), stdin=subprocess.DEVNULL, stdout=write, stderr=subprocess.PIPE,
                               text=True)
    os.close(write)
    words = process.communicate(timeout=30)[1]
    assert process.returncode in (0, 1, 141)
    check_words(words)
    end = time.monotonic() + 10
    while not (tmp_path / "done").exists():
        assert time.monotonic() < end, "the program did not end"
        time.sleep(0.05)


# --- clients ---

def test_1000_clients(program):
    """At once: as many as there is room for are answered, none waits for ever, and the next is served at once."""
    endpoint = Endpoint()
    with Steady(program) as target:
        process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0", *endpoint.option, "-p", str(target.pid)],
                                   env=environment(), stdout=subprocess.DEVNULL)
        try:
            endpoint.wait()
            answers = ask_at_once(endpoint.port, 1000)
            assert endpoint.request("/metrics", timeout=5)[0] == 200
            assert len(os.listdir(f"/proc/{process.pid}/fd")) < 256
        finally:
            process.terminate()
            process.wait(20)
        assert process.returncode == 0
        target.finish()
    whole = sum(answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"# EOF\n") for answer in answers)
    assert whole >= 64
    # The others were sent away to make room, not left with half a page.
    assert all(not answer or answer.endswith(b"# EOF\n") for answer in answers)


def ask_at_once(port, number):
    """What each of so many clients, connected before any of them asks, gets."""
    request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAccept: application/openmetrics-text\r\n\r\n"
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
        client.settimeout(30)
        client.connect(("127.0.0.1", port))
        clients.append(client)
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        return list(pool.map(ask, clients))


def test_a_byte_a_second(program):
    """A client that dribbles its request is sent away after ten seconds, and holds up nobody."""
    endpoint = Endpoint()
    with Steady(program) as target:
        process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0", *endpoint.option, "-p", str(target.pid)],
                                   env=environment(), stdout=subprocess.DEVNULL)
        try:
            endpoint.wait()
            begin = time.monotonic()
            with socket.create_connection(("127.0.0.1", endpoint.port), 10) as client, \
                    contextlib.suppress(ConnectionError):
                for byte in b"GET /metrics HTTP/1.1\r\nHost: example.org\r\n":
                    client.sendall(bytes([byte]))
                    assert endpoint.request("/healthz", timeout=5)[0] == 200
                    assert time.monotonic() - begin < 20, "it was never sent away"
                    time.sleep(1)
            assert 8 < time.monotonic() - begin < 20
        finally:
            process.terminate()
            process.wait(20)
        assert process.returncode == 0
        target.finish()
