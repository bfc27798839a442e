# SPDX-License-Identifier: BSD-2-Clause
"""What a call costs the watched program: with no probe, with probes that do nothing,
with gpuprobe's commands, with bpftrace, and with a tracer of the usual design (bench/usual.c)."""
import contextlib
import tempfile

import peers
from setup import figure, ratios, spread, table, verdict

TITLE = "Cost of a call"
ORDER = 10
THREADS = (1, 2, 8)
# Of bench/calls.c: what it is, and the probed functions behind it.
KINDS = {
    "launch": ("a launch", ["cuLaunchKernel"]),
    "allocation": ("an allocation and its free, two functions", ["cuMemAlloc_v2", "cuMemFree_v2"]),
    "user": ("an allocation and its free by the runtime, four functions",
             ["cudaMalloc", "cudaFree"]),
    "copy": ("a copy of 64 bytes", ["cuMemcpyHtoD_v2"]),
    "wait": ("a wait for an idle stream", ["cuStreamSynchronize"]),
    "getter": ("a getter", ["cuCtxGetDevice"]),
}
DRIVER = [name for _, names in KINDS.values() for name in names if not name.startswith("cuda")]
RUNTIME = KINDS["user"][1]
THREADED = ("launch", "allocation", "copy", "getter")  # measured by several threads, too
TABLE_KINDS = ("launch", "copy")  # what bench/bpftrace_table.bt shows
TRACED = "memory,launch,copy,sync,cuCtxGetDevice"

TOOLS = {
    "alone": "no probe",
    "entry": "an empty probe at the entry: the floor",
    "session": "an empty session probe, entry and return",
    "monitor": "`gpuprobe`",
    "stat": "`gpuprobe stat`",
    "getters": "`gpuprobe stat --getters`",
    "diagnose": "`gpuprobe diagnose --stack off`",
    "memleak": "`gpuprobe memleak`",
    "json": f"`gpuprobe trace -e {TRACED} --format json -O FILE`",
    "tsv": "the same, `--format tsv`",
    "slow": "the usual design; the reader prints, and loses",
    "keeps": "the usual design; the reader only counts, to keep up",
    "count": "`bpftrace`, `@[arg0] = count()`",
    "table": "`bpftrace bench/bpftrace_table.bt` into a file",
}
# Without --getters only the tracer probes getters; the usual design and the table probe
# the driver alone.
WITHOUT = {"getters": [kind for kind in KINDS if kind != "getter"], "slow": ["user"],
           "keeps": ["user"], "table": [kind for kind in KINDS if kind not in TABLE_KINDS]}
QUICK = {"tools": ("alone", "entry", "session", "monitor", "stat", "slow"),
         "kinds": ("launch", "allocation", "copy", "wait")}

SHORT = {"entry": "an empty entry probe", "session": "an empty session probe",
         "monitor": "the monitor", "stat": "`stat`",
         "json": "`trace --format json`", "slow": "the usual design, slow reader that loses",
         "keeps": "the usual design, reader that keeps up"}
# What is measured, with what it is compared, and at most how often as much it may be.
BARS = (
    ("launch", "monitor", "entry", 1.05),
    ("copy", "monitor", "session", 1.10),
    ("wait", "monitor", "session", 1.10),
    ("allocation", "monitor", "session", 1.30),
    ("user", "monitor", "session", 1.30),
    ("launch", "monitor", "slow", 0.58),
    ("launch", "monitor", "keeps", 0.15),
    ("launch", "stat", "session", 1.25),
    ("launch", "json", "session", 1.25),
    ("copy", "json", "session", 1.25),
)
# This function has an empty probe at its entry and no other: its time shows how fast the machine is
# at the moment, so that values measured some seconds apart can be compared.
YARDSTICK = "cuProfilerStop"
PARTS = ("low", "middle", "yardsticks", "yardstick")  # as bench/calls.c prints them


@contextlib.contextmanager
def tool(setup, name, directory):
    """The tool for the time of the block; gives what tells its events and losses, or None."""
    libraries = [setup.libcuda, setup.libcudart]
    words = {"monitor": (), "stat": ("stat",), "getters": ("stat", "--getters"),
             "diagnose": ("diagnose", "--stack", "off"), "memleak": ("memleak", "60")}
    with contextlib.ExitStack() as stack:
        if name in ("entry", "session"):
            stack.enter_context(setup.empty("entry" if name == "entry" else "both",
                                            DRIVER + RUNTIME))
            yield None
        elif name in words:
            stack.enter_context(setup.gpuprobe(*words[name], libraries=libraries))
            yield None
        elif name in ("json", "tsv"):
            yield stack.enter_context(setup.gpuprobe("trace", "-e", TRACED, "--format", name, "-O",
                                                     f"{directory}/trace", libraries=libraries))
        elif name in ("slow", "keeps"):
            yield stack.enter_context(peers.usual(setup, "print" if name == "slow" else "count",
                                                  DRIVER))
        elif name == "count":
            script = peers.counting_script({setup.libcuda: DRIVER, setup.libcudart: RUNTIME})
            stack.enter_context(peers.bpftrace(script, f"{directory}/count", len(DRIVER + RUNTIME)))
            yield None
        elif name == "table":
            yield stack.enter_context(peers.bpftrace(peers.table_script(setup.libcuda),
                                                     f"{directory}/table", 14))
        else:
            yield None


def configurations(name, quick):
    """(kind, threads) that are measured with the tool."""
    kinds = [kind for kind in (QUICK["kinds"] if quick else KINDS)
             if kind not in WITHOUT.get(name, ())]
    return [(kind, threads) for kind in kinds
            for threads in (THREADS if kind in THREADED and not quick else (1,))]


def one_round(setup, found, losses):
    """Adds the nanoseconds of each tool's calls, and the share of its events that was lost."""
    for name in QUICK["tools"] if setup.quick else TOOLS:
        with tempfile.TemporaryDirectory() as directory, tool(setup, name, directory) as told:
            for kind, threads in configurations(name, setup.quick):
                of = found.setdefault(kind, {}).setdefault(str(threads), {})
                values = of.setdefault(name, {part: [] for part in PARTS})
                numbers = setup.numbers("-y", "-t", threads, kind, 80 if setup.quick else 110)
                for part, number in zip(PARTS, numbers):
                    values[part].append(number)
        if told is not None:
            losses.setdefault(name, []).append(told.lost / max(told.lost + told.events, 1))


def over(values, alone):
    """A call's nanoseconds more than unprobed, of each round."""
    return [a - b for a, b in zip(values, alone)]


def compare(found, kind, these, those):
    """What these add to a call in what those add, and whole calls in whole calls."""
    tools = found.get(kind, {}).get("1", {})
    if these not in tools or those not in tools:
        return None
    alone, these, those = (tools[name]["yardsticks"] for name in ("alone", these, those))
    return {"cost": figure(ratios(over(these, alone), over(those, alone))),
            "call": figure(ratios(these, those))}


def least_yardstick(found):
    """Nanoseconds of it when the machine was least busy with other things."""
    return min(min(values["yardstick"]) for by_threads in found.values()
               for values in by_threads["1"].values())


def summarize(of, threads, yardstick_ns):
    """The figures of one kind and number of threads. The cost added to a call is scaled by the
    yardstick for one thread. For several threads it is the middle of the stretches, since their
    contention is what is measured."""
    part, unit = ("yardsticks", yardstick_ns) if threads == "1" else ("middle", 1)
    return {name: {"over": figure([ns * unit for ns in over(values[part], of["alone"][part])]),
                   **{other: figure(values[other]) for other in PARTS}}
            for name, values in of.items()}


def measure(setup):
    found, losses = {}, {}
    with setup.empty("entry", [YARDSTICK]):
        for _ in range(setup.rounds):
            one_round(setup, found, losses)
    compared = [{"kind": kind, "these": these, "those": those,
                 "bar": bar, "ratio": compare(found, kind, these, those)}
                for kind, these, those, bar in BARS]
    yardstick_ns = least_yardstick(found)
    return {
        "yardstick_ns": yardstick_ns,
        "calls": {kind: {threads: summarize(of, threads, yardstick_ns)
                         for threads, of in by_threads.items()}
                  for kind, by_threads in found.items()},
        "bars": [one for one in compared if one["ratio"]],
        "lost": {name: figure(shares) for name, shares in losses.items()},
    }


HEADS = {
    "1": "One thread:",
    "2": "Two threads, by the median of the stretches, without the yardstick. "
        "The simulation's own locks are included:",
    "8": "Eight threads, the same:",
}


def bar_row(one):
    ratio, name = one["ratio"], KINDS[one["kind"]][0]
    return [f"{name}, {SHORT[one['these']]}", SHORT[one["those"]], spread(ratio["cost"], "{:.2f}"),
            spread(ratio["call"], "{:.2f}"), verdict(ratio["cost"]["median"], one["bar"])]


def cell(of, name):
    if name not in of:
        return ""
    call = f"{of[name]['middle']['median']:,.0f}"
    return call if name == "alone" else f"{spread(of[name]['over'])}; {call}"


def cost_table(result, threads):
    kinds = [kind for kind, by_threads in result["calls"].items() if threads in by_threads]
    names = [name for name in TOOLS
             if any(name in result["calls"][kind][threads] for kind in kinds)]
    return table(["", *(KINDS[kind][0] for kind in kinds)],
                 [[TOOLS[name], *(cell(result["calls"][kind][threads], name) for kind in kinds)]
                  for name in names])


def show(result):
    text = f"""Nanoseconds of the calling thread's CPU time that a call takes more than unprobed;
after the semicolon, the measured time of the whole call. `bench/calls.c` calls functions of the
simulated driver:

- a launch: `cuLaunchKernel`;
- an allocation and its free: `cuMemAlloc_v2` and `cuMemFree_v2`, two probed functions; four with
  the runtime;
- a copy: `cuMemcpyHtoD_v2` from pageable memory;
- a wait: `cuStreamSynchronize`;
- a getter: `cuCtxGetDevice`.

`memleak` probes allocations, frees and waits. Only the tracer and `--getters` probe getters. The
small figures of other tools there are noise. The usual design is `bench/usual.c`: a perf event for
each entry and return, and an event into a ring at each. Its counting reader keeps up if it finds a
free core; each event then wakes it.

Each tool runs with all its probes in while each kind of call is measured. Compared values are
therefore some seconds apart, and the speed of a core depends on the load of the others. For this
reason each stretch of 500 calls is followed by 50 of a yardstick, `{YARDSTICK}` with an empty probe
at its entry, which no tool watches. The value for one thread is the median of a stretch's time over
its yardstick's, times the {result['yardstick_ns']:,.0f} ns that the yardstick took at least.

Bars, by the median of the time that one adds to a call over the time that the other adds. The next
column compares whole calls:

""" + table(["what", "compared with", "added / added", "call / call", "bar"],
            map(bar_row, result["bars"]))
    for threads in map(str, THREADS):
        if any(threads in by_threads for by_threads in result["calls"].values()):
            text += "\n" + HEADS[threads] + "\n\n" + cost_table(result, threads)
    lost = [f"{TOOLS[name]}: {spread(shares, '{:.1%}')}" for name, shares in result["lost"].items()]
    return text + f"\nEvents lost meanwhile (`bpftrace`: lines): {'; '.join(lost)}.\n"
