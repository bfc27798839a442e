# SPDX-License-Identifier: BSD-2-Clause
"""Small CUDA programs in Python, for what the workloads do not do: COMMAND for gpuprobe."""
import json
import textwrap

from lib import paths

PROGRAMS = paths.TESTS / "programs"


def script(body):
    """The command line that runs `body` with all of programs/cuda.py in reach."""
    prelude = (f"import os, sys\nos.environ['CUDA_SIM_DIRECTORY'] = {str(paths.SIM)!r}\n"
               f"sys.dont_write_bytecode = True\nsys.path.insert(0, {str(PROGRAMS)!r})\n"
               "from cuda import *\n")
    return [paths.PYTHON, "-c", prelude + textwrap.dedent(body)]


def memory_script(body):
    """script, with programs/memory_api.py in reach as well."""
    return script("from memory_api import *\n" + textwrap.dedent(body))


def clocked(result):
    """
    How long the program saw around its calls, by name (clocked() of programs/cuda.py). gpuprobe's
    time for a call lies between the simulator's, which is inside the call, and this, however long
    the scheduler takes in between.
    """
    told, = [line for line in result.stdout.splitlines() if line.startswith("CLOCKED ")]
    return json.loads(told.removeprefix("CLOCKED "))
