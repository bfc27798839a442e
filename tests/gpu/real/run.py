#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The corpus of real programs: what `gpuprobe diagnose` says of each, beside what is true.

    # on a machine with a GPU, as root; at most --limit
    tests/gpu/real/run.py --only first --output first.json.xz
    tests/gpu/real/run.py --only gil,throttled --output more.json.xz
    # anywhere: into results.json and docs/diagnosis.md
    tests/gpu/real/run.py --take first.json.xz --take more.json.xz
    # on a GPU, 3 minutes: whether the programs work there
    tests/gpu/real/run.py --try
    # without a GPU, to try this script
    tests/gpu/real/run.py --dry --only first --output dry.json.xz

Each program runs twice, and its repaired twin once. All three are started beside those of other
programs and held before their steady loops:
 truth     under CUPTI (busy.c), which records when the GPU works, while gpuprobe watches for a
           while: gpuprobe's idle times are compared with it. Programs with faults, which leave the
           GPU idle, do this side by side
 natural   by itself, for the time of a step; then with `gpuprobe diagnose -p` for --watch seconds:
           its output is judged
 repaired  by itself, for the time of a step: what the fault really costs
The latter two, and all of sound programs, have the machine for themselves. The results of a program
are written at once; a slice that is out of time names the programs that are left. Slices are put
together by program: the newest of each counts. The judging is done with the page, so that it can be
done again.
"""
import argparse
import concurrent.futures
import datetime
import pathlib
import platform
import shutil
import sys
import tempfile
import time

import corpus
import page
import truth
from building import SIM_CLOCK, build_busy, gpuprobe_of, gpus, sim_of, versions
from cgroup import limited
from results import merged, read, write
from running import Failed, Run, boot_offset, diagnose, step_seconds

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
SETTLING = 2  # seconds of a steady loop that are not judged: what was held before is used up
ALONE = 5  # seconds for the time of a step
TRYING = 2  # the same with --try
TRUTH_WATCH = 8  # seconds of the watch under CUPTI
ATTACHING = 3  # about what gpuprobe takes to begin and to end
STARTING = 25  # about what a group of programs takes to start


class Session:
    """What is run with what."""

    def __init__(self, options):
        self.options, self.began = options, time.monotonic()
        self.work = tempfile.mkdtemp(prefix="gpuprobe-real-", dir=options.work)
        self.gpuprobe = gpuprobe_of(options.build, options.dry)
        self.sim = sim_of(options.build)
        self.watch, self.alone, self.settling = options.watch, ALONE, SETTLING
        self.truth_watch = TRUTH_WATCH
        if options.only_try:
            self.alone = TRYING
        if options.dry:
            self.watch, self.alone, self.settling, self.truth_watch = 3, 1, 0.2, 2
        self.busy, self.why_no_truth = None, None
        if not options.dry:
            self.busy, self.why_no_truth = build_busy(self.work)
        self.versions = versions(self.gpuprobe)
        self.measured = {}

    def left(self):
        return self.options.limit - (time.monotonic() - self.began)

    def seconds_of(self, program):
        """About what the runs of a program take, its start excepted."""
        natural = self.settling + self.alone + self.watch + ATTACHING
        return natural + (self.settling + self.alone if program.fault else self.seconds_of_truth())

    def seconds_of_truth(self):
        return self.settling + self.truth_watch + ATTACHING

    def close(self):
        shutil.rmtree(self.work, ignore_errors=True)


# --- starting ---

def command_of(session, program, repaired):
    path = str(HERE / "stand_in.py") if session.options.dry else program.path
    arguments = [] if session.options.dry else list(program.arguments)
    return [sys.executable, path, *arguments, *(["--repaired"] if repaired else [])]


def environment_of(session, program, kind):
    found = {"TMPDIR": session.work, **program.environment}
    if session.options.dry:
        found.update(LD_LIBRARY_PATH=session.sim, CUDA_SIM_CLOCK=SIM_CLOCK)
        if kind == "truth":
            found["CUDA_SIM_TRUTH"] = f"{session.work}/{program.name}.truth.json"
    elif kind == "truth" and session.busy:
        loaded_by = "BUSY_LIBRARY" if program.records_busy else "CUDA_INJECTION64_PATH"
        found.update({loaded_by: session.busy, "BUSY_OUT": f"{session.work}/{program.name}.busy"})
    return found


def start(session, program, kind):
    return Run(f"{program.name}.{kind}", command_of(session, program, kind == "repaired"),
               environment_of(session, program, kind), session.work)


def kinds_of(program):
    return ("truth", "natural", "repaired") if program.fault else ("truth", "natural")


# --- the runs ---

def watched(session, run, seconds):
    """The report of a watch of this run, kept with what it takes to read it."""
    report = diagnose(session.gpuprobe, run.process.pid, seconds,
                      f"{session.work}/{run.name}.report")
    return {"pid": run.process.pid, "boot_offset": boot_offset(), "report": report}


def loop_alone(session, run):
    """The window in which nothing but the loop runs."""
    time.sleep(session.settling)
    begin = time.monotonic_ns()
    time.sleep(session.alone)
    return begin, time.monotonic_ns()


def truth_of(session, program, run):
    """Of a run that has ended."""
    if session.options.dry:
        found = truth.read_simulated(f"{session.work}/{program.name}.truth.json")
    else:
        found = truth.read_cupti(f"{session.work}/{program.name}.busy", run.process.pid)
    if not found:
        raise Failed(session.why_no_truth or "CUPTI told nothing")
    return found


def run_truth(session, program, run):
    run.go()
    time.sleep(session.settling)
    begin = time.monotonic_ns()
    watch = watched(session, run, session.truth_watch)
    end = time.monotonic_ns()
    run.stop()
    found = truth_of(session, program, run)
    return {**found.shares(begin, end), "seconds": (end - begin) / 1e9, "lost": found.lost,
            "watch": {**watch, **seen_by_truth(found, watch)}}


def seen_by_truth(found, watch):
    """The truth about the watch: how busy the GPU was,
    and how much of that fell into times called idle."""
    said = page.read(watch)
    begin, end = said["window"]
    proved = said["idle_proved"]
    return {"busy": found.shares(begin, end)["busy"], "false_idle_ns": None
            if proved is None else truth.in_common(truth.joined(proved), found.all)}


def run_natural(session, _program, run):
    run.go()
    alone = loop_alone(session, run)
    watch = watched(session, run, session.watch)
    told, times = run.stop()
    window = page.read(watch)["window"]
    return {"step_seconds": step_seconds(told, times, *alone), "steps": told["steps"],
            "watched_step_seconds": step_seconds(told, times, *window), "watch": watch}


def run_repaired(session, _program, run):
    run.go()
    alone = loop_alone(session, run)
    told, times = run.stop()
    return {"step_seconds": step_seconds(told, times, *alone), "steps": told["steps"]}


RUNS = {"truth": run_truth, "natural": run_natural, "repaired": run_repaired}


def blank(session, program):
    return {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            "versions": session.versions, "marked": sorted(program.marked()),
            "seconds": session.watch, "errors": {}}


def measure(session, program, kind, run):
    """One run of a program into what is measured of it. If it fails, why stands in `errors`."""
    found = session.measured.setdefault(program.name, blank(session, program))
    try:
        if isinstance(run, Failed):
            raise run
        with limited(run.process.pid,
                     None if kind == "repaired" or session.options.dry else program.cpus):
            found[kind] = RUNS[kind](session, program, run)
    # If one breaks off that is a failure; the others are run.
    except Exception as error:  # pylint: disable=broad-except
        found["errors"][kind] = f"{type(error).__name__}: {error}"[-2000:]
        print(f"{program.name}, {kind}: {error}", file=sys.stderr, flush=True)
    finally:
        end(run)


def end(run):
    if isinstance(run, Run):
        run.end()


def truths_of_faults(session, programs, runs):
    """Side by side."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        list(pool.map(lambda program: measure(session, program, "truth",
                                              runs[program.name].pop("truth")),
                      [program for program in programs if program.fault]))


def started(session, programs):
    """{name: {kind: Run or Failed}} of programs that are ready and held."""
    runs = {program.name: {kind: start(session, program, kind) for kind in kinds_of(program)}
            for program in programs}
    for of_program in runs.values():
        for kind, run in of_program.items():
            try:
                run.wait_until_ready()
            except Failed as error:
                end(run)
                of_program[kind] = error
    return runs


def run_group(session, programs):
    began = time.monotonic()
    runs = started(session, programs)
    print(f"started {', '.join(runs)} in {time.monotonic() - began:.0f} s", file=sys.stderr,
          flush=True)
    truths_of_faults(session, programs, runs)
    for number, program in enumerate(programs):
        if session.left() < session.seconds_of(program):
            for left in programs[number:]:
                session.measured.pop(left.name, None)
                for run in runs[left.name].values():
                    end(run)
            return programs[number:]
        began = time.monotonic()
        for kind, run in runs[program.name].items():
            measure(session, program, kind, run)
        write(session.options.output, {"programs": session.measured})
        told = page.judge(program, session.measured[program.name])
        print(f"{program.name}: {told.line()} ({time.monotonic() - began:.0f} s)", flush=True)
    return []


def next_group(session, programs):
    """As many programs as start at a time and as there is time for."""
    planned, left = [], session.left() - STARTING - session.seconds_of_truth()
    for program in programs:
        if len(planned) == session.options.at_once or left < session.seconds_of(program):
            break
        planned.append(program)
        left -= session.seconds_of(program)
    return planned


def run_all(session, programs):
    """Programs that there was no time for."""
    while programs:
        group = next_group(session, programs)
        if not group:
            return programs
        programs = run_group(session, group) + programs[len(group):]
        if session.left() < STARTING:
            return programs
    return []


# --- only trying ---

def try_run(session, program, kind, run):
    """In words, how a short run went; without gpuprobe."""
    if isinstance(run, Failed):
        raise run
    with limited(run.process.pid,
                 program.cpus if kind == "natural" and not session.options.dry else None):
        run.go()
        begin, end = loop_alone(session, run)
        told, times = run.stop()
    if kind != "truth":
        return f"{kind} {page.milliseconds(step_seconds(told, times, begin, end))}"
    shares = truth_of(session, program, run).shares(begin, end)
    return f"busy {page.share(shares['busy'])}, kernels {page.share(shares['kernels'])}"


def tried(session, program, runs):
    """(whether all runs of a program went well, how each went in a line)."""
    told, well = [], True
    for kind, run in runs.items():
        try:
            told.append(try_run(session, program, kind, run))
        except Exception as error:  # pylint: disable=broad-except  # the others are tried
            told.append(f"{kind} FAILED: {error}")
            well = False
        finally:
            end(run)
    return well, f"{program.name}: {'; '.join(told)}"


def try_all(session, programs):
    """Returns how many passed and failed; none are left. The programs of a group run side by side,
    so that their times are rough."""
    failed = 0
    for first in range(0, len(programs), session.options.at_once):
        group = programs[first:first + session.options.at_once]
        runs = started(session, group)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for well, line in pool.map(lambda program: tried(session, program, runs[program.name]),
                                       group):
                print(line, flush=True)
                failed += not well
    return len(programs) - failed, failed, []


# --- the whole ---

def judge_all(session, programs):
    """How many are right and wrong, and which there was no time for."""
    left = run_all(session, programs)
    judged = [page.judge(corpus.ALL[name], measured) for name, measured in session.measured.items()]
    right = sum(told.is_right() for told in judged)
    return right, len(judged) - right, left


def take(options):
    """What other machines measured, into the results that are kept, and the page of them all."""
    kept = merged({}, read(options.results))
    for path in options.take or []:
        kept = merged(kept, page.without_reports(read(path)))
    write(options.results, kept)
    with open(options.page, "w", encoding="utf-8") as file:
        file.write(page.text(kept))


def options_of(argv):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="",
                        help="names of programs or halves (first, second), by commas [all]")
    parser.add_argument("--build", default=str(ROOT / "build"),
                        help="where gpuprobe is [%(default)s]")
    parser.add_argument("--output", default="diagnosis.json.xz",
                        help="what was measured, with all reports [%(default)s]")
    parser.add_argument("--limit", type=float, default=540,
                        help="seconds for the slice [%(default)s]")
    parser.add_argument("--watch", type=float, default=20,
                        help="seconds of the watch that is judged [%(default)s]")
    parser.add_argument("--at-once", type=int, default=5,
                        help="programs that start at a time [%(default)s]")
    parser.add_argument("--work", default="/var/tmp",
                        help="a folder on a disk, for the time being [%(default)s]")
    parser.add_argument("--try", action="store_true", dest="only_try",
                        help="only whether the programs work, side by side")
    parser.add_argument("--dry", action="store_true",
                        help="stand_in.py on the simulated CUDA instead of the programs")
    parser.add_argument("--take", action="append",
                        help="a slice's output, into the results and the page (repeatable)")
    parser.add_argument("--show", action="store_true", help="only the page, of the results")
    parser.add_argument("--results", default=str(HERE / "results.json"), help="[%(default)s]")
    parser.add_argument("--page", default=str(ROOT / "docs/diagnosis.md"), help="[%(default)s]")
    return parser.parse_args(argv)


def main(argv=None):
    options = options_of(argv)
    if options.take or options.show:
        take(options)
        return 0
    programs = corpus.chosen([word for word in options.only.split(",") if word])
    left_out = [] if options.dry else [program.name for program in programs
                                       if program.gpus > gpus()]
    programs = [program for program in programs if program.name not in left_out]
    session = Session(options)
    try:
        passed, failed, left = (try_all(session, programs)
                                if options.only_try else judge_all(session, programs))
    finally:
        session.close()
    if left_out:
        print(f"left out, for want of GPUs: {','.join(left_out)}")
    if left:
        print(f"out of time; left: --only {','.join(program.name for program in left)}")
    print(f"on Linux {platform.release()}, {time.monotonic() - session.began:.0f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or left else 0


if __name__ == "__main__":
    sys.exit(main())
