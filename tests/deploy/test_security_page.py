# SPDX-License-Identifier: BSD-2-Clause
"""SECURITY.md: each file that it names as a proof exists, and its numbers are those of the code."""
import re

import pytest

from conftest import ROOT

PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:src|bpf|tests|deploy|docs|include)/[\w./-]+)`", PAGE))
               | set(re.findall(r"\]\((docs/[\w/.-]+)", PAGE)))


def test_names_files():
    assert len(NAMED) > 30
    assert [name for name in NAMED if not (ROOT / name).exists()] == []


def test_rows_have_a_proof_or_say_so():
    """A measure without a proof says who is trusted, or that nothing stops it."""
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    bare = [cells for cells in rows if len(cells) == 3 and not cells[2].strip()]
    assert all(re.match(r" (nothing|the kernel|they are root's)", cells[1]) for cells in bare), bare


@pytest.mark.parametrize("file, line, words", [
    ("src/serve/request.h", "#define REQUEST_HEAD_MAX 8192", "heads of at most 8 KiB"),
    ("src/serve/http.c", "#define DEFAULT_REQUEST_MS 10000", "10 s for a request"),
    ("src/serve/http.h", "/* concurrent (64) */", "64 connections"),
    ("src/serve/http.c", "#define PAGES_BYTES_MAX ((size_t)32 << 20)", "32 MiB of pages"),
    ("src/target/memory_reader.c", "#define ANSWER_NS (200 * NS_PER_MS)", "limit of 200 ms"),
    ("src/target/root_file.h", "#define ROOT_FILE_MAX (1ull << 36)", "ones of up to 64 GiB"),
    ("src/collect/ended_share.h", "#define ENDED_BYTES_MAX ((size_t)16 << 20)", "16 MiB together"),
    ("src/output/metrics/process_groups.h", "#define GROUPS_MAX 128", "128 groups"),
    ("src/output/metrics/process_groups.c", "#define ERRORS_MAX 256", "256 errors")])
def test_numbers(file, line, words):
    assert line in (ROOT / file).read_text(encoding="utf-8")
    assert words in PAGE
