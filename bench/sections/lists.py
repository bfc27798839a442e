# SPDX-License-Identifier: BSD-2-Clause
"""What the lists of processes take of a CPU: top over many idle processes, ps over busy ones."""
import contextlib
import os
import subprocess
import time

from setup import figure, share_of_cpu, spread, table, verdict

TITLE = "Lists of many processes"
ORDER = 32
IDLE, BUSY = 500, 50
INTERVAL = 2  # seconds between top's screens
BAR = 0.02  # of a core
SETTLED = 10  # seconds after which top has read what the processes did at their start


@contextlib.contextmanager
def programs(count, *command):
    """Each once it has written a line, if it has one to write."""
    started = [subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE) for _ in range(count)]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.communicate()


def top(setup, seconds):
    """The share of a core. The processes make calls after top has begun, then none."""
    holder = (setup.sim / "idle-holder", "--api", "driver", "--launch", 3)
    with setup.gpuprobe("top", "-b", "-d", INTERVAL) as process, \
            programs(IDLE, *holder) as idle:
        for one in idle:
            one.stdout.readline()  # READY
        time.sleep(SETTLED)
        return share_of_cpu(process.pid, seconds)


def ps(setup):
    """Seconds of CPU time of one list, its helpers included."""
    with programs(BUSY, "nice", setup.build / "bench/calls", "launch", 1000, 3600):
        time.sleep(2)
        process = subprocess.Popen([setup.build / "gpuprobe", "ps"], stdout=subprocess.DEVNULL)
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
        return used.ru_utime + used.ru_stime


def measure(setup):
    rounds, seconds = (1, 10) if setup.quick else (3, 20)
    return {"seconds": seconds, "top": figure([top(setup, seconds) for _ in range(rounds)]),
            "ps": figure([ps(setup) for _ in range(rounds)])}


def show(result):
    return f"""CPU time as the scheduler reports it, top's over {result['seconds']} s, without NVML:
the simulated one reads all of /proc at each question, which takes more than top itself.

""" + \
        table(["what", "measured", "bar"], [
            [f"`top -b -d {INTERVAL}` with {IDLE} idle CUDA processes",
             spread(result["top"], "{:.2%}") + " of a core",
             verdict(result["top"]["median"], BAR, "{:.0%}")],
            [f"`ps` with {BUSY} processes that launch 1,000 kernels a second each",
             spread(result["ps"], "{:.2f} s"), ""],
        ])
