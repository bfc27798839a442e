# SPDX-License-Identifier: BSD-2-Clause
"""The code that tests/mutants.py breaks is still there:
a mutant of changed code would be tried in vain."""
import importlib.util

import pytest

from lib import paths

SPECIFICATION = importlib.util.spec_from_file_location("mutants",
                                                       paths.ROOT / "tests" / "mutants.py")
mutants = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(mutants)


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_is_in_the_sources_once(mutant):
    assert (paths.ROOT / mutant.path).read_text(encoding="utf-8").count(mutant.old) == 1
