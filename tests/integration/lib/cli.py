# SPDX-License-Identifier: BSD-2-Clause
"""Runs gpuprobe's command line to its end, as some user, and checks the form of its failures."""
import re
import subprocess

from lib import paths
from lib.probe import environment

QUICK = ("--duration", "0.1", "--display-interval", "0")
NONE = ("--metrics-addr", "none")
# Words put before a command to run it where its default port is taken: in its own network
# namespace, by a socket that it inherits.
PORT_9000_TAKEN = ["unshare", "--net", "--", paths.PYTHON, "-c", """
import os, signal, socket, sys
taken = socket.create_server(("0.0.0.0", 9000))
taken.set_inheritable(True)
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def with_capabilities(words):
    """Words put before a command to run it as a non-root user with these capabilities."""
    plus = ",".join(f"+{word}" for word in words)
    return [*NOBODY, f"--inh-caps={plus}", f"--ambient-caps={plus}", "--"]


def run(*args, before=(), timeout=120, **env):
    """Runs gpuprobe to its end; `before` has words put before the command."""
    return subprocess.run([*before, str(paths.GPUPROBE), *map(str, args)], env=environment(**env),
                          text=True, capture_output=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          check=False)


def fails(done, status, *words):
    """
    Asserts that it failed with one line on stderr that contains all of the words, and printed
    nothing else.
    """
    assert done.returncode == status, done
    assert done.stdout == ""
    assert re.fullmatch(r"gpuprobe: [^\n]+\n", done.stderr), done.stderr
    for word in words:
        assert word in done.stderr
