# SPDX-License-Identifier: BSD-2-Clause
"""The table of slices: JSON lines of run.py, of one machine or of several runs, put together."""
import json

from measured import KINDS
import outcome


def read(paths):
    """The lines of the files."""
    lines = []
    for path in paths:
        with open(path) as file:
            lines += [json.loads(line) for line in file if line.strip()]
    return lines


def merged(lines):
    """{program: {"pairs", "failed", "bpf"}} of all slices, in the order of KINDS. A program that
    failed in one slice and ran in another did not fail."""
    found = {}
    for line in sorted(lines, key=lambda line: list(KINDS).index(line["program"])):
        one = found.setdefault(line["program"], {"pairs": [], "failed": None, "bpf": None})
        one["pairs"] += line["pairs"]
        one["bpf"] = line["bpf"] or one["bpf"]
        one["failed"] = line["failed"] or one["failed"]
    for one in found.values():
        if one["pairs"]:
            one["failed"] = None
    return found


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in lines)


def percent(value):
    return f"{100 * value:+.2f} %"


def span(found, form=percent):
    if not found:
        return "-"
    if found["low"] is None:
        return form(found["mean"])
    return f"{form(found['mean'])} ({form(found['low'])} to {form(found['high'])})"


def verdict(found, bar):
    if not found or found["high"] is None:
        return "-"
    return f"≤ {100 * bar:g} %: {'met' if found['high'] <= bar else 'MISSED'}"


def price_rows(programs, costs):
    for name, one in programs.items():
        kind, pairs = KINDS[name], one["pairs"]
        if kind.calls:
            continue
        if not pairs:
            yield [kind.title, f"not measured: {one['failed']}", *["-"] * 7]
            continue
        step, calls = outcome.plain_step(pairs)["mean"], outcome.calls_of_step(pairs)
        steady = outcome.paced(pairs)
        share = outcome.predicted(calls, costs, step)
        rest = None if share is None else {key: steady[key] if steady[key] is None
                                           else steady[key] - share
                                           for key in ("mean", "low", "high")}
        yield [kind.title, f"{step / 1e3:,.1f}", f"{sum(calls.values()):,.1f}", span(steady),
               "-" if share is None else percent(share), span(rest),
               span(outcome.paced(pairs, "first")), len(pairs), verdict(steady, kind.bar)]


def detail_rows(programs):
    for name, one in programs.items():
        if not one["pairs"]:
            continue
        pairs, bpf = one["pairs"], one["bpf"]
        by_length = "; ".join(
            f"{seconds:g} s: {span(outcome.paced(some))}" for seconds, some in lengths(pairs))
        yield [KINDS[name].title, span(outcome.slowdown(pairs)),
               span(outcome.slowdown(pairs, "steady_mean", "plain_mean")),
               by_length,
               f"{max(one['slowest'] for one in pairs) / 1e6:,.1f} "
               f"({max(one['slowest_plain'] for one in pairs) / 1e6:,.1f})",
               f"{bpf['runs']:,.1f}, {bpf['ns']:,.0f} ns" if bpf else "-"]


def lengths(pairs):
    """[(seconds of a window, its pairs)]."""
    return [(seconds, [one for one in pairs if one["seconds"] == seconds])
            for seconds in sorted({one["seconds"] for one in pairs})]


def call_rows(programs, costs):
    for name, one in programs.items():
        if KINDS[name].calls:
            yield [KINDS[name].title,
                   span(costs.get(name), "{:,.0f}".format) if one["pairs"]
                   else f"not measured: {one['failed']}", len(one["pairs"])]


HOW = """gpuprobe is attached to a running program and detached in turn. A figure is the mean of the
pairs with its 95 % interval (Student's t): the trimmed mean of a window's steps over that of the
time without gpuprobe around it. Between two steps a program runs a fixed piece of Python, and
a step counts by the time of that, since CPUs change their speed (not so in the loops of calls, and
where a program has several threads). "First second" is the second after the last probe came in,
which is not part of the window. "Predicted" is the calls of a step times what the loops of calls
below cost; "rest" is what was measured less that."""
DETAILS = """Steps by the clock alone, trimmed and untrimmed means; windows of each length by
themselves; the slowest step while gpuprobe came, was there or went (and without it); runs of BPF
programs and their time in a step, as the kernel counts."""


def machine(line):
    """One slice's machine."""
    about = line["machine"]
    pinned = "pinned" if about["pinned"] else "not pinned"
    return (f"{about['date']}: {about['gpu']}; {about['cpu']}, {about['cpus']} CPUs, Linux "
            f"{about['kernel']}, {about['torch']}, {about['gpuprobe']}, {pinned}")


def page(lines):
    """The page as Markdown."""
    programs = merged(lines)
    costs = outcome.costs({name: one["pairs"] for name, one in programs.items()
                           if KINDS[name].calls and one["pairs"]})
    parts = [HOW, "\n".join(f"- {text}" for text in sorted({machine(line) for line in lines})),
             table(["program", "µs a step", "calls a step", "slower", "predicted", "rest",
                    "first second", "pairs", "bar"], price_rows(programs, costs)),
             DETAILS,
             table(["program", "slower, by the clock", "untrimmed", "by window", "slowest step, ms",
                    "BPF in a step"], detail_rows(programs)),
             table(["loop of calls", "ns a call", "pairs"], call_rows(programs, costs))]
    return "\n\n".join(parts) + "\n"
