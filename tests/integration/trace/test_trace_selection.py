# SPDX-License-Identifier: BSD-2-Clause
"""-e: families, names, patterns and exclusions; and that nothing else is attached."""
import re
import subprocess

import pytest

from decode import table
from lib import paths
from lib.script import script
from lib.trace import DEFAULT

TRACED = paths.workload("traced")
ROUND = ["cudaSetDevice", "cudaMalloc", "cudaMemcpy", "cudaMemset", "cudaLaunchKernel",
         "cudaEventRecord", "cudaMemcpyAsync", "cudaEventSynchronize", "cudaStreamSynchronize",
         "cudaFree"]
BEGIN = {"cudaStreamCreateWithFlags", "cudaEventCreate"}


def family_of(symbol):
    return {row.symbol: row.family for row in table.rows()}[symbol]


def events(tracer, *selection, api="runtime", more=()):
    words = [word for text in selection for word in ("-e", text)]
    result = tracer.run(TRACED, "--rounds", 3, args=[*words, "--api", api, *more])
    assert result.lost == 0
    return set(result.events)


@pytest.mark.parametrize("family",
                         ["launch", "memory", "copy", "sync", "stream", "event", "device"])
def test_families(tracer, family):
    assert events(tracer, family) == {name for name in {*ROUND, *BEGIN}
                                      if family_of(name) == family}


def test_module_family(tracer):
    assert events(tracer, "module") == {"cudaLibraryLoadData", "cudaLibraryGetKernel"}


def test_all(tracer):
    assert events(tracer, "all") == {*ROUND, *BEGIN, "cudaLibraryLoadData", "cudaLibraryGetKernel"}


def test_default(tracer):
    assert {*ROUND, *BEGIN} <= events(tracer) <= {*ROUND, *BEGIN, "cudaLibraryLoadData",
                                                  "cudaLibraryGetKernel"}


def test_errors(tracer):
    """The family has what asks for errors."""
    result = tracer.run(*script("""
        need(runtime.cudaSetDevice(0))
        assert runtime.cudaMalloc(ref(out()), 1 << 50) == 2
        assert runtime.cudaPeekAtLastError() == 2
        assert runtime.cudaGetLastError() == 2
        runtime.cudaGetErrorString(2)
    """), args=["-e", "errors", "--api", "runtime"])
    assert {"cudaPeekAtLastError", "cudaGetLastError"} <= set(result.events)
    assert "cudaMalloc" not in result.events
    # That these answer an error is no failure of theirs.
    failed = tracer.run(*script("""
        need(runtime.cudaSetDevice(0))
        assert runtime.cudaMalloc(ref(out()), 1 << 50) == 2
        assert runtime.cudaGetLastError() == 2
    """), args=["-e", "all", "--api", "runtime", "--failed"])
    assert failed.events == ["cudaMalloc"]


@pytest.mark.parametrize("text, expected", [
    ("cudaMalloc", {"cudaMalloc"}),
    ("cudaMalloc,cudaFree", {"cudaMalloc", "cudaFree"}),
    ("cudaMem*", {"cudaMemcpy", "cudaMemset", "cudaMemcpyAsync"}),
    ("cudaMem*,!cudaMemset", {"cudaMemcpy", "cudaMemcpyAsync"}),
    ("cudaMem*,!*Async", {"cudaMemcpy", "cudaMemset"}),
    ("!cudaMem*,cudaMemset", {*ROUND, *BEGIN} - {"cudaMemcpy", "cudaMemcpyAsync"}),
    ("cuda?alloc", {"cudaMalloc"}),
    ("copy,!cudaMemcpy,launch", {"cudaMemset", "cudaMemcpyAsync", "cudaLaunchKernel"}),
    ("*,!cudaLibrary*", {*ROUND, *BEGIN}),
])
def test_names(tracer, text, expected):
    assert events(tracer, text) == expected


def test_several_options_are_one_list(tracer):
    assert events(tracer, "copy", "!cudaMemset", "cudaFree") == {
        "cudaMemcpy", "cudaMemcpyAsync", "cudaFree"}


def test_a_plain_name_means_its_forms(tracer):
    result = tracer.run(*script("""
        start()
        loaded, (kernel,) = module("one")
        need(driver.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
        need(driver.cuLaunchKernel_ptsz(kernel, 1, 1, 1, 1, 1, 1, 0, 0, None, None))
    """), args=["-e", "cuLaunchKernel"])
    assert result.events == ["cuLaunchKernel", "cuLaunchKernel_ptsz"]


def test_a_name_that_is_in_no_table(tracer):
    """A newer library may have it; that it may be mistyped is said."""
    result = tracer.run(TRACED, "--rounds", 1, args=["-e", "cudaMaloc,cudaFree"])
    assert result.events == ["cudaFree"]
    assert "cudaMaloc" in result.stderr and "cudaMalloc" in result.stderr


@pytest.mark.parametrize("text, said", [
    ("memry", "memory"), ("", ""), ("!", ""), ("copy,,launch", "")])
def test_words_that_are_wrong(tracer, text, said):
    result = tracer.run("true", args=["-e", text], status=None)
    assert result.status not in (0, None)
    assert said in result.stderr


def sites(tracer, *args):
    """How many probes a trace attached for each library, by what -v tells."""
    result = tracer.run(TRACED, "--rounds", 1, args=[*args, "-v"])
    found = re.findall(r"(\d+) (?:probes?|functions?|sites?)", result.stderr)
    assert found, result.stderr
    return sum(map(int, found)), result


def test_only_what_is_selected_is_attached(tracer_by):
    """One function has few probes; a launch alone costs the others nothing."""
    one, _ = sites(tracer_by, "-e", "cudaEventRecord", "--api", "runtime")
    every, _ = sites(tracer_by, "-e", "all")
    assert one < 40 < 700 < every


def test_default_word_list_is_documented(tracer):
    help_text = tracer.run(args=["--help"], status=None).stdout
    for family in DEFAULT.split(","):
        assert family in help_text


def test_a_mistyped_name_alone(tracer):
    """There is nothing to wait for: an error, and COMMAND is not started."""
    result = tracer.run("touch", tracer.probe.directory / "started", args=["-e", "cudaMaloc"],
                        status=2)
    assert result.stderr.splitlines()[-1].endswith("did you mean cudaMalloc?")
    assert not (tracer.probe.directory / "started").exists()


def test_a_mistyped_name_among_others(tracer):
    result = tracer.run("true", args=["-e", "cudaMaloc,sync"])
    assert ("-e cudaMaloc: no function of this name is known; did you mean cudaMalloc?"
            in result.stderr)


def test_the_list_of_functions():
    """What a selection means, without tracing."""
    done = subprocess.run([paths.GPUPROBE, "trace", "--list-functions",
                           "-e", "sync,cudaMalloc", "--api", "runtime"],
                          capture_output=True, text=True, check=True)
    rows = [line.split(" ") for line in done.stdout.splitlines()]
    assert (["cudaMalloc", "runtime", "memory"] in rows
            and ["cudaStreamSynchronize", "runtime", "sync"] in rows)
    assert {family for name, _, family in rows if name != "cudaMalloc"} == {"sync"}
    assert {layer for _, layer, _ in rows} == {"runtime"}
    assert len({name for name, _, _ in rows}) == len(rows)
