# SPDX-License-Identifier: BSD-2-Clause
"""A real store takes gpuprobe's OTLP: VictoriaMetrics has the series of the metrics page, by the
names and with the values that a scrape would give it."""
import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from lib import newer_debian, paths
from lib.probe import wait_until
from lib.scrape import Endpoint, hold_port

pytestmark = pytest.mark.slow

LIBRARIES = [paths.LIBCUDA, paths.LIBCUDART]
WORK = f"""
'{paths.SIM}/memory' --pairs 20 >/dev/null
'{paths.SIM}/copy' --count 3 >/dev/null
'{paths.SIM}/mix' --seed 7 --threads 4 --seconds 0.2 >/dev/null
"""
# Of gpuprobe itself, or of the moment.
OTHERS = ("process_", "gpuprobe_otlp", "gpuprobe_probes_attached", "gpuprobe_gpu_memory",
          "gpuprobe_process_gpu_memory", "gpuprobe_device_memory_untracked", "gpuprobe_step_")


class Store:
    def __init__(self, directory):
        program = newer_debian.program("victoria-metrics", "usr/bin/victoria-metrics")
        self.port = hold_port()
        address = "127.0.0.1:%d" % self.port.getsockname()[1]
        self.url = f"http://{address}"
        self.process = subprocess.Popen(
            [program, f"-storageDataPath={directory}/data", f"-httpListenAddr={address}",
             "-opentelemetry.usePrometheusNaming", "-search.latencyOffset=0s"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.is_ready, "VictoriaMetrics does not start")

    def is_ready(self):
        assert self.process.poll() is None
        try:
            with urllib.request.urlopen(f"{self.url}/health", timeout=10):
                return True
        except (urllib.error.URLError, ConnectionError):
            return False

    def samples(self, selector):
        """[(labels, value)], the latest ones."""
        asked = urllib.parse.urlencode({"query": f"last_over_time({selector}[5m])"})
        with urllib.request.urlopen(f"{self.url}/api/v1/query?{asked}", timeout=60) as answer:
            return [(result["metric"], float(result["value"][1]))
                    for result in json.load(answer)["data"]["result"]]

    def names(self):
        with urllib.request.urlopen(f"{self.url}/api/v1/label/__name__/values",
                                    timeout=60) as answer:
            return set(json.load(answer)["data"])

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.process.kill()
        self.process.wait()


def series_of(store, name, labels):
    """The values of the series that has these labels of the page, and its process's pid."""
    wanted = {key: value for key, value in labels.items() if key not in ("pid", "comm") and value}
    found = []
    for stored, value in store.samples(name):
        if labels.get("pid") == stored.get("process_pid") or not labels.get("pid"):
            if all(stored.get(key) == text for key, text in wanted.items()):
                found.append(value)
    return found


def test_a_store_has_the_page(gpuprobe, tmp_path):
    endpoint = Endpoint()
    body = (f'cd "{tmp_path}"\n{WORK}\ntouch done; while ! [ -e go ]; do sleep 0.05; done')
    with Store(tmp_path) as store:
        running = gpuprobe.start(
            "sh", "-c", body, base=["--json", *endpoint.option], interval=0, libraries=LIBRARIES,
            args=["--otlp-endpoint", f"{store.url}/opentelemetry"],
            env={"OTEL_METRIC_EXPORT_INTERVAL": "500", "OTEL_LOGS_EXPORTER": "none"})
        with running:
            wait_until((tmp_path / "done").exists, lambda: running.stderr, 120)
            before = endpoint.scrape().sum("gpuprobe_otlp_requests_total", result="accepted")
            page = endpoint.until(lambda page: page.sum(
                "gpuprobe_otlp_requests_total", result="accepted") > before + 3)
            assert page.sum("gpuprobe_otlp_lost_total") == 0
            time.sleep(2)  # what VictoriaMetrics takes can be read after a second
            compared = 0
            for (name, labels), value in page.samples.items():
                if name.startswith(OTHERS) or name.endswith("_info"):
                    continue
                found = series_of(store, name, dict(labels))
                assert found == [pytest.approx(value)], (name, labels, value, found)
                compared += 1
            names = store.names()
            (tmp_path / "go").touch()
            running.finish()
    assert compared > 100
    assert {"gpu_cuda_kernel_launch_calls_total", "gpu_cuda_memory_allocations_bytes_total",
            "gpu_cuda_memory_copies_bytes_count"} <= names
