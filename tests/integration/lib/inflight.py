# SPDX-License-Identifier: BSD-2-Clause
"""Copies in flight in reports, while a script advances step by step."""
from lib import exact
from lib.steps import Steps


def wait_for_in_flight(running, expected):
    """The first report that shows exactly this in flight."""
    return running.wait_for(
        lambda r: r["processes"] and exact.in_flight(r["processes"][0]) == expected)


def wait_in_flight(running, expected):
    """The process of that report."""
    return wait_for_in_flight(running, expected)["processes"][0]


class Copies(Steps):
    """Copies to the device on streams, and waits for them."""

    PRELUDE = """
context = start()
device = made(driver.cuMemAlloc_v2, 1 << 20)
host = made(driver.cuMemHostAlloc, 1 << 20, 0)
def stream():
    return made(driver.cuStreamCreate, 1)
def event():
    return made(driver.cuEventCreate, 0)
def copy(stream, size=1000, form=""):
    need(getattr(driver, "cuMemcpyHtoDAsync_v2" + form)(device, host, size, stream))
"""

    def __init__(self, probe, body, **options):
        super().__init__(probe, self.PRELUDE, body, "step()", **options)

    def shows(self, **expected):
        """
        Waits for a process of a report with this in flight, by kind, then lets the script go on.
        """
        process = wait_in_flight(self.running, expected)
        self.go_on()
        return process

    def finish(self):
        result = self.running.finish()
        exact.check(result)
        return result
