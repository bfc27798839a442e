# SPDX-License-Identifier: BSD-2-Clause
"""
Readings of the BPF maps that break off for want of memory (programs/unread_map.c): nothing is lost by it. What processes
have counted that have ended by then is read again by the next, and there is no page with numbers that are not whole.
"""
import contextlib
import signal
import subprocess
import urllib.error
import urllib.request

import pytest

import test_account
import test_call_sites
import test_mix
from lib import paths
from lib.probe import Background, environment
from lib.script import PROGRAMS

pytestmark = pytest.mark.plain("a sanitizer has to be loaded first")

TIMES = 8  # that a reading breaks off, all of them before the last one
MIX = ("--children", 40, "--threads", 16)
FEW = ("--children", 10)  # for whose functions there is room


@pytest.fixture
def broken(tmp_path):
    """What makes one in so many readings of a map fail: the environment."""
    library = tmp_path / "unread_map.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", library, PROGRAMS / "unread_map.c"], check=True)
    return lambda every, **more: {"LD_PRELOAD": library, "UNREAD_EVERY": every, **more}


def check_times(result):
    assert result.stderr.count("could not be read whole") == TIMES
    return result


@pytest.mark.alone("as test_mix")
@pytest.mark.parametrize("every", [7, 23, 31, 38])
def test_all_numbers(gpuprobe, broken, every):
    check_times(test_mix.check_mix(gpuprobe, 11, seconds=4, mix=MIX, env=broken(every, UNREAD_TIMES=TIMES)))


@pytest.mark.alone("as test_mix")
def test_with_estimates(gpuprobe, broken):
    """All calls are seen: no budget is exceeded by so few."""
    check_times(test_mix.check_mix(gpuprobe, 12, seconds=4, mix=MIX, more=["--max-overhead", "90"],
                                   env=broken(29, UNREAD_TIMES=TIMES)))


@pytest.mark.alone("as test_mix")
@pytest.mark.parametrize("every", [9, 36])
def test_call_sites_of_ended_processes(gpuprobe, broken, every):
    more = ["--stack", "fp", "--min-wait", "1ns", "--stack-sample", 4]
    result = check_times(test_mix.check_mix(gpuprobe, 7, seconds=4, mix=MIX, more=more,
                                            bearable=test_mix.BEARABLE | {"stack_ring_full"},
                                            env=broken(every, UNREAD_TIMES=TIMES)))
    for process in result.final["processes"]:
        test_call_sites.check_process(process)


@pytest.mark.parametrize("every", [8, 37, 41])
def test_account_of_ended_processes(gpuprobe, broken, every):
    check_times(test_account.check_mix(gpuprobe, 11, mix=FEW, env=broken(every, UNREAD_TIMES=TIMES)))


def scrape(port):
    """The samples of a page; None where there is no page now."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            lines = [line for line in answer.read().decode().splitlines() if not line.startswith("#")]
    except urllib.error.HTTPError as error:
        assert error.code == 500
        return None
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


def test_metrics(broken, free_port):
    """There is no page then, rather than one on which counters have gone back."""
    seen, pages = {}, []
    with subprocess.Popen([paths.GPUPROBE, "-q", "--metrics-addr", f"127.0.0.1:{free_port}", "--display-interval", "0"],
                          env=environment(**broken(97)), stdout=subprocess.DEVNULL) as running, \
            Background(paths.workload("mix"), "--seconds", 30, "--threads", 4, "--children", 20):
        try:
            while len(pages) < 100 or not seen:
                with contextlib.suppress(urllib.error.URLError):  # not there yet
                    pages.append(scrape(free_port))
                    for series, value in (pages[-1] or {}).items():
                        assert value < 1e18, series
                        assert "_total{" not in series or value >= seen.get(series, 0), series
                        seen[series] = value
                assert running.poll() is None
        finally:
            running.send_signal(signal.SIGINT)
    assert None in pages and "gpuprobe_allocations_total" in {series.split("{")[0] for series in seen}
