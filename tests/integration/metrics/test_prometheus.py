# SPDX-License-Identifier: BSD-2-Clause
"""promtool and a real Prometheus server read what gpuprobe exports."""
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from lib import paths
from lib.probe import environment, wait_for_file
from lib.prometheus import Prometheus
from lib.scrape import OPENMETRICS, PROMETHEUS, Endpoint

RULES = paths.ROOT / "deploy" / "monitoring" / "gpuprobe.rules.yml"
LAUNCHES = 12345
KERNELS = 3
pytestmark = pytest.mark.waits("for the scrapes of a server")


@pytest.fixture(scope="module", autouse=True)
def installed():
    """`make test` installs it with the other packages:
    if it is missing, that is a failure and not a reason to skip."""
    for program in ("promtool", "prometheus"):
        assert shutil.which(program), f"{program} is missing: make deps"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A gpuprobe whose COMMAND has done one of everything, and its endpoint."""
    place = tmp_path_factory.mktemp("prometheus")
    endpoint = Endpoint()
    sim = paths.SIM
    body = f"""
        '{sim}/launch' --launches {LAUNCHES} --kernels {KERNELS} --hold 3600 &
        ln -s '{sim}/launch' '{place}/graph' && '{place}/graph' --launches 11 --function graph
        for kind in device managed host pool; do
            '{sim}/memory' --kind $kind --pairs 7 --keep 2
        done
        CUDA_SIM_FAIL=cuMemAlloc_v2:2 '{sim}/memory' --pairs 5 || :
        '{sim}/copy' --count 3
        '{sim}/idle-holder' --bytes 4096 --launch 77 --seconds 3600 >/dev/null &
        touch '{place}/done'
        exec sleep 3600
    """
    process = subprocess.Popen([paths.GPUPROBE, "--display-interval", "0", *endpoint.option,
                                "--libcuda-path", paths.LIBCUDA, "--libcudart-path",
                                paths.LIBCUDART, "--", "sh", "-c", body],
                               stdout=subprocess.DEVNULL, env=environment(), start_new_session=True)
    try:
        wait_for_file(place / "done")
        # A live process is still there in the last test, whenever that is:
        # ended ones are not exported for long.
        endpoint.until(lambda page: [page.sum("gpuprobe_kernel_launches_total", comm=comm)
                                     for comm in ("idle-holder", "launch")] == [77, LAUNCHES])
        yield endpoint
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def test_promtool(served):
    """promtool reads the 0.0.4 form."""
    _, _, body = served.request("/metrics", headers={"Accept": PROMETHEUS})
    assert body.count(b"\n") > 100
    done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


class PlainText:
    """
    A proxy before gpuprobe that requests the 0.0.4 form, since this Prometheus always prefers the
    other; it keeps the forms of gpuprobe's answers.
    """

    def __init__(self, endpoint, accept):
        content_types = self.content_types = set()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, headers, body = endpoint.request(
                    self.path, headers={"Accept": accept or self.headers["Accept"]})
                content_types.add(headers["Content-Type"])
                self.send_response(status)
                self.send_header("Content-Type", headers["Content-Type"])
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="module")
def prometheus(served, tmp_path_factory):
    proxies = {"openmetrics": PlainText(served, None), "plain": PlainText(served, PROMETHEUS)}
    jobs = {"direct": f"127.0.0.1:{served.port}",
            **{name: proxy.address for name, proxy in proxies.items()}}
    server = Prometheus(tmp_path_factory.mktemp("server"), jobs)
    server.proxies = proxies
    yield server
    server.close()
    for proxy in proxies.values():
        proxy.close()


@pytest.mark.parametrize("job", ["direct", "openmetrics", "plain"])
def test_scraped_launches_are_true(prometheus, job):
    """sum by (comm) of a workload's launches, through each form, is what the workload launched."""
    prometheus.wait(f'up{{job="{job}"}} == 1')
    query = f'sum by (comm) (gpuprobe_kernel_launches_total{{job="{job}"}})'
    told = {labels["comm"]: value for labels, value in prometheus.wait(query)}
    assert told["launch"] == LAUNCHES
    assert told["idle-holder"] == 77
    kernels = prometheus.wait(f'gpuprobe_kernel_launches_total{{job="{job}",comm="launch"}}')
    assert sorted(value for _, value in kernels) == [LAUNCHES / KERNELS] * KERNELS
    assert prometheus.wait(
        f'gpuprobe_memory_live_bytes{{job="{job}",comm="idle-holder",kind="device"}}')[0][1] == 4096


def test_both_forms_were_scraped(prometheus):
    for job in prometheus.proxies:
        prometheus.wait(f'up{{job="{job}"}} == 1')
    assert {name: proxy.content_types for name, proxy in prometheus.proxies.items()} == \
        {"openmetrics": {OPENMETRICS}, "plain": {PROMETHEUS}}


@pytest.mark.parametrize("job", ["direct", "openmetrics", "plain"])
def test_every_series_arrives(prometheus, served, job):
    """Nothing that gpuprobe tells is dropped on the way, and nothing is wrong with it."""
    prometheus.wait(f'up{{job="{job}"}} == 1')
    told = {name for name, _ in served.scrape().samples}
    end = time.monotonic() + 120
    while time.monotonic() < end:
        arrived = {labels["__name__"] for labels, _ in prometheus.query(f'{{job="{job}"}}')}
        targets = {target["labels"]["job"]: target
                   for target in prometheus.get("targets")["activeTargets"]}
        # On a busy machine one scrape or another takes too long.
        if told <= arrived and targets[job]["lastError"] == "":
            break
        time.sleep(0.2)
    assert told <= arrived
    assert targets[job]["lastError"] == ""
    assert "Error" not in prometheus.said()


def test_metadata_arrives(prometheus):
    """Types and help texts, as dashboards use them."""
    prometheus.wait('up{job="direct"} == 1')
    metadata = prometheus.get("metadata")
    for name, kind in [("gpuprobe_kernel_launches", "counter"),
                       ("gpuprobe_kernel_launches_total", "counter"),
                       ("gpuprobe_memory_live_bytes", "gauge")]:
        assert {entry["type"] for entry in metadata[name]} == {kind}
        assert all(entry["help"] for entry in metadata[name])


def test_alerts(prometheus):
    """The server evaluates each alert's expression, and what it selects is there."""
    prometheus.wait('gpuprobe_finding_active{job="direct"}')
    present = {labels["__name__"] for labels, _ in prometheus.query('{job="direct"}')}
    text = RULES.read_text("utf-8").replace('job="gpuprobe"', 'job="direct"')
    expressions = [rule["expr"] for group in yaml.safe_load(text)["groups"]
                   for rule in group["rules"]]
    for expression in expressions:
        prometheus.query(expression)
    # Not those of recording rules, which have colons.
    selected = set(re.findall(r"(?<![:\w])gpuprobe_\w+(?![:\w])", " ".join(expressions)))
    # NVML may not be there, no GPU fails, and gpuprobe nccl has another page.
    assert selected - present <= {"gpuprobe_gpu_memory_used_bytes", "gpuprobe_xid_total",
                                  "gpuprobe_nccl_finding"}
