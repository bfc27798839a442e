# SPDX-License-Identifier: BSD-2-Clause
"""--service: no reports, but lines about what changes, and messages to the service manager."""
import os
import re
import socket
import subprocess
from pathlib import Path

import pytest

from lib import cli, paths
from lib.probe import Background, wait_until

BASE = ("--service", "--metrics-addr", "none")
STORM = {"CUDA_SIM_FAIL": "cuMemAlloc_v2:*=999"}
JOURNAL = Path("/run/systemd/journal/socket")


def findings_of(stderr):
    return [line for line in stderr.splitlines() if "error-storm" in line]


def test_no_reports(gpuprobe):
    """COMMAND's own line is the only one on standard output; gpuprobe reports the finding once."""
    result = gpuprobe.run(paths.workload("memory"), "--pairs", "500", base=BASE,
                          args=["--interval", "0.1"], env=STORM)
    assert result.status == 0 and len(result.stdout.splitlines()) == 1, result.stdout
    [line] = [line for line in findings_of(result.stderr) if "ended" not in line]
    assert re.match(r"gpuprobe: warning error-storm: .*; process \d+ \(memory\): cudaMalloc.*; "
                    r"500 calls failed", line), line


def test_appears_and_ends(gpuprobe):
    with gpuprobe.start(base=BASE, libraries=[paths.LIBCUDA, paths.LIBCUDART]) as running:
        running.wait_until_watching()
        with Background(paths.workload("memory"), "--pairs", "500", env=STORM) as program:
            subject = f"process {program.pid} (memory)"
            wait_until(lambda: f"ended with the process: error-storm: {subject}" in running.stderr,
                       lambda: running.stderr)
        result = running.stop()
    assert result.status == 0 and result.stdout == ""
    first, last = [line for line in findings_of(result.stderr) if subject in line]
    assert first.startswith("gpuprobe: warning error-storm: ")
    assert last.startswith("gpuprobe: ended with the process: error-storm: ")


class Manager:
    """A service manager's socket, with an abstract name."""

    def __init__(self):
        self.name = f"@gpuprobe/test/{os.getpid()}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + self.name[1:])
        self.socket.settimeout(60)
        self.messages = []

    def until(self, start):
        """Waits for a message with that start."""
        while not (self.messages and self.messages[-1].startswith(start)):
            self.messages.append(self.socket.recv(4096).decode())
        return self.messages[-1]


@pytest.fixture
def manager():
    manager = Manager()
    yield manager
    manager.socket.close()


def test_tells_the_manager(gpuprobe, manager):
    with gpuprobe.start(base=BASE, env={"NOTIFY_SOCKET": manager.name,
                                        "WATCHDOG_USEC": "300000"}) as running:
        manager.until("READY=1")
        assert manager.messages == ["READY=1\nSTATUS=watching"]
        running.wait_until_watching()
        assert re.fullmatch(r"STATUS=watching \d+ CUDA process(es)?; \d+ findings?"
                            r"(; calls were lost)?; no metrics", manager.until("STATUS"))
        manager.until("WATCHDOG=1")
        assert running.stop().status == 0
        manager.until("STOPPING=1")


def test_fails_before_it_is_ready(manager):
    done = cli.run(*BASE, "--duration", "1", "--threshold", "x=1", NOTIFY_SOCKET=manager.name)
    assert done.returncode == 2
    manager.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.socket.recv(4096)


@pytest.mark.skipif(JOURNAL.exists(), reason="the findings would go to this machine's journal")
def test_priorities(gpuprobe, tmp_path):
    """Where the journal reads standard error, each line begins with its priority."""
    with open(tmp_path / "stderr", "w+", encoding="utf-8") as stderr:
        file = os.fstat(stderr.fileno())
        subprocess.run([paths.GPUPROBE, *BASE, "-v", "--", paths.workload("memory"), "--pairs",
                        "500"], check=True, stdout=subprocess.PIPE, stderr=stderr, timeout=60,
                       env={**os.environ, **STORM, "LD_LIBRARY_PATH": str(paths.LIBCUDA.parent),
                            "JOURNAL_STREAM": f"{file.st_dev}:{file.st_ino}"})
        stderr.seek(0)
        lines = stderr.read().splitlines()
    assert any(re.match("<4>warning error-storm: ", line) for line in lines), lines
    assert any(re.match("<6>", line) for line in lines), lines
    assert not any("gpuprobe: " in line for line in lines), lines


def test_no_json():
    cli.fails(cli.run("--service", "--json"), 2, "--service and --json do not go together")
