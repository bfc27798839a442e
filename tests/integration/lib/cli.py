# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe run by a command line to its end, by whom, and how it has to look where it fails."""
import contextlib
import re
import socket
import subprocess

import pytest

from lib import paths
from lib.probe import environment

QUICK = ("--duration", "0.1", "--display-interval", "0")
NONE = ("--metrics-addr", "none")
PORT_9000 = pytest.mark.alone("a gpuprobe beside it may have the port, and end")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def with_capabilities(words):
    """Words before a command that run it as a user without root who has these capabilities."""
    plus = ",".join(f"+{word}" for word in words)
    return [*NOBODY, f"--inh-caps={plus}", f"--ambient-caps={plus}", "--"]


def run(*args, before=(), timeout=30, **env):
    """Runs gpuprobe to its end; `before` are words in front of the command."""
    return subprocess.run([*before, str(paths.GPUPROBE), *map(str, args)], env=environment(**env), text=True,
                          capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL, check=False)


def fails(done, status, *words):
    """It failed with one line on stderr, that has all of the words, and printed nothing else."""
    assert done.returncode == status, done
    assert done.stdout == ""
    assert re.fullmatch(r"gpuprobe: [^\n]+\n", done.stderr), done.stderr
    for word in words:
        assert word in done.stderr


def port_is_free():
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", 9000))
        except OSError:
            return False
    return True


def port_9000_taken():
    """The port is taken meanwhile: by us, or someone else has it, which is as good."""
    return contextlib.nullcontext() if not port_is_free() else socket.create_server(("0.0.0.0", 9000))
