# SPDX-License-Identifier: BSD-2-Clause
"""The monitor's report by process: what it shows of real programs, and its start message."""
import re

import pytest

from lib.paths import workload
from lib.probe import EXACT, Probe

FINAL = ["--display-interval", "0", "--metrics-addr", "none"]


@pytest.fixture(name="last", scope="module")
def fixture_last(tmp_path_factory):
    """The last report about three programs, which have ended, and the truth about each by name."""
    programs = ("launch --launches 700 --kernels 2", "memory --pairs 20 --keep 3 --size 1048576",
                "copy --count 30")
    result = Probe(tmp_path_factory.mktemp("last")).run(
        "sh", "-c", "".join(f"{workload(words)} >&2; " for words in programs), base=FINAL)
    return result, {truth.comm: truth for truth in result.truths if not truth.idle}


def row_of(text, truth):
    """The cells of the process's row, by their heads."""
    heads, = re.findall(r"^ +pid .*$", text, re.M)
    cells, = re.findall(rf"^ *{truth.pid} .*$", text, re.M)
    return dict(zip(re.split(r" +", heads.strip().replace("live at exit", "memory")),
                    re.findall(r"(?:[\d.]+ (?:bytes?|[KMG]iB|[munsk]+|%|min))|\S+", cells)))


def test_rows_have_the_totals(last):
    result, truths = last
    assert "  3 CUDA processes ended; the last report: totals\n" in result.stdout
    launch, memory = truths["launch"], truths["memory"]
    assert row_of(result.stdout, launch)["launches"] == "700"
    assert row_of(result.stdout, memory)["memory"] == "3.0 MiB"
    assert row_of(result.stdout, launch)["memory"] == "0"
    copied = {way: sum(size for (kind, _), (_, size) in truths["copy"].copies().items()
                       if kind == way) for way in ("H2D", "D2H")}
    for way, size in copied.items():
        assert row_of(result.stdout, truths["copy"])[way] == f"{size / 2**20:.1f} MiB"


def test_blocks_say_what_each_did(last):
    result, truths = last
    for truth in truths.values():
        assert f"\nprocess {truth.pid} ({truth.comm}), ended, user root" in result.stdout
    assert "\n  memory    3.0 MiB in 3 allocations live at exit" in result.stdout
    assert re.search(r"\n  kernels  +\S+ ?k?/s +350 total  kernel_0\n", result.stdout)


def test_start(last, gpuprobe):
    result, _ = last
    assert result.stderr.startswith("gpuprobe: watching the CUDA calls of sh and its descendants; "
                                    "ends with them, or by Ctrl-C\ngpuprobe: metrics are off\n")
    for base, args in ((FINAL, ["-q"]), (FINAL, ["--memleak"]), (EXACT, [])):
        assert "watching" not in gpuprobe.run("true", base=base, args=args).stderr


def test_rates_are_of_the_last_interval(gpuprobe):
    """A program that launches and then waits: its rate is above 0 first, and then 0."""
    with gpuprobe.start(workload("launch"), "--launches", 1000, "--hold", 60,
                        base=["--metrics-addr", "none"]) as running:
        running.read_until("rates of the last")
        busy = re.compile(r"kernels +[\d.,]+ ?k?/s +1,000 total  kernel_0")
        while not busy.search(running.stdout):
            running.line()
        running.read_until("  kernels           0   1,000 total  kernel_0\n")
        running.stop()


def test_a_row_each_and_blocks_for_top(gpuprobe):
    """Four programs: the default shows three blocks, --top as many as it says."""
    command = ["sh", "-c", f"for i in 1 2 3 4; do {workload('launch')} --launches 9 >&2; done"]
    for args, blocks in (([], 3), (["--top", 1], 1), (["--top", 0], 4)):
        text = gpuprobe.run(*command, base=FINAL, args=args).stdout
        assert len(re.findall(r"^process \d+ \(launch\), ended", text, re.M)) == blocks
        assert len(re.findall(r"^ *\d+ +root +launch ", text, re.M)) == 4
        assert ("--top 0 shows all processes" in text) == (blocks < 4)
