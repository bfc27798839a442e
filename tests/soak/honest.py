#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""An honest load: usual programs of 50 launches, 60 a second, that start and end in three loops,
while the monitor watches the whole machine and is scraped each second. Are all counted, what does
gpuprobe hold meanwhile and two minutes after, how long does a scrape take?

usage: honest.py BUILD SECONDS

Prints the figures as a row of docs/engineering/reliability.md.
Exits with 1 if a launch is missing or nobody says that it was lost.
"""
import collections
import http.client
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

from lib.probe import wait_until  # noqa: E402
from lib.scrape import hold_port  # noqa: E402

LOOPS, LAUNCHES = 3, 50
RATE = 20  # programs a second and loop
AFTER = 150  # seconds; what has ended is kept for two minutes


class Monitor:
    """gpuprobe, and the launches that its reports tell of each process."""

    def __init__(self, build):
        self.held = hold_port()
        self.port = self.held.getsockname()[1]
        self.process = subprocess.Popen([build / "gpuprobe", "--json", "--display-interval",
                                         "1", "--metrics-addr", f"127.0.0.1:{self.port}"],
                                        stdout=subprocess.PIPE, text=True)
        self.launches = collections.Counter()
        self.lost = {}
        self.reported = False
        self.reader = threading.Thread(target=self._read)
        self.reader.start()
        wait_until(lambda: self.reported, "no report comes")

    def _read(self):
        for line in self.process.stdout:
            report = json.loads(line)
            self.reported = True
            self.lost = {name: count for name, count in report["lost"].items() if count}
            for process in report["processes"]:
                told = sum(kernel["launches"] for kernel in process.get("kernels", []))
                self.launches[process["pid"], process["start_ns"]] = told

    def resident(self):
        """MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1000

    def ask(self, path):
        """(seconds, bytes)."""
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", path)
        size = len(connection.getresponse().read())
        connection.close()
        return time.monotonic() - began, size

    def stop(self):
        self.process.terminate()
        self.reader.join()
        return self.process.wait()


def loop(program, until, ran):
    while time.monotonic() < until:
        following = time.monotonic() + 1 / RATE
        ran.append(subprocess.run([program, "--launches", str(LAUNCHES)], stdout=subprocess.DEVNULL,
                                  check=True).returncode)
        time.sleep(max(0, following - time.monotonic()))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main():
    build, seconds = Path(sys.argv[1]).resolve(), float(sys.argv[2])
    monitor = Monitor(build)
    ran, resident, scrapes, health, page = [], [], [], [], 0
    # Brings the libraries and keeps them: what the first program of all loses is another matter.
    first = subprocess.Popen([build / "sim/launch", "--launches", str(LAUNCHES), "--hold",
                              "1000000"])
    time.sleep(3)
    until = time.monotonic() + seconds
    loops = [threading.Thread(target=loop, args=(build / "sim/launch", until, ran))
             for _ in range(LOOPS)]
    for thread in loops:
        thread.start()
    while time.monotonic() < until:
        took, size = monitor.ask("/metrics")
        scrapes.append(took)
        page = max(page, size)
        for _ in range(5):
            health.append(monitor.ask("/healthz")[0])
            time.sleep(0.1)
        resident.append(monitor.resident())
    for thread in loops:
        thread.join()
    first.kill()
    first.wait()
    time.sleep(AFTER)
    monitor.ask("/metrics")
    time.sleep(2)
    after = monitor.resident()
    status = monitor.stop()
    counted = sum(launches for (pid, _), launches in monitor.launches.items() if pid != first.pid)
    print(f"| {len(ran)} honest programs of {LAUNCHES} launches in {seconds:.0f} s, "
          f"60 a second | {max(resident):.0f}, "
          f"{after:.0f} after {AFTER} s | {max(health):.2f} s | launches counted {counted} "
          f"of {len(ran) * LAUNCHES}, lost: "
          f"{monitor.lost or 'none'}; page {page / 1e6:.1f} MB; "
          f"scrape p50 {percentile(scrapes, 0.5):.2f} s, "
          f"p99 {percentile(scrapes, 0.99):.2f} s, most {max(scrapes):.2f} s |")
    return 0 if status == 0 and (counted == len(ran) * LAUNCHES or monitor.lost) else 1


if __name__ == "__main__":
    sys.exit(main())
