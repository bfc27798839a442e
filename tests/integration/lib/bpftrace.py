# SPDX-License-Identifier: BSD-2-Clause
"""Runs the scripts of gpuprobe bpftrace-script with the real bpftrace."""
import re
import subprocess
from collections import namedtuple

from lib import leftovers, paths
from lib.probe import environment

LINE = re.compile(r" *(?P<ms>\d+\.\d{3}) (?P<process>.{16}) +(?P<pid>\d+) +(?P<tid>\d+) "
                  r"(?P<event>\w+) +(?P<us>\d+\.\d{3})"
                  r" +(?P<code>-?\d+) (?P<name>\w*) +(?P<details>.*)")

Line = namedtuple("Line", "ms process pid tid event us code name details")


def make_script(*options, libcuda=paths.LIBCUDA, libcudart=paths.LIBCUDART, status=0):
    """The generator's output, or its stderr if it is expected to fail."""
    command = [paths.GPUPROBE, "bpftrace-script", *options]
    if libcuda:
        command += ["--libcuda-path", libcuda]
    if libcudart:
        command += ["--libcudart-path", libcudart]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == status, done.stderr
    assert status or not done.stderr
    return done.stderr if status else done.stdout


def parse(line):
    found = LINE.fullmatch(line)
    assert found, repr(line)
    fields = found.groupdict()
    return Line(float(fields["ms"]), fields["process"].rstrip(), int(fields["pid"]),
                int(fields["tid"]), fields["event"], float(fields["us"]), int(fields["code"]),
                fields["name"], fields["details"])


def watch(tmp_path, script, *command, **variables):
    """Runs the script over a command. Returns its lines. Detaching is slow: 0.1 s a probe."""
    leftovers.mount_tracefs()
    file = tmp_path / "script.bt"
    file.write_text(script)
    done = subprocess.run(["timeout", "-s", "INT", "300", "bpftrace", "-o", tmp_path / "lines",
                           file, "-c", " ".join(map(str, command))], env=environment(**variables),
                          capture_output=True, text=True, timeout=400, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "lines").read_text()
    assert "Lost" not in text + done.stderr
    lines = [line for line in text.splitlines() if line and not line.startswith("Attaching")]
    assert lines[0].split() == ["TIME(ms)", "PROCESS", "PID", "TID", "EVENT", "DURATION(us)",
                                "RESULT", "DETAILS"]
    return [parse(line) for line in lines[1:]]
