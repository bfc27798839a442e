# SPDX-License-Identifier: BSD-2-Clause
"""Lists of gpuprobe's commands, in documents and tests, name those that the program has."""
import re
import subprocess

import pytest
from test_man_pages import PAGES
from test_odd_command_lines import COMMANDS

from lib import paths

DOCUMENTED_IN_THE_MAIN_PAGE = {"bpftrace-script", "help"}
# What starts or takes a program belongs into each list of CONTRIBUTING.md that is of such
# commands, unless another entry takes the same way through gpuprobe.
WATCHING_LISTS = {
    "faults/test_random_settings.py": {"snapshot"},
    "faults/test_lacking_resources.py": {"snapshot"},
    "faults/test_failed_allocations.py": {"snapshot"},
    "faults/test_signals.py": {"diagnose", "flame", "snapshot"},
    "processes/test_unwatched.py": {"snapshot"},
    "privilege/test_privilege.py": {"snapshot"},
}
# A pickle of PyTorch's form; and text and a screen for people.
NOT_COMPARED = {"snapshot", "help", "top"}


def text_of(path):
    return (paths.ROOT / path).read_text(encoding="utf-8").replace("\\-", "-")


def helped(*words):
    return subprocess.run([paths.GPUPROBE, *words], text=True, capture_output=True, check=True,
                          timeout=20).stdout


@pytest.fixture(scope="module")
def commands():
    """As gpuprobe --help lists them."""
    listed = helped("--help").partition("\nOther commands")[2].splitlines()[1:]
    found = {line.split()[0] for line in listed if re.match(r"  [a-z]", line)}
    assert {"stat", "bpftrace-script", "help"} <= found
    return found


def test_the_error_lists_them(commands):
    done = subprocess.run([paths.GPUPROBE, "tabulate"], text=True, capture_output=True, check=False,
                          timeout=20)
    assert set(re.search(r"\(commands: (.*?)\)", done.stderr).group(1).split(", ")) == commands


def test_man_pages(commands):
    """Each has a page, which names all others at its end, and a paragraph in the main page."""
    own = commands - DOCUMENTED_IN_THE_MAIN_PAGE
    assert {path.name for path in (paths.ROOT / "man").glob("*.8")} == \
        {"gpuprobe.8", *(f"gpuprobe-{command}.8" for command in own)}
    pages = {"": "man/gpuprobe.8", **{command: f"man/gpuprobe-{command}.8" for command in own}}
    for command, page in pages.items():
        also = text_of(page).partition(".SH SEE ALSO")[2]
        named = set(re.findall(r"^\.BR gpuprobe-?([a-z-]*) \(8\)", also, re.M))
        assert named == {"", *own} - {command}, page
    main = text_of("man/gpuprobe.8")
    assert {command for command in commands if f"\\fBgpuprobe {command}\\fR" not in main} == set()


def test_completions(commands):
    for name in ("gpuprobe.bash", "gpuprobe.fish", "_gpuprobe"):
        text = (paths.BUILD / "completions" / name).read_text(encoding="utf-8")
        assert {command for command in commands
                if not re.search(rf"(?<![\w-]){command}(?![\w-])", text)} == set(), name


def test_readme(commands):
    text = text_of("README.md")
    assert {command for command in commands
            if not re.search(rf"gpuprobe {command}(?![\w-])", text)} == set()


def test_lists_of_all_commands(commands):
    assert set(PAGES) - {""} == commands - DOCUMENTED_IN_THE_MAIN_PAGE
    assert set(COMMANDS) == commands - {"help"}
    fuzzed = text_of("tests/fuzz/fuzz_command_line.c")
    assert set(re.findall(r"static int parse_(\w+)\(int argc", fuzzed)) - \
        {"monitor", "values", "profile"} == \
        {command.replace("-", "_") for command in commands} - {"help"}
    compared = text_of("tests/outputs/compare.py")
    assert {command for command in commands if f'["{command}"' not in compared} == NOT_COMPARED


def test_lists_of_commands_that_watch_a_program(commands):
    watching = {command for command in commands
                if re.search(rf"gpuprobe {command} .*-- COMMAND", helped(command, "--help"))}
    assert {"trace", "snapshot"} <= watching
    for path, excused in WATCHING_LISTS.items():
        text = text_of(f"tests/integration/{path}")
        assert {command for command in watching
                if not re.search(rf'(\[|\(|^def ){re.escape(command)}\b|"{command}"', text,
                                 re.M)} == excused, path


def test_contributing_names_the_lists():
    text = text_of("CONTRIBUTING.md")
    for path in WATCHING_LISTS:
        assert f"`{path}`" in text
