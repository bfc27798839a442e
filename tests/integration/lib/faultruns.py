# SPDX-License-Identifier: BSD-2-Clause
"""Runs the pairs of lib/faults.py under `gpuprobe diagnose` and judges what it says."""
import json
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from lib import paths
from lib.faults import FAULTS, within
from lib.probe import environment
from lib.truth import read_truths

TIMEOUT = 60


# Growth is judged by a window that a short run fills; what has grown meanwhile is within the tolerance.
COURSE = ("--window", "3s", "--interval", "0.2")


def diagnose(*command, args=(), env=None):
    """The reports of `gpuprobe diagnose --json -- COMMAND`: the final one, and others where --interval asks for them."""
    argv = [str(paths.GPUPROBE), "diagnose", "--json", *args, "--", *map(str, command)]
    done = subprocess.run(argv, env=environment(**(env or {})), text=True, capture_output=True, timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stderr}"
    reports = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"schema"')]
    assert reports and reports[-1]["final"], f"no final report: {done.stdout}{done.stderr}"
    return reports


def findings_of(reports):
    """What was found at any time, each as it was found last."""
    latest = {}
    for report in reports:
        latest.update({(f["id"], f["pid"], f["tid"], f["subject"]): f for f in report["findings"]})
    return list(latest.values())


@dataclass
class Verdict:
    """What came of one program of a pair."""
    fault: object
    fixed: bool
    findings: list = field(default_factory=list)
    wrong: list = field(default_factory=list)   # what is not as it should be
    cost_ns: float = None                       # as found, and as it was
    truth_ns: float = None
    numbers: dict = field(default_factory=dict) # name -> (found, truth)

    @property
    def own(self):
        return [finding for finding in self.findings if finding["id"] == self.fault.id]

    @property
    def strangers(self):
        """False alarms: findings that are not true of this program."""
        allowed = set() if self.fixed else {self.fault.id, *self.fault.companions}
        return [finding for finding in self.findings if finding["id"] not in allowed]

    @property
    def missed(self):
        return not self.fixed and not self.own

    @property
    def good(self):
        return not (self.wrong or self.strangers or self.missed)

    def judge(self, truths, measured):
        """Compares the finding's cost and numbers with the truth. Several threads have one each."""
        if self.fixed or self.missed:
            return
        if self.fault.cost:
            self.cost_ns = sum(finding["cost_seconds"] for finding in self.own) * 1e9
            self.truth_ns = self.fault.cost(truths, measured)
            if not within(self.cost_ns, self.truth_ns):
                self.wrong.append(f"cost {self.cost_ns / 1e6:.1f} ms, in truth {self.truth_ns / 1e6:.1f} ms")
        for name, told in self.fault.numbers.items():
            found = sum(finding["numbers"][name]["value"] for finding in self.own)
            truth = told(truths, measured)
            self.numbers[name] = (found, truth)
            if not within(found, truth):
                self.wrong.append(f"{name} {found}, in truth {truth}")

    def __str__(self):
        said = "; ".join([*self.wrong, *(f"{f['id']}: {f['evidence']}" for f in self.findings)]) or "no findings"
        return f"{self.fault.title}{', repaired' if self.fixed else ''}: {said}"


def run(fault, fixed):
    """Runs one program of a pair; its Verdict, in which there is also what kept it from running."""
    verdict = Verdict(fault, fixed)
    try:
        _run(verdict)
    except (AssertionError, KeyError, OSError, ValueError, subprocess.TimeoutExpired) as error:
        verdict.wrong.append(f"{type(error).__name__}: {error}")
    return verdict


def _run(verdict):
    fault, fixed = verdict.fault, verdict.fixed
    with tempfile.TemporaryDirectory() as directory:
        own = Path(directory) / "own"
        command = [paths.workload("faults"), fault.id, "--seconds", fault.seconds, "--truth", own, *fault.arguments]
        env = {**fault.environment(fixed), "CUDA_SIM_TRUTH": f"{directory}/%p.%u.json"}
        options = [*fault.options, *(COURSE if fault.course else [])]
        verdict.findings = findings_of(diagnose(*command, *(["--fixed"] if fixed else []), args=options, env=env))
        truths = read_truths(Path(directory))
        assert truths, "the workload wrote no truth"
        verdict.judge(truths, json.loads(own.read_text(encoding="utf-8")))


def run_all(faults=FAULTS, at_once=2):
    """All pairs, `at_once` programs at a time; the Verdicts in the order of the faults, the fault before its twin.

    Some run alone: those that a busy CPU makes another program of, and those that use up the device, since to the
    simulated NVML all programs have the same devices.
    """
    quiet = threading.Condition()
    state = {"running": 0, "alone": False}

    def take(job):
        fault, _ = job
        with quiet:
            quiet.wait_for(lambda: not state["alone"] and not (fault.alone and state["running"]))
            state["running"] += 1
            state["alone"] = fault.alone
        try:
            return run(*job)
        finally:
            with quiet:
                state["running"] -= 1
                state["alone"] = False
                quiet.notify_all()

    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(take, [(fault, fixed) for fault in faults for fixed in (False, True)]))


def _amount(value):
    return f"{value / (1 << 20):.1f} MiB" if value >= 1 << 20 else f"{value:g}"


def _compared(verdict):
    if verdict.missed:
        return "", ""
    if verdict.truth_ns is not None:
        return f"{verdict.cost_ns / 1e6:.1f} ms", f"{verdict.truth_ns / 1e6:.1f} ms"
    if verdict.numbers:
        found, truth = zip(*verdict.numbers.values())
        words = [name.replace("_", " ") for name in verdict.numbers]
        return tuple(", ".join(f"{_amount(n)} {word}" for n, word in zip(amounts, words)) for amounts in (found, truth))
    return "found", ""


def table(verdicts):
    """All of it as a table of Markdown, and the sums below it."""
    lines = ["| finding | found | truth | beside it | repaired twin |", "|---|---|---|---|---|"]
    hits = missed = alarms = wrong = 0
    for broken, fixed in zip(verdicts[::2], verdicts[1::2]):
        found, truth = _compared(broken)
        beside = sorted({finding["id"] for finding in broken.findings} - {broken.fault.id})
        twin = ", ".join(sorted({finding["id"] for finding in fixed.findings})) or "no findings"
        lines.append(f"| {broken.fault.title} | {found or 'MISSED'} | {truth} | {', '.join(beside)} | {twin} |")
        hits += not broken.missed
        missed += broken.missed
        alarms += len(broken.strangers) + len(fixed.strangers)
        wrong += bool(broken.wrong) + bool(fixed.wrong)
    lines += ["", f"{hits} hit, {missed} missed, {alarms} false" + (f", {wrong} not as in truth" if wrong else "")]
    return "\n".join(lines)
