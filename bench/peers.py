# SPDX-License-Identifier: BSD-2-Clause
"""Other tracers, for the time of a with block: bpftrace with a script, and the usual design
(bench/usual.c). After the block the object that each gives has its losses."""
import contextlib
import os
import pathlib
import re
import subprocess
import time

from setup import START_SECONDS, stop, wait_for_lines

LAST_SECONDS = 120  # that bpftrace may take to print what it still has
HERE = pathlib.Path(__file__).resolve().parent


class Peer:
    """A running one: process; after the block events and lost, None where it does not say."""

    def __init__(self, process):
        self.process = process
        self.events = self.lost = None


def perf_events(pid):
    """How many perf events the process has."""
    count = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            count += "perf" in os.readlink(f"/proc/{pid}/fd/{fd}")
    return count


def wait_for_perf_events(process, least):
    """Waits until bpftrace has so many perf events and no more come:
    it does not say when its probes are in."""
    end, last, since = time.monotonic() + START_SECONDS, -1, 0
    while last < least or time.monotonic() - since < 0.5:
        count = perf_events(process.pid)
        if count != last:
            last, since = count, time.monotonic()
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            raise RuntimeError("bpftrace is not ready")
        time.sleep(0.02)


def counting_script(functions):
    """{library: [function]}: how often each was called by its first argument."""
    sites = [f"uprobe:{os.path.realpath(library)}:{name}" for library, names in functions.items()
             for name in names]
    return ",\n".join(sites) + "\n{\n\t@[arg0] = count();\n}\n"


def table_script(library):
    text = (HERE / "bpftrace_table.bt").read_text(encoding="utf-8")
    return text.replace('"LIBCUDA"', f'"{os.path.realpath(library)}"')


@contextlib.contextmanager
def bpftrace(script, path, probes, core=None):
    """bpftrace with the script, which has so many probes, printing into the file at `path`."""
    pin = ["taskset", "-c", str(core)] if core is not None else []
    with open(path, "wb") as out:
        process = subprocess.Popen([*pin, "bpftrace", "-e", script], stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=subprocess.STDOUT)
    peer = Peer(process)
    try:
        wait_for_perf_events(process, probes)
        yield peer
    finally:
        stop(process, LAST_SECONDS)
    text = pathlib.Path(path).read_text(encoding="utf-8", errors="replace")
    peer.events = text.count("\n")
    peer.lost = sum(map(int, re.findall(r"Lost (\d+) events", text)))


@contextlib.contextmanager
def usual(setup, reader, functions):
    """The usual design on functions of libcuda: its reader prints (into nothing) or only counts."""
    process = subprocess.Popen([setup.build / "bench/usual", setup.libcuda, reader, *functions],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    peer = Peer(process)
    try:
        wait_for_lines(process, [b"ready"])
        yield peer
    finally:
        said = stop(process)
    peer.events, peer.lost = map(int, re.search(r"events (\d+), lost (\d+)", said).groups())
