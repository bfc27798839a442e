# SPDX-License-Identifier: BSD-2-Clause
"""
The data of the page at / over HTTP, against what a program did; test_web_page.py has the page in a
browser.
"""
import contextlib
import json
import re

from lib import paths
from lib.paths import workload
from lib.probe import wait_until
from lib.scrape import Endpoint

SIZE, KEPT = 65536, 7
GIVEN = [paths.LIBCUDA, paths.LIBCUDART]
PROGRAM = [workload("memory"), "--keep", str(KEPT), "--size", str(SIZE), "--pairs", "3",
           "--hold", "600"]
ASSETS = re.compile(r'(?:src|href)="(/web/[^"]+)"|from "(/web/[^"]+)"')


def api(endpoint, path):
    status, answer, body = endpoint.request(f"/api/v1/{path}")
    assert status == 200, body
    assert answer["Content-Type"] == "application/json"
    assert answer["Content-Security-Policy"].startswith("default-src 'none'")
    return json.loads(body)


@contextlib.contextmanager
def watched(gpuprobe, *options):
    """The endpoint of a gpuprobe that watches a program which keeps memory."""
    endpoint = Endpoint()
    with gpuprobe.start(*PROGRAM, libraries=GIVEN, base=["--json"], interval=None,
                        args=["--stack", "auto", *options, *endpoint.option]):
        endpoint.wait()
        yield endpoint


def steady(details):
    """The details, once the program has made its last call and its stacks have names."""
    done = details["memory"]["device"]["frees"] == 3
    sites, lines = details["live_sites"], details["site_history"]["sites"]
    named = sites and lines and all(site["stack"] for site in sites)
    return details if done and named else None


def check_what_it_holds(endpoint):
    process = wait_until(
        lambda: next((each for each in api(endpoint, "overview")["processes"]
                      if each["memory_bytes"] == KEPT * SIZE), None), "the memory is not there")
    assert process["comm"] == "memory" and not process["memory_at_least"]
    assert process["command"] == workload("memory")  # options may be secrets
    details = wait_until(lambda: steady(api(endpoint, f"processes/{process['id']}")),
                         "no call site")
    site, = details["live_sites"]
    assert (site["bytes"], site["count"]) == (KEPT * SIZE, KEPT)
    assert any("memory.c" in frame.get("file", "") for frame in site["stack"]["frames"])
    line, = details["site_history"]["sites"]
    assert line["memory_bytes"][-1] == KEPT * SIZE
    history = api(endpoint, "history")
    of_process, = history["processes"]
    assert of_process["id"] == process["id"]
    assert of_process["memory_bytes"][-1] == KEPT * SIZE
    assert len(of_process["memory_bytes"]) == len(history["times"])
    status, answer, flame = endpoint.request(f"/api/v1/processes/{process['id']}/flame.svg")
    assert status == 200 and answer["Content-Type"] == "image/svg+xml"
    assert "sandbox" in answer["Content-Security-Policy"] and b"448.0 KiB" in flame


def check_paths(endpoint):
    for path in ("", "x", "overview/", "processes/", "processes/0", "processes/-1",
                 "processes/1x", "processes/99999999999999999999", "processes/1/",
                 "processes/1/flame", "processes/../overview", "processes/1%00"):
        assert endpoint.request(f"/api/v1/{path}")[0] == 404, path
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        assert endpoint.request("/api/v1/overview", method)[0] == 405
    assert endpoint.request("/api/v1/overview", "HEAD")[2] == b""
    # All that the page loads is there.
    page = endpoint.request("/")[2].decode()
    texts = [page] + [endpoint.request(path)[2].decode()
                      for path in ("/web/page.js", "/web/details.js", "/web/tables.js")]
    found = {path for text in texts for match in ASSETS.findall(text)
             for path in match if path}
    assert len(found) >= 9
    for path in found:
        assert endpoint.request(path)[0] == 200, path
    # A page of another site that has its name lead here.
    assert endpoint.request("/api/v1/overview", headers={
        "Host": "evil.example.com", "User-Agent": "Mozilla/5.0"})[0] == 403


def test_a_program_that_holds_memory(gpuprobe):
    with watched(gpuprobe) as endpoint:
        check_what_it_holds(endpoint)
        check_paths(endpoint)


def test_nobody_is_served(gpuprobe):
    with watched(gpuprobe, "--web", "off") as endpoint:
        for path in ("/api/v1/overview", "/api/v1/history", "/web/page.js"):
            assert endpoint.request(path)[0] == 404
        plain = endpoint.request("/")[2]
        assert b"<h1>gpuprobe " in plain and b"Processes that use CUDA: " in plain
        assert b"<script" not in plain and b'href="/metrics"' in plain
