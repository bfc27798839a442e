# SPDX-License-Identifier: BSD-2-Clause
"""bench/gpu/price, which seldom runs on a GPU: its statistics with known effects, and all of it
except PyTorch on the simulated CUDA."""
import json
import random
import subprocess
import sys

import pytest

from lib import paths

PRICE = paths.ROOT / "bench/gpu/price"
sys.path[:0] = [str(PRICE), str(PRICE.parent)]
import measured  # noqa: E402
import outcome  # noqa: E402
import price_table  # noqa: E402
import steps  # noqa: E402
from windows import Visit, counted  # noqa: E402

STEP = 2_000_000  # ns
YARD = 100_000
SPAN = 500 * STEP  # of a window


def made_up(effect, numbers, pairs=60, jumps=False):
    """Pairs of a program whose steps take longer by `effect` while gpuprobe is there. Steps differ
    by a tenth, each visit by some percent, all become slower with time, and one in a hundred takes
    five times as long. With `jumps` the CPU runs at half its speed every now and then, and
    yardsticks show it."""
    now, made, visits, speed = 0, steps.Steps(), [], 1

    def steps_of(span, factor):
        nonlocal now, speed
        begin = now
        while now < begin + span:
            if jumps and numbers.random() < 0.002:
                speed = 3 - speed
            yard = int(YARD * speed * numbers.gauss(1, 0.1)) if jumps else 0
            now += yard
            made.starts.append(now)
            made.yardsticks.append(yard)
            length = STEP * speed * factor * numbers.gauss(1, 0.1) * (1 + now / 1e13)
            now += int(length * (5 if numbers.random() < 0.01 else 1))
        return begin, now

    for _ in range(pairs):
        pace = numbers.gauss(1, 0.03)
        before = steps_of(SPAN // 2, pace)
        first, steady = (steps_of(SPAN, pace * (1 + effect)) for _ in range(2))
        after = steps_of(SPAN // 2, pace)
        visits.append(Visit(1.0, before, (first[0], first[0]), first, steady,
                            (steady[1], steady[1]), after, (first[0], steady[1]),
                            {"launch": 70 * (first[1] - first[0]) / STEP}))
    return [outcome.pair([made], visit) for visit in visits]


@pytest.mark.parametrize("effect", [0, 0.03])
def test_a_known_effect(effect):
    found = outcome.slowdown(made_up(effect, random.Random(1)))
    assert found["low"] <= effect <= found["high"]
    assert found["high"] - found["low"] < 0.02, "the bars want at most one point either way"
    assert (found["low"] <= 0) == (effect == 0)


def test_the_yardstick_shows_an_effect_behind_a_cpu_of_two_speeds():
    pairs = made_up(0.03, random.Random(2), jumps=True)
    found, clock = outcome.paced(pairs), outcome.slowdown(pairs)
    assert found["low"] <= 0.03 <= found["high"]
    assert found["high"] - found["low"] < 0.02
    assert clock["high"] - clock["low"] > 3 * (found["high"] - found["low"])


def test_intervals_contain_the_effect_in_19_of_20_runs():
    """Of pairs that share nothing: not more often missed than promised."""
    numbers = random.Random(3)
    runs = [outcome.slowdown([{"plain": 1, "steady": numbers.gauss(1.03, 0.02)} for _ in range(60)])
            for _ in range(2000)]
    assert sum(run["low"] <= 0.03 <= run["high"] for run in runs) / 2000 > 0.93


def test_durations_are_those_of_whole_steps_of_each_thread():
    times = [steps.Steps([0, 10, 20, 30, 40], [0] * 5), steps.Steps([5, 15, 45], [1, 2, 3])]
    assert outcome.durations(times, (5, 40)) == [10, 10, 10, 8]
    assert outcome.yardsticks(times, (5, 40)) == [0, 0, 0, 2]
    assert outcome.steps_in(times, (5, 35)) == pytest.approx(0.5 + 2 + 0.5 + 1 + 20 / 30)
    assert outcome.trimmed([1] + 8 * [2] + [1000]) == 2


def test_a_visit_of_few_steps_is_no_pair():
    span = (0, 100)
    visit = Visit(1, *[span] * 7)
    assert outcome.pair([steps.Steps([0, 30, 60, 90], [0] * 4)], visit) is None


def pairs_of(calls, plain, steady):
    return [{"calls": calls, "plain": plain, "steady": steady}] * 2


def test_predicted_is_calls_times_cost():
    costs = outcome.costs({"launch": pairs_of({"launch": 200, "wait": 1}, 1e6, 1.2e6),
                           "allocation": pairs_of({"alloc": 50, "free": 50}, 1e6, 1.3e6),
                           "query": pairs_of({"query": 100}, 1e6, 1.1e6)})
    assert {name: cost["mean"] for name, cost in costs.items()} == pytest.approx(
        {"launch": 1000, "allocation": 3000, "query": 1000})
    calls = {"launch": 8, "graph_launch": 2, "free": 1, "event_record": 4}
    assert outcome.predicted(calls, costs, 1e6) == pytest.approx(0.017)
    assert outcome.predicted({"wait": 1}, costs, 1e6) is None, "a cost that nobody measured"


def test_calls_are_counted_by_what_they_do():
    seen = {7: {"functions": {"cuMemAlloc_v2": 3, "cuLaunchKernel": 1, "cuNew": 2}, "launches": 99}}
    kinds = {"cuMemAlloc_v2": "alloc", "cuLaunchKernel": "launch"}
    assert counted(seen, [7, 8], kinds) == {"alloc": 3, "other": 2, "launch": 99}


def test_cpus_of_cores_that_nobody_shares():
    pairs = {cpu: {cpu, cpu ^ 1} for cpu in range(8)}
    assert measured.choose([4, 5, 2, 0, 1, 3, 6, 7], pairs.get, 2) == ([4, 2], [0, 1, 6, 7])
    # Too few cores: CPUs have to do, as long as one is left.
    assert measured.choose([1, 0], {0: {0, 1}, 1: {0, 1}}.get, 1) == ([1], [0])
    assert measured.choose([1, 0], {0: {0}, 1: {1}}.get, 2) is None


def test_steps_of_a_file_that_is_being_written(tmp_path):
    path = tmp_path / "steps.0"
    file = steps.StepFile(path)
    file.mark()
    file.written = 0  # long ago
    file.mark()
    first = steps.read(path)
    assert (len(first.starts), first.yardsticks.tolist()) == (1, [0])
    with open(path, "ab") as partial:
        partial.write(b"abc")
    assert steps.read(path) == first


def test_a_yardstick_is_no_part_of_a_step(tmp_path):
    path = tmp_path / "steps.0"
    file = steps.StepFile(path, steps.Yardstick())
    for _ in range(3):
        file.mark()
    file.written = 0
    file.mark()
    found = steps.read(path)
    took = outcome.durations([found], (0, found.starts[-1]))
    assert len(took) == 2 and min(took) >= 0
    assert min(found.yardsticks) > 0


def line(program, pairs, failed=None):
    return {"program": program, "pairs": pairs, "bpf": None, "failed": failed,
            "machine": {"date": "2026-01-01", "gpu": "1 x A", "cpu": "B", "cpus": 8, "kernel": "6",
                        "torch": "C", "gpuprobe": "D", "pinned": True}}


def test_slices_merge():
    some = made_up(0.03, random.Random(1), pairs=4)
    lines = [line("training", some[:2]), line("launch", [], "no driver"),
             line("training", some[2:]), line("training", [], "it ended")]
    found = price_table.merged(lines)
    assert (list(found), found["training"]["pairs"]) == (["training", "launch"], some)
    assert (found["training"]["failed"], found["launch"]["failed"]) == (None, "no driver")
    page = price_table.page(lines)
    row = next(row for row in page.splitlines() if row.startswith("| training, launch-bound |"))
    assert row.split(" | ")[7] == "4"
    assert "not measured: no driver" in page


@pytest.mark.slow
def test_simulated(tmp_path):
    output = tmp_path / "slice.jsonl"
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    subprocess.run([paths.PYTHON, PRICE / "run.py", "--simulate", "--build", paths.BUILD,
                    "--only", "launch", "--pairs", "2", "--window", "0.5", "--limit", "600",
                    "--output", output], env=environment, check=False, timeout=500)
    one, = map(json.loads, output.read_text().splitlines())
    assert (one["visits"], one.get("lost")) == (2, 0), one["failed"]
    for pair in one["pairs"]:
        assert pair["calls"]["launch"] == pytest.approx(200 * pair["calls"]["wait"], rel=0.5)
    merged = subprocess.run([paths.PYTHON, PRICE / "run.py", "--merge", output], check=True,
                            capture_output=True, text=True).stdout
    assert "simulated CUDA" in merged
