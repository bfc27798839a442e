# SPDX-License-Identifier: BSD-2-Clause
"""The load that the tracer bears: the highest rate of calls without loss, and the losses at twice
that; the bytes of an event, the reader's CPU; and the lines a second of its table beside those of
bpftrace.

Calls are made by two threads, and the reader has what they leave of the cores. Each run adds up:
lines written and calls lost are the calls that were made, or the benchmark fails."""
import os
import signal
import subprocess
import tempfile
import time

import peers
from setup import cpu_nanoseconds, figure, ratios, spread, table

TITLE = "Events of the tracer"
ORDER = 20
# Of bench/calls.c, and the family of events.
KINDS = {"launch": "a launch", "copy": "a copy of 64 bytes"}
FORMS = ("json", "tsv")
# The latter call at twice the rate: they leave the reader less of the cores.
THREADS, MANY_THREADS = 2, 16
# Calls a second.
STEPS = (400_000, 600_000, 700_000, 800_000, 900_000, 1_000_000, 1_200_000, 1_600_000)
PATIENCE = 2  # steps in a row that reach no more
RING = 1 << 20  # of what is measured with the reader stopped
COLUMNS = "time,process,pid,tid,event,details,duration,result"
BAR_LINES = 10  # times bpftrace's


def lines_of(form, path):
    """Lines of calls in the file."""
    with open(path, "rb") as file:
        if form == "json":
            return sum(1 for line in file if b'"event"' in line)
        return sum(1 for line in file if not line.startswith(b"#")) - 1  # the head


def wait_until_idle(pid):
    """The reader has taken in what there is."""
    used = 0
    while cpu_nanoseconds(pid) - used > 2e6:
        used = cpu_nanoseconds(pid)
        time.sleep(0.1)


def bear(setup, directory, form, kind, rate, seconds, threads=THREADS):
    """A run at `rate` calls a second of all threads together."""
    path = f"{directory}/trace"
    with setup.gpuprobe("trace", "--comm", "calls", "-e", kind, "--format", form, "-O",
                        path) as process:
        before = cpu_nanoseconds(process.pid)
        calls, took, _ = setup.numbers("-t", threads, kind, rate / threads, seconds)
        wait_until_idle(process.pid)
        used = cpu_nanoseconds(process.pid) - before
    lines, size = lines_of(form, path), os.path.getsize(path)
    if lines + process.lost != calls or lines != process.events:
        raise RuntimeError(
            f"{form}, {kind}: {lines} lines and {process.lost} lost are not the {calls:.0f} calls")
    return {"asked": rate, "rate": calls / took, "lost": process.lost,
            "share": process.lost / calls, "reader_ns": used / calls,
            "reader_cpu": used / took / 1e9, "line_bytes": size / max(lines, 1)}


def ramp(setup, directory, form, kind, seconds):
    """The highest rate reached without loss; the first step that lost calls,
    or the last before the rate stopped rising; and the loss at twice the highest rate."""
    best, worse = None, 0
    for rate in STEPS[::2] if setup.quick else STEPS:
        run = bear(setup, directory, form, kind, rate, seconds)
        if not run["lost"] and (not best or run["rate"] > best["rate"]):
            best, worse = run, 0
        else:
            worse += 1
        if run["lost"] or worse == PATIENCE:
            break
    best = best or run
    return {"highest": best, "last": run,
            "twice": bear(setup, directory, form, kind, 2 * best["rate"], seconds, MANY_THREADS)}


def stopped(setup, directory, kind):
    """Events that a ring of RING bytes holds while the reader is stopped,
    and whether the rest is counted as lost."""
    with setup.gpuprobe("trace", "--comm", "calls", "-e", kind, "--format", "tsv", "-O",
                        f"{directory}/trace", "--buffer", RING) as process:
        process.send_signal(signal.SIGSTOP)
        try:
            calls, _, _ = setup.numbers(kind, 0, 0.2)
        finally:
            process.send_signal(signal.SIGCONT)
        wait_until_idle(process.pid)
    if process.events + process.lost != calls:
        raise RuntimeError(
            f"{process.events} written and {process.lost} lost are not the {calls:.0f} calls")
    return {"calls": calls, "held": process.events, "lost": process.lost,
            "ring_bytes": RING / process.events}


# --- lines of the table ---

def our_lines(setup, reader, caller, seconds):
    """Lines a second of the table to /dev/null while one thread calls as fast as it can."""
    with setup.gpuprobe("trace", "--comm", "calls", "-e", "launch,copy", "--format", "table", "-O",
                        "/dev/null", "-o", COLUMNS) as process:
        os.sched_setaffinity(process.pid, {reader})
        calls, took = call(setup, caller, seconds)
    if process.events + process.lost != calls:
        raise RuntimeError(
            f"{process.events} lines and {process.lost} lost are not the {calls:.0f} calls")
    return process.events / took, process.lost


def their_lines(setup, path, reader, caller, seconds):
    """Lines a second that bpftrace prints meanwhile, including those from its buffers after
    the caller's end."""
    with peers.bpftrace(peers.table_script(setup.libcuda), path, 14, core=reader) as peer:
        _, took = call(setup, caller, seconds)
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = sum("cuLaunchKernel" in line for line in file)
    return lines / took, peer.lost


def call(setup, core, seconds):
    """As fast as one thread on the core can: (calls, seconds)."""
    done = subprocess.run(["taskset", "-c", str(core), setup.build / "bench/calls",
                           "launch", "0", str(seconds)],
                          stdout=subprocess.PIPE, check=True, text=True)
    return tuple(map(float, done.stdout.split()[:2]))


def table_lines(setup, directory, rounds, seconds):
    reader, caller = sorted(os.sched_getaffinity(0))[:2]
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(our_lines(setup, reader, caller, seconds))
        theirs.append(their_lines(setup, f"{directory}/lines", reader, caller, seconds))
    return {"ours": {"rate": figure([rate for rate, _ in ours]),
                     "lost": figure([lost for _, lost in ours])},
            "theirs": {"rate": figure([rate for rate, _ in theirs]),
                       "lost": figure([lost for _, lost in theirs])},
            "ratio": figure(ratios([rate for rate, _ in ours], [rate for rate, _ in theirs]))}


def measure(setup):
    chosen = [("launch", "json")] if setup.quick else [(kind, form) for kind in KINDS
                                                       for form in FORMS]
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(dir=memory) as directory:
        ramps = [{"kind": kind, "form": form,
                  **ramp(setup, directory, form, kind, 0.5 if setup.quick else 1)}
                 for kind, form in chosen]
        held = {kind: stopped(setup, directory, kind) for kind in KINDS}
        lines = None if setup.quick else table_lines(setup, directory, 3, 1.5)
    return {"ramps": ramps, "stopped": held, "table": lines}


def ramp_row(one):
    best = one["highest"]
    others = [f"{run['asked']:,.0f}: {run['rate']:,.0f}, {run['share']:.1%}"
              for run in (one["last"], one["twice"])]
    return [KINDS[one["kind"]], f"`{one['form']}`", f"{best['rate']:,.0f}",
            f"{best['line_bytes']:.0f}", f"{best['reader_ns']:,.0f}", f"{best['reader_cpu']:.0%}",
            *others]


def show(result):
    text = f"""{THREADS} threads call at a rate that rises in steps until calls are lost or the rate
does not rise any more. Then {MANY_THREADS} threads, which leave the reader less CPU, call at twice
the highest rate without loss. The command is `gpuprobe trace -e FAMILY --format FORM -O FILE`, with
FILE in memory. Callers and reader share the cores, so callers may not reach the requested rate. In
each run, lines and lost calls must add up to the calls made; otherwise the benchmark fails.

""" + table(["what", "format", "highest calls/s without loss", "bytes a line", "reader, ns a call",
             "reader, of a core", "last step requested: reached, lost",
             "twice the highest: reached, lost"], map(ramp_row, result["ramps"])) + f"""
With the reader stopped, the number of calls that a ring of {RING >> 10} KiB holds gives the bytes
of an event. The rest is lost, and counted exactly.

""" + table(["what", "calls", "held", "lost, counted", "bytes in the ring"], [
        [KINDS[kind], f"{held['calls']:,.0f}", f"{held['held']:,}", f"{held['lost']:,}",
         f"{held['ring_bytes']:.0f}"]
        for kind, held in result["stopped"].items()])
    lines = result["table"]
    if not lines:
        return text
    return text + f"""
Lines of the table a second. One thread launches as fast as the probes let it, on its own core; the
reader has another. gpuprobe writes to /dev/null. For bpftrace, only printed lines count, not lost
ones. The bar is {BAR_LINES} times bpftrace's.

""" + table(["what", "lines/s", "lost"], [
        [f"`gpuprobe trace -e launch,copy --format table -O /dev/null -o {COLUMNS}`",
         spread(lines["ours"]["rate"]), spread(lines["ours"]["lost"])],
        ["`bpftrace bench/bpftrace_table.bt`",
         spread(lines["theirs"]["rate"]), spread(lines["theirs"]["lost"])],
        ["ratio", spread(lines["ratio"], "{:.1f}"),
         "met" if lines["ratio"]["median"] >= BAR_LINES
         else f"missed by {BAR_LINES - lines['ratio']['median']:.1f}"],
    ])
