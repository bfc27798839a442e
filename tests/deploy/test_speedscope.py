# SPDX-License-Identifier: BSD-2-Clause
"""
speedscope in a headless Chromium opens timelines and flame graphs: it imports them without a
complaint, and shows the threads and their calls.
"""
import base64
import json

import pytest
from chromium import Chromium
from lib import paths
from lib.probe import Probe

pytestmark = pytest.mark.slow

STEPS = [paths.workload("steps"), "--steps", 30, "--launches", 7, "--wait", "stream", "--cpu", 0]
# What the importer says of a file that it had to mend.
COMPLAINTS = ("Tried to end", "still open", "exception", "went wrong", "rror")


@pytest.fixture
def shown(browser_packages, chromium_folder, tmp_path):
    """shown(FILE, NAME): waits until speedscope lists a frame; its page and its console."""
    def show(file, name):
        load = tmp_path / "load.js"
        content = base64.b64encode(file.read_bytes()).decode()
        load.write_text(f"speedscope.loadFileFromBase64({json.dumps(file.name)}, '{content}')",
                        encoding="utf-8")
        page = browser_packages / "speedscope" / "dist" / "release" / "index.html"
        with Chromium(chromium_folder, tmp_path / "profile") as browser:
            browser.open(f"file://{page}#localProfilePath={load}")
            # The sandwich view lists all frames as text.
            browser.wait_for("document.body.innerText.includes('Sandwich')")
            browser.evaluate("[...document.querySelectorAll('div')].filter(each => "
                             "each.innerText?.endsWith('Sandwich')).at(-1).click()")
            text = browser.wait_for(f"document.body.innerText.includes({json.dumps(name)}) && "
                                    "document.body.innerText")
            console = browser.console
        assert not [line for line in console if any(word in line for word in COMPLAINTS)], console
        return text, console
    return show


@pytest.mark.parametrize("ending", [".json", ".json.gz"])
def test_a_timeline(shown, tmp_path, ending):
    """The calls of the thread, and its steps, are a profile each."""
    file = tmp_path / f"run{ending}"
    Probe(tmp_path).run(*STEPS, base=["trace", "--format", "chrome", "-o", str(file)])
    text, console = shown(file, "cudaStreamSynchronize")
    assert "(1/2)" in text and "cudaLaunchKernel" in text
    assert "Importing as Trace Event Format profile" in "\n".join(console)


def test_a_flame_graph(shown, tmp_path):
    file = tmp_path / "run.json"
    Probe(tmp_path).run(*STEPS, base=["flame", "--speedscope", "--by", "launches",
                                      "-O", str(file)])
    shown(file, "main")
