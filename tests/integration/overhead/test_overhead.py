# SPDX-License-Identifier: BSD-2-Clause
"""--max-overhead: families that cost a thread too much are watched for a part of the time. Their
numbers are within what is possible, and all others are exact. The benchmark
(bench/sections/governor.py) checks how close to the truth they are, and how well the budget is
kept: a machine shared by tests is no place for that."""
import os
import shutil
import time

import pytest

from lib import scrape
from lib.paths import LIBCUDA, SIM, workload
from lib.probe import Background
from lib.undisturbed import SPINS, undisturbed

pytestmark = pytest.mark.plain("what calls cost is measured, and theirs is another there")

LAUNCH_NS = 2500
# A probe makes such a loop a quarter slower.
BUSY = {"CUDA_SIM_LATENCY": f"cuLaunchKernel={LAUNCH_NS}ns"}


def launches(seconds, *words):
    return [workload("launch"), "--api", "driver", "--kernels", 4, "--seconds", seconds, *words]


def told(result):
    return sum(kernel["launches"] for kernel in result.process["kernels"])


def check_told(process, truth, began):
    """No more was counted than was launched, and no more was reported than could be launched
    since `began`."""
    sampling, number = process["sampling"]["launch"], sum(kernel["launches"]
                                                          for kernel in process["kernels"])
    assert sampling["missed"] > 0 and number == sampling["counted"] + sampling["missed"]
    assert 0 < sampling["counted"] <= truth.calls("cuLaunchKernel")
    assert number * LAUNCH_NS <= (time.monotonic() - began) * 1e9


def test_launches_are_sampled(gpuprobe_multi):
    began = time.monotonic()
    result = gpuprobe_multi.run(*launches(4), args=["--max-overhead", "5%"], env=BUSY)
    sampling = result.final["sampling"]
    assert sampling["max_overhead"] == 0.05
    assert sampling["families"]["launch"]["sampled"] and sampling["families"]["launch"]["share"] < 1
    assert (not sampling["families"]["copy"]["sampled"]
            and not sampling["families"]["wait"]["sampled"])
    assert sampling["overhead"] > 0
    check_told(result.process, result.truth, began)
    assert len(result.process["kernels"]) == 4
    # What lives is exact.
    assert (result.process["objects"]["stream"]["created"] == 1
            and not any(result.final["lost"].values()))


def test_nothing_is_sampled_without_need(gpuprobe_multi):
    result = gpuprobe_multi.run(*launches(2, "--rate", 1000), args=["--max-overhead", 5], env=BUSY)
    families = result.final["sampling"]["families"]
    assert all(not family["sampled"] and family["share"] == 1 for family in families.values())
    assert "sampling" not in result.process
    assert told(result) == result.truth.calls("cuLaunchKernel")


def test_back_to_exact(gpuprobe, tmp_path):
    """Threads that call often, and then seldom: sampled, and then exact again."""
    seldom = tmp_path / "seldom"
    command = f"""{shell(launches(600))} &
        until [ -e {seldom} ]; do sleep 0.1; done
        kill $!
        exec {shell(launches(600, "--rate", 200))}"""
    with gpuprobe.start("sh", "-c", command, args=["--max-overhead", 5], interval=0.25,
                        env=BUSY) as running:
        running.wait_for(is_sampled)
        running.wait_for(lambda report: any(process["sampling"]["launch"]["missed"] > 10000
                                            for process in report["processes"]
                                            if "sampling" in process))
        seldom.touch()
        # What the loop paid last counts for a while.
        running.wait_for(lambda report: report["sampling"]["families"]["launch"]["share"] == 1 and
                         report["sampling"]["overhead"] < 0.05)
        last = running.stop().final
    assert last["sampling"]["families"]["launch"] == {"share": 1, "sampled": True}


def is_sampled(report):
    return report["sampling"]["families"]["launch"]["share"] < 1


def shell(words):
    return " ".join(map(str, words))


def test_a_library_that_comes_while_probes_are_out(gpuprobe, tmp_path):
    """A file that is met then gets the family's probes with all others."""
    for name in ("libcuda.so.1", "libcudart.so.13"):
        shutil.copy(SIM / name, tmp_path / name)
    began, go = time.monotonic(), tmp_path / "go"
    command = f"""{shell(launches(6))} &
        until [ -e {go} ]; do sleep 0.1; done
        LD_LIBRARY_PATH={tmp_path} {shell(launches(3))}
        wait"""
    with gpuprobe.start("sh", "-c", command, args=["--max-overhead", 5], interval=0.25,
                        env=BUSY) as running:
        running.wait_for(is_sampled)
        go.touch()
        result = running.finish()
    assert len(result.truths) == 2
    for truth in result.truths:
        check_told(result.last_seen(truth.pid), truth, began)


def test_stat(gpuprobe):
    result = gpuprobe.run(*launches(4), base=["stat", "--json"], args=["--max-overhead", 10],
                          env=BUSY)
    assert '"estimated":true' in result.stdout


def test_gauges(gpuprobe):
    endpoint = scrape.Endpoint()
    # A loop that waits for a CPU most of the time pays too little for that.
    with Background(*undisturbed(*launches(600), priority=SPINS), env=BUSY) as busy:
        with gpuprobe.start(base=["--json", *endpoint.option],
                            args=["--max-overhead", 5, "-p", busy.pid]):
            endpoint.wait()
            page = endpoint.until(
                lambda page: page.value("gpuprobe_sampling_ratio", family="launch") < 1)
            assert page.value("gpuprobe_sampling_ratio", family="copy") == 1
            endpoint.until(lambda page: 0 < page.value("gpuprobe_overhead_ratio") < 0.5)


def test_no_links_for_it(gpuprobe):
    """Links whose end takes a second hold no budget: that is refused, not broken."""
    gpuprobe.links = "perf"
    result = gpuprobe.run(*launches(1), args=["--max-overhead", 5], status=1)
    assert "--max-overhead needs uprobe_multi links" in result.stderr


@pytest.mark.parametrize("percent", ["0", "101", "-1", "five", "5%%", "", "nan", "inf"])
def test_no_percentage(gpuprobe, percent):
    assert "give percent from 0.1 to 100" in gpuprobe.run(args=[f"--max-overhead={percent}"],
                                                          status=2).stderr


@pytest.mark.parametrize("command", ["trace", "flame"])
def test_not_for(gpuprobe, command):
    assert "max-overhead" in gpuprobe.run(base=[command], args=["--max-overhead", 5],
                                          status=2).stderr


def test_graphs_captured_meanwhile(gpuprobe, tmp_path):
    """A capture whose launches were not all seen has no size rather than a wrong one."""
    # Its launches go on for longer than a cycle: some are seen, whether the capture was or not.
    graph = shell([workload("launch"), "--api", "driver", "--function", "graph", "--kernels", 4,
                   "--launches", 60, "--rate", 40])
    enough = tmp_path / "enough"
    command = f"""{shell(launches(600))} &
        until [ -e {enough} ]; do {graph}; done
        kill $!"""
    with gpuprobe.start("sh", "-c", command, args=["--max-overhead", 5], interval=0.25,
                        env=BUSY) as running:
        running.wait_for(lambda report: any(process["graph_launches_of_unknown_size"]
                                            for process in report["processes"]))
        enough.touch()
        result = running.finish()
    processes = [process for report in result.reports for process in report["processes"]
                 if process["graph_launches"]]
    assert all(size["kernels"] in (4, None) for process in processes
               for size in process["graph_sizes"])


def counted(report):
    return report["processes"][0]["sampling"]["launch"]["counted"]


def test_library_that_is_cut_off(gpuprobe_multi, tmp_path):
    """Its probes cannot be put in again; those of others are."""
    shutil.copy(LIBCUDA, tmp_path / "libcuda.so.1")
    holder = ("import mmap, time; f = open('libcuda.so.1', 'r+b'); "
              "m = mmap.mmap(f.fileno(), 0, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC); "
              "print('mapped', flush=True); time.sleep(600)")
    with Background(*launches(600), env=BUSY) as busy, \
            Background("python3", "-c", holder, cwd=tmp_path) as other:
        assert other.stdout.readline() == "mapped\n"
        with gpuprobe_multi.start(args=["--max-overhead", 5, "-p", busy.pid, "-p", other.pid],
                                  interval=0.25, libraries=[LIBCUDA]) as running:
            running.find(lambda report: report["sampling"]["families"]["launch"]["sampled"])
            os.truncate(tmp_path / "libcuda.so.1", 8192)
            running.find(lambda report: report["lost"]["library_skipped"])
            # The probes of others go out and in again within a second.
            *_, later = (running.report() for _ in range(12))
            running.wait_for(lambda report: counted(report) > counted(later))
            result = running.stop()
    assert "cannot attach" not in result.stderr
    assert result.stderr.count("was changed while in use") in range(1, 4)
