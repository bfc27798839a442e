# SPDX-License-Identifier: BSD-2-Clause
"""docs/metrics.md is written by hand: its table names the metrics of the tables in src, and no
others."""
import re

from lib import paths

TYPES = "COUNTER|INFO|GAUGE|HISTOGRAM"
SUFFIXES = {"COUNTER": "_total", "INFO": "_info", "GAUGE": "", "HISTOGRAM": ""}


def source():
    return "".join(path.read_text(encoding="utf-8")
                   for path in sorted((paths.ROOT / "src").rglob("*.c")))


def of_source():
    """The series of all struct metric_family. They begin with the name and the type."""
    families = re.findall(rf'"(\w+)",\s*METRIC_({TYPES})\b', source())
    return {name + SUFFIXES[kind] for name, kind in families}


def of_document():
    """The names in the first column of the table."""
    lines = (paths.ROOT / "docs/metrics.md").read_text(encoding="utf-8").splitlines()
    rows = [line.split("|")[1] for line in lines if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_each_metric_is_documented_once():
    documented = of_document()
    assert len(documented) == len(set(documented))
    # The page's own process has the metrics that all of Prometheus's clients have.
    own = {name for name in of_source() if name.startswith("process_")}
    assert own
    assert set(documented) - {"process_*"} == of_source() - own


def test_all_families_are_found():
    """Each type in a table is that of a family that the other test has seen."""
    assert len(re.findall(rf"\bMETRIC_(?:{TYPES}),", source())) == len(of_source())
