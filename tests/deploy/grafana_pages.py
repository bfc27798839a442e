# SPDX-License-Identifier: BSD-2-Clause
"""What the tests of dashboards ask of them: panels, variables, queries."""
import json
import re

from conftest import ROOT

FOLDER = ROOT / "deploy" / "monitoring" / "dashboards"
VALUES = re.compile(r"label_values\((.+), (\w+)\)")
# Grafana's own, and the row of a table that a link is in.
BUILT_IN = r"__\w+|datasource"


def dashboards():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]


def panels(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def variables(dashboard):
    """Those with values of labels, by name."""
    return {one["name"]: one for one in dashboard["templating"]["list"] if one["type"] == "query"}


def expressions(dashboard):
    """(where, expression) of everything that Prometheus is asked."""
    for panel in panels(dashboard):
        for target in panel["targets"]:
            yield panel["title"], target["expr"]
    for one in dashboard["annotations"]["list"]:
        yield one["name"], one["expr"]
    for name, one in variables(dashboard).items():
        yield name, VALUES.fullmatch(one["query"]["query"])[1]


def filled(text, values):
    """The text with variables replaced, as Grafana does."""
    for name, value in values.items():
        text = re.sub(rf"\${name}\b", lambda _, value=value: value, text)
    return text
