# SPDX-License-Identifier: BSD-2-Clause
"""The same exactness under load, for longer: part of `make test-full`."""
import threading
import time
import urllib.request

import pytest

from lib import exact
from lib.paths import LIBCUDA, LIBCUDART, workload
from lib.probe import Background

pytestmark = [pytest.mark.slow, pytest.mark.alone("it takes all CPUs, for minutes")]


def test_launches(gpuprobe_by):
    result = gpuprobe_by.run(workload("launch"), "--threads", 16, "--launches", 1000000,
                             "--kernels", 50, args=["--check-launches"], timeout=600)
    exact.check(result, checked=True)
    assert result.process["launches"] == 16000000


def test_addresses_reused(gpuprobe_by):
    result = gpuprobe_by.run(workload("memory"), "--threads", 16, "--pairs", 200000, "--keep", 50,
                             "--random-sizes", args=["--top", "0"], timeout=600)
    exact.check(result)
    assert exact.live(result.process) == result.truth.live()


def test_a_million_live_allocations(gpuprobe):
    """As many as there is room for, and one more."""
    result = gpuprobe.run(workload("memory"), "--pairs", 1, "--keep", 1048576, "--size", 512,
                          args=["--memleak"], timeout=600)
    assert exact.lost(result.final) == {"allocation_map_full": 1}
    assert result.process["memory"]["device"]["live_allocations"] == 1048576
    assert result.process["memory"]["device"]["allocations"] == 1048577


def test_reloads_by_threads(gpuprobe_by):
    """Reports every 20 ms while handles come back as other kernels'."""
    with gpuprobe_by.start(workload("modules"), "--rounds", 2000, "--kernels", 5, "--launches", 20,
                           interval=0.02) as running:
        result = running.finish(300)
    exact.check(result)


def test_copies(gpuprobe_by):
    exact.check(gpuprobe_by.run(workload("copy"), "--threads", 8, "--count", 5000, "--bytes", 4096,
                                timeout=600))


def test_short_lives(gpuprobe_by):
    """Some thousand processes, four at a time, each with its first call within a millisecond."""
    command = f"{workload('forker')} --processes 300 --short-lived 0.1 --pairs 3 --launches 5 &"
    result = gpuprobe_by.run("sh", "-c", f"{command} {command} {command} {command} wait",
                             timeout=600)
    exact.check(result)
    assert len(result.processes) == 1200


@pytest.mark.plain("with sanitizers it cannot keep up with so many notices")
def test_scraped_while_all_goes_on(gpuprobe_by, free_port):
    """Two readers of the metrics, reports, and every family at once; no counter goes back."""
    scrapes, stop = ([], []), threading.Event()  # each reader's in their order

    def scrape(pages):
        while not stop.is_set():
            with urllib.request.urlopen(f"http://127.0.0.1:{free_port}/metrics",
                                        timeout=100) as answer:
                pages.append(answer.read().decode())
            time.sleep(0.01)

    with gpuprobe_by.start(libraries=[LIBCUDA, LIBCUDART], base=["--json"], interval=0.05,
                           args=["--metrics-addr", f"127.0.0.1:{free_port}"]) as running:
        running.report()
        readers = [threading.Thread(target=scrape, args=[pages]) for pages in scrapes]
        for reader in readers:
            reader.start()
        env = {"CUDA_SIM_TRUTH": f"{running.truth_dir}/%p.%u.json"}
        commands = (
            (workload("launch"), "--threads", 4, "--launches", 300000, "--kernels", 150),
            (workload("memory"), "--threads", 4, "--pairs", 50000, "--keep", 100),
            (workload("copy"), "--threads", 2, "--count", 2000, "--bytes", 4096),
            (workload("modules"), "--rounds", 3000),
            (workload("forker"), "--processes", 30, "--short-lived", 5),
        )
        while len(scrapes[0]) < 5:
            for program in [Background(*command, env=env) for command in commands]:
                with program:
                    assert program.wait(120) == 0
        stop.set()
        for reader in readers:
            reader.join(30)
        time.sleep(0.5)
        result = running.stop()
    exact.check(result)
    for pages in scrapes:
        check_counters(pages)


def check_counters(scrapes):
    """Of all series but those of gpuprobe itself, which end with its processes."""
    last = {}
    for page in sorted(scrapes, key=len):
        assert page.endswith("# EOF\n") or "# TYPE" in page
    for page in scrapes:
        for line in page.splitlines():
            if line.startswith("#") or "_total" not in line:
                continue
            series, _, value = line.rpartition(" ")
            assert float(value) >= last.get(series, 0.0), f"{series} went back to {value}"
            last[series] = float(value)
