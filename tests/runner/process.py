# SPDX-License-Identifier: BSD-2-Clause
"""Runs a command to its end, for at most so many seconds."""
import os
import signal
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Words before a command that is to run before all other programs of the machine.
FIRST = [str(Path(__file__).with_name("first.sh"))]


def _kill_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def capture(command, seconds, env=None):
    """
    Runs it with these variables set besides. Returns (status, output); the status is None where it took too long, and
    then all that it started in its process group is killed.
    """
    process = subprocess.Popen([str(word) for word in command], env={**os.environ, **(env or {})}, cwd=ROOT,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", process_group=0)
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            _kill_group(process)
            output, _ = process.communicate()
            return None, f"{output}\nstopped after {seconds} s\n"
        except BaseException:
            _kill_group(process)
            raise


def ending(status):
    """How a program ended, in words."""
    if status is None:
        return "took too long"
    if status < 0:
        return f"ended by {signal.Signals(-status).name}"
    return f"exited with {status}"
