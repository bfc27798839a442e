# SPDX-License-Identifier: BSD-2-Clause
"""
The page at / of the metrics' port, in a headless Chromium: what it shows against what a simulated
program did, clicks, hostile names, light, dark and a phone's width. Pictures of it are written to
build/web/, for a person to look at.
"""
import contextlib
import json
import os
import shutil
import signal
import subprocess

import pytest
from chromium import Chromium
from lib import paths
from lib.probe import environment
from lib.scrape import Endpoint

pytestmark = pytest.mark.slow

SIZE, KEPT = 1 << 20, 24
# Markup, and characters that turn the text around.
HOSTILE = "<img src=x onerror=alert(1)>"
# The row of the only process.
ROW = "[...document.querySelectorAll('#processes tr')].at(-1).innerText"
WIDE, PHONE = (1280, 1400), (390, 844)


@contextlib.contextmanager
def watched(program, *options):
    """The endpoint of a gpuprobe that watches the command; both end with the block."""
    endpoint = Endpoint()
    process = subprocess.Popen(
        [paths.GPUPROBE, "--interval", "0", "--verdict", "--stack", "auto", *options,
         *endpoint.option, "--libcuda-path", paths.LIBCUDA, "--libcudart-path", paths.LIBCUDART,
         "--", *program], start_new_session=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(CUDA_SIM_MACHINE=f"web-{endpoint.port}", CUDA_SIM_CLOCK="kernel=20us",
                        CUDA_SIM_DIRECTORY=str(paths.SIM), LD_LIBRARY_PATH=str(paths.SIM)))
    try:
        endpoint.wait()
        yield endpoint
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


@contextlib.contextmanager
def page(folder, endpoint, profile):
    """The page, once it shows a process; afterwards its console must be empty."""
    with Chromium(folder, profile) as browser:
        browser.open(f"http://127.0.0.1:{endpoint.port}/")
        browser.look(*WIDE)
        browser.wait_for("!!document.querySelector('#processes button')")
        yield browser
        assert browser.console == []
        assert browser.evaluate("document.querySelector('#problem').hidden")


@pytest.fixture(name="pictures")
def fixture_pictures(build_folder):
    folder = build_folder / "web"
    folder.mkdir(exist_ok=True)
    return folder


def api(endpoint, path):
    status, _, body = endpoint.request(f"/api/v1/{path}")
    assert status == 200, body
    return json.loads(body)


def wait_for_points(browser):
    """Waits until there are lines to look at."""
    browser.wait_for("fetch('/api/v1/history').then(each => each.json()).then(history => "
                     "history.times.length >= 4)")


def test_numbers_clicks_and_looks(chromium_folder, tmp_path, pictures):
    """A program that keeps a known amount of memory."""
    program = [paths.workload("memory"), "--keep", str(KEPT), "--size", str(SIZE), "--pairs", "50",
               "--hold", "3600"]
    with watched(program) as endpoint, page(chromium_folder, endpoint, tmp_path / "p") as browser:
        row = browser.wait_for(f"{ROW}.includes('24.0 MiB') && {ROW}")
        process, = api(endpoint, "overview")["processes"]
        assert process["memory_bytes"] == KEPT * SIZE
        assert f"memory ({process['pid']})" in row and process["user"] in row
        # Each plot has a line, and the one of memory has the kept bytes.
        browser.wait_for("document.querySelectorAll('#plots canvas').length === 5")
        assert "24.0 MiB" in browser.wait_for(
            "document.querySelector('#plots .legend').innerText.includes('MiB') && "
            "document.querySelector('#plots .legend').innerText")
        browser.evaluate("document.querySelector('#processes button').click()")
        details = browser.wait_for(
            "document.querySelector('#details').innerText.includes('run_thread') && "
            "document.querySelector('#details').innerText.includes('Kernels: 0') && "
            "document.querySelector('#details').innerText")
        assert "24.0 MiB" in details and "Memory by call site" in details
        browser.wait_for("!!document.querySelector('#details canvas')")
        browser.evaluate("[...document.querySelectorAll('#details button')].find(each => "
                         "each.innerText.startsWith('Flame')).click()")
        browser.wait_for("!!document.querySelector('iframe')")
        flame = endpoint.request(f"/api/v1/processes/{process['id']}/flame.svg")[2].decode()
        assert "24.0 MiB" in flame and "cudaMalloc" in flame
        wait_for_points(browser)
        for name, size, scheme in (("light", WIDE, "light"), ("dark", WIDE, "dark"),
                                   ("phone", PHONE, "dark")):
            browser.look(*size, scheme)
            browser.wait_for(f"document.documentElement.clientWidth <= {size[0]} && "
                             f"matchMedia('(prefers-color-scheme: {scheme})').matches")
            # Only tables may be wider than the page, and they scroll.
            browser.wait_for(f"document.documentElement.scrollWidth <= {size[0]}")
            browser.wait_for_frame("cudaMalloc")
            browser.screenshot(pictures / f"{name}.png")
        browser.evaluate("document.querySelector('#details .close').click()")
        assert browser.evaluate("document.querySelector('#details').hidden")


def test_findings_have_advice(chromium_folder, tmp_path, pictures):
    """The demonstration gives its GPU too little to do."""
    with watched([paths.workload("demo"), "--seconds", "3600"]) as endpoint, \
            page(chromium_folder, endpoint, tmp_path / "p") as browser:
        browser.wait_for("!!document.querySelector('.finding')")
        wait_for_points(browser)
        overview = api(endpoint, "overview")
        text = browser.evaluate("document.querySelector('#findings').innerText")
        assert any(advice in text for advice in overview["advice"].values())
        browser.screenshot(pictures / "findings.png")


def test_hostile_names_are_text(chromium_folder, tmp_path):
    """The program, its path and so its frames have names that are markup."""
    folder = tmp_path / "<b>\u202e"
    folder.mkdir()
    program = folder / HOSTILE.replace("/", "")
    shutil.copy(paths.workload("memory"), program)
    with watched([str(program), "--keep", "4", "--hold", "3600"]) as endpoint, \
            page(chromium_folder, endpoint, tmp_path / "p") as browser:
        browser.evaluate("document.querySelector('#processes button').click()")
        browser.wait_for("document.querySelector('#details').innerText.includes('<b>')")
        text = browser.evaluate("document.body.innerText")
        assert "\\u202e" in text and "\u202e" not in text
        assert browser.evaluate("document.querySelectorAll('img, b').length") == 0
        process, = api(endpoint, "overview")["processes"]
        flame = endpoint.request(f"/api/v1/processes/{process['id']}/flame.svg")[2].decode()
        assert "<img" not in flame


def test_the_end_of_gpuprobe_is_shown(chromium_folder, tmp_path):
    with Chromium(chromium_folder, tmp_path / "p") as browser:
        with watched([paths.workload("memory"), "--hold", "3600"]) as endpoint:
            browser.open(f"http://127.0.0.1:{endpoint.port}/")
            browser.wait_for("!!document.querySelector('#processes tr')")
        assert "numbers are old" in browser.wait_for(
            "document.querySelector('#problem').innerText")
