# SPDX-License-Identifier: BSD-2-Clause
"""
`gpuprobe check`: its output, and the places to run it in: namespaces, and beside which process.
"""
import json
import subprocess

from lib import paths
from lib.probe import Background, environment

FIVE = ("bpf", "perfmon", "sys_ptrace", "dac_read_search", "checkpoint_restore")


class Check:
    """The output of gpuprobe check --json, and its exit status."""

    def __init__(self, *args, before=(), program=paths.GPUPROBE, timeout=120, **env):
        self.done = subprocess.run([*before, str(program), "check", "--json", *map(str, args)],
                                   env=environment(**env), text=True, capture_output=True,
                                   timeout=timeout, stdin=subprocess.DEVNULL, check=False)
        assert self.done.stderr == ""
        assert self.done.stdout.count("\n") == 1
        self.result = json.loads(self.done.stdout)
        self.lines = self.result["lines"]
        self.check_form()

    def check_form(self):
        """Checks the sums, the exit status and the members that every line must have."""
        assert self.result["schema"] == 1
        for state in ("ok", "degraded", "missing"):
            assert self.result[state] == sum(line["state"] == state for line in self.lines)
        assert self.done.returncode == (1 if self.result["missing"] else 0)
        for line in self.lines:
            assert line["text"] and line["topic"]
            assert (line["advice"] is None) == (line["state"] == "ok"), line

    def all(self, topic, text=""):
        return [line for line in self.lines if line["topic"] == topic and text in line["text"]]

    def one(self, topic, text=""):
        found = self.all(topic, text)
        assert len(found) == 1, (found, self.lines)
        return found[0]

    def state(self, topic, text=""):
        return self.one(topic, text)["state"]

    def process(self, pid):
        found = [line for line in self.all("process") if line["facts"].get("pid") == pid]
        assert len(found) == 1, self.all("process")
        return found[0]


def in_mounts(script):
    """Words put before a command to run it in its own mount namespace, after the script."""
    return ["unshare", "-m", "sh", "-ec", script + '\nexec "$@"', "sh"]


def holder(directory=paths.SIM, **options):
    """A simulated CUDA process that waits."""
    background = Background(directory / "idle-holder", "--seconds", "3600", **options)
    assert background.stdout.readline() == "READY\n"
    return background
