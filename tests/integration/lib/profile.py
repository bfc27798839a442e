# SPDX-License-Identifier: BSD-2-Clause
"""Calls by function, as reported by `gpuprobe stat` and in truth."""
from collections import Counter

from lib import api

# Operation -> class of time; the rest is "other".
CLASSES = {"launch": "launch", "graph_launch": "launch", "host_function": "launch",
           "launch_list": "launch", "alloc": "memory", "free": "memory", "virtual": "memory",
           "pool": "memory", "copy": "copy", "set": "copy", "wait": "wait"}
OPERATIONS = {function.operation for function in api.functions().values()} - {"-", "ask"}


def true_functions(truth, mode="auto"):
    """(layer, name) -> calls and failures of all watched functions."""
    calls, failures = Counter(), Counter()
    for function, counts in truth._counts(mode, OPERATIONS):
        calls[function.layer, function.base] += counts["calls"]
        failures[function.layer, function.base] += counts["failures"]
    return {name: (count, failures[name]) for name, count in calls.items() if count}


def seen_functions(process):
    calls, errors = Counter(), Counter()
    for f in process["functions"]:
        name = f["layer"], f["function"].removesuffix("_ptds").removesuffix("_ptsz")
        calls[name] += f["calls"]
        errors[name] += f["errors"]
    return {name: (count, errors[name]) for name, count in calls.items()}
