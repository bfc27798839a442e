# SPDX-License-Identifier: BSD-2-Clause
"""-c and -C: calls and errors by function are the truth's; times add up."""
import json
import re

import pytest

from lib import paths, trace

TRACED = paths.workload("traced")
ROW = re.compile(r"^\s*([\d.]+)\s+([\d.]+)\s+(\d+)\s+(\d*)\s+(.*?)\s+(\S+)$", re.M)


def run(tracer, *args, form="table", env=None):
    """(the summary's text, the truth): it is on the standard output, where the workload writes nothing."""
    result = tracer.probe.run(TRACED, "--threads", 4, "--rounds", 200, "--fail", 9, env=env,
                              base=["trace", "--format", form], args=args)
    return result.stdout, result.truth


def expected(truth):
    """function -> (calls, errors), of what the runtime workload calls itself by default."""
    return {name: (counts["calls"], counts["failures"]) for name, counts in truth.data["runtime"].items()}


def rows(text):
    """function -> (calls, errors, seconds) of the summary's table."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        name = next((word for word in (words[:1] + words[-1:]) if word.startswith("cu")), None)
        if name:
            found[name] = words
    return found


def test_counts(tracer_by):
    """Only the summary, with each function's calls and errors."""
    text, truth = run(tracer_by, "-c", "-e", "all", "--api", "runtime")
    shown = rows(text)
    assert set(shown) == set(expected(truth))
    for name, (calls, errors) in expected(truth).items():
        assert str(calls) in shown[name], (name, calls, shown[name])
        if errors:
            assert str(errors) in shown[name], (name, errors, shown[name])
    assert sum(calls for calls, _ in expected(truth).values()) and "total" in text


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_forms(tracer, form):
    text, truth = run(tracer, "-c", "-e", "all", "--api", "runtime", form=form)
    if form == "json":
        told = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
        told = told[0]["functions"] if len(told) == 1 and "functions" in told[0] else told
    else:
        head, *lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
        told = [dict(zip(head, line, strict=True)) for line in lines]
    by_name = {row.get("function", row.get("event")): row for row in told}
    for name, (calls, errors) in expected(truth).items():
        assert int(by_name[name]["calls"]) == calls
        assert int(by_name[name]["errors"] or 0) == errors


def test_stream_and_summary(tracer):
    """-C: the lines and then the summary."""
    text, truth = run(tracer, "-C", "-e", "cudaMemset,cudaMalloc", "--api", "runtime")
    calls = {name: counts for name, counts in expected(truth).items() if name in ("cudaMemset", "cudaMalloc")}
    lines = text.splitlines()
    stream = [line for line in lines if " cudaMemset " in line and "dst=" in line or "ptr=" in line or "size=" in line]
    assert len(stream) == sum(count for count, _ in calls.values())
    last = lines.index(stream[-1])
    summary = rows("\n".join(lines[last + 1:]))
    assert set(summary) == set(calls)


def test_sorted_by_time(tracer):
    text, _ = run(tracer, "-c", "-e", "cudaMemset,cudaFree,cudaMalloc", "--api", "runtime",
                  env={"CUDA_SIM_LATENCY": "cudaMemset=2ms,cudaFree=1ms"})
    assert list(rows(text)) == ["cudaMemset", "cudaFree", "cudaMalloc"]
    assert [line for line in text.splitlines() if "cudaMemset" in line]


def test_times(tracer):
    """Averages, percentiles and the maximum of calls that take as long as they are told to."""
    text, truth = run(tracer, "-c", "-e", "cudaMemset", "--api", "runtime", form="json",
                      env={"CUDA_SIM_LATENCY": "cudaMemset=2ms"})
    told = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    row, = [row for row in (told[0].get("functions", told)) if "cudaMemset" in row.values()]
    numbers = {key: value for key, value in row.items() if isinstance(value, (int, float))}
    average = truth.ns("cudaMemset") / truth.calls("cudaMemset")
    near = [key for key, value in numbers.items() if value == pytest.approx(average, rel=0.1)]
    assert {key for key in near if key.startswith(("average", "mean", "avg"))}
    assert {key for key in near if key.startswith("p50")}


def test_whole_numbers_match_the_lines(tracer):
    """The summary of the same run has the sums of its lines."""
    result, log = tracer.traced("--rounds", 300, args=["-C", "-e", "cudaMemset"])
    trace.check_threads(result.lines, log, {"cudaMemset"})
    assert len(result.lines) == 300
