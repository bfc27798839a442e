# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command to its end, with a timeout."""
import os
import signal
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Words put before a command that must run ahead of all other programs of the machine.
FIRST = [str(Path(__file__).with_name("first.sh"))]


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def capture(command, seconds, env=None):
    """
    Runs it with additional environment variables. Returns (status, output); the status is None
    after a timeout. At its end or after the timeout, everything left in its process group is killed
    without waiting.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [str(word) for word in command], env={**os.environ, **(env or {})}, cwd=ROOT,
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, process_group=0)
        said = ""
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            said = f"\nstopped after {seconds} s\n"
        finally:
            _kill_group(process)
            process.wait()
        output.seek(0)
        return None if said else process.returncode, output.read().decode(errors="replace") + said


def ending(status):
    """How a program ended, in words."""
    if status is None:
        return "took too long"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return f"exited with {status}"
