# SPDX-License-Identifier: BSD-2-Clause
"""-c and -C: calls and errors by function are the truth's; times are those of the lines."""
import json
import re
import statistics

import pytest

from lib import paths, progress
from lib.script import script

TRACED = paths.workload("traced")
KEYS = ("percent", "seconds", "calls", "errors", "average", "p50", "p99", "max", "event")


def run(tracer, *args, form="table", env=None):
    """(what is on the standard output, where the workload writes nothing; the truth)"""
    result = tracer.probe.run(TRACED, "--threads", 4, "--rounds", 200, "--fail", 9, env=env,
                              base=["trace", "--format", form], args=args)
    return result.stdout, result.truth


def expected(truth, *names):
    """event -> (calls, errors): what the program called of the runtime."""
    return {name: (counts["calls"], counts["failures"])
            for name, counts in truth.data["runtime"].items() if not names or name in names}


def rows_of(text, form):
    """The summary's rows, in their order; its total last where it has one."""
    if form == "json":
        summary = json.loads(text.splitlines()[-1])["summary"]
        return summary["functions"] + [{**summary, "event": "total"}]
    lines = text.splitlines()
    if form == "tsv":
        head = next(i for i, line in enumerate(lines) if line.startswith("event\tcalls\t"))
        keys = lines[head].split("\t")
        return [dict(zip(keys, line.split("\t"), strict=True)) for line in lines[head + 1:]]
    head = next(i for i, line in enumerate(lines) if line.split()[:2] == ["%", "time"])
    return [dict(zip(KEYS, re.sub(r" (?=[num]?s )", "", line).split(), strict=True))
            for line in lines[head + 1:] if not line.startswith("---")]


def counts_of(rows):
    return {row["event"]: (int(row["calls"]), int(row["errors"])) for row in rows}


@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_counts(tracer, form):
    """Only the summary, with each function's calls and errors."""
    text, truth = run(tracer, "-c", "-e", "all", "--api", "runtime", form=form)
    told = counts_of(rows_of(text, form))
    total = told.pop("total", None)
    assert told == expected(truth)
    if total:
        assert total == tuple(map(sum, zip(*told.values())))
    assert "0x" not in text and text.count("cudaMemset") == 1


def test_counts_by_each_kind_of_links(tracer_by):
    text, truth = run(tracer_by, "--summary", "-e", "all", "--api", "runtime", form="json")
    told = counts_of(rows_of(text, "json"))
    del told["total"]
    assert told == expected(truth)


@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_stream_and_summary(tracer, form):
    """-C: the lines and then the summary."""
    text, truth = run(tracer, "-C", "-e", "cudaMemset,cudaMalloc", "--api", "runtime", form=form)
    told = counts_of(rows_of(text, form))
    told.pop("total", None)
    assert told == expected(truth, "cudaMemset", "cudaMalloc")
    stream = [line for line in text.splitlines()
              if "cudaMemset" in line and "size" in line or "\tcudaMemset\t" in line]
    assert len(stream) == told["cudaMemset"][0]


def test_sorted_by_time(tracer):
    text, _ = run(tracer, "-c", "-e", "cudaMemset,cudaFree,cudaMalloc", "--api", "runtime",
                  env={"CUDA_SIM_LATENCY": "cudaMemset=2ms,cudaFree=1ms"})
    rows = rows_of(text, "table")
    assert [row["event"] for row in rows] == ["cudaMemset", "cudaFree", "cudaMalloc", "total"]
    shares = [float(row["percent"]) for row in rows]
    assert sum(shares[:-1]) == pytest.approx(100, abs=0.05) and shares[-1] == 100
    seconds = [float(row["seconds"]) for row in rows]
    assert seconds[-1] == pytest.approx(sum(seconds[:-1]), abs=1e-5) and seconds[0] >= 800 * 0.002


def test_times_are_those_of_the_lines(tracer):
    """Seconds, average and maximum exactly, percentiles by about 3 %."""
    result, _ = tracer.traced("--threads", 4, "--rounds", 500,
                              args=["-C", "-e", "cudaMemset,cudaLaunchKernel"])
    summary = result.objects[-1]["summary"]
    assert {row["event"] for row in summary["functions"]} == {"cudaMemset", "cudaLaunchKernel"}
    for row in summary["functions"]:
        times = sorted(line["duration"] for line in result.of(row["event"]))
        assert len(times) == 2000 == row["calls"]
        assert (row["time"], row["max"], row["average"]) == (
            sum(times), times[-1], sum(times) // 2000)
        assert row["p50"] == pytest.approx(statistics.median(times), rel=0.04)
        assert row["p99"] == pytest.approx(times[1979], rel=0.04)


def test_only_failed(tracer):
    text, truth = run(tracer, "-c", "-e", "all", "--api", "runtime", "--failed", form="tsv")
    assert counts_of(rows_of(text, "tsv")) == {"cudaMalloc": (4 * 23, 4 * 23)}
    assert expected(truth)["cudaMalloc"][1] == 4 * 23


def test_calls_that_did_not_return(tracer, tmp_path):
    """They are counted, and their time is said apart."""
    running, path = tracer.start(*script("""
        import signal
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        start()
        with open(sys.argv[1], "w") as file:
            file.write(str(os.getpid()) + "\\n")
        driver.cuCtxSynchronize()
    """), tmp_path / "pid", args=["-c", "-e", "sync"], columns=None,
        env={"CUDA_SIM_LATENCY": "cuCtxSynchronize=600s"})
    with running:
        progress.wait_until(
            lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n"))
        progress.wait_until_in_slow_call(int((tmp_path / "pid").read_text()))
        running.stop()
    row, = json.loads(path.read_text())["summary"]["functions"]
    assert (row["event"], row["calls"], row["errors"], row["unfinished"], row["time"]) == \
        ("cuCtxSynchronize", 1, 0, 1, 0)
    assert row["unfinished_time"] > 0 and "average" not in row


def test_losses_are_said(tracer):
    result = tracer.probe.run(TRACED, "--api", "driver", "--threads", 8, "--rounds", 3000,
                              base=["trace", "--format", "json"],
                              args=["-c", "-e", "cuLaunchKernel", "--buffer", "64K"])
    summary = json.loads(result.stdout.splitlines()[-1])["summary"]
    assert summary["calls"] + summary["lost"] == result.truth.calls("cuLaunchKernel") == 24000


@pytest.mark.parametrize("options", [["-c", "-C"], ["-c", "-o", "time"], ["-c", "--entry-return"],
                                     ["-c", "--args", "2"]])
def test_what_does_not_go_together(tracer, options):
    result = tracer.run("true", args=options, columns=None, status=None)
    assert result.status not in (0, None) and "-c" in result.stderr
