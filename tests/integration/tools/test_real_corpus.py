# SPDX-License-Identifier: BSD-2-Clause
"""tests/gpu/real, which seldom runs on a GPU: its list, how it judges,
and its runners with a stand-in on the simulated CUDA."""
import array
import os
import random
import re
import subprocess
import sys
import types

import pytest

from lib import paths

REAL = paths.ROOT / "tests/gpu/real"
sys.path[:0] = [str(REAL), str(paths.ROOT / "bench/gpu")]
import cgroup  # noqa: E402
import corpus  # noqa: E402
import intervals  # noqa: E402
import overhead  # noqa: E402
import page  # noqa: E402
import paired  # noqa: E402
import report  # noqa: E402
import results  # noqa: E402
import run as run_programs  # noqa: E402
import running  # noqa: E402
import truth  # noqa: E402

WAITS = pytest.mark.waits("its loops rest, for half a minute")
NOW = "2026-11-26T12:00:00+00:00"
VERSIONS = {"gpu": "a GPU", "gpus": 1, "driver": "1", "kernel": "6", "cpus": 2, "packages": {},
            "gpuprobe": "gpuprobe 1"}


def test_the_list():
    assert {program.fault for program in corpus.FAULTS} == set(range(1, 15))
    assert len(corpus.SOUND) == 8
    for half in corpus.HALVES:
        assert len({program.fault for program in corpus.FAULTS if program.half == half}) == 7
        assert sum(program.half == half for program in corpus.SOUND) == 4
    assert [program.name for program in corpus.chosen(["second", "pageable"])] == [
        program.name for program in corpus.ALL.values()
        if program.half == "second" or program.name == "pageable"]
    with pytest.raises(ValueError):
        corpus.chosen(["no_such_program"])


def test_a_failure_names_no_folder():
    """Results are published: they have the last line of a program's output,
    and no path of the machine."""
    said = ('some ended with 1: Traceback\n  File "/home/me/tests/some.py", line 7\n'
            'OSError: no /srv/some data/weights.bin')
    assert str(running.Failed(said)) == "some ended with 1: OSError: no some data/weights.bin"
    assert str(
        running.Failed("some did not end: /usr/lib/x.so: gone")) == "some did not end: x.so: gone"


@pytest.mark.parametrize("name", corpus.ALL)
def test_a_program(name):
    """Each program compiles; lines are marked exactly if there is a fault,
    and a program with a fault has a twin."""
    program = corpus.ALL[name]
    with open(program.path, encoding="utf-8") as file:
        source = file.read()
    compile(source, program.path, "exec")
    assert bool(program.marked()) == bool(program.fault)
    assert bool(re.search(r"loop\.repaired|--repaired", source)) == bool(
        program.fault and not program.cpus)


def test_stretches_of_time():
    chance = random.Random(1)
    for _ in range(300):
        lists = [[sorted(chance.sample(range(60), 2)) for _ in range(chance.randrange(8))]
                 for _ in range(2)]
        first, second = map(truth.joined, lists)
        points = [{at for begin, end in stretches for at in range(begin, end)}
                  for stretches in lists]
        assert truth.in_common(first, second) == len(points[0] & points[1])
        assert truth.within(first, 10, 40) == len(points[0] & set(range(10, 40)))
        assert all(a[1] < b[0] for a, b in zip(first, first[1:]))


def test_what_cupti_wrote(tmp_path):
    """Buffers that overlap, and records that were lost."""
    for kind, numbers in (("kernels", [100, 200, 150, 250, -1, 7, 120, 130]),
                          ("copies", [240, 300])):
        (tmp_path / f"busy.42.{kind}").write_bytes(array.array("q", numbers).tobytes())
    found = truth.read_cupti(f"{tmp_path}/busy", 42)
    assert found.lost == 7
    assert found.shares(50, 450) == {"busy": 200 / 400, "kernels": 150 / 400}
    assert truth.read_cupti(f"{tmp_path}/busy", 43) is None


def test_the_newest_counts():
    old, new = {"date": NOW, "seconds": 1}, {"date": "2026-11-26T14:00:00+01:00", "seconds": 2}
    assert results.merged({"programs": {"gil": old}},
                          {"programs": {"gil": new, "graphs": old}}) == {
                              "programs": {"gil": new, "graphs": old}, "overhead": {}}
    assert results.merged({"programs": {"gil": new}},
                          {"programs": {"gil": old}})["programs"]["gil"] == new


def said(**others):
    return {"window": [0, 1000], "verdict": corpus.HOST_BOUND, "idle_proved_share": 0.5,
            "idle_proved": None, "steps": 10, "step_seconds": 0.1, "findings": [],
            "saving_share": 0.6, "reasons": [{"kind": corpus.LOCK, "seconds": 0.06,
                                              "lines": [["held_lock.py", 30]], "what": ""}],
            **others}


def measured(diagnosis, repaired=0.05):
    """Of held_lock, whose repair saved half of a step."""
    return {"date": NOW, "versions": VERSIONS, "marked": [["held_lock.py", 30]], "seconds": 20,
            "errors": {}, "natural": {"step_seconds": 0.1, "watched_step_seconds": 0.1,
                                      "steps": 9, "watch": {"diagnosis": diagnosis}},
            "truth": {"busy": 0.3, "kernels": 0.2, "lost": 0,
                      "watch": {"diagnosis": diagnosis, "busy": 0.3, "false_idle_ns": None}},
            "repaired": {"step_seconds": repaired, "steps": 9}}


def reason(**others):
    return [{**said()["reasons"][0], **others}]


WRONG = {
    "verdict": said(verdict=corpus.GPU_BOUND),
    "nothing": said(reasons=[]),
    "line": said(reasons=reason(lines=[["held_lock.py", 31], ["held_lock.py", 30]])),
    "no line": said(reasons=reason(lines=[])),
    "kind": said(reasons=reason(kind=corpus.GIL)),
    "too much saved": said(saving_share=0.71),
    "too little saved": said(saving_share=0.34),
    "no saving": said(saving_share=None),
}


def test_a_fault_judged_right():
    told = page.judge(corpus.ALL["held_lock"], measured(said()))
    assert told.is_right()
    assert told.ratio == pytest.approx(1.2)
    assert told.false_idle == (0, False)


@pytest.mark.parametrize("way", WRONG)
def test_a_fault_judged_wrong(way):
    assert not page.judge(corpus.ALL["held_lock"], measured(WRONG[way])).is_right()


def test_a_sound_program_judged():
    finding = {"id": "pageable-copies", "severity": "warning", "evidence": "", "saving_share": None,
               "lines": []}
    for diagnosis, right in ((said(verdict=corpus.GPU_BOUND), True), (said(), False),
                             (said(verdict=corpus.GPU_BOUND, findings=[finding]), False)):
        assert page.judge(corpus.ALL["graphs"], measured(diagnosis)).is_right() == right


def test_false_idle():
    """By the times, where there are any, otherwise by what the shares make certain."""
    program, kept = corpus.ALL["held_lock"], measured(said(idle_proved_share=0.8))
    assert page.judge(program, kept).false_idle == (pytest.approx(0.1), False)
    kept["truth"]["watch"]["false_idle_ns"] = 5
    assert page.judge(program, kept).false_idle == (0.005, True)


def test_page_counts_forms_of_a_fault_once():
    good, bad = measured(said()), measured(said(verdict="unknown"))
    text = page.text({"programs": {"preprocessing": good, "preprocessing_no_wait": bad,
                                   "held_lock": good}, "overhead": {}})
    assert "| both | verdicts of faults that are right | 1 of 2 | 14 of 14 |" in text


def test_lines_are_the_programs_own():
    frames = [{"kind": "native", "function": "read", "object": "libc.so.6"},
              {"kind": "python", "function": "do_POST",
               "file": "/usr/lib/python3.12/http/server.py", "line": 7},
              {"kind": "python", "function": "augment",
               "file": f"{corpus.PROGRAMS}/images.py", "line": 20},
              {"kind": "python", "function": "train", "file": "few_workers.py", "line": 25}]
    assert report.lines_of({"frames": frames}) == [["images.py", 20], ["few_workers.py", 25]]
    assert report.lines_of(None) == []


def test_limit_of_cpu():
    """The process is in a cgroup of its own, and in none of ours afterwards."""
    def where():
        with open(f"/proc/{process.pid}/cgroup", encoding="utf-8") as file:
            return file.read()

    with subprocess.Popen(["sleep", "60"]) as process:
        before = where()
        with cgroup.limited(process.pid, 0.3):
            assert f"/gpuprobe-real-{process.pid}\n" in where()
        assert where() == before
        with cgroup.limited(process.pid, None):
            assert where() == before
        process.kill()


def run(*command):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout, done.stderr


@WAITS
def test_dry(tmp_path):
    """A fault and a sound program, both the stand-in: measured, merged and written."""
    slices = [tmp_path / "first.json.xz", tmp_path / "second.json.xz"]
    for name, output in zip(("held_lock", "streams"), slices):
        _, told, errors = run(REAL / "run.py", "--dry", "--build", paths.BUILD, "--only", name,
                              "--output", output, "--work", tmp_path)
        assert "1 failed" in told, errors  # the stand-in is none of the corpus's programs
    status, _, errors = run(REAL / "run.py",
                            *(word for output in slices for word in ("--take", output)),
                            "--results", tmp_path / "results.json", "--page", tmp_path / "page.md")
    assert status == 0, errors
    kept = results.read(str(tmp_path / "results.json"))["programs"]
    assert set(kept) == {"held_lock", "streams"}
    for found in kept.values():
        assert not found["errors"]
        assert 0 < found["truth"]["busy"] < 1
        assert found["natural"]["step_seconds"] > 0 and found["natural"]["watched_step_seconds"] > 0
        begin, end = found["natural"]["watch"]["diagnosis"]["window"]
        assert 1e9 < end - begin < 60e9
    assert kept["held_lock"]["repaired"]["step_seconds"] > 0 and "repaired" not in kept["streams"]
    text = (tmp_path / "page.md").read_text()
    assert "4. a lock held by another thread" in text and "inference on several streams" in text
    assert not list(tmp_path.glob("gpuprobe-real-*"))


BUSY = """
#include <stdio.h>
#include <stdlib.h>
int InitializeInjection(void)
{
	FILE *file = fopen(getenv("BUSY_OUT"), "w");
	return file && fputs("recorded", file) >= 0 && !fclose(file);
}
"""


def test_a_program_loads_cupti_itself(tmp_path):
    """Where the driver cannot: in ranks of a job."""
    session = types.SimpleNamespace(options=types.SimpleNamespace(dry=False), work=str(tmp_path),
                                    busy=str(tmp_path / "busy.so"))
    late = run_programs.environment_of(session, corpus.ALL["data_parallel"], "truth")
    early = run_programs.environment_of(session, corpus.ALL["compiled"], "truth")
    assert late["BUSY_LIBRARY"] == early["CUDA_INJECTION64_PATH"] == session.busy
    assert "CUDA_INJECTION64_PATH" not in late and "BUSY_LIBRARY" not in early
    (tmp_path / "busy.c").write_text(BUSY)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", session.busy, tmp_path / "busy.c"], check=True)
    record = [sys.executable, "-c", "import steady; steady.record_busy()"]
    for environment, status in (({}, 0), (late, 0),
                                ({**late, "BUSY_OUT": f"{tmp_path}/no/such"}, 1)):
        ran = subprocess.run(record, cwd=corpus.PROGRAMS, env={**os.environ, **environment},
                             capture_output=True, check=False)
        assert ran.returncode == status
    assert (tmp_path / "data_parallel.busy").read_text() == "recorded"
    with open(corpus.ALL["data_parallel"].path, encoding="utf-8") as file:
        assert "record_busy()" in file.read()


def test_the_middle_of_rounds():
    """A few bad rounds hardly move it, nor make its interval wide."""
    draw = random.Random(3)
    rounds = [0.02 + draw.gauss(0, 0.02) for _ in range(40)]
    quiet, bad = paired.interval(rounds), paired.interval([*rounds, 0.5, 0.7, -0.4])
    assert quiet["low"] < 0.02 < quiet["high"] and quiet["high"] - quiet["low"] < 0.02
    assert bad["mean"] == pytest.approx(quiet["mean"], abs=0.005)
    assert bad["high"] - bad["low"] < 1.3 * (quiet["high"] - quiet["low"])
    assert bad["n"] == 43 and (bad["least"], bad["most"]) == (-0.4, 0.7)
    assert paired.interval(rounds) == quiet  # no chance
    # Student's interval of the same rounds is several times as wide.
    student = intervals.interval([*rounds, 0.5, 0.7, -0.4])
    assert student["high"] - student["low"] > 3 * (bad["high"] - bad["low"])


def test_long_steps_of_the_overhead():
    """None counts more than twice the median of those without gpuprobe; how many is told."""
    loop = overhead.Loop("", 0.03, "tiny_optimiser", 1, 2)
    lengths = [10] * 30 + [11] * 30 + [10] * 30  # ms
    lengths[35], lengths[70] = 500, 90
    times = [0]
    for length in lengths:
        times.append(times[-1] + length * 1000000)
    ends = [times[0], times[30], times[60], times[90]]
    found = [(i == 1, begin, end) for i, (begin, end) in enumerate(zip(ends, ends[1:]))]
    found += [(True, *found[1][1:]), found[2]]
    result = overhead.result_of(loop, {"units": 1}, times, found, None)
    plain, watched = 10, (29 * 11 + 20) / 30
    late = (29 * 10 + 20) / 30
    assert result["long_steps"] == [[2, 60], [2, 90]]
    assert result["cost_with_long_steps"]["most"] > 1.5 * result["cost"]["most"] + 1
    assert result["cost"]["least"] == pytest.approx(watched / late - 1)
    assert result["cost"]["most"] == pytest.approx(watched / ((plain + late) / 2) - 1)
    assert result["slowest_seconds"] == 0.5


@WAITS
def test_dry_overhead(tmp_path):
    output = tmp_path / "overhead.json.xz"
    status, told, errors = run(REAL / "overhead.py", "--dry", "--build", paths.BUILD, "--rounds",
                               "2", "--only", "launches", "--output", output, "--work", tmp_path)
    assert status == 0, errors
    loop = results.read(str(output))["overhead"]["launches"]
    assert [tool for tool, _ in loop["blocks"]] == [None, "diagnose", None, "diagnose", None]
    assert (loop["rounds"] == 2
            and loop["cost"]["low"] <= loop["cost"]["mean"] <= loop["cost"]["high"])
    assert all(seconds > 0 for _, seconds in loop["blocks"])
