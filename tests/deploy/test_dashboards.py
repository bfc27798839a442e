# SPDX-License-Identifier: BSD-2-Clause
"""
The dashboards as files: complete, consistent, without anything of one installation. Grafana itself
is not to be had here: test_dashboards_live.py runs their queries, and nobody has seen their looks.
"""
import re
import subprocess
import sys

import pytest
from grafana_pages import BUILT_IN, FOLDER, dashboards, expressions, panels, variables

from conftest import ROOT, run

PAGES = dashboards()
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page["uid"])
UNITS = {"bytes", "Bps", "cps", "percentunit", "s", "short", "dateTimeAsIso"}
KINDS = {"stat", "timeseries", "table"}


def test_there_are_three():
    assert [page["uid"] for page in PAGES] == [
        "gpuprobe-fleet", "gpuprobe-node", "gpuprobe-process"]
    assert len({page["title"] for page in PAGES}) == 3


def test_files_are_those_of_the_source(tmp_path):
    """`make dashboards` writes them."""
    subprocess.run([sys.executable, "-B", ROOT / "deploy" / "monitoring" / "dashboards.py",
                    tmp_path], check=True)
    for path in FOLDER.glob("*.json"):
        assert (tmp_path / path.name).read_text("utf-8") == path.read_text("utf-8"), path.name
    assert len(list(tmp_path.iterdir())) == 3


@EACH
def test_nothing_of_one_installation(page):
    assert "id" not in page and "__inputs" not in page and page["schemaVersion"] == 39
    assert len(page["uid"]) <= 40 and page["description"]
    asked = [*panels(page), *page["annotations"]["list"], *variables(page).values()]
    asked += [target for panel in panels(page) for target in panel["targets"]]
    assert {one["datasource"]["uid"] for one in asked} == {"${datasource}"}


@EACH
def test_panels_are_complete(page):
    found = panels(page)
    assert len({panel["id"] for panel in page["panels"]}) == len(page["panels"])
    assert len({panel["title"] for panel in found}) == len(found)
    for panel in found:
        defaults = panel["fieldConfig"]["defaults"]
        assert panel["type"] in KINDS and panel["targets"], panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        assert defaults["unit"] in UNITS, panel["title"]
        for override in panel["fieldConfig"]["overrides"]:
            assert override["properties"][0]["value"] in UNITS, panel["title"]
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)
        # Several lines need names.
        assert panel["type"] != "timeseries" or all(
            target["legendFormat"] for target in panel["targets"])


@EACH
def test_panels_do_not_overlap(page):
    taken = set()
    for panel in page["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                 for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells


@EACH
def test_variables_are_defined_and_used(page):
    defined = {one["name"] for one in page["templating"]["list"]}
    texts = [expression for _, expression in expressions(page)]
    used = {name for text in texts for name in re.findall(r"\$(\w+)", text)}
    assert {name for name in used if not re.fullmatch(BUILT_IN, name)} == defined - {"datasource"}
    for one in variables(page).values():
        assert one["label"] and one["refresh"] == 2


@EACH
def test_links_lead_somewhere(page):
    """To a dashboard, to variables that it has, from labels that the row has."""
    known = {other["uid"]: other for other in PAGES}
    for panel in panels(page):
        for link in panel["fieldConfig"]["defaults"].get("links", ()):
            uid = re.match(r"/d/([\w-]+)\?", link["url"])[1]
            pairs = re.findall(r"&var-(\w+)=\$\{__data\.fields\.(\w+)\}", link["url"])
            assert pairs and link["title"]
            for name, label in pairs:
                assert name in variables(known[uid]), (panel["title"], name)
                assert re.search(rf"by \([^)]*\b{label}\b", panel["targets"][0]["expr"])
        renamed = [word for one in panel.get("transformations", ())
                   for word in one["options"].get("renameByName", {})]
        assert all(word.startswith("Value") for word in renamed)
    assert page["links"][0]["tags"] == page["tags"]


@EACH
def test_series_exist(page):
    documented = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    series = {name for _, expression in expressions(page)
              for name in re.findall(r"\bgpuprobe_\w+", expression)}
    assert len(series) > 10
    assert not [name for name in series if f"`{name}`" not in documented]


def test_kustomize_has_all():
    """`kubectl apply -k` makes a config map of each."""
    text = (FOLDER / "kustomization.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"files: \[(\S+)\]", text)) == {
        path.name for path in FOLDER.glob("*.json")}


def test_installed(tmp_path):
    done = run("make", "-s", "-C", ROOT, "install-monitoring", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "usr/share/gpuprobe/monitoring/dashboards"
    assert {path.name for path in folder.iterdir()} == {path.name for path in FOLDER.glob("*.json")}
