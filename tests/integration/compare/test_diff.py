# SPDX-License-Identifier: BSD-2-Clause
"""`gpuprobe diff`: runs of a program that does one thing more in each step, and budgets."""
import json
import re

import pytest

from lib import paths
from lib.cli import fails, run
from lib.probe import Probe
from lib.script import PROGRAMS

WORSE, FAILED, USAGE = 4, 1, 2
STEPS = 600  # of 10 ms: the steady time must be known for 2 s
CHANGES = {  # the figure of the first row, and what it comes from
    "wait": ("waits", "cuCtxSynchronize"),
    "copy": ("copies to host", "cuMemcpyDtoH_v2"),
    "fusion": ("launches", "bias"),
    "malloc": ("allocations", "cuMemAlloc_v2"),
    "growth": ("allocations", "cuMemAlloc_v2"),
    "event": ("cuEventRecord", None),
}
TAKES = pytest.mark.waits("a step is found after a second, and counts after two more")


def diffed(*args, status=0, why=""):
    """What is printed. `why` is in the line on standard error, which an exit status of 1 has."""
    done = run("diff", *args)
    assert done.returncode == status, done
    if status == FAILED:
        assert re.fullmatch(r"gpuprobe: [^\n]+\n", done.stderr) and why in done.stderr, done
    else:
        assert done.stderr == "", done
    return done.stdout


# --- whole runs: quick programs, without steps ---

def launching(probe, launches):
    """A recording of some launches."""
    file = probe.directory / f"{launches}.rec"
    probe.run(paths.workload("launch"), "--launches", launches, "--kernels", 3,
              base=["record", "-q", "-o", str(file), "--level", "summary", "--max-overhead", "off"])
    return file


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    probe = Probe(tmp_path_factory.mktemp("recorded"))
    return [launching(probe, launches) for launches in (300, 360)]


def test_a_recording_is_equal_to_its_json(recorded, tmp_path):
    """Both are read the same way, so one of each can be compared."""
    few, _ = recorded
    json_of_few = tmp_path / "few.json"
    json_of_few.write_text(run("stat", "-i", few, "--json").stdout)
    for a, b in ((few, few), (few, json_of_few), (json_of_few, few)):
        assert "\nno difference\n" in diffed(a, b, "--fail-on", "worse")


def test_more_launches_in_all(recorded):
    few, many = recorded
    text = diffed(few, many)
    assert "B is worse" in text and len(text.splitlines()) <= 40
    diffed(few, many, "--fail-on", "worse", status=WORSE)
    diffed(many, few, "--fail-on", "worse")
    report = json.loads(diffed(few, many, "--json"))
    [pair] = report["processes"]
    first = pair["differences"][0]
    assert (report["schema"], report["worse"]) == ("gpuprobe.diff/1", True)
    assert (first["figure"], first["per"], first["a"], first["b"]) == ("launches", "all", 300, 360)
    assert sum(part["b"] - part["a"] for part in first["from"]) == 60


def test_the_last_report_of_json_counts(recorded, tmp_path):
    few, many = [run("stat", "-i", file, "--json").stdout for file in recorded]
    both = tmp_path / "both.json"
    both.write_text(few + many)
    assert "\nno difference\n" in diffed(both, recorded[1])


# --- budgets ---

def budget(directory, *lines):
    file = directory / "budget.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_budget(recorded, tmp_path):
    few, many = recorded
    limits = budget(tmp_path, "# of CI", "launches in all <= 300", "peak memory <= 12 GiB",
                    "findings critical == 0")
    assert diffed("--budget", limits, few).splitlines() == [
        f"budget of {few}: 3 limits, 0 broken"]
    assert diffed("--budget", limits, many, status=WORSE).splitlines() == [
        f"budget of {many}: 3 limits, 1 broken",
        "! broken: launches in all <= 300: 360 [line 2]"]
    # B is checked, not A.
    assert "0 broken" in diffed(many, few, "--budget", limits)
    assert "1 broken" in diffed(few, many, "--budget", limits, status=WORSE)


def test_an_unknown_figure_is_no_kept_limit(recorded, tmp_path):
    limits = budget(tmp_path, "allocations per step <= 1000000")
    text = diffed("--budget", limits, recorded[0], status=FAILED,
                  why="line 1 cannot be checked: allocations per step <= 1000000: no steps")
    assert "unknown: allocations per step <= 1000000: no steps were found" in text
    limits = budget(tmp_path, "allocations per step <= 1000000", "launches in all <= 3")
    assert "1 broken, 1 unknown" in diffed("--budget", limits, recorded[0], status=WORSE)


def test_a_bad_budget_is_named(recorded, tmp_path):
    for line, told in (("launchs per step <= 4", "did you mean 'launches per step'?"),
                       ("cudaMaloc in steady state == 0", "no CUDA function 'cudaMaloc'"),
                       ("peak memory <= 4", "write a number and bytes, KiB")):
        fails(run("diff", "--budget", budget(tmp_path, "", line), recorded[0]), FAILED,
              "budget.txt: line 2: ", told)


# --- what is no run ---

def test_mistakes(recorded, tmp_path):
    file = recorded[0]
    text = tmp_path / "x.txt"
    text.write_text("no run")
    other = tmp_path / "other.json"
    other.write_text('{"schema":"gpuprobe/1","processes":[]}')
    fails(run("diff"), USAGE, "which runs?")
    fails(run("diff", file), USAGE, "Give a second file, or --budget FILE")
    fails(run("diff", file, file, file), USAGE, "unexpected")
    fails(run("diff", file, file, "--fail-on", "warning"), USAGE, "write worse")
    fails(run("diff", file, file, "--fail-on", "worse=x"), USAGE, "write worse")
    fails(run("diff", file, text), FAILED, "is neither a recording nor a report")
    fails(run("diff", other, file), FAILED, "is no report of gpuprobe stat --json")
    fails(run("diff", file, tmp_path / "none"), FAILED, "cannot read", "No such file")
    fails(run("diff", file, tmp_path), FAILED, "it is not a regular file")


def test_a_cut_file_is_an_error(recorded, tmp_path):
    whole = run("stat", "-i", recorded[0], "--json").stdout
    for end in (1, 100, len(whole) - 2):
        cut = tmp_path / "cut.json"
        cut.write_text(whole[:end])
        fails(run("diff", recorded[0], cut), FAILED, "no JSON at byte")


def test_nothing_in_it_cannot_be_compared(recorded, tmp_path):
    empty = tmp_path / "empty.json"
    report = json.loads(run("stat", "-i", recorded[0], "--json").stdout)
    empty.write_text(json.dumps({**report, "processes": []}))
    why = "has no process that used CUDA"
    assert why in diffed(recorded[0], empty, status=FAILED, why=why)
    lossy = tmp_path / "lossy.json"
    lossy.write_text(json.dumps({**report, "lost": {**report["lost"], "ring_full": 7}}))
    text = diffed(recorded[0], lossy, status=FAILED, why="cannot be compared: B (")
    assert "is incomplete: 7 lost (ring_full)" in text


def changed(directory, file, **members):
    """A report of the recording with other members in its process, or without some (None)."""
    report = json.loads(run("stat", "-i", file, "--json").stdout)
    [process] = report["processes"]
    process = {**process, **members}
    new = directory / "changed.json"
    new.write_text(json.dumps({**report, "processes": [
        {name: value for name, value in process.items() if value is not None}]}))
    return new


def test_a_gate_that_cannot_tell_says_why(recorded, tmp_path):
    """What could not be compared is no failure by itself. With --fail-on the exit status is 1, and
    standard error has the reason, with and without --json; what is worse comes first."""
    few, many = recorded
    partial = changed(tmp_path, few, since_attach=True)
    for form in ((), ("--json",)):
        diffed(few, partial, *form)
        diffed(few, partial, *form, "--fail-on", "worse", status=FAILED,
               why="cannot tell whether B is worse, not all was compared: ")
        diffed(few, many, *form, "--fail-on", "worse", status=WORSE)
    limits = budget(tmp_path, "launches in all <= 3")
    diffed(partial, few, "--fail-on", "worse", "--budget", limits, status=WORSE)


def test_a_recording_without_a_process(recorded, tmp_path):
    nothing = tmp_path / "nothing.rec"
    done = run("record", "-q", "-o", nothing, "--level", "summary", "--", "true")
    assert done.returncode == 0, done.stderr
    for pair in ((recorded[0], nothing), (nothing, recorded[0]), (nothing, nothing)):
        diffed(*pair, status=FAILED, why="has no process that used CUDA")


# --- steps ---

def only_of(report, pid):
    return {**report, "processes": [process for process in report["processes"]
                                    if process["pid"] == pid],
            "findings": [finding for finding in report["findings"] if finding["pid"] == pid]}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """{what: file}; they ran beside one another, the usual one twice."""
    directory = tmp_path_factory.mktemp("runs")
    whats = ("same", "again", *CHANGES)
    result = Probe(directory).run(paths.PYTHON, PROGRAMS / "regressed.py", STEPS, *whats,
                                  base=["stat", "-q", "--json", "--max-overhead", "off"],
                                  env={"CUDA_SIM_DIRECTORY": str(paths.SIM),
                                       "CUDA_SIM_CLOCK": "kernel=20us"})
    report, files = result.final, {}
    for what, pid in zip(whats, json.loads(result.stdout.splitlines()[0])):
        files[what] = directory / f"{what}.json"
        files[what].write_text(json.dumps(only_of(report, pid)))
    return files


@TAKES
def test_equal_runs_do_not_differ(runs):
    """Times do on a busy machine; they may be shown."""
    report = json.loads(diffed(runs["same"], runs["again"], "--json"))
    [pair] = report["processes"]
    assert pair["by_steps"] and not report["not_compared"]
    assert [row for row in pair["differences"] if row["group"] != "times"] == []


@TAKES
@pytest.mark.parametrize("what", CHANGES)
def test_a_change_is_found(runs, what):
    """It comes first, with a step's count and what it comes from."""
    report = json.loads(diffed(runs["same"], runs[what], "--json", "--fail-on", "worse",
                               status=WORSE))
    first = report["processes"][0]["differences"][0]
    figure, origin = CHANGES[what]
    assert first.get("figure", first.get("function")) == figure
    assert first["per"] == "step" and first["worse"]
    assert [part["name"] for part in first["from"]][:1] == ([origin] if origin else [])
    if what == "growth":
        memory = [row for row in report["processes"][0]["differences"]
                  if row["group"] == "memory"]
        assert {row["figure"] for row in memory} == {"peak memory", "memory live at exit"}


@TAKES
def test_budget_of_steps(runs, tmp_path):
    limits = budget(tmp_path, "launches per step <= 12", "waits per step == 1",
                    "cuMemAlloc in steady state == 0", "copied bytes per step <= 4 KiB")
    diffed("--budget", limits, runs["same"])
    for what, line in (("fusion", 1), ("wait", 2), ("malloc", 3), ("copy", 4)):
        text = diffed("--budget", limits, runs[what], status=WORSE)
        assert text.count("broken: ") == 1 and f"[line {line}]" in text
