# SPDX-License-Identifier: BSD-2-Clause
"""Runs a program in a terminal of tmux's: types keys, looks at the screen, changes its size."""
import contextlib
import shlex
import subprocess
from pathlib import Path

from lib.probe import descendants, environment, wait_until


class Terminal:
    """The screen of one program."""

    def __init__(self, socket):
        self.socket = socket

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", str(self.socket), "-f", "/dev/null",
                               *map(str, words)], env=environment(TERM="xterm", TMUX=None),
                              text=True, capture_output=True, timeout=60, check=True).stdout

    def start(self, argv, width, height, env):
        """
        Runs the program, then shows its status and the terminal's settings, and waits for a line.
        """
        words = shlex.join(["env", "-u", "TMUX", *(f"{name}={value}"
                                                   for name, value in env.items()),
                            *map(str, argv)])
        self.tmux("new-session", "-d", "-x", width, "-y", height,
                  f"echo before; {words}; echo status $?; stty -a; read line")

    def keys(self, *keys):
        """Types keys by tmux's names; one of several letters is typed letter by letter."""
        self.tmux("send-keys", *keys)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", width, "-y", height)

    def screen(self, escapes=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if escapes else []))

    def wait_for(self, *texts, gone=()):
        """Returns the screen once it shows all the texts, and none of those in `gone`."""
        shown = [""]

        def is_shown():
            shown[0] = self.screen()
            return all(text in shown[0] for text in texts) and not any(
                text in shown[0] for text in gone)

        wait_until(is_shown, lambda: f"no {texts} without {gone} in:\n{shown[0]}")
        return shown[0]

    def child(self, name):
        """The pid of the program of that name that runs in the terminal, not of its children."""
        shell = int(self.tmux("display-message", "-p", "#{pane_pid}"))
        named = [pid for pid in descendants(shell)
                 if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == name]
        return named[0]


@contextlib.contextmanager
def terminal(tmp_path, *argv, width=100, height=30, **env):
    """A program's terminal, which ends with the block."""
    opened = Terminal(tmp_path / "tmux")
    opened.start(argv, width, height, {"TERM": "screen-256color", "LC_ALL": "C.UTF-8", **env})
    try:
        yield opened
    finally:
        opened.tmux("kill-server")
