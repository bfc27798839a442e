# SPDX-License-Identifier: BSD-2-Clause
"""
Errors of GPUs (Xids), without a GPU. A fifo stands for the kernel's log. For the driver's
tracepoint stands one of a test program, whose record has the same fields.
"""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from lib import paths
from lib.probe import Running, environment
from lib.scrape import Endpoint

TRACING = Path("/sys/kernel/tracing")
FIRST = "0000:01:00"  # the address of the simulated GPU 0
LAUNCHING = [paths.workload("launch"), "--launches", 5, "--hold", 600]
CALLER = """
#include <stdio.h>
__attribute__((noinline)) void report(const char *dev, unsigned int number, const char *msg)
{
	__asm__ volatile("" : : "r"(dev), "r"(number), "r"(msg) : "memory");
}
int main(void)
{
	report("0000:01:00.0", 31, "Ch 00000008, MMU Fault");
	return 0;
}
"""


def watch(directory, mounted, over, *args):
    """A gpuprobe that sees `mounted` in the place of `over`, with a program that launches."""
    words = ["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh",
             mounted, over, paths.GPUPROBE, "--json", "--display-interval", "0.2", *args, "--",
             "sh", "-c", 'exec "$@" >/dev/null', "sh", *LAUNCHING]
    return Running([str(word) for word in words], environment(LD_LIBRARY_PATH=paths.SIM),
                   directory, None)


def seen(running):
    """The pid of the program once its launches and its GPU are known."""
    return running.find(lambda report: [
        process["pid"] for process in report["processes"]
        if process["launches"] == 5 and process["gpus"] and report["gpus"]])[0]


def xids(report):
    return {xid["xid"]: xid for xid in report.get("xids", []) if xid["latest"]}


def of_xid(report):
    return {int(re.match(r"Xid (\d+) ", finding["subject"])[1]): finding
            for finding in report["findings"] if finding["id"] == "xid"}


def reported(running, numbers):
    """The first report that has them, with a verdict on who caused them."""
    while True:
        report = running.report()
        if xids(report).keys() >= numbers:
            return report


def test_kernel_log(tmp_path):
    """Named by the log, not named, and forged by a user who writes into the log."""
    os.mkfifo(tmp_path / "log")
    log = os.open(tmp_path / "log", os.O_RDWR)
    endpoint = Endpoint()
    with watch(tmp_path, tmp_path / "log", "/dev/kmsg", "--kernel-log",
               *endpoint.option) as running:
        pid = seen(running)
        named = f"pid={pid}, name=a\x1b[31m, Ch 8"
        for line in (f"3,1,2,-;NVRM: Xid (PCI:{FIRST}): 31, {named}",
                     f"3,2,2,-;NVRM: Xid (PCI:{FIRST}): 31, {named}",
                     f"11,3,2,-;NVRM: Xid (PCI:{FIRST}): 48, {named}",
                     f"4,4,2,-;NVRM: Xid (PCI:{FIRST}): 79, pid='<unknown>', name=<unknown>, "
                     "GPU has fallen off the bus."):
            os.write(log, f"{line}\n".encode())
        report = reported(running, {31, 79})
        page = endpoint.scrape()
        running.stop()
    os.close(log)
    assert set(xids(report)) == {31, 79}
    first, second = xids(report)[31], xids(report)[79]
    assert (first["pci"], first["count"], first["gpu"]) == (FIRST, 2, "0")
    [suspect] = first["latest"]["suspects"]
    assert first["latest"]["named"] and suspect["pid"] == pid
    assert suspect["user"] == "root" and suspect["comm"] == "launch" and suspect["kernels"]
    assert not second["latest"]["named"]
    assert pid in [one["pid"] for one in second["latest"]["suspects"]]
    found = of_xid(report)
    assert found[31]["pid"] == pid and found[31]["severity"] == "critical"
    assert f"the driver names process {pid} (launch), user root" in found[31]["evidence"]
    assert found[79]["pid"] is None
    assert page.sum("gpuprobe_xid_total", pci=FIRST, xid="31") == 2
    assert page.sum("gpuprobe_xid_total") == 3
    assert page.sum("gpuprobe_xid_lost_total") == 0


def test_log_that_cannot_be_read():
    done = subprocess.run(["unshare", "-m", "sh", "-c",
                           'mount -t tmpfs none /dev && exec "$@"', "sh", paths.GPUPROBE,
                           "--kernel-log", "--metrics-addr", "none", "--duration", "1"],
                          capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "cannot read the kernel's log /dev/kmsg: No such file or directory" in done.stderr


def define(line):
    """Adds the line. The file cannot seek, so open() cannot append to it."""
    file = os.open(TRACING / "uprobe_events", os.O_WRONLY | os.O_APPEND)
    os.write(file, f"{line}\n".encode())
    os.close(file)


@pytest.fixture
def tracepoint(tmp_path):
    """A program with a tracepoint, and a directory that has it as the driver's."""
    source, program = tmp_path / "caller.c", tmp_path / "caller"
    source.write_text(CALLER, encoding="ascii")
    subprocess.run(["cc", "-o", program, source], check=True)
    symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    offset = re.search(r"^(\w+) T report$", symbols, re.M)[1]
    name = f"xid_test_{os.getpid()}/report"
    define(f"p:{name} {program}:0x{offset} dev=+0(%di):string error_code=%si:u32 "
           "msg=+0(%dx):string")
    copy = tmp_path / "events" / "nvidia" / "nvidia_dev_xid"
    copy.mkdir(parents=True)
    for file in ("format", "id"):
        (copy / file).write_bytes((TRACING / "events" / name / file).read_bytes())
    yield program, tmp_path / "events"
    define(f"-:{name}")


def test_tracepoint(tracepoint):
    """The driver's tracepoint names no process: those with the GPU are suspected."""
    program, events = tracepoint
    with watch(events, events, TRACING / "events", "--metrics-addr", "none") as running:
        pid = seen(running)
        subprocess.run([program], check=True)
        report = reported(running, {31})
        running.stop()
    latest = xids(report)[31]["latest"]
    assert latest["message"] == "Ch 00000008, MMU Fault" and latest["reported_pid"] is None
    assert pid in [suspect["pid"] for suspect in latest["suspects"]]
    assert report["lost_xids"] == 0


def test_diagnose_watches_the_tracepoint(tracepoint):
    """An error during the run of COMMAND is a finding of diagnose, at its end too."""
    program, events = tracepoint
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh",
         events, TRACING / "events", paths.GPUPROBE, "diagnose", "--json", "--", "sh", "-c",
         f"'{paths.workload('launch')}' --launches 5 >/dev/null; '{program}'"],
        capture_output=True, text=True, check=False, timeout=120,
        env=environment(LD_LIBRARY_PATH=paths.SIM))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert set(of_xid(report)) == {31} and "xid" not in report["not_looked_for"]
