# SPDX-License-Identifier: BSD-2-Clause
"""
A fleet of 50 nodes in one Prometheus. A real gpuprobe's page, with every kind of series, is served
as that of each node, with processes and GPUs of its own. Some nodes have a trouble of their own.
How long queries and rules take and how many series there are is printed, and written to
build/fleet.txt.
"""
import http.server
import re
import shutil
import threading
import time
import urllib.request

import pytest
from grafana_pages import dashboards, filled, panels, variables
from lib import paths
from lib.prometheus import Prometheus
from lib.scrape import PROMETHEUS_ACCEPT
from live_series import PROGRAM, gpuprobe, in_time

from conftest import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("prometheus"),
                                                   reason="prometheus is missing")]
NODES = 50
DOWN, LOSES, OUT_OF_MEMORY = 50, 7, 9
ANSWERING = NODES - 1
PIDS = 100_000  # the processes of a node have the real ones' pids and this times its number
RULES = ROOT / "deploy" / "monitoring" / "gpuprobe.rules.yml"
PAGES = {page["uid"]: page for page in dashboards()}
LOST = 'gpuprobe_events_lost_total{reason="ring_full"}'


def address(node):
    return f"127.0.1.{node}"


def page_of(node, text, scrapes):
    """The real page as that of a node."""
    text = re.sub(r'pid="(\d+)"', lambda found: f'pid="{int(found[1]) + PIDS * node}"', text)
    text = re.sub(r'"GPU-\w+', lambda found: f"{found[0]}{node:02}", text)
    lines = text.split("\n")
    if node == LOSES:
        lines = [f"{line.rsplit(' ', 1)[0]} {scrapes}" if line.startswith(LOST) else line
                 for line in lines]
    if node != OUT_OF_MEMORY:
        lines = [line for line in lines if 'id="oom"' not in line
                 and not line.startswith("gpuprobe_out_of_memory_total")]
    return "\n".join(lines)


class Fleet:
    """Serves the page of the node whose address a client asks."""

    def __init__(self, endpoint):
        fleet = self
        self.endpoint = endpoint
        self.scrapes = {}
        self.lock, self.read_at, self.text = threading.Lock(), None, None

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                node = int(self.connection.getsockname()[0].rsplit(".", 1)[1])
                if node == DOWN:
                    self.send_error(503)
                    return
                kind, body = fleet.answer(node)
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, node):
        with self.lock:
            if not self.read_at or time.monotonic() > self.read_at + 1:
                asked = urllib.request.Request(f"http://127.0.0.1:{self.endpoint.port}/metrics",
                                               headers={"Accept": PROMETHEUS_ACCEPT})
                with urllib.request.urlopen(asked, timeout=60) as answer:
                    self.kind = answer.headers["Content-Type"]
                    self.text = answer.read().decode()
                self.read_at = time.monotonic()
            self.scrapes[node] = self.scrapes.get(node, 0) + 1
            kind, text, scrapes = self.kind, self.text, self.scrapes[node]
        return kind, page_of(node, text, scrapes).encode()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module", name="server")
def fixture_server(tmp_path_factory):
    with gpuprobe("process", ["--verdict", "--max-overhead", "50"],
                  ["--", "sh", "-c", PROGRAM]) as endpoint:
        endpoint.until(lambda page: page.find("gpuprobe_step_seconds")
                       and page.find("gpuprobe_out_of_memory_total"))
        fleet = Fleet(endpoint)
        server = Prometheus(
            tmp_path_factory.mktemp("server"),
            {"gpuprobe": [f"{address(node)}:{fleet.port}" for node in range(1, NODES + 1)]},
            "5s", RULES, {"cluster": "test"})
        server.fleet = fleet
        try:
            server.wait(f"count(count_over_time(up[60s]) >= 4) == {NODES}")
            server.wait(f"count(instance:gpuprobe_memory_live_bytes:sum) == {ANSWERING}")
            server.wait('ALERTS{alertname="GpuprobeOutOfMemory"}')
            server.wait('ALERTS{alertname="GpuprobeEventsLost"}')
            yield server
        finally:
            server.close()
            fleet.close()


def nodes_of(rows):
    return {int(labels["instance"].split(":")[0].rsplit(".", 1)[1]) for labels, _ in rows}


@pytest.mark.parametrize("alert, node", [("GpuprobeDown", DOWN), ("GpuprobeEventsLost", LOSES),
                                         ("GpuprobeOutOfMemory", OUT_OF_MEMORY)])
def test_an_alert_is_of_its_node(server, alert, node):
    """Pending counts: it waits for minutes before it fires."""
    assert nodes_of(server.query(f'ALERTS{{alertname="{alert}"}}')) == {node}


def test_each_node_is_there_once(server):
    rows = server.query("instance:gpuprobe_memory_live_bytes:sum")
    assert nodes_of(rows) == set(range(1, NODES + 1)) - {DOWN} and len(rows) == ANSWERING
    one = {value for _, value in server.query(
        "sum by (instance) (gpuprobe_memory_live_bytes{comm='idle-holder', kind='device'})")}
    assert one == {3 << 20}


def values_of(page, server):
    chosen = {name: one.get("allValue", ".*") for name, one in variables(page).items()}
    one = f"{address(1)}:{server.fleet.port}"
    whole = page["uid"] == "gpuprobe-fleet"
    return {**chosen, "job": "gpuprobe",
            "instance": ".*" if whole else one.replace(".", "\\\\.")}


def timed(server, expression):
    """(rows, seconds): the least of three."""
    took = []
    for _ in range(3):
        began = time.monotonic()
        rows = server.query(expression)
        took.append(time.monotonic() - began)
    return rows, min(took)


def test_queries_have_answers(server):
    """The dashboards' queries: of all nodes, or one of them where one is chosen."""
    lines = [f"{NODES} nodes, one of them down"]
    for uid, page in PAGES.items():
        times = []
        for panel in panels(page):
            for target in panel["targets"]:
                expression = filled(in_time(target["expr"]), values_of(page, server))
                rows, seconds = timed(server, expression)
                times.append((seconds, panel["title"], len(rows)))
        assert sum(rows > 0 for _, _, rows in times) > 0.7 * len(times), (uid, times)
        seconds, title, rows = max(times)
        lines.append(f"{uid}: {len(times)} queries in {sum(time[0] for time in times):.3f} s, "
                     f"the longest {seconds:.3f} s: {title}, {rows} rows")
    lines += told_of_itself(server)
    text = "\n".join(lines) + "\n"
    print(text)
    (paths.BUILD / "fleet.txt").write_text(text, encoding="utf-8")


def told_of_itself(server):
    """Series, samples a scrape, and how long rules took, as Prometheus has them."""
    with urllib.request.urlopen(f"{server.url}/metrics", timeout=60) as answer:
        own = answer.read().decode()
    series = float(re.search(r"(?m)^prometheus_tsdb_head_series (\S+)", own)[1])
    yield f"{series:.0f} series"
    (_, samples), = server.query("max(scrape_samples_scraped)")
    yield f"{samples:.0f} samples of a node"
    for found in re.finditer(r'(?m)^prometheus_rule_group_last_duration_seconds\{rule_group="'
                             r'[^;]*;(\w+)"\} (\S+)', own):
        yield f"rules {found[1]}: {float(found[2]):.3f} s"
    # Each node has its own series, and rules add few.
    assert samples * ANSWERING <= series <= 1.5 * samples * NODES
