# SPDX-License-Identifier: BSD-2-Clause
"""Runs the pairs of lib/faults.py under `gpuprobe diagnose` and judges its findings."""
import json
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from lib import paths
from lib.faults import FAULTS, within
from lib.probe import Probe, environment
from lib.profile_runs import DIAGNOSE, Scenario, by_scenario
from lib.truth import read_truths
from lib.undisturbed import SLEEPS, SPINS, undisturbed

TIMEOUT = 60
AT_ONCE = 6  # they sleep most of the time


# A window that a short run fills; growth meanwhile is within the tolerance.
# Programs that rest between steps run for about as long as host-bound requires.
COURSE = ("--window", "3s", "--interval", "0.2", "--threshold", "host-bound.window=60s")


def diagnose(*command, args=(), env=None):
    """
    The reports of `gpuprobe diagnose --json -- COMMAND`: the final one, and earlier ones with
    --interval.
    """
    argv = [str(paths.GPUPROBE), "diagnose", "--json", "--max-overhead", "off", *args, "--",
            *undisturbed(*command)]
    done = subprocess.run(argv, env=environment(**(env or {})), text=True, capture_output=True,
                          timeout=TIMEOUT, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 0, f"{argv} ended with {done.returncode}: {done.stderr}"
    reports = [json.loads(line) for line in done.stdout.splitlines()
               if line.startswith('{"schema"')]
    assert reports and reports[-1]["final"], f"no final report: {done.stdout}{done.stderr}"
    return reports


def findings_of(reports):
    """All findings of the reports, each in its latest form."""
    latest = {}
    for report in reports:
        latest.update({(f["id"], f["pid"], f["tid"], f["subject"]): f for f in report["findings"]})
    return list(latest.values())


@dataclass
class Verdict:
    """The result of one program of a pair."""
    fault: object
    fixed: bool
    findings: list = field(default_factory=list)
    wrong: list = field(default_factory=list)   # deviations
    cost_ns: float = None                       # as found, and as it was
    truth_ns: float = None
    numbers: dict = field(default_factory=dict) # name -> (found, truth)

    @property
    def own(self):
        return [finding for finding in self.findings if finding["id"] == self.fault.id]

    @property
    def strangers(self):
        """False alarms: findings that do not apply to this program."""
        allowed = set() if self.fixed else {self.fault.id, *self.fault.companions}
        return [finding for finding in self.findings if finding["id"] not in allowed]

    @property
    def missed(self):
        return not self.fixed and not self.own

    @property
    def good(self):
        return not (self.wrong or self.strangers or self.missed)

    def look(self, runs, found, directory):
        """Compares the findings with the program's own files in the directory."""
        pid = runs.pid((self.fault, self.fixed))
        self.findings = [finding for finding in found if finding["pid"] == pid or self.fault.apart]
        truths = read_truths(directory)
        assert truths, "the workload wrote no truth"
        self.judge(truths, json.loads((directory / "own").read_text(encoding="utf-8")))

    def judge(self, truths, measured):
        """
        Compares the finding's cost and numbers with the truth. Each of several threads has its own.
        """
        if self.fixed or self.missed:
            return
        if self.fault.cost:
            self.cost_ns = sum(finding["cost_seconds"] for finding in self.own) * 1e9
            self.truth_ns = self.fault.cost(truths, measured)
            if not within(self.cost_ns, self.truth_ns):
                self.wrong.append(
                    f"cost {self.cost_ns / 1e6:.1f} ms, in truth {self.truth_ns / 1e6:.1f} ms")
        for name, told in self.fault.numbers.items():
            found = sum(finding["numbers"][name]["value"] for finding in self.own)
            truth = told(truths, measured)
            self.numbers[name] = (found, truth)
            if not within(found, truth):
                self.wrong.append(f"{name} {found}, in truth {truth}")

    def __str__(self):
        said = ("; ".join([*self.wrong, *(f"{f['id']}: {f['evidence']}" for f in self.findings)])
                or "no findings")
        return f"{self.fault.title}{', repaired' if self.fixed else ''}: {said}"


def _group(fault, fixed):
    """The options that programs under one gpuprobe share."""
    return fault.options, fault.course, fault.spins, (fault.title, fixed) if fault.apart else None


def _scenario(fault, fixed, directory):
    """The program of a pair; its truth file and its own measurements go to the directory."""
    directory.mkdir()
    command = undisturbed(paths.workload("faults"), fault.id, "--seconds", fault.seconds, "--truth",
                          directory / "own", *fault.arguments, *(["--fixed"] if fixed else []),
                          priority=SPINS if fault.spins else SLEEPS)
    return Scenario(command,
                    {**fault.environment(fixed), "CUDA_SIM_TRUTH": directory / "%p.%u.json"})


def run(jobs):
    """
    Runs programs of pairs, (fault, fixed) of one _group, under one gpuprobe. Returns their
    Verdicts, which also say what kept programs from running.
    """
    verdicts = {job: Verdict(*job) for job in jobs}
    fault, fixed = jobs[0]
    options = [*fault.options, *(COURSE if fault.course else [])]
    # Faults marked `apart` concern the device, which gpuprobe queries through NVML.
    env = fault.environment(fixed) if fault.apart else {}
    with tempfile.TemporaryDirectory() as directory:
        folders = {job: Path(directory) / f"program{number}" for number, job in enumerate(jobs)}
        try:
            runs = by_scenario(Probe(Path(directory)),
                               {job: _scenario(*job, folders[job]) for job in jobs}, base=DIAGNOSE,
                               args=options, env=env, at_once=1 if fault.spins else AT_ONCE)
            found = findings_of(runs.result.reports)
            unknown = ({finding["pid"] for finding in found}
                       - {pid for _, pid, _ in runs.ends.values()})
            assert fault.apart or not unknown, f"findings of other processes: {unknown}"
        except (AssertionError, OSError, ValueError, subprocess.TimeoutExpired) as error:
            for verdict in verdicts.values():
                verdict.wrong.append(f"{type(error).__name__}: {error}")
            return verdicts
        for job, verdict in verdicts.items():
            try:
                verdict.look(runs, found, folders[job])
            except (AssertionError, KeyError, OSError, ValueError) as error:
                verdict.wrong.append(f"{type(error).__name__}: {error}")
    return verdicts


class Verdicts:
    """
    The Verdicts of the pairs of these faults. A group runs when one of its members is requested.
    """

    def __init__(self, faults):
        self.jobs = [(fault, fixed) for fault in faults for fixed in (False, True)]
        self.known = {}

    def __getitem__(self, job):
        if job not in self.known:
            self.known.update(run([other for other in self.jobs if _group(*other) == _group(*job)]))
        return self.known[job]


def run_all(faults=FAULTS):
    """The Verdicts in the order of the faults, the fault before its twin."""
    verdicts = Verdicts(faults)
    return [verdicts[job] for job in verdicts.jobs]


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
        return tuple(", ".join(f"{_amount(n)} {word}" for n, word in zip(amounts, words))
                     for amounts in (found, truth))
    return "found", ""


def table(verdicts):
    """A Markdown table of all verdicts, and the sums below it."""
    lines = ["| finding | found | truth | beside it | repaired twin |", "|---|---|---|---|---|"]
    hits = missed = alarms = wrong = 0
    for broken, fixed in zip(verdicts[::2], verdicts[1::2]):
        found, truth = _compared(broken)
        beside = sorted({finding["id"] for finding in broken.findings} - {broken.fault.id})
        twin = ", ".join(sorted({finding["id"] for finding in fixed.findings})) or "no findings"
        lines.append(f"| {broken.fault.title} | {found or 'MISSED'} | {truth} | "
                     f"{', '.join(beside)} | {twin} |")
        hits += not broken.missed
        missed += broken.missed
        alarms += len(broken.strangers) + len(fixed.strangers)
        wrong += bool(broken.wrong) + bool(fixed.wrong)
    lines += ["", f"{hits} hit, {missed} missed, {alarms} false"
              + (f", {wrong} not as in truth" if wrong else "")]
    return "\n".join(lines)
