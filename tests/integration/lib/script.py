# SPDX-License-Identifier: BSD-2-Clause
"""
Small CUDA programs in Python as COMMAND for gpuprobe, for cases that the workloads do not cover.
"""
import json
import textwrap

from lib import paths

PROGRAMS = paths.TESTS / "programs"


def script(body):
    """The command line that runs `body` with programs/cuda.py imported."""
    prelude = (f"import os, sys\nos.environ['CUDA_SIM_DIRECTORY'] = {str(paths.SIM)!r}\n"
               f"sys.dont_write_bytecode = True\nsys.path.insert(0, {str(PROGRAMS)!r})\n"
               "from cuda import *\n")
    return [paths.PYTHON, "-c", prelude + textwrap.dedent(body)]


def memory_script(body):
    """As script, with programs/memory_api.py imported too."""
    return script("from memory_api import *\n" + textwrap.dedent(body))


def clocked(result):
    """
    The durations that the program measured around its calls, by name (clocked() of
    programs/cuda.py). gpuprobe's time for a call is between the simulator's, measured inside the
    call, and this one, whatever the scheduler does in between.
    """
    told, = [line for line in result.stdout.splitlines() if line.startswith("CLOCKED ")]
    return json.loads(told.removeprefix("CLOCKED "))
