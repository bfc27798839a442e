# SPDX-License-Identifier: BSD-2-Clause
"""Completions of shells, which the build writes from the tables of options, as a shell requests
them."""
import os
import pty
import shutil
import subprocess

import pytest

from lib import paths
from lib.probe import wait_for_file

SCRIPT = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_gpuprobe
printf '%s\\n' "${COMPREPLY[@]}"
"""


FILE = paths.BUILD / "completions/gpuprobe.bash"


@pytest.fixture
def complete():
    def run(*words):
        said = subprocess.run(["bash", "-c", SCRIPT, "bash", str(FILE), "gpuprobe", *words],
                              text=True, capture_output=True, check=True, timeout=20)
        assert said.stderr == ""
        return set(said.stdout.split())
    return run


def test_commands_and_options(complete):
    assert {"stat", "dump", "bpftrace-script", "--memleak", "--metrics-addr", "--"} <= complete("")
    assert complete("d") == {"dump", "diagnose", "diff"}
    assert complete("stat", "--stack-s") == {"--stack-size", "--stack-storage-size",
                                             "--stack-sample"}
    assert complete("dump", "--a") == {"--again", "--all", "--all-frames"}
    assert "stat" not in complete("dump", "")


def test_former_names_are_not_offered(complete):
    assert "--interval" in complete("--i") and complete("--display") == set()
    assert "-o" not in complete("flame", "-")


def test_help_takes_a_command(complete):
    assert complete("help", "s") == {"snapshot", "stat"}
    assert "--" not in complete("help", "")


def test_diff_takes_files(complete, tmp_path):
    (tmp_path / "a.rec").touch()
    assert complete("diff", f"{tmp_path}/a") == {f"{tmp_path}/a.rec"}
    assert complete("diff", f"{tmp_path}/a.rec", f"{tmp_path}/") == {f"{tmp_path}/a.rec"}
    assert complete("diff", "--fa") == {"--fail-on"}


def test_values(complete):
    assert complete("stat", "--api", "") == {"auto", "driver", "runtime", "both"}
    assert complete("trace", "--api", "") == {"driver", "runtime", "both"}
    assert complete("trace", "--api", "=") == {"driver", "runtime", "both"}
    assert complete("trace", "--format", "=", "t") == {"table", "tsv"}
    assert complete("--max-overhead", "") == {"off"}
    assert str(os.getpid()) in complete("dump", "-p", "")
    assert complete("stat", "--top", "") == set()


def test_files_and_programs(complete, tmp_path):
    (tmp_path / "out.svg").touch()
    assert complete("flame", "-o", f"{tmp_path}/o") == {f"{tmp_path}/out.svg"}
    assert complete("flame", "--output", f"{tmp_path}/o") == {f"{tmp_path}/out.svg"}
    assert "bash" in complete("stat", "--", "bas")
    assert complete("stat", "--", "cat", f"{tmp_path}/o") == {f"{tmp_path}/out.svg"}


# --- fish ---

def fish(line):
    """What fish offers at the end of the line, without descriptions."""
    script = f"source {paths.BUILD}/completions/gpuprobe.fish; complete -C '{line}'"
    done = subprocess.run(["fish", "--no-config", "-c", script], text=True, capture_output=True,
                          check=True, timeout=60)
    assert done.stderr == ""
    return {offered.split("\t")[0] for offered in done.stdout.splitlines()}


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish(tmp_path):
    assert fish("gpuprobe d") == {"dump", "diagnose", "diff"}
    assert fish("gpuprobe stat --stack-s") == {"--stack-size", "--stack-storage-size",
                                               "--stack-sample"}
    assert {"--service", "--verdict"} <= fish("gpuprobe --interval 5 --")
    assert "--service" not in fish("gpuprobe stat --")
    assert fish("gpuprobe stat --api ") == {"auto", "driver", "runtime", "both"}
    assert fish("gpuprobe trace --api=") == {"--api=driver", "--api=runtime", "--api=both"}
    assert fish("gpuprobe help s") == {"snapshot", "stat"}
    (tmp_path / "out.svg").touch()
    assert fish(f"gpuprobe flame --output {tmp_path}/o") == {f"{tmp_path}/out.svg"}
    assert fish(f"gpuprobe diff {tmp_path}/o") == {f"{tmp_path}/out.svg"}
    assert "bash" in fish("gpuprobe stat -- bas")
    assert fish(f"gpuprobe stat -- cat {tmp_path}/o") == {f"{tmp_path}/out.svg"}


# --- zsh ---

# What is offered goes to a file: the terminal has it among escape sequences.
ZSHRC = """
autoload -Uz compinit && compinit -u -D
fpath=({folder} $fpath)
autoload -Uz _gpuprobe && compdef _gpuprobe gpuprobe
compadd() {{
    local -a offered
    [[ " ${{(j: :)@[1,(i)--]}} " == *" -"[OAD]" "* ]] && {{ builtin compadd "$@"; return }}
    builtin compadd -O offered "$@"
    print -rl -- $offered >> {folder}/offered
}}
zle-line-init() {{ : > {folder}/ready }}
zle -N zle-line-init
PROMPT=
"""


@pytest.fixture
def zsh(tmp_path):
    """Types words and TAB into an interactive zsh. Returns what it offers."""
    shutil.copy(paths.BUILD / "completions/_gpuprobe", tmp_path)
    (tmp_path / ".zshrc").write_text(ZSHRC.format(folder=tmp_path))
    ready, done, offered = (tmp_path / name for name in ("ready", "done", "offered"))

    def run(line):
        ready.unlink(missing_ok=True)
        done.unlink(missing_ok=True)
        offered.write_text("")
        master, slave = pty.openpty()
        env = {**os.environ, "ZDOTDIR": str(tmp_path), "TERM": "dumb"}
        with subprocess.Popen(["zsh", "-i"], stdin=slave, stdout=slave, stderr=slave,
                              start_new_session=True, cwd=tmp_path, env=env) as shell:
            os.close(slave)
            wait_for_file(ready)
            os.write(master, f"{line}\t\x15: > {done}; exit\r".encode())
            wait_for_file(done)
            os.close(master)
            shell.kill()
        return set(offered.read_text().split())
    return run


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh(zsh):
    assert zsh("gpuprobe d") == {"dump", "diagnose", "diff"}
    assert zsh("gpuprobe stat --stack-s") == {"--stack-size", "--stack-storage-size",
                                              "--stack-sample"}
    assert {"--service", "--verdict"} <= zsh("gpuprobe --interval 5 --")
    assert "--service" not in zsh("gpuprobe stat --")
    assert zsh("gpuprobe stat --api ") == {"auto", "driver", "runtime", "both"}
    assert zsh("gpuprobe trace --api=") == {"driver", "runtime", "both"}
    assert zsh("gpuprobe help s") == {"snapshot", "stat"}
    assert "bash" in zsh("gpuprobe stat -- bas")
