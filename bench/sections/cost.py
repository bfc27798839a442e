# SPDX-License-Identifier: BSD-2-Clause
"""What a call costs the watched program: with no probe, with probes that do nothing, with gpuprobe's commands, with
bpftrace, and with a tracer of the usual design (bench/usual.c)."""
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
    "allocation": ("an allocation and its free", ["cuMemAlloc_v2", "cuMemFree_v2"]),
    "user": ("the same by the runtime", ["cudaMalloc", "cudaFree"]),
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
# Without --getters nobody but the tracer probes those; the usual design and the table are of the driver.
WITHOUT = {"getters": [kind for kind in KINDS if kind != "getter"], "slow": ["user"], "keeps": ["user"],
           "table": [kind for kind in KINDS if kind not in TABLE_KINDS]}
QUICK = {"tools": ("alone", "entry", "session", "monitor", "stat", "slow"),
         "kinds": ("launch", "allocation", "copy", "wait")}

# What is measured, in what, the bar, and whether the middle of the stretches counts rather than the low end.
BARS = (
    ("launch", "monitor", "entry", 1.05, "low"),
    ("copy", "monitor", "session", 1.10, "low"),
    ("wait", "monitor", "session", 1.10, "low"),
    ("allocation", "monitor", "session", 1.30, "low"),
    ("user", "monitor", "session", 1.30, "low"),
    ("launch", "monitor", "slow", 0.58, "low"),
    ("launch", "monitor", "keeps", 0.15, "middle"),
    ("launch", "stat", "session", 1.25, "low"),
    ("launch", "json", "session", 1.25, "low"),
    ("copy", "json", "session", 1.25, "low"),
)


@contextlib.contextmanager
def tool(setup, name, directory):
    """The tool for the time of the block; gives what tells its events and losses, or None."""
    libraries = [setup.libcuda, setup.libcudart]
    words = {"monitor": (), "stat": ("stat",), "getters": ("stat", "--getters"), "diagnose": ("diagnose", "--stack", "off"),
             "memleak": ("memleak", "60")}
    with contextlib.ExitStack() as stack:
        if name in ("entry", "session"):
            stack.enter_context(setup.empty("entry" if name == "entry" else "both", DRIVER + RUNTIME))
            yield None
        elif name in words:
            stack.enter_context(setup.gpuprobe(*words[name], libraries=libraries))
            yield None
        elif name in ("json", "tsv"):
            yield stack.enter_context(setup.gpuprobe("trace", "-e", TRACED, "--format", name, "-O", f"{directory}/trace",
                                                     libraries=libraries))
        elif name in ("slow", "keeps"):
            yield stack.enter_context(peers.usual(setup, "print" if name == "slow" else "count", DRIVER))
        elif name == "count":
            script = peers.counting_script({setup.libcuda: DRIVER, setup.libcudart: RUNTIME})
            stack.enter_context(peers.bpftrace(script, f"{directory}/count", len(DRIVER + RUNTIME)))
            yield None
        elif name == "table":
            yield stack.enter_context(peers.bpftrace(peers.table_script(setup.libcuda), f"{directory}/table", 14))
        else:
            yield None


def configurations(name, quick):
    """(kind, threads) that are measured with the tool."""
    kinds = [kind for kind in (QUICK["kinds"] if quick else KINDS) if kind not in WITHOUT.get(name, ())]
    return [(kind, threads) for kind in kinds for threads in (THREADS if kind in THREADED and not quick else (1,))]


def one_round(setup, found, losses):
    """Adds the nanoseconds of each tool's calls, and the share of its events that was lost."""
    for name in QUICK["tools"] if setup.quick else TOOLS:
        with tempfile.TemporaryDirectory() as directory, tool(setup, name, directory) as told:
            for kind, threads in configurations(name, setup.quick):
                low, middle = setup.stretches(kind, 60 if setup.quick else 120, threads)
                values = found.setdefault(kind, {}).setdefault(str(threads), {}).setdefault(name, {"low": [], "middle": []})
                values["low"].append(low)
                values["middle"].append(middle)
        if told is not None:
            losses.setdefault(name, []).append(told.lost / max(told.lost + told.events, 1))


def over(values, alone):
    """A call's nanoseconds more than unprobed, of each round."""
    return [a - b for a, b in zip(values, alone)]


def compare(found, kind, these, those, part):
    """What these add to a call in what those add, and whole calls in whole calls."""
    tools = found.get(kind, {}).get("1", {})
    if these not in tools or those not in tools:
        return None
    alone, these, those = (tools[name][part] for name in ("alone", these, those))
    return {"cost": figure(ratios(over(these, alone), over(those, alone))), "call": figure(ratios(these, those))}


def summarize(of, threads):
    """The figures of one kind and number of threads: of one thread by the low end of its stretches, of several by
    the middle, since how they meet is what is asked."""
    part = "low" if threads == "1" else "middle"
    return {name: {"call": figure(values[part]), "over": figure(over(values[part], of["alone"][part])),
                   "middle": figure(values["middle"])} for name, values in of.items()}


def measure(setup):
    found, losses = {}, {}
    for _ in range(setup.rounds):
        one_round(setup, found, losses)
    compared = [{"kind": kind, "these": these, "those": those, "bar": bar, "part": part,
                 "ratio": compare(found, kind, these, those, part)} for kind, these, those, bar, part in BARS]
    return {
        "calls": {kind: {threads: summarize(of, threads) for threads, of in by_threads.items()}
                  for kind, by_threads in found.items()},
        "bars": [one for one in compared if one["ratio"]],
        "lost": {name: figure(shares) for name, shares in losses.items()},
    }


def bar_row(one):
    ratio, name = one["ratio"], KINDS[one["kind"]][0]
    return [f"{name}: {TOOLS[one['these']]}", TOOLS[one["those"]], spread(ratio["cost"], "{:.2f}"),
            spread(ratio["call"], "{:.2f}"), verdict(ratio["cost"]["median"], one["bar"])]


def cell(of, name):
    if name not in of:
        return ""
    call = f"{of[name]['call']['median']:,.0f}"
    return call if name == "alone" else f"{spread(of[name]['over'])}; {call}"


def cost_table(result, threads):
    kinds = [kind for kind, by_threads in result["calls"].items() if threads in by_threads]
    names = [name for name in TOOLS if any(name in result["calls"][kind][threads] for kind in kinds)]
    return table(["", *(KINDS[kind][0] for kind in kinds)],
                 [[TOOLS[name], *(cell(result["calls"][kind][threads], name) for kind in kinds)] for name in names])


def show(result):
    text = """Nanoseconds of the calling thread's processor time that a call takes more than unprobed, median (least to most
of the rounds); behind the semicolon the whole call. `bench/calls.c` calls functions of the simulated driver: a
launch is `cuLaunchKernel`, an allocation and its free `cuMemAlloc_v2` and `cuMemFree_v2`, two probed functions, by
the runtime four; a copy `cuMemcpyHtoD_v2` from pageable memory, a wait `cuStreamSynchronize`, a getter
`cuCtxGetDevice`, which only the tracer and `--getters` probe: what the others add to it is what noise there is.
Each tool runs with all its probes in while each kind of call is measured, so that compared tools are some seconds
apart. The usual design is `bench/usual.c`: a perf event for each entry and return, an event into a ring at each.

Bars, by what is added to a call (not by the whole call, which is stated beside it):

""" + table(["what", "compared with", "added / added", "call / call", "bar"], map(bar_row, result["bars"]))
    for threads in map(str, THREADS):
        if any(threads in by_threads for by_threads in result["calls"].values()):
            text += f"\n{'One thread' if threads == '1' else threads + ' threads'}:\n\n" + cost_table(result, threads)
    lost = [f"{TOOLS[name]}: {spread(shares, '{:.1%}')}" for name, shares in result["lost"].items()]
    return text + f"\nLost of the events meanwhile (of `bpftrace`, lines): {'; '.join(lost)}.\n"
