# SPDX-License-Identifier: BSD-2-Clause
"""A script under gpuprobe that takes its next step once the test has seen what it wants."""
import textwrap
import time

from lib.script import script

STEPS = """
steps = iter(range(10000))
def step():
    wait_for(f"{directory}/step{next(steps)}")
"""


class Steps:
    """
    Runs `pieces` one after the other; step() in them waits for go_on(). `running` is gpuprobe. A
    context manager.
    """

    def __init__(self, probe, *pieces, **options):
        self.directory = probe.directory / f"steps{probe.runs}"
        self.directory.mkdir()
        self.number = 0
        body = "\n".join([f"directory = {str(self.directory)!r}", STEPS,
                          *map(textwrap.dedent, pieces)])
        self.running = probe.start(*script(body), **options)

    def __enter__(self):
        self.running.__enter__()
        return self

    def __exit__(self, *exc):
        self.running.__exit__(*exc)

    def go_on(self):
        (self.directory / f"step{self.number}").touch()
        self.number += 1

    def later_report(self):
        """The first report whose reading began after this moment."""
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        return self.running.wait_for(lambda report: report["boot_ns"] > now)
