# SPDX-License-Identifier: BSD-2-Clause
"""The runner of all tests (tests/run.py): what it tries again, what it never does,
and what fails the run."""
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2]))

from lib import paths  # noqa: E402
from lib.probe import wait_until  # noqa: E402
from runner import again  # noqa: E402
from runner.commands import Command, parse  # noqa: E402
from runner.integration import Integration  # noqa: E402
from runner.outcome import FAILED, PASSED, Outcome, Part  # noqa: E402
from runner.process import capture  # noqa: E402
from runner.units import Units  # noqa: E402

CONFTEST = """
import sys
sys.path.append({lib!r})
from lib import results

def pytest_configure(config):
    results.register(config)
"""
# Each fails; the flaky ones do so at their first run alone.
TESTS = """
import os, subprocess
import pytest
from lib import certain

class Done:
    returncode = {status}

def test_count():
    assert {{"launches": 3}} == {{"launches": 4}}

def test_text():
    assert "a" == "b"

def test_late():
    assert 6.1 < 5

def test_status():
    done = Done()
    assert done.returncode == 0

def test_harm():
    raise certain.Harm("the program is gone")

def test_program():
    subprocess.run(["false"], check=True)

def test_flaky():
    if not os.path.exists({flag!r}):
        open({flag!r}, "w").close()
        raise TimeoutError("too late")

@pytest.mark.xdist_group("together")
@pytest.mark.parametrize("way", ["a@b"])
def test_flaky_in_group(way):
    if not os.path.exists({flag!r} + way):
        open({flag!r} + way, "w").close()
        raise TimeoutError("too late")
"""
CMOCKA = """#!/bin/sh
echo '[ RUN      ] one'
echo '[       OK ] one'
echo '[ RUN      ] two'
if [ -e {flag} ]; then echo '[       OK ] two'; exit 0; fi
touch {flag}
{fault}
echo '[  FAILED  ] two'
echo '[  FAILED  ] 1 test(s), listed below:'
echo '[  FAILED  ] two'
exit 1
"""


def run_pytest(directory, status=1, options=()):
    """Runs TESTS; the step, its tests by name."""
    (directory / "conftest.py").write_text(CONFTEST.format(lib=str(paths.TESTS)))
    (directory / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    (directory / "test_all.py").write_text(
        TESTS.format(status=status, flag=str(directory / "flag")))
    step = Integration("made up", paths.BUILD, paths.GPUPROBE, "not nothing", options,
                       folder=str(directory))
    return step, {test.name.partition("::")[2]: test for test in step.run()}


@pytest.fixture
def outside(monkeypatch):
    """The runs of this test are no part of those that it is itself in."""
    for variable in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "GPUPROBE_TEST_RESULTS"):
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["one process", "workers"])
def test_which_failures_are_certain(tmp_path, outside, options):
    _, tests = run_pytest(tmp_path, options=options)
    assert all(test.failed for test in tests.values())
    assert {name: test.certain for name, test in tests.items()} == {
        "test_count": "a wrong count", "test_text": "", "test_late": "", "test_status": "",
        "test_harm": "harm to a program", "test_program": "a program failed: 1", "test_flaky": "",
        "test_flaky_in_group[a@b]": ""}
    assert "6.1 < 5" in tests["test_late"].output
    assert "load" in tests["test_late"].load


@pytest.mark.parametrize("status", [-11, 139])
def test_a_signal_is_certain(tmp_path, outside, status):
    assert run_pytest(tmp_path, status)[1]["test_status"].certain == "a signal"


def judged(parts, step, directory):
    verdict = again.judge(parts, {step.name: step}, directory / "flaky.txt")
    return verdict, verdict.close()


def test_a_second_try_forgives(tmp_path, outside, capfd):
    step, tests = run_pytest(tmp_path)
    verdict, status = judged([Part(step.name, [tests["test_flaky"]])], step, tmp_path)
    assert status == 0 and verdict.forgiven
    told = (tmp_path / "flaky.txt").read_text()
    for word in ("test_flaky: failed, then passed", "TimeoutError: too late", "first try (load",
                 "second try (load"):
        assert word in told
    assert told in capfd.readouterr().out


def test_a_second_try_of_a_group(tmp_path, outside):
    """A worker tells the group of a test with its name, in which pytest finds no test."""
    step, tests = run_pytest(tmp_path, options=("-n", "2", "--dist", "loadgroup"))
    assert {name for name in tests if "flaky" in name} == {"test_flaky", "test_flaky_in_group[a@b]"}
    found = [test for name, test in tests.items() if "flaky" in name]
    verdict, status = judged([Part(step.name, found)], step, tmp_path)
    assert status == 0 and len(verdict.forgiven) == 2


def test_a_second_failure_does_not(tmp_path, outside, capfd):
    step, tests = run_pytest(tmp_path)
    verdict, status = judged([Part(step.name, [tests["test_late"], tests["test_count"]])], step,
                             tmp_path)
    assert status == 1
    assert [one.first.name for one in verdict.retried] == [tests["test_late"].name]
    assert not (tmp_path / "flaky.txt").exists()
    closing = capfd.readouterr().out.splitlines()
    assert closing[-1] == "0 passed, 2 failed"
    at = closing.index(f"failed: {step.name}: {tests['test_count'].name} (a wrong count)")
    assert closing[at + 1].startswith("    E  ")


class Luck:
    """A step whose tests pass whenever they are run again."""

    name = "luck"

    def again(self, test):
        return Outcome(self.name, test.name, PASSED)


@pytest.mark.parametrize("failures, status",
                         [(again.FORGIVEN, 0), (again.FORGIVEN + 1, 1), (again.TRIED + 1, 1)])
def test_how_many_are_forgiven(tmp_path, capfd, failures, status):
    tests = [Outcome(Luck.name, f"test {number}", FAILED) for number in range(failures)]
    tests.append(Outcome(Luck.name, "good", PASSED))
    assert judged([Part(Luck.name, tests)], Luck(), tmp_path)[1] == status
    sums = f"{failures + 1} passed, 0 failed" if status == 0 else f"1 passed, {failures} failed"
    assert capfd.readouterr().out.splitlines()[-1] == sums


@pytest.mark.parametrize("fault, certain", [
    ("", ""),
    ("echo 'too late'", ""),
    ("echo '0x3 != 0x4'", "a wrong value"),
    ("echo 'Test failed with exception: Segmentation fault(11)'",
     "a signal: Segmentation fault(11)"),
    ("echo '==7==ERROR: AddressSanitizer: heap-use-after-free'; exit 1",
     "a sanitizer's or valgrind's report"),
    ("kill -SEGV $$", "a signal: ended by SIGSEGV"),
])
def test_unit_tests(tmp_path, fault, certain):
    program = tmp_path / "tests" / "test_x"
    program.parent.mkdir()
    program.write_text(CMOCKA.format(flag=tmp_path / "flag", fault=fault))
    program.chmod(0o755)
    step = Units("unit", program.parent)
    tests = step.run()
    bad = [test for test in tests if test.failed]
    assert [test.certain for test in bad] == [certain]
    assert sum(not test.failed for test in tests) == 1
    assert step.again(bad[0]).state == PASSED


def test_commands(tmp_path):
    output = ("# Linux\nok a_test (120 ms)\nnot ok b: 3 differences\n"
              "# certain: wrong counts\nok c d (x, y)\n"
              "not ok late (1.5 s): too late\n# more\n2 passed, 2 failed\n")
    tests = parse("step", output)
    assert [(test.name, test.state, test.certain) for test in tests] == [
        ("a_test", PASSED, ""), ("b", FAILED, "wrong counts"), ("c d", PASSED, ""),
        ("late", FAILED, "")]
    assert tests[0].seconds == 0.12 and "# more" in tests[3].output


@pytest.mark.parametrize("script",
                         ["exit 1", "echo ok a; echo '2 passed, 0 failed'", "echo ok a; kill -9 $$",
                          "echo ok a; echo '1 passed, 0 failed'; exit 1", "sleep 60"])
def test_a_command_that_breaks_off_has_failed(script):
    step = Command("step", ["sh", "-c", script], 1)
    assert any(test.failed for test in step.run())


def test_what_is_no_test_by_itself_is_tried_with_all(tmp_path):
    """A guest that does not boot has its line; asked for that as a test alone, it has none."""
    script = (f"[ -e {tmp_path}/second ] || echo 'not ok boot of a kernel'; "
              f"touch {tmp_path}/second; echo ok a; echo '1 passed, 0 failed'")
    step = Command("step", ["sh", "-c", script], 60,
                   ["sh", "-c", "test '{test}' = a && echo ok a; echo '0 passed, 0 failed'"])
    bad = next(test for test in step.run() if test.name == "boot of a kernel")
    assert step.again(bad).state == PASSED


def ended(pid):
    """Whether the process has ended; whoever is its parent now may not have asked how."""
    try:
        return (Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                == "Z")
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_what_is_left_behind_is_not_waited_for(tmp_path):
    """A test's program may have left a process that holds its output open: that one is killed."""
    left = tmp_path / "left"
    status, output = capture(["sh", "-c", f"sleep 600 & echo $! >{left}; echo all; exit 3"], 60)
    assert (status, output) == (3, "all\n")
    wait_until(lambda: ended(int(left.read_text())), "it is still there")
    status, output = capture(["sh", "-c", f"sleep 600 & echo $! >{left}; echo some; wait"], 0.5)
    assert (status, output) == (None, "some\n\nstopped after 0.5 s\n")
    wait_until(lambda: ended(int(left.read_text())), "it is still there")
