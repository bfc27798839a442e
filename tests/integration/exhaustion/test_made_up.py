# SPDX-License-Identifier: BSD-2-Clause
"""Programs that make up errors and kernels without end:
the number of them kept and shown is bounded, and sums stay exact."""
import pytest

from lib.hostile import HOSTILE, as_user, build_made_up, shared_directory
from lib.probe import Background
from lib.scrape import Endpoint

CODES = 2000
HANDLES = 3000


@pytest.fixture(name="made_up")
def made_up_program():
    with shared_directory() as directory:
        yield build_made_up(directory / "made_up", HOSTILE)


def start(gpuprobe, made_up, endpoint):
    """It knows the library beforehand, so that each call counts."""
    return gpuprobe.start(libraries=[made_up.parent / "libcuda.so.1"],
                          base=["--json", *endpoint.option])


def page_with(endpoint, pid, name, value):
    """The first page on which the process's series add up to that."""
    return endpoint.until(lambda page: page.sum(name, pid=pid) == value)


def test_errors_have_a_bound(gpuprobe, made_up):
    """The first 256 have a series each, all others one; and so in the report."""
    endpoint = Endpoint()
    with start(gpuprobe, made_up, endpoint) as running:
        running.report()
        with Background(*as_user(HOSTILE), made_up, "errors", CODES, "wait") as program:
            assert program.stdout.readline() == "READY\n"
            page = page_with(endpoint, program.pid, "gpuprobe_errors_total", CODES)
            series = page.find("gpuprobe_errors_total", pid=program.pid)
            assert len(series) == 257
            assert [value for labels, value in series
                    if labels["error"] == "other"] == [CODES - 256]
            process = running.find(
                lambda r: next((p for p in r["processes"] if p["pid"] == program.pid
                                and sum(error["count"] for error in p["errors"]) == CODES), None))
            assert len(process["errors"]) == 257
            rest = process["errors"][-1]
            assert (rest["function"], rest["error"], rest["code"],
                    rest["layer"]) == ("other", "other", None, None)
        after = page_with(endpoint, program.pid, "gpuprobe_errors_total", CODES)
        assert sorted(after.find("gpuprobe_errors_total", pid=program.pid),
                      key=str) == sorted(series, key=str)


def test_few_errors_are_told_apart(gpuprobe, made_up):
    endpoint = Endpoint()
    with start(gpuprobe, made_up, endpoint) as running:
        running.report()
        with Background(*as_user(HOSTILE), made_up, "errors", 256, "wait") as program:
            page = page_with(endpoint, program.pid, "gpuprobe_errors_total", 256)
            series = page.find("gpuprobe_errors_total", pid=program.pid)
            assert len(series) == 256 and not [labels for labels, _ in series
                                               if labels["error"] == "other"]


def test_nameless_kernels_have_a_bound(gpuprobe, made_up):
    endpoint = Endpoint()
    with start(gpuprobe, made_up, endpoint) as running:
        running.report()
        with Background(*as_user(HOSTILE), made_up, "kernels", HANDLES, "wait") as program:
            process = running.find(lambda r: next(
                (p for p in r["processes"] if p["pid"] == program.pid and p["launches"] == HANDLES),
                None))
            assert len(process["kernels"]) == 1025
            assert [k["launches"] for k in process["kernels"]
                    if k["handle"] is None] == [HANDLES - 1024]
            page_with(endpoint, program.pid, "gpuprobe_kernel_launches_total", HANDLES)
