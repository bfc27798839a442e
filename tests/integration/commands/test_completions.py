# SPDX-License-Identifier: BSD-2-Clause
"""Bash completions, which the build writes from the tables of options, as a shell requests them."""
import os
import subprocess

import pytest

from lib import paths

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
    assert complete("d") == {"dump", "diagnose"}
    assert complete("stat", "--stack-s") == {"--stack-size", "--stack-storage-size",
                                             "--stack-sample"}
    assert complete("dump", "--a") == {"--again", "--all", "--all-frames"}
    assert "stat" not in complete("dump", "")


def test_former_names_are_not_offered(complete):
    assert "--interval" in complete("--i") and complete("--display") == set()
    assert "-o" not in complete("flame", "-")


def test_help_takes_a_command(complete):
    assert complete("help", "s") == {"stat"}
    assert "--" not in complete("help", "")


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
