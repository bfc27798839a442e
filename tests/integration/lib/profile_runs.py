# SPDX-License-Identifier: BSD-2-Clause
"""Runs whose profile has lost nothing: one program, or several scenarios under one gpuprobe."""
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest

from lib import exact
from lib.script import script
from lib.truth import Truth
from lib.undisturbed import undisturbed

STAT = ["stat", "--json"]
# Counts all launches, whatever the cost.
DIAGNOSE = ["diagnose", "--json", "--max-overhead", "off"]

# Each scenario is its own process, which ends like a program started by itself.
RUN = """
import itertools, traceback

def begin(number, program, env):
    child = os.fork()
    if child:
        return child
    os.environ.update(env)
    os.dup2(os.open(f"{OUTPUTS}/{number}", os.O_WRONLY | os.O_CREAT, 0o600), 1)
    try:
        if isinstance(program, list):
            os.execvp(program[0], program)
        exec(PRELUDE + program, globals())
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    sys.exit(0)

def end(running):
    pid, status = os.wait()
    with open(f"{OUTPUTS}/ends", "a") as told:
        print(running.pop(pid), pid, os.waitstatus_to_exitcode(status), file=told)

running = {}
for number, (program, env) in enumerate(SCENARIOS):
    if len(running) == AT_ONCE:
        end(running)
    running[begin(number, program, env)] = number
while running:
    end(running)
"""


@dataclass(frozen=True)
class Scenario:
    """A small program: its Python code or command line, its environment, and its expected end."""
    program: object
    env: dict = field(default_factory=dict)
    status: int = 0  # as the returncode of a Popen; None accepts any


class Ran(NamedTuple):
    """The result of a scenario."""
    process: dict
    truth: Truth
    stdout: str


class Runs:
    """The results of several scenarios. A failed one fails the test that looks at it."""

    def __init__(self, scenarios, result, outputs):
        self.scenarios = scenarios
        self.result = result
        self.outputs = outputs
        lines = [line.split()
                 for line in (outputs / "ends").read_text(encoding="utf-8").splitlines()]
        self.ends = {list(scenarios)[int(number)]: (number, int(pid), int(status))
                     for number, pid, status in lines}

    def pid(self, name):
        """Its process, which must have ended as expected."""
        _, pid, status = self.ends[name]
        expected = self.scenarios[name].status
        assert expected in (None, status), f"{name} ended with {status}: {self.result.stderr}"
        return pid

    def __getitem__(self, name):
        pid = self.pid(name)
        truth = next((truth for truth in self.result.truths if truth.pid == pid), None)
        stdout = (self.outputs / self.ends[name][0]).read_text(encoding="utf-8")
        return Ran(self.result.process_of(pid), truth, stdout)


def by_scenario(probe, scenarios, prelude="", base=STAT, args=(), env=None, at_once=1, may_lose=()):
    """
    Runs the scenarios, name -> Scenario, `at_once` at a time under one gpuprobe; those in Python
    begin with the prelude. They have priority over other load of the machine. Nothing may be lost
    except the losses named by `may_lose`.
    """
    outputs = probe.directory / f"outputs{probe.runs}"
    outputs.mkdir()
    programs = [(one.program if isinstance(one.program, str) else [*map(str, one.program)],
                 {key: str(value) for key, value in one.env.items()}) for one in scenarios.values()]
    constants = (f"SCENARIOS, PRELUDE = {programs!r}, {prelude!r}\n"
                 f"OUTPUTS, AT_ONCE = {str(outputs)!r}, {at_once}\n")
    result = probe.run(*undisturbed(*script(constants + RUN)), base=base, args=args, env=env)
    assert exact.lost(result.final).keys() <= set(may_lose)
    return Runs(scenarios, result, outputs)


class Programs:
    """
    The small programs of a module's tests, by the test's name; each is next to the test that looks
    at it.
    """

    def __init__(self):
        self.scenarios = {}

    def of_test(self, program, env=None, **more):
        """Decorates the test of one program."""
        def note(test):
            self.scenarios[test.__name__] = Scenario(program, env or {}, **more)
            return test
        return note

    def of_cases(self, scenarios, argument="found"):
        """
        Decorates a test with a case for each scenario. The scenario's name is passed in the test's
        argument of that name, or else to the fixture that finds its result.
        """
        def note(test):
            self.scenarios.update({f"{test.__name__}[{name}]": one
                                   for name, one in scenarios.items()})
            return pytest.mark.parametrize(argument, scenarios, indirect=argument == "found")(test)
        return note


def stat(probe, *command, args=(), env=None, base=STAT):
    result = probe.run(*undisturbed(*command), base=base, args=args, env=env)
    assert exact.lost(result.final) == {}
    return result
