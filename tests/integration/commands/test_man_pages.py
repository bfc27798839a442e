# SPDX-License-Identifier: BSD-2-Clause
"""Man pages are written by hand: each names the options that the command's help text has,
and no others."""
import re
import subprocess

import pytest

from lib import paths

MAN = paths.ROOT / "man"
# The page that stands for it; bpftrace-script has its options in gpuprobe(8).
PAGES = {"": "gpuprobe.8", "account": "gpuprobe-account.8", "check": "gpuprobe-check.8",
         "diagnose": "gpuprobe-diagnose.8", "diff": "gpuprobe-diff.8", "dump": "gpuprobe-dump.8",
         "export": "gpuprobe-export.8",
         "flame": "gpuprobe-flame.8", "memleak": "gpuprobe-memleak.8",
         "nccl": "gpuprobe-nccl.8", "ps": "gpuprobe-ps.8",
         "record": "gpuprobe-record.8", "snapshot": "gpuprobe-snapshot.8",
         "stat": "gpuprobe-stat.8", "top": "gpuprobe-top.8", "trace": "gpuprobe-trace.8"}
# Some pages have these in one line, and some leave them to gpuprobe(8).
COMMON = {"-v", "--verbose", "-q", "--quiet", "-h", "--help", "-V", "--version"}


def helped(command):
    """The names that stand at the beginning of a line of the help text."""
    text = subprocess.run([paths.GPUPROBE, *command.split(), "--help"], text=True,
                          capture_output=True, check=True, timeout=20).stdout
    heads = re.findall(r"^  (-.*?)(?:  |$)", text, re.M)
    return {name for head in heads
            for name in re.findall(r"(?:^|(?<=, ))(--?[A-Za-z][\w-]*)", head)}


def paged(page):
    """The names that stand in the line of an option, which begins with its name."""
    text = (MAN / page).read_text(encoding="utf-8").replace("\\-", "-")
    text = text[text.index(".SH OPTIONS"):]
    heads = re.findall(r"^(?:\.B |\\fB)(-.*)$",
                       re.sub(r"\.SH (?!OPTIONS).*?(?=\.SH OPTIONS|\Z)", "", text, flags=re.S),
                       re.M)
    return {name for head in heads
            for name in re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", head.replace("\\fB", " "))}


@pytest.mark.parametrize("command", PAGES)
def test_a_page_has_the_options_of_the_help_text(command):
    assert paged(PAGES[command]) - COMMON == helped(command) - COMMON
