# SPDX-License-Identifier: BSD-2-Clause
"""
A container is killed with all that is in it, a gpuprobe that has events in tracefs among it, and no
guard is left to remove them: the next gpuprobe of the machine's own pid namespace does,
where it can be sure.
"""
import contextlib
import os
import signal
import subprocess
import time
from types import SimpleNamespace

import pytest

from lib import leftovers, paths
from lib.cli import NONE, QUICK, run
from lib.probe import Background, descendants, environment, kill_tree, wait_until_watching

ONE = ["--libcuda-path", paths.LIBCUDA]
FIRST_NAMESPACE = 4026531836
UNPRIVILEGED = ["setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"]
ALONE = pytest.mark.alone("a gpuprobe that starts beside it cleans up what this one has left")

pytestmark = [ALONE, pytest.mark.usefixtures("tracefs", "nothing_left")]


@pytest.fixture(autouse=True)
def first_namespace():
    if leftovers.namespace_of("self") != FIRST_NAMESPACE:
        pytest.skip("only the machine's own pid namespace sees all processes")


class Container:
    """A gpuprobe that is the first process of a pid namespace, with all of its probes in."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["unshare", "-pf", "--mount-proc", "--kill-child=KILL", paths.GPUPROBE, *NONE, *ONE],
            env=environment(GPUPROBE_LINKS="perf"), stdout=subprocess.DEVNULL)
        self.number = None

    def wait_for_probes(self):
        """Until gpuprobe waits for events. The namespace's number is not reused while
        we hold it open."""
        end = time.monotonic() + 60
        while not self.processes():
            assert time.monotonic() < end and self.process.poll() is None
            time.sleep(0.02)
        [gpuprobe, *_] = self.processes()
        wait_until_watching(SimpleNamespace(pid=gpuprobe, poll=self.process.poll))
        return os.open(f"/proc/{gpuprobe}/ns/pid", os.O_RDONLY)

    def processes(self):
        """Waits until a process besides unshare itself shows which namespace it is."""
        if self.number is None:
            with contextlib.suppress(OSError, ValueError):
                [child] = map(int,
                              open(f"/proc/{self.process.pid}/task/{self.process.pid}/children",
                                   encoding="ascii").read().split())
                self.number = leftovers.namespace_of(child)
        if self.number is None:
            return []
        return [pid for pid in sorted(leftovers.processes())
                if leftovers.namespace_of(pid) == self.number]

    def sites(self):
        self.processes()
        return sum(count for group, count in leftovers.events().items()
                   if group.namespace == self.number)

    def kill(self):
        """With all that is in it."""
        self.process.kill()
        self.process.wait()
        end = time.monotonic() + 60
        while self.processes() and time.monotonic() < end:
            time.sleep(0.1)
        assert not self.processes()


@pytest.fixture
def container():
    """It runs, and its probes are in."""
    made = Container()
    try:
        kept = made.wait_for_probes()
        yield made
        os.close(kept)
    finally:
        if made.process.poll() is None:
            kill_tree(made.process.pid)
            made.process.wait()


def start_another(*before):
    """Another gpuprobe, by tracefs as well."""
    done = run(*QUICK, *NONE, *ONE, before=before, timeout=60, GPUPROBE_LINKS="perf")
    assert done.returncode == 0, done.stderr


def test_container_killed(container):
    sites = container.sites()
    assert sites > 100
    start_another()
    assert container.sites() == sites  # it lives
    container.kill()
    assert container.sites() == sites
    start_another()
    assert container.sites() == 0


def test_container_killed_and_not_all_processes_seen(container):
    """
    It is unknown who is in the dead namespace: with /proc that hides processes, where one of
    another namespace does not tell which, and from within another.
    """
    container.kill()
    sites = container.sites()
    assert sites
    start_another("unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"',
                  "sh")
    assert container.sites() == sites
    with Background("unshare", "-pf", "--kill-child=KILL", "sleep", "60") as other:
        while not descendants(other.pid):
            time.sleep(0.05)
        start_another(*UNPRIVILEGED)
        assert container.sites() == sites
    start_another("unshare", "-pf", "--mount-proc")
    assert container.sites() == sites
    start_another()
    assert container.sites() == 0


def test_killed_while_it_lives_on(container):
    """Its first process lives: others may still be in it, and come."""
    [first, *_] = container.processes()
    others = container.processes()[1:]
    os.kill(first, signal.SIGSTOP)
    for pid in others:
        os.kill(pid, signal.SIGKILL)
    sites = container.sites()
    start_another()
    assert container.sites() == sites
    container.kill()
    start_another()
    assert container.sites() == 0
