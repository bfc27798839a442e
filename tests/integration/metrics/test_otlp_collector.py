# SPDX-License-Identifier: BSD-2-Clause
"""The real OpenTelemetry Collector takes each data point and finding that gpuprobe sends.
OTEL_COLLECTOR names its program, see programs/collector.go."""
import os
import re
import subprocess
import time

import pytest

from lib import paths
from lib.probe import wait_until
from lib.scrape import Endpoint, hold_port

pytestmark = pytest.mark.slow

LIBRARIES = [paths.LIBCUDA, paths.LIBCUDART]
CONFIG = """
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{port}"}}}}}}}}
exporters: {{debug: {{verbosity: detailed, sampling_initial: 1000000}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines:
    metrics: {{receivers: [otlp], exporters: [debug]}}
    logs: {{receivers: [otlp], exporters: [debug]}}
"""


def test_the_collector_takes_everything(gpuprobe, tmp_path):
    program = os.environ.get("OTEL_COLLECTOR")
    if not program:
        pytest.skip("OTEL_COLLECTOR does not name a Collector: see programs/collector.go")
    held = hold_port()
    port = held.getsockname()[1]
    (tmp_path / "config.yaml").write_text(CONFIG.format(port=port))
    endpoint, log = Endpoint(), tmp_path / "log"
    body = f"'{paths.SIM}/faults' error-storm >/dev/null || :; touch '{tmp_path}/done'; sleep 600"
    command = [program, f"--config=file:{tmp_path}/config.yaml"]
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out) as collector:
        try:
            wait_until(lambda: "Everything is ready" in log.read_text(), log.read_text)
            with gpuprobe.start("sh", "-c", body, base=["--json", *endpoint.option], interval=0,
                                libraries=LIBRARIES,
                                args=["--otlp-endpoint", f"http://127.0.0.1:{port}"],
                                env={"OTEL_METRIC_EXPORT_INTERVAL": "500"}):
                wait_until((tmp_path / "done").exists, "the program does not end", 120)
                page = endpoint.until(lambda page: page.sum("gpuprobe_otlp_items_total",
                                                            signal="logs"))
                time.sleep(1)  # the debug exporter writes what was accepted
                text = log.read_text()
        finally:
            collector.terminate()
    assert page.sum("gpuprobe_otlp_lost_total") == 0
    assert page.sum("gpuprobe_otlp_requests_total", result="accepted")
    shown = sum(map(int, re.findall(r'"data points": (\d+)', text)))
    assert shown >= page.sum("gpuprobe_otlp_items_total", signal="metrics") > 100
    assert "error-storm" in text and "EventName: gpuprobe.finding" in text
    assert "Name: gpu.cuda.kernel.launch.calls" in text
