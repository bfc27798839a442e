# SPDX-License-Identifier: BSD-2-Clause
"""Prometheus' rules and their runbooks: what fires, and that what they name exists."""
import re
import shutil
import subprocess

import pytest
import yaml

from conftest import ROOT, run
from lib import paths

RULES = ROOT / "deploy" / "monitoring" / "gpuprobe.rules.yml"
TESTS = ROOT / "tests" / "deploy" / "gpuprobe.rules.test.yml"
RUNBOOKS = ROOT / "docs" / "runbooks"
EVERY = [rule for group in yaml.safe_load(RULES.read_text("utf-8"))["groups"]
         for rule in group["rules"]]
ALERTS = [rule for rule in EVERY if "alert" in rule]
RECORDS = [rule for rule in EVERY if "record" in rule]

@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is missing")
@pytest.mark.parametrize("action", ["check", "test"])
def test_promtool(action, tmp_path):
    for path in (RULES, TESTS):
        shutil.copy(path, tmp_path)
    path = tmp_path / (RULES if action == "check" else TESTS).name
    done = run("promtool", action, "rules", path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_is_tested():
    text = TESTS.read_text(encoding="utf-8")
    assert not [rule["alert"] for rule in ALERTS if rule["alert"] not in text]


def test_every_record_is_tested():
    """Those without pid are sums over processes; those of ranks serve an alert."""
    text = TESTS.read_text(encoding="utf-8")
    assert RECORDS and not [rule["record"] for rule in RECORDS if rule["record"] not in text]
    for rule in RECORDS:
        level = rule["record"].partition(":")[0]
        assert level == "process" or "pid" not in re.search(r" by \((.*?)\)", rule["expr"])[1]


def test_every_alert_has_a_runbook():
    named = {rule["annotations"]["runbook_url"] for rule in ALERTS}
    assert named == {f"docs/runbooks/{rule['alert']}.md" for rule in ALERTS}
    assert {path.stem for path in RUNBOOKS.iterdir()} == {rule["alert"] for rule in ALERTS}
    for path in RUNBOOKS.iterdir():
        text = path.read_text(encoding="utf-8")
        assert text.startswith(f"# {path.stem}\n") and "\n## Run next\n\n```\n" in text


def test_series_exist():
    page = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    recorded = {rule["record"] for rule in RECORDS}
    named = {name for rule in EVERY for name in re.findall(r"[\w:]*gpuprobe_[\w:]+", rule["expr"])}
    assert {name for name in named if ":" in name} <= recorded
    series = {name for name in named if ":" not in name}
    assert series and all(f"`{name}`" in page for name in series)


def test_findings_exist():
    listed = subprocess.run([paths.GPUPROBE, "diagnose", "--list"], capture_output=True, text=True,
                            check=True).stdout
    ids = {word for rule in ALERTS for words in re.findall(r'\bid!?[=~]+"([^"]+)"', rule["expr"])
           for word in words.split("|")}
    assert ids and all(re.search(rf"^\s*{word}\b", listed, re.M) for word in ids)


def commands_of(page):
    """What follows `gpuprobe` in blocks and in quoted commands."""
    prose, blocks = page.split("```")[::2], page.split("```")[1::2]
    quoted = [words for text in prose for words in re.findall(r"`([^`]+)`", text)]
    for line in [*quoted, *"\n".join(blocks).splitlines()]:
        found = re.match(r"(?:sudo |kubectl .* -- )?gpuprobe ([^#]*)", line.strip())
        if found:
            yield found[1]


def test_commands_of_runbooks_exist():
    """Each command of a runbook is one that gpuprobe has, with these options."""
    helps, seen = {}, 0
    for path in RUNBOOKS.iterdir():
        for command in commands_of(path.read_text(encoding="utf-8")):
            words = command.partition(" -- ")[0].split()
            name = words[0] if words and not words[0].startswith("-") else ""
            if name not in helps:
                helps[name] = subprocess.run(
                    [paths.GPUPROBE, *([name] if name else []), "--help"], capture_output=True,
                    text=True, check=True).stdout
            for option in [word for word in words if word.startswith("-")]:
                assert re.search(rf"(^|[\s,]){re.escape(option)}\b", helps[name]), (path, words)
                seen += 1
    assert len(helps) > 5 and seen > 15
