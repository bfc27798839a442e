# SPDX-License-Identifier: BSD-2-Clause
"""Case studies: what gpuprobe says would be saved, beside what the repaired program saved.

Each case is a loop in two ways, in C and in PyTorch (programs/case_*). The time that
was really saved is that of the two ways in turn in one process without gpuprobe; the
time that was predicted is in the findings of a run of the first way.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from machine import PROGRAMS

ROUNDS = {"C": 4, "PyTorch": 3}
WARM_UP = 3  # steps that come before the first round of each way
HEALTHY_STEPS = 400
LOOP_STEPS = 2000  # of case_launches, for what watching costs
LOOP_LAUNCHES = 100  # of a step
NO_CACHING = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}


class Case:
    def __init__(self, program, title, finding, fix, steps, environment=None):
        self.program, self.title, self.finding, self.fix = program, title, finding, fix
        self.steps = steps  # by language
        self.environment = environment or {}


CASES = [
    Case("case_churn", "1 GiB allocated and freed in each step", "alloc-churn", "allocated once",
         {"C": 200, "PyTorch": 100}, NO_CACHING),
    Case("case_launches", "many small kernels", "launch-bound",
         "a CUDA graph", {"C": 3000, "PyTorch": 2000}),
    Case("case_copies", "128 MiB copied from pageable memory in each step",
         "pageable-copies", "pinned memory", {"C": 50, "PyTorch": 40}),
]
PROFILED = CASES[2]


class Studies:
    """What the page will say, and everything that gpuprobe said, for who wants to look closer."""

    def __init__(self):
        self.savings, self.remaining, self.evidence, self.figures = [], [], [], []
        self.raw = {}


# --- running ---

def compiler():
    """nvcc; `NVCC=` in the environment leaves it out, as with make."""
    if "NVCC" in os.environ:
        return os.environ["NVCC"]
    return shutil.which("nvcc") or next(filter(os.path.exists, ["/usr/local/cuda/bin/nvcc"]), None)


def build(machine, name):
    """A C program by nvcc; without one for the simulated CUDA, to try this script."""
    path, source = f"{machine.work}/{name}", f"{PROGRAMS}/{name}.c"
    if compiler():
        subprocess.run([compiler(), "-x", "cu", "-O2", "-o", path, source], check=True)
    else:
        sim = os.path.abspath(machine.sim)
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", f"-I{PROGRAMS}/../../../sim/include", "-o",
                        path, source, f"-L{sim}", f"-Wl,-rpath,{sim}", "-lcudart", "-lcuda"],
                       check=True)
    return [path]


def languages():
    return ["C", "PyTorch"] if has_torch() else ["C"]


def program(machine, case, language):
    return build(machine, case.program) if language == "C" else machine.python(f"{case.program}.py")


def has_torch():
    return not subprocess.run([sys.executable, "-c", "import torch"],
                              stderr=subprocess.DEVNULL).returncode


def environment_with(variables):
    return dict(os.environ, **variables)


def run(command, variables):
    """What the program printed."""
    ran = subprocess.run(command, env=environment_with(variables), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=120)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(command)}: {ran.stderr.decode()[-2000:]}")
    return json.loads(ran.stdout.decode().splitlines()[-1])


def watch(machine, studies, label, verb, command, variables, *arguments):
    """The last report of `gpuprobe stat` or `diagnose`, and what the program printed."""
    ran = subprocess.run([machine.gpuprobe, verb, "--json", *arguments, "--", *command],
                         env=environment_with(variables), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, timeout=120)
    lines = [json.loads(line) for line in ran.stdout.decode().splitlines() if line.startswith("{")]
    reports = [line for line in lines if "schema" in line]
    if ran.returncode or not reports:
        raise RuntimeError(
            f"gpuprobe {verb}, {label}: {ran.returncode}: {ran.stderr.decode()[-2000:]}")
    studies.raw[f"{verb}, {label}"] = reports[-1]
    return reports[-1], next((line for line in lines if "schema" not in line), {})


# --- what was predicted ---

def findings_of(report, name=None):
    return [finding for finding in report["findings"] if name in (None, finding["id"])]


def seconds(value):
    return "-" if value is None else f"{value * 1000:,.1f} ms"


def total(findings, key):
    known = [finding[key] for finding in findings if finding[key] is not None]
    return sum(known) if known else None


def told(finding):
    """A finding in one line."""
    what = [finding["id"], finding["subject"] or "", finding["evidence"] or ""]
    if finding["cost_seconds"] is not None:
        what.append(
            f"cost {seconds(finding['cost_seconds'])} ({100 * finding['cost_share']:.1f} %)")
    if finding["saving_seconds"] is not None:
        what.append(f"saving {seconds(finding['saving_seconds'])} if {finding['assumption']}")
    return "; ".join(part for part in what if part)


def add_saving(studies, case, language, fix, before, after, findings):
    steps = case.steps[language]
    scale = steps / (steps + WARM_UP)  # the watched run had them as well
    cost, predicted = total(findings, "cost_seconds"), total(findings, "saving_seconds")
    saved = before - after
    studies.savings.append((
        f"{case.title}, {language}", fix, seconds(before), seconds(after), seconds(saved),
        seconds(cost and cost * scale), seconds(predicted and predicted * scale),
        f"{predicted * scale / saved:.2f}" if predicted and saved > 0 else "-"))


# --- the cases ---

BUFFER = 1 << 30  # of case_churn


def of_buffer(finding, report):
    """alloc-churn as if the buffer were all that comes and goes."""
    sizes = [size for process in report["processes"] for size in process["allocation_sizes"]
             if size["bytes"] >= BUFFER]
    times = [size["allocation_ns"] - size["first_took_ns"] + size["free_ns"] for size in sizes]
    saved = [ns * (1 - size["peak"] / size["allocations"]) for ns, size in zip(times, sizes)]
    return {**finding, "cost_seconds": sum(times) / 1e9, "saving_seconds": sum(saved) / 1e9}


def remaining(case, report):
    """The findings of the repaired program that belong to the fault:
    other sizes of PyTorch's still come and go."""
    return [finding["id"] for finding in findings_of(report, case.finding)
            if case.finding != "alloc-churn" or finding["numbers"]["size"]["value"] >= BUFFER]


def test_case(machine, results, studies, case, language):
    command = program(machine, case, language)
    label, steps = f"{case.program}, {language}", str(case.steps[language])
    variables = case.environment if language == "PyTorch" else {}
    timed = run([*command, "both", steps, str(ROUNDS[language])], variables)
    before, after = statistics.median(timed["before"]), statistics.median(timed["after"])
    studies.raw[f"times, {label}"] = timed
    report, _ = watch(machine, studies, f"{label}, before", "stat",
                      [*command, "before", steps, "1"], variables)
    found = findings_of(report, case.finding)
    results.check(f"{label}: its finding is there, and the others", True, bool(found))
    for finding in findings_of(report):
        studies.evidence.append((f"{case.title}, {language}", told(finding)))
    alone = [of_buffer(finding, report)
             for finding in found] if case.finding == "alloc-churn" else found
    add_saving(studies, case, language, case.fix, before, after, alone)
    if language == "PyTorch" and variables:
        cached = statistics.median(
            run([*command, "before", steps, str(ROUNDS[language])], {})["before"])
        add_saving(studies, case, language, "the caching allocator", before, cached, found)
    repaired, _ = watch(machine, studies, f"{label}, after", "diagnose",
                        [*command, "after", steps, "1"], variables)
    results.check(f"{label}, repaired: the finding is gone", [], remaining(case, repaired))
    remains(studies, f"{case.title}, {language}, {case.fix}", repaired)


def remains(studies, label, report):
    for finding in findings_of(report):
        studies.remaining.append((label, told(finding)))
    if not report["findings"]:
        studies.remaining.append((label, "no findings"))


def test_healthy(machine, studies):
    report, said = watch(machine, studies, "healthy", "diagnose",
                         machine.python("healthy.py", str(HEALTHY_STEPS)), {})
    remains(studies, "a well-written PyTorch training loop, "
            f"{HEALTHY_STEPS} steps in {said.get('seconds', 0):.1f} s, "
            f"{said.get('workers')} workers", report)


# --- what else only a GPU tells ---

def test_constants(machine, studies):
    """What savings are estimated with."""
    for name, value in run(build(machine, "constants"), {}).items():
        studies.figures.append((f"constants: {name}", f"{value:,.0f}"))


def test_cost(machine, studies):
    """Of a loop that does nothing but launch, alternating; nanoseconds a launch."""
    command = [*build(machine, "case_launches"), "before", str(LOOP_STEPS), "1"]
    ways = {"without gpuprobe": [],
            "gpuprobe (monitor)": [machine.gpuprobe, "--json", "--display-interval",
                                   "0", "--metrics-addr", "none", "--"],
            "gpuprobe stat": [machine.gpuprobe, "stat", "--json", "--"]}
    took = {way: [] for way in ways}
    for _ in range(3):
        for way, prefix in ways.items():
            ran = subprocess.run([*prefix, *command], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, timeout=120)
            said = next(json.loads(line) for line in ran.stdout.decode().splitlines()
                        if line.startswith('{"before"'))
            took[way].append(said["before"][0] * 1e9 / (LOOP_STEPS * LOOP_LAUNCHES))
    for way, each in took.items():
        studies.figures.append(
            (f"a launch in a loop of launches, ns: {way}",
             f"{statistics.median(each):,.0f} ({', '.join(f'{ns:,.0f}' for ns in each)})"))


def pageable_of(report):
    copies = [finding for finding in findings_of(report, "pageable-copies")]
    return {name: number["value"] for finding in copies
            for name, number in finding["numbers"].items()}


def test_profiler(machine, results, studies):
    """The same program under PyTorch's profiler: as many launches,
    as many bytes from pageable memory."""
    case = PROFILED
    command = machine.python(f"{case.program}.py")
    seen = run([*command, "before", str(case.steps["PyTorch"]), "1", "--profile"], {})["profile"]
    report = studies.raw[f"stat, {case.program}, PyTorch, before"]
    copies = sum(size for name, (_, size) in seen["copies"].items() if "HtoD (Pageable" in name)
    launches = sum(process["launches"] for process in report["processes"])
    numbers = pageable_of(report)
    results.check("stat of PyTorch's copies: bytes from pageable memory (its profiler)", copies,
                  numbers.get("bytes"))
    studies.figures.append(
        ("launches of the copying loop: gpuprobe stat, PyTorch's profiler (which is on from the "
         "device's set-up on)", f"{launches}, {sum(seen['launch_calls'].values())}"))
    studies.figures.append(("bytes copied from pageable memory: gpuprobe, PyTorch's profiler",
                            f"{numbers.get('bytes')}, {copies}"))


def attempt(results, what, test, *arguments):
    """If one program fails the others still run, since a machine with a GPU is not at
    hand every day."""
    began = time.monotonic()
    try:
        test(*arguments)
    except Exception as error:
        results.check(f"{what}: ran to its end", "yes", repr(error)[-1500:])
    print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)


def studies_of(results):
    if not results.studies:
        results.studies = Studies()
    return results.studies


def study(case):
    """The test of a case in its languages."""
    def test(machine, results):
        studies = studies_of(results)
        for language in languages():
            attempt(results, f"{case.program}, {language}", test_case, machine, results, studies,
                    case, language)
    return test


def figures(machine, results):
    studies = studies_of(results)
    attempt(results, "constants", test_constants, machine, studies)
    attempt(results, "cost", test_cost, machine, studies)
    if has_torch() and f"stat, {PROFILED.program}, PyTorch, before" in studies.raw:
        attempt(results, "profiler", test_profiler, machine, results, studies)


def healthy(machine, results):
    if has_torch():
        attempt(results, "healthy", test_healthy, machine, studies_of(results))


CASE_TESTS = {**{case.program: study(case) for case in CASES}, "healthy": healthy,
              "case_figures": figures}


# --- the page ---

INTRODUCTION = """Three loops, each in C and in PyTorch, with a fault and repaired. The times
"before" and "after" are medians of the loop; both forms ran in turn in one process, without
gpuprobe. "Saved" is their difference. "Predicted saving" is `saving_seconds` of the findings of
`gpuprobe stat --json`, which watched only the form with the fault, scaled to the same number of
steps. "Cost" is the cost in the finding.

    tests/gpu/run.py --only cases --studies docs/case-studies.md
"""


def table(columns, rows):
    cells = [[str(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns),
            *("| " + " | ".join(row) + " |" for row in cells)]


def page(studies, written):
    """`written`: a sentence of when and on what."""
    lines = ["# Case studies", "", written, "", INTRODUCTION,
             *table(["case", "fix", "before", "after", "saved", "cost of the finding",
                     "predicted saving", "predicted / saved"], studies.savings),
             "", "## Findings before the repair", "", *table(["case", "finding"], studies.evidence),
             "", "## Findings after the repair, and of a healthy program",
             "", *table(["program", "finding"], studies.remaining),
             "", "## Figures", "", *table(["what", "value"], studies.figures)]
    return "\n".join(lines) + "\n"
