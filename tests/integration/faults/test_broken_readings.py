# SPDX-License-Identifier: BSD-2-Clause
"""
Readings of the BPF maps that break off for want of memory (programs/unread_map.c) lose nothing.
The next reading reads the counts of ended processes again, and no page has incomplete numbers.
"""
import contextlib
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

import test_call_sites
import test_mix
import test_stat_functions
from lib import exact, paths
from lib.paths import workload
from lib.probe import Background, environment
from lib.script import PROGRAMS

pytestmark = pytest.mark.plain("a sanitizer has to be loaded first")

# After the first, readings break off for so long: the programs end later, and the last reading is
# complete.
SECONDS = 2
MIX = ("--children", 40, "--threads", 16)
LAUNCH_KEY = 24  # sizeof(struct launch_key)
# Bytes of the list of keys to delete (src/collect/key_list.c) when launches come: shapes, which are
# read before, began it with 64 keys of 16 bytes.
ROOM = 64 * 16
FEW = ("--children", 10)  # for whose functions there is room


def build(directory, name):
    library = directory / f"{name}.so"
    subprocess.run(["gcc", "-std=gnu11", "-O1", "-fPIC", "-shared", "-o", library,
                    PROGRAMS / f"{name}.c"], check=True)
    return library


def size_of(directory, header, name):
    """sizeof the struct of a header of include/gpuprobe."""
    program = directory / "size_of"
    source = (f'#include <stdio.h>\n#include "gpuprobe/{header}"\n'
              f'int main(void) {{ printf("%zu", sizeof(struct {name})); }}\n')
    subprocess.run(["gcc", "-I", paths.ROOT / "include", "-x", "c", "-o", program, "-"],
                   input=source, text=True, check=True)
    return int(subprocess.run([program], capture_output=True, text=True, check=True).stdout)


def slow(value):
    """For `make test-full`."""
    return pytest.param(value, marks=pytest.mark.slow)


@pytest.fixture
def broken(tmp_path):
    """What makes one in so many readings of a map fail: the environment."""
    library = build(tmp_path, "unread_map")
    return lambda every, **more: {"LD_PRELOAD": library, "UNREAD_EVERY": every, **more}


@pytest.fixture
def ungrown(tmp_path):
    """What makes a list not grow to so many bytes, once: the environment."""
    library = build(tmp_path, "ungrown")
    return lambda size: {"LD_PRELOAD": library, "UNGROWN_BYTES": size, "UNGROWN_TIMES": 1}


def check_times(result):
    assert result.stderr.count("cannot read all of the BPF maps") > 1
    return result


@pytest.mark.alone("as test_mix")
@pytest.mark.parametrize("every", [7, 31, *map(slow, [23, 38])])
def test_all_numbers(gpuprobe, broken, every):
    check_times(test_mix.check_mix(gpuprobe, 11, seconds=6, mix=MIX,
                                   env=broken(every, UNREAD_SECONDS=SECONDS)))


@pytest.mark.alone("as test_mix")
def test_with_estimates(gpuprobe, broken):
    """All calls are seen: no budget is exceeded by so few."""
    check_times(test_mix.check_mix(gpuprobe, 12, seconds=6, mix=MIX, more=["--max-overhead", "90"],
                                   env=broken(29, UNREAD_SECONDS=SECONDS)))


@pytest.mark.alone("as test_mix")
@pytest.mark.parametrize("every", [36, slow(9)])
def test_call_sites_of_ended_processes(gpuprobe, broken, every):
    more = ["--stack", "fp", "--min-wait", "1ns", "--stack-sample", 4]
    result = check_times(test_mix.check_mix(gpuprobe, 7, seconds=6, mix=MIX, more=more,
                                            bearable=test_mix.BEARABLE | {"stack_ring_full"},
                                            env=broken(every, UNREAD_SECONDS=SECONDS)))
    for process in result.processes:
        test_call_sites.check_process(process)


@pytest.mark.parametrize("every", [37, *map(slow, [8, 41])])
def test_account_of_ended_processes(gpuprobe, broken, every):
    check_times(test_stat_functions.check_mix(gpuprobe, 11, mix=FEW,
                                              env=broken(every, UNREAD_SECONDS=SECONDS)))


def test_no_room_for_a_thread_that_has_ended(gpuprobe, ungrown, tmp_path):
    """Its own counts were kept and its place was not released:
    the next reading counted it again."""
    go, end = tmp_path / "go", time.monotonic() + 60
    command = [workload("launch"), "--threads", 12, "--launches", 50, "--api", "driver"]
    env = ungrown(16 * size_of(tmp_path, "profile.h", "thread_profile"))
    with gpuprobe.start("sh", "-c", '"$@"; until test -e "$0"; do sleep 0.05; done', go, *command,
                        base=test_stat_functions.STAT, interval=None, env=env) as running:
        while "cannot read all of the BPF maps" not in running.stderr:
            assert time.monotonic() < end, "no reading broke off"
            time.sleep(0.02)
        go.touch()
        result = running.finish()
    assert result.status == 0 and result.stderr.count("cannot read all of the BPF maps") == 1
    process = test_stat_functions.check(result, "driver")
    test_stat_functions.check_classes(process, result.truth)
    assert exact.launches(process) == result.truth.launches("driver")


def test_no_room_for_a_kernel_that_is_gone(gpuprobe, ungrown):
    """Its launches were taken over and its key was not deleted:
    the next reading took them over again."""
    # Between two readings more kernels go than the list has room for.
    env = {**ungrown(2 * (ROOM // LAUNCH_KEY + 1) * LAUNCH_KEY),
           "CUDA_SIM_LATENCY": "cuLaunchKernel=1ms"}
    result = gpuprobe.run(workload("modules"), "--rounds", 80, "--api", "driver",
                          args=("--display-interval", 0.8), env=env)
    assert result.stderr.count("cannot read all of the BPF maps") == 1
    # A report just before the last may have been the last to show it.
    process = [process for report in result.reports for process in report["processes"]][-1]
    assert exact.launches(process) == result.truth.launches()


def scrape(port):
    """The samples of a page; None where there is no page now."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
            lines = [line for line in answer.read().decode().splitlines()
                     if not line.startswith("#")]
    except urllib.error.HTTPError as error:
        assert error.code == 500
        return None
    return {series: float(value) for series, _, value in (line.rpartition(" ") for line in lines)}


def test_metrics(broken, free_port):
    """There is no page then, rather than one on which counters have gone back."""
    seen, pages = {}, []
    with subprocess.Popen([paths.GPUPROBE, "-q", "--metrics-addr",
                           f"127.0.0.1:{free_port}", "--display-interval", "0"],
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
    assert (None in pages
            and "gpuprobe_allocations_total" in {series.split("{")[0] for series in seen})
