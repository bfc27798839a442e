# SPDX-License-Identifier: BSD-2-Clause
"""docs/performance.md says what bench/results.json holds, and what is written by hand stays."""
import shutil
import subprocess

from lib import paths

PAGE = paths.ROOT / "docs/performance.md"
RESULTS = paths.ROOT / "bench/results.json"


def show(page):
    subprocess.run([paths.PYTHON, paths.ROOT / "bench/bench.py",
                    "--show", "--results", RESULTS, "--page", page],
                   check=True, timeout=60)
    return page.read_text(encoding="utf-8")


def test_page_is_that_of_the_results(tmp_path):
    page = shutil.copy(PAGE, tmp_path / "page.md")
    assert show(page) == PAGE.read_text(encoding="utf-8"), "bench/bench.py --show writes it anew"


def test_what_is_written_by_hand_stays(tmp_path):
    page = shutil.copy(PAGE, tmp_path / "page.md")
    with page.open("a", encoding="utf-8") as file:
        file.write("\nA note.\n")
    assert show(page).endswith("\nA note.\n")
