# SPDX-License-Identifier: BSD-2-Clause
"""Findings of the monitor that need no account: at the end of its reports, as text and JSON,
and as metrics."""
import re
import subprocess

import pytest

from lib import paths
from lib.faults import FAULTS
from lib.probe import EXACT, TEXT, Background, Probe, wait_for_file
from lib.profile_runs import Scenario, by_scenario
from lib.scrape import PROMETHEUS, Endpoint
from lib.script import script

FINDINGS = {fault.id: fault for fault in FAULTS if not fault.name}
WITHOUT_ACCOUNT = ["error-storm", "oom", "sticky-error", "pageable-copies", "graph-recapture",
                   "device-imbalance"]
STORM = {"CUDA_SIM_FAIL": "cuMemAlloc_v2:*=999"}


def faults(name, fixed=False, seconds=1):
    """The workload with this fault, or its repaired twin, and its environment."""
    fault = FINDINGS[name]
    return ([paths.workload("faults"), name, "--seconds", seconds, *fault.arguments,
             *(["--fixed"] if fixed else [])], fault.environment(fixed))


def ids(report):
    return [finding["id"] for finding in report["findings"]]


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    """By name of a fault, and whether it is repaired, what was found of that program alone."""
    programs = {(name, fixed): faults(name, fixed) for name in WITHOUT_ACCOUNT
                for fixed in (False, True)}
    scenarios = {key: Scenario(command, env) for key, (command, env) in programs.items()}
    runs = by_scenario(Probe(tmp_path_factory.mktemp("pairs")), scenarios, base=EXACT, at_once=6)
    found = runs.result.final["findings"]
    assert {finding["pid"] for finding in found} <= {runs.pid(key) for key in scenarios}
    return {key: [finding for finding in found if finding["pid"] == runs.pid(key)]
            for key in scenarios}


@pytest.mark.parametrize("name", WITHOUT_ACCOUNT)
def test_faults(pairs, name):
    findings = pairs[name, False]
    found = [finding for finding in findings if finding["id"] == name]
    assert found and found[0]["evidence"]
    # The others need an account.
    assert {finding["id"] for finding in findings} <= {name, *FINDINGS[name].companions}


@pytest.mark.parametrize("name", WITHOUT_ACCOUNT)
def test_repaired(pairs, name):
    assert pairs[name, True] == []


HEALTHY = ["cuda_events_test", "launch --launches 1000", "copy --count 3",
           "memory --pairs 100 --keep 2", "modules --rounds 5"]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """The text of all of them, one after the other."""
    commands = "; ".join(paths.workload(command) for command in HEALTHY)
    return Probe(tmp_path_factory.mktemp("healthy")).run("sh", "-c", commands, base=TEXT).stdout


@pytest.mark.parametrize("program", [command.split()[0] for command in HEALTHY])
def test_healthy(healthy, program):
    assert re.search(rf"^process \d+ \({program[:15]}\) ended$", healthy, re.M), healthy
    assert healthy.count("=" * 24 + "\n") == 2 and "findings" not in healthy


def test_text(gpuprobe):
    result = gpuprobe.run(paths.workload("memory"), "--pairs", "500", base=TEXT, env=STORM)
    section = re.search(r"\n\nfindings: 1 warning\n\n(.*?)\n={24}\n", result.stdout, re.DOTALL)
    assert section, result.stdout
    first, subject, *evidence = section[1].split("\n")
    assert re.fullmatch(r"warning +error-storm: .+", first)
    assert re.fullmatch(r" +process \d+ \(memory\): cudaMalloc: .*", subject)
    assert evidence and "500 calls failed" in " ".join(evidence)


def test_sections(gpuprobe):
    """What is not watched is no finding."""
    command, env = faults("oom", seconds=1)
    assert ids(gpuprobe.run(*command, env=env, args=["--memleak"]).final) == ["oom"]
    assert ids(gpuprobe.run(*command, env=env, args=["--bandwidth-util"]).final) == []


def test_threshold(gpuprobe):
    """A threshold decides when it is a finding, as for diagnose;
    a value that is no threshold is a mistake of the command line."""
    command = paths.workload("memory"), "--pairs", "500"
    assert ids(gpuprobe.run(*command, args=["--threshold", "error-storm.calls=501"],
                            env=STORM).final) == []
    assert ids(gpuprobe.run(*command, args=["--threshold", "error-storm.calls=500"],
                            env=STORM).final) == ["error-storm"]
    done = subprocess.run([paths.GPUPROBE, "--threshold", "error-storm.calls=0.5"], text=True,
                          capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "gpuprobe: --threshold: error-storm.calls: '0.5' is not a whole number")


def test_told_to_the_end_and_once(gpuprobe):
    """A process's findings are in the report that tells its end, and in none that comes later."""
    def of(report, pid, which="findings"):
        return [each for each in report[which] if each["pid"] == pid]

    with gpuprobe.start(libraries=[paths.LIBCUDA, paths.LIBCUDART]) as running:
        running.report()
        with Background(paths.workload("memory"), "--pairs", "500", env=STORM) as program:
            last = running.wait_for(
                lambda report: any(p["ended"] for p in of(report, program.pid, "processes")))
        assert [finding["id"] for finding in of(last, program.pid)] == ["error-storm"]
        later = running.report()
        assert of(later, program.pid, "processes") == [] and of(later, program.pid) == []


@pytest.fixture(name="served")
def fixture_served(gpuprobe):
    """Starts gpuprobe with a COMMAND and gives its endpoint."""
    running = []

    def serve(*command, env):
        endpoint = Endpoint()
        running.append(gpuprobe.start(*command, base=endpoint.option, interval=0, env=env))
        endpoint.wait()
        return endpoint
    yield serve
    for each in running:
        each.__exit__()


def test_metrics(served):
    """Pageable copies while they are made: 1, at a cost that never decreases;
    promtool reads the page."""
    command, env = faults("pageable-copies", seconds=120)
    endpoint = served(*command, env=env)
    page = endpoint.until(lambda page: page.find("gpuprobe_finding_active", id="pageable-copies"))
    (labels, value), = page.find("gpuprobe_finding_active")
    pid, = {labels["pid"] for labels, _ in page.find("gpuprobe_copies_total")}
    assert (labels, value) == ({"id": "pageable-copies", "pid": pid, "severity": "warning"}, 1)
    costs = [page.value("gpuprobe_finding_cost_seconds_total", id="pageable-copies", pid=pid)]
    while len(costs) < 5:
        costs.append(endpoint.scrape().value("gpuprobe_finding_cost_seconds_total",
                                             id="pageable-copies", pid=pid))
    assert costs == sorted(costs) and 0 < costs[0] < costs[-1]
    _, _, body = endpoint.request("/metrics", headers={"Accept": PROMETHEUS})
    assert b"gpuprobe_finding_active" in body
    done = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True,
                          check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.waits("until the copies are no longer much of the time")
def test_metrics_become_0(served, tmp_path):
    """What is no longer so much of the time is no finding any more; what it had cost stays."""
    seen, over = tmp_path / "seen", tmp_path / "over"
    program = script(f"""
        start()
        address = made(driver.cuMemAlloc_v2, 128 << 20)
        host = ctypes.create_string_buffer(128 << 20)
        while not os.path.exists({str(seen)!r}):
            driver.cuMemcpyHtoD_v2(address, host, 128 << 20)
            time.sleep(1)
        touch({str(over)!r})
        time.sleep(120)
    """)
    endpoint = served(*program, env={"CUDA_SIM_LATENCY": "cuMemcpyHtoD_v2=200ms"})
    endpoint.until(lambda page: page.sum("gpuprobe_finding_active") == 1)
    seen.touch()
    wait_for_file(over)
    cost = endpoint.scrape().value("gpuprobe_finding_cost_seconds_total", id="pageable-copies")
    assert cost >= 0.2
    page = endpoint.until(
        lambda page: page.value("gpuprobe_finding_active", id="pageable-copies") == 0)
    assert page.value("gpuprobe_finding_cost_seconds_total", id="pageable-copies") == cost


def test_metrics_of_healthy_programs(served):
    """The families are there, and nothing in them."""
    endpoint = served(paths.workload("idle-holder"), "--bytes", "4096", "--launch", "7",
                      "--seconds", "120", env={})
    page = endpoint.until(lambda page: page.sum("gpuprobe_kernel_launches_total") == 7)
    assert page.types["gpuprobe_finding_active"] == "gauge"
    assert page.types["gpuprobe_finding_cost_seconds"] == "counter"
    assert not page.find("gpuprobe_finding_active") and not page.find(
        "gpuprobe_finding_cost_seconds_total")
