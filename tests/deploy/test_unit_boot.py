# SPDX-License-Identifier: BSD-2-Clause
"""The systemd unit on a machine that systemd has booted, in a container: start, metrics, journal,
stop, restart, options, and whether a directive that hardens it takes something away."""
import json
import os
import re
import shutil
import subprocess

import nspawn
import pytest

from lib import paths
from lib.probe import wait_until

pytestmark = [pytest.mark.slow,
              pytest.mark.skipif(bool(nspawn.lacks()),
                                 reason=f"not installed: {nspawn.lacks()}")]

# Directives that are no part of hardening, or that each run of the test for one has.
NOT_TESTED = {"Type", "EnvironmentFile", "ExecStart", "Restart", "RestartSec", "TimeoutStartSec",
              "TimeoutStopSec", "WatchdogSec", "SyslogLevel"}
BASE = {"DynamicUser", "AmbientCapabilities", "CapabilityBoundingSet"}


def directives():
    """Name and value of those in the section [Service], in order."""
    text = (paths.ROOT / "deploy/systemd/gpuprobe.service").read_text(encoding="utf-8")
    section = text.partition("[Service]\n")[2].partition("\n[")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith("#")]
    found = [line.split("=", 1) for line in lines]
    return [(name, value) for name, value in found if name not in NOT_TESTED]


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    directory = tmp_path_factory.mktemp("machine")
    staged = directory / "staged"
    subprocess.run(["make", "-s", "install", f"DESTDIR={staged}", "PREFIX=/usr"], check=True,
                   cwd=paths.ROOT, stdout=subprocess.DEVNULL, timeout=600,
                   env={**os.environ, "MAKEFLAGS": ""})
    shutil.copytree(paths.LIBCUDA.parent, staged / "opt/sim", symlinks=True)
    booted = nspawn.Machine(directory / "root", staged)
    yield booted
    booted.stop()


def restart(machine, options, check=True):
    """Restarts the service with these options."""
    return machine.run("sh", "-c", "echo GPUPROBE_ARGS=\\\"$1\\\" > /etc/default/gpuprobe; "
                                   "systemctl reset-failed gpuprobe; systemctl restart gpuprobe",
                       "sh", options, check=check)


@pytest.fixture
def service(machine):
    """The service without options of its own, running."""
    restart(machine, "")
    yield machine
    machine.run("systemctl", "stop", "gpuprobe")


def show(machine, *names):
    return [machine.run("systemctl", "show", "-P", name, "gpuprobe").stdout.strip()
            for name in names]


def metrics(machine, port=9000):
    return machine.run("curl", "-s", "--noproxy", "*", f"http://127.0.0.1:{port}/metrics").stdout


def workload(machine, *words, **env):
    """Runs a simulated CUDA program inside. Returns its process."""
    variables = [f"{name}={value}" for name, value in env.items()]
    return subprocess.Popen(machine.inside("env", "CUDA_SIM_MACHINE=inside", *variables,
                                           "LD_LIBRARY_PATH=/opt/sim", *words),
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_installed_and_off(machine):
    assert machine.run("systemctl", "is-enabled", "gpuprobe").stdout == "disabled\n"
    assert machine.run("systemctl", "is-active", "gpuprobe").stdout == "inactive\n"


def test_watches(service):
    """A user of its own, five capabilities; metrics and a finding with its fields."""
    # A program that loads the libraries for the first time may end before their probes are in.
    restart(service, "--libcuda-path /opt/sim/libcuda.so.1 "
                     "--libcudart-path /opt/sim/libcudart.so.13")
    pid, active = show(service, "MainPID", "ActiveState")
    status = service.run("cat", f"/proc/{pid}/status").stdout
    assert active == "active" and "Uid:\t0" not in status
    assert "CapPrm:\t000001c000080004\n" in status and "Seccomp:\t2\n" in status
    with workload(service, "/opt/sim/memory", "--pairs", "500",
                  CUDA_SIM_FAIL="cuMemAlloc_v2:*=999") as program:
        program.communicate(timeout=60)
    wait_until(lambda: 'gpuprobe_allocations_total{user="' in metrics(service),
               lambda: metrics(service))
    fields = ["GPUPROBE_FINDING=error-storm", "GPUPROBE_EVENT=new"]
    journal = ["journalctl", "-u", "gpuprobe", "-o", "json", *fields]
    [line] = wait_until(lambda: service.run(*journal).stdout.splitlines(), "no finding")
    record = json.loads(line)
    assert record["PRIORITY"] == "4" and record["GPUPROBE_SEVERITY"] == "warning"
    assert record["MESSAGE"].startswith("warning error-storm: ")
    assert "(memory): cudaMalloc" in record["MESSAGE"] and int(record["GPUPROBE_PID"]) > 1
    wait_until(lambda: show(service, "StatusText")[0].startswith("watching 0 CUDA processes; "),
               lambda: show(service, "StatusText"))


def test_no_warnings(service):
    """Nothing that the unit takes away is missed."""
    [invocation] = show(service, "InvocationID")
    said = service.run("journalctl", "-p", "warning", "-o", "cat",
                       f"_SYSTEMD_INVOCATION_ID={invocation}").stdout
    assert said == ""


def test_stop(service):
    service.run("systemctl", "stop", "gpuprobe", check=True)
    assert service.run("systemctl", "is-failed", "gpuprobe").stdout == "inactive\n"
    said = service.run("journalctl", "-u", "gpuprobe", "-o", "cat", "-n", "3").stdout
    assert "gpuprobe.service: Deactivated successfully.\n" in said


def test_restarts_after_a_kill(service):
    [before] = show(service, "MainPID")
    service.run("kill", "-9", before, check=True)
    wait_until(lambda: show(service, "NRestarts", "ActiveState") == ["1", "active"],
               lambda: show(service, "NRestarts", "ActiveState"))
    assert show(service, "MainPID") != [before] and "gpuprobe_" in metrics(service)


def test_watchdog(service):
    """A gpuprobe that stands still is ended and started anew."""
    service.run("sh", "-c", "mkdir -p /run/systemd/system/gpuprobe.service.d; "
                            "printf '[Service]\\nWatchdogSec=2\\n' > "
                            "/run/systemd/system/gpuprobe.service.d/test.conf; "
                            "systemctl daemon-reload; systemctl restart gpuprobe", check=True)
    try:
        wait_until(lambda: show(service, "WatchdogTimestampMonotonic") != ["0"], "no beat")
        [pid] = show(service, "MainPID")
        service.run("kill", "-STOP", pid, check=True)
        wait_until(lambda: show(service, "NRestarts") == ["1"],
                   lambda: service.run("systemctl", "status", "gpuprobe").stdout)
    finally:
        service.run("sh", "-c", "rm -r /run/systemd/system/gpuprobe.service.d; "
                                "systemctl daemon-reload")


def test_options(service):
    restart(service, "--metrics-addr 127.0.0.1:9100 --verdict")
    assert "gpuprobe_" in metrics(service, 9100) and not metrics(service)


def test_legacy_kernel(service):
    """With the drop-in the service attaches by tracefs events, as kernels before 6.6 need."""
    folder = "/run/systemd/system/gpuprobe.service.d"
    legacy = "/usr/share/doc/gpuprobe/legacy-kernel.conf"
    service.run("sh", "-c", f"mkdir -p {folder}; cp {legacy} {folder}; "
                            f"printf '[Service]\\nEnvironment=GPUPROBE_LINKS=perf\\n' > "
                            f"{folder}/links.conf; systemctl daemon-reload", check=True)
    try:
        restart(service, "--libcuda-path /opt/sim/libcuda.so.1")
        page = metrics(service)
        assert re.search(r'^gpuprobe_probes_attached{layer="driver"} [1-9]', page, re.M), page
    finally:
        service.run("sh", "-c", f"rm -r {folder}; systemctl daemon-reload")


def test_mistaken_options(service):
    """The start fails, and the journal says why as an error."""
    assert restart(service, "--verdit", check=False).returncode
    said = service.run("journalctl", "-u", "gpuprobe", "-p", "err", "-o", "cat").stdout
    assert "--verdit" in said and "did you mean --verdict" in said, said


# --- each directive ---

def check(machine, properties):
    """What `gpuprobe check` finds with these directives: topics and states."""
    words = [word for name, value in properties for word in ("-p", f"{name}={value}")]
    done = machine.run("systemd-run", "--quiet", "--wait", "--pipe", "--collect", *words,
                       "/usr/sbin/gpuprobe", "check", "--json")
    assert done.stdout.startswith("{"), done
    return [(line["topic"], line["state"]) for line in json.loads(done.stdout)["lines"]]


@pytest.fixture(scope="module")
def unhardened(machine):
    return check(machine, [(name, value) for name, value in directives() if name in BASE])


@pytest.mark.parametrize("name", sorted({name for name, _ in directives()} - BASE))
def test_directive(machine, unhardened, name):
    assert check(machine, [(each, value) for each, value in directives()
                           if each in BASE | {name}]) == unhardened


def test_all_directives(machine, unhardened):
    assert ("capabilities", "ok") in unhardened
    assert check(machine, directives()) == unhardened


def test_a_directive_that_breaks(machine, unhardened):
    """The comparison notices one."""
    broken = [(name, value) for name, value in directives() if name in BASE]
    assert check(machine, [*broken, ("SystemCallFilter", "~bpf"),
                           ("SystemCallErrorNumber", "EPERM")]) != unhardened
