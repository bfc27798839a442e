#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""gpuprobe on real GPUs, compared with what is known to be true.

    tests/gpu/run.py --build build --output docs/gpu-results.md [--only parallel]
    tests/gpu/run.py --only cases --output cases.md --studies docs/case-studies.md

Needs a build of gpuprobe (make portable will do) and of the workloads
(make sim), made on any machine, and here an NVIDIA driver, nvcc, PyTorch, CuPy
and JAX. Runs the C workloads on the real libraries, a program with a static
runtime, and the frameworks; on a machine of several GPUs a data-parallel run
too. Prints each comparison, and writes them all to a page. Ends with
"N passed, N failed".
"""
import argparse
import datetime
import json
import platform
import shutil
import subprocess
import sys
import traceback

from account import test_account
from allocated import test_allocated
from beside import test_beside
from cases import CASE_TESTS, page as studies_page
from confined import test_confined
from diff import DIFF_TESTS
from dump import test_dump, test_dump_collective
from frameworks import test_cupy, test_jax
from gpu_times import test_gpu_times
from kineto import test_kineto
from leaks import test_leaks
from machine import Machine, Results, shown
from nccl import test_nccl, test_nccl_faults
from objects import test_handles, test_objects
from oom import test_oom
from oom_lines import test_oom_lines
from parallel import test_parallel
from ps import test_ps
from pytorch import test_expandable, test_late_attach, test_mode, test_pytorch, test_reconcile
from snapshot import test_snapshot
from stacks import test_stacks
from tensors import test_tensors
from timeline import test_timeline
from trace import test_trace
from verdicts import test_contention, test_late_rank
from workloads import test_static_runtime, test_workloads
from xid import test_xid

TESTS = {
    "workloads": test_workloads,
    "static": test_static_runtime,
    "pytorch": test_pytorch,
    "late": test_late_attach,
    "eager": lambda machine, results: test_mode(machine, results, "eager"),
    "compile": lambda machine, results: test_mode(machine, results, "compile"),
    "graph": lambda machine, results: test_mode(machine, results, "graph"),
    "expandable": test_expandable,
    "reconcile": test_reconcile,
    "tensors": test_tensors,
    "snapshot": test_snapshot,
    "allocated": test_allocated,
    "leaks": test_leaks,
    "oom": test_oom,
    "oom_lines": test_oom_lines,
    "objects": test_objects,
    "handles": test_handles,
    "cupy": test_cupy,
    "jax": test_jax,
    "gpu_times": test_gpu_times,
    "kineto": test_kineto,
    "xid": test_xid,
    "account": test_account,
    "trace": test_trace,
    "timeline": test_timeline,
    "stacks": test_stacks,
    "beside": test_beside,
    "confined": test_confined,
    "ps": test_ps,
    "dump": test_dump,
    "parallel": test_parallel,
    "collective": test_dump_collective,
    "contention": test_contention,
    "late_rank": test_late_rank,
    "nccl": test_nccl,
    "nccl_faults": test_nccl_faults,
    **CASE_TESTS,
    **DIFF_TESTS,
}
GROUPS = {"cases": list(CASE_TESTS), "diff": list(DIFF_TESTS)}
OF_SEVERAL_GPUS = ("parallel", "collective", "late_rank", "nccl", "nccl_faults")

NOTES = """Each row compares gpuprobe with an independent source:

- Launch calls of PyTorch's own profiler are its rows `cudaLaunchKernel`, `cudaLaunchKernelExC` and
  `cuLaunchKernel*`; kernels that ran are the events of its trace. The profiler's 100 steps are
  compared with gpuprobe's run of 100 steps less its run of 0 steps.
- Memory is compared with what the program reports at the end of the same run.
- Workloads that the simulator can run are compared with its truth file for the same run.

Rows without an expected value are for information.
"""


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode().strip()


def gpus():
    lines = output("nvidia-smi", "--query-gpu=name,driver_version",
                   "--format=csv,noheader").splitlines()
    return f"{len(lines)} x {lines[0]}" if len(lines) > 1 else lines[0]


def versions():
    return output(sys.executable, "-c",
                  "import torch; print(f'CUDA {torch.version.cuda}, PyTorch {torch.__version__}')")


def written(machine):
    return (f"Written by `tests/gpu/run.py` on {datetime.date.today()}: {gpus()} (name, driver), "
            f"{versions()}, Linux {platform.release()}, {output(machine.gpuprobe, '--version')}.")


def page(results, machine):
    lines = ["# On a real GPU", "", written(machine), "",
             f"{results.passed()} passed, {results.failed()} failed", "", NOTES,
             "| what | expected | gpuprobe | |", "|---|---|---|---|"]
    for what, expected, seen, good in results.rows:
        verdict = {True: "ok", False: "FAILED", None: ""}[good]
        wanted = f"`{shown(expected)}`" if good is not None else ""
        lines.append(f"| {what} | {wanted} | `{shown(seen)}` | {verdict} |".replace("\n", " "))
    for title, text in results.texts:
        lines += ["", f"## {title}", "", "```", text.rstrip("\n"), "```"]
    return "\n".join(lines) + "\n"


def several_gpus():
    return len(output("nvidia-smi", "-L").splitlines()) > 1


def write_studies(studies, machine, options):
    with open(options.studies, "w") as file:
        file.write(studies_page(studies, written(machine)))
    if options.raw:
        with open(options.raw, "w") as file:
            json.dump(studies.raw, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--output", default="docs/gpu-results.md")
    parser.add_argument("--studies", default="docs/case-studies.md",
                        help="where the case studies go")
    parser.add_argument("--raw",
                        help="a file for all that gpuprobe said of the case studies, as JSON")
    parser.add_argument("--only", action="append", choices=[*TESTS, *GROUPS],
                        help="run this test alone (repeatable)")
    options = parser.parse_args()
    machine, results = Machine(options), Results()

    chosen = options.only or TESTS
    for name in [member for name in chosen for member in GROUPS.get(name, [name])]:
        if name in OF_SEVERAL_GPUS and not several_gpus():
            continue
        try:
            TESTS[name](machine, results)
        except Exception as error:  # If one breaks off that is a failure; the others are run.
            traceback.print_exc()
            results.check(f"{name}: ran to its end", "yes", repr(error))
        with open(options.output, "w") as file:
            file.write(page(results, machine))
        if results.studies:
            write_studies(results.studies, machine, options)
    shutil.rmtree(machine.work)
    print(f"{results.passed()} passed, {results.failed()} failed")
    return 1 if results.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
