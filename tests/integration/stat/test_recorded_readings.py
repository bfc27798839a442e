# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe record`: stat, diagnose, memleak and flame show a recording with the numbers of the
run, also if gpuprobe was killed, and say what a file lacks. Some recordings have calls as well."""
import json
import signal

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import Background, Probe, wait_until

LAUNCHES, KERNELS, KEPT = 3000, 3, 7
LAUNCH = (paths.workload("launch"), "--launches", LAUNCHES, "--kernels", KERNELS)
KEEP = (paths.workload("memory"), "--pairs", 100, "--keep", KEPT, "--size", 65536)
SUMMARY, CALLS = ("--level", "summary"), ("--level", "calls")


def record(directory, *command, args=("--max-overhead", "off"), level=SUMMARY):
    """(the recording, the Result)"""
    file = directory / "run.rec"
    result = Probe(directory).run(*command, base=["record", "-o", str(file), *level,
                                                  "--interval", "0.1"], args=args)
    return file, result


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    return record(tmp_path_factory.mktemp("launched"), *LAUNCH)[0]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return record(tmp_path_factory.mktemp("kept"), *KEEP, level=CALLS)[0]


def shown(*args):
    done = run(*args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def stat(file, *args):
    return json.loads(shown("stat", "-i", file, "--json", *args))


def recorded_launches(file, *args):
    """0 as long as it has no reading."""
    done = run("stat", "-i", file, "--json", *args)
    processes = json.loads(done.stdout)["processes"] if done.returncode == 0 else []
    return sum(kernel["launches"] for process in processes for kernel in process["kernels"])


def test_stat_has_the_totals(launched):
    report = stat(launched)
    [process] = report["processes"]
    assert report["final"]
    assert sum(kernel["launches"] for kernel in process["kernels"]) == LAUNCHES
    assert len(process["kernels"]) == KERNELS
    assert not any(report["lost"].values())


def test_each_form_names_the_process_and_its_kernels(launched):
    for args in (["stat"], ["stat", "--csv"], ["stat", "--full-names"]):
        text = shown(*args, "-i", launched)
        assert "launch" in text and "kernel_0" in text.replace("kernel0", "kernel_0")
    assert "process" in shown("diagnose", "-i", launched)


def test_the_same_bytes_each_time(launched):
    for args in (["stat"], ["stat", "--json"], ["diagnose"]):
        assert shown(*args, "-i", launched) == shown(*args, "-i", launched)


def test_an_earlier_moment_has_less(tmp_path):
    file, _ = record(tmp_path, paths.workload("launch"), "--seconds", 2, "--rate", 1000)
    # On a busy machine the first launch comes late.
    moments = (f"{tenths / 10}s" for tenths in range(2, 600, 2))
    first = next(moment for moment in moments if recorded_launches(file, "--to", moment))
    early, late = stat(file, "--to", first), stat(file)
    counts = [sum(kernel["launches"] for process in report["processes"]
                  for kernel in process["kernels"]) for report in (early, late)]
    assert 0 < counts[0] < counts[1]
    assert not early["final"] and late["final"]
    assert early["boot_ns"] < late["boot_ns"]
    reports = [json.loads(line)
               for line in shown("-i", file, "--json", "--interval", "0.5").splitlines()]
    assert len(reports) > 1 and reports[-1]["boot_ns"] == late["boot_ns"]


def test_memleak(kept):
    report = json.loads(shown("memleak", "-i", kept, "--json"))
    [process] = report["processes"]
    assert sum(site["bytes"] for site in process["sites"]) == KEPT * 65536
    assert sum(site["allocations"] for site in process["sites"]) == KEPT
    assert "memory" in shown("memleak", "-i", kept)


def test_monitor(launched, kept):
    """The report by process, the one by sections, and JSON."""
    assert f"{LAUNCHES:,}" in shown("-i", launched, "--exact")
    assert "launch" in shown("-i", launched, "--cudatrace")
    assert "memory" not in shown("-i", launched, "--cudatrace").lower().split("launch")[0]
    report = json.loads(shown("-i", kept, "--json"))
    [process] = report["processes"]
    assert process["memory"]["live_at_exit_bytes"] == KEPT * 65536


def test_flame(launched, kept):
    folded = shown("flame", "-i", launched, "--by", "launches")
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == LAUNCHES
    folded = shown("flame", "-i", kept, "--by", "live-bytes")
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == KEPT * 65536


def test_killed(tmp_path):
    """What was recorded before SIGKILL is there, and the report says that the end is missing."""
    file = tmp_path / "run.rec"
    with Background(paths.workload("launch"), "--seconds", 600, "--rate", 1000) as program, \
            Probe(tmp_path).start(base=["record", "-o", str(file), *CALLS,
                                        "--interval", "0.1", "-p", str(program.pid)],
                                  interval=None) as running:
        wait_until(lambda: file.exists() and recorded_launches(file), "no launches are recorded")
        before = recorded_launches(file)
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
    done = run("stat", "-i", file, "--json")
    assert done.returncode == 0 and "no end" in done.stderr
    assert recorded_launches(file) >= before


def test_mistakes(tmp_path, launched):
    fails(run("stat", "-i", tmp_path / "none"), 1, "none", "No such file")
    (tmp_path / "text").write_text("x" * 10000)
    fails(run("diagnose", "-i", tmp_path / "text"), 1, "text")
    fails(run("stat", "-i", launched, "-p", "1"), 2, "-i", "--pid")
    fails(run("stat", "-i", launched, "--", "true"), 2, "-i")
    fails(run("stat", "--to", "3s", "--", "true"), 2, "-i FILE")
    fails(run("memleak", "-i", launched, "--older", "3s"), 2, "--older", "-i")
    fails(run("-i", launched, "--service"), 2, "--service", "-i")
    fails(run("-i", tmp_path / "text"), 1, "text")
    fails(run("record", "-o", tmp_path / "x", "--level", "summary", "--nested", "--", "true"), 2,
          "--nested", "--level calls")
    fails(run("record", "-o", tmp_path / "x", "--no-readings", "--interval", "3", "--", "true"),
          2, "--interval", "--no-readings")
    fails(run("record", "-o", tmp_path / "x", *SUMMARY, "--no-readings", "--", "true"), 2,
          "--no-readings", "--level calls")


def test_a_recording_of_calls_has_no_readings(gpuprobe, tmp_path):
    file = tmp_path / "calls.rec"
    result = gpuprobe.run(*LAUNCH, base=["record", "-o", str(file), "--no-readings"])
    assert "reading" not in result.stderr
    fails(run("stat", "-i", file), 1, "no readings", "--no-readings", "older gpuprobe")


def test_cut_before_the_first_reading(tmp_path, launched):
    """A file whose first part is cut is damaged. One that ends before it has no readings yet."""
    whole, file = launched.read_bytes(), tmp_path / "cut.rec"
    first = whole.index(b"CHNK")
    file.write_bytes(whole[:first + 200])
    fails(run("stat", "-i", file), 1, "damaged", "no reading can be read")
    file.write_bytes(whole[:first])
    fails(run("stat", "-i", file), 1, "no readings", "killed before")


def test_anonymous(tmp_path):
    """Names are pseudonyms in every form of report; counts are the same."""
    file, _ = record(tmp_path, *LAUNCH, args=("--max-overhead", "off", "--anonymize"),
                     level=CALLS)
    report = stat(file)
    [process] = report["processes"]
    assert sum(kernel["launches"] for kernel in process["kernels"]) == LAUNCHES
    assert {kernel["label"] for kernel in process["kernels"]} == {"kernel-1", "kernel-2",
                                                                  "kernel-3"}
    assert process["user"] == "user-1" and process["comm"] == "task-1"
    for args in (["stat"], ["stat", "--json"], ["diagnose"], ["memleak"], [],
                 ["flame", "--by", "launches"],
                 ["--json"], ["--cudatrace"], ["top"], ["ps"], ["trace", "--json"]):
        text = shown(*args, "-i", file)
        for name in ("root", "launch --", "kernel_0", "sim/", str(tmp_path)):
            assert name not in text, (args, name)
    assert "kernel-1" in shown("stat", "-i", file) and "task-1" in shown("stat", "-i", file)
    # Names in calls are those in readings: each has its third of the launches.
    calls = shown("trace", "-i", file, "--json")
    for kernel in process["kernels"]:
        assert calls.count(f'"kernel_label":"{kernel["label"]}"') == kernel["launches"]
