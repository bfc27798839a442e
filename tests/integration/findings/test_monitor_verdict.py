# SPDX-License-Identifier: BSD-2-Clause
"""Who waits for whom in the monitor's report and metrics: with the account of --verdict,
and by other numbers without one."""
import re
import shlex
import subprocess

import pytest

from lib import paths
from lib.probe import Background, Probe, descendants
from lib.progress import cpu_seconds, wait_until
from lib.profile_runs import Scenario, by_scenario
from lib.scrape import PROMETHEUS, Endpoint
from lib.undisturbed import undisturbed

CLOCK = {"CUDA_SIM_CLOCK": "kernel=200us"}
# The GPU works for 2 ms of a step of 22 ms and more, or for 20 ms of one that is hardly longer.
HOST_BOUND = [paths.workload("steps"), "--steps", 350, "--idle", 0.02, "--wait", "stream",
              "--blocking"]
GPU_BOUND = [paths.workload("steps"), "--steps", 350, "--launches", 100, "--wait", "stream",
             "--blocking"]
# Never waits: without an account nobody knows whether the launches do.
NO_WAIT = [paths.workload("steps"), "--steps", 350, "--idle", 0.02]
MONITOR = ["--json", "--display-interval", "1", "--metrics-addr", "none"]
OFF = ["--display-interval", "1", "--metrics-addr", "none"]

pytestmark = pytest.mark.waits("its programs sleep, for eight seconds")


def run_all(tmp_path_factory, name, *options):
    programs = {"host-bound": HOST_BOUND, "GPU-bound": GPU_BOUND, "no wait": NO_WAIT}
    scenarios = {key: Scenario(command, CLOCK) for key, command in programs.items()}
    runs = by_scenario(Probe(tmp_path_factory.mktemp(name)), scenarios, base=[*MONITOR, *options],
                       at_once=3)
    return {key: runs[key].process for key in scenarios}


@pytest.fixture(scope="module")
def proved(tmp_path_factory):
    return run_all(tmp_path_factory, "proved", "--verdict")


@pytest.fixture(scope="module")
def by_waits(tmp_path_factory):
    return run_all(tmp_path_factory, "waits")


@pytest.mark.parametrize("kind", ["host-bound", "GPU-bound"])
def test_with_an_account(proved, kind):
    verdict = proved[kind]["verdict"]
    assert verdict["kind"] == kind
    assert verdict["launches"] and verdict["window_ns"] >= 1e9
    assert verdict["idle_proved"] is not None


def test_idle_time_is_proved(proved):
    """Twenty milliseconds of sleep in each step; on a busy machine it is idle for longer."""
    verdict = proved["host-bound"]["verdict"]
    assert verdict["idle_proved"] > 0.5 > verdict["held_by_gpu"]


def test_without_one(by_waits):
    verdict = by_waits["GPU-bound"]["verdict"]
    assert (verdict["kind"], verdict["idle_proved"]) == ("GPU-bound", None)
    assert verdict["held_by_gpu"] >= 0.3
    verdict = by_waits["no wait"]["verdict"]
    assert (verdict["kind"], verdict["idle_proved"]) == ("not known", None)
    assert verdict["held_by_gpu"] < 0.3


def test_sections_have_no_verdict(gpuprobe):
    """What is asked for keeps its form."""
    for option in ("--memleak", "--cudatrace", "--bandwidth-util"):
        result = gpuprobe.run(*HOST_BOUND[:1], "--steps", 50, "--idle", 0.02, base=MONITOR,
                              args=[option], env=CLOCK)
        assert all("verdict" not in process for report in result.reports
                   for process in report["processes"])


def test_refused_together():
    for option in ("--memleak", "--cudatrace", "--bandwidth-util", "--no-return-probes"):
        done = subprocess.run([paths.GPUPROBE, "--verdict", option], text=True, capture_output=True,
                              check=False)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--verdict" in done.stderr and option in done.stderr


@pytest.mark.parametrize("options, found", [(["--verdict"], True), ([], False)])
def test_findings_that_need_the_account(gpuprobe, options, found):
    result = gpuprobe.run(*undisturbed(paths.workload("faults"), "small-copies", "--seconds", 1),
                          base=MONITOR, args=options,
                          env={"CUDA_SIM_ASYNC": "2ms",
                               "CUDA_SIM_LATENCY": "cuMemcpyHtoDAsync_v2=60us"})
    ids = {finding["id"] for report in result.reports for finding in report["findings"]}
    assert ("small-copies" in ids) == found


def test_in_words(gpuprobe):
    text = gpuprobe.run(*HOST_BOUND, base=OFF, args=["--verdict"], env=CLOCK).stdout
    assert re.search(r"^  verdict +the GPU waits for the program "
                     r"\(host-bound\): idle at least [\d.]+ % of\s+the time \(proved\);\s+"
                     r"the GPU holds the program up for ", text, re.M), text
    assert re.search(r"^ *\d+ .* host-bound +critical host-bound$", text, re.M), text


def test_first_verdict(gpuprobe):
    """
    A process that makes no call while gpuprobe starts has a verdict as early as others: its time
    begins before the first report that has its calls, not with it.
    """
    rare = [*HOST_BOUND[:3], "--idle", 1, "--wait", "stream"]
    times = []

    def judged(report):
        times.extend(report["boot_ns"] for process in report["processes"] if process["launches"])
        return times and report["processes"][0]["verdict"]["from_ns"]

    with Background(*rare, env={"CUDA_SIM_TRUTH": None, **CLOCK}) as process, \
            gpuprobe.start(args=["-p", process.pid], interval=4,
                           env={"LD_LIBRARY_PATH": paths.SIM}) as running:
        assert running.find(judged) < times[0] - 1e8


def test_metrics(gpuprobe):
    """Of a process that goes on; promtool reads the page."""
    endpoint = Endpoint()
    with gpuprobe.start(*HOST_BOUND[:1], "--steps", 100000, *HOST_BOUND[3:],
                        base=["--verdict", *endpoint.option], interval=0, env=CLOCK):
        endpoint.wait()
        page = endpoint.until(lambda page: page.sum("gpuprobe_host_bound_ratio"))
        _, _, body = endpoint.request("/metrics", headers={"Accept": PROMETHEUS})
    idle, = page.find("gpuprobe_gpu_idle_proved_ratio")
    assert idle[0]["device"] == "0" and 0.3 <= idle[1] <= 1
    parts = {labels["reason"]: value
             for labels, value in page.find("gpuprobe_host_bound_ratio", pid=idle[0]["pid"])}
    assert set(parts) == {"outside", "launches", "memory", "copies", "other"}
    assert parts["outside"] == max(parts.values()) and sum(parts.values()) <= 1.001
    done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_no_metrics_without_an_account(gpuprobe):
    endpoint = Endpoint()
    with gpuprobe.start(*HOST_BOUND[:1], "--steps", 100000, *HOST_BOUND[3:], base=endpoint.option,
                        interval=0, env=CLOCK):
        endpoint.wait()
        page = endpoint.until(lambda page: page.find("gpuprobe_waits_total"))
    assert not {"gpuprobe_gpu_idle_proved_ratio", "gpuprobe_host_bound_ratio"} & set(page.types)


def test_children_of_a_shell(gpuprobe):
    """
    It was on its GPU before gpuprobe, which saw no context made: NVML knows which of two it is. No
    page calls the GPU busy before anything is proved.
    """
    endpoint = Endpoint()
    steps = shlex.join(str(word) for word in [*HOST_BOUND[:1], "--steps", 100000, *HOST_BOUND[3:]])
    machine = {"CUDA_SIM_DEVICES": "2"}
    with Background("sh", "-c", f"{steps}; true", env={**machine, **CLOCK}) as shell:
        wait_until(lambda: any(cpu_seconds(pid) > 0.05 for pid in descendants(shell.pid)))
        with gpuprobe.start(args=["-p", shell.pid], base=["--verdict", *endpoint.option],
                            interval=0, env={"LD_LIBRARY_PATH": paths.SIM, **machine}):
            endpoint.wait()
            page = endpoint.until(lambda page: page.find("gpuprobe_gpu_idle_proved_ratio"))
    (idle, share), = page.find("gpuprobe_gpu_idle_proved_ratio")
    assert (idle["device"], idle["gpu"]) == ("unknown", "0")
    assert share > 0
    (launches, _), = page.find("gpuprobe_device_launches_total")
    assert (launches["gpu"], launches["uuid"]) == ("0", idle["uuid"])
