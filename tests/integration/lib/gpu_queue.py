# SPDX-License-Identifier: BSD-2-Clause
"""The profile's view of the GPU's queue, for small programs with a common beginning."""
import json

from lib.profile_runs import STAT, by_scenario

IDLE = {"CUDA_SIM_ASYNC": "20ms"}

# The common beginning of the scripts: `kernel`, the primary context in `context`, and threads.
COMMON = """
import json, threading, traceback
context = start()
_, (kernel,) = module("kernel")
def stream(flags=1):
    return made(driver.cuStreamCreate, flags)
def event(flags=0):
    return made(driver.cuEventCreate, flags)
def pinned(size=4096):
    return made(driver.cuMemHostAlloc, size, 0)
def device_memory(size=4096):
    return made(driver.cuMemAlloc_v2, size)
def run(function, device_context=None):
    def body():
        try:
            need(driver.cuCtxSetCurrent(device_context or context))
            function()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    thread = threading.Thread(target=body)
    thread.start()
    return thread
def kept_waiting():
    tasks = "/proc/self/task/"
    total = 0
    for tid in os.listdir(tasks):
        try:
            total += int(open(tasks + tid + "/schedstat").read().split()[1])
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has ended since
    return total
waited_before = kept_waiting()
idle = []
def pause(seconds=0.15):
    began = time.monotonic()
    time.sleep(seconds)
    idle.append(time.monotonic() - began)
def tell():
    print("IDLE " + json.dumps([[seconds * 1e9 for seconds in idle],
                                kept_waiting() - waited_before]), flush=True)
def until_waiting(thread):
    # In clock_nanosleep, by which the simulator waits: Python's own waits are others.
    while open(f"/proc/self/task/{thread.native_id}/syscall").read().split()[0] != "230":
        time.sleep(0.001)
"""


class Account:
    """The profile of one process."""

    def __init__(self, process, truth, stdout):
        self.process = process
        self.truth = truth
        self.threads = self.process["threads"]
        self.totals = self.process["account"]
        self.at_exit = self.process["inflight_at_exit"]
        # How long the program paused, plus the time that its threads were ready but did not run:
        # gaps are longer by part of that.
        told = [line for line in stdout.splitlines() if line.startswith("IDLE ")]
        self.pauses_ns, self.delayed_ns = json.loads(told[0][5:]) if told else ([], None)

    @property
    def paused_ns(self):
        return sum(self.pauses_ns)

    def sum(self, name):
        return sum(thread[name] for thread in self.threads)

    def implicit(self):
        """Calls by cause, without zeros."""
        causes = {}
        for thread in self.threads:
            for cause, totals in thread["implicit"].items():
                if totals["calls"]:
                    causes[cause] = causes.get(cause, 0) + totals["calls"]
        return causes

    def missing(self):
        """The non-zero counters of missing waits."""
        names = ("unrecorded_waits", "unrecorded_queries", "destroyed_busy", "freed_busy",
                 "freed_busy_bytes")
        found = {name: self.totals[name] for name in names if self.totals[name]}
        if self.at_exit["calls"]:
            found["at_exit"] = self.at_exit["calls"]
        return found


class Accounts:
    """The Accounts of the scenarios, by name."""

    def __init__(self, runs):
        self.runs = runs

    def __getitem__(self, name):
        return Account(*self.runs[name])


def accounts(probe, scenarios, at_once=1):
    """Runs the scenarios, which begin with COMMON, under one gpuprobe. Returns their Accounts."""
    return Accounts(by_scenario(probe, scenarios, COMMON, STAT, env=IDLE, at_once=at_once))
