# SPDX-License-Identifier: BSD-2-Clause
"""The resources that gpuprobe's monitor takes as its data grow: CPU time of a report, time and size
of a scrape of /metrics, how long its event loop answers nobody meanwhile, resident memory and
kernel memory of the maps; by live allocations, by kernels, by processes, and with much of all."""
import contextlib
import http.client
import math
import os
import pathlib
import socket
import subprocess
import threading
import time

from setup import cpu_nanoseconds, figure, map_bytes, resident_bytes, spread, table, verdict

TITLE = "Scale"
ORDER = 50
ALLOCATIONS = (10, 10_000, 1_000_000)
KERNELS = (10, 100, 1_000, 10_000)
PROCESSES = (1, 10, 100, 2_000, 5_000)
ALL = {"kernels": 10_000, "allocations": 1_000_000}
REPORT_SECONDS = 0.5
BARS = {"scrape": 0.050, "resident": 200e6, "processes": 0.200}
HOLD = ("--hold", "600")


# --- what is watched ---

@contextlib.contextmanager
def holder(*command):
    """A workload that says a line when it has done its work, and then stays."""
    with subprocess.Popen([*map(str, command), *HOLD], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            yield
        finally:
            process.kill()


def allocations(setup, count):
    return holder(setup.sim / "memory", "--pairs", 1, "--keep", count, "--size", 512, "--api",
                  "driver")


def kernels(setup, count):
    return holder(setup.sim / "launch", "--launches", count, "--kernels", count, "--api", "driver")


@contextlib.contextmanager
def processes(setup, count):
    """Each with one live allocation and one kernel."""
    command = [setup.sim / "forker", "--processes", str(count), "--pairs", "1", "--launches", "1",
               *HOLD]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as parent:
        children = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        try:
            while len(children.read_text().split()) < count:
                time.sleep(0.05)
            time.sleep(1)
            yield
        finally:
            for pid in children.read_text().split():
                os.kill(int(pid), 9)


@contextlib.contextmanager
def everything(setup):
    with kernels(setup, ALL["kernels"]), allocations(setup, ALL["allocations"]):
        yield


# --- what is asked of gpuprobe ---

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(client, path):
    """Seconds of an answer, and its bytes."""
    began = time.monotonic()
    client.request("GET", path)
    body = client.getresponse().read()
    return time.monotonic() - began, len(body)


class Gaps(threading.Thread):
    """Another client, which requests a trivial page without a pause and remembers the
    longest answers."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.client = http.client.HTTPConnection("127.0.0.1", port)
        self.longest, self.done = 0.0, False

    def run(self):
        while not self.done:
            self.longest = max(self.longest, ask(self.client, "/healthz")[0])
            time.sleep(0.001)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done = True
        self.join()


def report_cpu(process, reports):
    """Seconds of CPU time of a report, measured while gpuprobe does nothing but a report each
    REPORT_SECONDS."""
    before = cpu_nanoseconds(process.pid)
    time.sleep(reports * REPORT_SECONDS)
    return (cpu_nanoseconds(process.pid) - before) / 1e9 / reports


def look(setup, workload, reports, scrapes):
    """All figures of the monitor while there is that workload."""
    port = free_port()
    words = ("--metrics-addr", f"127.0.0.1:{port}", "--metrics-kernels", "10000",
             "--display-interval", REPORT_SECONDS)
    with setup.gpuprobe(*words) as process, workload:
        cpu = [report_cpu(process, 1) for _ in range(reports)]
        with Gaps(port) as gaps:
            time.sleep(reports * REPORT_SECONDS)
        report_gap = gaps.longest
        client = http.client.HTTPConnection("127.0.0.1", port)
        ask(client, "/metrics")  # the first one's buffers are new
        with Gaps(port) as gaps:
            times, sizes = zip(*(ask(client, "/metrics") for _ in range(scrapes)))
        return {"report": figure(cpu), "report_gap": report_gap,
                "scrape": figure(times), "scrape_gap": gaps.longest, "page": sizes[-1],
                "resident": resident_bytes(process.pid), "maps": map_bytes(process.pid)}


def measure(setup):
    small = 2 if setup.quick else None
    reports, scrapes = (1, 2) if setup.quick else (6, 10)
    found = {
        "allocations": {n: look(setup, allocations(setup, n), reports, scrapes)
                        for n in ALLOCATIONS[:small]},
        "kernels": {n: look(setup, kernels(setup, n), reports, scrapes) for n in KERNELS[:small]},
        "processes": {n: look(setup, processes(setup, n), reports, scrapes)
                      for n in PROCESSES[:small]},
    }
    if not setup.quick:
        found["all"] = look(setup, everything(setup), reports, scrapes)
    return found


# --- what is shown ---

def milliseconds(kept):
    return spread({key: kept[key] * 1e3 for key in ("median", "min", "max")}, "{:.1f}")


HEAD = ("report, CPU ms", "scrape, ms", "longest wait of others: reports, ms", "scrapes, ms",
        "/metrics", "resident memory", "maps")


def cells(found):
    return [milliseconds(found["report"]), milliseconds(found["scrape"]),
            f"{found['report_gap'] * 1e3:.1f}", f"{found['scrape_gap'] * 1e3:.1f}",
            f"{found['page'] / 1e3:,.0f} kB", f"{found['resident'] / 1e6:.1f} MB",
            f"{found['maps'] / 1e6:.1f} MB"]


# What is looked at for its growth: name, how to get it.
GROWTH = (
    ("report", lambda found: found["report"]["median"]),
    ("scrape", lambda found: found["scrape"]["median"]),
    ("/metrics", lambda found: found["page"]),
    ("resident memory", lambda found: found["resident"]),
    ("maps", lambda found: found["maps"]),
)


def power(sizes, amounts):
    """Between two sizes an amount grows as the size to this power."""
    return math.log(amounts[1] / amounts[0]) / math.log(sizes[1] / sizes[0])


def growth_rows(result):
    rows = []
    for what in ("allocations", "kernels", "processes"):
        sizes = sorted(map(int, result[what]))
        last = [result[what][size] if size in result[what] else result[what][str(size)]
                for size in sizes[-2:]]
        rows.append([what, f"{sizes[-2]:,} to {sizes[-1]:,}",
                     *(f"{power(sizes[-2:], [get(found) for found in last]):.2f}"
                       for _, get in GROWTH)])
    return rows


def longest_wait(found):
    return max(found["report_gap"], found["scrape_gap"])


def scrape_of_most(processes):
    """The bar for a scrape of the most processes."""
    most = {int(size): row for size, row in processes.items()}.get(PROCESSES[-1])
    if not most:
        return f"A scrape of {PROCESSES[-1]:,} processes was not measured."
    return (f"A scrape of {PROCESSES[-1]:,} processes: " +
            verdict(most["scrape"]["median"] * 1e3, BARS["processes"] * 1e3, "{:.0f} ms") + ".")


def show_all(result):
    found = result["all"]
    # What holds the loop up with less may not do so for longer.
    longest = max(map(longest_wait,
                      (found, *result["kernels"].values(), *result["allocations"].values())))
    processes, most = max(((int(size), longest_wait(row))
                           for size, row in result["processes"].items()), key=lambda of: of[1])
    return f"""
With {ALL['kernels']:,} kernels and {ALL['allocations']:,} live allocations together:

""" + table(HEAD, [cells(found)]) + f"""
Bars: scrape {verdict(found['scrape']['median'] * 1e3, BARS['scrape'] * 1e3, '{:.0f} ms')}; longest
block of the event loop, in this row and those of kernels and allocations above,
{verdict(longest * 1e3, BARS['scrape'] * 1e3, '{:.0f} ms')}; resident memory
{verdict(found['resident'] / 1e6, BARS['resident'] / 1e6, '{:.0f} MB')}. These bars do
not cover processes: {processes:,} of them blocked the loop for {most * 1e3:.0f} ms.
{scrape_of_most(result["processes"])}
"""


def show(result):
    return f"""The monitor with all sections, a report each {REPORT_SECONDS} s and
`--metrics-kernels 10000`. The CPU time of a report is all of gpuprobe's while it only makes
reports. "Longest wait of others" is the longest answer to a client that requests `/healthz` all the
time, during reports and during scrapes by another client: for so long the event loop, or the
machine, was busy.

""" + "".join(table([what, *HEAD], [[f"{int(size):,}", *cells(found)]
                                    for size, found in result[what].items()]) + "\n"
              for what in ("allocations", "kernels", "processes")) + """Growth between the two
largest sizes, as a power of the size: 1 is linear, 2 would be quadratic.

""" + table(["of", "from", *(name for name, _ in GROWTH)], growth_rows(result)) + \
        (show_all(result) if "all" in result else "")
