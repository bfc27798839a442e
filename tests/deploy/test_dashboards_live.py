# SPDX-License-Identifier: BSD-2-Clause
"""
Every query of the dashboards, on a real Prometheus that scrapes two gpuprobes: one with series by
process, and one by user. The tables that panels would show are printed, and written to
build/dashboards.txt, since Grafana itself is not to be had here.
"""
import contextlib
import itertools
import os
import re
import shutil
import subprocess

import pytest
from grafana_pages import VALUES, dashboards, filled, panels, variables
from lib import paths
from lib.paths import workload
from lib.prometheus import Prometheus
from live_series import PROGRAM, gpuprobe, in_time, surroundings

from conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("prometheus"),
                                                   reason="prometheus is missing")]
RULES = ROOT / "deploy" / "monitoring" / "gpuprobe.rules.yml"
PAGES = {page["uid"]: page for page in dashboards()}
# The labels that a program may have, in legends: those without a value are left out.
NAMES = {"namespace", "pod", "container", "user", "slurm_job_id", "comm", "pid"}
# Panels without an answer. Groups lack some series of processes, and together are never idle.
EMPTY = {"process": {"Older than gpuprobe"},  # see test_older_than_gpuprobe
         "user": {"Older than gpuprobe", "GPU provably idle", "Processes", "Duration of a step",
                  "Launches of a step", "Why the GPU waits for the program",
                  "GPU memory held without work for an hour"}}
# Without --verdict most findings have no known cost.
SOMETIMES_EMPTY = {"process": set(), "user": {"What findings cost"}}


# A panel of each dashboard that has all programs.
MEMORY = {"Largest programs", "Programs", "Live memory by kind"}


@contextlib.contextmanager
def older_program():
    """A program that holds memory before gpuprobe attaches; with each line it launches again."""
    with subprocess.Popen([workload("idle-holder"), "--bytes", "4096", "--then-launch", "5"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env=surroundings(f"older-{os.getpid()}")) as program:
        try:
            assert program.stdout.readline().startswith("READY")
            yield program
        finally:
            program.kill()


@pytest.fixture(scope="module", name="server")
def fixture_server(tmp_path_factory):
    """
    Prometheus, once all series are there; `nodes` are instances: two by --metrics-by, and one whose
    program is older than gpuprobe.
    """
    folder = tmp_path_factory.mktemp("server")
    command = ["--", "sh", "-c", PROGRAM]
    with older_program() as older, \
            gpuprobe("process", ["--verdict", "--max-overhead", "50"], command) as by_process, \
            gpuprobe("user", ["--max-overhead", "50"], command) as by_user, \
            gpuprobe("process", [], ["-p", str(older.pid)]) as of_older:
        nodes = {name: f"127.0.0.1:{endpoint.port}" for name, endpoint in (
            ("process", by_process), ("user", by_user), ("older", of_older))}
        of_older.until(lambda page: print("again", file=older.stdin, flush=True) or
                       page.find("gpuprobe_process_since_attach"))
        server = Prometheus(folder, {"gpuprobe": list(nodes.values())}, "1s", RULES,
                            {"cluster": "test"})
        server.nodes = nodes
        try:
            for series in ("out_of_memory_total > 0", "step_seconds", "gpu_idle_proved_ratio",
                           "host_bound_ratio > 0.1", "longest_call_in_progress_seconds",
                           'finding_active{id="host-bound"} == 1',
                           "copies_inflight_bytes > 0", "pool_used_bytes > 0"):
                server.wait(f"gpuprobe_{series}")
            server.wait('ALERTS{alertname="GpuprobeOutOfMemory", alertstate="firing"}')
            server.wait("count_over_time(gpuprobe_step_seconds[60s]) > 10")
            yield server
        finally:
            server.close()


def values_of(page, server, node):
    """The value of each variable: those of Grafana's "All", and the node."""
    chosen = {name: one.get("allValue", ".*") for name, one in variables(page).items()}
    return {**chosen, "job": "gpuprobe", "instance": server.nodes[node].replace(".", "\\\\.")}


def table(rows, shown=8):
    """Rows of labels and a value, in columns, the largest first."""
    rows = sorted(rows, key=lambda row: -row[1])
    names = sorted({name for labels, _ in rows for name in labels})
    lines = [[*names, "value"]] + [[*(labels.get(name, "") for name in names), f"{value:.6g}"]
                                   for labels, value in rows[:shown]]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        yield "    " + "  ".join(word.ljust(width) for word, width in zip(line, widths)).rstrip()
    if len(rows) > shown:
        yield f"    and {len(rows) - shown} more"


def answers(server, page, node):
    """(panel, target, rows) of each query."""
    values = values_of(page, server, node)
    for panel in panels(page):
        for target in panel["targets"]:
            expression = filled(in_time(target["expr"]), values)
            assert "$" not in expression, expression
            yield panel, target, server.query(expression)


def write_tables(page, node, found):
    lines = [f"== {page['title']}, series by {node}"]
    for panel, target, rows in found:
        lines += [f"  {panel['title']} [{panel['fieldConfig']['defaults']['unit']}] "
                  f"{target['legendFormat'] or target['refId']}", *table(rows)]
    text = "\n".join(lines) + "\n"
    print(text)
    with open(paths.BUILD / "dashboards.txt", "a", encoding="utf-8") as file:
        file.write(text)


@pytest.fixture(scope="module", autouse=True)
def fixture_tables():
    (paths.BUILD / "dashboards.txt").unlink(missing_ok=True)


@pytest.mark.parametrize("node", ["process", "user"])
@pytest.mark.parametrize("uid", PAGES)
def test_queries_have_answers(server, uid, node):
    found = list(answers(server, PAGES[uid], node))
    write_tables(PAGES[uid], node, found)
    empty = {panel["title"] for panel, _, rows in found if not rows} - SOMETIMES_EMPTY[node]
    assert empty == EMPTY[node] & {panel["title"] for panel in panels(PAGES[uid])}


def test_older_than_gpuprobe(server):
    found = answers(server, PAGES["gpuprobe-process"], "older")
    rows = next(rows for panel, _, rows in found if panel["title"] == "Older than gpuprobe")
    assert [(labels["comm"], value) for labels, value in rows] == [("idle-holder", 1)]


@pytest.mark.parametrize("uid", PAGES)
def test_legends_name_labels_that_are_there(server, uid):
    for panel, target, rows in answers(server, PAGES[uid], "process"):
        named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) - NAMES
        assert named <= {name for labels, _ in rows for name in labels}, panel["title"]
        # No two lines have the same name.
        lines = [re.sub(r"\{\{(\w+)\}\}", lambda one, labels=labels: labels.get(one[1], ""),
                        target["legendFormat"]) for labels, _ in rows]
        if panel["type"] == "timeseries":
            assert len(set(lines)) == len(lines), (panel["title"], lines)


@pytest.mark.parametrize("uid", PAGES)
def test_annotations(server, uid):
    page = PAGES[uid]
    for one in page["annotations"]["list"]:
        rows = server.query(filled(one["expr"], values_of(page, server, "process")))
        assert {labels["id"] for labels, _ in rows} >= {"host-bound", "oom"}
        assert set(re.findall(r"\{\{(\w+)\}\}", one["titleFormat"])) <= set(rows[0][0])


@pytest.mark.parametrize("node", ["process", "user"])
@pytest.mark.parametrize("uid", PAGES)
def test_variables_have_values(server, uid, node):
    """And each value of each variable, chosen alone, leaves something to show."""
    page = PAGES[uid]
    values = values_of(page, server, node)
    for name, one in variables(page).items():
        selector, label = VALUES.fullmatch(one["query"]["query"]).groups()
        found = server.get(f"label/{label}/values", **{"match[]": filled(selector, values)})
        if name in ("namespace", "pod", "slurm_job_id") or (name, node) == ("pid", "user"):
            assert found == []  # nothing here runs in a pod or a job
            continue
        assert found, name
        expression = next(panel for panel in panels(page) if panel["title"] in MEMORY)
        expression = expression["targets"][0]["expr"]
        for value in itertools.islice(found, 3):
            rows = server.query(filled(in_time(expression), {**values, name: value}))
            assert rows or value == server.nodes["older"], (name, value)


def test_processes_are_told_apart(server):
    """The table of programs has a row for each, with the sum of what it holds and its user."""
    page = PAGES["gpuprobe-node"]
    target = next(panel for panel in panels(page) if panel["title"] == "Programs")["targets"][0]
    for node in ("process", "user"):
        rows = server.query(filled(in_time(target["expr"]), values_of(page, server, node)))
        assert {labels["user"] for labels, _ in rows} == {"root"}
        held = sorted(value for labels, value in rows if labels.get("comm") == "idle-holder")
        assert held == ([3 << 20] if node == "process" else [])
        assert node == "process" or len(rows) == 1 and rows[0][1] >= 3 << 20


def test_series_without_a_panel(server):
    """They are listed, so that a new series is not forgotten."""
    present = set(server.get("label/__name__/values"))
    shown = {name for page in PAGES.values() for panel in panels(page)
             for target in panel["targets"] for name in re.findall(r"\w+", target["expr"])}
    left = sorted(name for name in present - shown if name.startswith("gpuprobe_"))
    print("without a panel:", *left, sep="\n    ")
    assert len(left) < 30
