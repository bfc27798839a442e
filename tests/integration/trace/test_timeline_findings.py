# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe export`: when findings appeared, as marks on their processes, in every form. They come
from the recording itself, or with --findings FILE from one of readings of the same run."""
import json
import signal
import subprocess

import pytest

from lib import paths, timeline
from lib.cli import fails, run
from lib.probe import Background, environment, wait_until_watching
from lib.script import script

READINGS = ("--interval", "0.1", "--max-overhead", "off")
FORMS = {"perfetto": (".pftrace", timeline.read_perfetto),
         "chrome": (".json.gz", timeline.read_chrome)}
# Waits for a line before each of its calls. The last one fails for good.
FAILS = script("""
    start()
    for size in (100 << 20, 2000 << 20):
        print("READY", flush=True)
        sys.stdin.readline()
        driver.cuMemAlloc_v2(ref(out()), size)
    print("DONE", flush=True)
    sys.stdin.readline()
""")


def recorder(file, pid, *args):
    process = subprocess.Popen([paths.GPUPROBE, "record", "-q", "-o", file, *args, "-p", str(pid)],
                               env=environment(), stderr=subprocess.DEVNULL)
    wait_until_watching(process)
    return process


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(the calls, the same with readings, the pid) of a program whose second allocation fails."""
    directory = tmp_path_factory.mktemp("findings")
    calls, readings = directory / "calls.rec", directory / "readings.rec"
    with Background(*FAILS, env={"CUDA_SIM_MEMORY": "1G", "CUDA_SIM_DIRECTORY": str(paths.SIM),
                                 "LD_LIBRARY_PATH": str(paths.SIM)}) as program:
        assert program.stdout.readline() == "READY\n"
        recorders = [recorder(calls, program.pid, "--no-readings"),
                     recorder(readings, program.pid, *READINGS)]
        assert program.tell("go") == "READY" and program.tell("go") == "DONE"
        for process in recorders:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
    return calls, readings, program.pid


def export(form, file, calls, *options):
    done = run("export", "-q", "-i", calls, "--to", form, "-o", file, *options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("form", FORMS)
def test_marks(recorded, tmp_path, form):
    calls, readings, pid = recorded
    ending, read = FORMS[form]
    file = tmp_path / f"drawn{ending}"
    export(form, file, calls, "--findings", readings)
    drawn = read(file)
    mark = next(mark for mark in drawn.findings if mark.name == "critical oom")
    failed = max(call.end for call in drawn.of("cuMemAlloc_v2"))
    assert mark.pid == pid and mark.time >= failed
    told = json.loads(run("diagnose", "--json", "-i", readings).stdout)["findings"]
    assert mark.args["note"] in {finding["title"] for finding in told}
    export(form, file, readings)
    assert [found.name for found in read(file).findings] == [found.name for found in drawn.findings]
    export(form, file, calls)
    assert not read(file).findings


def test_kineto(recorded, tmp_path):
    calls, readings, pid = recorded
    file = tmp_path / "out.json"
    export("kineto", file, calls, "--findings", readings)
    [mark] = [event for event in timeline.load(file)["traceEvents"]
              if event["name"] == "critical oom"]
    assert (mark["ph"], mark["cat"], mark["pid"], mark["tid"]) == (
        "i", "cpu_instant_event", pid, pid)


def test_only_what_is_drawn(recorded, tmp_path):
    """Findings from after the part, and of processes that are left out, are not."""
    calls, readings, _ = recorded
    file = tmp_path / "out.pftrace"
    for options in (("--until", "1ns"), ("-p", "1"), ("-e", "cuEventCreate")):
        export("perfetto", file, calls, "--findings", readings, *options)
        assert not timeline.read_perfetto(file).findings


def test_other_files(recorded, tmp_path):
    calls, readings, _ = recorded
    out = tmp_path / "out.pftrace"

    def refused(file, *words):
        fails(run("export", "-i", calls, "--to", "perfetto", "-o", out, "--findings", file), 1,
              *words)

    refused(tmp_path / "none", "none", "No such file")
    refused(calls, "has no readings", "--no-readings")
    data = bytearray(readings.read_bytes())
    data[-20:] = bytes(20)
    cut = tmp_path / "cut.rec"
    cut.write_bytes(data[:1400])
    refused(cut, "damaged")
