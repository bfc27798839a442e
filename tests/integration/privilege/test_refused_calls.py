# SPDX-License-Identifier: BSD-2-Clause
"""No command makes a system call that its own filter refuses: the kernel's log names these."""
import ctypes
import os
import re
import struct

import pytest

from lib import paths
from lib.dump import WAITS, Stuck
from lib.probe import Background, wait_until

pytestmark = [pytest.mark.usefixtures("nothing_left"), pytest.mark.plain("there is no filter")]

SPIN, = [way for way in WAITS if way.id == "stream-spin"]
SECONDS = ("--duration", 1)
COMMANDS = {
    "monitor": ("--metrics-addr", "none", *SECONDS),
    "stat": ("stat", *SECONDS),
    "diagnose": ("diagnose", *SECONDS),
    "memleak": ("memleak", *SECONDS),
    "flame": ("flame", "--by", "launches", *SECONDS),
    "trace": ("trace", *SECONDS),
    "top": ("top", "-b", "-n", 2, "-d", 0.5),
    "dump": ("dump",),
    "ps": ("ps",),
}
SYS_SECCOMP, SET_MODE_FILTER, FLAG_LOG = 317, 1, 2
REFUSES_GETPPID = [(0x20, 0, 0, 0), (0x15, 0, 1, 110), (0x06, 0, 0, 0x50001),
                   (0x06, 0, 0, 0x7fff0000)]


class Log:
    """The refused calls that the kernel has logged from now on."""

    def __init__(self):
        self.file = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        os.lseek(self.file, 0, os.SEEK_END)
        self.lines = []

    def of(self, pid):
        while True:
            try:
                self.lines.append(os.read(self.file, 8192).decode(errors="replace"))
            except BlockingIOError:
                return [call for line in self.lines if re.search(rf" pid={pid} ", line)
                        for call in re.findall(r"type=1326 .* syscall=(\d+)", line)]
            except BrokenPipeError:  # The log wrapped around.
                pass

    def close(self):
        os.close(self.file)


@pytest.fixture
def log():
    opened = Log()
    yield opened
    opened.close()


def refuse_getppid():
    """In a child: a filter that refuses getppid and logs it; then calls it."""
    libc = ctypes.CDLL(None)
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *row)
                                                for row in REFUSES_GETPPID))
    program = struct.pack("HxxxxxxP", len(REFUSES_GETPPID), ctypes.addressof(code))
    libc.prctl(38, 1, 0, 0, 0)
    assert libc.syscall(SYS_SECCOMP, SET_MODE_FILTER, FLAG_LOG, program) == 0
    os.getppid()


def test_the_log_names_them(log):
    pid = os.fork()
    if not pid:
        refuse_getppid()
        os._exit(0)
    os.waitpid(pid, 0)
    wait_until(lambda: log.of(pid) == ["110"], lambda: f"{log.lines}")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_call_is_refused(command, log, stuck, tmp_path):
    """Beside a thread that runs, which is looked at by a perf event."""
    with Stuck(SPIN, stuck.get(), log=tmp_path / "log") as program:
        with Background(paths.GPUPROBE, *COMMANDS[command], "-p", program.pid) as watching:
            watching.communicate(timeout=60)
    assert watching.returncode == 0
    assert log.of(watching.pid) == []
