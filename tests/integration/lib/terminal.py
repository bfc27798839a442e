# SPDX-License-Identifier: BSD-2-Clause
"""Runs gpuprobe on a pseudo-terminal of a given width."""
import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

from lib import paths
from lib.probe import environment


def run(args, columns, until=None, key=None, **env):
    """
    Runs gpuprobe to its end on a terminal so many columns wide. Returns its status and what it
    showed. `key` is typed once `until` has been shown.
    """
    pid, terminal = pty.fork()
    if not pid:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        # Not below timeout(1), which has the key's signal, too, and passes it on a second time.
        os.execve(paths.GPUPROBE, [str(paths.GPUPROBE), *map(str, args)],
                  environment(TERM="xterm", **env))
    shown = b""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        shown += data
        if key and until.encode() in shown:
            os.write(terminal, key)
            key = None
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status, shown.decode(errors="replace").replace("\r\n", "\n")
