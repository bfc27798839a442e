# SPDX-License-Identifier: BSD-2-Clause
"""Communicators and ranks on the monitor's own metrics page, and by OTLP: the series of `gpuprobe
nccl`, and the finding as a log record of the rank's process."""
import json
import subprocess

import pytest

from lib import paths
from lib.otlp import Receiver
from lib.probe import environment, kill_tree, wait_until
from lib.scrape import Endpoint

pytestmark = pytest.mark.usefixtures("nothing_left")

RANKS = ("--ranks", 3, "--steps", 1000, "--at", 20, "--fault", "host", "--rank", 1, "--block")


def monitor(*arguments):
    return subprocess.Popen(
        [paths.GPUPROBE, "--json", "--nccl", "--display-interval", "0", "--threshold",
         "nccl-hang=1s", *map(str, arguments), "--", "sh", "-c", 'exec "$0" "$@" >/dev/null',
         paths.SIM / "ranks", *map(str, RANKS)],
        env=environment(CUDA_SIM_CLOCK="kernel=1us", OTEL_METRIC_EXPORT_INTERVAL="500"),
        text=True, stdout=subprocess.DEVNULL)


def hang(page):
    return [labels for labels, value in page.find("gpuprobe_finding_active", id="nccl-hang")
            if value]


def logs(receiver):
    return [log for request in receiver.got("/v1/logs") for log in request.logs
            if log.attributes.get("gpuprobe.finding.id") == "nccl-hang"]


def points(receiver, name):
    return [point for point in receiver.latest() if point.name == name and point.value is not None]


def check_page(page, blamed):
    [(labels, ranks)] = page.find("gpuprobe_nccl_ranks")
    assert (labels["size"], ranks) == ("3", 3)
    comm = {key: labels[key] for key in ("comm", "number")}
    sequence = {labels["rank"]: (labels["pid"], value) for labels, value in
                page.find("gpuprobe_nccl_sequence", **comm)}
    assert set(sequence) == {"0", "1", "2"} and sequence["1"][0] == blamed
    assert sequence["0"][1] == sequence["2"][1] > sequence["1"][1] > 0
    assert page.sum("gpuprobe_nccl_collectives_total", **comm) >= sequence["1"][1]
    counted = page.find("gpuprobe_nccl_lateness_seconds_count", **comm)
    assert len(counted) == 3 and all(value for _, value in counted)
    assert page.sum("gpuprobe_nccl_lost_calls_total") == 0
    assert not page.find("gpuprobe_nccl_finding")  # it is gpuprobe_finding_active here
    return sequence


def check_points(receiver, sequence):
    found = {point.attributes["rank"]: (str(point.resource["process.pid"]), point.value)
             for point in points(receiver, "gpuprobe.nccl_sequence")}
    assert found == sequence
    assert {point.attributes["comm"] for point in points(receiver, "gpuprobe.nccl_sequence")} == {
        point.attributes["comm"] for point in points(receiver, "gpuprobe.nccl_ranks")}
    late = points(receiver, "gpuprobe.nccl_lateness_seconds")
    assert {(point.kind, point.attributes["rank"]) for point in late} == {
        ("histogram", rank) for rank in "012"}
    assert all(count and total >= 0 for count, total in (point.value for point in late))


def check_log(log, blamed):
    assert log.event == "gpuprobe.finding" and log.severity == 17
    assert str(log.resource["process.pid"]) == blamed
    assert log.attributes["gpuprobe.finding.severity"] == "critical"
    assert log.attributes["gpuprobe.event"] in ("new", "worse")
    assert "nccl-hang" in log.body and "collective " in log.body


@pytest.mark.waits("a hang of a second, by blocked ranks")
def test_series_and_logs():
    endpoint = Endpoint()
    with Receiver() as receiver, monitor(*endpoint.option, "--otlp-endpoint",
                                         receiver.url) as process:
        try:
            endpoint.wait()
            page = endpoint.until(hang)
            [finding] = hang(page)
            sequence = check_page(page, finding["pid"])
            wait_until(lambda: logs(receiver) and points(receiver, "gpuprobe.nccl_sequence"),
                       lambda: json.dumps([vars(log) for log in logs(receiver)]))
            check_points(receiver, sequence)
            for log in logs(receiver):
                check_log(log, finding["pid"])
        finally:
            kill_tree(process.pid)
