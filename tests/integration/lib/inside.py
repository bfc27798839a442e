# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe in a pid namespace."""
import subprocess

from lib import paths
from lib.probe import Result, Running, environment


class Inside:
    """gpuprobe in a pid namespace, with a /proc of its own."""

    WORDS = ["unshare", "-pf", "--kill-child", "--mount-proc", str(paths.GPUPROBE), "--json",
             "--metrics-addr", "none"]

    def __init__(self, links, truth_dir):
        truth_dir.mkdir()
        self.truth_dir = truth_dir
        self.env = environment(GPUPROBE_LINKS=links, CUDA_SIM_TRUTH=f"{truth_dir}/%p.%u.json")

    def run(self, *command):
        done = subprocess.run([*self.WORDS, "--display-interval", "0", "--", *map(str, command)],
                              env=self.env, text=True, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return Result(done.returncode, done.stdout, done.stderr, self.truth_dir)

    def start(self, *args):
        return Running([*self.WORDS, "--display-interval", "0.1", *map(str, args)], self.env,
                       self.truth_dir, None)
