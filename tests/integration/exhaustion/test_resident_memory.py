# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe's memory beside programs that use up as much of it as they can, beside many honest ones,
and afterwards."""
import socket
import threading
import time
from contextlib import ExitStack, contextmanager

import pytest

from lib.hostile import HONEST, HOSTILE, as_user, build_made_up, resident_mb, shared_directory
from lib.probe import Background, wait_until
from lib.scrape import Endpoint

pytestmark = [pytest.mark.slow, pytest.mark.plain("it measures gpuprobe's memory")]

MOST_MB = 150
AFTERWARDS_MB = 100
SECONDS = 60


@pytest.fixture(name="place")
def two_users():
    with shared_directory() as directory:
        build_made_up(directory / "hostile", HOSTILE)
        build_made_up(directory / "honest", HONEST)
        yield directory


class Watcher(threading.Thread):
    """The most memory that a process was seen to have."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid = pid
        self.most = 0.0
        self._end = threading.Event()

    def run(self):
        while not self._end.wait(0.2):
            self.most = max(self.most, resident_mb(self.pid))

    def finish(self):
        self._end.set()
        self.join()
        return self.most


@contextmanager
def clients_that_do_not_read(endpoint, count):
    """Each asks for a page, takes none of it, and asks anew before its time is over."""
    end = threading.Event()

    def hold(first):
        end.wait(first)
        while not end.is_set():
            try:
                with socket.socket() as client:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                    client.connect(("127.0.0.1", endpoint.port))
                    client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    end.wait(9)
            except OSError:
                end.wait(0.1)
    threads = [threading.Thread(target=hold, args=(9 * number / count,)) for number in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        end.set()
        for thread in threads:
            thread.join()


def run_beside(gpuprobe, place, attack, loops=1, clients=0):
    """
    Runs `loops` attacking programs at a time for a minute. An honest user's programs are counted
    exactly meanwhile, and the page has their last values at the end; copies are compared, since
    nameless kernels may fill the map of kernels.
    """
    endpoint = Endpoint()
    libraries = [place / name / "libcuda.so.1" for name in ("hostile", "honest")]
    with ExitStack() as stack:
        running = stack.enter_context(gpuprobe.start(libraries=libraries,
                                                     base=["--json", *endpoint.option], interval=5))
        running.report()
        watcher = Watcher(running.pid)
        watcher.start()
        with ExitStack() as attacks:
            attacks.enter_context(clients_that_do_not_read(endpoint, clients))
            for _ in range(loops):
                attacks.enter_context(Background(*as_user(HOSTILE), "sh", "-c",
                                                 f"while :; do {attack}; done",
                                                 cwd=place / "hostile"))
            honest = check_honest(endpoint, place)
        most = watcher.finish()
        page = endpoint.scrape()
        for pid in honest[-3:]:
            assert page.sum("gpuprobe_copies_total", pid=pid) == 50
        assert most < MOST_MB
        wait_until(lambda: resident_mb(running.pid) < AFTERWARDS_MB,
                   lambda: f"{resident_mb(running.pid)} MB", 180)


def check_honest(endpoint, place):
    """One program after the other, each scraped while it is there. Returns their pids."""
    pids = []
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        with Background(*as_user(HONEST), place / "honest" / "made_up", "usual", 50,
                        "wait") as program:
            program.stdout.readline()
            page = endpoint.until(
                lambda page: page.sum("gpuprobe_copies_total", pid=program.pid) >= 50)
            assert page.sum("gpuprobe_copies_total", pid=program.pid) == 50
            pids.append(program.pid)
        time.sleep(1)
    return pids


def test_errors_and_clients_that_do_not_read(gpuprobe, place):
    run_beside(gpuprobe, place, "./made_up errors 16000", clients=50)


def test_nameless_kernels_again_and_again(gpuprobe, place):
    run_beside(gpuprobe, place, "./made_up kernels 60000")


def test_programs_without_end(gpuprobe, place):
    run_beside(gpuprobe, place, "./made_up usual 50", loops=3)
