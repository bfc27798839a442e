#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The benchmark: runs its sections in turn, keeps the newest result of each in bench/results.json,
and writes docs/performance.md from that, whole. Text after the line `<!-- by hand -->` stays.

A section is a module in bench/sections with TITLE, ORDER (its place on the page), measure(setup),
which returns what it found as data for JSON, and show(result), which returns that as Markdown. One
that cannot run here has missing(setup), which returns why, or None; its former result stays.
"""
import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import re
import shlex
import signal
import sys
import time

from setup import Setup

HERE = pathlib.Path(__file__).resolve().parent
BY_HAND = "<!-- by hand -->\n"
HEAD = """# Performance

How much slower programs of PyTorch became with the monitor attached, with 95 % intervals:

| program | step | slower | pairs | GPU |
|---|---|---|---|---|
| training, launch-bound | 2.0 ms | 4.5 % (2.6 to 6.4) | 60 | H200 |
| training, launch-bound | 2.2 ms | 7.4 % (3.3 to 11.5) | 32 | H100 |
| LLM decoding, eager | 7.2 ms | 7.2 % (2.0 to 12.5) | 32 | H100 |
| training, launch-bound | 2.7 ms | 5.0 % (1.8 to 8.2) | 30 | H200, 29 November |
| LLM decoding, eager | 3.8 ms | 8.2 % (1.6 to 14.7) | 30 | H200, 29 November |
| training, GPU-bound | 19 ms | -0.01 % (-0.17 to 0.15) | 60 | H200 |

The bars are 3 % for the launch-bound ones, 0.5 % for the GPU-bound one, by the upper end. Compiled
and graph programs, threads and data-parallel training are not measured yet.

[overhead.md](overhead.md) has a summary of what gpuprobe costs; this page has the measurements.
`make bench` writes it, and `make bench-NAME` one section. Each section says when, where and with
which command it was measured. CUDA is simulated unless stated otherwise. Things to compare ran in
turn, A B C A B C. A figure is the median of the rounds, with the minimum and maximum in brackets.
`bench/results.json` has all values.
"""


def load_sections():
    """{name: module} in the order of the page."""
    names = [path.stem for path in (HERE / "sections").glob("*.py") if path.stem != "__init__"]
    modules = {name: importlib.import_module(f"sections.{name}") for name in names}
    return dict(sorted(modules.items(), key=lambda item: (item[1].ORDER, item[0])))


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return found.group(1) if found else platform.machine()


def run_section(module, setup, command):
    """Its result with the circumstances."""
    load, began = os.getloadavg()[0], time.monotonic()
    result = module.measure(setup)
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "kernel": platform.release(), "cpu": processor(),
        "cpus": os.cpu_count(), "load": round(load, 2),
        "load_at_end": round(os.getloadavg()[0], 2), "command": command, "quick": setup.quick,
        "rounds": setup.rounds, "seconds": round(time.monotonic() - began, 1), "result": result,
    }


def read_results(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def dump(value, indent=0):
    """As JSON: numbers of five digits, and what fits on a line on one."""
    if isinstance(value, float):
        return json.dumps(float(f"{value:.5g}"))
    if not isinstance(value, (dict, list)):
        return json.dumps(value)
    mark, close = "{}" if isinstance(value, dict) else "[]"
    items = [f"{json.dumps(str(key))}: {dump(one, indent + 1)}" for key, one in value.items()] \
        if isinstance(value, dict) else [dump(one, indent + 1) for one in value]
    line = mark + ", ".join(items) + close
    if len(line) + indent <= 110 and "\n" not in line:
        return line
    pad = "\n" + " " * (indent + 1)
    return mark + pad + ("," + pad).join(items) + pad[:-1] + close


def replace(path, text):
    """Whole or not at all."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8")
    beside.rename(path)


def show_section(module, kept):
    quick = ", quick: fewer rounds than a record has" if kept["quick"] else ""
    date = kept["date"][:16].replace("T", " ")
    return f"""
## {module.TITLE}

`{kept["command"]}`, {date}, {kept["seconds"]:.0f} s{quick}. Linux {kept["kernel"]},
{kept["cpus"]} CPUs ({kept["cpu"]}),
load {kept["load"]:.1f} before and {kept["load_at_end"]:.1f} after.

{module.show(kept["result"]).strip()}
"""


def write_page(path, sections, results):
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    kept = old[old.index(BY_HAND):] if BY_HAND in old else BY_HAND
    page = HEAD + "".join(show_section(module, results[name]) for name, module in sections.items()
                          if name in results)
    replace(path, page + "\n" + kept)


def parse(sections):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build", help="the directory of the build [build]")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and kinds: a minute")
    parser.add_argument("--rounds", type=int, help="[5; quick: 2]")
    parser.add_argument("--only", action="append", choices=list(sections),
                        help="this section (repeatable)")
    parser.add_argument("--take", metavar="FILE",
                        help="measure nothing: take the results of another machine's "
                        "results.json, all or those of --only")
    parser.add_argument("--show", action="store_true", help="measure nothing: only write the page")
    parser.add_argument("--results", type=pathlib.Path, default=HERE / "results.json")
    parser.add_argument("--page", type=pathlib.Path, default=HERE.parent / "docs/performance.md")
    return parser.parse_args()


def on_sigterm(number, frame):
    """Ends what was started, as Ctrl-C does."""
    raise KeyboardInterrupt


def main():
    signal.signal(signal.SIGTERM, on_sigterm)
    sections = load_sections()
    options = parse(sections)
    chosen = options.only or list(sections)
    setup = Setup(options.build, options.quick, options.rounds)
    results = read_results(options.results)
    if options.take:
        taken = read_results(pathlib.Path(options.take))
        results.update({name: taken[name] for name in chosen if name in taken})
    for name in [] if options.take or options.show else chosen:
        why = getattr(sections[name], "missing", lambda setup: None)(setup)
        if why:
            print(f"{name}: not measured: {why}", file=sys.stderr)
            continue
        print(f"{name}: {sections[name].TITLE} ...", file=sys.stderr, flush=True)
        results[name] = run_section(sections[name], setup,
                                    shlex.join(["bench/bench.py", *sys.argv[1:]]))
        replace(options.results, dump(results) + "\n")
        print(show_section(sections[name], results[name]), flush=True)
    if options.take:
        replace(options.results, dump(results) + "\n")
    write_page(options.page, sections, json.loads(dump(results)))  # as --show would find them


if __name__ == "__main__":
    main()
