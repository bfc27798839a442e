# SPDX-License-Identifier: BSD-2-Clause
"""How long gpuprobe takes from exec until its probes are in, and from SIGINT to its end: by the
number of functions, beside the usual way of a perf event each; by library files; by processes that
have one mapped; and by the kernel's kinds of links."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

from setup import cpu_nanoseconds, figure, in_turn, spread, stop, table, verdict

TITLE = "Start and end"
ORDER = 40
LINKS = ("session", "multi", "perf")
LOADED, ATTACHED = b"the kernel has the BPF programs", b"the probes are in"
FUNCTIONS = (40, 400, None)  # of libcuda; None: all
LIBRARIES = (1, 10, 100)
PROCESSES = (1, 100, 2000)
BARS = {"libraries": 10, "attach": 0.25, "end": 0.5}
MONITOR = ("--metrics-addr", "none", "--display-interval", "0")


# --- lives ---

def ended(process):
    """Seconds from SIGINT to the end."""
    began = time.monotonic()
    stop(process)
    return time.monotonic() - began


def life(command, env=None):
    """Startup of gpuprobe: seconds from exec until its programs are loaded (`load`) and its probes
    are in (`start`; `attach` is the time between), CPU time in them, seconds from SIGINT to the
    end, and the functions that have probes."""
    began, times = time.monotonic(), {}
    with subprocess.Popen([*command, "-v"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, env={**os.environ, **(env or {})}) as process:
        for line in process.stderr:
            for mark in (LOADED, ATTACHED):
                if mark in line:
                    times[mark] = time.monotonic() - began
            if ATTACHED in times:
                break
        else:
            raise RuntimeError(f"{command} ended before its probes were in")
        return {"load": times[LOADED], "start": times[ATTACHED],
                "attach": times[ATTACHED] - times[LOADED],
                "cpu": cpu_nanoseconds(process.pid) / 1e9, "end": ended(process),
                "functions": int(line.split(ATTACHED)[1].split()[1])}


def usual_life(setup, names):
    """The same of a program that has a perf event a function."""
    began = time.monotonic()
    with subprocess.Popen([setup.build / "bench/empty", setup.libcuda, "events", *names],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        found = {"start": time.monotonic() - began, "functions": len(names)}
        began = time.monotonic()
        process.stdin.close()
        process.wait()
        return {**found, "end": time.monotonic() - began}


def figures(runs):
    """Of several lives."""
    return {key: figure([run[key] for run in runs]) for key in runs[0]}


# --- what they are measured by ---

def driver_functions(setup):
    """All names of libcuda."""
    listed = subprocess.run([setup.build / "gpuprobe", "trace", "-e", "all", "--list-functions"],
                            check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.split()[1] == "driver"]


def by_functions(setup):
    """The tracer."""
    names, found = driver_functions(setup), []
    for count in FUNCTIONS[::2] if setup.quick else FUNCTIONS:
        command = setup.command("trace", "-q", "-O", "/dev/null", "-e", ",".join(names[:count]))
        found.append(figures([life(command) for _ in range(setup.rounds)]))
    return found


def usual_by_functions(setup):
    """Once, as it takes minutes, and not in a quick run."""
    names = driver_functions(setup)
    return [] if setup.quick else [figures([usual_life(setup, names[:count])])
                                   for count in FUNCTIONS]


@contextlib.contextmanager
def copies(library, count):
    """So many files of the library."""
    with tempfile.TemporaryDirectory(prefix="gpuprobe-bench-") as directory:
        paths = [pathlib.Path(directory) / f"{number}" / library.name for number in range(count)]
        for path in paths:
            path.parent.mkdir()
            shutil.copyfile(library, path)
        yield paths


def by_libraries(setup):
    """The monitor with so many files of libcuda."""
    counts = LIBRARIES[:2] if setup.quick else LIBRARIES
    with copies(setup.libcuda, counts[-1]) as files:
        runs = in_turn(setup.rounds, {
            count: lambda count=count: life(setup.command(*MONITOR, libraries=files[:count]))
            for count in counts})
    return {str(count): figures(of) for count, of in runs.items()}


@contextlib.contextmanager
def processes(setup, count):
    """So many processes that have called CUDA and stay."""
    command = [setup.sim / "forker", "--processes", str(count), "--pairs", "1", "--launches", "1",
               "--hold", "600"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as parent:
        children = pathlib.Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        while len(children.read_text().split()) < count:
            time.sleep(0.05)
        time.sleep(0.5)
        yield
        for pid in children.read_text().split():
            os.kill(int(pid), 9)


def by_processes(setup):
    """The monitor where so many processes have its one libcuda mapped."""
    found = {}
    for count in PROCESSES[:2] if setup.quick else PROCESSES:
        with processes(setup, count):
            found[str(count)] = figures([life(setup.command(*MONITOR))
                                         for _ in range(setup.rounds)])
    return found


def by_links(setup):
    command = setup.command(*MONITOR, libraries=[setup.libcuda, setup.libcudart])
    kinds = LINKS[:1] if setup.quick else LINKS
    return {links: figures(runs) for links, runs in in_turn(setup.rounds, {
        links: lambda links=links: life(command, {"GPUPROBE_LINKS": links})
        for links in kinds}).items()}


def measure(setup):
    return {"functions": by_functions(setup), "libraries": by_libraries(setup),
            "processes": by_processes(setup), "links": by_links(setup),
            "usual": usual_by_functions(setup)}


# --- what is shown ---

SHOWN = ("load", "attach", "start", "cpu", "end")
HEAD = ("functions", "load", "attach", "exec to probes in", "CPU time of it", "SIGINT to end")


def cells(found):
    return [f"{found['functions']['median']:.0f}", *(spread(found[key], "{:.3f}") for key in SHOWN)]


def show_usual(usual, place):
    """Of one perf event a function, where it was measured."""
    return [f"{usual[place][key]['median']:.2f}" for key in ("start", "end")] if usual else ["", ""]


def show_bars(found):
    """Of all families in so many libraries."""
    return ", ".join(f"{what} {verdict(found[key]['median'], BARS[key])}" for what, key in
                     (("attach", "attach"), ("end", "end")))


def show(result):
    libraries = result["libraries"]
    return """Seconds until the kernel has the BPF programs (load), from then until all probes are
in (attach), both together from exec, and from SIGINT to the end.

`gpuprobe trace` by number of functions of libcuda, compared with the usual way: a perf event for
each function with an empty program (`bench/empty`, once):

""" + table([*HEAD, "usual: exec to probes in", "end"],
            [[*cells(found), *show_usual(result["usual"], place)]
             for place, found in enumerate(result["functions"])]) + f"""
The monitor, all families, by number of libcuda files. Bars, for {BARS['libraries']}:
{show_bars(libraries[str(BARS['libraries'])])}.

""" + table(["files", *HEAD], [[count, *cells(found)] for count, found in libraries.items()]) + """
The monitor by number of processes that have called CUDA and have the same libcuda mapped. The
kernel writes each probe into each of them:

""" + table(["processes", *HEAD],
            [[count, *cells(found)] for count, found in result["processes"].items()]) + """
The monitor by kind of links, with libcuda and libcudart:

""" + table(["links", *HEAD], [[links, *cells(found)] for links, found in result["links"].items()])
